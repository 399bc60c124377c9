"""Labeled sparse rows in files: SciPy's CSR `.npz` with one more array, `labels`, and LIBSVM text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Labels = npt.NDArray[np.int64]


def save_npz(path: Path, rows: sp.csr_matrix, labels: Labels) -> None:
    """The arrays `scipy.sparse.save_npz` writes, so SciPy reads the file too, and `labels`."""
    np.savez(
        path,
        indices=rows.indices.astype(np.int32),
        indptr=rows.indptr.astype(np.int64 if rows.nnz > np.iinfo(np.int32).max else np.int32),
        format=np.array(b"csr"),
        shape=np.array(rows.shape, np.int64),
        data=rows.data.astype(np.float32),
        labels=labels.astype(np.int64),
    )


def load_npz(path: Path) -> tuple[sp.csr_matrix, Labels]:
    with np.load(path) as file:
        rows = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        return rows, file["labels"]


def save_libsvm(path: Path, rows: sp.csr_matrix, labels: Labels) -> None:
    """Indices from 1 and whole counts, as bags of words are usually exchanged."""
    # Formatting each distinct index and count once is several times faster than formatting each pair.
    column = [f" {j + 1}:" for j in range(rows.shape[1])]
    count = [str(v) for v in range(int(rows.data.max(initial=0)) + 1)]
    values = rows.data.astype(np.int64)
    with path.open("w", encoding="ascii") as file:
        for i in range(rows.shape[0]):
            span = slice(rows.indptr[i], rows.indptr[i + 1])
            pairs = zip(rows.indices[span].tolist(), values[span].tolist(), strict=True)
            file.write(f"{labels[i]}{''.join([column[j] + count[v] for j, v in pairs])}\n")


def training_maximum(train: sp.csr_matrix) -> npt.NDArray[np.float32]:
    """The largest value of each feature; 1 where it is always 0, so that dividing by it changes nothing."""
    top = train.max(axis=0).toarray().ravel().astype(np.float32)
    top[top == 0] = 1
    return top


def divided(rows: sp.csr_matrix, top: npt.NDArray[np.float32]) -> sp.csr_matrix:
    return sp.csr_matrix((rows.data / top[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
