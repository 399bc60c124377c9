"""Engines that are more than one class of their package, in scikit-learn's manner: what a user would write himself.

Each is a pipeline, or a class with `fit` and `predict`. Packages are imported when an engine is made, so that only
those that are run must be installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_approximation import AdditiveChi2Sampler, Nystroem
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler
from sklearn.svm import SVC, LinearSVC

# The band that warping paths keep to, as a share of the length: the same for every engine.
WINDOW = 0.1


def _linear(C: float, random_state: int) -> LinearSVC:
    return LinearSVC(C=C, dual="auto", random_state=random_state)


def nystroem(n_components: int, random_state: int, gamma: float = 1.0, C: float = 1.0) -> Pipeline:
    features = Nystroem(n_components=n_components, gamma=gamma, random_state=random_state)
    return make_pipeline(features, _linear(C, random_state))


def chi2_sampler(random_state: int, C: float = 1.0) -> Pipeline:
    return make_pipeline(MaxAbsScaler(), AdditiveChi2Sampler(sample_steps=2), _linear(C, random_state))


def linear_on_roots(random_state: int, C: float = 1.0) -> Pipeline:
    roots = FunctionTransformer(np.sqrt, accept_sparse=True)
    return make_pipeline(MaxAbsScaler(), roots, _linear(C, random_state))


def tfidf_linear(random_state: int, C: float = 1.0) -> Pipeline:
    from sklearn.feature_extraction.text import TfidfVectorizer

    counts = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True)
    return make_pipeline(counts, _linear(C, random_state))


class MatrixSvc(ClassifierMixin, BaseEstimator):
    """SVC on the whole kernel matrix: every pair at fit, every training sample at predict."""

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: np.ndarray) -> MatrixSvc:
        self.samples_ = X
        self.svc_ = SVC(C=self.C, kernel="precomputed", cache_size=2000).fit(self.kernel(X, X), y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        # In parts: a whole block of test × training samples can be larger than the training matrix.
        parts = [self.svc_.predict(self.kernel(X[at : at + 2000], self.samples_)) for at in range(0, _length(X), 2000)]
        return np.concatenate(parts)

    def kernel(self, left: Any, right: Any) -> np.ndarray:
        raise NotImplementedError


class ExactChi2(MatrixSvc):
    """The additive chi2 kernel, 2xy/(x + y) over the columns, which our power mean SVM approximates."""

    def fit(self, X: sp.csr_matrix, y: np.ndarray) -> ExactChi2:
        # Whole counts: a column that is empty here, and may not be in a test, is taken as if its maximum were 1.
        self.top_ = np.asarray(X.max(axis=0).todense()).ravel().clip(1)
        super().fit(X, y)
        return self

    def kernel(self, left: sp.csr_matrix, right: sp.csr_matrix) -> np.ndarray:
        import chi_square

        return chi_square.kernel(left, right, self.top_)


class TanimotoSvc(MatrixSvc):
    def kernel(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        left, right = left.astype(np.float32), right.astype(np.float32)
        shared = left @ right.T
        return shared / np.maximum(left.sum(1)[:, None] + right.sum(1) - shared, 1)


class EditSvc(MatrixSvc):
    """exp(−gamma × edit distance over the longer length)."""

    def __init__(self, gamma: float = 1.0, C: float = 1.0) -> None:
        super().__init__(C)
        self.gamma = gamma

    def kernel(self, left: list[str], right: list[str]) -> np.ndarray:
        return np.exp(-self.gamma * _edit_distances(left, right))


class EditNeighbor(ClassifierMixin, BaseEstimator):
    def __init__(self, n_neighbors: int = 1) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: list[str], y: np.ndarray) -> EditNeighbor:
        self.samples_, self.labels_ = X, y
        return self

    def predict(self, X: list[str]) -> np.ndarray:
        neighbors = KNeighborsClassifier(self.n_neighbors, metric="precomputed")
        # It wants a square matrix to fit and looks at its size alone.
        neighbors.fit(np.zeros((len(self.samples_), len(self.samples_)), np.float32), self.labels_)
        parts = [X[at : at + 2000] for at in range(0, len(X), 2000)]
        return np.concatenate([neighbors.predict(_edit_distances(part, self.samples_)) for part in parts])


def _edit_distances(left: list[str], right: list[str]) -> np.ndarray:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    return cdist(left, right, scorer=Levenshtein.normalized_distance, dtype=np.float32, workers=1)


def aeon_neighbor(n_jobs: int) -> Any:
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    return KNeighborsTimeSeriesClassifier(distance="dtw", distance_params={"window": WINDOW}, n_jobs=n_jobs)


def aeon_minirocket(random_state: int, n_jobs: int) -> Any:
    from aeon.classification.convolution_based import MiniRocketClassifier

    return MiniRocketClassifier(random_state=random_state, n_jobs=n_jobs)


class TslearnNeighbor(ClassifierMixin, BaseEstimator):
    """Its band is in points of time, which are known when the series are."""

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: np.ndarray, y: np.ndarray) -> TslearnNeighbor:
        from tslearn.neighbors import KNeighborsTimeSeriesClassifier

        band = {"global_constraint": "sakoe_chiba", "sakoe_chiba_radius": int(WINDOW * X.shape[1])}
        self.neighbor_ = KNeighborsTimeSeriesClassifier(1, metric="dtw", metric_params=band, n_jobs=self.n_jobs)
        self.neighbor_.fit(X[:, :, None], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.neighbor_.predict(X[:, :, None])


def tslearn_svc(random_state: int, n_jobs: int, C: float = 1.0) -> Any:
    from tslearn.svm import TimeSeriesSVC

    return TimeSeriesSVC(C=C, kernel="gak", gamma="auto", n_jobs=n_jobs, random_state=random_state)


def _length(samples: Any) -> int:
    return samples.shape[0] if hasattr(samples, "shape") else len(samples)
