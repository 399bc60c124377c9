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
from ._estimator import Clock, Given, grouped
from ._rows import Rows

# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("squared_hinge",)
# The polynomial is not symmetric: it has a dual only.
APPROXIMATIONS = ("nystroem",)


class PowerMeanSVC(DaskClassifier, _local.PowerMeanSVC):
    """`widemargin.PowerMeanSVC` on samples that are on several machines.

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array or series cut at the same rows (or, where
    the partitions of X have known lengths, an array in memory). With a symmetric approximation the machine is a linear
    one on a few numbers v(x) a feature: each partition becomes its block of these, 8 bytes × nodes a number that is not
    0 (or 4 bytes × nodes a feature, where that is less), which stays on its worker, and Newton's method finds the
    weights. X is read twice, for its labels and for its histograms, which are held until the blocks are made.

    Parameters are those of `widemargin.PowerMeanSVC` with ``loss="squared_hinge"`` and ``approximation="nystroem"``;
    `max_iter` counts Newton steps. Nodes follow the values of all partitions: where there are more than 65,536 distinct
    ones, values rounded to 12 bits. What is "auto" is chosen on at most 1,000 samples that are brought to the client.

    Attributes
    ----------
    estimator_ : widemargin.PowerMeanSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.

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

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        loss, kernel = asked
        n_nodes, nodes = self._nodes()
        self._name_columns(given)
        client, samples = given.client, given.samples()
        rows = Rows(client, grouped(client, samples))
        C, choice = c_of(self), None
        if C is None or n_nodes is None or kernel == "auto":
            choice = self._chosen(given, rows, kernel, progress)
            kernel, C, n_nodes = choice.kernel if kernel == "auto" else kernel, choice.C, choice.n_nodes
            clock.end("choose")
        factors, reduced = _core.scale_and_reduce(rows, kernel, n_nodes, nodes, bool(self.scale))
        clock.end("nodes")

        model = (C, loss)
        shared = [client.submit(_tasks.same, one, pure=False) for one in (reduced, factors)]
        linear = [
            client.submit(_tasks.made, part, "power_mean", piece.known, *model, *shared, pure=False)
            for part, piece in zip(samples, given.present, strict=True)
        ]
        rows = Rows(client, grouped(client, linear))
        # What nobody holds is dropped by the workers.
        del samples, linear
        clock.end("features")
        fitted = _core.fit_power_mean_remote(
            rows,
            given.weighted,
            map=reduced,
            nodes=nodes,
            factors=factors,
            C=C,
            choice=choice,
            stages=clock.stages,
            common=self._common(progress),
        )
        return fitted, rows

    def _chosen(self, given: Given, rows: Rows, kernel: Any, progress: Progress) -> _core.PowerMeanSelection:
        """What is chosen, on some of the samples, which are brought here."""
        n_nodes, nodes = self._nodes()
        factors, _ = _core.scale_and_reduce(rows, "chi2", 3, None, bool(self.scale))
        some = given.weighted.rows_to_choose_on(self._seed())
        found = check_array(given.picked_samples(some), accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        return _core.choose_power_mean(
            from_vectors(found),
            some.tolist(),
            given.weighted,
            kernel=kernel,
            C=c_of(self),
            n_nodes=n_nodes,
            nodes=nodes,
            factors=factors,
            common=self._common(progress),
        )
