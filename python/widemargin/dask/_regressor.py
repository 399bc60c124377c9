"""What the regression models on collections of Dask have in common."""

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
    """Comes before the ordinary regression model among the bases of a class."""

    _summary = staticmethod(_tasks.target_summary)

    def _known(
        self: Any, y: Any, there: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[_core.WeightedTargets, Callable[[Any], Sequence[Any]]]:
        targets = np.ascontiguousarray(np.concatenate([one.classes for one in there]))
        self._is_flat = getattr(y, "ndim", 1) == 1
        # Without an intercept the targets keep their mean.
        weighted = _core.WeightedTargets(targets, copies, bool(getattr(self, "fit_intercept", True)))
        return weighted, lambda ends: np.split(weighted.standard, ends)

    def _answers(self, targets: _core.WeightedTargets, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The targets of some samples."""
        return targets.standard[rows]

    def predict(self: Any, X: object) -> Any:
        """Targets, lazily for a Dask collection: for a frame a series (for several outputs a frame, one column each)
        with its index, for an array or a bag an array. Else as those of the ordinary estimator."""
        if not is_dask_collection(X):
            return super().predict(X)  # type: ignore[misc]
        columns = None if self._is_flat else range(len(self.coef_))
        return self._lazily("predict", X, np.dtype(np.float64), columns)

    def score(self: Any, X: object, y: object, sample_weight: object = None) -> float:
        """R², the mean over the outputs; of a Dask collection computed where its partitions are.

        Parameters
        ----------
        X : samples, or a Dask collection of them
        y : targets, for a collection cut at the same rows as in ``fit``
        sample_weight : array of shape (n_samples,), likewise, or None

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
        # About the mean of all: those about the mean of each partition, and its own distance.
        spread = sum(sums[2] for sums in present) + (totals * (means - mean) ** 2).sum(axis=0)
        errors = sum(sums[3] for sums in present)
        with np.errstate(divide="ignore", invalid="ignore"):
            r2 = np.where(spread > 0, 1 - errors / spread, np.where(errors > 0, 0.0, 1.0))
        return float(np.mean(r2))


def _sums(number: int, estimator: Any, samples: Any, targets: Any, weights: Any) -> Any:
    """Of a partition the sum of the weights, and of each output the mean, the squares about it and those of the
    errors."""
    told = _tasks.target_summary(number, samples, targets, weights)
    given = np.ones(told.n) if told.weights is None else told.weights
    if not given.sum() > 0:
        return None
    found = _tasks.of_partition(number, lambda: estimator.predict(samples)).reshape(told.n, -1)
    y, given = told.classes, given[:, None]
    mean = (given * y).sum(axis=0) / given.sum()
    return float(given.sum()), mean, (given * (y - mean) ** 2).sum(axis=0), (given * (y - found) ** 2).sum(axis=0)
