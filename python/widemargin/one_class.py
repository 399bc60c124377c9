"""Outlier detection on basis expansions."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ._base import fitting, with_parameters
from ._compares import Compares
from ._parameters import Samples, SimilarityLike, Targets, Weights, normalization_of
from ._report import Row

# The number of bases of a one-class model with n_basis="auto", and the number of samples below which all are bases, as
# in the library.
_BASES, _FEW_SAMPLES = 500, 20


@with_parameters
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
        The similarity to the bases. For columns with different units, standardize them, as in "z-score/rbf".
    n_basis : int or "auto", default="auto"
        The largest number of bases. "auto" is 500, and at most half of the distinct samples, so that the other half
        determines the threshold; with fewer than 20 samples it is all.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        The selection of bases from the training samples, or their row indices.
    normalization : {"auto", "nystroem", "centered", "none"}, default="auto"
        The normalization of the similarities. "auto" is "centered" for conditionally positive definite similarities,
        such as minus a distance, "none" for a sample's own features, and "nystroem" for others.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        The treatment, by "nystroem" and "centered", of negative eigenvalues of the similarities between the bases.
    quantile : float, default=0.05
        The expected share of new samples of the same kind that are predicted to be outliers: the quantile of the
        leave-one-out decision values that is the threshold.
    shrinkage : float, default=0.01
        κ in units of the mean square of a feature. Small values follow the samples closely, large ones average the
        similarities to them.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        None means a fixed seed: the same samples give the same model.
    verbose : int, default=0
        0 is silent, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Limit in seconds. If it does not allow a fit on all samples, the model is fitted to as many as it allows, and a
        warning states their number; it then has no `leave_one_out_scores_`.
    kind : str, default="auto"
        The kind of samples, one of those of `BasisExpansionSVC`. "auto" infers it from the collection and from what the
        similarity compares.

    Attributes
    ----------
    offset_ : float
        The threshold of ``score_samples``.
    leave_one_out_scores_ : ndarray of shape (n_samples,)
        Leave-one-out decision values: ``score_samples`` of each training sample from a w without it; for bases
        including their similarity to themselves.
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    basis_indices_ : ndarray of int
        The training rows of the bases.
    basis_ : array or list
        The bases, in the form of the training samples.
    similarity_ : str or list of str
        The spec of the similarity, or of each of several, with learned values.
    normalization_ : str
        The normalization of the fit.
    coef_ : ndarray of shape (n_features,)
        Weights on the normalized similarities.
    n_iter_ : int
        1: the solution has a closed form.
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

    similarity: SimilarityLike = field(default="rbf", kw_only=False)
    normalization: str = "auto"
    quantile: float = 0.05
    shrinkage: float = 0.01
    _is_flat = True
    _precomputed_normalization = "nystroem"
    _task = "outlier-detection"

    @fitting
    def fit(self, X: Samples, y: Targets | None = None, sample_weight: Weights = None) -> Self:
        """Learns what samples are like.

        Parameters
        ----------
        X : samples
            Vectors, images, grids, series, strings, sets or graphs; any sequence if the similarity is a callable.
        y : ignored
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, None, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        return {
            "normalization": normalization_of(self, "auto"),
            "contamination": float(self.quantile),
            "shrinkage": float(self.shrinkage),
        }

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> Any:
        self._check_number(n_samples)
        return self._weights(sample_weight, n_samples)

    def _n_basis_of(self, n_samples: int) -> int:
        usual = n_samples if n_samples < _FEW_SAMPLES else min(n_samples // 2, _BASES)
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
        return self._model.score_samples(self._collected(X), self._threads())

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
    def leave_one_out_scores_(self) -> npt.NDArray[np.float64]:
        """``score_samples`` of each training sample from a w without it."""
        return self._arrays()["loo_scores"]

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        # The name contamination promises the share of the training samples in scikit-learn.
        return super()._stored_parameters(header) | {"quantile": header["contamination"]}

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        self.offset_ = float(header["threshold"])

    def _report_rows(self) -> dict[str, str]:
        return {"threshold": f"{self.offset_:.4f}", **super()._report_rows()}
