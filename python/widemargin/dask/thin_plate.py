"""The thin plate SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from .. import _core
from .. import thin_plate as _local
from .._base import ExactSeed
from .._c_choice import c_of
from .._names import one_of
from .._progress import Progress
from ._bases import Features, bases_of, check_bases
from ._classifier import DaskClassifier
from ._estimator import Clock, Given
from ._rows import Rows

# Samples that are brought here to choose a kernel on.
FEW_TO_CHOOSE = 1000


class ThinPlateSVC(DaskClassifier, _local.ThinPlateSVC):
    """`widemargin.ThinPlateSVC` on samples that are on several machines, with bases (`n_basis` must not be None).

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array or series cut at the same rows (or, where
    the partitions of X have known lengths, an array in memory). Bases are chosen here, among 25 samples a basis;
    each partition becomes its block of features, 8 bytes × (bases + polynomials) a row, which stays on its worker.
    A Newton step of all classes is one round of tasks, and so is leave-one-out at a C. X is read three times: for its
    labels, its bases and its features; what is read last is held until the blocks are made.

    Parameters are those of `widemargin.ThinPlateSVC`; ``n_basis="auto"`` is 1,000 bases, and with
    ``standardize="auto"`` columns stay as they are. Where the kernel is "auto", at most 1,000 samples are brought here
    to choose it. Samples that are equal are not merged, as they are on one machine.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from widemargin.dask import ThinPlateSVC
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     svc = ThinPlateSVC(n_basis=50).fit(X, y)
    ...     accuracy = svc.score(X, y)
    >>> accuracy > 0.9
    True
    """

    plain = _local.ThinPlateSVC

    def _checked(self) -> tuple[float | None, str, str, str]:
        check_bases(self)
        polynomials = one_of("polynomials", self.polynomials, _local._POLYNOMIALS, estimator=self)
        return c_of(self), self._kernel(), polynomials, one_of("basis", self.basis, _local.BASIS_NAMES, estimator=self)

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        C, kernel, polynomials, basis = asked
        self._name_columns(given)
        self.tried_ = []
        if kernel == "auto":
            kernel = "distance" if C is not None else self._chosen_kernel(given)
            clock.end("kernel")
        bases, support = bases_of(self, given, basis)
        clock.end("bases")

        known = [(piece.known, piece.units_of_others(support, given.n)) for piece in given.present]
        features = Features(given, "on_bases", known)
        model = _core.fit_thin_plate_remote(
            features.looked_at,
            features,
            given.weighted,
            kernel=kernel,
            bases=bases,
            support=support.tolist(),
            polynomials=polynomials,
            C=C,
            basis=basis,
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, features.rows

    def _chosen_kernel(self, given: Given) -> str:
        """What an ordinary fit on some of the samples chooses."""
        seed = self._seed()
        rows = given.weighted.some_rows(FEW_TO_CHOOSE, seed)
        class_weight, copies = self.class_weight, given.weighted.weights[rows]
        if not self._is_several():
            class_weight, copies = self._copies(given.weighted, rows)
        samples = given.picked_samples(rows)
        if not np.isfinite(samples.data if issparse(samples) else np.asarray(samples, float)).all():
            # The pass that makes the features says which partition it is.
            return "distance"
        some = _local.ThinPlateSVC(**self.get_params(deep=False))
        some.set_params(n_basis=None, standardize=False, verbose=0, random_state=ExactSeed(seed))
        some.set_params(class_weight=class_weight)
        some.fit(samples, self._answers(given.weighted, rows), sample_weight=copies)
        self.tried_ = some.tried_
        return some.kernel_.replace("_", "-")

    def _copies(self, labels: _core.WeightedLabels, rows: npt.NDArray[np.int64]) -> tuple[Any, npt.NDArray[np.float64]]:
        """The class weights of some samples, and their own weights."""
        codes, own = labels.codes[rows], labels.sample_weights[rows]
        factors = labels.weights[rows] / np.where(own > 0, own, 1.0)
        return {self.classes_[code]: factors[codes == code].max() for code in np.unique(codes)}, own
