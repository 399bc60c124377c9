"""Columns of frames, told by their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def names_of(X: Any) -> list[str] | None:
    """The names of a frame's columns, where it is one and all names are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "__getitem__"):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def by_name(X: Any, trained: npt.NDArray[Any] | None) -> Any:
    """A frame with its columns in the order of the names in `trained`.

    What is no frame, and a frame that has other names or a name twice, comes back as it is: it is for scikit-learn's
    validation to say what is wrong with it.
    """
    if trained is None:
        return X
    given, names = names_of(X), list(trained)
    if given is None or given == names or len(set(given)) < len(given) or sorted(given) != sorted(names):
        return X
    return X[names]


def in_order(estimator: Any, X: Any) -> Any:
    """A frame with its columns in the order in which the estimator was fitted."""
    return by_name(X, getattr(estimator, "feature_names_in_", None))


def kept_names(estimator: Any) -> list[str] | None:
    """The names of the columns that an estimator was fitted on, for its model."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in np.asarray(names)]
