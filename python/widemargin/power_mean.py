"""The power mean SVM."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_non_negative

from . import _core
from ._base import SHARED, VectorClassifier, fitting
from ._c_choice import c_of, path_of
from ._calls import name_of
from ._names import one_of
from ._rows import kernels_of

_KERNELS = kernels_of("power-mean")
_LOSSES = ("squared_hinge", "hinge")
_APPROXIMATIONS = ("nystrom", "polynomial")


class PowerMeanSVC(VectorClassifier):
    """Additive kernels on histograms, with the training cost of a linear SVM.

    Minimises ½‖f‖² + C Σ loss by dual coordinate descent, with the kernel reduced to a few numbers per feature (Wu,
    *Power Mean SVM for Large Scale Visual Classification*, CVPR 2012). Features must not be negative.

    Parameters
    ----------
    p : float or "auto", default="auto"
        The power of the mean, from -inf to 0: -1 is chi-squared, 0 Hellinger, -inf histogram intersection. Only for
        ``kernel="power_mean"``. "auto" of -1, -0.5, -2, 0, -4, -8 and -inf takes the first whose
        leave-one-out loss is within a twentieth of the least, on at most 500 of the samples.
    kernel : {"power_mean", "chi2", "hellinger", "intersection", "jensen_shannon"} or your own, default="power_mean"
        An additive kernel of your own is a callable, or an expression of x and y such as ``"expr:2*x*y/(x+y)"``. A
        callable takes two arrays of numbers that are at least 0, and returns k(x_i, y_i) of each pair. It must be 0
        where x or y is, and symmetric; ``approximation="nystrom"`` also needs it positive semi-definite. It is called
        in ``fit`` only, with distinct training values (once features are scaled), nodes and 0. The model stores its
        values at the nodes in a table of these values, at most 4,096 of them; between two of them it is linear, and
        beyond the last constant.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    C : float or "auto", default="auto"
        The weight of the losses, above 0. "auto" takes the smallest C of a path whose leave-one-out loss is within a
        fiftieth of the least: of least squares in closed form, with the decision values judged by the squared hinge, on
        at most 1,000 of the samples. With ``loss="hinge"`` or ``approximation="polynomial"`` nothing is chosen: "auto"
        then means a p of -1, a C of 0.01 and three nodes.
    approximation : {"nystrom", "polynomial"}, default="nystrom"
        How the kernel is reduced: data-dependent nodes, or the paper's polynomial in ln(x + 0.05).
    n_nodes : int or "auto", default="auto"
        Numbers per feature, 1 to 16. "auto" takes as few, from 3 on, as lose next to nothing of the exact kernel's
        leave-one-out loss, on these samples too. The polynomial has at least 2, and one more than its degree: three
        are the paper's nodes, other numbers are Chebyshev's points of ln(x + 0.05).
    nodes : array-like of shape (n_nodes,) or None, default=None
        The nodes themselves, in units of the scaled features, in place of ``n_nodes``. Above 0; those of the polynomial
        are distinct and at most 1.
    feature_range : {"max", None}, default="max"
        Divide each feature by its largest training value, or use it unscaled.
    tol : float, default=0.01
        The relative duality gap at which a problem counts as solved, in (0, 1).
    max_iter : int, default=1000
        The maximum number of passes over the samples.
    class_weight : dict, "balanced" or None, default=None
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of the samples.
    verbose : int, default=0
    time_limit : float or None, default=None
        Seconds. A solver that has not converged by then stops with its current solution, and a warning states the gap
        reached. If the limit does not allow a fit on all samples, the model is fitted to as many as it allows, and a
        warning states how many.
    shrinking : bool, default=True
        Temporarily skip samples that stay outside the margin: faster, with the same solution.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Of several labels their numbers from 0.
    label_names_ : ndarray of shape (n_labels,)
        The names of several labels: those of the columns of a data frame. Not there for classes.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The accuracy of each of several labels, estimated as `estimated_score_` is. Not there for classes.
    p_ : float or None
        The power of the mean; None for a kernel that is not a power mean.
    C_ : float
    n_nodes_ : int
        Fewer than `n_nodes` where fewer values differ.
    nodes_ : ndarray of shape (n_nodes,)
        In units of the scaled features.
    tried_ : list of dict
        If something was chosen, the kernels that were compared: `kernel`, `n_nodes` (None for the exact one), and at
        the best C of its path `C`, `loo_squared_hinge`, `loo_error` (None where `problem` says why there are none).
    path_ : dict of ndarray
        If C was chosen, for every C tried, ascending: `C`, `loo_squared_hinge`, `loo_error`. Otherwise empty.
    weights_ : ndarray of shape (n_problems, n_features, n_nodes)
    estimated_score_ : float
        The estimated accuracy of this model on new samples, by samples held out of refits: see `BasisExpansionSVC`.
    n_iter_ : int
        The largest number of passes of the two-class problems.
    report_ : dict
        Status, objectives, duality gaps, seconds per stage, warnings.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        If ``fit`` was given a data frame with names. Frames passed to ``predict`` may have their columns in any order.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from widemargin import PowerMeanSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> svc = PowerMeanSVC(kernel="chi2", C=0.1).fit(X[:900], y[:900])
    >>> svc.score(X[900:], y[900:]) > 0.9
    True
    >>> svc.weights_.shape == (10, 64, svc.n_nodes_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "p": [Interval(Real, None, None, closed="both"), StrOptions({"auto"})],
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "n_nodes": [Interval(Integral, 1, 16, closed="both"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        **SHARED,
        "shrinking": ["boolean"],
    }

    def __init__(
        self,
        p: float | str = "auto",
        *,
        kernel: str | Callable[[Any, Any], Any] = "power_mean",
        loss: str = "squared_hinge",
        C: float | str = "auto",
        approximation: str = "nystrom",
        n_nodes: int | str = "auto",
        nodes: npt.ArrayLike | None = None,
        feature_range: str | None = "max",
        tol: float = 0.01,
        max_iter: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        time_limit: float | None = None,
        shrinking: bool = True,
    ) -> None:
        self.p = p
        self.kernel = kernel
        self.loss = loss
        self.C = C
        self.approximation = approximation
        self.n_nodes = n_nodes
        self.nodes = nodes
        self.feature_range = feature_range
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.shrinking = shrinking

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # This tag means accuracy on blobs of two features, which are not histograms: at the default C, which suits
        # thousands of features, three such classes are just below the required accuracy.
        tags.classifier_tags.poor_score = True
        return tags

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PowerMeanSVC:
        """Trains on histograms.

        Parameters
        ----------
        X : array, sparse array or frame of shape (n_samples, n_features)
            At least 0. C-contiguous float32 and float64 arrays and CSR are not copied.
        y : array of shape (n_samples,), or (n_samples, n_labels) for several labels a sample
            An indicator matrix, dense or sparse: 1 for a label that the sample has, 0 for one that it has not, NaN
            where that is unknown.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        PowerMeanSVC
            The fitted estimator itself.
        """
        is_scaled, kernel = self._is_scaled(), self._kernel()
        loss = one_of("loss", self.loss, _LOSSES, estimator=self)
        approximation = one_of("approximation", self.approximation, _APPROXIMATIONS, estimator=self)
        model = self._fitted(
            _core.fit_power_mean,
            X,
            y,
            sample_weight,
            kernel=kernel,
            loss=loss,
            C=c_of(self),
            approximation=approximation,
            n_nodes=self._number_of_nodes(),
            nodes=self._given_nodes(),
            scale=is_scaled,
            shrinking=bool(self.shrinking),
        )
        self._keep(model)
        return self

    def _is_scaled(self) -> bool:
        if self.feature_range not in ("max", None):
            got = f"Got {self.feature_range!r} instead."
            raise ValueError(f"The 'feature_range' parameter of PowerMeanSVC must be 'max' or None. {got}")
        return self.feature_range is not None

    def _number_of_nodes(self) -> int | None:
        """None where it is to be chosen: nodes that are given are as many as they are."""
        if self.nodes is None and self.n_nodes == "auto":
            return None
        return 3 if isinstance(self.n_nodes, str) else int(self.n_nodes)

    def _given_nodes(self) -> list[float] | None:
        if self.nodes is None:
            return None
        nodes = np.asarray(self.nodes)
        if nodes.ndim != 1 or nodes.dtype.kind not in "iuf":
            wanted = "a list of numbers or None (their number is the parameter 'n_nodes')"
            raise ValueError(f"The 'nodes' parameter of PowerMeanSVC must be {wanted}. Got {self.nodes!r} instead.")
        return [float(node) for node in nodes]

    def _kernel(self) -> str | tuple[Callable[[Any, Any], Any], str]:
        if callable(self.kernel):
            return functools.partial(_values_of_pairs, self.kernel), name_of(self.kernel)
        if isinstance(self.kernel, str) and self.kernel.startswith("own:"):
            wanted = "set it to the function: a model stores the values of a kernel of your own, not its code"
            raise ValueError(f"The 'kernel' parameter of PowerMeanSVC is {self.kernel!r}: {wanted}.")
        if isinstance(self.kernel, str) and self.kernel.startswith("expr:"):
            return self.kernel
        name = one_of("kernel", self.kernel, _KERNELS, estimator=self)
        if name != "power-mean":
            return name
        if isinstance(self.p, str):
            return "auto"
        if self.p > 0:
            instead = f"an indefinite similarity, for BasisExpansionSVC(similarity.PowerMean(p={self.p}))"
            wanted = f"must be from -inf to 0. Got {self.p} instead: above 0 the power mean is no kernel but {instead}."
            raise ValueError(f"The 'p' parameter of PowerMeanSVC {wanted}")
        return f"power-mean:p={self.p}"

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        given = super()._validated(X, y, reset=reset)
        check_non_negative(given[0] if isinstance(given, tuple) else given, type(self).__name__)
        return given

    def _describe(self, told: dict[str, Any]) -> None:
        super()._describe(told)
        self.p_, self.C_, self.n_nodes_ = _p_of(told["kernel"]), told["C"], told["n_nodes"]
        choice = told.get("choice") or {}
        columns = ("kernel", "n_nodes", "C", "loo_squared_hinge", "loo_error", "problem")
        self.tried_ = [{name: one.get(name) for name in columns} for one in choice.get("tried", [])]
        self.path_ = path_of(choice.get("path", []))

    @property
    def nodes_(self) -> npt.NDArray[np.float64]:
        """The nodes of the reduced kernel."""
        return self._arrays()["nodes"]

    @property
    def weights_(self) -> npt.NDArray[np.float32]:
        """The weights of each problem and feature: (problems, features, nodes)."""
        return self._arrays()["weights"].transpose(2, 0, 1)

    @classmethod
    def _restored(cls, model: _core.Model, told: dict[str, Any]) -> PowerMeanSVC:
        kernel: str = told["kernel"]
        p: float | str = "auto"
        if not kernel.startswith(("own:", "expr:")):
            name, _, given = kernel.partition(":p=")
            kernel, p = name.replace("-", "_"), float(given) if given else p
        fitted = cls(
            p=p,
            kernel=kernel,
            loss=told["loss"].replace("-", "_"),
            C=told["C"],
            approximation=told["approximation"],
            n_nodes=told["n_nodes"],
            feature_range="max" if told["scaled"] else None,
        )
        fitted._restore(model, told)
        training = told.get("training") or {}
        fitted.set_params(shrinking=training.get("shrinking", True), nodes=training.get("nodes"))
        return fitted


def _p_of(kernel: str) -> float | None:
    """The power of a kernel that is a power mean."""
    named = {"chi2": -1.0, "hellinger": 0.0, "intersection": -np.inf}
    name, _, p = kernel.partition(":p=")
    return float(p) if name == "power-mean" else named.get(name)


def _values_of_pairs(
    kernel: Callable[[Any, Any], Any], x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """What a kernel of the user's own returns, as the extension module takes it."""
    values = np.asarray(kernel(x, y))
    if values.shape != x.shape or values.dtype.kind not in "iuf":
        wanted = f"numbers of shape {x.shape}, one for each pair of its arguments"
        raise ValueError(f"kernel {name_of(kernel)}: {values.dtype} of shape {values.shape}, expected {wanted}")
    return np.ascontiguousarray(values, dtype=np.float64)
