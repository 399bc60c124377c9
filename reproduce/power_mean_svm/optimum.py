"""Where dual coordinate descent ends, found exactly on samples few enough for a matrix of all pairs; squared hinge."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from kernels import Pairs, by_feature

Array = np.ndarray

MAX_STEPS = 60


def gram(kernel: Pairs, rows: sp.csr_matrix) -> Array:
    """The kernel of all pairs of rows, which need not be symmetric."""
    found = np.zeros((rows.shape[0], rows.shape[0]))
    for values, which, samples in by_feature(rows):
        found[np.ix_(samples, samples)] += kernel(values, values)[np.ix_(which, which)]
    return found


def end_point(matrix: Array, signs: Array, c: float, scores: Array | None = None) -> Array | None:
    """The dual variables that no step changes, a column per class; None where the search goes round in circles.

    That is α_i (G_i) = 0, α_i ≥ 0, G_i ≥ 0 with G = y·K(αy) − 1 + α/(2C): at the samples that stay inside the margin
    a linear system, whatever K. Which samples these are is found by trial, begun at those that `scores` says.
    """
    alphas = np.zeros(signs.shape)
    for one, y in enumerate(signs.T):
        inside = np.ones(len(y), bool) if scores is None else y * scores[:, one] < 1
        for _ in range(MAX_STEPS):
            system = y[inside, None] * matrix[np.ix_(inside, inside)] * y[inside]
            system[np.diag_indices_from(system)] += 0.5 / c
            found = np.zeros(len(y))
            found[inside] = np.linalg.solve(system, np.ones(inside.sum()))
            gradient = y * (matrix @ (found * y)) - 1
            new = np.where(inside, found > 0, gradient < 0)
            if (new == inside).all():
                break
            inside = new
        else:
            return None
        alphas[:, one] = found
    return alphas
