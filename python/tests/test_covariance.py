"""Covariance normalization, against its formula in NumPy and scikit-learn's whitening."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

from widemargin import BasisExpansion, BasisExpansionSVC

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def test_features_are_those_of_the_formula():
    expansion = BasisExpansion(["rbf:gamma=0.05", "linear"], n_basis=20, normalization="covariance").fit(X, y)
    features, bases = expansion.transform(X), np.asarray(expansion.basis_, dtype=float)
    for columns, raw in ((slice(20), rbf_kernel(X, bases, gamma=0.05)), (slice(20, 40), X @ bases.T)):
        values, vectors = np.linalg.eigh(np.cov(raw.T, bias=True))
        # Thirteen dimensions give 20 linear similarities a covariance of rank 13.
        floored = np.maximum(values, 1e-4 * values.max())
        expected = (raw - raw.mean(axis=0)) @ (vectors / np.sqrt(floored)) @ vectors.T
        np.testing.assert_allclose(features[:, columns], expected, atol=2e-2)
        whitened = PCA(whiten=True, n_components=8).fit_transform(raw)
        np.testing.assert_allclose(expected[:9] @ expected.T @ whitened, len(X) * whitened[:9], rtol=0.02, atol=0.1)


@pytest.mark.parametrize("C", [0.1, "auto"])
def test_it_learns(C):
    model = BasisExpansionSVC("rbf:gamma=0.05", n_basis=60, normalization="covariance", C=C).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.93
    # Weights on features and weights on similarities are the same classifier.
    features = BasisExpansion("rbf:gamma=0.05", n_basis=60, normalization="covariance").fit(X[::2], y[::2]).transform(X)
    assert features.shape == (len(X), 60)
    np.testing.assert_allclose(features @ model.coef_.T + model.intercept_, model.decision_function(X), atol=2e-3)


def test_constant_similarities_give_nothing():
    model = BasisExpansionSVC(lambda A, B: np.full((len(A), len(B)), 0.3), n_basis=5, normalization="covariance")
    assert np.allclose(model.fit(X, y).decision_function(X), model.intercept_)
