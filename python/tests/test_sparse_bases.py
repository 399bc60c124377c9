"""The L1 penalty and pruned bases, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from compared import path
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from widemargin import BasisExpansionSVC, load, save
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
def test_bases_without_a_weight_are_left_out(tmp_path, normalization):
    model = BasisExpansionSVC(["rbf", "linear"], n_basis=60, penalty="l1", normalization=normalization, C=0.2)
    model.fit(X, y)
    kept = len(model.basis_)
    assert kept < 60
    assert model.coef_.shape == (3, 2 * kept)
    assert (model.coef_.reshape(3, 2, kept) != 0).any(axis=(0, 1)).all()
    np.testing.assert_allclose(X[model.basis_indices_], model.basis_, rtol=1e-6)
    assert model.score(X, y) > 0.95
    assert any("bases have a weight" in note for note in model.report_["notes"])
    save(model, tmp_path / "model.wm")
    again = load(tmp_path / "model.wm")
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert again.penalty == "l1"


def test_a_smaller_C_keeps_fewer_and_weights_are_copies():
    kept = [
        len(BasisExpansionSVC("rbf", n_basis=100, penalty="l1", C=C, normalization="mean_norm").fit(X, y).basis_)
        for C in (0.01, 0.1, 1.0)
    ]
    assert kept[0] <= kept[1] <= kept[2]
    counts = np.random.default_rng(0).integers(1, 3, len(X))
    model = BasisExpansionSVC("rbf:gamma=0.05", n_basis=50, penalty="l1", C=0.2, tol=1e-6, normalization="mean_norm")
    by_weight = model.fit(X, y, sample_weight=counts).report_["objective"]
    by_copies = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).report_["objective"]
    assert by_weight == pytest.approx(by_copies, rel=1e-4)


@pytest.mark.parametrize("most", [3, 50, 400])
def test_at_most_max_basis_bases_remain_and_they_are_better_than_any(most):
    digits, labels = load_digits(return_X_y=True)
    train, test = slice(0, 900), slice(900, None)
    pruned = BasisExpansionSVC("rbf", n_basis=200, max_basis=most, normalization="mean_norm", C=1.0).fit(
        digits[train], labels[train]
    )
    assert len(pruned.basis_) <= most
    assert len(pruned.basis_indices_) == len(pruned.basis_)
    if most == 50:
        usual = BasisExpansionSVC("rbf", n_basis=50, normalization="mean_norm", C=1.0).fit(digits[train], labels[train])
        assert pruned.score(digits[test], labels[test]) > usual.score(digits[test], labels[test])
        # It is the fit on these bases.
        gamma = pruned.similarity_
        same = BasisExpansionSVC(gamma, basis=pruned.basis_indices_, normalization="mean_norm", C=1.0).fit(
            digits[train], labels[train]
        )
        np.testing.assert_allclose(
            pruned.decision_function(digits[test]), same.decision_function(digits[test]), atol=2e-2
        )
    assert any(f"{min(most, 200)} of 200 bases remain" in note for note in pruned.report_["notes"])


def test_C_is_chosen_on_the_bases_that_are_kept():
    model = BasisExpansionSVC("rbf", n_basis=100, max_basis=15, C="auto", normalization="mean_norm").fit(X, y)
    assert len(model.basis_) <= 15
    assert path(model)["C"].size > 5


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="number above 0 with penalty l1"):
        BasisExpansionSVC(penalty="l1", C="auto", similarity="rbf", normalization="mean_norm").fit(X, y)
    with pytest.raises(ValueError, match="squared_hinge with penalty l1"):
        BasisExpansionSVC(penalty="l1", loss="hinge", similarity="rbf", normalization="mean_norm", C=1.0).fit(X, y)
    for options in ({"penalty": "l1"}, {"max_basis": 5}):
        with pytest.raises(ValueError, match="where each feature belongs to a basis"):
            BasisExpansionSVC("rbf", normalization="nystroem", C=1.0, **options).fit(X, y)
        with pytest.raises(ValueError, match="compare with all bases"):
            BasisExpansionSVC("rbf:bases=5", C=1.0, **options).fit(X, y)
    with pytest.raises(ValueError, match="max_basis"):
        BasisExpansionSVC(max_basis=0, similarity="rbf", normalization="mean_norm", C=1.0).fit(X, y)
    with pytest.raises(ValueError, match="not a sum of the samples"):
        dual_variables(
            BasisExpansionSVC(penalty="l1", similarity="rbf", normalization="mean_norm", C=1.0).fit(X, y), X, y
        )
