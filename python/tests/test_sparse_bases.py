"""The L1 penalty and pruned bases, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from compared import on_bases, path
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from widemargin import BasisExpansionSVC
from widemargin.inspection import dual_variables

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
SPARSE = {"penalty": "l1", "normalization": "none", "tol": 1e-5}


def objective(model, features, y, C, power, problem=0):
    sign = np.where(y == problem, 1.0, -1.0)
    slack = np.maximum(0, 1 - sign * (features @ model[0] + model[1]))
    return np.abs(model[0]).sum() + C * (slack**power).sum()


def features_of(model, X, gamma=0.05):
    return rbf_kernel(X, np.asarray(model.basis_, dtype=float), gamma=gamma)


def test_the_squared_hinge_is_that_of_another_solver():
    C = 0.3
    model = BasisExpansionSVC("rbf:gamma=0.05", n_basis=len(X), C=C, fit_intercept=False, **SPARSE).fit(X, y)
    S = rbf_kernel(X, gamma=0.05)
    peer = LinearSVC(penalty="l1", dual=False, C=C, fit_intercept=False, tol=1e-8, max_iter=100_000).fit(S, y)
    for problem in range(3):
        truth = objective((peer.coef_[problem], 0.0), S, y, C, 2, problem)
        found = objective((model.coef_[problem], 0.0), features_of(model, X), y, C, 2, problem)
        assert found == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("normalization", ["mean_norm", "z_score", "none"])
def test_bases_without_a_weight_are_left_out(normalization):
    model = BasisExpansionSVC(["rbf", "linear"], n_basis=60, penalty="l1", normalization=normalization, C=0.2)
    model.fit(X, y)
    kept = len(model.basis_)
    assert kept < 60
    assert model.coef_.shape == (3, 2 * kept)
    assert (model.coef_.reshape(3, 2, kept) != 0).any(axis=(0, 1)).all()
    np.testing.assert_allclose(X[model.basis_indices_], model.basis_, rtol=1e-6)
    assert model.score(X, y) > 0.95
    assert any("bases have a weight" in note for note in model.report_["notes"])


def test_a_smaller_C_keeps_fewer():
    kept = [
        len(BasisExpansionSVC("rbf", n_basis=100, penalty="l1", C=C, normalization="mean_norm").fit(X, y).basis_)
        for C in (0.01, 0.1, 1.0)
    ]
    assert kept[0] <= kept[1] <= kept[2]


@pytest.mark.parametrize("most", [3, 50, 400])
def test_at_most_max_basis_bases_remain_and_they_are_better_than_any(most):
    digits, labels = load_digits(return_X_y=True)
    train, test = slice(0, 900), slice(900, None)
    pruned = on_bases(n_basis=200, max_basis=most).fit(digits[train], labels[train])
    assert len(pruned.basis_) <= most
    assert len(pruned.basis_indices_) == len(pruned.basis_)
    if most == 50:
        usual = on_bases(n_basis=50).fit(digits[train], labels[train])
        assert pruned.score(digits[test], labels[test]) > usual.score(digits[test], labels[test])
        # It is the fit on these bases.
        gamma = pruned.similarity_
        same = on_bases(gamma, basis=pruned.basis_indices_).fit(digits[train], labels[train])
        np.testing.assert_allclose(
            pruned.decision_function(digits[test]), same.decision_function(digits[test]), atol=2e-2
        )
    assert any(f"{min(most, 200)} of 200 bases remain" in note for note in pruned.report_["notes"])


def test_C_is_chosen_on_the_bases_that_are_kept():
    model = BasisExpansionSVC("rbf", n_basis=100, max_basis=15, C="auto", normalization="mean_norm").fit(X, y)
    assert len(model.basis_) <= 15
    assert path(model)["C"].size > 5


def test_sparse_weights_have_no_dual_variables():
    with pytest.raises(ValueError, match="not a sum of the samples"):
        dual_variables(on_bases(penalty="l1").fit(X, y), X, y)
