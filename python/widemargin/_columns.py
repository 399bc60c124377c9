"""Matching the columns of data frames by name, and encoding those of tables that the command line trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._warn import warn

# Words for a missing value, as the command line knows them.
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
_BOOLEANS = {"true": 1.0, "yes": 1.0, "1": 1.0, "1.0": 1.0, "false": 0.0, "no": 0.0, "0": 0.0, "0.0": 0.0}


def names_of(X: Any) -> list[str] | None:
    """The column names of a data frame, if all names are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "__getitem__"):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def by_name(X: Any, trained: npt.NDArray[Any] | None) -> Any:
    """Reorders the columns of a data frame to the order of the names in `trained`.

    Returns anything but a frame, and frames with other or repeated names, unchanged: scikit-learn's validation reports
    these.
    """
    if trained is None:
        return X
    given, names = names_of(X), list(trained)
    if given is None or given == names or len(set(given)) < len(given) or sorted(given) != sorted(names):
        return X
    return X[names]


def in_order(estimator: Any, X: Any) -> Any:
    """Reorders the columns of a data frame to the order of the estimator's training data.

    Those of a table with categories, booleans or missing values, on which the command line trained the model, become
    its features first.
    """
    if (columns := getattr(estimator, "_table_columns", None)) is not None:
        X = encoded(X, columns, getattr(estimator, "feature_names_in_", None))
    return by_name(X, getattr(estimator, "feature_names_in_", None))


def encoded(X: Any, columns: list[dict[str, Any]], trained: npt.NDArray[Any] | None) -> Any:
    """The features that a data frame's columns become, as a frame of the same kind.

    Returns anything but a frame, and a frame of the features themselves, unchanged.

    Raises
    ------
    ValueError
        Naming the columns that are missing or unknown, and values that are not of the kind of their column.

    Warns
    -----
    UserWarning
        For categories that training did not see.
    """
    given = names_of(X)
    if given is None or trained is None or set(given) == set(trained):
        return X
    names = [column["name"] for column in columns]
    if missing := [name for name in names if name not in given]:
        raise ValueError(f"The model was trained on a table with the columns {names}. Missing here: {missing}.")
    if unknown := [name for name in given if name not in names]:
        raise ValueError(
            f"The model was trained on a table with the columns {names}. Unknown: {unknown}: leave them out."
        )
    features = [
        feature for column in columns for feature in _features(column, np.asarray(X[column["name"]], dtype=object))
    ]
    frame = dict(zip(trained, features, strict=True))
    return type(X)(frame, index=X.index) if hasattr(X, "index") else type(X)(frame)


def _features(column: dict[str, Any], cells: npt.NDArray[Any]) -> list[npt.NDArray[np.float64]]:
    """The features of one column."""
    missing = np.array([_is_missing(cell) for cell in cells], dtype=bool)
    texts = [str(cell).strip() for cell in cells]
    name, kind = column["name"], column["kind"]
    if kind == "category":
        values = column["values"]
        unknown = sorted({text for text, gone in zip(texts, missing, strict=True) if not gone and text not in values})
        if unknown:
            warn(f"Column {name!r}: {unknown} were not seen in training and count as none of its categories.")
        features = [np.array([text == value for text in texts], dtype=float) * ~missing for value in values]
    else:
        read = [
            column["median"] if gone else _number(text, kind, name) for text, gone in zip(texts, missing, strict=True)
        ]
        features = [np.array(read, dtype=float)]
    return [*features, missing.astype(float)] if column["has_missing"] else features


def _is_missing(cell: Any) -> bool:
    text = str(cell).strip()  # pandas' NA compares with nothing
    return text == "<NA>" or text.lower() in _MISSING


def _number(text: str, kind: str, name: str) -> float:
    if kind == "boolean":
        if (truth := _BOOLEANS.get(text.lower())) is None:
            raise ValueError(f"Column {name!r}: {text!r} is not true or false, as the column held in training.")
        return truth
    try:
        return float(_BOOLEANS[text.lower()]) if text in ("True", "False") else float(text)
    except ValueError:
        raise ValueError(f"Column {name!r}: {text!r} is not a number, as the column held in training.") from None
