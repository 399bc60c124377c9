"""Conversion of samples of any kind for the extension module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ._columns import by_name, validated
from ._files import Stored
from ._kinds import KINDS, kind_for, kind_of, plain
from ._names import one_of
from ._samples import count, from_other, from_vectors, pick
from ._specs import layout_of
from .similarity import Resolved


class NoEstimator(BaseEstimator):
    """A placeholder for an estimator whose attributes are discarded."""


@dataclass(frozen=True)
class Collected:
    """Samples for built-in similarities and for Python similarities, and their number."""

    samples: tuple[Any, Any]
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
        X = by_name(X, getattr(estimator, "feature_names_in_", None))
    accepted = _accepted_kinds(estimator, resolved, reset)
    if isinstance(X, Stored):
        if resolved.calls or "table" not in accepted:
            raise TypeError("samples in files are vectors, and the similarity is not one of vectors")
        validated(estimator, X, reset=reset)
        tell_kind(estimator, "table", X.shape[0])
        return Collected((X.store, None), X.shape[0])
    if resolved.calls and not resolved.specs:
        n = _remember(estimator, X, "objects", reset)
        if reset:
            tell_kind(estimator, "objects", n)
        return Collected((None, (X, n, pick)), n)
    kind = _kind(X, accepted)
    if kind == "table":
        # Frames and arrays are validated as they are, for their names and types.
        rows = table if not hasattr(X, "columns") and isinstance(table := plain(X), list) else X
        rows = validated(estimator, rows, reset=reset, accept_sparse="csr", dtype=[np.float32, np.float64], order="C")
        samples, n = from_vectors(rows), rows.shape[0]
    else:
        n = _remember(estimator, X, kind, reset)
        # The number of channels must be that of the training samples.
        n_channels = estimator.__dict__.get("_n_channels")
        # The current value: users may set the layout of a loaded model before prediction.
        layout = layout_of(getattr(estimator, "layout", resolved.layout))
        samples, found = from_other(X, accepted, layout=layout, n_channels=n_channels)
        if reset and isinstance(samples, tuple) and samples[0] == "series":
            estimator._n_channels = samples[1].shape[1]
        n = found if n is None else n
    if reset:
        tell_kind(estimator, kind, n)
    return Collected((samples, (X, n, pick) if resolved.calls else None), n)


def _accepted_kinds(estimator: Any, resolved: Resolved, reset: bool) -> Sequence[str]:
    """The kinds that the similarities accept and the parameter ``kind`` or the fit allows."""
    kind = one_of("kind", getattr(estimator, "kind", "auto"), KINDS, estimator=estimator) if reset else estimator.kind_
    if kind == "auto" or (kind == "objects" and not resolved.specs):
        return resolved.takes
    accepted = "strings" if kind == "graphs" else kind
    if accepted not in resolved.takes:
        known = " or ".join(repr(one) for one in resolved.takes) or "'objects'"
        raise ValueError(f"kind={kind!r}, but the similarity compares samples of the kind {known}")
    return [accepted]


def _kind(X: Any, accepted: Sequence[str]) -> str:
    """The kind as which X is read.

    A collection of no accepted kind is passed to the conversion to vectors, or to that of the only accepted kind, whose
    errors describe it.
    """
    X = plain(X)
    if (kind := kind_for(X, accepted)) is not None:
        return kind
    if "table" not in accepted or ("grids" in accepted and getattr(X, "ndim", 0) == 4):
        return accepted[0]
    # Raises for objects of no kind; scikit-learn's validation reports other collections that are not a numeric table.
    kind_of(X)
    return "table"


def tell_kind(estimator: Any, kind: str, n: int) -> None:
    """Sets the kind of samples on the estimator, and prints it if the estimator is verbose."""
    estimator.kind_ = kind
    if getattr(estimator, "verbose", 0):
        print(f"{type(estimator).__name__}: X has {n} samples, read as {kind}", file=sys.stderr)


def _remember(estimator: Any, X: Any, kind: str, reset: bool) -> int:
    n = count(X)
    is_array = getattr(X, "ndim", 0) == 2 and getattr(getattr(X, "dtype", None), "kind", "O") != "O"
    is_array &= kind != "series"  # of any length
    if is_array or hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)
    return n
