"""Figure 2: accuracy of similarities and normalizations by the number of bases, and of ways to choose bases.

    python figure_2.py --data DATA

The first fold of CIFAR-10, C = 1. 2a has all twelve similarities, a linear SVM and a kernel SVM on HOG cells of
8; 2b has four ways to get 10x100 features: random bases, bases by index, k-medoids, and the Nyström map with a clipped
spectrum on the bases by index. Cells are kept in cache/ as they are measured.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FOURTH, INK, SECOND, SOFT, THIRD, Study

# isort: split
import numpy as np

import peer
from be_svm_similarities import SIMILARITIES
from cifar import CLASSES, INTERCEPTS, Images, both, expand, linear, load
from kept import Kept
from maps import raw

WAYS = ("mean_norm", "none", "clip", "flip", "shift")
# Bases a class. Each divides the last, so that its evenly spaced bases are some of the last one's.
PER_CLASS = (10, 25, 50, 100)

# Random draws of bases, the paper's five; of the similarities that take longest, fewer.
DRAWS, FEWER_DRAWS = 5, {"H4(1,0)": 2, "H4(0,1)": 2, "H4(2,0)": 2, "H4(1,1)": 1, "H4(2,1)": 1}
KERNELS = ("H4L", "H8L", "H4R", "H8R")
INDEX, CLIP = "index", "Nyström clip"

QUICK_IMAGES, QUICK_PER_CLASS, QUICK_DRAWS = 2000, (10, 50), 2
QUICK_NAMES = ("H8R", "H4(1,0)")


def by_size(name: str, per_class: tuple[int, ...], images: Images) -> dict[str, Any]:
    """Of one similarity: percent right by normalization, bases a class and intercept."""
    most, cell = raw(name, CLASSES * per_class[-1], images), {}
    for each in per_class:
        some = most.every(per_class[-1] // each)
        for way in WAYS:
            features = some.mapped(way)
            for intercept, right in both(features, images).items():
                cell[f"{way}, 10x{each}, {intercept}"] = right
    return cell


def by_choice(name: str, each: int, draws: int, images: Images) -> dict[str, Any]:
    """Of one similarity: percent right, with an intercept, on random bases and on k-medoids."""

    def right(choice: str, seed: int) -> float:
        return linear(expand([name], CLASSES * each, images, basis=choice, random_state=seed), images)[0]

    return {"random": [right("random", seed) for seed in range(draws)], "k-medoids": right("kmedoids", 0)}


def tell_sizes(study: Study, sizes: dict[str, Any], peers: dict[str, float], per_class: tuple[int, ...]) -> None:
    for intercept, results in INTERCEPTS.items():
        rows = []
        for name, cell in sizes.items():
            for way in WAYS:
                values = [cell[f"{way}, 10x{each}, {intercept}"] for each in per_class]
                for each, value in zip(per_class, values, strict=True):
                    if way == "mean_norm" or each == PER_CLASS[-1]:
                        study.found(f"{name}, {way}, 10x{each}, {results}", value)
                rows.append([f"{name}, {way}", *(f"{value:.2f}" for value in values)])
        rows += [[name, *[""] * (len(per_class) - 1), f"{value:.2f}"] for name, value in peers.items()]
        text = (
            "Percent right. clip, flip and shift are Nyström maps of the symmetric part; none is the similarities. The "
            "linear and the kernel SVM have no bases; both are with their intercept."
        )
        study.table(
            f"2a: similarities and normalizations, {results}", text, ["", *(f"10x{n}" for n in per_class)], rows
        )
    most = per_class[-1]
    gains = [
        cell[f"mean_norm, 10x{most}, free"] - cell[f"mean_norm, 10x{per_class[0]}, free"] for cell in sizes.values()
    ]
    study.found("2a: points that most bases are above the fewest, at least", min(gains))
    best = max(cell[f"mean_norm, 10x{most}, free"] for cell in sizes.values())
    for name, value in peers.items():
        study.found(f"2a: {name}", value)
        study.found(f"2a: points that the best similarity is above the {name}", best - value)
    for way in ("clip", "shift"):
        gains = [
            cell[f"mean_norm, 10x{most}, free"] - cell[f"{way}, 10x{most}, free"]
            for name, cell in sizes.items()
            if name not in KERNELS
        ]
        study.found(f"points that mean-norm is above {way} on indefinite similarities, at least", min(gains))
        study.found(f"points that mean-norm is above {way} on indefinite similarities, mean", np.mean(gains))


def ways_to_choose(sizes: dict[str, Any], choices: dict[str, Any], each: int) -> dict[str, dict[str, list[float]]]:
    """By similarity and way; of random bases one number a draw."""
    return {
        name: {
            "random": choices[name]["random"],
            INDEX: [sizes[name][f"mean_norm, 10x{each}, free"]],
            "k-medoids": [choices[name]["k-medoids"]],
            CLIP: [sizes[name][f"clip, 10x{each}, free"]],
        }
        for name in choices
    }


def tell_choices(study: Study, chosen: dict[str, dict[str, list[float]]], each: int) -> None:
    rows = []
    for name, cell in chosen.items():
        for choice in ("random", "k-medoids"):
            study.found(f"2b: {name}, {choice}", np.mean(cell[choice]))
        of_draws = cell["random"]
        spread = f" ± {np.std(of_draws, ddof=1):.2f}" if len(of_draws) > 1 else ""
        results = f"{np.mean(of_draws):.2f}{spread} of {len(of_draws)}"
        rows.append([name, results, *(f"{cell[choice][0]:.2f}" for choice in (INDEX, "k-medoids", CLIP))])
    for choice in ("k-medoids", INDEX):
        above = [np.mean(cell[choice]) - np.mean(cell["random"]) for cell in chosen.values()]
        study.found(f"2b: points that {choice} is above random, mean", np.mean(above))
        study.found(f"2b: points between {choice} and random, most", np.max(np.abs(above)))
    text = "Percent right, mean-norm except for the last, an intercept; of random bases mean and standard deviation."
    study.table(f"2b: 10x{each} bases", text, ["", "random", INDEX, "k-medoids", CLIP], rows)


def draw(
    study: Study,
    sizes: dict[str, Any],
    peers: dict[str, float],
    chosen: dict[str, dict[str, list[float]]],
    per_class: tuple[int, ...],
) -> None:
    import matplotlib.pyplot as plt

    columns = min(6, len(sizes))
    rows = -(-len(sizes) // columns)
    figure = plt.figure(figsize=(12, 2.5 * rows + 4), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[2.5 * rows + 0.8, 3.2])
    colors = dict(zip(WAYS, (FIRST, SOFT, SECOND, FOURTH, THIRD), strict=True))
    panels = top.subplots(rows, columns, sharey=True, sharex=True, squeeze=False)
    for axes, (name, cell) in zip(panels.flat, sizes.items(), strict=True):
        for way, color in colors.items():
            up = [cell[f"{way}, 10x{each}, free"] for each in per_class]
            axes.plot(per_class, up, "o-", color=color, markersize=3, linewidth=1.2, label=way)
        for (peer_name, value), line in zip(peers.items(), (":", "--"), strict=True):
            axes.axhline(value, color=INK, linewidth=0.9, linestyle=line, label=peer_name)
        axes.set_title(name, loc="left", fontsize=10)
        axes.set(xscale="log")
        axes.set_xticks(per_class, [str(each) for each in per_class])
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
    top.supylabel("% right", fontsize=10)
    top.suptitle("2a: similarities and normalizations by bases a class, with an intercept", x=0.01, ha="left")
    top.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
    axes = bottom.subplots()
    looks = {"random": (SECOND, "_"), INDEX: (FIRST, "o"), "k-medoids": (THIRD, "D"), CLIP: (FOURTH, "x")}
    for at, cell in enumerate(chosen.values()):
        for shift, (choice, (color, mark)) in zip((-0.24, -0.08, 0.08, 0.24), looks.items(), strict=True):
            label = None if at else choice
            axes.plot([at + shift] * len(cell[choice]), cell[choice], mark, color=color, markersize=7, label=label)
    axes.set_xticks(range(len(chosen)), list(chosen))
    axes.set_ylabel("% right")
    axes.grid(axis="y", color="#eeeeee")
    axes.spines[["top", "right"]].set_visible(False)
    bottom.suptitle(f"2b: how 10x{per_class[-1]} bases are chosen (one mark a draw)", x=0.01, ha="left")
    bottom.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    everything, kept = load(study), Kept(study, "figure_2")
    images = everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(1)
    per_class = QUICK_PER_CLASS if study.quick else PER_CLASS
    names = QUICK_NAMES if study.quick else tuple(SIMILARITIES)
    sizes = {name: kept(f"{name}, sizes", lambda name=name: by_size(name, per_class, images)) for name in names}
    stored = Kept(study, "peers")
    peers = {
        "linear SVM": stored("linear, 1", lambda: peer.linear_svm(images))["free"],
        "kernel SVM": stored("kernel, 1", lambda: peer.kernel(images))["right"],
    }
    choices = {}
    for name in names:
        draws = QUICK_DRAWS if study.quick else FEWER_DRAWS.get(name, DRAWS)
        choices[name] = kept(
            f"{name}, 2b", lambda name=name, draws=draws: by_choice(name, per_class[-1], draws, images)
        )
    chosen = ways_to_choose(sizes, choices, per_class[-1])
    tell_sizes(study, sizes, peers, per_class)
    tell_choices(study, chosen, per_class[-1])
    draw(study, sizes, peers, chosen, per_class)
    study.note("sizes", sizes)
    study.note("choices", choices)
    study.note("peers", peers)
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
