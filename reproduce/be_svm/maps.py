"""The paper's normalizations of similarities that are computed once, in NumPy.

The library does the same in one step, at the cost of the similarities anew for each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from be_svm_similarities import SIMILARITIES
from cifar import Features, Images
from common import Stopwatch
from mean_norm import MeanNorm
from widemargin import BasisExpansion

NYSTROM = ("clip", "flip", "shift", "square")

# Eigenvalues below this part of the largest are what rounding leaves of 0.
CUT = 1e-6


@dataclass
class Raw:
    """One similarity of all images to the bases as it is, and of the bases among each other."""

    train: np.ndarray
    test: np.ndarray
    # between[i, j] is s(basis j, basis i); only the latter is displaced.
    between: np.ndarray

    def every(self, step: int) -> Raw:
        """On one base in `step`: what evenly spaced bases are, where there are `step` times fewer of each class."""
        columns = [np.ascontiguousarray(rows[:, ::step]) for rows in (self.train, self.test, self.between[::step])]
        return Raw(*columns)

    def mapped(self, normalization: str) -> Features:
        if normalization == "none":
            train, test = self.train, self.test
        elif normalization == "mean_norm":
            scaler = MeanNorm().fit(self.train)
            train, test = scaler.transform(self.train), scaler.transform(self.test)
        else:
            matrix = nystroem(self.between, normalization).astype(np.float32)
            train, test = self.train @ matrix, self.test @ matrix
        return Features(train, test, Stopwatch())


def raw(name: str, n_basis: int, images: Images) -> Raw:
    expansion = BasisExpansion(SIMILARITIES[name], n_basis=n_basis, basis="index", normalization="none", n_jobs=1)
    train = expansion.fit_transform(images.train, images.train_labels)
    # The library keeps bases in an order of their content; here class by class, in the order of the file.
    bases = expansion.basis_indices_
    order = np.lexsort((bases, images.train_labels[bases]))
    train, test = train[:, order], expansion.transform(images.test)[:, order]
    return Raw(train, test, train[bases[order]].astype(np.float64))


def nystroem(between: np.ndarray, way: str) -> np.ndarray:
    """K^(−½) of the symmetric part after its spectrum was clipped, flipped, shifted or squared."""
    values, vectors = np.linalg.eigh((between + between.T) / 2)
    values = {
        "clip": values.clip(min=0),
        "flip": np.abs(values),
        "shift": values - min(values.min(), 0.0),
        "square": values**2,
    }[way]
    kept = values > CUT * values.max()
    return vectors[:, kept] / np.sqrt(values[kept])


def negative(values: np.ndarray) -> tuple[float, float]:
    """NgRat, the share of negative eigenvalues, and NgEng, their sum to that of the positive ones."""
    # What rounding leaves of a 0 is not negative.
    below = values < -1e-10 * np.abs(values).max()
    return float(below.mean()), float(np.abs(values[below]).sum() / values[values > 0].sum())


def spectra(between: np.ndarray) -> dict[str, tuple[float, float] | int]:
    """NgRat and NgEng as the matrix stands (real parts) and of its symmetric part."""
    raw = np.linalg.eigvals(between)
    return {
        "raw": negative(raw.real),
        "symmetric": negative(np.linalg.eigvalsh((between + between.T) / 2)),
        "complex": int(np.sum(np.abs(raw.imag) > 1e-10 * np.abs(raw).max())),
    }
