"""Partitions of vectors in the form that the compiled half takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._samples import as_contiguous, from_vectors
from . import _tasks


def rows(number: int, samples: Any) -> Any:
    """A partition's samples as the compiled half takes them; not copied where they are of its form."""

    def checked() -> Any:
        return from_vectors(check_array(samples, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"))

    return _tasks.of_partition(number, checked)


def contiguous_rows(samples: Any) -> Any:
    """What came from another worker, as the compiled half reads it."""
    if isinstance(samples, tuple):
        form, data, indices, indptr, n_columns = samples
        return (
            form,
            as_contiguous(data, data.dtype),
            as_contiguous(indices, np.int32),
            as_contiguous(indptr, np.int64),
            n_columns,
        )
    return as_contiguous(samples, samples.dtype)
