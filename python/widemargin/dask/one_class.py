"""Outlier detection on collections of Dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection
from sklearn.base import clone

from .. import _bases, _core
from .. import one_class as _local
from .._base import fitting
from .._names import one_of
from .._progress import Progress
from . import _tasks
from ._estimator import Clock, DaskEstimator, FitData, in_order
from ._features import Features, check_similarity
from ._rows import Rows
from .basis_expansion import BASES


class BasisExpansionOneClass(DaskEstimator, _local.BasisExpansionOneClass):
    """`widemargin.BasisExpansionOneClass` on samples on several machines.

    X is a Dask array, frame or bag. The bases are selected and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities per row. The products of the features are
    summed, and the leave-one-out decision value of every sample is sent to the client. Duplicate samples are not
    merged. Parameters are those of `widemargin.BasisExpansionOneClass`, with "index", "every", "random" or "auto" bases
    (or row numbers) and built-in similarities. Automatic parameters of similarities are determined from the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionOneClass
        The fitted model, without Dask.
    dask_report_ : dict
        The numbers of partitions, tasks of the solver and queries by kind, and the seconds spent waiting for answers.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from widemargin.dask import BasisExpansionOneClass
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(200, 2)), chunks=100)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     detector = BasisExpansionOneClass("rbf:gamma=0.5", n_basis=50).fit(X)
    >>> detector.predict(np.array([[0.0, 0.0], [9.0, 9.0]])).tolist()
    [1, -1]
    """

    plain = _local.BasisExpansionOneClass

    _summary = staticmethod(_tasks.sample_summary)

    @fitting
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> BasisExpansionOneClass:
        """Trains on samples.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features); for similarities of other samples a bag
        y : ignored
        sample_weight : dask array or series, or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        BasisExpansionOneClass
            The fitted estimator itself.
        """
        fitted: BasisExpansionOneClass = self._fit_collection(X, None, sample_weight)
        return fitted

    def _checked(self) -> tuple[str, str, npt.NDArray[np.int64] | None]:
        normalization = _bases.normalization_of(self)
        basis, basis_rows = _bases.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        check_similarity(self)
        return normalization, basis, basis_rows

    def _targets_of(
        self, y: Any, present: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[_core.WeightedTargets, Callable[[Any], Sequence[Any]]]:
        ones = np.ones((sum(one.n for one in present), 1))
        weighted = _core.WeightedTargets(ones, copies, False)
        return weighted, lambda ends: np.split(weighted.standard, ends)

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        normalization, basis, basis_rows = parameters
        self._check_number(data.n)
        present = np.flatnonzero(data.weighted.weights > 0)
        n_basis = _default_bases(len(present)) if isinstance(self.n_basis, str) else int(self.n_basis)
        basis_indices = self._selected(np.zeros(data.n, np.uint32), present, basis, basis_rows, n_basis)
        features = Features(
            self, data, basis_indices, clone(self.similarity, safe=False), normalization, clock, cut="precise-millionth"
        )
        # Leave-one-out removes one copy: if all weights are above 1, the smallest is that of one.
        weights = data.weighted.weights
        copy = max(1.0, weights[weights > 0].min())
        arguments = [(one.targets, np.minimum(one.weights, copy), False, one.first) for one in data.pieces]
        # Leave-one-out decision values are needed in the order of the samples.
        rows = Rows(data.client, in_order(data.client, features.called("ridge", arguments)))
        model = _core.fit_basis_expansion_one_class_remote(
            features.expansion,
            rows,
            data.weighted,
            quantile=float(self.quantile),
            shrinkage=float(self.shrinkage),
            basis="explicit" if basis_rows is not None else basis,
            basis_rows=basis_indices.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, rows

    def score_samples(self, X: object) -> Any:
        """The score of each sample, lazily for a Dask collection."""
        return self._or_lazily("score_samples", X, np.float64)

    def decision_function(self, X: object) -> Any:
        """``score_samples`` minus the threshold, lazily for a Dask collection."""
        return self._or_lazily("decision_function", X, np.float64)

    def predict(self, X: object) -> Any:
        """1 for inliers and -1 for outliers, lazily for a Dask collection."""
        return self._or_lazily("predict", X, np.int64)

    def _or_lazily(self, method: str, X: Any, dtype: Any) -> Any:
        if is_dask_collection(X):
            return self._lazily(method, X, np.dtype(dtype), None)
        return getattr(_local.BasisExpansionOneClass, method)(self, X)


def _default_bases(n_samples: int) -> int:
    """The default number of bases, as in the library."""
    return n_samples if n_samples < 20 else min(n_samples // 2, 500)
