"""Regression on a basis expansion, and the smoothing spline."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions

from . import _core
from ._base import SHARED, FittedRegressor, c_of, fitting
from ._bases import normalization_of
from ._compares import Compares
from ._names import one_of
from ._types import Basis, RandomState, Samples, SimilarityLike, Targets, Weights
from .thin_plate import ThinPlate

LOSSES = ("squared_error", "huber", "squared_epsilon_insensitive", "quantile")


class BasisExpansionRegressor(Compares, FittedRegressor):
    """Regression for any similarity, definite or not, at the cost of a linear one.

    Samples are compared with a number of bases, the similarities are normalized, as for `BasisExpansionSVC`, and on
    these features ½‖w‖² + C Σ loss(y − f) is minimized, with an intercept that is not penalized. With the squared loss
    this is ridge regression, in closed form; with a positive definite kernel and all samples as bases it is kernel
    ridge regression. Huber's loss resists outliers, the squared ε-insensitive loss ignores small errors, and the
    quantile loss predicts quantiles. Automatic parameters are selected by an estimate of the error on new samples: by
    leave-one-out, or by folds for the quantile loss.

    Parameters
    ----------
    similarity : str, similarity, callable, or a list of these, default="auto"
        As for `BasisExpansionSVC`. "auto" compares candidates that suit the kind of samples on at most 400 of them,
        with the gamma of the best kernels; of dense vectors also weights of columns, those under which a Gaussian
        process makes the targets most likely, if they are likely. Candidates are always compared by squared_error,
        independent of `loss`.
    n_basis : int or "auto", default="auto"
        Number of bases; if there are fewer samples, all of them. "auto" is 1,000.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        The selection of bases from the training samples, as for `BasisExpansionSVC` with all samples in one class; or
        their row indices.
    normalization : str, default="auto"
        As for `BasisExpansionSVC`. "auto" is the better of "mean_norm" and what suits the similarity, by leave-one-out
        with squared_error.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        As for `BasisExpansionSVC`.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖w‖² + C Σ loss(y − f), above 0. "auto" is the C with the smallest estimated loss:
        by leave-one-out, or for "quantile" by five folds, which share the features. For several outputs, it is the C
        with the largest mean R², or D² for other losses. The path of losses other than squared_error ends at 100 times
        the best C.
    loss : {"squared_error", "huber", "squared_epsilon_insensitive", "quantile"}, default="squared_error"
        With r = y − f(x):

        - "squared_error": r².
        - "huber": r² from −ε to ε, beyond it 2ε abs(r) − ε².
        - "squared_epsilon_insensitive": max(0, abs(r) − ε)².
        - "quantile": qr for r > 0, (q − 1)r below: f is the quantile q of the targets at x.
    epsilon : float or "auto", default="auto"
        ε of "huber", above 0, and of "squared_epsilon_insensitive", at least 0, in the unit of the targets (in
        scikit-learn's `HuberRegressor` it is in units of a scale that is estimated with the coefficients). "auto" is
        selected for each output, by the spread of the leave-one-out residuals of a first fit, 1.4826 times their median
        absolute deviation: for "huber" 1.35 times the spread, after a fit whose own ε is 1.35 times the spread of the
        targets; for the other 3σ √(ln n / n), with n samples and σ the spread after a fit with ε = 0. Other losses
        accept no number.
    quantile : float, default=0.5
        q of "quantile", above 0 and below 1. Other losses accept no other value.
    fit_intercept : bool, default=True
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are called one at a time.
    random_state : int, RandomState or None, default=None
        None means a fixed seed: the same samples give the same model.
    verbose : int, default=0
    time_limit : float or None, default=None
        Limit in seconds; the search for a similarity uses at most half of it. If the limit does not allow a fit on all
        samples, the model is fitted to as many as it allows, and a warning states their number. With a loss other than
        squared_error the selection of ε and C uses at most half of the remaining time, and the solver stops with its
        current solution.
    kind : {"auto", "table", "series", "strings", "sets", "images", "graphs", "grids", "objects"}, default="auto"
        The kind of samples, as in `BasisExpansionSVC`.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of multichannel time series, as for `BasisExpansionSVC`.

    Attributes
    ----------
    C_ : float
        The C of the model, set or selected.
    epsilon_ : float or ndarray of shape (n_outputs,)
        ε, set or selected, in the unit of the targets, if the loss has one.
    cv_results_ : dict of arrays
        The candidates that were compared, if anything was "auto", and every C of the path of the selected one, as in
        `BasisExpansionSVC`: ``mean_test_score`` is R² of leave-one-out predictions, the mean over the outputs that are
        not constant, with its standard error ``std_test_score``; paths also have
        ``mean_test_neg_root_mean_squared_error``, the mean over the outputs, in the unit of the targets. Leave-one-out
        is exact for the features of the fit, with fixed bases. For losses other than squared_error the score of a path
        is D², 1 − loss / loss of the best constant, the mean over the outputs that a constant does not fit, and
        ``mean_test_neg_loss`` minus the mean leave-one-out loss: with "huber" and "squared_epsilon_insensitive" each
        refit is approximated by one Newton step from the solution, which is exact if it moves no other sample over a
        corner of the loss; for "quantile" a fit leaves out one of five folds.
    estimated_score_ : float
        R², or D² for losses other than squared_error, of the same predictions at `C_`.
    estimated_score_std_ : float
        The standard error of this estimate, for a fixed spread of the targets.
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each of several, with learned values.
    normalization_ : str
        The normalization of the fit.
    negative_eigenvalues_ : str
        The treatment of negative eigenvalues, for the normalizations "nystroem" and "centered".
    loss_ : str
    basis_indices_ : ndarray of int
        The training rows of the bases.
    basis_ : array or list
        The bases, in the form of the training samples.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights on the normalized similarities, part after part.
    intercept_ : float or ndarray of shape (n_outputs,)
    n_iter_ : int
    report_ : dict
        Seconds per stage, selected parameters, warnings.

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

    _reads_files = True
    _core_fit: ClassVar[Any] = staticmethod(_core.fit_basis_expansion_regressor)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "C": [Interval(Real, 0, None, closed="neither"), str],
        "epsilon": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "fit_intercept": ["boolean"],
        **SHARED,
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: SimilarityLike = "auto",
        *,
        n_basis: int | str = "auto",
        basis: Basis = "auto",
        normalization: str = "auto",
        negative_eigenvalues: str = "clip",
        C: float | str = "auto",
        loss: str = "squared_error",
        epsilon: float | str = "auto",
        quantile: float = 0.5,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
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
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
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
        return self._fit(X, y, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        loss, epsilon, quantile = self._loss()
        return {
            "normalization": normalization_of(self, "auto"),
            "C": c_of(self),
            "loss": loss,
            "epsilon": epsilon,
            "quantile": quantile,
            "has_intercept": bool(self.fit_intercept),
        }

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int, Any]:
        found = super()._training(X, y, sample_weight, parameters)
        self._search(parameters)
        return found

    def _loss(self) -> tuple[str, float | None, float | None]:
        """The loss in the library's notation, and its parameters."""
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        epsilon = None if isinstance(self.epsilon, str) else float(self.epsilon)
        # The default belongs to every loss.
        return loss, epsilon, None if self.quantile == 0.5 else float(self.quantile)

    def _strata(self, y: Any) -> npt.NDArray[np.uint32]:
        return np.zeros(len(y), dtype=np.uint32)

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        super()._restore(model, header)
        self.set_params(loss=header["loss"].replace("-", "_"))
        # Outputs that each have their own are refitted with what is selected.
        if len(epsilon := set(header.get("epsilon", []))) == 1:
            self.set_params(epsilon=epsilon.pop())


class ThinPlateRegressor(ThinPlate, FittedRegressor):
    """The smoothing spline: nonlinear regression without a length scale or a parameter to tune.

    Minimizes ½‖f‖² + C Σ (y − f)² over f = Σ α_i φ(‖x − x_i‖) + polynomials that are not penalized, as
    `scipy.interpolate.RBFInterpolator` does with ``smoothing=1 / (2 * C)``, with C by leave-one-out, which has a closed
    form. The result is invariant to translation of the data and to scaling as a whole, and with a kernel of the
    Euclidean distance and ``standardize=False`` to rotation. Without standardization it is not invariant to scaling of
    single columns: standardize columns with different units (``standardize=True``).

    Parameters
    ----------
    kernel : str or similarity, default="auto"
        ``"auto"``: "distance" or "cityblock", whichever has the lower leave-one-out error on at most 1,000 samples
        ("distance" if C is a number). Otherwise as for `ThinPlateSVC`. The smoother kernels come with polynomials, at
        least one per column, which are free; the distances, and kernels that need no polynomials, have only the
        constant.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖f‖² + C Σ (y − f)², above 0. "auto" is the C with the smallest leave-one-out
        squared error; for several outputs, the C with the largest mean R².
    n_basis : int, "auto" or None, default="auto"
        Number of bases; None is exact: every sample is a basis, memory grows with their square and time with their
        cube; the fit raises an error if it does not fit. "auto" is exact for up to 3,000 samples, otherwise 1,000.
    basis : {"kmeans", "kmedoids", "random", "index"}, default="kmeans"
        The selection of bases.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the selection of bases.
    verbose : int, default=0
    time_limit : float or None, default=None
        Limit in seconds, after which no further kernel or scaling is compared. If it does not allow a fit on all
        samples, the model is fitted to as many as it allows, and a warning states their number.
    standardize : bool or "auto", default="auto"
        First divide each column by its standard deviation; "auto", if C is "auto" and the columns' spreads differ by
        more than a factor of 3, selects the variant with the lower leave-one-out error on at most 1,000 samples (if C
        is a number, columns are not scaled). The model stores the factors.

    Attributes
    ----------
    C_ : float
        The C of the model, set or selected.
    similarity_ : str
        The spec of the kernel, set or selected.
    loss_ : str
        "squared_error".
    cv_results_ : dict of arrays
        The kernels and scalings that were compared, and every C of the path of the selected one, as in
        `BasisExpansionRegressor`. Leave-one-out is exact; on fewer bases for fixed bases.
    estimated_score_ : float
        R² of leave-one-out predictions at `C_`, the mean over the outputs that are not constant.
    estimated_score_std_ : float
        The standard error of this estimate, for a fixed spread of the targets.
    basis_ : ndarray of shape (n_basis, n_features)
        The bases; their columns divided by their standard deviation if they were standardized.
    basis_indices_ : ndarray of int
        The training row of each basis; empty if bases are means of samples.
    coef_ : ndarray of shape (n_basis,) or (n_outputs, n_basis)
        The coefficients α.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant polynomial.
    n_iter_ : int
    report_ : dict
        Seconds per stage, selected parameters, warnings.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        If X in ``fit`` is a data frame with names. Frames passed to ``predict`` may have their columns in any order.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin import ThinPlateRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = ThinPlateRegressor().fit(X[:300], y[:300])
    >>> bool(abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1)
    True
    """

    _core_fit: ClassVar[Any] = staticmethod(_core.fit_thin_plate_regressor)
    _instead = (
        "ThinPlateRegressor's kernels of vectors; on any similarity it is "
        "BasisExpansionRegressor({spec!r}, normalization='centered')"
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), str],
        "n_basis": [None, Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **SHARED,
        "standardize": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        kernel: SimilarityLike = "auto",
        *,
        C: float | str = "auto",
        n_basis: int | str | None = "auto",
        basis: str = "kmeans",
        n_jobs: int | None = None,
        random_state: RandomState = None,
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

    @fitting
    def fit(self, X: npt.ArrayLike, y: Targets, sample_weight: Weights = None) -> Self:
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
        return self._fit(X, y, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        return super()._parameters() | {"C": c_of(self)}
