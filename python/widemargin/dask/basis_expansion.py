"""The basis expansion SVM on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from sklearn.base import clone

from .. import _bases, _core
from .. import basis_expansion as _local
from .._names import one_of
from .._progress import Progress
from .._samples import as_contiguous
from ..similarity import resolve
from ..transformers import BasisExpansion
from . import _tasks
from ._classifier import Clock, DaskClassifier, Given, grouped
from ._rows import Rows

# K-medoids would need the similarities of all samples to all medoids, over and over.
BASES = ("index", "every", "random", "stratified")
# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("squared_hinge", "logistic")
# Normalizations that are learned of all samples; the others are a matter of the bases.
LEARNED = ("mean-norm", "z-score", "covariance")
# Below so many rows workers are asked for products too: steps then are those of one machine, and so are the weights,
# to rounding. From here on the Hessian, which is needed only for a direction, is that of rows that are brought here:
# conjugate gradients then ask nobody, and the weights are the same to the duality gap.
FEWEST_ROWS = 200_000


def _number(C: Any) -> float:
    if isinstance(C, str):
        raise ValueError(f"The 'C' parameter must be a number above 0 on collections of Dask. Got {C!r}.")
    return float(C)


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

    def _checked(self) -> tuple[str, str, str, npt.NDArray[np.int64] | None]:
        if self.penalty != "l2" or self.max_basis is not None:
            raise ValueError("penalty='l1' and max_basis need all features on one machine: not supported on Dask")
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        normalization = one_of("normalization", self.normalization, _bases.NORMALIZATIONS, estimator=self)
        basis, basis_rows = _bases.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        if resolve(self.similarity, self.layout).calls:
            raise TypeError(
                "the similarity is a Python callable: on several machines it must be one of the library's, by name or "
                "object"
            )
        return loss, normalization, basis, basis_rows

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        loss, normalization, basis, basis_rows = asked
        client, labels, pieces, C = given.client, given.labels, given.pieces, _number(self.C)
        codes, present = np.concatenate([piece.codes for piece in pieces]), np.flatnonzero(labels.weights > 0)
        chosen = self._drawn(codes, present, basis, basis_rows)
        raw = self._expansion(given, chosen, normalization)
        clock.end("bases")

        there = client.submit(_tasks.same, raw, pure=False)
        made = [delayed(_tasks.feature_part)(one.number, there, one.samples, one.weights) for one in pieces]
        features = list(client.compute(made))
        expansion = raw._model
        if normalization in LEARNED:
            rows = Rows(client, grouped(client, features))
            expansion = _core.normalised(expansion, normalization, rows, labels)
            del rows
        clock.end("similarity")

        problem = (len(self.classes_), C, loss, self._intercept(loss))
        there = client.submit(_tasks.same, expansion, pure=False)
        linear = [
            client.submit(_tasks.made, part, "linear", there, one.codes, *problem, pure=False)
            for part, one in zip(features, pieces, strict=True)
        ]
        del made, features
        chosen_rows, brought = labels.brought_rows(raw._n_features_out, FEWEST_ROWS), None
        if chosen_rows is not None:
            found = given.picked(chosen_rows, lambda at, mine: client.submit(_tasks.made, linear[at], "pick", mine))
            brought = chosen_rows, as_contiguous(found, np.float32)
        self._take_columns(raw)
        rows = Rows(client, grouped(client, linear))
        model = _core.fit_basis_expansion_remote(
            expansion,
            rows,
            labels,
            brought,
            C=C,
            basis="given" if basis_rows is not None else basis,
            basis_rows=chosen.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, rows

    def _expansion(self, given: Given, chosen: npt.NDArray[np.int64], normalization: str) -> BasisExpansion:
        """The expansion on the bases, not normalised (but a Nyström one, which is a matter of the bases alone)."""
        raw = BasisExpansion(
            clone(self.similarity, safe=False),
            n_basis=len(chosen),
            basis=np.arange(len(chosen)),
            normalization="none" if normalization in LEARNED else self.normalization,
            n_jobs=1,
            layout=self.layout,
        ).fit(given.picked_samples(chosen))
        if normalization in LEARNED:
            # It is learned from similarities as they are.
            raw._model = _core.unnormalized(raw._model)
        return raw

    def _take_columns(self, expansion: BasisExpansion) -> None:
        """Sets what is known of the samples from the expansion that compared them."""
        self._resolved, self._columns = expansion._resolved, None
        for name in ("n_features_in_", "feature_names_in_", "_n_channels"):
            self.__dict__.pop(name, None)
            if hasattr(expansion, name):
                setattr(self, name, getattr(expansion, name))
