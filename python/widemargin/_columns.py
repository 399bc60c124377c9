"""The columns of data frames: matched by name, and encoded if they are not numeric.

The encoding is that of the command line: one feature for each category, 1 and 0 for booleans, and for missing numbers
the median and an indicator feature.
"""

from __future__ import annotations

import datetime
import itertools
import json
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from . import _core
from ._files import Stored
from ._kinds import by_name, column_at, is_missing, refuse_one
from ._parameters import ROWS, warn

_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
# The beginnings of the names of types in pandas and polars.
_TIME_TYPES = ("date", "time", "period", "interval", "duration")
_CATEGORIES = ("category", "categorical", "enum")


def set_features(estimator: Any, n_features: int, names: Iterable[str] | None) -> None:
    """Sets scikit-learn's attributes of the columns of X, as `validate_data` does for arrays and frames."""
    estimator.n_features_in_ = n_features

    if names is not None:
        estimator.feature_names_in_ = np.array(list(names), dtype=object)


def names_of_features(estimator: Any) -> npt.NDArray[Any] | None:
    """The names of the features of a fitted model; a column of the training data may have several features."""
    if getattr(estimator, "_table_columns", None) is None:
        return getattr(estimator, "feature_names_in_", None)
    return np.array(json.loads(estimator._model.header())["feature_names"], dtype=object)


def ordered(estimator: Any, X: Any) -> Any:
    """A data frame with its columns in the order of those of the training data, by their names.

    Raises
    ------
    ValueError
        If the names are others. Where all names are texts, scikit-learn's validation reports that.
    """
    names = getattr(estimator, "feature_names_in_", None)
    known = getattr(estimator, "_table_columns", None) or getattr(estimator, "_number_columns", None)
    if names is None and known is not None and hasattr(X, "columns"):
        names = [column["name"] for column in json.loads(known)]
        if sorted(found := [str(name) for name in X.columns]) != sorted(names):
            raise ValueError(f"X has the columns {', '.join(found)}, and those of the fit are {', '.join(names)}")
    return by_name(X, names)


def validated(estimator: Any, X: Any, *, reset: bool, weights: Any = None) -> Any:
    """Rows of numbers, as scikit-learn validates them.

    A data frame with a column that is not numeric, or with a missing value, is encoded. A fit learns the encoder and
    stores it on the estimator as ``_table_columns``; a later X then needs the same columns. Of a frame of numbers the
    medians are stored as ``_number_columns``: they replace values that are missing only later. A weight of k counts as
    k rows in what is learned.

    Raises
    ------
    ValueError
        For columns of dates and other unsupported types, and for values of another type than their column, with its
        name.

    Warns
    -----
    UserWarning
        For categories that are not in the training data.
    """
    refuse_one(X)
    if isinstance(X, Stored):
        set_features(estimator, X.shape[1], X.names)
        return X
    if not reset:
        X = ordered(estimator, X)
    columns: str | None = getattr(estimator, "_table_columns", None)
    frame = _columns_of(X) if columns is None and getattr(estimator, "_encodes", True) else []
    are_numeric = all(map(_is_numeric, frame))
    has_missing = are_numeric and any(np.isnan(_numbers(column)).any() for column in frame)
    if has_missing and not reset:
        columns = getattr(estimator, "_number_columns", None)
    if columns is None and not (reset and (has_missing or not are_numeric)):
        rows = validate_data(estimator, X, reset=reset, **ROWS)
        if reset and frame:
            weights = _weights(weights, len(rows))
            numbers = zip(X.columns, (_core.median(_numbers(column), weights) for column in frame), strict=True)
            known = [{"name": str(name), "kind": "number", "median": median} for name, median in numbers]
            estimator._number_columns = json.dumps(known)
        return rows
    X = X if hasattr(X, "columns") else check_array(X, dtype=None, ensure_all_finite=False)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    cells = _cells(X, getattr(estimator, "feature_names_in_", None))
    if columns is None:
        estimator._table_columns, features = _core.learn_columns(cells, _weights(weights, X.shape[0]))
    else:
        features, remarks = _core.encode_columns(columns, cells)
        for remark in remarks:
            warn(remark)
    return features


def _weights(weights: Any, n: int) -> npt.NDArray[np.float64] | None:
    """The weights of n rows; None where there are none, or they are no weights, which the fit reports."""
    try:
        found = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    are_weights = found.shape == (n,) and np.isfinite(found).all() and found.min(initial=0.0) >= 0
    return found if are_weights and found.max(initial=0.0) > 0 else None


def _columns_of(X: Any) -> list[Any]:
    """The columns of a data frame; none of other objects."""
    is_frame = hasattr(X, "columns") and not sparse.issparse(X) and len(getattr(X, "shape", ())) == 2
    return [column_at(X, at) for at in range(X.shape[1])] if is_frame else []


def _cells(X: Any, names: Any) -> list[tuple[str, Any]]:
    """The columns of a frame or an array: float64, or texts and whether they are categories."""
    n = X.shape[1]
    names = [str(name) for name in (getattr(X, "columns", range(n)) if names is None else names)]
    if (repeated := {name for name, again in itertools.pairwise(sorted(names)) if name == again}) != set():
        raise ValueError(f"several columns are called {min(repeated)!r}: rename them")
    return [(name, _column(column_at(X, at), name)) for at, name in enumerate(names)]


def _column(column: Any, name: str) -> Any:
    if _is_numeric(column):
        return _numbers(column)
    kind = _type(column)
    if kind.startswith(_TIME_TYPES) or getattr(column.dtype, "kind", "") in ("M", "m"):
        raise _dates(name)
    cells = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [_text(cell, name) for cell in cells], kind.startswith(_CATEGORIES)


def _type(column: Any) -> str:
    return str(column.dtype).lower()


def _is_numeric(column: Any) -> bool:
    if hasattr(column.dtype, "is_numeric"):  # polars
        return bool(column.dtype.is_numeric())
    return getattr(column.dtype, "kind", "O") in "iuf" and not _type(column).startswith(_CATEGORIES)


def _numbers(column: Any) -> npt.NDArray[np.float64]:
    is_masked = hasattr(column, "array") and not isinstance(column.dtype, np.dtype)  # of pandas
    values = column.to_numpy(dtype=np.float64, na_value=np.nan) if is_masked else column
    return np.ascontiguousarray(values, dtype=np.float64)


def _text(cell: Any, name: str) -> str | None:
    """A cell as in a CSV file; None for a missing one."""
    if is_missing(cell):
        return None
    if isinstance(cell, _TIMES):
        raise _dates(name)
    if isinstance(cell, (str, bool, np.bool_)) or (isinstance(cell, Number) and not isinstance(cell, complex)):
        return str(cell)
    raise ValueError(
        f"column {name!r} contains objects of type {type(cell).__name__}: drop it, or convert it to numbers"
    )


def _dates(name: str) -> ValueError:
    return ValueError(
        f"column {name!r} contains dates or times: drop it, or replace it by numbers, such as the year, the month or "
        "the days since a date"
    )
