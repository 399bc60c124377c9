"""The power mean SVM."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_non_negative

from ._base import VectorModel, fitting, with_parameters
from ._calls import name_of
from ._files import Stored
from ._parameters import Targets, Weights, invalid, one_of
from ._predictors import MarginClassifier
from ._specs import kernels_of

_KERNELS = tuple(name for name in kernels_of("power-mean") if name != "power_mean")


@with_parameters
class PowerMeanSVC(VectorModel, MarginClassifier):
    """Additive kernels on histograms, with the training cost of a linear SVM.

    Minimizes ½‖f‖² + C Σ loss by dual coordinate descent, with the kernel reduced to a few numbers per feature (Wu,
    *Power Mean SVM for Large Scale Visual Classification*, CVPR 2012). Features must not be negative.

    Parameters
    ----------
    kernel : {"auto", "chi2", "hellinger", "intersection", "jensen_shannon"}, float or callable, default="auto"
        The additive kernel. A number is the exponent of a power mean, from -inf to 0: -1 is chi-squared, 0 Hellinger,
        -inf histogram intersection. "auto" selects the first exponent of -1, -0.5, -2, 0, -4, -8 and -inf
        whose leave-one-out loss is within 5 % of the smallest, on at most 500 of the samples.
        A callable receives two arrays of non-negative numbers, and returns k(x_i, y_i) of each pair. It must be 0 if x
        or y is, and symmetric; ``approximation="nystroem"`` also needs it positive semi-definite. It is called
        in ``fit`` only, with distinct training values (once features are scaled), nodes and 0. The model stores its
        values at the nodes in a table of these values, at most 4,096 of them; between two of them it is linear, and
        beyond the last constant.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    C : float or "auto", default="auto"
        The weight of the losses, above 0. "auto" selects the smallest C of a path whose leave-one-out loss is within
        2 % of the smallest: of least squares in closed form, with the squared hinge of its decision values, on at most
        1,000 of the samples. With ``loss="hinge"`` or ``approximation="polynomial"`` there is no selection: "auto"
        then means a kernel of -1, a C of 0.01 and three nodes.
    approximation : {"nystroem", "polynomial"}, default="nystroem"
        The reduction of the kernel: data-dependent nodes, or the paper's polynomial in ln(x + 0.05).
    nodes : int, array-like of shape (n_nodes,) or "auto", default="auto"
        The number of nodes per feature, 1 to 16, or the nodes themselves in units of the scaled features. "auto" is the
        smallest number, from 3 on, that hardly increases the exact kernel's leave-one-out loss, on the same samples.
        The polynomial has at least 2, and one more than its degree: three are the paper's nodes, other numbers are
        Chebyshev's points of ln(x + 0.05). Nodes are above 0; those of the polynomial are distinct and at most 1.
    scale : bool, default=True
        Divide each feature by its largest training value.
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
        Limit in seconds. A solver that has not converged by then stops with its current solution, and a warning states
        the gap reached. If the limit does not allow a fit on all samples, the model is fitted to as many as it allows,
        and a warning states their number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; for multilabel targets the indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels: the column names of a data frame, or their indices. Only for multilabel targets.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The estimated accuracy of each label, as in `estimated_score_`. Only for multilabel targets.
    similarity_ : str
        The spec of the kernel, such as "chi2" or "power-mean:p=-2"; "own:" and its name for a callable.
    C_ : float
    loss_ : str
    nodes_ : ndarray of shape (n_nodes,)
        In units of the scaled features; fewer than requested if there are fewer distinct values.
    cv_results_ : dict of arrays
        If anything was selected, the kernels that were compared, each at the best C of its path, with ``param_nodes``
        the number of nodes (masked for the exact kernel), and every C of the path of the selected one, as in
        `BasisExpansionSVC`.
    coef_ : ndarray of shape (n_problems, n_features, n_nodes)
    intercept_ : ndarray of shape (n_problems,)
        0: there is no intercept, and there are no bases.
    estimated_score_ : float
        The estimated accuracy of this model on new samples, by samples held out of refits: see `BasisExpansionSVC`.
    estimated_score_std_ : float
        The standard error of this estimate.
    n_iter_ : int
        The largest number of passes of the two-class problems.
    report_ : dict
        Status, objectives, duality gaps, seconds per stage, warnings.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        If X in ``fit`` is a data frame with names. Frames passed to ``predict`` may have their columns in any order.

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

    @fitting
    def fit(self, X: npt.ArrayLike, y: Targets, sample_weight: Weights = None) -> Self:
        """Trains on histograms.

        Parameters
        ----------
        X : array, sparse array or frame of shape (n_samples, n_features)
            At least 0. C-contiguous float32 and float64 arrays and CSR are not copied.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Classes, or a multilabel indicator matrix, dense or sparse: 1 for labels of the sample, 0 for other labels,
            NaN for unknown ones.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        PowerMeanSVC
            The fitted estimator itself.
        """
        return self._fit(X, y, sample_weight)

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

    def _validated(self, X: Any, *, reset: bool) -> Any:
        X = super()._validated(X, reset=reset)
        if not isinstance(X, Stored):
            check_non_negative(X, type(self).__name__)
        return X

    @property
    def nodes_(self) -> npt.NDArray[np.float64]:
        """The nodes of the reduced kernel."""
        return self._arrays()["nodes"]

    @property
    def coef_(self) -> npt.NDArray[np.float32]:
        """The weights of each problem and feature: (problems, features, nodes)."""
        return self._arrays()["weights"].transpose(2, 0, 1)

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        nodes = (header.get("training") or {}).get("nodes") or header["n_nodes"]
        own = {"kernel": _kernel_of(header["kernel"]), "nodes": nodes, "scale": header["scaled"]}
        return super()._stored_parameters(header) | own


def _kernel_of(spec: str) -> str | float:
    """The parameter that stands for the kernel of a spec."""
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
