"""Section 3.5.1: kernel SVMs on α K₁ + (1 − α) K₂, the α of 0, 0.1 … 1 that is best in five folds.

    python mkl.py --data DATA

Linear and Gaussian kernels on HOG cells of 4 and of 8, γ = 1, LIBSVM one-vs-one with C = 2. The first 2,000 images of
the first fold of CIFAR-10, on which α is chosen, and all 10,000 test images: five folds at eleven values of α for three
pairs of kernels are 165 machines, which on all 10,000 would take an hour. Cells are kept in cache/.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, SECOND, THIRD, Study

# isort: split
import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import peer
from cifar import Images, load
from kept import Kept
from mean_norm import MeanNorm
from widemargin.similarity import HOG

IMAGES, QUICK_IMAGES, QUICK_TEST = 2000, 600, 1000
FOLDS = 5
ALPHAS = tuple(round(0.1 * at, 1) for at in range(11))
QUICK_ALPHAS = (0.0, 0.5, 1.0)

# The kernel that α multiplies, and the other.
PAIRS = (("K4R", "K8R"), ("K8L", "K8R"), ("K4L", "K8R"))

Kernel = tuple[np.ndarray, np.ndarray]


def kernels(images: Images) -> dict[str, Kernel]:
    """Between the training images, and of the test images to them."""
    found = {}
    for cell in (4, 8):
        hog, scaler = HOG(cell, n_jobs=1), MeanNorm()
        train = scaler.fit_transform(hog.transform(images.train)).astype(np.float64)
        test = scaler.transform(hog.transform(images.test)).astype(np.float64)
        found[f"K{cell}R"] = peer.gaussian(train, train), peer.gaussian(test, train)
        found[f"K{cell}L"] = train @ train.T, test @ train.T
    return found


def fit(matrix: np.ndarray, labels: np.ndarray) -> SVC:
    return SVC(C=peer.C, kernel="precomputed", cache_size=500).fit(matrix, labels)


def combine(first: Kernel, second: Kernel, alphas: tuple[float, ...], images: Images) -> dict[str, Any]:
    """Percent right in the folds at each α; then of the test images with either kernel and with the chosen α."""
    labels = images.train_labels
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(labels, labels))
    right = []
    for alpha in alphas:
        joined = alpha * first[0] + (1 - alpha) * second[0]
        of_folds = []
        for train, out in folds:
            machine = fit(joined[np.ix_(train, train)], labels[train])
            given = peer.vote(machine, joined[np.ix_(out, train[machine.support_])])
            of_folds.append(100 * float(np.mean(given == labels[out])))
        right.append(float(np.mean(of_folds)))
    # Of equals the one nearest to the second kernel alone.
    chosen = alphas[int(np.argmax(right))]
    found: dict[str, Any] = {"folds": right, "chosen": chosen}
    for name, alpha in (("first", 1.0), ("second", 0.0), ("both", chosen)):
        machine = fit(alpha * first[0] + (1 - alpha) * second[0], labels)
        similarity = alpha * first[1] + (1 - alpha) * second[1]
        given = peer.vote(machine, similarity[:, machine.support_])
        found[name] = 100 * float(np.mean(given == images.test_labels))
        found[f"{name}, vectors"] = len(machine.support_)
    return found


def tell(study: Study, found: dict[str, dict[str, Any]], alphas: tuple[float, ...], n: int) -> None:
    rows = []
    for (one, other), cell in zip(PAIRS, found.values(), strict=True):
        pair = f"{one} + {other}"
        gain = max(cell["folds"]) - cell["folds"][alphas.index(0.0)]
        study.found(f"{pair}: α", cell["chosen"])
        study.found(f"{pair}: points above {other} alone in the folds", gain)
        study.found(f"{pair}: points above {other} alone on the test images", cell["both"] - cell["second"])
        study.found(f"{pair}: % right on the test images", cell["both"])
        rows.append(
            [pair, *(f"{value:.2f}" for value in cell["folds"]), f"{cell['chosen']:g}"]
            + [f"{cell[name]:.2f}" for name in ("first", "second", "both")]
        )
    columns = {"K4": 64 * 31, "K8": 16 * 31}
    cell = found["K4R + K8R"]
    both = cell["both, vectors"] * (columns["K4"] + columns["K8"] + 1)
    study.found("K4R + K8R: parameters for each of K8R's", both / (cell["second, vectors"] * (columns["K8"] + 1)))
    text = (
        f"Percent right in {FOLDS} folds of {n:,} images by the weight α of the first kernel, then of the test images "
        "with the first kernel, the second and both with the α that was best in the folds."
    )
    head = ["", *(f"α = {alpha:g}" for alpha in alphas), "chosen", "test, first", "test, second", "test, both"]
    study.table("Two kernels", text, head, rows)


def draw(study: Study, found: dict[str, dict[str, Any]], alphas: tuple[float, ...]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for (pair, cell), color in zip(found.items(), (FIRST, SECOND, THIRD), strict=True):
        axes.plot(alphas, cell["folds"], "o-", color=color, markersize=4, label=pair)
        best = alphas.index(cell["chosen"])
        axes.plot(alphas[best], cell["folds"][best], "o", color=color, markersize=11, mfc="none")
    axes.set(xlabel="α, the weight of the first kernel (circled: chosen)", ylabel="% right in five folds")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    kept = Kept(study, "mkl")
    n, alphas = (QUICK_IMAGES, QUICK_ALPHAS) if study.quick else (IMAGES, ALPHAS)
    images = load(study).first(n, QUICK_TEST if study.quick else None)
    made: dict[str, Kernel] = {}

    def pair(one: str, other: str) -> dict[str, Any]:
        if not made:
            made.update(kernels(images))
        return combine(made[one], made[other], alphas, images)

    found = {
        f"{one} + {other}": kept(f"{one} + {other}", lambda one=one, other=other: pair(one, other))
        for one, other in PAIRS
    }
    tell(study, found, alphas, n)
    draw(study, found, alphas)
    study.note("alphas", alphas)
    study.note("found", found)
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
