"""Weights and bases of an expansion's similarities, against the definition in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from compared import on_bases
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from widemargin import BasisExpansion, BasisExpansionSVC
from widemargin.inspection import BasisDisplay
from widemargin.similarity import RBF, Laplacian

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
PAIR = ["rbf:gamma=0.05,weight=3", "laplacian:gamma=0.1,weight=0.25,bases=7"]


def mean_norm(block):
    centered = block - block.mean(axis=0)
    return centered / np.linalg.norm(centered, axis=1).mean()


def z_score(block):
    return (block - block.mean(axis=0)) / block.std(axis=0)


@pytest.mark.parametrize("normalize", [mean_norm, z_score, np.asarray])
def test_features_are_scaled_and_on_their_own_bases(normalize):
    name = {mean_norm: "mean_norm", z_score: "z_score", np.asarray: "none"}[normalize]
    expansion = BasisExpansion(PAIR, n_basis=20, normalization=name).fit(X, y)
    features, bases = expansion.transform(X), np.asarray(expansion.basis_, dtype=float)
    assert features.shape == (len(X), 27)
    own = bases[np.arange(7) * 20 // 7]
    expected = [3 * normalize(rbf_kernel(X, bases, gamma=0.05)), 0.25 * normalize(laplacian_kernel(X, own, gamma=0.1))]
    np.testing.assert_allclose(features, np.hstack(expected), atol=1e-4)


@pytest.mark.parametrize("normalization", ["nystroem", "covariance"])
def test_gram_matrices_of_mixed_maps_are_scaled(normalization):
    plain = [spec.replace("weight=3", "weight=1").replace(",weight=0.25", "") for spec in PAIR]
    make = {"n_basis": 20, "normalization": normalization}
    weighted, same = (BasisExpansion(specs, **make).fit(X, y).transform(X) for specs in (PAIR, plain))
    np.testing.assert_allclose(weighted[:, :20], 3 * same[:, :20], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(weighted[:, 20:], 0.25 * same[:, 20:], rtol=1e-4, atol=1e-4)
    assert weighted.shape[1] <= 27


def test_models_keep_both():
    model = on_bases(PAIR, n_basis=20).fit(X, y)
    assert model.similarity_ == PAIR
    assert model.coef_.shape == (3, 27)
    shown = BasisDisplay.from_estimator(model, 5)
    assert len(shown.groups[0][1]) == 5


def test_a_callable_together_with_a_similarity_with_its_own_bases():
    def similarity(A, B):
        return rbf_kernel(A, B, gamma=0.05)

    mixed = on_bases([similarity, PAIR[1]], n_basis=20).fit(X, y)
    named = on_bases(["rbf:gamma=0.05", PAIR[1]], n_basis=20).fit(X, y)
    assert mixed.coef_.shape == named.coef_.shape == (3, 27)
    assert mixed.score(X, y) == pytest.approx(named.score(X, y), abs=0.01)


def test_objects_spell_the_options():
    assert RBF(gamma=2).in_expansion(weight=0.5, bases=9).spec == "rbf:gamma=2,weight=0.5,bases=9"
    assert RBF(gamma=2).in_expansion(weight="auto").in_expansion(bases=3).spec == "rbf:gamma=2,bases=3"
    assert Laplacian().in_expansion().spec == "laplacian"
    for wrong in ({"weight": 0}, {"weight": "much"}, {"bases": 0}):
        with pytest.raises(ValueError, match=r"weight|bases"):
            RBF().in_expansion(**wrong)


@pytest.mark.parametrize("C", [1.0, "auto"])
def test_learned_weights_are_worth_it(C):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((600, 12))
    signal = rng.standard_normal((600, 2))
    labels = (signal[:, 0] * signal[:, 1] > 0).astype(int)
    data = np.hstack([signal, noise])

    # All columns, most of them noise, together with one that fits: the second must count for more.
    specs = ["rbf:gamma=0.05,weight=auto", "polynomial:degree=2,gamma=0.1,coef0=0,weight=auto"]
    model = BasisExpansionSVC(specs, n_basis=200, C=C, normalization="nystroem").fit(data[:300], labels[:300])
    weights = [float(spec.partition("weight=")[2].split(",")[0] or 1) for spec in model.similarity_]
    plain = [spec.replace(",weight=auto", "") for spec in specs]
    equal = BasisExpansionSVC(plain, n_basis=200, C=C, normalization="nystroem").fit(data[:300], labels[:300])
    assert any("weights of similarities were learned" in note for note in model.report_["notes"])
    assert all("auto" not in spec for spec in model.similarity_)
    assert weights[0] != weights[1]
    assert model.score(data[300:], labels[300:]) >= equal.score(data[300:], labels[300:]) - 0.01
    # The same numbers, given, are the same features.
    given = BasisExpansionSVC(model.similarity_, n_basis=200, C=model.C_, normalization="nystroem", tol=1e-6)
    again = given.fit(data[:300], labels[:300]).decision_function(data)
    np.testing.assert_allclose(
        again, model.set_params(tol=1e-6).fit(data[:300], labels[:300]).decision_function(data), atol=0.02
    )


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="only a classifier"):
        BasisExpansion("rbf:weight=auto").fit(X, y)
    with pytest.raises(ValueError, match="bring their columns"):
        on_bases("precomputed:weight=2").fit(X @ X.T, y)
