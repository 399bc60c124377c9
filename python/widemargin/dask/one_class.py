"""One class on collections of Dask: which samples are unlike those of the training."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection
from sklearn.base import clone

from .. import _bases, _core
from .. import one_class as _local
from .._names import one_of
from . import _tasks
from ._estimator import Clock, DaskEstimator
from ._features import Features, check_similarity
from ._rows import Sums
from .basis_expansion import BASES

_Floats = npt.NDArray[np.float64]


class BasisExpansionOneClass(DaskEstimator, _local.BasisExpansionOneClass):
    """`widemargin.BasisExpansionOneClass` on samples that are on several machines.

    X is a Dask array, frame or bag. The bases are chosen and sent once; each partition becomes a block of similarities
    that stays on its worker, 4 bytes × bases × similarities a row. The products of the features with each other are
    added up, and then every sample's left-out score is brought here. Parameters are those of
    `widemargin.BasisExpansionOneClass`, with "index", "every", "random" or "stratified" bases (or row numbers) and
    similarities of the library. What a similarity learns of its training samples it learns of the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionOneClass
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, and seconds spent waiting for answers.

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

    def fit(self, X: Any, y: Any = None) -> BasisExpansionOneClass:
        """Learns what samples are like.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features); where similarities compare other samples a bag
        y : ignored

        Returns
        -------
        BasisExpansionOneClass
            The fitted estimator itself.
        """
        self._validate_params()
        self.__dict__.pop("_model", None)
        normalization = one_of("normalization", self.normalization, _bases.NORMALIZATIONS, estimator=self)
        basis, basis_rows = _bases.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        check_similarity(self)
        given, clock = self._given(X, None, None), Clock()
        if given.n < 2:
            raise ValueError(f"n_samples={given.n}: the threshold takes at least 2 samples")
        chosen = self._bases(given.n, basis, basis_rows)
        features = Features(self, given, chosen, clone(self.similarity, safe=False), normalization, clock)
        parts = features.made("normalised_features", [() for _ in given.pieces])
        sums = Sums(given.client)
        products = sums.wait([given.client.submit(_products, part, pure=False) for part in parts], sum)
        # The last row is that of the sums.
        solved = _local.Solved.of(products[:-1], products[-1], float(self.shrinkage))
        there = given.client.submit(_tasks.same, solved, pure=False)
        left_out = [given.client.submit(_left_out, part, there, pure=False) for part in parts]
        scores = np.concatenate(given.client.gather(left_out))
        self._model = features.expansion
        self.similarities_, self.basis_indices_ = features.raw.similarities_, chosen
        self._take_solution(solved.weights, scores)
        self.dask_report_ = {"partitions": len(given.pieces), "tasks": sums.n_tasks, "seconds_of_sums": sums.seconds}
        return self

    def _known(self, y: Any, there: list[_tasks.Summary], copies: Any) -> Any:
        n = sum(one.n for one in there)
        weighted = _core.WeightedTargets(np.zeros((n, 1)), None, False)
        return weighted, lambda ends: [None] * (len(ends) + 1)

    def _bases(self, n: int, basis: str, rows: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        if rows is not None:
            if rows.min() < 0 or rows.max() >= n:
                raise ValueError(f"The 'basis' parameter names rows that X does not have: it has {n}")
            return rows
        n_basis = max(min(500, n // 2) if isinstance(self.n_basis, str) else min(int(self.n_basis), n), 1)
        found = _core.choose_bases(np.zeros(n, np.uint32), n_basis, basis, self._seed())
        return np.asarray(found).astype(np.int64)

    def score_samples(self, X: Any) -> Any:
        """The value of each sample, lazily for a Dask collection."""
        return self._or_lazily("score_samples", X, np.float64)

    def decision_function(self, X: Any) -> Any:
        """``score_samples`` less the threshold, lazily for a Dask collection."""
        return self._or_lazily("decision_function", X, np.float64)

    def predict(self, X: Any) -> Any:
        """1 for samples like the training ones and -1 for others, lazily for a Dask collection."""
        return self._or_lazily("predict", X, np.int64)

    def _or_lazily(self, method: str, X: Any, dtype: Any) -> Any:
        if is_dask_collection(X):
            return self._lazily(method, X, np.dtype(dtype), None)
        return getattr(_local.BasisExpansionOneClass, method)(self, X)


def _products(part: _core.Part) -> _Floats:
    rows = part.values().astype(np.float64)
    return np.vstack([rows.T @ rows, rows.sum(axis=0)])


def _left_out(part: _core.Part, solved: _local.Solved) -> _Floats:
    return solved.left_out(part.values().astype(np.float64))
