"""Common parts of the classifiers on collections of Dask: classes and multilabel targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection

from .. import _core
from .._classes import labels_of
from .._label_matrix import is_multilabel, label_names
from . import _tasks
from ._estimator import DaskEstimator


class DaskClassifier(DaskEstimator):
    """Must precede the ordinary classifier in the bases of a class."""

    _summary = staticmethod(_tasks.label_summary)

    def _targets_of(
        self: Any, y: Any, present: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[_core.WeightedLabels, Callable[[Any], Sequence[Any]]]:
        """Sets `classes_`."""
        C = float(self.C) if isinstance(self.C, Real) else 1.0
        self._several = is_multilabel(y)
        target: _core._Target
        if self._several:
            Y = np.concatenate([one.classes[one.codes] for one in present])
            self.classes_ = np.arange(Y.shape[1])
            target = label_names(y, Y.shape[1]), np.ascontiguousarray(Y), copies
        else:
            self.classes_ = np.unique(np.concatenate([one.classes for one in present]))
            codes = [np.searchsorted(self.classes_, one.classes).astype(np.uint32)[one.codes] for one in present]
            of_all = np.concatenate(codes)
            if copies is not None:
                # A class without weight is absent; its samples, of weight 0, get any other class.
                is_present = np.bincount(of_all, weights=copies, minlength=len(self.classes_)) > 0
                of_all = np.maximum(np.cumsum(is_present)[of_all] - 1, 0).astype(np.uint32)
                self.classes_ = self.classes_[is_present]
            target = labels_of(self.classes_), of_all, copies
        labels = _core.WeightedLabels(target, self._class_factors(), C)

        def targets(ends: Any) -> Sequence[Any]:
            sets = labels.sets
            return [(codes, len(self.classes_), sets) for codes in np.split(labels.codes, ends)]

        return labels, targets

    def _answers(self: Any, labels: _core.WeightedLabels, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The y of some samples."""
        codes, sets = labels.codes[rows], labels.sets
        if sets is None:
            return self.classes_[codes]
        signed = sets[codes]
        return np.where(signed == 0, np.nan, (signed > 0).astype(np.float64))

    def _columns_of(self: Any, n_single: int | None) -> Sequence[Any] | None:
        """The columns of an answer: one per label; one per class, if there are more classes than `n_single`,
        which is None for answers without columns for classes."""
        if self._is_several():
            return list(self.label_names_)
        return self.classes_ if n_single is not None and len(self.classes_) > n_single else None

    def decision_function(self: Any, X: object) -> Any:
        """Decision values, lazily for a Dask collection: for a frame a series (for more than two classes, or
        multilabel targets, a frame with a column for each) with its index, for an array or a bag an array. Otherwise as
        in the ordinary estimator."""
        if is_dask_collection(X):
            return self._lazily("decision_function", X, np.dtype(np.float64), self._columns_of(2))
        return super().decision_function(X)  # type: ignore[misc]

    def predict(self: Any, X: object) -> Any:
        """Classes, lazily for a Dask collection: for a frame a series (for multilabel targets a frame with a column for
        each label) with its index, for an array or a bag an array. Otherwise as in the ordinary estimator."""
        if is_dask_collection(X):
            return self._lazily("predict", X, self.classes_.dtype, self._columns_of(None))
        return super().predict(X)  # type: ignore[misc]

    def predict_proba(self: Any, X: object) -> Any:
        """Probabilities, lazily for a Dask collection: for a frame a frame with its index and a column for each class,
        for an array or a bag an array. Otherwise as in the ordinary estimator."""
        if is_dask_collection(X):
            return self._lazily("predict_proba", X, np.dtype(np.float64), self._columns_of(0))
        return super().predict_proba(X)  # type: ignore[misc]

    def predict_log_proba(self: Any, X: object) -> Any:
        """The logarithms of probabilities, as for ``predict_proba``."""
        if is_dask_collection(X):
            return self._lazily("predict_log_proba", X, np.dtype(np.float64), self._columns_of(0))
        return super().predict_log_proba(X)  # type: ignore[misc]

    def score(self: Any, X: object, y: object, sample_weight: object = None) -> float:
        """Accuracy, for multilabel targets the share of samples whose labels are all correct; for a Dask collection
        computed on its workers.

        Parameters
        ----------
        X : samples, or a Dask collection of them
        y : labels, for a collection split at the same rows, as in ``fit``
        sample_weight : array of shape (n_samples,), split in the same way, or None

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        correct, total = np.sum(self._of_partitions(_correct, X, y, sample_weight), axis=0)
        if not total > 0:
            raise ValueError("X has no samples of weight above 0: at least one is needed")
        return float(correct / total)


def _correct(number: int, estimator: Any, samples: Any, labels: Any, weights: Any) -> tuple[float, float]:
    """The weight of the samples of a partition with correct predictions, and of all its samples."""
    summary = _tasks.label_summary(number, samples, labels, weights)
    weights = np.ones(summary.n) if summary.weights is None else summary.weights
    if summary.n == 0:
        return 0.0, 0.0
    found = _tasks.of_partition(number, lambda: estimator.predict(samples)) == summary.classes[summary.codes]
    return float(weights[found if found.ndim == 1 else found.all(axis=1)].sum()), float(weights.sum())
