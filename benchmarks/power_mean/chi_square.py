"""The exact χ² kernel Σ 2xy/(x+y) between rows of counts, each feature divided by a maximum."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float32]


def kernel(left: sp.csr_matrix, right: sp.csr_matrix, top: Floats, block: int = 1000) -> Floats:
    """All pairs, a block of right rows at a time.

    Counts are whole and small, so left rows are a sum over counts c of [x = c]. For one c the kernel is the product
    of that 0/1 matrix with 2cy/(c+y): a sparse-dense product instead of a loop over pairs, and the division is done
    once for each (count, feature, right row) instead of once for each pair.
    """
    pieces = _by_count(left)
    out = np.zeros((left.shape[0], right.shape[0]), np.float32)
    for start in range(0, right.shape[0], block):
        part = right[start : start + block].toarray().astype(np.float32).T
        for count, rows, columns, holds in pieces:
            y = part[columns]
            # The division by the maximum of the feature cancels from 2xy/(x+y) but for one factor.
            value = y / (y + np.float32(count)) * (np.float32(2 * count) / top[columns])[:, None]
            out[rows, start : start + block] += holds @ value
    return out


def _by_count(rows: sp.csr_matrix) -> list[tuple[int, npt.NDArray, npt.NDArray, sp.csr_matrix]]:
    """For each distinct count: the rows and columns that have it, and where, as a 0/1 matrix between the two."""
    coordinates = rows.tocoo()
    counts = coordinates.data.astype(np.int64)
    if not np.array_equal(counts, coordinates.data):
        raise ValueError("the exact kernel is written for whole counts")
    pieces = []
    for count in np.unique(counts):
        here = counts == count
        r, i = np.unique(coordinates.row[here], return_inverse=True)
        c, j = np.unique(coordinates.col[here], return_inverse=True)
        holds = sp.csr_matrix((np.ones(len(i), np.float32), (i, j)), shape=(len(r), len(c)))
        pieces.append((int(count), r, c, holds))
    return pieces
