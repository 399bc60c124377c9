"""The paper's Algorithm 3 as its text means it, in NumPy: dual coordinate descent on an approximated kernel.

The printed box has slips: here the gradient is G = y·g(x) − 1 + α·D, as in the paper's equation 8, and the old α is
kept before the step. All classes take each step together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from kernels import Reduced

Array = np.ndarray

# Beyond this nothing that converges goes: with a squared hinge α is at most 2C·n, with a hinge at most C.
DIVERGED = 1e12


@dataclass(frozen=True)
class Ended:
    status: str  # converged, diverged, or the most epochs
    epochs: int
    alphas: Array


def descend(
    kernel: Reduced,
    rows: sp.csr_matrix,
    signs: Array,
    c: float,
    hinge: bool = False,
    guard: bool = False,
    tol: float = 0.1,
    most: int = 300,
    seed: int = 0,
) -> Ended:
    """Until no projected gradient of an epoch is further than `tol` from any other, as LIBLINEAR has it.

    `guard` takes the step by max(Q_ii, K̃_ii), K̃ being the approximated kernel, instead of the paper's Q_ii = ‖x‖₁.
    """
    shift, top = (0.0, c) if hinge else (0.5 / c, np.inf)
    samples, problems = signs.shape
    order, random = np.arange(samples), np.random.default_rng(seed)
    parts = [_sample(kernel, rows, i) for i in range(samples)]
    exact = np.asarray(rows.sum(axis=1)).ravel()
    own = np.array([(row * column).sum() for _, row, column in parts])
    curvature = (np.maximum(exact, own) if guard else exact) + shift
    weights = np.zeros((rows.shape[1], parts[0][1].shape[1], problems))
    alphas = np.zeros((samples, problems))
    for epoch in range(1, most + 1):
        low, high = np.full(problems, np.inf), np.full(problems, -np.inf)
        for i in random.permutation(order):
            features, row, column = parts[i]
            y, before = signs[i], alphas[i].copy()
            gradient = y * (row.ravel() @ weights[features].reshape(-1, problems)) - 1 + before * shift
            # Steps that the bounds forbid are no gradient.
            held = ((before <= 0) & (gradient > 0)) | ((before >= top) & (gradient < 0))
            projected = np.where(held, 0, gradient)
            low, high = np.minimum(low, projected), np.maximum(high, projected)
            alphas[i] = np.clip(before - gradient / curvature[i], 0, top)
            weights[features] += column[:, :, None] * (y * (alphas[i] - before))
        if not np.isfinite(alphas).all() or np.abs(weights).max() > DIVERGED:
            return Ended("diverged", epoch, alphas)
        if (high - low).max() < tol:
            return Ended("converged", epoch, alphas)
    return Ended("most epochs", most, alphas)


def _sample(kernel: Reduced, rows: sp.csr_matrix, i: int) -> tuple[Array, Array, Array]:
    span = slice(rows.indptr[i], rows.indptr[i + 1])
    values = rows.data[span].astype(np.float64)
    return rows.indices[span], kernel.row(values), kernel.column(values)
