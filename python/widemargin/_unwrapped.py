"""The estimator of this package in a pipeline, or in a search over parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._base import FittedModel, MarginClassifier
from ._columns import names_of_features
from ._looks import check_has


def unwrapped(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The estimator at the end of a pipeline or the best one of a search, and the samples that reach it.

    Parameters
    ----------
    estimator : estimator, Pipeline or search, fitted
    X : samples or None, default=None

    Returns
    -------
    estimator : estimator
    X : samples
        Transformed by the steps before the estimator.
    """
    while not isinstance(estimator, FittedModel):
        if isinstance(estimator, Pipeline):
            check_is_fitted(estimator)
            if X is not None and len(estimator) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator, X


def fitted_model(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """As `unwrapped`, for an estimator that predicts; of `AutoSVC` and `AutoRegressor` the best one.

    Raises
    ------
    TypeError
        For any other object.
    """
    return _fitted(estimator, X, FittedModel, "estimator")


def fitted_classifier(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The same for a classifier."""
    return _fitted(estimator, X, MarginClassifier, "classifier")


def _fitted(estimator: Any, X: Any, kind: type[FittedModel], what: str) -> tuple[Any, Any]:
    found, X = unwrapped(estimator, X)
    found = getattr(found, "best_estimator_", found)
    check_has(found, f"a fitted {what} of widemargin, or a pipeline that ends in one", "_model")
    if not isinstance(found, kind):
        raise TypeError(f"estimator is a {type(found).__name__}: it must be a fitted {what} of widemargin")
    return found, X


def names_of_columns(estimator: Any) -> npt.NDArray[Any] | None:
    """The names of the columns that reach the estimator at the end of a pipeline, where the pipeline knows them."""
    if isinstance(estimator, Pipeline) and len(estimator) > 1 and hasattr(estimator, "feature_names_in_"):
        try:
            return np.asarray(estimator[:-1].get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # of a step that names no features
            return None
    return names_of_features(unwrapped(estimator)[0])
