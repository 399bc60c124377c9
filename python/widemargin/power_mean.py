"""The power mean SVM."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_non_negative

from ._base import VectorModel, with_parameters
from ._calls import name_of
from ._files import Stored
from ._parameters import invalid, one_of
from ._predictors import MarginClassifier
from ._spec_texts import kernels_of

_KERNELS = tuple(name for name in kernels_of("power-mean") if name != "power_mean")


@with_parameters
class PowerMeanSVC(VectorModel, MarginClassifier):
    """SVM with an additive kernel on histograms, at the training cost of a linear SVM.

    Minimizes ½‖f‖² + C Σ loss by dual coordinate descent, with the kernel approximated by a few numbers per feature
    (Wu, *Power Mean SVM for Large Scale Visual Classification*, CVPR 2012). Features must be non-negative.

    Parameters
    ----------
    kernel : {"auto", "chi2", "hellinger", "intersection", "jensen_shannon"}, float or callable, default="auto"
        The additive kernel. A number is the exponent of a power mean, from -inf to 0: -1 is the chi-squared kernel, 0
        the Hellinger kernel, and -inf the histogram intersection. "auto" tries the exponents -1, -0.5, -2, 0, -4, -8
        and -inf on at most 500 samples, and selects the first one whose leave-one-out loss is within 5 % of the
        smallest. A callable receives two arrays of non-negative numbers and returns k(x_i, y_i) for each pair. It must
        be symmetric, and 0 if x or y is 0; ``approximation="nystroem"`` also requires it to be positive semi-definite.
        It is only called in ``fit``, for the distinct training values (after scaling), the nodes and 0. The model
        stores a table of its values at the nodes, for at most 4,096 of these values: it interpolates linearly between
        them, and is constant beyond the last one.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss: max(0, 1 − y f)² or max(0, 1 − y f).
    C : float or "auto", default="auto"
        The weight of the losses; must be above 0. "auto" selects the smallest C on a regularization path whose
        leave-one-out loss is within 2 % of the smallest. This loss is the squared hinge loss of the leave-one-out
        decision values of a least squares fit, which have a closed form, on at most 1,000 samples. With
        ``loss="hinge"`` or ``approximation="polynomial"`` nothing is selected: "auto" then means ``kernel=-1``,
        ``C=0.01`` and ``nodes=3``.
    approximation : {"nystroem", "polynomial"}, default="nystroem"
        The approximation of the kernel: the Nyström approximation on data-dependent nodes, or the polynomial in ln(x +
        0.05) of the paper.
    nodes : int, array-like of shape (n_nodes,) or "auto", default="auto"
        The number of nodes per feature, from 1 to 16, or the nodes themselves, in units of the scaled features. "auto"
        is the smallest number, at least 3, that hardly increases the leave-one-out loss of the exact kernel, on the
        same samples. The polynomial needs at least 2 nodes, one more than its degree: with 3, they are the nodes of the
        paper; with other numbers, Chebyshev points of ln(x + 0.05). Nodes must be above 0; those of the polynomial must
        also be distinct and at most 1.
    scale : bool, default=True
        Whether to divide each feature by its largest training value.
    tol : float, default=0.01
        Tolerance: the solver stops when the relative duality gap is below this value, in (0, 1).
    max_iter : int, default=1000
        Maximum number of passes over the samples.
    class_weight : dict, "balanced" or None, default=None
        Class weights, which multiply the sample weights: a dictionary from classes to weights (1 for classes that are
        not in it), or "balanced" for weights inversely proportional to the class frequencies.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order in which the samples are visited.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. A solver that has not converged by then returns its current solution, with a warning that
        reports the duality gap. If the limit is too short for a fit on all samples, the model is fitted on a subset,
        with a warning that reports the size of the subset.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels; for multilabel targets, the indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels: the column names of y if it is a data frame, otherwise their indices. Only for
        multilabel targets.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The estimated accuracy for each label; see `estimated_score_`. Only for multilabel targets.
    similarity_ : str
        The spec of the kernel, such as "chi2" or "power-mean:p=-2"; for a callable, "own:" and its name.
    C_ : float
        The value of C, set or selected.
    loss_ : str
        The loss, set or selected.
    kind_ : str
        The kind of samples: always "table".
    nodes_ : ndarray of shape (n_nodes,)
        The nodes, in units of the scaled features. There are fewer than requested if there are fewer distinct values.
    cv_results_ : dict of arrays
        If any parameter was selected, the kernels that were compared, each at the best C of its path, and all values of
        C on the path of the selected kernel, as in `BasisExpansionSVC`. ``param_nodes`` is the number of nodes, masked
        for the exact kernel.
    coef_ : ndarray of shape (n_problems, n_features, n_nodes)
        The weights for each binary problem, feature and node.
    intercept_ : ndarray of shape (n_problems,)
        Always 0, because the model has no intercept.
    estimated_score_ : float
        The estimated accuracy on new samples, from refits with held-out samples; see `BasisExpansionSVC`.
    estimated_score_std_ : float
        The standard error of `estimated_score_`.
    n_iter_ : int
        The number of passes over the samples; the maximum over the binary problems.
    report_ : dict
        Solver status, objective values, duality gaps, seconds per stage, and warnings.
    n_features_in_ : int
        The number of features of the training samples.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` is a data frame. The columns of frames passed to ``predict`` may be
        in any order.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from widemargin import PowerMeanSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> svc = PowerMeanSVC(kernel="chi2", C=0.1).fit(X[:900], y[:900])
    >>> svc.score(X[900:], y[900:]) > 0.9
    True
    >>> svc.coef_.shape == (10, 64, len(svc.nodes_))
    True
    """

    kernel: str | float | Callable[..., npt.ArrayLike] = field(default="auto", kw_only=False)
    loss: str = "squared_hinge"
    C: float | str = "auto"
    approximation: str = "nystroem"
    nodes: int | str | npt.ArrayLike = "auto"
    scale: bool = True
    tol: float = 0.01
    max_iter: int = 1000
    _losses: ClassVar[tuple[str, ...]] = ("squared_hinge", "hinge")
    _approximations: ClassVar[tuple[str, ...]] = ("nystroem", "polynomial")
    _method = "power-mean"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # This tag means accuracy on blobs of two features, which are not histograms: at the default C, which suits
        # thousands of features, three such classes are just below the required accuracy.
        tags.classifier_tags.poor_score = True
        return tags

    def _parameters(self) -> dict[str, Any]:
        n_nodes, nodes = self._nodes()
        return {
            "kernel": self._kernel(),
            "loss": one_of("loss", self.loss, self._losses, estimator=self),
            "C": self._fixed_C(),
            "approximation": one_of("approximation", self.approximation, self._approximations, estimator=self),
            "n_nodes": n_nodes,
            "nodes": nodes,
            "scale": bool(self.scale),
        }

    def _nodes(self) -> tuple[int | None, list[float] | None]:
        """The number of nodes, None for automatic selection, and the nodes."""
        if isinstance(self.nodes, str) and self.nodes == "auto":
            return None, None
        if isinstance(self.nodes, Integral) and not isinstance(self.nodes, bool) and 1 <= int(self.nodes) <= 16:
            return int(self.nodes), None
        nodes = np.asarray(self.nodes)
        if nodes.ndim != 1 or nodes.dtype.kind not in "iuf":
            wanted = "'auto', a number from 1 to 16, or a list of the nodes"
            raise invalid(self, "nodes", f"must be {wanted}. Got {self.nodes!r} instead.")
        return 3, [float(node) for node in nodes]

    def _kernel(self) -> str | tuple[Callable[[Any, Any], Any], str]:
        kernel = _kernel_of(self.kernel) if isinstance(self.kernel, str) else self.kernel
        if callable(kernel):
            return functools.partial(_values_of_pairs, kernel), name_of(kernel)
        if isinstance(kernel, Real) and not isinstance(kernel, bool):
            if not kernel <= 0:
                instead = f"an indefinite similarity, for BasisExpansionSVC(similarity.PowerMean(p={kernel}))"
                found = f"Got {kernel} instead: above 0 the power mean is no kernel but {instead}."
                raise invalid(self, "kernel", f"must be an exponent from -inf to 0. {found}")
            return f"power-mean:p={kernel}"
        if isinstance(kernel, str) and kernel.startswith("own:"):
            wanted = "set it to the function: a model stores the values of a kernel of your own, not its code"
            raise invalid(self, "kernel", f"is {kernel!r}: {wanted}.")
        if kernel == "power_mean":
            wanted = "the exponent of the power mean, such as -1, or 'auto'"
            raise invalid(self, "kernel", f"must be {wanted}. Got 'power_mean' instead.")
        return one_of("kernel", kernel, ("auto", *_KERNELS), estimator=self)

    def _validated(self, X: Any, *, reset: bool, weights: Any = None) -> Any:
        X = super()._validated(X, reset=reset, weights=weights)
        if not isinstance(X, Stored):
            check_non_negative(X, type(self).__name__)
        return X

    @property
    def nodes_(self) -> npt.NDArray[np.float64]:
        """The nodes of the reduced kernel."""
        return self._arrays()["nodes"]

    @property
    def coef_(self) -> npt.NDArray[np.float32]:
        """The weights, of shape (problems, features, nodes)."""
        return self._arrays()["weights"].transpose(2, 0, 1)

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        nodes = (header.get("training") or {}).get("nodes") or header["n_nodes"]
        own = {"kernel": _kernel_of(header["kernel"]), "nodes": nodes, "scale": header["scaled"]}
        return super()._stored_parameters(header) | own


def _kernel_of(spec: str) -> str | float:
    """The value of the parameter ``kernel`` that corresponds to a spec."""
    name, _, p = spec.partition(":p=")
    if name.replace("_", "-") == "power-mean" and p:
        return float(p)
    return spec if spec.startswith("own:") else name.replace("-", "_")


def _values_of_pairs(
    kernel: Callable[[Any, Any], Any], x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The checked result of a user-defined kernel."""
    values = np.asarray(kernel(x, y))
    if values.shape != x.shape or values.dtype.kind not in "iuf":
        wanted = f"numbers of shape {x.shape}, one for each pair of its arguments"
        raise ValueError(f"kernel {name_of(kernel)}: {values.dtype} of shape {values.shape}, expected {wanted}")
    return np.ascontiguousarray(values, dtype=np.float64)
