"""The histograms that the scripts of this folder are about: counts, not scaled."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import sparse_files
import visual_words

Array = np.ndarray
Rows = sp.csr_matrix

CELLS = (1, 2, 4)  # a side of the pyramid's grids: 1 + 4 + 16 histograms


@dataclass(frozen=True)
class Histograms:
    """f32 counts and labels, to train on and to test on."""

    train: Rows
    y_train: Array
    test: Rows
    y_test: Array

    def head(self, rows: int) -> Histograms:
        """With the first training rows alone."""
        return Histograms(self.train[:rows], self.y_train[:rows], self.test, self.y_test)

    def scaled(self) -> Rows:
        """The training rows, each feature divided by its maximum, as the library does automatically."""
        return sparse_files.divided(self.train, sparse_files.training_maximum(self.train))

    def shape(self) -> str:
        """For a table: rows × columns, classes, non-zeros a row."""
        (rows, columns), classes = self.train.shape, len(np.unique(self.y_train))
        return f"{rows:,} × {columns:,}, {classes:,} classes, {self.train.nnz / rows:.0f} a row"


def scene15(data: Path) -> Histograms:
    """Scene-15: 400 visual words in a spatial pyramid of 1 + 4 + 16 cells."""
    with np.load(data / "bow" / "scene15_words.npz") as file:
        side, words, labels, n_train = int(file["grid"][0, 0]), int(file["n_words"]), file["y"], int(file["n_train"])
        grids = file["words"].reshape(len(labels), side * side).astype(np.int64)
    across, down = np.meshgrid(np.arange(side), np.arange(side))
    columns, first = [], 0
    for cells in CELLS:
        cell = (down * cells // side) * cells + across * cells // side
        columns.append((first + cell.ravel()) * words + grids)
        first += cells * cells
    rows = _counts(np.hstack(columns), first * words)
    return Histograms(rows[:n_train], labels[:n_train], rows[n_train:], labels[n_train:])


def newsgroups(data: Path) -> Histograms:
    """20 Newsgroups by date: counts of 1,000 words."""
    with np.load(data / "bow" / "news20_w1000.npz") as file:
        parts = []
        for part in ("train", "test"):
            arrays = (file[f"{part}_data"].astype(np.float32), file[f"{part}_indices"].astype(np.int32))
            rows = sp.csr_matrix((*arrays, file[f"{part}_indptr"]), shape=(len(file[f"y_{part}"]), len(file["vocab"])))
            parts += [rows, file[f"y_{part}"]]
    return Histograms(*parts)


def cifar_words(data: Path) -> Histograms:
    """CIFAR-10 as 5,000 visual words, made in two minutes if the cache has them not yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "widemargin-bench"
    visual_words.ensure(data / "cifar10", cache)
    return Histograms(*sparse_files.load_npz(cache / "train.npz"), *sparse_files.load_npz(cache / "test.npz"))


def many_classes(
    classes: int, a_class: int, columns: int, alike: float = 2.0, words: int = 300, seed: int = 0
) -> Histograms:
    """Made counts of the shape of ILSVRC's bags of visual words: as many rows for a class in training and in test.

    A class has its own frequencies of the words, a gamma variable with a variance of 1/`alike` times what all classes
    share; an image has its own again. Counts are Poisson, so that a word that came once comes again, as real ones do.
    """
    random = np.random.default_rng(seed)
    shared = 1.0 / (10.0 + random.permutation(columns))
    parts = []
    for _ in range(classes):
        of_class = shared * random.gamma(alike, size=columns)
        of_images = of_class * random.gamma(0.3, size=(2 * a_class, columns))
        of_images *= words / of_images.sum(axis=1, keepdims=True)
        parts.append(sp.csr_matrix(random.poisson(of_images).astype(np.float32)))
    rows, labels = sp.vstack(parts, format="csr"), np.repeat(np.arange(classes), 2 * a_class)
    first = np.arange(len(labels)) % (2 * a_class) < a_class
    return Histograms(rows[first], labels[first], rows[~first], labels[~first])


def digits() -> Histograms:
    """scikit-learn's 8 × 8 digits, no histograms but dense and without a file: 1,000 to train, 797 to test."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    rows = sp.csr_matrix(pixels.astype(np.float32))
    return Histograms(rows[:1000], labels[:1000], rows[1000:], labels[1000:])


def _counts(found: Array, columns: int) -> Rows:
    """Rows of counts of column numbers, the same number in every row."""
    indptr = np.arange(0, found.size + 1, found.shape[1])
    rows = sp.csr_matrix((np.ones(found.size, np.float32), found.ravel(), indptr), shape=(len(found), columns))
    rows.sum_duplicates()
    return rows
