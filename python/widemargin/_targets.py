"""Targets of classifiers: classes and multilabel indicator matrices, and the labels of model files."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ._kinds import check_text, is_missing

# The conversion of a model file's label to a class, for each kind of array; objects are strings.
_READERS: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str, "M": lambda label: label}


def labels_of(classes: npt.NDArray[Any]) -> list[int | str]:
    """Class labels as stored in a model file: signed 64-bit integers, or otherwise strings.

    Strings of an integer are stored as integers, as labels in files are read.
    """
    return [_label(label) for label in classes.tolist()]


def classes_of(labels: list[int | str]) -> npt.NDArray[Any]:
    """Class labels of a model file as an array."""
    if all(isinstance(label, int) for label in labels):
        return np.array(labels, dtype=np.int64)
    if all(isinstance(label, str) for label in labels):
        return np.array(labels)
    return np.array(labels, dtype=object)


def type_of_classes(classes: npt.NDArray[Any]) -> str | None:
    """The type of an array of classes, for `restored_classes`; None if a model file's labels are enough."""
    plain = classes_of(labels_of(classes))
    is_plain = plain.dtype == classes.dtype and plain.tolist() == classes.tolist()
    return None if is_plain or classes.dtype.kind not in _READERS else classes.dtype.str


def restored_classes(labels: list[int | str], header: dict[str, Any]) -> npt.NDArray[Any]:
    """The array of classes from labels, and the result of `type_of_classes` in the header.

    Raises
    ------
    ValueError
        If the labels do not have this type.
    """
    if "_type_of_classes" not in header["python"]:
        return classes_of(labels)
    dtype = np.dtype(header["python"]["_type_of_classes"])
    return np.array([_READERS[dtype.kind](label) for label in labels], dtype=dtype)


def _label(label: Any) -> int | str:
    if isinstance(label, int) and -(2**63) <= label < 2**63:
        return int(label)
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    text = str(label)
    check_text(text, f"y: class {text!r}")
    return int(text) if isinstance(label, str) and re.fullmatch(r"0|-?[1-9]\d{0,17}", text, re.ASCII) else text


def is_multilabel(y: Any) -> bool:
    """Whether y is a multilabel indicator matrix and not one class per sample.

    A matrix of one column has classes, as in scikit-learn.
    """
    if sp.issparse(y):
        return True
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple, np.ndarray)):
        shape = len(y), *np.shape(y[0])
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


def target_of(y: Any) -> tuple[list[int | str], npt.NDArray[Any], npt.NDArray[Any]]:
    """The classes or labels as stored in a model file, their code for each sample or the indicators, and `classes_`."""
    if is_multilabel(y):
        values = indicator(y)
        return label_names(y, values.shape[1]), values, np.arange(values.shape[1])
    y = column_or_1d(y, warn=True)
    classes, codes = distinct_classes(y)
    check_classification_targets(y)
    return labels_of(classes), codes, classes


def distinct_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint32]]:
    """The classes in ascending order, and the number of each sample's class.

    Raises
    ------
    ValueError
        For missing classes, naming the samples, and for classes of several types.
    """
    missing = ~np.isfinite(y) if y.dtype.kind == "f" else [is_missing(label) for label in y.tolist()]
    if rows := np.flatnonzero(missing).tolist():
        raise ValueError(f"y has no class in row {some(rows)} (from 0): drop these samples, or name a class for them")
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:  # they have no order
        types = sorted({type(label).__name__ for label in y})
        raise ValueError(f"y has classes of the types {' and '.join(types)}: convert them to one type") from None
    return classes, codes.astype(np.uint32).reshape(-1)


def codes_of(y: Any) -> npt.NDArray[np.uint32]:
    """A code for each sample, equal for samples of one class or of the same labels."""
    if is_multilabel(y):
        # Unknown entries are equal to each other.
        codes = np.unique(np.nan_to_num(indicator(y), nan=2.0), axis=0, return_inverse=True)[1]
        return codes.astype(np.uint32).reshape(-1)
    return target_of(y)[1]


def some(values: list[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:10])
    return shown if len(values) <= 10 else f"{shown}, … ({len(values)} in all)"
