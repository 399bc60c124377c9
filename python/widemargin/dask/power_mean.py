"""The power mean SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.delayed import delayed

from .. import _core
from .. import power_mean as _local
from .._base import fitting, labels_of, watched
from .._columns import kept_names
from .._names import one_of
from . import _tasks
from ._classifier import Clock, DaskClassifier, grouped
from ._rows import Rows

# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("squared_hinge",)
# The polynomial is not symmetric: it has a dual only.
APPROXIMATIONS = ("nystrom",)
# Coordinates beyond which no Gram matrix is made: one takes 256 MB there, and a tree of sums has several in a place.
MOST_OF_A_GRAM = 8192


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

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PowerMeanSVC:
        """Trains on a collection of Dask.

        Parameters
        ----------
        X : dask array or frame
            At least 0.
        y : dask array or series, or an array
        sample_weight : the same, or None

        Returns
        -------
        PowerMeanSVC
            Itself, fitted.
        """
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        one_of("approximation", self.approximation, APPROXIMATIONS, estimator=self)
        kernel, is_scaled = self._kernel(), self._is_scaled()
        clock = Clock()
        given = self._given(X, y, sample_weight)
        n_features = self._name_columns(X, given)
        client = given.client
        clock.end("labels")

        with self._watched(X=X, y=y) as progress:
            all_parts = zip(given.numbers, given.parts, given.codes, given.weights, strict=True)
            numbers, parts, codes, weights = zip(*(one for one in all_parts if (one[3] > 0).any()), strict=True)
            samples = [
                client.compute(delayed(_tasks.sample_part)(number, part.samples, weight))
                for number, part, weight in zip(numbers, parts, weights, strict=True)
            ]
            rows = Rows(client, grouped(client, samples))
            factors, nodes = _core.scale_and_nodes(rows, kernel, int(self.n_nodes), is_scaled)
            clock.end("nodes")

            model = (len(self.classes_), float(self.C), loss, kernel, nodes)
            shared = client.submit(_tasks.same, factors, pure=False)
            blocks = [
                client.submit(_tasks.power_mean, part, some, *model, shared, pure=False)
                for part, some in zip(samples, codes, strict=True)
            ]
            groups = grouped(client, blocks)
            # What nobody holds is dropped by the workers.
            del rows, samples, blocks
            sums = Rows(client, groups)
            clock.end("features")

            n_coordinates = n_features * len(nodes)
            one_pass, problem, gram = sums.cost()
            solution = _core.minimise(
                sums,
                None,
                n_rows=sum(int((some > 0).sum()) for some in weights),
                n_features=n_coordinates,
                n_problems=len(self.classes_) if len(self.classes_) > 2 else 1,
                cost=(one_pass, problem, gram if n_coordinates <= MOST_OF_A_GRAM else np.inf),
                loss=loss,
                intercept="none",
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                threads=self._threads(),
                time_limit=self.time_limit,
                monitor=watched(progress),
            )
        clock.end("solve")
        fitted = _core.assemble_power_mean(
            solution,
            labels_of(self.classes_),
            kernel=kernel,
            nodes=nodes,
            factors=factors,
            n_features=n_features,
            C=float(self.C),
            stages=clock.stages,
            training=self._asked(),
            feature_names=kept_names(self),
        )
        self._keep(fitted)
        self.dask_report_ = {"partitions": len(given.numbers), **sums.told()}
        return self
