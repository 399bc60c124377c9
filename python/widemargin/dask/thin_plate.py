"""The thin plate SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .. import thin_plate as _local
from .._base import c_of
from .._names import one_of
from .._progress import Progress
from ._bases import Features, bases_of, check_bases, selected_kernel
from ._classifier import DaskClassifier
from ._estimator import Clock, FitData
from ._rows import Rows


class ThinPlateSVC(DaskClassifier, _local.ThinPlateSVC):
    """`widemargin.ThinPlateSVC` on samples on several machines, with bases (`n_basis` must not be None).

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array or series split at the same rows (or, where
    the partitions of X have known lengths, an array in memory). Bases are selected on the client, among 25 samples per
    basis; each partition becomes a block of features, 8 bytes × (bases + polynomials) per row, which stays on its
    worker. A Newton step of all classes is one round of tasks, and so is leave-one-out at a C. X is read three times:
    for its labels, its bases and its features; the last is stored until the blocks are computed.

    Parameters are those of `widemargin.ThinPlateSVC`; ``n_basis="auto"`` is 1,000 bases, and with
    ``standardize="auto"`` columns are not scaled. The kernel "auto" is selected on at most 1,000 samples, on the
    client. Duplicate samples are not merged, as they are on one machine.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateSVC
        The fitted model, without Dask.
    dask_report_ : dict
        The numbers of partitions, tasks of the solver and queries by kind, and the seconds spent waiting for answers.

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

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        C, kernel, polynomials, basis = parameters
        self._name_columns(data)
        if kernel == "auto":
            kernel = "distance" if C is not None else selected_kernel(self, data)
            clock.end("kernel")
        bases, support = bases_of(self, data, basis)
        clock.end("bases")

        targets = [(piece.targets, piece.units_of_others(support, data.n)) for piece in data.present]
        features = Features(data, "on_bases", targets)
        model = _core.fit_thin_plate_remote(
            features.samples,
            features,
            data.weighted,
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

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        if self._is_several():
            return weighted.weights[rows], {}
        codes, own = weighted.codes[rows], weighted.sample_weights[rows]
        factors = weighted.weights[rows] / np.where(own > 0, own, 1.0)
        return own, {"class_weight": {self.classes_[code]: factors[codes == code].max() for code in np.unique(codes)}}
