"""The basis expansion SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from distributed import Client, Future
from sklearn.base import clone

from .. import _core
from .. import basis_expansion as _local
from .._base import fitting, labels_of, watched
from .._columns import kept_names
from .._names import one_of
from ..similarity import resolve
from ..transformers import BasisExpansion
from . import _tasks
from ._classifier import Clock, DaskClassifier, Given, grouped, picked
from ._rows import Rows, Sums
from ._sample import sampled

# K-medoids would need the similarities of all samples to all medoids, over and over.
BASES = ("index", "random", "stratified")
# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("squared_hinge", "logistic")
# Normalizations that are learned of all samples; the others are a matter of the bases.
LEARNED = ("mean-norm", "z-score")


class BasisExpansionSVC(DaskClassifier, _local.BasisExpansionSVC):
    """`widemargin.BasisExpansionSVC` on samples that are on several machines.

    X is a Dask array, frame or bag, y a Dask array or series cut at the same rows (or, where the partitions of X have
    known lengths, an array in memory). The bases are chosen and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities a row. Persist X where making it again is
    dear: it is read three times, for its labels, its bases, and its similarities.

    Parameters are those of `widemargin.BasisExpansionSVC`, with "index", "random" or "stratified" bases (or row
    numbers), the losses "squared_hinge" and "logistic", similarities of the library (a name or an object, or several),
    and no warm start. What a similarity learns of its training samples (the gamma of "rbf" where none is given, the
    mean of HOG features) it learns of the bases. Samples that are equal are not merged, as they are on one machine.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.
    """

    plain = _local.BasisExpansionSVC

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BasisExpansionSVC:
        """Trains on a collection of Dask.

        Parameters
        ----------
        X : dask array, frame or bag
        y : dask array or series, or an array
        sample_weight : the same, or None

        Returns
        -------
        BasisExpansionSVC
            Itself, fitted.
        """
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        normalization = one_of("normalization", self.normalization, _local.NORMALIZATIONS, estimator=self)
        basis, basis_rows = _local.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        if resolve(self.similarity, self.layout).calls:
            raise TypeError(
                "the similarity is a Python callable: on several machines it must be one of the library's, by name or "
                "object"
            )
        clock = Clock()
        given = self._given(X, y, sample_weight)
        client, kept, codes, weights = given.client, given.numbers, given.codes, given.weights
        clock.end("labels")

        present = np.flatnonzero(np.concatenate(weights) > 0)
        chosen = self._drawn(np.concatenate(codes), present, basis, basis_rows)
        raw, bases = self._expansion(given, chosen, normalization)
        clock.end("bases")

        with self._watched(X=X, y=y) as progress:
            blocks = [
                client.compute(delayed(_tasks.features)(number, raw, part.samples))
                for number, part in zip(kept, given.parts, strict=True)
            ]
            centre: npt.NDArray[np.float32] | None = None
            factors: list[list[float]] = []
            if normalization in LEARNED:
                blocks, centre, factors = normalise(client, blocks, weights, bases, normalization)
            clock.end("similarity")

            costs = [self.C * some for some in weights]
            problem = (len(self.classes_), loss, self._intercept(loss))
            made = [
                client.submit(_tasks.linear_part, *one, *problem, pure=False)
                for one in zip(kept, blocks, codes, costs, strict=True)
            ]
            del blocks
            n_features = bases._n_features_out
            sample = sampled(client, made, codes, costs, problem, n_features, self._threads())
            rows = Rows(client, grouped(client, made))
            solution = _core.minimise(
                rows,
                sample,
                n_rows=given.n,
                n_features=n_features,
                n_problems=len(self.classes_) if len(self.classes_) > 2 else 1,
                cost=rows.cost(),
                loss=loss,
                intercept=problem[2],
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                threads=self._threads(),
                time_limit=self.time_limit,
                monitor=watched(progress),
            )
        clock.end("solve")
        model = bases._model.assemble(
            solution,
            labels_of(self.classes_),
            normalization=normalization,
            centre=centre,
            factors=factors,
            C=float(self.C),
            basis="given" if basis_rows is not None else basis,
            basis_rows=chosen.tolist(),
            loss=loss,
            intercept=problem[2],
            stages=clock.stages,
            warnings=[],
            training=self._asked(),
            feature_names=kept_names(bases),
        )
        self._resolved, self._columns = bases._resolved, None
        for name in ("n_features_in_", "feature_names_in_", "_n_channels"):
            self.__dict__.pop(name, None)
            if hasattr(bases, name):
                setattr(self, name, getattr(bases, name))
        self._keep(model)
        self.dask_report_ = {"partitions": len(kept), **rows.told()}
        return self

    def _expansion(
        self,
        given: Given,
        chosen: npt.NDArray[np.int64],
        normalization: str,
    ) -> tuple[Future, BasisExpansion]:
        """The expansion on the bases, not normalised (but a Nyström one, which is a matter of the bases alone): on the
        workers and here."""
        expansion = BasisExpansion(
            clone(self.similarity, safe=False),
            n_basis=len(chosen),
            basis=np.arange(len(chosen)),
            normalization="none" if normalization in LEARNED else self.normalization,
            n_jobs=1,
            layout=self.layout,
        ).fit(picked(given, chosen))
        return given.client.submit(_tasks.same, expansion, pure=False), expansion


def normalise(
    client: Client,
    blocks: list[Future],
    weights: list[npt.NDArray[np.float64]],
    expansion: BasisExpansion,
    normalization: str,
) -> tuple[list[Future], npt.NDArray[np.float32], list[list[float]]]:
    """Learns centre and factors from sums over the blocks; the normalised blocks and these."""
    wait_for = Sums(client).wait
    total = float(sum(some.sum() for some in weights))
    sums = [client.submit(_tasks.sums, block, some, pure=False) for block, some in zip(blocks, weights, strict=True)]
    mean = wait_for(sums) / total
    ends = expansion._model.part_columns
    asked = ends if normalization == "mean-norm" else None
    spreads = [
        client.submit(_tasks.spreads, block, some, mean, asked, pure=False)
        for block, some in zip(blocks, weights, strict=True)
    ]
    spread = wait_for(spreads) / total
    if normalization == "z-score":
        deviation = np.sqrt(spread)
        spread = np.where(deviation <= 1e-6 * np.abs(mean), 0.0, deviation)
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0).astype(np.float32)
    widths = [end - first for first, end in ends]
    factors = [[float(one)] for one in inverse] if asked else [inverse[a:b].tolist() for a, b in ends]
    wide = np.repeat(inverse, widths) if asked else inverse
    centre = mean.astype(np.float32)
    shared = [client.submit(_tasks.same, array, pure=False) for array in (centre, wide)]
    return [client.submit(_tasks.normalised, block, *shared, pure=False) for block in blocks], centre, factors
