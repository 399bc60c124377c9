"""Sections 3.5 and 3.5.1: which similarities to use together, chosen greedily, and with what weights.

    python greedy.py --data DATA

The twelve similarities on the first fold of CIFAR-10. First one after another, each time the one that cross-validation
likes best. Then the same with a weight for each that is taken, found along a line: √θ times its features adds θ times
its kernel, which is what combining kernels is here. Cells are kept in cache/ as they are measured.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, SECOND, SOFT, Stopwatch, Study

# isort: split
import numpy as np
from sklearn.model_selection import StratifiedKFold

from be_svm_similarities import M2, SIMILARITIES
from cifar import Features, Images, both, expand, linear, load
from kept import Kept
from widemargin import BasisExpansion

BASES, FOLDS, MAX_SIZE = 300, 3, 6
# Two, since with so few images it is luck which comes third.
QUICK_BASES, QUICK_IMAGES, QUICK_MOST = 60, 1500, 2
QUICK_NAMES = ("H8L", "H8R", "H8(1,0)", "H8(0,1)", "H4(0,1)")

# Weights of the kernel that is added, those before it having 1 together with theirs.
LINE = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
# One image in this many is left out to find weights on.
LEFT_OUT = 5


def select(names: tuple[str, ...], n_basis: int, most: int, images: Images) -> dict[str, Any]:
    """The greedy selection, gaining or not, so that one sees where it ends to help."""
    chosen: list[str] = []
    rounds: list[dict[str, float]] = []
    with Stopwatch() as watch:
        features = {
            name: BasisExpansion(SIMILARITIES[name], n_basis=n_basis, basis="index", n_jobs=1).fit_transform(
                images.train, images.train_labels
            )
            for name in names
        }
        while len(chosen) < most:
            together = {name: [*chosen, name] for name in names if name not in chosen}
            rounds.append(
                {
                    name: accuracy(np.hstack([features[one] for one in parts]), images.train_labels)
                    for name, parts in together.items()
                }
            )
            chosen.append(max(rounds[-1], key=rounds[-1].__getitem__))
    return {
        "chosen": chosen,
        "accuracies": [max(each.values()) for each in rounds],
        "alone": rounds[0],
        "cpu_seconds": watch.cpu_seconds,
        "seconds": watch.seconds,
    }


def accuracy(features: np.ndarray, labels: np.ndarray) -> float:
    """Percent right in cross-validation of the linear SVM on these features."""
    right = 0.0
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(features, labels):
        part = Images(features[train], labels[train], features[test], labels[test])
        right += len(test) * linear(Features(features[train], features[test], Stopwatch()), part)[0]
    return right / len(labels)


def on_test(names: list[str], n_basis: int, images: Images) -> dict[str, Any]:
    """Percent right of the test images with the first of the names, the first two, and so on; and M2."""
    features, right = expand(names, n_basis, images), {"none": [], "free": []}
    for at in range(len(names)):
        for intercept, value in both(features.first(n_basis * (at + 1)), images).items():
            right[intercept].append(value)
    m2 = expand(M2, n_basis, images)
    return {**right, **{f"M2, {name}": value for name, value in both(m2, images).items()}}


def weigh(names: list[str], n_basis: int, images: Images) -> dict[str, Any]:
    """A weight for each similarity, one after another along the line, by images left out; then on the test images."""
    features = expand(names, n_basis, images)
    n = len(images.train)
    out = np.arange(n) % LEFT_OUT == 0
    inner = Images(images.train[~out], images.train_labels[~out], images.train[out], images.train_labels[out])
    weights, lines = [1.0], []
    for at in range(1, len(names)):
        width = n_basis * (at + 1)
        line = []
        for theta in LINE:
            scale = scales([*weights, theta], n_basis)
            part = features.train[:, :width] * scale
            line.append(linear(Features(part[~out], part[out], Stopwatch()), inner)[0])
        lines.append(line)
        # Of those that are level the one nearest to equal weights.
        best = max(range(len(LINE)), key=lambda i: (line[i], -abs(np.log(LINE[i]))))
        weights.append(LINE[best])
    scale = scales(weights, n_basis)
    weighed = Features(features.train * scale, features.test * scale, Stopwatch())
    return {
        "weights": weights,
        "lines": lines,
        "equal": linear(features, images)[0],
        "weighed": linear(weighed, images)[0],
        "equal, none": linear(features, images, intercept=False)[0],
        "weighed, none": linear(weighed, images, intercept=False)[0],
    }


def scales(weights: list[float], n_basis: int) -> np.ndarray:
    return np.repeat(np.sqrt(weights), n_basis).astype(np.float32)


def tell(study: Study, chosen: dict[str, Any], tested: dict[str, Any], weighed: dict[str, Any]) -> None:
    rows = []
    for at, name in enumerate(chosen["chosen"]):
        study.found(f"% right in cross-validation with {at + 1}", chosen["accuracies"][at])
        study.found(f"% right of the test images with {at + 1}", tested["free"][at])
        line = [chosen["accuracies"][at], tested["none"][at], tested["free"][at]]
        rows.append([f"{at + 1}: {name}", *(f"{value:.2f}" for value in line)])
    rows.append(["M2", "", f"{tested['M2, none']:.2f}", f"{tested['M2, free']:.2f}"])
    study.found("% right of the test images with M2", tested["M2, free"])
    most = min(len(M2), len(chosen["chosen"]))
    study.found("points above M2 with as many", tested["free"][most - 1] - tested["M2, free"])
    study.found("of M2 among those chosen", len(set(M2) & set(chosen["chosen"])))
    study.found("points that the last one adds", tested["free"][-1] - tested["free"][-2])
    text = (
        f"Cross-validation in {FOLDS} folds, with an intercept. M2 is what the paper's selection ends with. "
        f"The selection took {chosen['cpu_seconds']:.0f} CPU seconds."
    )
    study.table("Greedy selection", text, ["", "cross-validation", "test, no intercept", "test, intercept"], rows)
    rows = [[name, f"{value:.2f}"] for name, value in sorted(chosen["alone"].items(), key=lambda pair: -pair[1])]
    study.table("Each alone", "Percent right in cross-validation.", ["", "% right"], rows)

    names = chosen["chosen"][: len(weighed["weights"])]
    rows = [
        [name, *(f"{value:.2f}" for value in line), f"{weight:g}"]
        for name, line, weight in zip(names[1:], weighed["lines"], weighed["weights"][1:], strict=True)
    ]
    gain = weighed["weighed"] - weighed["equal"]
    study.found("points that weights add", gain)
    text = (
        "Percent right of images left out, by the weight of the kernel that joins; on the test images equal weights "
        f"give {weighed['equal']:.2f} and these {weighed['weighed']:.2f} (without an intercept "
        f"{weighed['equal, none']:.2f} and {weighed['weighed, none']:.2f})."
    )
    study.table("Weights along a line", text, ["", *(f"{theta:g}" for theta in LINE), "taken"], rows)


def draw(study: Study, chosen: dict[str, Any], tested: dict[str, Any], weighed: dict[str, Any]) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    names, numbers = chosen["chosen"], range(1, len(chosen["chosen"]) + 1)
    left.plot(numbers, chosen["accuracies"], "s-", color=SECOND, label="cross-validation")
    left.plot(numbers, tested["free"], "o-", color=FIRST, label="test, intercept")
    left.plot(numbers, tested["none"], "o:", color=FIRST, label="test, no intercept")
    left.axhline(tested["M2, free"], color=SOFT, linewidth=1)
    left.annotate("M2, test, intercept", (1, tested["M2, free"]), (0, 4), textcoords="offset points", color=SOFT)
    left.set_xticks(list(numbers), [f"+ {name}" if at else name for at, name in enumerate(names)])
    left.set(ylabel="% right")
    left.set_title("One similarity after another", loc="left")
    left.legend(frameon=False, loc="lower right")
    for at, line in enumerate(weighed["lines"]):
        (drawn,) = right.plot(LINE, line, "o-", markersize=4, label=f"+ {names[at + 1]}")
        best = LINE.index(weighed["weights"][at + 1])
        right.plot(LINE[best], line[best], "o", markersize=10, mfc="none", color=drawn.get_color())
    right.set(xscale="log", xlabel="weight of the kernel that joins", ylabel="% right of images left out")
    right.set_xticks(LINE, [f"{theta:g}" for theta in LINE])
    right.minorticks_off()
    right.set_title("Weights along a line (circled: taken)", loc="left")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    everything, kept = load(study), Kept(study, "greedy")
    images = everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(1)
    names = QUICK_NAMES if study.quick else tuple(SIMILARITIES)
    n_basis, most = (QUICK_BASES, QUICK_MOST) if study.quick else (BASES, MAX_SIZE)
    chosen = kept("selection", lambda: select(names, n_basis, most, images))
    tested = kept("test", lambda: on_test(chosen["chosen"], n_basis, images))
    weighed = kept("weights", lambda: weigh(chosen["chosen"][: len(M2)], n_basis, images))
    tell(study, chosen, tested, weighed)
    draw(study, chosen, tested, weighed)
    study.note("selection", chosen)
    study.note("test", tested)
    study.note("weights", weighed)
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
