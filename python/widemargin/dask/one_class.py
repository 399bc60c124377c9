"""One class on collections of Dask: which samples are unlike those of the training."""

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
from ._estimator import Clock, DaskEstimator, Given, in_order
from ._features import Features, check_similarity
from ._rows import Rows
from .basis_expansion import BASES


class BasisExpansionOneClass(DaskEstimator, _local.BasisExpansionOneClass):
    """`widemargin.BasisExpansionOneClass` on samples that are on several machines.

    X is a Dask array, frame or bag. The bases are chosen and sent once; each partition becomes a block of similarities
    that stays on its worker, 4 bytes × bases × similarities a row. The products of the features with each other are
    added up, and then every sample's left-out score is brought here. Equal samples are not merged. Parameters are those
    of `widemargin.BasisExpansionOneClass`, with "index", "every", "random" or "auto" bases (or row numbers) and
    similarities of the library. What a similarity learns of its training samples it learns of the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionOneClass
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.

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
        """Learns what samples are like.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features); where similarities compare other samples a bag
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

    def _known(
        self, y: Any, there: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[_core.WeightedTargets, Callable[[Any], Sequence[Any]]]:
        ones = np.ones((sum(one.n for one in there), 1))
        weighted = _core.WeightedTargets(ones, copies, False)
        return weighted, lambda ends: np.split(weighted.standard, ends)

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        normalization, basis, basis_rows = asked
        self._check_number(given.n)
        present = np.flatnonzero(given.weighted.weights > 0)
        n_basis = _usual_bases(len(present)) if isinstance(self.n_basis, str) else int(self.n_basis)
        chosen = self._drawn(np.zeros(given.n, np.uint32), present, basis, basis_rows, n_basis)
        features = Features(
            self, given, chosen, clone(self.similarity, safe=False), normalization, clock, cut="precise-millionth"
        )
        # Leave-one-out takes away one copy: where all weights are above 1, the smallest is that of one.
        weights = given.weighted.weights
        copy = max(1.0, weights[weights > 0].min())
        known = [(one.known, np.minimum(one.weights, copy), False, one.first) for one in given.pieces]
        # Left-out scores are brought here, one after another.
        rows = Rows(given.client, in_order(given.client, features.made("ridge", known)))
        model = _core.fit_basis_expansion_one_class_remote(
            features.expansion,
            rows,
            given.weighted,
            quantile=float(self.quantile),
            shrinkage=float(self.shrinkage),
            basis="explicit" if basis_rows is not None else basis,
            basis_rows=chosen.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, rows

    def score_samples(self, X: object) -> Any:
        """The value of each sample, lazily for a Dask collection."""
        return self._or_lazily("score_samples", X, np.float64)

    def decision_function(self, X: object) -> Any:
        """``score_samples`` less the threshold, lazily for a Dask collection."""
        return self._or_lazily("decision_function", X, np.float64)

    def predict(self, X: object) -> Any:
        """1 for samples like the training ones and -1 for others, lazily for a Dask collection."""
        return self._or_lazily("predict", X, np.int64)

    def _or_lazily(self, method: str, X: Any, dtype: Any) -> Any:
        if is_dask_collection(X):
            return self._lazily(method, X, np.dtype(dtype), None)
        return getattr(_local.BasisExpansionOneClass, method)(self, X)


def _usual_bases(n_samples: int) -> int:
    """The number of bases, if it is not given; as in the library."""
    return n_samples if n_samples < 20 else min(n_samples // 2, 500)
