"""M1 and M2 on the first folds at one number of bases: what figures 3 and 4 are made of, measured once for both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from be_svm_similarities import M2
from cifar import CLASSES, FOLD, M1, Images, both, expand, linear, penalised
from common import Study
from kept import Kept

FOLDS, QUICK_FOLDS = (1, 2, 3, 4, 5), (1,)
A_CLASS, QUICK_A_CLASS = (25, 50, 100, 250, 500), (25, 100)
# Those that the claim is of. More are for every second number of folds, since they take most of the time.
CLAIMED = 250
# What a penalised intercept does shows on the fewest folds and on the most.
PENALISED = (1, 5)
QUICK_IMAGES = 1500

# What a base is kept as: its HOG cells of 4 pixels, for M2 those of 8 too.
NUMBERS_A_BASE = {"M1": 64 * 31, "M2": 64 * 31 + 16 * 31}


def folds(study: Study) -> tuple[int, ...]:
    return QUICK_FOLDS if study.quick else FOLDS


def a_class(study: Study, count: int) -> tuple[int, ...]:
    """Bases a class on so many folds."""
    if study.quick:
        return QUICK_A_CLASS
    return A_CLASS if count % 2 == 1 else tuple(each for each in A_CLASS if each <= CLAIMED)


def claimed(a_class: Iterable[int]) -> int:
    """Of these numbers of bases the one that the claim is of."""
    return max(each for each in a_class if each <= CLAIMED)


def some(study: Study, everything: Images, count: int) -> Images:
    """The first folds; in a quick run a few images in their place."""
    return everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(count)


def cell(study: Study, kept: Kept, everything: Images, count: int, each: int) -> dict[str, Any]:
    """Percent right by model and intercept, and what training took, on so many folds with so many bases a class."""
    return kept(f"{count} x {each}", lambda: measure(some(study, everything, count), each, count in PENALISED))


def measure(images: Images, each: int, penalises: bool) -> dict[str, Any]:
    """Times are of M2 with an intercept, from raw images: HOG, similarities, solver.

    The similarities of M1 are among those of M2.
    """
    features = expand(M2, CLASSES * each, images)
    single = both(features.part(M2.index(M1[0]), len(M2)), images)
    free, solver = linear(features, images, intercept=True)
    found: dict[str, Any] = {
        "M2, free": free,
        "seconds": features.watch.seconds + solver.seconds,
        "cpu_seconds": features.watch.cpu_seconds + solver.cpu_seconds,
        "solver_cpu_seconds": solver.cpu_seconds,
        "M2, none": linear(features, images, intercept=False)[0],
        **{f"M1, {name}": value for name, value in single.items()},
    }
    if penalises and each <= CLAIMED:
        found["M2, penalised"] = penalised(features, images)
    return found


def bases_of_first_fold(kept: Kept, everything: Images, count: int, each: int) -> dict[str, Any]:
    """Percent right of M2 with its bases among the first 10,000 images alone."""

    def fit() -> dict[str, Any]:
        images = everything.folds(count)
        by_class = [np.flatnonzero(images.train_labels[:FOLD] == one) for one in range(CLASSES)]
        rows = np.concatenate([of_class[np.arange(each) * len(of_class) // each] for of_class in by_class])
        features = expand(M2, len(rows), images, basis=rows)
        return {f"M2, {name}": value for name, value in both(features, images).items()}

    return kept(f"{count} x {each}, bases of the first fold", fit)


def numbers(model: str, each: int) -> int:
    """How many numbers prediction needs: the bases and the weights."""
    similarities = {"M1": len(M1), "M2": len(M2)}[model]
    return CLASSES * each * (NUMBERS_A_BASE[model] + CLASSES * similarities)


def many(count: int) -> str:
    return "1 fold" if count == 1 else f"{count} folds"
