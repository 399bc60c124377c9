"""Estimators for Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from distributed import Future
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier

from .. import _core
from .. import basis_expansion as _expansions
from .. import one_class as _one_class
from .. import power_mean as _power_mean
from .. import thin_plate as _thin_plate
from .._base import CONSTRAINTS, specs_of
from .._compares import DEFAULT_BASES
from .._parameters import basis_of, invalid, normalization_of, normalization_parameters, normalization_text
from .._report import Row
from .._samples import as_contiguous
from .._specs import is_auto
from ..similarity import resolve
from . import _data, _rows
from ._base import DaskClassifier, DaskEstimator, DaskRegressor, Floats, LazyResult
from ._data import FitData
from ._rows import Rows

# The number of samples on the client for the selection of a kernel.
KERNEL_SAMPLES = 1000
# The number of rows from which the Hessian, which only determines directions, is that of some rows on the client:
# conjugate gradients then need no queries, and weights agree with those of one machine up to the duality gap. With
# fewer rows workers also compute products, and weights agree up to rounding.
HESSIAN_SAMPLE_ROWS = 200_000
# Normalizations that are learned from all samples; the others depend only on the bases.
LEARNED = ("mean-norm", "z-score", "covariance")


class DaskExpansion(DaskEstimator):
    """Must precede an estimator that compares samples with bases in the bases of a class."""

    # K-medoids would need the similarities of all samples to all medoids in every step.
    _selections: ClassVar[tuple[str, ...]] = ("index", "every", "random", "auto")
    # Where the features of a Nyström map end.
    _cut = "millionth"
    # The numbers between which a tenth of the samples is copied to the client for automatic selection.
    _selection_samples: ClassVar[tuple[int, int]]

    def _parameters(self: Any) -> dict[str, Any]:
        if not is_auto(self.similarity) and resolve(self.similarity, self.kind).calls:
            what = "the similarity is a Python callable"
            raise TypeError(f"{what}: on several machines it must be a built-in one, by name or object")
        # None for a similarity that is selected.
        similarity = None if is_auto(self.similarity) else clone(self.similarity, safe=False)
        return super()._parameters() | {"similarity": similarity, "basis_rows": basis_of(self)[1]}  # type: ignore[misc]

    def _train(self: Any, data: FitData) -> tuple[_core.Model, Rows]:
        n_basis = self._select(data)
        strata = getattr(data.weighted, "strata", np.zeros(data.n, np.uint32))
        features = Features(self, data, self._selected(strata, data.weighted.weights, n_basis=n_basis))
        remote, problem = self._problem(data, features)
        basis = self.basis if isinstance(self.basis, str) else "explicit"
        bases = {"basis": basis, "basis_rows": features.rows_of_bases.tolist()}
        model = _core.fit_expansion_remote(features.expansion, remote, problem, **bases, **self._finish(data))
        return model, remote

    def _select(self, data: FitData) -> int | None:
        """Completes the parameters by an ordinary fit on some of the samples. Returns the number of bases, if that fit
        selected it."""
        raise NotImplementedError

    def _problem(self, data: FitData, features: Features) -> tuple[Rows, Any]:
        """The rows and the problem of the solver, as `fit_expansion_remote` of the extension module expects them."""
        raise NotImplementedError

    def _selected_on_some(self: Any, data: FitData, **fixed: Any) -> Any:
        """Completes the similarity and the normalization by an ordinary fit on some of the samples, and returns it."""
        (fewest, most), parameters = self._selection_samples, data.parameters
        some = self._fit_on_some(data, min(max(data.n // 10, fewest), most), **fixed)
        # With the values that were selected with the others, such as gamma.
        parameters["similarity"] = some.similarity_
        if parameters["normalization"] == "auto":
            parameters["normalization"] = normalization_text(some.normalization_, some.negative_eigenvalues_)
        return some


class BasisExpansionSVC(DaskClassifier, DaskExpansion, _expansions.BasisExpansionSVC):
    """`widemargin.BasisExpansionSVC` for samples on several machines.

    X is a Dask array, data frame or bag, y a Dask array or series split at the same rows as X (or, if the partitions of
    X have known lengths, an array in memory). The bases are selected and sent to the workers once. Each partition
    becomes a block of similarities that stays on its worker and takes 4 bytes × bases × similarities per row. X is read
    three times, for the labels, the bases, and the similarities: persist it if it is expensive to compute.

    The parameters are those of `widemargin.BasisExpansionSVC`. Supported are the bases "index", "random" and "auto" (or
    row indices), the losses "squared_hinge", "squared_error" and "logistic", and built-in similarities (a name, an
    object, or a list of these). Automatic parameters are selected by an ordinary fit on at most 5,000 samples on the
    client; `cv_results_` contains the results of this fit. Learned parameters of descriptors (such as the mean of HOG
    features), and, if no parameter is automatic, the gamma of "rbf", are computed from the bases. Unlike on one
    machine, duplicate samples are not merged.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionSVC
        The fitted ordinary estimator, which does not need Dask.
    dask_report_ : dict
        The number of partitions, the numbers of solver tasks and of queries of each kind, and the seconds spent waiting
        for results.

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

    plain = _expansions.BasisExpansionSVC
    # The hinge loss is solved in the dual, which is not a sum over rows.
    _losses = ("auto", "squared_hinge", "squared_error", "logistic")
    # More than are all bases, so that bases are counted.
    _selection_samples = 5000, 5000

    def _parameters(self) -> dict[str, Any]:
        if self.penalty != "l2" or self.max_basis is not None:
            raise ValueError("penalty='l1' and max_basis need all features on one machine: not supported on Dask")
        return super()._parameters()

    def _select(self, data: FitData) -> int | None:
        parameters, rows = data.parameters, data.parameters["basis_rows"]
        n_basis = None if isinstance(self.n_basis, str) else int(self.n_basis)
        n_basis = n_basis if rows is None else len(rows)
        is_automatic = None in (parameters["similarity"], n_basis, parameters["C"])
        if is_automatic or parameters["normalization"] == "auto":
            some = self._selected_on_some(data, **({} if rows is None else {"basis": "index"}))
            parameters["loss"] = parameters["loss"] or some.loss_.replace("_", "-")
            if parameters["C"] is None:
                parameters["C"], self._selection = some.C_, some
            n_basis = max(some._n_basis, DEFAULT_BASES // len(specs_of(some))) if n_basis is None else n_basis
        data.end("choose")
        return n_basis

    def _problem(self, data: FitData, features: Features) -> tuple[Rows, Any]:
        C, loss = data.parameters["C"], data.parameters["loss"] or "squared-hinge"
        arguments = [(one.targets, C, loss, data.parameters["intercept"]) for one in data.pieces]
        linear = features.called("linear", arguments)
        sampled_rows, brought = data.weighted.brought_rows(features.width, HESSIAN_SAMPLE_ROWS), None
        if sampled_rows is not None:
            submit = data.client.submit
            found = data.picked(sampled_rows, lambda at, own: submit(_rows.called, linear[at], "pick", own))
            brought = sampled_rows, as_contiguous(found, np.float32)
        return data.rows(linear), (data.weighted, C, brought)

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if (some := self.__dict__.pop("_selection", None)) is not None:
            for name in ("cv_results_", "estimated_score_", "estimated_score_std_"):
                setattr(self, name, getattr(some, name))


class BasisExpansionRegressor(DaskRegressor, DaskExpansion, _expansions.BasisExpansionRegressor):
    """`widemargin.BasisExpansionRegressor` for samples on several machines.

    X is a Dask array, data frame or bag, y a Dask array, series or data frame split at the same rows as X (or, if the
    partitions of X have known lengths, an array in memory). The bases are selected and sent to the workers once. Each
    partition becomes a block of similarities that stays on its worker and takes 4 bytes × bases × similarities per row.
    With squared_error, the fit needs three sums over these blocks: the mean of the features, their products with each
    other and with the targets, and the squares of the leave-one-out residuals for all values of C at once. Other losses
    are minimized by Newton's method on the client: this takes two rounds of tasks per step and one more at each C, or
    hundreds of rounds if C and epsilon are "auto". C and `epsilon_` are the same as on one machine with the same bases;
    with duplicate samples, the folds of the quantile
    loss differ, which may select another C.

    The parameters are those of `widemargin.BasisExpansionRegressor`. Supported are the bases "index", "every", "random"
    and "auto" (or row indices), and built-in similarities (a name, an object, or a list of these). An automatic
    similarity or normalization is selected by an ordinary fit on a tenth of the samples (at least 1,000, at most 4,000)
    on the client; the candidates in `cv_results_` are those of this fit. Automatic parameters of similarities (such as
    the gamma of "rbf") are computed from the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionRegressor
        The fitted ordinary estimator, which does not need Dask.
    dask_report_ : dict
        The number of partitions, the numbers of solver tasks and of queries of each kind, and the seconds spent waiting
        for results.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin.dask import BasisExpansionRegressor
    >>> X, y = (da.from_array(part, chunks=100) for part in load_diabetes(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     regressor = BasisExpansionRegressor("z-score/rbf", n_basis=100).fit(X, y)
    ...     r2 = regressor.score(X, y)
    >>> r2 > 0.5
    True
    """

    plain = _expansions.BasisExpansionRegressor
    _cut = "rounding"
    _selection_samples = 1000, 4000

    def _parameters(self) -> dict[str, Any]:
        _core.check_regression_loss(self._loss())
        return super()._parameters()

    def _select(self, data: FitData) -> int | None:
        if data.parameters["similarity"] is None or data.parameters["normalization"] == "auto":
            # Candidates are compared by squared_error, independent of the loss of the fit. A fixed C prevents that
            # similar candidates are averaged.
            squared = {"loss": "squared_error", "epsilon": "auto", "quantile": 0.5, "C": 1.0, "basis": "index"}
            self._selected_on_some(data, **squared)
        data.end("choose")
        return None

    def _problem(self, data: FitData, features: Features) -> tuple[Rows, Any]:
        n, bases = int(np.count_nonzero(data.weighted.weights)), features.rows_of_bases
        arguments = [(one.targets, one.units_of_others(bases, n), bool(self.fit_intercept)) for one in data.pieces]
        rows = data.rows(features.called("ridge", arguments))
        return rows, (data.weighted, data.parameters["C"], data.parameters["loss"])


class BasisExpansionOneClass(DaskExpansion, _one_class.BasisExpansionOneClass):
    """`widemargin.BasisExpansionOneClass` for samples on several machines.

    X is a Dask array, data frame or bag. The bases are selected and sent to the workers once. Each partition becomes a
    block of similarities that stays on its worker and takes 4 bytes × bases × similarities per row. The products of the
    features are summed, and the leave-one-out decision value of every sample is sent to the client. Duplicate samples
    are not merged. The parameters are those of `widemargin.BasisExpansionOneClass`. Supported are the bases "index",
    "every", "random" and "auto" (or row indices) and built-in similarities. Automatic parameters of similarities are
    computed from the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionOneClass
        The fitted ordinary estimator, which does not need Dask.
    dask_report_ : dict
        The number of partitions, the numbers of solver tasks and of queries of each kind, and the seconds spent waiting
        for results.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from widemargin.dask import BasisExpansionOneClass
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(200, 2)), chunks=100)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     detector = BasisExpansionOneClass("rbf:gamma=0.5", n_basis=50).fit(X)
    >>> detector.predict(np.array([[0.0, 0.0], [9.0, 9.0]])).tolist()
    [1, -1]
    """

    plain = _one_class.BasisExpansionOneClass
    _summary = staticmethod(_data.sample_summary)
    _cut = "precise-millionth"

    def _targets_of(self, y: Any, present: list[_data.Summary], copies: Floats | None) -> _core.WeightedTargets:
        return _core.WeightedTargets(np.ones((sum(one.n for one in present), 1)), copies, False)

    def _select(self, data: FitData) -> int | None:
        if data.parameters["normalization"] == "auto":
            some = np.flatnonzero(data.weighted.weights)[:100]
            alone = self.plain(self.similarity, kind=self.kind).fit(data.picked_samples(some))
            data.parameters["normalization"] = normalization_of(alone.set_params(normalization=alone.normalization_))
        return None

    def _problem(self, data: FitData, features: Features) -> tuple[Rows, Any]:
        arguments = [(one.targets, one.weights, False) for one in data.pieces]
        # Leave-one-out decision values are needed in the order of the samples.
        rows = data.ordered_rows(features.called("ridge", arguments))
        return rows, (data.weighted, data.parameters["quantile"], data.parameters["shrinkage"])

    def _output(self, method: str) -> tuple[npt.DTypeLike, Sequence[Any] | None]:
        return np.int64 if method == "predict" else np.float64, None

    def score_samples(self, X: object) -> LazyResult:
        """Computes the score of each sample, lazily for a Dask collection."""
        return self._here_or_lazily("score_samples", X)

    def decision_function(self, X: object) -> LazyResult:
        """Computes ``score_samples`` minus the threshold, lazily for a Dask collection."""
        return self._here_or_lazily("decision_function", X)


class DaskThinPlate(DaskEstimator):
    """Must precede a thin plate estimator in the bases of a class."""

    def _parameters(self: Any) -> dict[str, Any]:
        if self.n_basis is None:
            why = "the exact solver needs the kernel of all pairs of samples on one machine"
            raise invalid(self, "n_basis", f"must be a number of bases on Dask: {why}")
        if self.standardize is True:
            instead = "divide the columns by their standard deviations first (dask.dataframe.DataFrame.std)"
            raise invalid(self, "standardize", f"must be 'auto' or False on Dask: {instead}")
        return super()._parameters()  # type: ignore[misc]

    def _train(self: Any, data: FitData) -> tuple[_core.Model, Rows]:
        self._name_columns(data)
        parameters = data.parameters
        if parameters["kernel"] == "auto":
            parameters["kernel"] = self._selected_kernel(data) if parameters["C"] is None else "distance"
            data.end("kernel")
        bases, basis_rows = self._bases(data, parameters["basis"])
        data.end("bases")
        # Leave-one-out of a regression is for fixed bases.
        units = (one.units_of_others(basis_rows, data.n) if is_classifier(self) else one.units for one in data.present)
        arguments = [(one.targets, own) for one, own in zip(data.present, units, strict=True)]
        features = BasisFeatures(data, arguments)
        own: dict[str, Any] = {"bases": bases, "basis_rows": basis_rows.tolist()}
        names = ("kernel", "C", "basis", "polynomials", "loss")
        own |= {name: parameters[name] for name in names if name in parameters}
        model = _core.fit_thin_plate_remote(features.samples, features, data.weighted, **own, **self._finish(data))
        return model, features.rows

    def _selected_kernel(self: Any, data: FitData) -> str:
        """The kernel that an ordinary fit on some of the samples selects."""

        def finite(samples: Any) -> Any:
            # Otherwise the computation of the features raises an error that names the partition.
            values = samples.data if issparse(samples) else np.asarray(samples, float)
            return samples if np.isfinite(values).all() else None

        some = self._fit_on_some(data, KERNEL_SAMPLES, finite, n_basis=None, standardize=False)
        return "distance" if some is None else str(some.similarity_)

    def _bases(self: Any, data: FitData, basis: str) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Bases and their rows, which are empty if bases are means."""
        seed = self._seed()
        n_basis = min(DEFAULT_BASES, data.n) if isinstance(self.n_basis, str) else int(self.n_basis)
        weights = data.weighted.weights
        rows = _core.basis_candidates(weights, basis, n_basis, seed)
        bases, selected = _core.choose_thin_plate_bases(
            data.picked_vectors(rows), weights[rows], basis, n_basis, seed, self._threads()
        )
        return bases, rows[selected]


class ThinPlateSVC(DaskClassifier, DaskThinPlate, _thin_plate.ThinPlateSVC):
    """`widemargin.ThinPlateSVC` for samples on several machines (`n_basis` must not be None).

    X is a Dask array (of NumPy arrays or sparse rows) or data frame, y a Dask array or series split at the same rows as
    X (or, if the partitions of X have known lengths, an array in memory). The bases are selected on the client from 25
    samples per basis. Each partition becomes a block of features that stays on its worker and takes 8 bytes × (bases +
    polynomials) per row. A Newton step for all classes is one round of tasks, and so is leave-one-out for one value of
    C. X is read three times, for the labels, the bases and the features; in the last pass, it is stored until the
    blocks are computed.

    The parameters are those of `widemargin.ThinPlateSVC`. ``n_basis="auto"`` is 1,000 bases, and with
    ``standardize="auto"`` columns are not scaled. The kernel "auto" is selected on at most 1,000 samples on the client.
    Unlike on one machine, duplicate samples are not merged.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateSVC
        The fitted ordinary estimator, which does not need Dask.
    dask_report_ : dict
        The number of partitions, the numbers of solver tasks and of queries of each kind, and the seconds spent waiting
        for results.

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

    plain = _thin_plate.ThinPlateSVC
    _parameter_constraints = _thin_plate.ThinPlateSVC._parameter_constraints | {"C": CONSTRAINTS["C"]}

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        if self._is_multilabel:
            return weighted.weights[rows], {}
        codes, own = weighted.codes[rows], weighted.sample_weights[rows]
        factors = weighted.weights[rows] / np.where(own > 0, own, 1.0)
        return own, {"class_weight": {self.classes_[code]: factors[codes == code].max() for code in np.unique(codes)}}


class ThinPlateRegressor(DaskRegressor, DaskThinPlate, _thin_plate.ThinPlateRegressor):
    """`widemargin.ThinPlateRegressor` for samples on several machines (`n_basis` must not be None).

    X is a Dask array (of NumPy arrays or sparse rows) or data frame, y a Dask array, series or data frame split at the
    same rows as X (or, if the partitions of X have known lengths, an array in memory). The bases are selected on the
    client from 25 samples per basis. Each partition becomes a block of features that stays on its worker and takes 8
    bytes × (bases + polynomials) per row. The selected C is the same as on one machine with the same bases.

    The parameters are those of `widemargin.ThinPlateRegressor`. ``n_basis="auto"`` is 1,000 bases, and with
    ``standardize="auto"`` columns are not scaled. The kernel "auto" is selected on at most 1,000 samples on the client.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateRegressor
        The fitted ordinary estimator, which does not need Dask.
    dask_report_ : dict
        The number of partitions, the numbers of solver tasks and of queries of each kind, and the seconds spent waiting
        for results.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin.dask import ThinPlateRegressor
    >>> X, y = (da.from_array(part, chunks=100) for part in load_diabetes(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     regressor = ThinPlateRegressor(n_basis=50).fit(X, y)
    ...     r2 = regressor.score(X, y)
    >>> r2 > 0.4
    True
    """

    plain = _thin_plate.ThinPlateRegressor


class PowerMeanSVC(DaskClassifier, _power_mean.PowerMeanSVC):
    """`widemargin.PowerMeanSVC` for samples on several machines.

    X is a Dask array (of NumPy arrays or sparse rows) or data frame, y a Dask array or series split at the same rows as
    X (or, if the partitions of X have known lengths, an array in memory). With a symmetric approximation, the model is
    linear in a few numbers v(x) per feature. Each partition becomes a block of these numbers that stays on its worker
    and takes 8 bytes × nodes per nonzero value (or 4 bytes × nodes per feature, if that is less). Newton's method
    computes the weights. X is read twice, for the labels and for the histograms, which are stored until the blocks are
    computed.

    The parameters are those of `widemargin.PowerMeanSVC` with ``loss="squared_hinge"`` and
    ``approximation="nystroem"``; `max_iter` is the maximum number of Newton steps. The nodes depend on the values in
    all partitions, rounded to 12 bits if there are more than 65,536 distinct values. Automatic parameters are selected
    on at most 1,000 samples on the client.

    Attributes
    ----------
    estimator_ : widemargin.PowerMeanSVC
        The fitted ordinary estimator, which does not need Dask.
    dask_report_ : dict
        The number of partitions, the numbers of solver tasks and of queries of each kind, and the seconds spent waiting
        for results.

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

    plain = _power_mean.PowerMeanSVC
    # The hinge loss is solved in the dual, which is not a sum over rows, and the polynomial, which is not symmetric,
    # has only a dual.
    _losses = ("squared_hinge",)
    _approximations = ("nystroem",)

    def _train(self, data: FitData) -> tuple[_core.Model, Rows]:
        parameters = data.parameters
        kernel, C, n_nodes, nodes = (parameters[name] for name in ("kernel", "C", "n_nodes", "nodes"))
        self._name_columns(data)
        samples = data.samples()
        rows, selected = data.rows(samples), None
        if C is None or n_nodes is None or kernel == "auto":
            factors, _ = _core.scale_and_reduce(rows, "chi2", 3, None, parameters["scale"])
            some = self._fit_on_some(
                data, KERNEL_SAMPLES, partial(_scaled, factors), scale=False, tol=0.01, max_iter=1000
            )
            kernel = some.similarity_ if kernel == "auto" else kernel
            C, n_nodes, selected = some.C_, n_nodes or len(some.nodes_), some._model
            data.end("choose")
        factors, reduced = _core.scale_and_reduce(rows, kernel, n_nodes, nodes, parameters["scale"])
        data.end("nodes")

        shared = data.shared(reduced), data.shared(factors)
        arguments = [(one.targets, C, parameters["loss"], *shared) for one in data.present]
        linear = data.called(samples, "power_mean", arguments)
        rows = data.rows(linear)
        # Workers drop results without references.
        del samples, linear
        data.end("features")
        own = {"map": reduced, "nodes": nodes, "factors": factors, "C": C, "selected": selected}
        model = _core.fit_power_mean_remote(rows, data.weighted, **own, **self._finish(data))
        return model, rows


def _scaled(factors: list[float] | None, samples: Any) -> Any:
    """Samples with scaled columns, if there are factors."""
    if factors is None:
        return samples
    return samples.multiply(factors).tocsr() if issparse(samples) else np.asarray(samples) * factors


class BasisFeatures:
    """Features on bases, computed by the parts of samples with the arguments of each part."""

    def __init__(self, data: FitData, arguments: list[tuple[Any, ...]]) -> None:
        self._data, self._arguments = data, arguments
        self._samples = data.samples()
        self._plan: Future | None = None
        # The samples, and their latest features.
        self.samples = self.rows = data.rows(self._samples)

    def __call__(self, plan: _core.BasisPlan, lift: _core._Lift) -> Rows:
        self._plan = self._plan or self._data.shared(plan)
        shared = self._plan, self._data.shared(lift)
        arguments = ((*own, *shared) for own in self._arguments)
        self.rows = self._data.rows(self._data.called(self._samples, "on_bases", arguments))
        if lift[-1] is not None:
            # These are the last features: workers drop results without references.
            self._samples.clear()
            self.samples.forget()
        return self.rows


class Features:
    """The features of all samples: similarities to the bases, and their normalization.

    Attributes of the samples, such as their kind, are copied from the expansion to the estimator.
    """

    def __init__(self, estimator: Any, data: FitData, rows: npt.NDArray[np.int64]) -> None:
        self._data, self.rows_of_bases = data, rows
        name = data.parameters["normalization"]
        fixed = normalization_parameters("none" if name in LEARNED else name)
        fixed |= {"basis": np.arange(len(rows)), "n_jobs": 1, "kind": estimator.kind}
        raw = _expansions.BasisExpansion(data.parameters["similarity"], n_basis=len(rows), **fixed)
        raw._nystroem_cut = estimator._cut
        # The bases do not determine the types of the columns.
        raw._encodes = False
        raw.fit(data.picked_samples(rows))
        if name in LEARNED:
            raw._model = _core.unnormalized(raw._model)
        data.end("bases")
        shared = data.shared(raw)
        parts = [delayed(_rows.feature_part)(one.number, shared, one.samples, one.weights) for one in data.pieces]
        self._parts: list[Future] = list(data.client.compute(parts))
        self.expansion, self.width = raw._model, raw._n_features_out
        if name in LEARNED:
            total = float(data.weighted.weights.sum())
            self.expansion = _core.normalized(self.expansion, name, data.rows(self._parts), total)
        data.end("similarity")
        estimator._resolved, estimator._columns = raw._resolved, None
        for attribute in ("n_features_in_", "feature_names_in_", "_n_channels", "kind_"):
            if hasattr(raw, attribute):
                setattr(estimator, attribute, getattr(raw, attribute))

    def called(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Future]:
        """Results of a method of the parts, with the expansion and the arguments of each part; releases the parts."""
        shared = self._data.shared(self.expansion)
        found = self._data.called(self._parts, method, ((shared, *own) for own in arguments))
        self._parts = []
        return found
