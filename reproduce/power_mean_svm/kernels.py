"""Additive kernels of one pair of numbers, exact and as the two approximations have them, and what follows of them.

Written out in NumPy as the paper has it, in double precision: it is what the library is held against. Sums over
samples go by the distinct values of a feature, so that no matrix of all pairs of samples is ever needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

Array = np.ndarray

# A kernel of all pairs of two lists of numbers above 0.
Pairs = Callable[[Array, Array], Array]


def power_mean(p: float) -> Pairs:
    """M_p of two positive numbers, p of at most 0; written so that no power overflows."""

    def pairs(x: Array, y: Array) -> Array:
        low, high = np.minimum.outer(x, y), np.maximum.outer(x, y)
        if p == 0:
            return np.sqrt(low * high)
        if np.isneginf(p):
            return low
        # M_p = low · ((1 + (high/low)^p) / 2)^(1/p), and (high/low)^p is in (0, 1].
        return low * np.exp(np.log1p(0.5 * np.expm1(p * np.log(high / low))) / p)

    return pairs


def jensen_shannon(x: Array, y: Array) -> Array:
    total = np.add.outer(x, y)
    return 0.5 * x[:, None] * np.log2(total / x[:, None]) + 0.5 * y * np.log2(total / y)


# Of the paper, where nothing else is said.
USUAL: dict[str, Any] = {"C": 0.01, "nodes": 3}

# Its name in tables, its exact form, and the parameters of `PowerMeanSVC`.
KERNELS: dict[str, tuple[Pairs, dict[str, object]]] = {
    "χ² (p = −1)": (power_mean(-1.0), {"kernel": -1.0}),
    "p = −8": (power_mean(-8.0), {"kernel": -8.0}),
    "intersection": (power_mean(-np.inf), {"kernel": -np.inf}),
    "Hellinger": (power_mean(0.0), {"kernel": 0.0}),
    "Jensen-Shannon": (jensen_shannon, {"kernel": "jensen_shannon"}),
}
CHI_SQUARE = "χ² (p = −1)"

# The relative duality gap of fits that stand for their problem's solution: at the library's 1 % a figure also tells of
# the order in which the rows came.
SOLVED = 1e-6


@dataclass(frozen=True)
class Reduced:
    """k(x, y) ≈ row(x) · column(y), a few numbers each."""

    row: Callable[[Array], Array]
    column: Callable[[Array], Array]

    def pairs(self, x: Array, y: Array) -> Array:
        return self.row(x) @ self.column(y).T


# The paper's nodes, and what it adds to x before it takes the logarithm.
NODES = np.array([0.01, 0.06, 0.75])
SHIFT = 0.05


def polynomial(exact: Pairs, shortcut: bool = False) -> Reduced:
    """The paper's: a parabola in ln(x + 0.05) through the values at three nodes. Not symmetric.

    `shortcut` takes the value at the first node to be that node, k(c₀, x) = c₀, as the paper proposes.
    """

    def row(x: Array) -> Array:
        return np.log(x + SHIFT)[:, None] ** np.arange(len(NODES))

    inverse = np.linalg.inv(row(NODES))

    def column(y: Array) -> Array:
        at_nodes = exact(y, NODES)
        if shortcut:
            at_nodes[:, 0] = NODES[0]
        return at_nodes @ inverse.T

    return Reduced(row, column)


def nystroem(exact: Pairs, nodes: Array) -> Reduced:
    """v(x) · v(y) with v(x) = K_cc^(−½) k(c, x): positive semi-definite for any nodes."""
    values, vectors = np.linalg.eigh(exact(nodes, nodes))
    kept = values > 1e-12 * values.max()
    root = vectors[:, kept] / np.sqrt(values[kept]) @ vectors[:, kept].T

    def both(x: Array) -> Array:
        return exact(x, nodes) @ root

    return Reduced(both, both)


def gradients(kernel: Pairs, rows: sp.csr_matrix, duals: Array) -> Array:
    """Σ_i d_i k(x, x_i) at every row x, for each column of `duals` (samples × problems)."""
    found = np.zeros_like(duals, dtype=np.float64)
    for values, which, samples in by_feature(rows):
        sums = np.zeros((len(values), duals.shape[1]))
        np.add.at(sums, which, duals[samples])
        found[samples] += (kernel(values, values) @ sums)[which]
    return found


def by_feature(rows: sp.csr_matrix) -> list[tuple[Array, Array, Array]]:
    """Of each feature that occurs: its distinct values, which of them each of its samples has, and the samples."""
    columns = rows.tocsc()
    pieces = []
    for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        if start < end:
            values, which = np.unique(columns.data[start:end].astype(np.float64), return_inverse=True)
            pieces.append((values, which, columns.indices[start:end]))
    return pieces


def one_vs_rest(labels: Array) -> Array:
    """+1 for the samples of the class, −1 for the others: samples × classes."""
    return np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)


def duals_of(scores: Array, signs: Array, c: float) -> Array:
    """The dual variables at the optimum of a squared hinge, where the gradient is zero: α = 2C (1 − y f)₊."""
    return 2 * c * np.maximum(0, 1 - signs * scores)


def true_gap(f: Array, alphas: Array, signs: Array, c: float) -> float:
    """(primal − dual) / primal of all problems together, squared hinge; f are the exact values Σ α_i y_i k(x, x_i)."""
    squared_norm = (alphas * signs * f).sum()
    primal = 0.5 * squared_norm + c * (np.maximum(0, 1 - signs * f) ** 2).sum()
    dual = alphas.sum() - 0.5 * squared_norm - (alphas**2).sum() / (4 * c)
    return float((primal - dual) / primal)
