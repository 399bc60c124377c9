"""The thin plate SVM, and the smoothing spline."""

from __future__ import annotations

from dataclasses import field
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ._base import CONSTRAINTS, POSITIVE, VectorModel, fitting, with_parameters
from ._compares import NestedSpecMixin
from ._parameters import SimilarityLike, Targets, Weights, one_of
from ._predictors import FittedRegressor, MarginClassifier
from ._report import Row, path_of
from ._sklearn import Interval, StrOptions
from ._specs import SIMILARITIES, kernels_of

_KERNELS = kernels_of("thin-plate")
_POLYNOMIALS = ("auto", "free", "penalized", "constant", "none")
_SELECTIONS = ("kmeans", "kmedoids", "random", "index")


@with_parameters
class ThinPlate(NestedSpecMixin, VectorModel):
    """What the thin plate SVM and the smoothing spline have in common."""

    kernel: SimilarityLike = field(default="auto", kw_only=False)
    C: float | str = "auto"
    n_basis: int | str | None = "auto"
    basis: str = "kmeans"
    standardize: bool | str = "auto"
    _method = "thin-plate"
    _spec_parameters = ("kernel",)
    _parameter_constraints = CONSTRAINTS | {"n_basis": [None, *CONSTRAINTS["n_basis"]]}

    def _parameters(self) -> dict[str, Any]:
        return {
            "kernel": self._kernel(),
            "C": self._fixed_C(),
            "standardize": {"auto": "auto", True: "yes", False: "no"}[self.standardize],
            "n_basis": "none" if self.n_basis is None else self.n_basis,
            "basis": one_of("basis", self.basis, _SELECTIONS, estimator=self),
        }

    def _kernel(self) -> str:
        """The spec of the kernel, or "auto"."""
        spec = str(getattr(self.kernel, "spec", self.kernel))
        name, colon, rest = spec.partition(":")
        if spec == "auto":
            return spec
        known = (kernel.replace("-", "_") for kernel in _KERNELS)
        if name.replace("_", "-").rpartition("/")[2] in SIMILARITIES and name.replace("-", "_") not in known:
            name = type(self).__name__
            instead = f"{name.replace('ThinPlate', 'BasisExpansion')}({spec!r}, normalization='centered')"
            wanted = f"{name}'s kernels of vectors; on any similarity it is {instead}"
            raise ValueError(f"kernel={spec!r} is not among {wanted}")
        return one_of("kernel", name, _KERNELS, estimator=self) + colon + rest

    @property
    def basis_(self) -> npt.NDArray[np.float64]:
        """The bases."""
        return self._arrays()["bases"]

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        name, colon, rest = header["kernel"].partition(":")
        stored = super()._stored_parameters(header)
        stored |= {"kernel": name.replace("-", "_") + colon + rest, "standardize": header["standardized"]}
        if header.get("per_class"):
            stored["C"] = "auto_per_class"
        # Files that do not state how bases were selected imply it if bases are not samples.
        basis = header.get("training", {}).get("basis", "none" if header["support"] else "kmeans")
        return stored if basis == "none" else stored | {"n_basis": header["n_bases"], "basis": basis}


