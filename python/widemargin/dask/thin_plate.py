"""The thin plate SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from distributed import Client, Future
from sklearn.utils import check_array

from .. import _core
from .. import thin_plate as _local
from .._base import fitting, labels_of, watched
from .._columns import kept_names
from .._names import one_of
from .._samples import from_vectors
from . import _tasks
from ._classifier import Clock, DaskClassifier, Given, grouped, picked
from ._rows import Rows

# Of the first so many samples a landmark those at different places become landmarks, for basis="index".
FIRST_A_LANDMARK = 4


class ThinPlateSVC(DaskClassifier, _local.ThinPlateSVC):
    """`widemargin.ThinPlateSVC` on samples that are on several machines, with landmarks (`n_basis` must be given).

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array or series cut at the same rows (or, where
    the partitions of X have known lengths, an array in memory). Landmarks are chosen here, among 25 samples a landmark;
    each partition becomes its block of features, 8 bytes × (landmarks + polynomials) a row, which stays on its worker.
    A Newton step of all classes is one round of tasks, and so is leave-one-out at a C. X is read three times: for its
    labels, its landmarks and its features; what is read last is held until the blocks are made.

    Parameters are those of `widemargin.ThinPlateSVC`. Samples that are equal are not merged, as they are on one
    machine.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.
    """

    plain = _local.ThinPlateSVC

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ThinPlateSVC:
        """Trains on a collection of Dask.

        Parameters
        ----------
        X : dask array or frame
        y : dask array or series, or an array
        sample_weight : the same, or None

        Returns
        -------
        ThinPlateSVC
            Itself, fitted.
        """
        if self.n_basis is None:
            raise ValueError(
                "The 'n_basis' parameter of ThinPlateSVC must be a number of landmarks on Dask: the exact solver holds "
                "the kernel of all pairs of samples on one machine"
            )
        if self.standardize:
            raise ValueError(
                "The 'standardize' parameter of ThinPlateSVC must be False on Dask: divide the columns by their "
                "standard deviations first (dask.dataframe.DataFrame.std)"
            )
        C, kernel = self._c(), self._kernel()
        null_space = one_of("null_space", self.null_space, _local._NULL_SPACES, estimator=self)
        basis = one_of("basis", self.basis, _local._BASES, estimator=self)
        clock = Clock()
        given = self._given(X, y, sample_weight)
        self._name_columns(X, given)
        clock.end("labels")

        with self._watched(X=X, y=y) as progress:
            bases, support = self._landmarks(given, basis)
            clock.end("landmarks")
            work = Work(self, given, kernel, bases)
            settled = work.settled(null_space)
            clock.end("polynomials")
            rows = work.rows(settled)
            work.forget()
            clock.end("features")
            model = work.plan.fit(
                settled,
                rows,
                labels_of(self.classes_),
                n_rows=work.n,
                n_problems=work.n_problems,
                class_weights=work.class_weights(),
                support=support.tolist(),
                C=C,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                threads=self._threads(),
                stages=clock.stages,
                time_limit=self.time_limit,
                monitor=watched(progress),
                training=self._asked(),
                basis=basis,
                feature_names=kept_names(self),
            )
        self._keep(model)
        self.dask_report_ = {"partitions": len(given.numbers), **rows.told()}
        return self

    def _landmarks(self, given: Given, basis: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Landmarks and the rows that they are, none where they are means."""
        weights = np.concatenate(given.weights)
        n_basis, seed = int(self.n_basis), self._seed()  # type: ignore[arg-type]
        if basis == "index":
            rows = np.flatnonzero(weights > 0)[: FIRST_A_LANDMARK * n_basis]
        else:
            rows = _core.draw_rows(weights, n_basis, seed)
        sample = check_array(picked(given, rows), accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        bases, chosen = _core.choose_landmarks(
            from_vectors(sample), weights[rows], basis, n_basis, seed, self._threads()
        )
        return bases, rows[chosen]


class Work:
    """The samples on the workers, and what is made of them step by step."""

    def __init__(self, estimator: ThinPlateSVC, given: Given, kernel: str, bases: npt.NDArray[np.float64]) -> None:
        self._client: Client = given.client
        self._threads = estimator._threads()
        self._n_classes = len(estimator.classes_)
        self.n_problems = self._n_classes if self._n_classes > 2 else 1
        present = [at for at, weights in enumerate(given.weights) if (weights > 0).any()]
        self._numbers = [given.numbers[at] for at in present]
        self._codes, self._weights = ([some[at] for at in present] for some in (given.codes, given.weights))
        self.n = sum(int((some > 0).sum()) for some in self._weights)
        self._total = float(sum(some.sum() for some in self._weights))
        # What leave-one-out takes away is one copy, which weighs what the class makes of it.
        copies = [given.copies[at] for at in present]
        self._units = [w / np.maximum(c, 1.0) for w, c in zip(self._weights, copies, strict=True)]
        self._samples: list[Future] = [
            self._client.compute(delayed(_tasks.sample_part)(number, given.parts[at].samples, weights))
            for number, at, weights in zip(self._numbers, present, self._weights, strict=True)
        ]
        rows = Rows(self._client, grouped(self._client, self._samples))
        self.plan = _core.LandmarkPlan(kernel, bases, rows)
        self._plan = self._client.submit(_tasks.same, self.plan, pure=False)

    def settled(self, null_space: str) -> _core.SettledPolynomials:
        """What becomes of the polynomials."""
        separates = False
        if null_space == "auto":
            free = self.plan.settle("free", self.n, self._total, False)
            if free.n_free > 1:
                separates = _core.rows_separate(
                    self.rows(free, only_polynomials=True),
                    n_rows=self.n,
                    n_free=free.n_free,
                    n_problems=self.n_problems,
                    total=self._total,
                    threads=self._threads,
                )
        return self.plan.settle(null_space, self.n, self._total, separates)

    def rows(self, settled: _core.SettledPolynomials, *, only_polynomials: bool = False) -> Rows:
        """Parts of features."""
        client = self._client
        lift = client.submit(_tasks.same, settled.lift(only_polynomials), pure=False)
        each = zip(self._samples, self._codes, self._units, strict=True)
        parts = [
            client.submit(_tasks.on_landmarks, part, codes, self._n_classes, units, self._plan, lift, pure=False)
            for part, codes, units in each
        ]
        return Rows(client, grouped(client, parts))

    def class_weights(self) -> list[float]:
        """Sum of the weights of the samples of each class."""
        each = zip(self._codes, self._weights, strict=True)
        counts = [np.bincount(codes, weights, self._n_classes) for codes, weights in each]
        return np.sum(counts, axis=0).tolist()

    def forget(self) -> None:
        """Lets go of the samples: the workers drop what nobody holds."""
        self._samples = []
