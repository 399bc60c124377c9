"""Outlier detection on a basis expansion."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ._base import fitting, with_parameters
from ._compares import Compares
from ._parameters import Samples, SimilarityLike, Targets, Weights, normalization_of, weights_of
from ._report import Row

# The number of bases of a one-class model with n_basis="auto", and the number of samples below which all are bases, as
# in the library.
_BASES, _FEW_SAMPLES = 500, 20


@with_parameters
class BasisExpansionOneClass(OutlierMixin, Compares):
    """Outlier detection for any similarity.

    The score of a sample x is wᵀφ(x), where φ(x) are its features on a set of bases (see `BasisExpansion`), and w
    minimizes Σ (1 − wᵀφ(x))² + κn‖w‖² over the n training samples: this is the least squares one-class SVM in its
    primal form. Outliers are dissimilar to all bases, so that their scores are close to 0. The threshold is a quantile
    of the leave-one-out decision values of the training samples, which have a closed form; it estimates the fraction of
    new samples from the same distribution that lie below it. Samples that are bases are excluded from the quantile,
    because their similarity to themselves is unlike that of a new sample.

    Parameters
    ----------
    similarity : str, object of `widemargin.similarity`, callable, or list of these, default="rbf"
        The similarity; see `BasisExpansionSVC`. Standardize columns with different units, for example with
        "z-score/rbf".
    n_basis : int or "auto", default="auto"
        Maximum number of bases. "auto" is 500, but at most half of the distinct samples, so that the other half
        determines the threshold. With fewer than 20 samples, "auto" uses all of them.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        How the bases are selected from the training samples (see `BasisExpansionSVC`), or the row indices of the bases.
    normalization : {"auto", "nystroem", "centered", "none"}, default="auto"
        The normalization of the similarities. "auto" is "centered" for conditionally positive definite similarities,
        such as a negative distance, "none" for the similarity "features", and "nystroem" otherwise.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        How "nystroem" and "centered" treat negative eigenvalues of the similarities between the bases; see
        `BasisExpansionSVC`.
    quantile : float, default=0.05
        The expected fraction of new samples from the same distribution that are predicted to be outliers: the threshold
        is this quantile of the leave-one-out decision values.
    shrinkage : float, default=0.01
        The regularization κ, in units of the mean square of a feature. Smaller values fit the training samples more
        closely; larger values average the similarities to them.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all random steps. If None, a fixed seed is used: the same samples give the same model.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. If it is too short for a fit on all samples, the model is fitted on a subset, with a
        warning that reports the size of the subset, and has no `leave_one_out_scores_`.
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`. "auto" infers it from X and from the kinds that the similarity
        accepts.

    Attributes
    ----------
    offset_ : float
        The threshold: ``decision_function`` is ``score_samples`` minus this value.
    leave_one_out_scores_ : ndarray of shape (n_samples,)
        The leave-one-out decision values: the score of each training sample under the w that is fitted without it and
        its copies. The scores of bases include their similarity to themselves.
    kind_ : str
        The kind of samples that was used: a value of `kind`, or "precomputed".
    basis_indices_ : ndarray of int
        The indices of the bases among the training samples.
    basis_ : array or list
        The bases, in the same form as the training samples.
    similarity_ : str or list of str
        The spec of the similarity, or of each similarity of a list, including learned parameter values.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The importance of each column of a table: its share of the column weights in `similarity_`, averaged over the
        similarities that have weights. The importance of a column of categories is the sum over its categories. Only
        if a similarity has column weights.
    normalization_ : str
        The normalization, set or selected.
    coef_ : ndarray of shape (n_features,)
        The weights of the normalized similarities.
    n_iter_ : int
        Always 1, because the solution has a closed form.
    report_ : dict
        Seconds per stage, and warnings.

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
        """Fits the model to samples of any kind that the similarity compares.

        Parameters
        ----------
        X : samples
            Vectors, images, grids, time series, strings, sets or graphs; for a callable similarity, any sequence.
        y : ignored
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of k is equivalent to k copies of the sample, a weight of 0 to leaving it out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, None, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        return {
            "normalization": normalization_of(self, "auto"),
            "quantile": float(self.quantile),
            "shrinkage": float(self.shrinkage),
        }

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> Any:
        return weights_of(sample_weight, n_samples)

    def _n_basis_of(self, n_samples: int) -> int:
        usual = n_samples if n_samples < _FEW_SAMPLES else min(n_samples // 2, _BASES)
        return max(usual if isinstance(self.n_basis, str) else min(int(self.n_basis), n_samples), 1)

    def score_samples(self, X: Samples) -> npt.NDArray[np.float64]:
        """Computes the score of each sample: about 1 for samples like the training samples, closer to 0 for others.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), larger for samples that are more like the training samples
        """
        check_is_fitted(self)
        return self._model.predict(self._collected(X), self._threads()).ravel()

    def decision_function(self, X: Samples) -> npt.NDArray[np.float64]:
        """Computes ``score_samples`` minus the threshold.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), below 0 for outliers
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> npt.NDArray[np.int64]:
        """Predicts whether samples are outliers.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), 1 for inliers and -1 for outliers
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def leave_one_out_scores_(self) -> npt.NDArray[np.float64]:
        """The leave-one-out decision values of the training samples."""
        return self._arrays()["loo_scores"]

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        self.offset_ = float(header["threshold"])

    def _report_rows(self) -> dict[str, str]:
        return {"threshold": f"{self.offset_:.4f}", **super()._report_rows()}
