"""Features for any linear model: the basis expansion alone, HOG, and the mean-norm scaling."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, column_or_1d, validate_data

from . import _core
from ._base import WatchedMixin, fitting, watched
from ._collect import chosen, collect
from ._columns import in_order
from ._names import one_of
from ._nested import NestedSpecMixin
from ._samples import from_other
from ._stored_bases import bases_of
from .basis_expansion import NORMALIZATIONS, NoEstimator, basis_of, same_length
from .similarity import DescriptorMixin, Resolved, resolve


class BasisExpansion(NestedSpecMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, WatchedMixin, BaseEstimator):
    """Similarities to a number of bases, normalised: the features of `BasisExpansionSVC`, for any linear model.

    Parameters are those of `BasisExpansionSVC`. Without y, "index" and "stratified" bases pay no heed to classes.

    Attributes
    ----------
    similarities_ : list of str
    basis_indices_ : ndarray of int
    bases_ : array or list
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: Any = "rbf",
        *,
        n_basis: int = 1000,
        basis: Any = "index",
        normalization: str = "mean_norm",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        layout: str = "auto",
    ) -> None:
        self.similarity = similarity
        self.n_basis = n_basis
        self.basis = basis
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.layout = layout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self.similarity, "spec", self.similarity) == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> BasisExpansion:
        """Chooses the bases and learns the normalization.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : array of shape (n_samples,) or None
            Classes that bases are chosen from.

        Returns
        -------
        BasisExpansion
            Itself, fitted.
        """
        self.fit_transform(X, y)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> npt.NDArray[np.float32]:
        """Chooses the bases, learns the normalization, and returns the features of the samples.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : array of shape (n_samples,) or None

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        normalization = one_of("normalization", self.normalization, NORMALIZATIONS, estimator=self)
        basis, basis_rows = basis_of(self.basis, self)
        resolved = resolve(self.similarity, self.layout)
        collected = collect(self, X, resolved, reset=True)
        codes, n_classes = None, 1
        if y is not None:
            classes, numbers = np.unique(column_or_1d(y), return_inverse=True)
            codes, n_classes = numbers.astype(np.uint32).reshape(-1), len(classes)
            same_length(collected.n, len(codes))
        with self._watched(X=X, y=y) as progress:
            machine, features = _core.ExpansionMachine.fit(
                collected.samples,
                collected.objects,
                codes,
                n_classes,
                similarity=resolved.specs,
                calls=resolved.calls,
                n_basis=min(int(self.n_basis), max(collected.n, 1)),
                basis=basis,
                basis_rows=basis_rows,
                normalization=normalization,
                seed=self._seed(),
                threads=self._threads(),
                watch=watched(progress),
            )
        self._machine, self._resolved = machine, resolved
        self.similarities_ = machine.similarity
        self.basis_indices_ = np.array(machine.basis_rows, dtype=np.int64)
        self._n_features_out = machine.n_features
        if resolved.calls:
            self._python_bases = chosen(X, self.basis_indices_)
            self._rebuild(machine.to_bytes(), machine.state())
        return features

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """The features of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        collected = collect(self, X, self._resolved, reset=False)
        return self._machine.transform(collected.samples, collected.objects, self._threads(), None)

    @property
    def bases_(self) -> Any:
        """The bases, as they were given."""
        check_is_fitted(self)
        return self._python_bases if self._resolved.calls else bases_of(self._machine.to_bytes(), self.layout)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_machine")

    def _rebuild(self, data: bytes, state: Any) -> None:
        resolved: Resolved = self._resolved
        bases = collect(NoEstimator(), self._python_bases, resolved.of_bases(), reset=True)
        specs = self.similarities_[: len(resolved.specs)]
        self._machine = _core.ExpansionMachine.from_bytes(
            data, specs, resolved.calls, bases.objects, bases.samples, state
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        machine, resolved = state.get("_machine"), state.pop("_resolved", None)
        if machine is not None and resolved is not None and resolved.calls:
            state["_machine"] = (machine.to_bytes(), machine.state())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        machine = self.__dict__.get("_machine")
        if machine is None:
            return
        self._resolved = resolve(self.similarity, self.layout)
        if isinstance(machine, tuple):
            self._rebuild(*machine)


class HOG(DescriptorMixin, TransformerMixin, BaseEstimator):
    """Histograms of oriented gradients of images, 31 numbers a cell.

    It learns nothing. ``HOG(4) >> Rigid(1)`` is a similarity of images.

    Parameters
    ----------
    cell_size : int, default=8
        Pixels a side of a cell; it must divide the images' sides.
    flatten : bool, default=True
        One row an image (n, rows · columns · 31), or (n, rows, columns, 31) for similarities of grids.
    n_jobs : int or None, default=None
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cell_size": [Interval(Integral, 1, None, closed="left")],
        "flatten": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, cell_size: int = 8, flatten: bool = True, *, n_jobs: int | None = None) -> None:
        self.cell_size = cell_size
        self.flatten = flatten
        self.n_jobs = n_jobs

    @property
    def spec(self) -> str:
        """Its spelling in a similarity."""
        return f"hog:cell={self.cell_size}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def fit(self, X: Any, y: Any = None) -> HOG:
        """Checks the parameters.

        Parameters
        ----------
        X : ignored
        y : ignored

        Returns
        -------
        HOG
            Itself.
        """
        self._validate_params()
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Describes images.

        Parameters
        ----------
        X : array of uint8 of shape (n, height, width) or (n, height, width, 3)

        Returns
        -------
        ndarray of float32 of shape (n, rows · columns · 31) or (n, rows, columns, 31)
        """
        from ._threads import threads_of

        self._validate_params()
        (_, pixels), _ = from_other(X, ["images"])
        cells = _core.hog(pixels, int(self.cell_size), threads_of(self.n_jobs))
        if self.flatten:
            return cells
        rows, columns = (side // self.cell_size for side in pixels.shape[1:3])
        return cells.reshape(len(pixels), rows, columns, -1)


class MeanNormScaler(DescriptorMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Centres vectors and divides them by the mean norm of the centred ones (BE-SVM, eq. 3 and 4).

    ``MeanNormScaler() >> RBF(gamma=1)`` is a similarity, in which the scaling is learned at ``fit``.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
    mean_norm_ : float
        The mean of ‖x − mean‖; 1 where all samples are equal.
    """

    spec = "mean-norm"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> MeanNormScaler:
        """Learns the mean and the mean norm.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        MeanNormScaler
            Itself, fitted.
        """
        X = validate_data(self, X, dtype=FLOAT_DTYPES)
        self.mean_ = X.mean(axis=0, dtype=np.float64)
        total = 0.0
        for rows in np.array_split(X, -(-len(X) // 4096)):  # no second copy of X
            total += float(np.linalg.norm(rows - self.mean_, axis=1).sum())
        self.mean_norm_ = total / len(X) or 1.0
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Centres and scales.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, in_order(self, X), reset=False, dtype=FLOAT_DTYPES)
        return ((X - self.mean_) / self.mean_norm_).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> npt.NDArray[Any]:
        """Undoes the scaling.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return np.asarray(X) * self.mean_norm_ + self.mean_
