"""Molecules written as SMILES: their Wiener index, and the Tanimoto kernel for scikit-learn."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from sklearn.base import BaseEstimator, TransformerMixin

# Atoms in brackets or alone; ends of rings; branches; bonds; the dot between molecules.
_TOKEN = re.compile(r"(\[[^\]]*\]|Br|Cl|[A-Za-z*])|(%\d\d|\d)|([()])|([-=#:/\\~$])|(\.)")


def bonds(smiles: str) -> tuple[int, list[tuple[int, int]]]:
    """The number of heavy atoms, and the pairs that are bonded.

    Parameters
    ----------
    smiles : str

    Raises
    ------
    ValueError
        For text that is no SMILES.
    """
    if _TOKEN.sub("", smiles):
        raise ValueError(f"{smiles!r} is no SMILES")
    n, before, branches, rings, pairs = 0, None, [], {}, []
    for atom, ring, branch, _, dot in _TOKEN.findall(smiles):
        if atom and re.fullmatch(r"\[\d*H[^a-z].*", atom + " "):
            continue
        if atom:
            if before is not None:
                pairs.append((before, n))
            before, n = n, n + 1
        elif ring and ring in rings:
            pairs.append((rings.pop(ring), before))
        elif ring:
            rings[ring] = before
        elif branch == "(":
            branches.append(before)
        elif branch:
            before = branches.pop()
        elif dot:
            before = None
    return n, pairs


def log_wiener_index(smiles: str) -> float:
    """The logarithm, to the base 10, of the sum of the distances of all pairs of heavy atoms of the largest molecule.

    Parameters
    ----------
    smiles : str

    Returns
    -------
    float
        NaN for a single atom.
    """
    n, pairs = bonds(smiles)
    if not pairs:
        return float("nan")
    rows, columns = np.array(pairs).T
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(n, n))
    component = connected_components(graph, directed=False)[1]
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    distances = shortest_path(graph, directed=False, unweighted=True)[np.ix_(largest, largest)]
    return float(np.log10(distances.sum() / 2))


class Tanimoto(TransformerMixin, BaseEstimator):
    """The Tanimoto kernel of rows of 0 and 1 with those of ``fit``, for estimators with a precomputed kernel."""

    def fit(self, X: Any, y: Any = None) -> Tanimoto:
        self.rows_ = csr_array(X, dtype=np.float64)
        self.sums_ = np.asarray(self.rows_.sum(axis=1)).ravel()
        return self

    def transform(self, X: Any) -> Any:
        X = csr_array(X, dtype=np.float64)
        shared = (X @ self.rows_.T).toarray()
        sums = np.asarray(X.sum(axis=1)).ravel()
        return shared / np.maximum(sums[:, None] + self.sums_ - shared, 1.0)
