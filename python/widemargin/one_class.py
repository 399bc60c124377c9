"""Outlier detection by a one-class model."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import SHARED, fitting
from ._bases import normalization_of
from ._compares import Compares
from ._results import Row
from ._types import Basis, RandomState, Samples, SimilarityLike, Targets, Weights

__all__ = ["BasisExpansionOneClass"]

# The number of bases with n_basis="auto", and the number of samples below which all are bases, as in the library.
DEFAULT_BASES = 500
FEW_SAMPLES = 20


class BasisExpansionOneClass(OutlierMixin, Compares):
    """Outlier detection with any similarity.

    The score of a sample is wᵀφ(x), with its features φ(x) in the expansion (see `BasisExpansion`) and the w that
    minimizes Σ (1 − wᵀφ(x))² + κn‖w‖² on the training samples: the least squares one-class SVM, in the primal.
    Outliers have similarities, and scores, of about 0. The leave-one-out decision values of the training samples have
    a closed form, and the threshold is a quantile of these, which is the expected share of new samples of the same
    kind below it. Bases are not counted, since their similarity to themselves is not that of a new sample.

    Parameters
    ----------
    similarity : str, object of `widemargin.similarity`, callable, or list of these, default="rbf"
    n_basis : int or "auto", default="auto"
        The largest number of bases. "auto" is 500, and at most half of the distinct samples, so that the other half
        determines the threshold; with fewer than 20 samples it is all.
    basis : str or array of int, default="auto"
    normalization : str, default="nystroem"
        As in `BasisExpansion`; normalizations that center the features ("mean_norm", "z_score", "covariance") give
        outliers no distinct score.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        As in `BasisExpansion`.
    quantile : float, default=0.05
        The expected share of new samples of the same kind that are predicted to be outliers: the quantile of the
        leave-one-out decision values that is the threshold.
    shrinkage : float, default=0.01
        κ in units of the mean square of a feature. Small values follow the samples closely, large ones average the
        similarities to them.
    n_jobs : int or None, default=None
    random_state : int, RandomState instance or None, default=None
        None means a fixed seed: the same samples give the same model.
    verbose : int, default=0
    time_limit : float or None, default=None
        Limit in seconds. If it does not allow a fit on all samples, the model is fitted to as many as it allows, and a
        warning states their number; it then has no `left_out_scores_`.
    kind : {"auto", "table", "series", "strings", "sets", "images", "graphs", "grids", "objects"}, default="auto"
        The kind of samples, as in `BasisExpansionSVC`.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of multichannel time series, as in `BasisExpansionSVC`.

    Attributes
    ----------
    offset_ : float
        The threshold of ``score_samples``.
    left_out_scores_ : ndarray of shape (n_samples,)
        Leave-one-out decision values: ``score_samples`` of each training sample from a w without it; for bases
        including their similarity to themselves.
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    basis_indices_ : ndarray of int
    basis_ : array or list
    similarity_ : str or list of str
    normalization_ : str
    coef_ : ndarray of shape (n_features,)
    n_iter_ : int
    report_ : dict
        Seconds per stage, warnings.

    Examples
    --------
    >>> from widemargin import BasisExpansionOneClass
    >>> names = "Rossi Russo Bianchi Romano Ricci Marino Bruno Gallo Conti Costa Rizzo Greco Ferrari Esposito"
    >>> names = f"{names} Colombo Fontana Santoro Mariani Rinaldi Caruso Ferrara Galli Martini Leone Longo Gentile"
    >>> names = f"{names} Martinelli Vitale Lombardo Serra Coppola Marchetti Parisi Villa Conte Ferraro".split()
    >>> detector = BasisExpansionOneClass("edit", quantile=0.1).fit(names)
    >>> detector.predict(["Rosso", "Krzyzewski"]).tolist()
    [1, -1]
    """

    _core_fit: ClassVar[Any] = staticmethod(_core.fit_basis_expansion_one_class)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
        **SHARED,
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: SimilarityLike = "rbf",
        *,
        n_basis: int | str = "auto",
        basis: Basis = "auto",
        normalization: str = "nystroem",
        negative_eigenvalues: str = "clip",
        quantile: float = 0.05,
        shrinkage: float = 0.01,
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
        self.quantile = quantile
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.kind = kind
        self.layout = layout

    @fitting
    def fit(self, X: Samples, y: Targets | None = None, sample_weight: Weights = None) -> Self:
        """Learns what samples are like.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : ignored
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        BasisExpansionOneClass
            The fitted estimator itself.
        """
        return self._fit(X, None, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        return {
            "normalization": normalization_of(self),
            "quantile": float(self.quantile),
            "shrinkage": float(self.shrinkage),
        }

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, ...]:
        self._check_number(n_samples)
        return (self._weights(sample_weight, n_samples),)

    def _n_basis_of(self, n_samples: int) -> int:
        usual = n_samples if n_samples < FEW_SAMPLES else min(n_samples // 2, DEFAULT_BASES)
        return max(usual if isinstance(self.n_basis, str) else min(int(self.n_basis), n_samples), 1)

    def _check_number(self, n_samples: int) -> None:
        if n_samples < 2:
            raise ValueError(f"n_samples={n_samples}: the threshold takes at least 2 samples")

    def score_samples(self, X: Samples) -> npt.NDArray[np.float64]:
        """The value of each sample: about 1 for those like the training samples, toward 0 for others.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), the larger the more like the training samples
        """
        check_is_fitted(self)
        scores: npt.NDArray[np.float64] = self._model.score_samples(self._collected(X), self._threads())
        return scores

    def decision_function(self, X: Samples) -> npt.NDArray[np.float64]:
        """``score_samples`` less the threshold.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), below 0 for outliers
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> npt.NDArray[np.int64]:
        """Whether samples are like the training ones.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), 1 for samples like the training ones and -1 for outliers
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def left_out_scores_(self) -> npt.NDArray[np.float64]:
        """``score_samples`` of each training sample from a w without it."""
        return self._arrays()["loo_scores"]

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        self.offset_ = float(header["threshold"])

    def _of_problems(self, values: npt.NDArray[Any]) -> Any:
        return values[0] if values.ndim > 1 else float(values[0])

    def _report_rows(self) -> dict[str, str]:
        return {"threshold": f"{self.offset_:.4f}", **super()._report_rows()}
