"""The thin plate SVM and the smoothing spline."""

from __future__ import annotations

from dataclasses import field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ._base import CONSTRAINTS, POSITIVE, VectorModel, with_parameters
from ._compares import NestedSpecMixin
from ._parameters import SimilarityLike, one_of
from ._predictors import FittedRegressor, MarginClassifier
from ._report import Row, path_of
from ._sklearn import Interval, StrOptions
from ._spec_texts import SIMILARITIES, kernels_of

_KERNELS = kernels_of("thin-plate")
_POLYNOMIALS = ("auto", "free", "penalized", "constant", "none")
_SELECTIONS = ("kmeans", "kmedoids", "random", "index")


@with_parameters
class ThinPlate(NestedSpecMixin, VectorModel):
    """Common parts of the thin plate SVM and the smoothing spline."""

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

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        self.standardize_ = bool(header["standardized"])

    def _kernel(self) -> str:
        """The spec of the kernel, or "auto"."""
        spec = str(getattr(self.kernel, "spec", self.kernel))
        name, colon, rest = spec.partition(":")
        name = name.replace("-", "_")
        if spec == "auto":
            return spec
        if name.replace("_", "-").rpartition("/")[2] in SIMILARITIES and name not in _KERNELS:
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
        basis = header.get("training", {}).get("basis", "none" if header["basis_rows"] else "kmeans")
        return stored if basis == "none" else stored | {"n_basis": header["n_bases"], "basis": basis}


