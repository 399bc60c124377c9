"""The power mean SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

from .. import _core
from .. import power_mean as _local
from .._names import one_of
from .._progress import Progress
from . import _tasks
from ._classifier import Clock, DaskClassifier, Given, grouped
from ._rows import Rows

# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("squared_hinge",)
# The polynomial is not symmetric: it has a dual only.
APPROXIMATIONS = ("nystrom",)


class PowerMeanSVC(DaskClassifier, _local.PowerMeanSVC):
    """`widemargin.PowerMeanSVC` on samples that are on several machines.

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array or series cut at the same rows (or, where
    the partitions of X have known lengths, an array in memory). With a symmetric approximation the machine is a linear
    one on a few numbers v(x) a feature: each partition becomes its block of these, 8 bytes × nodes a number that is not
    0 (or 4 bytes × nodes a feature, where that is less), which stays on its worker, and Newton's method finds the
    weights. X is read twice, for its labels and for its histograms, which are held until the blocks are made.

    Parameters are those of `widemargin.PowerMeanSVC` with ``loss="squared_hinge"`` and ``approximation="nystrom"``;
    `max_iter` counts Newton steps. Nodes follow the values of all partitions: where there are more than 65,536 distinct
    ones, values rounded to 12 bits.

    Attributes
    ----------
    estimator_ : widemargin.PowerMeanSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.
    """

    plain = _local.PowerMeanSVC

    def _checked(self) -> tuple[str, Any, bool]:
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        one_of("approximation", self.approximation, APPROXIMATIONS, estimator=self)
        return loss, self._kernel(), self._is_scaled()

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        loss, kernel, is_scaled = asked
        self._name_columns(given)
        client, C, samples = given.client, float(self.C), given.samples()
        rows = Rows(client, grouped(client, samples))
        factors, reduced = _core.scale_and_reduce(rows, kernel, int(self.n_nodes), self._given_nodes(), is_scaled)
        clock.end("nodes")

        model = (len(self.classes_), C, loss)
        shared = [client.submit(_tasks.same, one, pure=False) for one in (reduced, factors)]
        linear = [
            client.submit(_tasks.made, part, "power_mean", piece.codes, *model, *shared, pure=False)
            for part, piece in zip(samples, given.present, strict=True)
        ]
        rows = Rows(client, grouped(client, linear))
        # What nobody holds is dropped by the workers.
        del samples, linear
        clock.end("features")
        fitted = _core.fit_power_mean_remote(
            rows,
            given.labels,
            map=reduced,
            nodes=self._given_nodes(),
            factors=factors,
            C=C,
            stages=clock.stages,
            common=self._common(progress),
        )
        return fitted, rows