@with_parameters
class ThinPlateSVC(ThinPlate, MarginClassifier):
    """A nonlinear SVM without a length scale, whose C is selected by leave-one-out, without a parameter to tune.

    Minimizes ½‖f‖² + C Σ max(0, 1 − y f)² over f = Σ α_i φ(‖x − x_i‖) + polynomials (Walder & Chapelle, *Learning with
    Transformation Invariant Kernels*, NIPS 2007). The result is invariant to translation of the data and to scaling as
    a whole, and with a kernel of the Euclidean distance and ``standardize=False`` to rotation: "cityblock", which
    ``kernel="auto"`` may select, and standardized columns depend on the axes. Without standardization it is not
    invariant to scaling of single columns: standardize columns with different units (``standardize=True``).

    Parameters
    ----------
    kernel : str or similarity, default="auto"
        ``"auto"``: "distance" or "cityblock", whichever has the lower leave-one-out loss on at most 1,000 samples
        ("distance" if C is a number). ``"distance"`` (−r), ``"cityblock"`` (−‖x − y‖₁), ``"thin_plate"`` (r² log r),
        ``"cubic"`` (r³), with a length scale ``"rbf:gamma=…"``, ``"laplacian:gamma=…"``, ``"log:gamma=…"``,
        ``"multiquadric:gamma=…"`` or ``"inverse_multiquadric:gamma=…"``, or an object of `widemargin.similarity`. The
        smoother kernels come with polynomials, at least one per column; the distances have only the constant, which
        makes them the safest with many columns.
    C : float, "auto" or "auto_per_class", default="auto"
        The weight of the losses, above 0. "auto" selects the best of a path by leave-one-out. "auto_per_class" selects
        C, and the treatment of the polynomials, for each class separately, by the leave-one-out loss of its own
        problem; this needs a fit for each class, and the error of the whole model is not estimated.
    polynomials : {"auto", "free", "penalized", "constant", "none"}, default="auto"
        The treatment of the polynomials that the kernel does not penalize: they are free, are penalized at the kernel's
        own scale (except the constant), or are dropped (all but the constant, or all). "auto" leaves them free if there
        are at least 100 samples for each and they alone do not separate the data. Otherwise it penalizes them or drops
        all but the constant, whichever has the lower leave-one-out loss; on bases, in passes over partitions and
        under a time limit it penalizes them.
    n_basis : int, "auto" or None, default="auto"
        Number of bases; None is exact: every sample is a basis, and memory grows quadratically; the fit raises an
        error if it does not fit. "auto" is exact for up to 5,000 samples of two classes (of more, divided by the
        cube root of their number: 2,300 of ten), otherwise 1,000.
    basis : {"kmeans", "kmedoids", "random", "index"}, default="kmeans"
        The selection of bases.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-10
        The largest violation of the optimality conditions, in units of the margin.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the selection of bases.
    verbose : int, default=0
    time_limit : float or None, default=None
        Limit in seconds. A solver that has not converged by then stops with its current solution, and a warning states
        the gap reached. If the limit does not allow a fit on all samples, the model is fitted to as many as it allows,
        and a warning states their number.
    standardize : bool or "auto", default="auto"
        First divide each column by its standard deviation; "auto", if C is "auto" and the columns' spreads differ by
        more than a factor of 3, selects the variant with the lower leave-one-out loss (if C is a number, columns
        are not scaled). The model stores the factors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; for multilabel targets the indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels: the column names of a data frame, or their indices. Only for multilabel targets.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The estimated accuracy of each label, as in `estimated_score_`. Only for multilabel targets.
    C_ : float or ndarray of shape (n_classes,)
        The C of the model, set or selected; with ``C="auto_per_class"`` and three classes or more that of each class.
    similarity_ : str
        The spec of the kernel, set or selected.
    loss_ : str
        "squared_hinge".
    cv_results_ : dict of arrays
        The kernels that were compared, and every C of the path of the selected one, as in `BasisExpansionSVC`; with
        ``C="auto_per_class"`` of the path of each class, ``param_label``. Of the path also ``lambda``, 1/(2C) in units
        of the projected kernel's mean diagonal, which is comparable between data sets, ``objective``, ``violators`` and
        ``steps``. If ``loo_exact`` is 1 the leave-one-out estimates come from refits without each sample: at the
        selected C, with all samples as bases, up to 10,000 samples. Otherwise they assume that leaving out a sample
        lets no other sample cross the margin, which is suitable for comparing values of C, not for estimating the
        error. On fewer bases ``fold_error`` does, at the selected C (otherwise NaN): the error in five-fold
        cross-validation, by refits on the same bases without each fifth of the samples.
    polynomials_ : str
    estimated_score_ : float
        The estimated accuracy of this model on new samples, by leave-one-out or five folds: see `BasisExpansionSVC`.
    estimated_score_std_ : float
        The standard error of this estimate.
    basis_ : ndarray of shape (n_basis, n_features)
        The bases; their columns divided by their standard deviation if they were standardized.
    basis_indices_ : ndarray of int
        The training row of each basis; empty if bases are means of samples.
    coef_ : ndarray of shape (n_problems, n_basis)
        The coefficients α.
    intercept_ : ndarray of shape (n_problems,)
        The constant polynomial.
    n_iter_ : int
    report_ : dict
        Status, objectives, duality gaps, seconds per stage, warnings.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        If X in ``fit`` is a data frame with names. Frames passed to ``predict`` may have their columns in any order.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from widemargin import ThinPlateSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> svc = ThinPlateSVC().fit(X, y)

    The unit of the columns does not matter:

    >>> in_thousandths = ThinPlateSVC().fit(1000 * X, y)
    >>> bool((in_thousandths.predict(1000 * X) == svc.predict(X)).all())
    True
    """

    polynomials: str = "auto"
    tol: float = 1e-10
    _parameter_constraints = ThinPlate._parameter_constraints | {
        "C": [POSITIVE, StrOptions({"auto", "auto_per_class"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    @fitting
    def fit(self, X: npt.ArrayLike, y: Targets, sample_weight: Weights = None) -> Self:
        """Trains on vectors.

        Parameters
        ----------
        X : array, sparse array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Classes, or a multilabel indicator matrix, dense or sparse: 1 for labels of the sample, 0 for other labels,
            NaN for unknown ones.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        ThinPlateSVC
            The fitted estimator itself.
        """
        return self._fit(X, y, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        polynomials = one_of("polynomials", self.polynomials, _POLYNOMIALS, estimator=self)
        per_class = {"C": "auto-per-class"} if self.C == "auto_per_class" else {}
        return super()._parameters() | {"polynomials": polynomials} | per_class

    def _path(self, header: dict[str, Any]) -> list[Row]:
        labels = self.label_names_ if self._is_multilabel else self.classes_
        of_classes = zip(labels.tolist(), header.get("per_class", []), strict=False)
        rows = [row for label, one in of_classes for row in path_of(one["path"], one["C"], label=label)]
        return rows or super()._path(header)

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        self.loss_ = "squared_hinge"
        if per_class := header.get("per_class"):
            self.C_ = np.array([one["C"] for one in per_class])


@with_parameters
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
