"""CIFAR-10 for the scripts of this folder: images, and linear SVMs on them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import cifar10
import synthetic
from be_svm_similarities import SIMILARITIES
from common import Stopwatch, Study, stop
from widemargin import BasisExpansion, BasisExpansionSVC

# Decoded images and measured cells, in no repository.
CACHE = Path(__file__).resolve().parent / "cache"

FOLD = 10_000
CLASSES = 10

# The paper's selection at one resolution; M2, at two, is in `be_svm_similarities`. The figures take the first ones
# of this order.
M1 = ("H8R", "H8(1,0)", "H8(0,1)")

# What an intercept costs: there is none, or it is free. Penalized is LIBLINEAR's.
INTERCEPTS = {"none": "no intercept", "free": "intercept"}
ALL_INTERCEPTS = {**INTERCEPTS, "penalized": "penalized intercept"}


@dataclass(frozen=True)
class Images:
    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray

    def folds(self, count: int) -> Images:
        """The first `count` of the five training batches."""
        return self.first(count * FOLD)

    def first(self, n: int, n_test: int | None = None) -> Images:
        return Images(self.train[:n], self.train_labels[:n], self.test[:n_test], self.test_labels[:n_test])


def load(study: Study) -> Images:
    """All images. Decoding takes some seconds, so it is done once."""
    if study.synthetic:
        with np.load(study.data / synthetic.IMAGES) as file:
            return Images(*(file[name] for name in ("X_train", "y_train", "X_test", "y_test")))
    folder = study.data / "cifar10"
    names = ("x_train", "y_train", "x_test", "y_test")
    mark = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    paths = [CACHE / f"cifar10_{mark}_{name}.npy" for name in names]
    if not all(path.is_file() for path in paths):
        try:
            data = cifar10.load(folder)
        except (cifar10.MissingDataError, ImportError) as error:
            stop(str(error), "lossless WebP images need Pillow: pip install pillow")
        CACHE.mkdir(exist_ok=True)
        for name, path in zip(names, paths, strict=True):
            np.save(path.with_suffix(".part.npy"), getattr(data, name))
            path.with_suffix(".part.npy").replace(path)
    return Images(*(np.load(path) for path in paths))


@dataclass
class Features:
    """φ of the training and test images, and the CPU seconds and seconds of making the former."""

    train: np.ndarray
    test: np.ndarray
    watch: Stopwatch

    def part(self, number: int, parts: int) -> Features:
        """The features of one similarity of several."""
        width = self.train.shape[1] // parts
        return self._columns(slice(number * width, (number + 1) * width))

    def first(self, width: int) -> Features:
        return self._columns(slice(width))

    def _columns(self, columns: slice) -> Features:
        return Features(*(np.ascontiguousarray(rows[:, columns]) for rows in (self.train, self.test)), self.watch)

    def add_constant(self) -> None:
        """A last feature of 1, whose weight is an intercept that is penalized: LIBLINEAR's."""
        self.train = np.column_stack([self.train, np.ones(len(self.train), np.float32)])
        self.test = np.column_stack([self.test, np.ones(len(self.test), np.float32)])


def expand(names: Sequence[str], n_basis: int, images: Images, **parameters: Any) -> Features:
    """Similarities of all images to some bases, normalized: from raw images, HOG and its scaling included."""
    watch = Stopwatch()
    with watch:
        similarities = [SIMILARITIES[name] for name in names]
        expansion = BasisExpansion(similarities, n_basis=n_basis, n_jobs=1, **{"basis": "index", **parameters})
        train = expansion.fit_transform(images.train, images.train_labels)
    return Features(train, expansion.transform(images.test), watch)


def on_features(width: int, **parameters: Any) -> BasisExpansionSVC:
    """A linear SVM on this number of features: unnormalized similarities to as many bases."""
    return BasisExpansionSVC("precomputed", n_basis=width, normalization="none", n_jobs=1, **parameters)


def linear(features: Features, images: Images, *, C: float = 1.0, intercept: bool = True) -> tuple[float, Stopwatch]:
    """Percent right of one-vs-rest machines with squared hinge, and the time of training them."""
    n, width = features.train.shape
    # Where there are as many features as samples they are still all of them bases.
    every = {"basis": np.arange(width)} if n == width else {}
    machine = on_features(width, C=C, fit_intercept=intercept, **every)
    watch = Stopwatch()
    with watch:
        machine.fit(features.train, images.train_labels)
    return 100 * float(np.mean(machine.predict(features.test) == images.test_labels)), watch


def both(features: Features, images: Images) -> dict[str, float]:
    """Percent right without an intercept and with one."""
    return {name: linear(features, images, intercept=name == "free")[0] for name in INTERCEPTS}


def penalized(features: Features, images: Images) -> float:
    """Percent right with an intercept that is penalized like any weight, which widens the features by one."""
    features.add_constant()
    return linear(features, images, intercept=False)[0]
