"""M1 and M2 on the first folds at one number of bases: what figures 3 and 4 are made of, measured once for both."""

from __future__ import annotations

from typing import Any

import numpy as np

from be_svm_similarities import M2
from cifar import CLASSES, FOLD, M1, Images, both, expand, linear, penalised
from common import Study
from kept import Kept

FOLDS, QUICK_FOLDS = (1, 5), (1,)
A_CLASS, QUICK_A_CLASS = (25, 100, 250), (25, 100)
QUICK_IMAGES = 1500

# What a base is kept as: its HOG cells of 4 pixels, for M2 those of 8 too.
NUMBERS_A_BASE = {"M1": 64 * 31, "M2": 64 * 31 + 16 * 31}


def folds(study: Study) -> tuple[int, ...]:
    return QUICK_FOLDS if study.quick else FOLDS


def a_class(study: Study) -> tuple[int, ...]:
    return QUICK_A_CLASS if study.quick else A_CLASS


def some(study: Study, everything: Images, count: int) -> Images:
    """The first folds; in a quick run a few images in their place."""
    return everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(count)


def cell(study: Study, kept: Kept, everything: Images, count: int, each: int) -> dict[str, Any]:
    """Percent right by model and intercept, and what training took, on so many folds with so many bases a class."""
    return kept(f"{count} x {each}", lambda: measure(some(study, everything, count), each))


def measure(images: Images, each: int) -> dict[str, Any]:
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
    return {**found, "M2, penalised": penalised(features, images)}


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
