"""The basis expansion as a transformer, for any linear model."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _core
from ._base import SHARED, WatchedMixin, fitting, watched
from ._bases import normalization_of, same_length
from ._compares import ComparesSamples
from ._types import Basis, RandomState, Samples, SimilarityLike, Targets

__all__ = ["BasisExpansion"]


class BasisExpansion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ComparesSamples, WatchedMixin, BaseEstimator):
    """Similarities to a number of bases, normalized: the features of `BasisExpansionSVC`, for any linear model.

    The parameters are those of `BasisExpansionSVC`. Without y, "index" and "auto" bases ignore classes.

    Attributes
    ----------
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
    basis_indices_ : ndarray of int
    basis_ : array or list

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

    _read = _core.Model.expansion_from_bytes
    # Where the features of a Nyström map end: "rounding" for regression.
    _nystroem_cut = "millionth"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        **{name: SHARED[name] for name in ("n_jobs", "random_state", "verbose")},
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: SimilarityLike = "rbf",
        *,
        n_basis: int = 1000,
        basis: Basis = "auto",
        normalization: str = "mean_norm",
        negative_eigenvalues: str = "clip",
        n_jobs: int | None = None,
        random_state: RandomState = None,
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

    def fit(self, X: Samples, y: Targets | None = None) -> Self:
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
    def fit_transform(self, X: Samples, y: Targets | None = None) -> npt.NDArray[np.float32]:
        """Selects the bases, learns the normalization, and returns the features of the samples.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : array of shape (n_samples,) or None

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        normalization = normalization_of(self)
        collected, y, parameters = self._prepared(X, y, None)
        codes, n_classes = None, 1
        if y is not None:
            classes, numbers = np.unique(column_or_1d(y), return_inverse=True)
            codes, n_classes = numbers.astype(np.uint32).reshape(-1), len(classes)
            same_length(collected.n, len(codes))
        with self._watched(X=X, y=y) as progress:
            model, features, rows = _core.fit_expansion(
                collected.samples,
                codes,
                n_classes,
                **parameters,
                normalization=normalization,
                cut=self._nystroem_cut,
                seed=self._seed(),
                threads=self._threads(),
                monitor=watched(progress),
            )
        self._model = model
        specs = json.loads(model.header())["similarity"]
        self.similarity_ = specs[0] if len(specs) == 1 else specs
        self.basis_indices_ = np.array(rows if self._columns is None else self._base_rows, dtype=np.int64)
        self._fitted_on(X)
        self._n_features_out = features.shape[1]
        return features

    def transform(self, X: Samples) -> npt.NDArray[np.float32]:
        """The features of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self._model.transform(self._collected(X), self._threads())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")
