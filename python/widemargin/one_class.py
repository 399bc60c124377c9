"""One class: which samples are unlike those of the training."""

from __future__ import annotations

import io
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._base import fitting
from .transformers import Expanding

__all__ = ["BasisExpansionOneClass"]

_Floats = npt.NDArray[np.float64]

# Of fewer samples than this that are no bases, all set the threshold.
_FEWEST = 20


class BasisExpansionOneClass(OutlierMixin, Expanding):
    """Tells samples that are unlike the training ones, by any similarity.

    The score of a sample is wᵀφ(x), with its features in the expansion (see `BasisExpansion`) and the w for which it is
    nearest to 1 on the training samples, Σ (1 − wᵀφ(x))² + κn‖w‖²: the least squares one-class machine, in the primal.
    Samples like none of the training have similarities, and a score, of about 0. The score of every training sample
    *left out* has a closed form, and the threshold is a quantile of left-out scores: it says what share of new samples
    of the same kind is to be expected beyond it. Samples that are bases do not count for it, since their similarity to
    themselves is not that of a new sample.

    Parameters
    ----------
    similarity : str, object of `widemargin.similarity`, callable, or list of these, default="rbf"
    n_basis : int or "auto", default="auto"
        Number of bases, at most. "auto" is 500, and at most half of the samples, so that the other half sets the
        threshold.
    basis : str or array of int, default="index"
    normalization : str, default="nystrom"
        As in `BasisExpansion`; one that centres the features ("mean_norm", "z_score", "covariance") leaves nothing by
        which samples without similarities are told.
    quantile : float, default=0.05
        The share of samples like the training ones that is expected to be taken for outliers: the quantile of left-out
        scores that is the threshold.
    shrinkage : float, default=0.01
        κ in units of the mean square of a feature. Little follows the samples closely, much averages similarities to
        them.
    n_jobs : int or None, default=None
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of multichannel time series, as in `BasisExpansionSVC`.

    Attributes
    ----------
    offset_ : float
        The threshold of ``score_samples``.
    left_out_scores_ : ndarray of shape (n_samples,)
        ``score_samples`` of each training sample from a w without it; of a base too, with its similarity to itself.
    basis_indices_ : ndarray of int
    bases_ : array or list
    similarities_ : list of str

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: Any = "rbf",
        *,
        n_basis: int | str = "auto",
        basis: Any = "index",
        normalization: str = "nystrom",
        quantile: float = 0.05,
        shrinkage: float = 0.01,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        layout: str = "auto",
    ) -> None:
        self.similarity = similarity
        self.n_basis = n_basis
        self.basis = basis
        self.normalization = normalization
        self.quantile = quantile
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.layout = layout

    @fitting
    def fit(self, X: Any, y: Any = None) -> BasisExpansionOneClass:
        """Learns what samples are like.

        Parameters
        ----------
        X : samples, as in `BasisExpansionSVC.fit`
        y : ignored

        Returns
        -------
        BasisExpansionOneClass
            The fitted estimator itself.
        """
        n_basis = None if isinstance(self.n_basis, str) else int(self.n_basis)
        phi = self._expanded(X, None, n_basis, self._seed()).astype(np.float64)
        if len(phi) < 2:
            raise ValueError(f"n_samples={len(phi)}: the threshold takes at least 2 samples")
        solved = Solved.of(phi.T @ phi, phi.sum(axis=0), float(self.shrinkage))
        self._take_solution(solved.weights, solved.left_out(phi))
        return self

    def _take_solution(self, weights: _Floats, left_out: _Floats) -> None:
        """Sets the solution, and the threshold by the left-out scores of all samples."""
        is_base = np.zeros(len(left_out), dtype=bool)
        is_base[self.basis_indices_] = True
        judged = np.flatnonzero(~is_base)
        if len(judged) < _FEWEST:
            judged = np.arange(len(left_out))
        self.left_out_scores_, self._weights = left_out, weights
        self.offset_ = _quantile(left_out[judged], float(self.quantile))

    def score_samples(self, X: Any) -> _Floats:
        """The value of each sample: about 1 for those like the training samples, towards 0 for others.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), the larger the more like the training samples
        """
        check_is_fitted(self)
        return self._features(X).astype(np.float64) @ self._weights

    def decision_function(self, X: Any) -> _Floats:
        """``score_samples`` less the threshold.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), below 0 for outliers
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Whether samples are like the training ones.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,), 1 for samples like the training ones and -1 for outliers
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _payload(self) -> bytes:
        """What a model file holds beside the expansion: arrays of NumPy, which are read without pickle."""
        arrays = {
            "weights": self._weights,
            "left_out_scores": self.left_out_scores_,
            "basis_indices": self.basis_indices_,
            "numbers": np.array([self.offset_, float(self.quantile), float(self.shrinkage)]),
        }
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()

    def _take(self, payload: bytes) -> None:
        """The fitted state of a payload."""
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            self._weights = arrays["weights"]
            self.left_out_scores_, self.basis_indices_ = arrays["left_out_scores"], arrays["basis_indices"]
            self.offset_, self.quantile, self.shrinkage = (float(number) for number in arrays["numbers"])


@dataclass(frozen=True)
class Solved:
    """w with the least Σ (1 − wᵀx)² + κn‖w‖² over n rows x.

    With A = Σ x xᵀ + κn I and the leverage h = xᵀA⁻¹x of a row, its value without it is 1 − (1 − wᵀx) / (1 − h): exact,
    at the same penalty κn (Sherman and Morrison).
    """

    weights: _Floats
    # Eigenvectors of A in columns, and their eigenvalues inverted.
    vectors: _Floats
    inverse: _Floats

    @classmethod
    def of(cls, products: _Floats, sums: _Floats, shrinkage: float) -> Solved:
        """Of Σ x xᵀ and Σ x."""
        # Where all features are 0 any unit will do.
        unit = float(np.trace(products)) / len(products) or 1.0
        values, vectors = linalg.eigh(products)
        inverse = 1.0 / (np.maximum(values, 0.0) + shrinkage * unit)
        return cls(vectors @ (inverse * (sums @ vectors)), vectors, inverse)

    def left_out(self, rows: _Floats) -> _Floats:
        """The values of rows from a w without each."""
        leverages = (rows @ self.vectors) ** 2 @ self.inverse
        values: _Floats = 1.0 - (1.0 - rows @ self.weights) / np.maximum(1.0 - leverages, np.finfo(float).eps)
        return values


def _quantile(scores: _Floats, share: float) -> float:
    """The score that a new one is below with this probability: of n known ones the (n + 1)·share-th."""
    at = int(np.ceil(share * (len(scores) + 1) - 1e-9)) - 1
    return float(np.sort(scores)[max(at, 0)])
