"""Figure 2: accuracy of similarities and normalisations by the number of bases, and of ways to choose bases.

    python figure_2.py --data DATA

The first fold of CIFAR-10, C = 1. Cells are kept in cache/ as they are measured.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FOURTH, INK, SECOND, SOFT, THIRD, Study

# isort: split
import numpy as np

from cifar import CLASSES, INTERCEPTS, Images, both, expand, linear, load
from kept import Kept
from maps import raw

# A Gaussian, and three similarities that are no kernels.
COMPARED = ("H8R", "H4(1,0)", "H4(2,0)", "H4(0,1)")
WAYS = ("mean_norm", "none", "clip", "flip", "shift")
# Bases a class. Each divides the last, so that its evenly spaced bases are some of the last one's.
A_CLASS = (10, 25, 50, 100)

CHOSEN = ("H8R", "H4(1,0)")
CHOSEN_A_CLASS = (10, 25, 100)
# How bases are chosen, and with how many seeds.
CHOICES = {"index": 1, "random": 3, "kmedoids": 1}

QUICK_IMAGES, QUICK_A_CLASS, QUICK_CHOSEN_A_CLASS = 2000, (10, 50), (10, 25)
QUICK_COMPARED = ("H8R", "H4(1,0)")


def by_size(name: str, a_class: tuple[int, ...], images: Images) -> dict[str, Any]:
    """Of one similarity: percent right by normalisation, bases a class and intercept."""
    most, cell = raw(name, CLASSES * a_class[-1], images), {}
    for each in a_class:
        some = most.every(a_class[-1] // each)
        for way in WAYS:
            features = some.mapped(way)
            for intercept, right in both(features, images).items():
                cell[f"{way}, 10x{each}, {intercept}"] = right
    return cell


def by_choice(name: str, a_class: tuple[int, ...], images: Images) -> dict[str, Any]:
    """Of one similarity: percent right by choice of bases, with an intercept; a list where chance has a part."""
    cell: dict[str, Any] = {}
    for each in a_class:
        for choice, seeds in CHOICES.items():
            cell[f"{choice}, 10x{each}"] = [
                linear(expand([name], CLASSES * each, images, basis=choice, random_state=seed), images)[0]
                for seed in range(seeds)
            ]
    return cell


def tell_sizes(study: Study, sizes: dict[str, Any], a_class: tuple[int, ...]) -> None:
    for intercept, told in INTERCEPTS.items():
        rows = []
        for name, cell in sizes.items():
            for way in WAYS:
                values = [cell[f"{way}, 10x{each}, {intercept}"] for each in a_class]
                for each, value in zip(a_class, values, strict=True):
                    study.found(f"{name}, {way}, 10x{each}, {told}", value)
                rows.append([f"{name}, {way}", *(f"{value:.2f}" for value in values)])
        text = "Percent right. clip, flip and shift are Nyström maps of the symmetric part; none is the similarities."
        study.table(f"2a: normalisations, {told}", text, ["", *(f"10x{each}" for each in a_class)], rows)


def tell_choices(study: Study, choices: dict[str, Any], a_class: tuple[int, ...]) -> None:
    rows, apart = [], 0.0
    for name, cell in choices.items():
        for choice in CHOICES:
            values = [cell[f"{choice}, 10x{each}"] for each in a_class]
            for each, of_seeds in zip(a_class, values, strict=True):
                study.found(f"{name}, bases by {choice}, 10x{each}", np.mean(of_seeds))
            told = [f"{np.mean(one):.2f}" + (f" ± {np.std(one, ddof=1):.2f}" if len(one) > 1 else "") for one in values]
            rows.append([f"{name}, {choice}", *told])
        means = [np.mean(cell[f"{choice}, 10x{a_class[-1]}"]) for choice in CHOICES]
        apart = max(apart, float(np.ptp(means)))
    study.found("points between the best and the worst choice of bases, most bases, at most", apart)
    text = "Percent right, mean-norm, an intercept; of random bases the mean and standard deviation of three draws."
    study.table("2b: the choice of bases", text, ["", *(f"10x{each}" for each in a_class)], rows)


def draw(study: Study, sizes: dict[str, Any], choices: dict[str, Any], a_class: tuple[int, ...]) -> None:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 7.6), layout="constrained")
    top, bottom = figure.subfigures(2, 1)
    colours = dict(zip(WAYS, (FIRST, SOFT, SECOND, FOURTH, THIRD), strict=True))
    panels = top.subplots(1, len(sizes), sharey=True)
    for axes, (name, cell) in zip(panels, sizes.items(), strict=True):
        for way, colour in colours.items():
            for intercept, line in (("free", "o-"), ("none", "o:")):
                up = [cell[f"{way}, 10x{each}, {intercept}"] for each in a_class]
                label = way if intercept == "free" else None
                axes.plot(a_class, up, line, color=colour, markersize=3.5, label=label)
        _dress(axes, name, a_class)
    panels[0].set_ylabel("% right")
    top.suptitle("2a: normalisations (dotted: without an intercept)", x=0.01, ha="left")
    top.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    panels = bottom.subplots(1, len(choices), sharey=True)
    chosen = [int(key.rpartition("x")[2]) for key in next(iter(choices.values())) if key.startswith("index")]
    for axes, (name, cell) in zip(panels, choices.items(), strict=True):
        for choice, colour, mark in zip(CHOICES, (FIRST, SECOND, THIRD), "osD", strict=True):
            values = [cell[f"{choice}, 10x{each}"] for each in chosen]
            axes.plot(
                chosen, [np.mean(one) for one in values], mark + "-", color=colour, label=choice, mec=INK, mew=0.4
            )
            for each, one in zip(chosen, values, strict=True):
                if len(one) > 1:
                    axes.plot([each] * len(one), one, "_", color=colour, markersize=9)
        _dress(axes, name, tuple(chosen))
    panels[0].set_ylabel("% right")
    bottom.suptitle("2b: how bases are chosen (mean-norm, an intercept; bars: single draws)", x=0.01, ha="left")
    bottom.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    study.picture(figure)
    plt.close(figure)


def _dress(axes: Any, name: str, a_class: tuple[int, ...]) -> None:
    axes.set_title(name, loc="left")
    axes.set(xscale="log", xlabel="bases a class")
    axes.set_xticks(a_class, [str(each) for each in a_class])
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)


def main() -> int:
    study = Study(__file__, __doc__)
    everything, kept = load(study), Kept(study, "figure_2")
    images = everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(1)
    a_class = QUICK_A_CLASS if study.quick else A_CLASS
    chosen_a_class = QUICK_CHOSEN_A_CLASS if study.quick else CHOSEN_A_CLASS
    names = QUICK_COMPARED if study.quick else COMPARED
    sizes = {name: kept(f"{name}, sizes", lambda name=name: by_size(name, a_class, images)) for name in names}
    names = QUICK_COMPARED if study.quick else CHOSEN
    choices = {
        name: kept(f"{name}, choices", lambda name=name: by_choice(name, chosen_a_class, images)) for name in names
    }
    tell_sizes(study, sizes, a_class)
    tell_choices(study, choices, chosen_a_class)
    draw(study, sizes, choices, a_class)
    study.note("sizes", sizes)
    study.note("choices", choices)
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
