"""The basis expansion SVM on collections of Dask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from .. import _bases, _core
from .. import basis_expansion as _local
from .._base import c_of
from .._names import one_of
from .._precomputed import DEFAULT_BASES
from .._progress import Progress
from .._results import Row
from .._samples import as_contiguous
from .._specs import is_auto
from .._stored_bases import specs_of
from . import _tasks
from ._classifier import DaskClassifier
from ._estimator import Clock, Given, grouped
from ._features import Features, check_similarity
from ._rows import Rows

# K-medoids would need the similarities of all samples to all medoids, over and over.
BASES = ("index", "every", "random", "auto")
# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("auto", "squared_hinge", "squared_error", "logistic")
# Below so many rows workers are asked for products too: steps then are those of one machine, and so are the weights,
# to rounding. From here on the Hessian, which is needed only for a direction, is that of rows that are brought here:
# conjugate gradients then ask nobody, and the weights are the same to the duality gap.
FEWEST_ROWS = 200_000


# Samples that are brought here to choose on: a tenth of all within these bounds.
FEWEST_TO_CHOOSE, MOST_TO_CHOOSE = 2000, 4000


@dataclass(frozen=True)
class Decided:
    """What a fit takes, given or chosen."""

    similarity: Any
    normalization: str
    n_basis: int
    C: float
    loss: str


class BasisExpansionSVC(DaskClassifier, _local.BasisExpansionSVC):
    """`widemargin.BasisExpansionSVC` on samples that are on several machines.

    X is a Dask array, frame or bag, y a Dask array or series cut at the same rows (or, where the partitions of X have
    known lengths, an array in memory). The bases are chosen and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities a row. Persist X where making it again is
    dear: it is read three times, for its labels, its bases, and its similarities.

    Parameters are those of `widemargin.BasisExpansionSVC`, with "index", "random" or "auto" bases (or row
    numbers), the losses "squared_hinge", "squared_error" and "logistic", and similarities of the library (a name or an
    object, or several). What is "auto" is chosen by an ordinary fit on a tenth of the samples, 2,000 to
    4,000 of them (or all), which are brought here: `cv_results_` is that of this fit. What a similarity
    learns of its training samples (the gamma of "rbf" where none is given, the mean of HOG features) it learns of the
    bases. Samples that are equal are not merged, as they are on one machine.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from widemargin.dask import BasisExpansionSVC
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     svc = BasisExpansionSVC("rbf:gamma=0.2", n_basis=50, C=1.0).fit(X, y)
    ...     accuracy = svc.score(X, y)
    >>> accuracy > 0.9
    True
    """

    plain = _local.BasisExpansionSVC

    def _checked(self) -> tuple[str, str, str, npt.NDArray[np.int64] | None]:
        if self.penalty != "l2" or self.max_basis is not None:
            raise ValueError("penalty='l1' and max_basis need all features on one machine: not supported on Dask")
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        normalization = _bases.normalization_of(self, "auto")
        basis, basis_rows = _bases.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        c_of(self)
        check_similarity(self)
        return loss, normalization, basis, basis_rows

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        loss, normalization, basis, basis_rows = asked
        client, labels = given.client, given.weighted
        strata, present = labels.strata, np.flatnonzero(labels.weights > 0)
        decided, chosen_on = self._decided(given, basis_rows, normalization, loss)
        clock.end("choose")
        C, loss = decided.C, decided.loss
        chosen = self._drawn(strata, present, basis, basis_rows, decided.n_basis)
        features = Features(self, given, chosen, decided.similarity, decided.normalization, clock)
        intercept = "free" if self.fit_intercept else "none"
        linear = features.made("linear", [(one.known, C, loss, intercept) for one in given.pieces])
        chosen_rows, brought = labels.brought_rows(features.width, FEWEST_ROWS), None
        if chosen_rows is not None:
            found = given.picked(chosen_rows, lambda at, mine: client.submit(_tasks.made, linear[at], "pick", mine))
            brought = chosen_rows, as_contiguous(found, np.float32)
        rows = Rows(client, grouped(client, linear))
        model = _core.fit_basis_expansion_remote(
            features.expansion,
            rows,
            labels,
            brought,
            C=C,
            basis="explicit" if basis_rows is not None else basis,
            basis_rows=chosen.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        self._chosen_on = chosen_on
        return model, rows

    def _decided(
        self,
        given: Given,
        basis_rows: npt.NDArray[np.int64] | None,
        normalization: str,
        loss: str,
    ) -> tuple[Decided, Any]:
        """What is given, and in place of "auto" what an ordinary fit on some of the samples chose; and that fit, if
        it chose C."""
        similarity = None if is_auto(self.similarity) else clone(self.similarity, safe=False)
        n_basis = None if isinstance(self.n_basis, str) else int(self.n_basis)
        n_basis = n_basis if basis_rows is None else len(basis_rows)
        C = c_of(self)
        if similarity is not None and normalization != "auto" and n_basis is not None and C is not None:
            return Decided(similarity, normalization, n_basis, C, "squared-hinge" if loss == "auto" else loss), None
        given_rows: dict[str, Any] = {} if basis_rows is None else {"basis": "index"}
        some = self._fit_on_some(given, min(max(given.n // 10, FEWEST_TO_CHOOSE), MOST_TO_CHOOSE), **given_rows)
        return Decided(
            some.similarity_ if similarity is None else similarity,
            _bases.normalization_text(some.normalization_, some.negative_eigenvalues_)
            if normalization == "auto"
            else normalization,
            max(some._n_basis, DEFAULT_BASES // len(specs_of(some))) if n_basis is None else n_basis,
            some.C_ if C is None else C,
            some.loss_.replace("_", "-") if loss == "auto" else loss,
        ), some if C is None else None

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        # The weights of classes are in those of their samples, the weights of labels are not.
        return weighted.weights[rows], {"class_weight": self.class_weight if self._is_several() else None}

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if (some := self.__dict__.pop("_chosen_on", None)) is not None:
            for name in ("cv_results_", "estimated_score_", "estimated_score_std_"):
                setattr(self, name, getattr(some, name))
