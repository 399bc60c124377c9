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
from ._estimator import Clock, FitData, grouped
from ._features import Features, check_similarity
from ._rows import Rows

# K-medoids would need the similarities of all samples to all medoids in every step.
BASES = ("index", "every", "random", "auto")
# The hinge loss is solved in the dual, which is not a sum over rows.
LOSSES = ("auto", "squared_hinge", "squared_error", "logistic")
# The number of rows from which the Hessian, which only deterowns directions, is that of some rows on the client:
# conjugate gradients then need no queries, and weights agree with those of one machine up to the duality gap. With
# fewer rows workers also compute products, and weights agree up to rounding.
HESSIAN_SAMPLE_ROWS = 200_000


# The number of samples on the client for automatic selection: a tenth of all within these bounds.
MIN_SELECTION_SAMPLES, MAX_SELECTION_SAMPLES = 2000, 4000


@dataclass(frozen=True)
class Selected:
    """The parameters of a fit, with automatic ones selected."""

    similarity: Any
    normalization: str
    n_basis: int
    C: float
    loss: str


class BasisExpansionSVC(DaskClassifier, _local.BasisExpansionSVC):
    """`widemargin.BasisExpansionSVC` on samples on several machines.

    X is a Dask array, frame or bag, y a Dask array or series split at the same rows (or, where the partitions of X have
    known lengths, an array in memory). The bases are selected and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities per row. Persist X if it is expensive to
    compute: it is read three times, for its labels, its bases, and its similarities.

    Parameters are those of `widemargin.BasisExpansionSVC`, with "index", "random" or "auto" bases (or row
    numbers), the losses "squared_hinge", "squared_error" and "logistic", and built-in similarities (a name or an
    object, or several). Automatic parameters are selected by an ordinary fit on a tenth of the samples, 2,000 to 4,000
    of them (or all), on the client: `cv_results_` is that of this fit. Automatic parameters of similarities (such as
    the gamma of "rbf" and the mean of HOG features) are deterownd from the bases. Duplicate samples are not merged,
    as they are on one machine.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionSVC
        The fitted model, without Dask.
    dask_report_ : dict
        The numbers of partitions, tasks of the solver and queries by kind, and the seconds spent waiting for answers.

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

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        loss, normalization, basis, basis_rows = parameters
        client, labels = data.client, data.weighted
        strata, present = labels.strata, np.flatnonzero(labels.weights > 0)
        selected, selection = self._selected_parameters(data, basis_rows, normalization, loss)
        clock.end("choose")
        C, loss = selected.C, selected.loss
        basis_indices = self._selected(strata, present, basis, basis_rows, selected.n_basis)
        features = Features(self, data, basis_indices, selected.similarity, selected.normalization, clock)
        intercept = "free" if self.fit_intercept else "none"
        linear = features.called("linear", [(one.targets, C, loss, intercept) for one in data.pieces])
        sampled_rows, brought = labels.brought_rows(features.width, HESSIAN_SAMPLE_ROWS), None
        if sampled_rows is not None:
            found = data.picked(sampled_rows, lambda at, own: client.submit(_tasks.called, linear[at], "pick", own))
            brought = sampled_rows, as_contiguous(found, np.float32)
        rows = Rows(client, grouped(client, linear))
        model = _core.fit_basis_expansion_remote(
            features.expansion,
            rows,
            labels,
            brought,
            C=C,
            basis="explicit" if basis_rows is not None else basis,
            basis_rows=basis_indices.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        self._selection = selection
        return model, rows

    def _selected_parameters(
        self,
        data: FitData,
        basis_rows: npt.NDArray[np.int64] | None,
        normalization: str,
        loss: str,
    ) -> tuple[Selected, Any]:
        """The parameters, with automatic ones selected by an ordinary fit on some of the samples; and that fit, if it
        selected C."""
        similarity = None if is_auto(self.similarity) else clone(self.similarity, safe=False)
        n_basis = None if isinstance(self.n_basis, str) else int(self.n_basis)
        n_basis = n_basis if basis_rows is None else len(basis_rows)
        C = c_of(self)
        if similarity is not None and normalization != "auto" and n_basis is not None and C is not None:
            return Selected(similarity, normalization, n_basis, C, "squared-hinge" if loss == "auto" else loss), None
        fixed_basis: dict[str, Any] = {} if basis_rows is None else {"basis": "index"}
        some = self._fit_on_some(
            data, min(max(data.n // 10, MIN_SELECTION_SAMPLES), MAX_SELECTION_SAMPLES), **fixed_basis
        )
        return Selected(
            some.similarity_ if similarity is None else similarity,
            _bases.normalization_text(some.normalization_, some.negative_eigenvalues_)
            if normalization == "auto"
            else normalization,
            max(some._n_basis, DEFAULT_BASES // len(specs_of(some))) if n_basis is None else n_basis,
            some.C_ if C is None else C,
            some.loss_.replace("_", "-") if loss == "auto" else loss,
        ), some if C is None else None

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        # The weights of samples include class weights, but not the weights of labels.
        return weighted.weights[rows], {"class_weight": self.class_weight if self._is_several() else None}

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if (some := self.__dict__.pop("_selection", None)) is not None:
            for name in ("cv_results_", "estimated_score_", "estimated_score_std_"):
                setattr(self, name, getattr(some, name))
