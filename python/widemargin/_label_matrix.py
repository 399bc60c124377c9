"""Multilabel targets: indicator matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array, column_or_1d


def is_multilabel(y: Any) -> bool:
    """Whether y is a multilabel indicator matrix and not one class per sample.

    A matrix of one column has classes, as in scikit-learn.
    """
    if sp.issparse(y):
        return True
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple, np.ndarray)):
        shape = np.shape(y)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def indicator(y: Any) -> npt.NDArray[np.float64]:
    """The matrix in the library's form: 1, 0, and NaN for unknown labels.

    Raises
    ------
    ValueError
        For a matrix with other values.
    """
    if sp.issparse(y):
        y = y.toarray()
    try:
        values = check_array(y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="Y", order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"Y must be an indicator matrix of 0 and 1, with NaN for unknown labels: {error}") from error
    wrong = ~(np.isnan(values) | (values == 0) | (values == 1))
    if wrong.any():
        row, column = (int(at[0]) for at in np.nonzero(wrong))
        raise ValueError(
            f"Unknown label type: Y has {values[row, column]:g} at row {row}, column {column} (from 0). With "
            "several columns it is an indicator matrix: 1 for labels of the sample, 0 for other labels, NaN for "
            "unknown ones"
        )
    return np.ascontiguousarray(values)


def label_names(y: Any, n_labels: int) -> list[int | str]:
    """The names of the labels: the column names of a frame, otherwise numbers from 0."""
    columns = getattr(y, "columns", None)
    return list(range(n_labels)) if columns is None else [str(name) for name in columns]


def codes_of(y: Any) -> npt.NDArray[np.uint32]:
    """A code for each sample, equal for samples of one class or of the same labels."""
    if is_multilabel(y):
        # Unknown entries are equal to each other.
        codes = np.unique(np.nan_to_num(indicator(y), nan=2.0), axis=0, return_inverse=True)[1]
    else:
        codes = np.unique(column_or_1d(y), return_inverse=True)[1]
    return codes.astype(np.uint32).reshape(-1)