@with_parameters
class ThinPlateSVC(ThinPlate, MarginClassifier):
    """Nonlinear SVM without a length scale, whose C is selected by leave-one-out: there is no parameter to tune.

    Minimizes ½‖f‖² + C Σ loss(y f) over f = Σ α_i φ(‖x − x_i‖) + polynomials (Walder & Chapelle, *Learning with
    Transformation Invariant Kernels*, NIPS 2007). The result does not change if the data are translated or scaled by a
    common factor. With a kernel of the Euclidean distance and ``standardize=False``, it does not change under rotation
    either, unlike with the kernel "cityblock", which ``kernel="auto"`` may select. Scaling a single column changes the
    result unless columns are standardized: if the columns have different units, use ``standardize=True``.

    Parameters
    ----------
    kernel : str or similarity, default="auto"
        The kernel. ``"auto"`` selects "distance" or "cityblock", whichever has the lower leave-one-out loss on at most
        1,000 samples ("distance" if C is a number). Kernels without a length scale are ``"distance"`` (−r),
        ``"cityblock"`` (−‖x − y‖₁), ``"thin_plate"`` (r² log r) and ``"cubic"`` (r³); kernels with a length scale are
        ``"rbf:gamma=…"``, ``"laplacian:gamma=…"``, ``"log:gamma=…"``, ``"multiquadric:gamma=…"`` and
        ``"inverse_multiquadric:gamma=…"``. An object of `widemargin.similarity` is also accepted. "thin_plate" and
        "cubic" add polynomials to the model, at least one per column. The distances add only a constant, which makes
        them the safest choice for data with many columns.
    C : float, "auto" or "auto_per_class", default="auto"
        The weight of the losses; must be above 0. "auto" selects the best C on a regularization path by leave-one-out.
        "auto_per_class" selects C and the treatment of the polynomials for each class separately, by the leave-one-out
        loss of its binary problem; this requires one fit per class.
    loss : {"squared_hinge", "squared_error", "hinge"}, default="squared_hinge"
        The loss: max(0, 1 − y f)², (1 − y f)² or max(0, 1 − y f). With "hinge", all samples are bases unless `n_basis`
        is a number, kernels are compared with "squared_hinge", and five-fold cross-validation takes the place of
        leave-one-out.
    polynomials : {"auto", "free", "penalized", "constant", "none"}, default="auto"
        The treatment of the polynomials that the kernel does not penalize: "free" leaves them unpenalized, "penalized"
        penalizes them on the scale of the kernel (except the constant), "constant" drops all but the constant, and
        "none" drops all. "auto" is "free" if there are at least 100 samples per polynomial and the polynomials alone do
        not separate the data. Otherwise it is "penalized" or "constant", whichever has the lower leave-one-out loss;
        with bases, with samples that are read in blocks, and with a time limit, it is "penalized".
    n_basis : int, "auto" or None, default="auto"
        Number of bases. With None, the solution is exact: every sample is a basis. Memory then grows with the square of
        the number of samples, and an error is raised if it is insufficient. "auto" is exact for up to 5,000 samples of
        two classes, and otherwise 1,000 bases. The limit is divided by the cube root of the number of binary problems:
        2,300 samples for ten classes.
    basis : {"kmeans", "kmedoids", "random", "index"}, default="kmeans"
        How the bases are selected from the training samples: the centers of k-means clusters, medoids, a random subset,
        or the first samples.
    class_weight : dict, "balanced" or None, default=None
        Class weights, which multiply the sample weights: a dictionary from classes to weights (1 for classes that are
        not in it), or "balanced" for weights inversely proportional to the class frequencies.
    tol : float, default=1e-10
        Tolerance: the largest violation of the optimality conditions, in units of the margin.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the selection of the bases.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. A solver that has not converged by then returns its current solution, with a warning that
        reports the duality gap. If the limit is too short for a fit on all samples, the model is fitted on a subset,
        with a warning that reports the size of the subset.
    standardize : bool or "auto", default="auto"
        Whether to divide each column by its standard deviation. "auto" does so if C is "auto", the spreads of the
        columns differ by more than a factor of 3, and it lowers the leave-one-out loss; if C is a number, columns are
        not scaled. The model stores the scaling factors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels; for multilabel targets, the indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels: the column names of y if it is a data frame, otherwise their indices. Only for
        multilabel targets.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The estimated accuracy for each label; see `estimated_score_`. Only for multilabel targets.
    C_ : float or ndarray of shape (n_classes,)
        The value of C, set or selected. With ``C="auto_per_class"`` and three or more classes, one value per class.
    similarity_ : str
        The spec of the kernel, set or selected.
    standardize_ : bool
        Whether columns are divided by their standard deviations, set or selected.
    kind_ : str
        The kind of samples: always "table".
    loss_ : str
        Always "squared_hinge".
    cv_results_ : dict of arrays
        The kernels and scalings that were compared, and all values of C on the path of the selected one, as in
        `BasisExpansionSVC`; with ``C="auto_per_class"``, on the path of each class, which is ``param_label``. Entries
        of a path also have ``lambda``, which is 1/(2C) in units of the mean diagonal of the projected kernel and
        comparable between data sets, ``objective``, ``n_support`` and ``steps``. If ``loo_exact`` is 1, the
        leave-one-out estimates come from refits without each sample; this is the case at the selected C if all samples
        are bases, for up to 10,000 samples. Otherwise they assume that no other sample crosses the margin when one is
        left out; they are then suitable for comparing values of C, but not as estimates of the error. With fewer bases,
        ``fold_error`` is an estimate of the error at the selected C (otherwise NaN), from five-fold cross-validation
        with refits on the same bases.
    polynomials_ : str
        The treatment of the polynomials, set or selected.
    estimated_score_ : float
        The estimated accuracy on new samples, by leave-one-out or five-fold cross-validation; see `BasisExpansionSVC`.
    estimated_score_std_ : float
        The standard error of `estimated_score_`.
    basis_ : ndarray of shape (n_basis, n_features)
        The bases; if columns were standardized, divided by the standard deviations of the columns.
    basis_indices_ : ndarray of int
        The index of each basis among the training samples; empty if bases are means of samples.
    coef_ : ndarray of shape (n_problems, n_basis)
        The coefficients α.
    intercept_ : ndarray of shape (n_problems,)
        The coefficient of the constant polynomial.
    n_iter_ : int
        The number of iterations of the solver; the maximum over all problems.
    report_ : dict
        Solver status, objective values, duality gaps, seconds per stage, and warnings.
    n_features_in_ : int
        The number of features of the training samples.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` is a data frame. The columns of frames passed to ``predict`` may be
        in any order.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from widemargin import ThinPlateSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> svc = ThinPlateSVC().fit(X, y)

    A common unit of all columns does not affect predictions:

    >>> in_thousandths = ThinPlateSVC().fit(1000 * X, y)
    >>> bool((in_thousandths.predict(1000 * X) == svc.predict(X)).all())
    True
    """

    loss: str = "squared_hinge"
    polynomials: str = "auto"
    tol: float = 1e-10
    _losses: ClassVar[tuple[str, ...]] = ("squared_hinge", "squared_error", "hinge")
    _parameter_constraints = ThinPlate._parameter_constraints | {
        "C": [POSITIVE, StrOptions({"auto", "auto_per_class"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    def _parameters(self) -> dict[str, Any]:
        polynomials = one_of("polynomials", self.polynomials, _POLYNOMIALS, estimator=self)
        loss = one_of("loss", self.loss, self._losses, estimator=self)
        per_class = {"C": "auto-per-class"} if self.C == "auto_per_class" else {}
        return super()._parameters() | {"loss": loss, "polynomials": polynomials} | per_class

    def _path(self, header: dict[str, Any]) -> list[Row]:
        labels = self.label_names_ if self._is_multilabel else self.classes_
        of_classes = zip(labels.tolist(), header.get("per_class", []), strict=False)
        rows = [row for label, one in of_classes for row in path_of(one["path"], one["C"], label=label)]
        return rows or super()._path(header)

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if per_class := header.get("per_class"):
            self.C_ = np.array([one["C"] for one in per_class])


@with_parameters
class ThinPlateRegressor(ThinPlate, FittedRegressor):
    """Smoothing spline: nonlinear regression without a length scale or a parameter to tune.

    Minimizes ½‖f‖² + C Σ (y − f)² over f = Σ α_i φ(‖x − x_i‖) + polynomials, which are not penalized: the solution is
    that of `scipy.interpolate.RBFInterpolator` with ``smoothing=1 / (2 * C)``. C is selected by leave-one-out, in
    closed form. The result does not change if the data are translated or scaled by a common factor and, with a kernel
    of the Euclidean distance and ``standardize=False``, if they are rotated. Scaling a single column changes the result
    unless columns are standardized: if the columns have different units, use ``standardize=True``.

    Parameters
    ----------
    kernel : str or similarity, default="auto"
        The kernel. ``"auto"`` selects "distance" or "cityblock", whichever has the lower leave-one-out error on at most
        1,000 samples ("distance" if C is a number). The other kernels are listed in `ThinPlateSVC`. "thin_plate" and
        "cubic" add unpenalized polynomials to the model, at least one per column; the distances, and kernels that need
        no polynomials, add only a constant.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖f‖² + C Σ (y − f)²; must be above 0. "auto" selects the C with the smallest
        leave-one-out squared error, or, with several outputs, the C with the largest mean R².
    n_basis : int, "auto" or None, default="auto"
        Number of bases. With None, the solution is exact: every sample is a basis. Memory then grows with the square
        and time with the cube of the number of samples, and an error is raised if the memory is insufficient. "auto" is
        exact for up to 3,000 samples, and otherwise 1,000 bases.
    basis : {"kmeans", "kmedoids", "random", "index"}, default="kmeans"
        How the bases are selected from the training samples: the centers of k-means clusters, medoids, a random subset,
        or the first samples.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the selection of the bases.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds, after which no further kernel or scaling is compared. If the limit is too short for a fit
        on all samples, the model is fitted on a subset, with a warning that reports the size of the subset.
    standardize : bool or "auto", default="auto"
        Whether to divide each column by its standard deviation. "auto" does so if C is "auto", the spreads of the
        columns differ by more than a factor of 3, and it lowers the leave-one-out error on at most 1,000 samples; if C
        is a number, columns are not scaled. The model stores the scaling factors.

    Attributes
    ----------
    C_ : float
        The value of C, set or selected.
    similarity_ : str
        The spec of the kernel, set or selected.
    standardize_ : bool
        Whether columns are divided by their standard deviations, set or selected.
    kind_ : str
        The kind of samples: always "table".
    loss_ : str
        Always "squared_error".
    cv_results_ : dict of arrays
        The kernels and scalings that were compared, and all values of C on the path of the selected one, as in
        `BasisExpansionRegressor`. Leave-one-out is exact; if not all samples are bases, it is exact for fixed bases.
    estimated_score_ : float
        The R² of leave-one-out predictions at `C_`, averaged over the outputs that are not constant.
    estimated_score_std_ : float
        The standard error of `estimated_score_`.
    basis_ : ndarray of shape (n_basis, n_features)
        The bases; if columns were standardized, divided by the standard deviations of the columns.
    basis_indices_ : ndarray of int
        The index of each basis among the training samples; empty if bases are means of samples.
    coef_ : ndarray of shape (n_basis,) or (n_outputs, n_basis)
        The coefficients α.
    intercept_ : float or ndarray of shape (n_outputs,)
        The coefficient of the constant polynomial.
    n_iter_ : int
        The number of iterations of the solver; the maximum over all problems.
    report_ : dict
        Seconds per stage, selected parameters, and warnings.
    n_features_in_ : int
        The number of features of the training samples.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` is a data frame. The columns of frames passed to ``predict`` may be
        in any order.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin import ThinPlateRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = ThinPlateRegressor().fit(X[:300], y[:300])
    >>> bool(abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1)
    True
    """
