"""Conversion of samples of any kind for the extension module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ._columns import in_order
from ._samples import count, from_other, from_vectors, pick
from ._specs import layout_of
from .similarity import Resolved


class NoEstimator(BaseEstimator):
    """Stands in for an estimator where nothing is to be remembered."""


@dataclass(frozen=True)
class Collected:
    """Samples for built-in similarities and for Python similarities, and their number."""

    given: tuple[Any, Any]
    n: int


def collect(estimator: Any, X: Any, resolved: Resolved, *, reset: bool) -> Collected:
    """Converts the samples of X; validates and stores the features if X has columns.

    Raises
    ------
    ValueError, TypeError
        If the similarities cannot compare X, naming the sample.
    """
    if reset:
        estimator.__dict__.pop("_n_channels", None)
    else:
        X = in_order(estimator, X)
    if resolved.calls and not resolved.specs:
        n = _remember(estimator, X, reset)
        return Collected((None, (X, n, pick)), n)
    if _are_vectors(X, resolved.takes):
        X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=[np.float32, np.float64], order="C")
        samples, n = from_vectors(X), X.shape[0]
    else:
        n = _remember(estimator, X, reset)
        # The number of channels must be that of the training samples.
        n_channels = estimator.__dict__.get("_n_channels")
        # The current value: the layout of a loaded model may be set before prediction.
        layout = layout_of(getattr(estimator, "layout", resolved.layout))
        samples, found = from_other(X, resolved.takes, layout=layout, n_channels=n_channels)
        if reset and isinstance(samples, tuple) and samples[0] == "series":
            estimator._n_channels = samples[1].shape[1]
        n = found if n is None else n
    return Collected((samples, (X, n, pick) if resolved.calls else None), n)


def _are_vectors(X: Any, takes: list[str]) -> bool:
    """True unless X is clearly of another accepted kind: anything but a numeric table is then reported as scikit-learn
    does."""
    if "vectors" not in takes:
        return False
    if "bit sets" in takes and _are_sets(X):
        return False
    if "time series" in takes and _are_series(X):
        return False
    return not ("grids of cells" in takes and getattr(X, "ndim", 0) == 4)


def _are_sets(X: Any) -> bool:
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        kinds = [str(kind).lower() for kind in X.dtypes]
        return bool(kinds) and all(kind.startswith("bool") for kind in kinds)
    if isinstance(X, np.ndarray):
        return X.dtype == bool and X.ndim == 2
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], (set, frozenset))


def _are_series(X: Any) -> bool:
    """True for several channels, or different lengths; rows of equal length are treated as vectors."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.dtype.kind == "f" and np.isnan(X).any():
            return True  # padded
        return X.ndim == 3 or (X.dtype == object and X.ndim == 1 and len(X) > 0 and hasattr(X[0], "__len__"))
    if not isinstance(X, (list, tuple)) or not all(hasattr(one, "__len__") for one in X):
        return False
    return len({len(one) for one in X}) > 1 or (len(X) > 0 and np.ndim(X[0]) == 2)


def _remember(estimator: Any, X: Any, reset: bool) -> int:
    n = count(X)
    is_array = getattr(X, "ndim", 0) == 2 and getattr(getattr(X, "dtype", None), "kind", "O") != "O"
    if is_array or hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)
    return n
