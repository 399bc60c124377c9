"""Regression on a basis expansion, and the smoothing spline."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions

from . import _core
from ._base import SHARED, fitting
from ._bases import basis_of, normalization_of, normalization_parameters
from ._c_choice import c_of
from ._collect import collect
from ._columns import validated
from ._compares import Compares
from ._names import one_of
from ._nested import NestedSpecMixin
from ._regresses import FittedRegressor
from ._samples import from_vectors, pick
from ._specs import any_kind, is_auto, n_polynomials_of
from .similarity import resolve
from .thin_plate import BASIS_NAMES, kernel_of, standardize_of

LOSSES = ("squared_error", "huber", "squared_epsilon_insensitive", "quantile")
_TRIED = ("similarity", "normalization", "loo_r2", "problem", "n_samples", "seconds")
_TRIED_SPLINE = ("kernel", "standardized", "loo_r2", "problem", "n_samples", "seconds")
_ON_ANY = (
    "ThinPlateRegressor's kernels of vectors; on any similarity it is "
    "BasisExpansionRegressor({spec!r}, normalization='centered')"
)


class BasisExpansionRegressor(Compares, FittedRegressor):
    """Regression for any similarity, definite or not, at the cost of a linear one.

    Samples are compared with a number of bases, the similarities are normalized, as for `BasisExpansionSVC`, and on
    these features ½‖w‖² + C Σ loss(y − f) is minimized, with an intercept that is not penalized. With the squared loss
    this is ridge regression, in closed form; with a positive definite kernel and all samples as bases it is kernel
    ridge regression. Huber's loss resists outliers, the squared ε-insensitive loss ignores small errors, and the
    quantile loss predicts quantiles. What is "auto" is chosen by an estimate of the error of other samples, which is
    by leave-one-out but for the quantile loss.

    Parameters
    ----------
    similarity : str, similarity, callable, or a list of these, default="auto"
        As for `BasisExpansionSVC`. "auto" compares candidates that suit the kind of samples on at most 400 of them,
        with the gamma of the best kernels; of dense vectors also weights of columns, those under which a Gaussian
        process makes the targets most likely, if they are likely. Candidates are always compared by the squared loss,
        whatever `loss` is.
    n_basis : int or "auto", default="auto"
        Number of bases; if there are fewer samples, all of them. "auto" is 1,000.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        How bases are selected from the training samples, as for `BasisExpansionSVC` with all samples in one class; or
        their row numbers.
    normalization : str, default="auto"
        As for `BasisExpansionSVC`. "auto" is the better of "mean_norm" and what suits the similarity, by leave-one-out
        with the squared loss.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        As for `BasisExpansionSVC`.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖w‖² + C Σ loss(y − f), above 0. "auto" is the C with the least estimated loss: by
        leave-one-out, for "quantile" by five folds, which share the features. Of several outputs, it is the one C with
        the largest mean R², or D² of another loss. The path of another loss than the squared one ends when C is a
        hundred times the best.
    loss : {"squared_error", "huber", "squared_epsilon_insensitive", "quantile"}, default="squared_error"
        With r = y − f(x):

        - "squared_error": r².
        - "huber": r² from −ε to ε, beyond it 2ε abs(r) − ε².
        - "squared_epsilon_insensitive": max(0, abs(r) − ε)².
        - "quantile": qr for r > 0, (q − 1)r below: f is the quantile q of the targets at x.
    epsilon : float or "auto", default="auto"
        ε of "huber", above 0, and of "squared_epsilon_insensitive", at least 0, in the unit of the targets (in
        scikit-learn's `HuberRegressor` it is in units of a scale that is estimated with the coefficients). "auto" is
        chosen for each output, by the spread of the left-out residuals of a first fit, 1.4826 times their median
        absolute deviation: for "huber" 1.35 times the spread, after a fit whose own ε is 1.35 times the spread of the
        targets; for the other 3σ √(ln n / n), with n samples and σ the spread after a fit with ε = 0. Other losses take
        no number.
    quantile : float, default=0.5
        q of "quantile", above 0 and below 1. Other losses take no other value.
    fit_intercept : bool, default=True
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are called one at a time.
    random_state : int, RandomState or None, default=None
        None is a fixed seed: the same samples give the same model.
    verbose : int, default=0
    time_limit : float or None, default=None
        Seconds, half of which the search for a similarity may take. If the limit does not allow a fit on all samples,
        the model is fitted to as many as it allows, and a warning states how many. With a loss other than the squared
        one the choice of ε and C takes at most half of the time that is left, and the solver stops with its current
        solution.
    kind : {"auto", "table", "series", "strings", "sets", "images", "graphs", "grids", "objects"}, default="auto"
        What the samples are, as in `BasisExpansionSVC`.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of multichannel time series, as for `BasisExpansionSVC`.

    Attributes
    ----------
    C_ : float
        The C of the model, given or selected.
    epsilon_ : float or ndarray of shape (n_outputs,)
        ε, given or chosen, in the unit of the targets, if the loss has one.
    path_ : dict of ndarray
        For every C tried, ascending: "C", "loo_r2", and "loo_rmse" of shape (n_points, n_outputs). Of a C that was
        given the same, for it alone. Of other losses than the squared one "loo_d2" and "loo_loss" instead, the mean
        loss; of the quantile loss these are named "fold_d2" and "fold_loss".
    loo_error_ : float or ndarray of shape (n_outputs,)
        With the squared loss the root of the mean squared error of each sample by the fit without one copy of it, at
        `C_`, in the unit of the targets: exact for the features of the fit, whose bases stay as they are. With "huber"
        and "squared_epsilon_insensitive" the mean loss of these residuals, in the unit of the squared targets, with
        each refit approximated by one Newton step from the solution: exact where a refit moves no other sample over a
        corner of the loss. NaN where it says nothing. Not for "quantile".
    fold_error_ : float or ndarray of shape (n_outputs,)
        For "quantile": the mean loss of each sample by the fit without its fold, one of five, at `C_`, in the unit of
        the targets. Copies of a sample are in one fold. NaN for a single sample.
    estimated_score_ : float
        R² of the same predictions, the mean over the outputs that are not constant. Of other losses than the squared
        one it is D², 1 − loss / loss of the best constant, the mean over the outputs that a constant does not fit.
    kind_ : str
        What the samples were read as: a value of `kind`, or "precomputed".
    similarities_ : list of str
        The spec of each part, with learned values.
    normalization_ : str
        The normalization of the fit.
    negative_eigenvalues_ : str
        How negative eigenvalues were treated, for the normalizations "nystroem" and "centered".
    n_basis_ : int
        The number of bases.
    tried_ : list of dict
        What was found of each candidate, if anything was left open: its similarity and normalization, R² of left-out
        predictions on some of the samples (or the problem with it), the number of samples, and seconds.
    basis_indices_ : ndarray of int
        The training rows of the bases.
    bases_ : array or list
        The bases, as given.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights on the normalized similarities, part after part.
    intercept_ : float or ndarray of shape (n_outputs,)
    report_ : dict
        Seconds per stage, what was chosen and how, warnings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin import BasisExpansionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = BasisExpansionRegressor("z-score/rbf").fit(X[:300], y[:300])
    >>> bool(abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1)
    True
    >>> upper = BasisExpansionRegressor("z-score/rbf", loss="quantile", quantile=0.9).fit(X[:300], y[:300])
    >>> bool(0.8 < (y[300:] <= upper.predict(X[300:])).mean() < 1.0)
    True
    """

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True, "y_numeric": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "C": [Interval(Real, 0, None, closed="neither"), str],
        "epsilon": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "fit_intercept": ["boolean"],
        **{name: SHARED[name] for name in ("n_jobs", "random_state", "verbose", "time_limit")},
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: Any = "auto",
        *,
        n_basis: int | str = "auto",
        basis: Any = "auto",
        normalization: str = "auto",
        negative_eigenvalues: str = "clip",
        C: float | str = "auto",
        loss: str = "squared_error",
        epsilon: float | str = "auto",
        quantile: float = 0.5,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        time_limit: float | None = None,
        kind: str = "auto",
        layout: str = "auto",
    ) -> None:
        self.similarity = similarity
        self.n_basis = n_basis
        self.basis = basis
        self.normalization = normalization
        self.negative_eigenvalues = negative_eigenvalues
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.quantile = quantile
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.kind = kind
        self.layout = layout

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BasisExpansionRegressor:
        """Trains on samples of any kind that the similarity compares.

        Parameters
        ----------
        X : samples
            As for `BasisExpansionSVC`.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Finite numbers.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        BasisExpansionRegressor
            The fitted estimator itself.
        """
        normalization = normalization_of(self, "auto")
        loss, epsilon, quantile = self._loss()
        basis, basis_rows = basis_of(self.basis, self)
        searches = is_auto(self.similarity)
        resolved = any_kind(X, self.layout, self.kind) if searches else resolve(self.similarity, self.layout)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._columns = None
        if resolved.is_precomputed:
            collected, y = self._precomputed(X, y, sample_weight, n_polynomials_of(resolved.specs[0]))
            if self._columns is not None:
                basis, basis_rows = "index", self._base_rows
        else:
            collected = collect(self, X, resolved, reset=True)
        targets = self._targets(y, collected.n)
        chooses = normalization == "auto"
        given = "mean-norm" if chooses else normalization
        is_open = (searches or chooses) and not resolved.calls and not resolved.is_precomputed
        n_basis = None if isinstance(self.n_basis, str) else min(int(self.n_basis), max(collected.n, 1))
        with self._watched(X=X, y=y) as progress:
            model, tried = _core.fit_basis_expansion_regressor(
                collected.given,
                targets,
                self._weights(sample_weight, collected.n),
                similarity=resolved.similarities,
                search=([] if searches else resolved.specs, None if chooses else given) if is_open else None,
                n_basis=n_basis,
                basis=basis,
                basis_rows=basis_rows,
                normalization=given,
                C=c_of(self),
                loss=loss,
                epsilon=epsilon,
                quantile=quantile,
                has_intercept=bool(self.fit_intercept),
                common=self._common(progress),
            )
        self._keep(model)
        self.tried_ = [dict(zip(_TRIED, one, strict=True)) for one in tried]
        self._resolved = resolve(self.similarities_, self.layout) if searches else resolved
        if resolved.calls:
            self._python_bases = pick(X, self.basis_indices_)
        return self

    def _loss(self) -> tuple[str, float | None, float | None]:
        """The loss as the library names it, and what is given of its parameters."""
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        epsilon = None if isinstance(self.epsilon, str) else float(self.epsilon)
        # The default belongs to every loss.
        return loss, epsilon, None if self.quantile == 0.5 else float(self.quantile)

    def _strata(self, y: Any) -> npt.NDArray[np.uint32]:
        return np.zeros(len(y), dtype=np.uint32)

    def _describe(self, told: dict[str, Any]) -> None:
        super()._describe(told)
        self.similarities_ = told["similarity"]
        self.normalization_, self.negative_eigenvalues_ = normalization_parameters(told["normalization"]).values()
        self.n_basis_ = told["bases"].get("n", len(told["basis_rows"]))
        self.basis_indices_ = np.array(told["basis_rows"], dtype=np.int64)
        if "epsilon" in told:
            epsilon = np.array(told["epsilon"])
            self.epsilon_ = float(epsilon[0]) if self._is_flat else epsilon
        if getattr(self, "_columns", None) is not None:
            self.basis_indices_ = self._base_rows

    @property
    def coef_(self) -> npt.NDArray[np.float64]:
        """Weights on the normalized similarities."""
        weights = self._arrays()["weights"]
        return weights[0] if self._is_flat else weights

    @property
    def intercept_(self) -> Any:
        """One per output."""
        intercepts = self._arrays()["intercepts"]
        return float(intercepts[0]) if self._is_flat else intercepts

    def _facts(self) -> dict[str, str]:
        facts = super()._facts()
        return {
            "similarity": ", ".join(self.similarities_),
            "bases": str(len(self.basis_indices_)),
            **facts,
        }

    @classmethod
    def _restored(cls, model: _core.Model, told: dict[str, Any]) -> BasisExpansionRegressor:
        specs = told["similarity"]
        fitted = cls(specs[0] if len(specs) == 1 else specs)
        fitted._resolved = resolve(fitted.similarity)
        fitted._restore(model, told)
        return fitted

    def _restore(self, model: Any, told: dict[str, Any]) -> None:
        """Parameters and attributes from a model file's header."""
        self.set_params(
            C=told["C"],
            **normalization_parameters(told["normalization"]),
            loss=told["loss"].replace("-", "_"),
            quantile=told.get("quantile", 0.5),
            fit_intercept=told["intercept"] != "none",
        )
        # Outputs that each have their own are refitted with what is chosen.
        if len(epsilon := set(told.get("epsilon", []))) == 1:
            self.set_params(epsilon=epsilon.pop())
        super()._restore(model, told)
        self._restore_bases(told)


class ThinPlateRegressor(NestedSpecMixin, FittedRegressor):
    """The smoothing spline: nonlinear regression without a length scale, and with nothing to tune.

    Minimizes ½‖f‖² + C Σ (y − f)² over f = Σ α_i φ(‖x − x_i‖) + polynomials that are not penalized, as
    `scipy.interpolate.RBFInterpolator` does with ``smoothing=1 / (2 * C)``, with C by leave-one-out, which has a closed
    form. The result is invariant to translation of the data and to scaling as a whole, and with a kernel of the
    Euclidean distance and ``standardize=False`` to rotation. Without standardization it is not invariant to scaling of
    single columns: standardize columns with different units (``standardize=True``).

    Parameters
    ----------
    kernel : str or similarity, default="auto"
        ``"auto"``: "distance" or "cityblock", whichever has the lower leave-one-out error on at most 1,000 samples
        (with a given C "distance"). Otherwise as for `ThinPlateSVC`. The smoother kernels come with polynomials, at
        least one per column, which are free; the distances, and kernels that need no polynomials, have only the
        constant.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖f‖² + C Σ (y − f)², above 0. "auto" is the C with the least leave-one-out squared
        error; of several outputs, the one C with the largest mean R².
    n_basis : int, "auto" or None, default="auto"
        Number of bases; None is exact: every sample is a basis, memory grows with their square and time with their
        cube; the fit raises an error if it does not fit. "auto" is exact for up to 3,000 samples, otherwise 1,000.
    basis : {"kmeans", "kmedoids", "random", "index"}, default="kmeans"
        How bases are selected.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the selection of bases.
    verbose : int, default=0
    time_limit : float or None, default=None
        Seconds after which no further kernel or scaling is tried. If the limit does not allow a fit on all samples, the
        model is fitted to as many as it allows, and a warning states how many.
    standardize : bool or "auto", default="auto"
        First divide each column by its standard deviation; "auto", if C is "auto" and the columns' spreads differ by
        more than a factor of 3, selects the variant with the lower leave-one-out error on at most 1,000 samples (with a
        given C columns stay as they are). The model stores the factors.

    Attributes
    ----------
    C_ : float
        The C of the model, given or selected.
    lambda_ : float
        1/(2C) in units of the projected kernel's mean diagonal: comparable between data sets.
    path_ : dict of ndarray
        For every C tried, ascending: "C", "loo_r2", and "loo_rmse" of shape (n_points, n_outputs). Of a C that was
        given the same, for it alone.
    loo_error_ : float or ndarray of shape (n_outputs,)
        The root of the mean squared error of each sample by the fit without one copy of it, at `C_`, in the unit of the
        targets: exact; on bases with the bases as they are. NaN where it says nothing.
    estimated_score_ : float
        R² of the same predictions, the mean over the outputs that are not constant.
    kernel_ : str
        The kernel, given or chosen.
    tried_ : list of dict
        Where there was a choice, what was found of each kernel and scaling: R² of left-out predictions (or the problem
        with it), the number of samples, seconds.
    bases_ : ndarray of shape (n_bases, n_features)
        The bases; their columns divided by their standard deviation if they were standardized.
    dual_coef_ : ndarray of shape (n_bases,) or (n_outputs, n_bases)
    support_ : ndarray
        The training row of each basis; empty if bases are means of samples.
    report_ : dict
        Seconds per stage, what was chosen and how, warnings.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        If ``fit`` was given a data frame with names. Frames passed to ``predict`` may have their columns in any order.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin import ThinPlateRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = ThinPlateRegressor().fit(X[:300], y[:300])
    >>> bool(abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1)
    True
    """

    _spelled = ("kernel",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), str],
        "n_basis": [None, Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **{name: SHARED[name] for name in ("n_jobs", "random_state", "verbose", "time_limit")},
        "standardize": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        C: float | str = "auto",
        n_basis: int | str | None = "auto",
        basis: str = "kmeans",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        time_limit: float | None = None,
        standardize: bool | str = "auto",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.n_basis = n_basis
        self.basis = basis
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.standardize = standardize

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ThinPlateRegressor:
        """Trains on vectors.

        Parameters
        ----------
        X : array, sparse array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Finite numbers.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        ThinPlateRegressor
            The fitted estimator itself.
        """
        kernel, basis = kernel_of(self, _ON_ANY), one_of("basis", self.basis, BASIS_NAMES, estimator=self)
        X, y = self._validated(X, y, reset=True)
        targets = self._targets(y, X.shape[0])
        with self._watched(X=X, y=y) as progress:
            model, tried = _core.fit_thin_plate_regressor(
                from_vectors(X),
                targets,
                self._weights(sample_weight, X.shape[0]),
                kernel=kernel,
                C=c_of(self),
                standardize=standardize_of(self),
                n_basis=None if self.n_basis in (None, "auto") else int(self.n_basis),
                auto_basis=self.n_basis == "auto",
                basis=basis,
                common=self._common(progress),
            )
        self._keep(model)
        self.tried_ = [dict(zip(_TRIED_SPLINE, one, strict=True)) for one in tried]
        return self

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        how: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}
        how |= self._target_checks if reset else {}
        return validated(self, X, y, reset=reset, **how)

    def _collected(self, X: Any) -> _core._Collected:
        return from_vectors(self._validated(X, reset=False)), None

    def _describe(self, told: dict[str, Any]) -> None:
        super()._describe(told)
        self.lambda_, self.n_bases_ = told["lambda"], told["n_bases"]
        self.support_ = np.array(told["support"], dtype=np.int64)
        self.kernel_ = told["kernel"].replace("-", "_")

    @property
    def bases_(self) -> npt.NDArray[np.float64]:
        """The bases."""
        return self._arrays()["bases"]

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """α."""
        alphas = self._arrays()["coefficients"]
        return alphas[0] if self._is_flat else alphas

    def _facts(self) -> dict[str, str]:
        return {"kernel": self.kernel_, "bases": str(self.n_bases_), **super()._facts()}

    @classmethod
    def _restored(cls, model: _core.Model, told: dict[str, Any]) -> ThinPlateRegressor:
        name, colon, rest = told["kernel"].partition(":")
        fitted = cls(name.replace("-", "_") + colon + rest, C=told["C"], standardize=told["standardized"])
        if (bases := told["training"]["basis"]) != "none":
            fitted.set_params(n_basis=told["n_bases"], basis=bases)
        fitted._restore(model, told)
        fitted._restore_width(told["n_features"])
        return fitted
