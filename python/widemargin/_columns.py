"""Matching the columns of data frames by name."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt


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
    """Reorders the columns of a data frame to the order of the estimator's training data."""
    return by_name(X, getattr(estimator, "feature_names_in_", None))
