"""Common parts of the regression models on collections of Dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection

from .. import _core
from . import _tasks
from ._estimator import DaskEstimator


class DaskRegressor(DaskEstimator):
    """Must precede the ordinary regression model in the bases of a class."""

    _summary = staticmethod(_tasks.target_summary)

    def _targets_of(
        self: Any, y: Any, present: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[_core.WeightedTargets, Callable[[Any], Sequence[Any]]]:
        targets = np.ascontiguousarray(np.concatenate([one.classes for one in present]))
        self._is_flat = getattr(y, "ndim", 1) == 1
        # Without an intercept the targets are not centered.
        weighted = _core.WeightedTargets(targets, copies, bool(getattr(self, "fit_intercept", True)))
        return weighted, lambda ends: np.split(weighted.standard, ends)

    def _answers(self, targets: _core.WeightedTargets, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The targets of some samples."""
        return targets.standard[rows]

    def predict(self: Any, X: object) -> Any:
        """Targets, lazily for a Dask collection: for a frame a series (for several outputs a frame with a column for
        each) with its index, for an array or a bag an array. Otherwise as in the ordinary estimator."""
        if not is_dask_collection(X):
            return super().predict(X)  # type: ignore[misc]
        columns = None if self._is_flat else range(len(self.coef_))
        return self._lazily("predict", X, np.dtype(np.float64), columns)

    def score(self: Any, X: object, y: object, sample_weight: object = None) -> float:
        """R², the mean over the outputs; for a Dask collection computed on its workers.

        Parameters
        ----------
        X : samples, or a Dask collection of them
        y : targets, for a collection split at the same rows, as in ``fit``
        sample_weight : array of shape (n_samples,), split in the same way, or None

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        present = [sums for sums in self._of_partitions(_sums, X, y, sample_weight) if sums is not None]
        if not present:
            raise ValueError("X has no samples of weight above 0: at least one is needed")
        totals = np.array([sums[0] for sums in present])[:, None]
        means = np.array([sums[1] for sums in present])
        mean = (totals * means).sum(axis=0) / totals.sum()
        # Squares about the mean of all: those about the mean of each partition, plus those between the means.
        spread = sum(sums[2] for sums in present) + (totals * (means - mean) ** 2).sum(axis=0)
        errors = sum(sums[3] for sums in present)
        with np.errstate(divide="ignore", invalid="ignore"):
            r2 = np.where(spread > 0, 1 - errors / spread, np.where(errors > 0, 0.0, 1.0))
        return float(np.mean(r2))


def _sums(number: int, estimator: Any, samples: Any, targets: Any, weights: Any) -> Any:
    """For a partition the sum of the weights, and for each output the mean, the squares about it and those of the
    errors."""
    summary = _tasks.target_summary(number, samples, targets, weights)
    weights = np.ones(summary.n) if summary.weights is None else summary.weights
    if not weights.sum() > 0:
        return None
    found = _tasks.of_partition(number, lambda: estimator.predict(samples)).reshape(summary.n, -1)
    y, weights = summary.classes, weights[:, None]
    mean = (weights * y).sum(axis=0) / weights.sum()
    return float(weights.sum()), mean, (weights * (y - mean) ** 2).sum(axis=0), (weights * (y - found) ** 2).sum(axis=0)
