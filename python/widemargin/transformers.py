"""The basis expansion alone, as features for any linear model."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _core
from ._base import WatchedMixin, fitting, watched
from ._bases import basis_of, normalization_of, same_length
from ._collect import collect
from ._nested import NestedSpecMixin
from ._precomputed import TakesPrecomputed
from ._samples import pick
from ._specs import n_polynomials_of
from ._stored_bases import WithBases
from .similarity import resolve

__all__ = ["BasisExpansion"]


class Expanding(NestedSpecMixin, TakesPrecomputed, WithBases, WatchedMixin, BaseEstimator):
    """For estimators whose model is an expansion that no labels are needed for."""

    _read = _core.Model.expansion_from_bytes
    # Where the features of a Nyström map end: "rounding" for regression.
    _nystroem_cut = "millionth"

    def _expanded(self, X: Any, y: Any, n_basis: int, seed: int) -> npt.NDArray[np.float32]:
        """Selects the bases, learns the normalization, and returns the features of the samples."""
        normalization = normalization_of(self)
        basis, basis_rows = basis_of(self.basis, self)
        resolved = resolve(self.similarity, self.layout)
        self._columns = None
        if resolved.is_precomputed:
            collected, y = self._precomputed(X, y, None, n_polynomials_of(resolved.specs[0]))
            if self._columns is not None:
                basis, basis_rows = "index", self._base_rows
        else:
            collected = collect(self, X, resolved, reset=True)
        codes, n_classes = None, 1
        if y is not None:
            classes, numbers = np.unique(column_or_1d(y), return_inverse=True)
            codes, n_classes = numbers.astype(np.uint32).reshape(-1), len(classes)
            same_length(collected.n, len(codes))
        with self._watched(X=X, y=y) as progress:
            model, features, rows = _core.fit_expansion(
                collected.given,
                codes,
                n_classes,
                similarity=resolved.similarities,
                n_basis=max(min(n_basis, collected.n), 1),
                basis=basis,
                basis_rows=basis_rows,
                normalization=normalization,
                cut=self._nystroem_cut,
                seed=seed,
                threads=self._threads(),
                monitor=watched(progress),
            )
        self._model, self._resolved = model, resolved
        self.similarities_ = json.loads(model.header())["similarity"]
        self.basis_indices_ = np.array(rows if self._columns is None else self._base_rows, dtype=np.int64)
        if resolved.calls:
            self._python_bases = pick(X, self.basis_indices_)
        return features

    def _features(self, X: Any) -> npt.NDArray[np.float32]:
        """The features of new samples."""
        if self._resolved.is_precomputed:
            collected = self._precomputed_rows(X)
        else:
            collected = collect(self, X, self._resolved, reset=False)
        return self._model.transform(collected.given, self._threads())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")


class BasisExpansion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Expanding):
    """Similarities to a number of bases, normalized: the features of `BasisExpansionSVC`, for any linear model.

    The parameters are those of `BasisExpansionSVC`. Without y, "index" and "auto" bases ignore classes.

    Attributes
    ----------
    kind_ : str
        What the samples were read as: a value of `kind`, or "precomputed".
    similarities_ : list of str
    basis_indices_ : ndarray of int
    bases_ : array or list

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from widemargin import BasisExpansion
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(BasisExpansion("rbf", n_basis=30), LogisticRegression()).fit(X, y)
    >>> model[0].transform(X).shape
    (150, 30)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: Any = "rbf",
        *,
        n_basis: int = 1000,
        basis: Any = "auto",
        normalization: str = "mean_norm",
        negative_eigenvalues: str = "clip",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        kind: str = "auto",
        layout: str = "auto",
    ) -> None:
        self.similarity = similarity
        self.n_basis = n_basis
        self.basis = basis
        self.normalization = normalization
        self.negative_eigenvalues = negative_eigenvalues
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.kind = kind
        self.layout = layout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> BasisExpansion:
        """Selects the bases and learns the normalization.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : array of shape (n_samples,) or None
            Classes for selecting the bases.

        Returns
        -------
        BasisExpansion
            The fitted estimator itself.
        """
        self.fit_transform(X, y)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> npt.NDArray[np.float32]:
        """Selects the bases, learns the normalization, and returns the features of the samples.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : array of shape (n_samples,) or None

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        features = self._expanded(X, y, int(self.n_basis), self._seed())
        self._n_features_out = features.shape[1]
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
        return self._features(X)
