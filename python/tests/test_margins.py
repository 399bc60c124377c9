"""Margins and dual variables, against their definitions and against scikit-learn's solvers."""

from __future__ import annotations

import numpy as np
import pytest
from compared import on_bases
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.svm import SVC, LinearSVC

from widemargin import BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC, load, save
from widemargin.inspection import dual_variables, margins

X, y = load_iris(return_X_y=True)
# Each sample once: copies are merged where samples are vectors, and not where a function compares them.
X, once = np.unique(X, axis=0, return_index=True)
y = y[once]
X = (X - X.mean(axis=0)) / X.std(axis=0)
TWO = y > 0
EVERY = {"n_basis": len(X), "C": 0.5, "tol": 1e-6}


def signs(y, problem, n_classes):
    return np.where(y == (1 if n_classes == 2 else problem), 1.0, -1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_weights_are_the_sum_of_the_dual_variables_times_the_features(loss):
    intercept = {"fit_intercept": False} if loss == "hinge" else {}
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    model = BasisExpansionSVC("rbf:gamma=0.5", n_basis=30, normalization="none", loss=loss, tol=1e-7, **intercept)
    model.set_params(class_weight="balanced").fit(X, y, sample_weight=weight)
    alpha = dual_variables(model, X, y, weight)
    assert alpha.shape == (len(X), 3)
    assert (alpha >= 0).all()
    phi = rbf_kernel(X, model.basis_, gamma=0.5)
    for problem in range(3):
        rebuilt = (alpha[:, problem] * signs(y, problem, 3)) @ phi
        assert np.allclose(rebuilt, model.coef_[problem], atol=2e-3 * np.abs(model.coef_).max())
    assert np.allclose(margins(model), 1 / (model.coef_.astype(float) ** 2).sum(axis=1), rtol=1e-6)


def test_margin_of_an_expansion_is_that_of_equation_8():
    model = BasisExpansionSVC("rbf:gamma=0.5", normalization="none", loss="hinge", fit_intercept=False, **EVERY)
    model.fit(X, TWO)
    S = rbf_kernel(X, X, gamma=0.5)
    beta = dual_variables(model, X, TWO)[:, 0] * signs(TWO, 0, 2)
    assert margins(model) == pytest.approx(1 / (beta @ S @ S.T @ beta), rel=1e-3)
    peer = LinearSVC(loss="hinge", C=0.5, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(S, TWO)
    assert margins(model) == pytest.approx(1 / (peer.coef_**2).sum(), rel=1e-3)


def test_margin_of_a_nystroem_map_is_that_of_equation_10():
    model = BasisExpansionSVC("rbf:gamma=0.5", normalization="nystroem", **(EVERY | {"n_basis": 40, "tol": 1e-7}))
    model.fit(X, TWO)
    bases = np.asarray(model.basis_, dtype=float)
    K_xb, K_bb = rbf_kernel(X, bases, gamma=0.5), rbf_kernel(bases, gamma=0.5)
    alpha = dual_variables(model, X, TWO)[:, 0] * signs(TWO, 0, 2)
    assert margins(model) == pytest.approx(
        1 / (alpha @ K_xb @ np.linalg.pinv(K_bb, rcond=1e-6) @ K_xb.T @ alpha), rel=1e-3
    )


def test_margin_of_a_kernel_svm_is_that_of_an_independent_solver():
    C = 0.7
    model = ThinPlateSVC(kernel="distance", C=C, standardize=False).fit(X, TWO)
    # The squared hinge is the hinge of a kernel with 1/(2C) added to the diagonal; a constant changes nothing.
    K = -euclidean_distances(X)
    peer = SVC(kernel="precomputed", C=1e9, tol=1e-9).fit(K + 20 + np.eye(len(X)) / (2 * C), TWO)
    expected = np.zeros(len(X))
    expected[peer.support_] = peer.dual_coef_[0]
    assert margins(model) == pytest.approx(1 / (expected @ K @ expected), rel=1e-5)
    alpha = dual_variables(model, X, TWO)[:, 0] * signs(TWO, 0, 2)
    assert np.allclose(alpha, expected, atol=1e-5 * np.abs(expected).max())


def test_margins_of_a_power_mean_svm_survive_saving(tmp_path):
    counts = np.random.default_rng(1).poisson(2.0, (60, 12)) + 4.0 * np.eye(12)[np.arange(60) % 12]
    labels = np.arange(60) % 3
    model = PowerMeanSVC(C=0.1, tol=1e-5).fit(counts, labels)
    alpha = dual_variables(model, counts, labels)
    decision = model.decision_function(counts)
    for problem in range(3):
        sign = signs(labels, problem, 3)
        slack = np.maximum(0, 1 - sign * decision[:, problem])
        assert np.allclose(alpha[:, problem], 2 * 0.1 * slack, rtol=1e-5)
        # Without an intercept ‖w‖² = Σ α y f at the optimum.
        squared = (alpha[:, problem] * sign) @ decision[:, problem]
        assert margins(model)[problem] == pytest.approx(1 / squared, rel=1e-2)
    save(model, tmp_path / "model.wm")
    assert (margins(load(tmp_path / "model.wm")) == margins(model)).all()
    with pytest.raises(ValueError, match="not symmetric"):
        margins(PowerMeanSVC(approximation="polynomial").fit(counts, labels))
    with pytest.raises(ValueError, match="squared-hinge"):
        dual_variables(PowerMeanSVC(loss="hinge").fit(counts, labels), counts, labels)


def test_a_similarity_in_python_has_margins_too():
    def similarity(A, B):
        return rbf_kernel(A, B, gamma=0.5)

    ours = on_bases("rbf:gamma=0.5", n_basis=20, basis="index").fit(X, y)
    same = on_bases(similarity, n_basis=20, basis="index").fit(X, y)
    assert np.allclose(margins(ours), margins(same), rtol=1e-3)
    assert np.allclose(dual_variables(ours, X, y), dual_variables(same, X, y), atol=1e-3)


def test_bad_input_is_named():
    model = on_bases("rbf:gamma=0.5", n_basis=20).fit(X, y)
    with pytest.raises(ValueError, match="not among the classes"):
        dual_variables(model, X, y + 1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        dual_variables(model, X, y[:-1])
    with pytest.raises(NotFittedError):
        margins(on_bases())
