"""The power mean SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from .. import _core
from .. import power_mean as _local
from .._base import c_of
from .._names import one_of
from .._progress import Progress
from .._samples import from_vectors
from . import _tasks
from ._classifier import DaskClassifier
from ._estimator import Clock, FitData, grouped
from ._rows import Rows

# The hinge loss is solved in the dual, which is not a sum over rows.
LOSSES = ("squared_hinge",)
# The polynomial is not symmetric: it has only a dual.
APPROXIMATIONS = ("nystroem",)


class PowerMeanSVC(DaskClassifier, _local.PowerMeanSVC):
    """`widemargin.PowerMeanSVC` on samples on several machines.

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array or series split at the same rows (or, where
    the partitions of X have known lengths, an array in memory). With a symmetric approximation the model is linear in a
    few numbers v(x) per feature: each partition becomes a block of these, 8 bytes × nodes per nonzero number (or
    4 bytes × nodes per feature, if that is less), which stays on its worker, and Newton's method computes the weights.
    X is read twice, for its labels and for its histograms, which are stored until the blocks are computed.

    Parameters are those of `widemargin.PowerMeanSVC` with ``loss="squared_hinge"`` and ``approximation="nystroem"``;
    `max_iter` counts Newton steps. Nodes depend on the values of all partitions, rounded to 12 bits if there are more
    than 65,536 distinct ones. Automatic parameters are selected on at most 1,000 samples, on the client.

    Attributes
    ----------
    estimator_ : widemargin.PowerMeanSVC
        The fitted model, without Dask.
    dask_report_ : dict
        The numbers of partitions, tasks of the solver and queries by kind, and the seconds spent waiting for answers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from widemargin.dask import PowerMeanSVC
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     svc = PowerMeanSVC(kernel="chi2", C=1.0, nodes=3).fit(X, y)
    ...     accuracy = svc.score(X, y)
    >>> accuracy > 0.9
    True
    """

    plain = _local.PowerMeanSVC

    def _checked(self) -> tuple[str, Any]:
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        one_of("approximation", self.approximation, APPROXIMATIONS, estimator=self)
        return loss, self._kernel()

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        loss, kernel = parameters
        n_nodes, nodes = self._nodes()
        self._name_columns(data)
        client, samples = data.client, data.samples()
        rows = Rows(client, grouped(client, samples))
        C, choice = c_of(self), None
        if C is None or n_nodes is None or kernel == "auto":
            choice = self._selection(data, rows, kernel, progress)
            kernel, C, n_nodes = choice.kernel if kernel == "auto" else kernel, choice.C, choice.n_nodes
            clock.end("choose")
        factors, reduced = _core.scale_and_reduce(rows, kernel, n_nodes, nodes, bool(self.scale))
        clock.end("nodes")

        model = (C, loss)
        shared = [client.submit(_tasks.same, one, pure=False) for one in (reduced, factors)]
        linear = [
            client.submit(_tasks.called, part, "power_mean", piece.targets, *model, *shared, pure=False)
            for part, piece in zip(samples, data.present, strict=True)
        ]
        rows = Rows(client, grouped(client, linear))
        # Workers drop results without references.
        del samples, linear
        clock.end("features")
        fitted = _core.fit_power_mean_remote(
            rows,
            data.weighted,
            map=reduced,
            nodes=nodes,
            factors=factors,
            C=C,
            choice=choice,
            stages=clock.stages,
            common=self._common(progress),
        )
        return fitted, rows

    def _selection(self, data: FitData, rows: Rows, kernel: Any, progress: Progress) -> _core.PowerMeanSelection:
        """Automatic parameters, selected on some of the samples, on the client."""
        n_nodes, nodes = self._nodes()
        factors, _ = _core.scale_and_reduce(rows, "chi2", 3, None, bool(self.scale))
        some = data.weighted.rows_to_choose_on(self._seed())
        found = check_array(data.picked_samples(some), accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        return _core.choose_power_mean(
            from_vectors(found),
            some.tolist(),
            data.weighted,
            kernel=kernel,
            C=c_of(self),
            n_nodes=n_nodes,
            nodes=nodes,
            factors=factors,
            common=self._common(progress),
        )
