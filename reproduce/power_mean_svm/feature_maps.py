"""Explicit feature maps of additive kernels, to put in front of a linear solver: the paper's peers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

Array = np.ndarray
Map = Callable[[sp.csr_matrix], sp.csr_matrix]

# The ratios of two values among which the interval of the intersection's map is chosen to fit.
LARGEST_RATIO = 100.0


def intersection_map(rows: sp.csr_matrix) -> sp.csr_matrix:
    """min(x, y) by the construction of scikit-learn's χ² map (Vedaldi and Zisserman): 3 numbers a feature.

    The kernel is √(xy)·exp(−|ω|/2) of ω = ln(y/x), whose spectrum is 2 / (π(1 + 4λ²)), taken at 0 and at one interval.
    """
    interval = best_interval()
    values = rows.data.astype(np.float64)
    angle = interval * np.log(values)
    strength = np.sqrt(2 * interval * values * spectrum(interval))
    parts = [np.sqrt(interval * values * spectrum(0.0)), strength * np.cos(angle), strength * np.sin(angle)]
    shape = (rows.shape[0], rows.shape[1])
    maps = [sp.csr_matrix((part.astype(np.float32), rows.indices, rows.indptr), shape=shape) for part in parts]
    return sp.hstack(maps, format="csr")


def spectrum(frequency: float) -> float:
    return 2 / (np.pi * (1 + 4 * frequency**2))


def best_interval() -> float:
    """The one with the least mean squared error over ln(y/x) of equally likely ratios."""
    omega = np.linspace(0, np.log(LARGEST_RATIO), 400)
    exact = np.exp(-omega / 2)

    def error(interval: float) -> float:
        made = interval * (spectrum(0.0) + 2 * spectrum(interval) * np.cos(interval * omega))
        return float(((made - exact) ** 2).mean())

    return min((float(interval) for interval in np.linspace(0.2, 2.0, 181)), key=error)


def unary_map(top: Array) -> Map:
    """min(x, y) of whole counts exactly: a count c is c ones, each by 1/√top of its feature.

    Takes counts that have been divided by `top`. What is above it has nothing to be compared with and is cut.
    """
    first = np.concatenate([[0], np.cumsum(top)]).astype(np.int64)

    def made(rows: sp.csr_matrix) -> sp.csr_matrix:
        counts = np.minimum(np.rint(rows.data * top[rows.indices]), top[rows.indices]).astype(np.int64)
        start = np.repeat(first[rows.indices], counts)
        ends = np.cumsum(counts)
        within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
        values = np.repeat(1 / np.sqrt(top[rows.indices]), counts).astype(np.float32)
        indptr = np.concatenate([[0], ends])[rows.indptr]
        return sp.csr_matrix((values, start + within, indptr), shape=(rows.shape[0], int(first[-1])))

    return made
