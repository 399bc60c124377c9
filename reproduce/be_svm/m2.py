"""H8R, M1, and M2 with its prefixes, on the first folds at one number of bases: what figures 3 and 4 are made of.

Measured once for both figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from be_svm_similarities import M2
from cifar import CLASSES, FOLD, M1, Features, Images, both, expand, linear, penalized
from common import Study
from kept import Kept

FOLDS, QUICK_FOLDS = (1, 2, 3, 4, 5), (1,)
PER_CLASS, QUICK_PER_CLASS = (25, 50, 100, 250, 500), (25, 100)
# Those that the claim is of. More are for every second number of folds, since they take most of the time.
CLAIMED = 250
# One resolution on most bases takes long where images are many.
SINGLE_MAX = (1,)
# What a penalized intercept does shows on the fewest folds and on the most.
PENALIZED = (1, 5)
QUICK_IMAGES = 1500

# What a base is kept as: its HOG cells of 8 pixels, and of 4 for the models of two resolutions.
COARSE, FINE = 16 * 31, 64 * 31
NUMBERS_PER_BASE = {
    "H8R": COARSE,
    "M1": COARSE,
    "M2, first 2": COARSE + FINE,
    "M2, first 3": COARSE + FINE,
    "M2": COARSE + FINE,
}
SIMILARITIES_OF = {"H8R": 1, "M1": len(M1), "M2, first 2": 2, "M2, first 3": 3, "M2": len(M2)}


def folds(study: Study) -> tuple[int, ...]:
    return QUICK_FOLDS if study.quick else FOLDS


def a_class(study: Study, count: int) -> tuple[int, ...]:
    """Bases per class on this number of folds."""
    if study.quick:
        return QUICK_PER_CLASS
    return PER_CLASS if count % 2 == 1 else tuple(each for each in PER_CLASS if each <= CLAIMED)


def a_class_single(study: Study, count: int) -> tuple[int, ...]:
    """Bases per class of H8R and M1 on this number of folds."""
    most = PER_CLASS[-1] if count in SINGLE_MAX else CLAIMED
    return tuple(each for each in a_class(study, count) if each <= most)


def claimed(a_class: Iterable[int]) -> int:
    """Of these numbers of bases the one that the claim is of."""
    return max(each for each in a_class if each <= CLAIMED)


def some(study: Study, everything: Images, count: int) -> Images:
    """The first folds; in a quick run a few images in their place."""
    return everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(count)


def cell(study: Study, kept: Kept, everything: Images, count: int, each: int) -> dict[str, Any]:
    """Percent right by model and intercept, and what training took, by numbers of folds and of bases per class."""
    return kept(f"{count} x {each}", lambda: measure(some(study, everything, count), each, count in PENALIZED))


def measure(images: Images, each: int, penalizes: bool) -> dict[str, Any]:
    """Times are of M2 with an intercept, from raw images: HOG, similarities, solver."""
    features = expand(M2, CLASSES * each, images)
    free, solver = linear(features, images, intercept=True)
    found: dict[str, Any] = {
        "M2, free": free,
        "seconds": features.watch.seconds + solver.seconds,
        "cpu_seconds": features.watch.cpu_seconds + solver.cpu_seconds,
        "solver_cpu_seconds": solver.cpu_seconds,
        "M2, none": linear(features, images, intercept=False)[0],
    }
    if penalizes and each <= CLAIMED:
        found["M2, penalized"] = penalized(features, images)
    return found


def single(study: Study, kept: Kept, everything: Images, count: int, each: int) -> dict[str, Any]:
    """Percent right of M1, one resolution, and of H8R, its first similarity and that of M2."""

    def fit() -> dict[str, Any]:
        images = some(study, everything, count)
        features = expand(M1, CLASSES * each, images)
        return _prefixes({"H8R": 1, "M1": len(M1)}, features, images, CLASSES * each)

    return kept(f"M1, {count} x {each}", fit)


def prefixes(study: Study, kept: Kept, everything: Images, count: int, each: int) -> dict[str, Any]:
    """Percent right of the first two and the first three similarities of M2."""

    def fit() -> dict[str, Any]:
        images = some(study, everything, count)
        features = expand(M2[:3], CLASSES * each, images)
        return _prefixes({"M2, first 2": 2, "M2, first 3": 3}, features, images, CLASSES * each)

    return kept(f"prefixes, {count} x {each}", fit)


def _prefixes(counts: dict[str, int], features: Features, images: Images, n_basis: int) -> dict[str, Any]:
    return {
        f"{model}, {name}": right
        for model, count in counts.items()
        for name, right in both(features.first(count * n_basis), images).items()
    }


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
    return CLASSES * each * (NUMBERS_PER_BASE[model] + CLASSES * SIMILARITIES_OF[model])


def many(count: int) -> str:
    return "1 fold" if count == 1 else f"{count} folds"
