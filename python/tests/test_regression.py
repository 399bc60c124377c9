"""Regression on a basis expansion: against scikit-learn, against refits, and through files and pickles."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from compared import candidates, expected_error, onnx_outputs
from problems import rbf_kernel, regression_table, ridge_with_intercept
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV

from widemargin import BasisExpansionRegressor


def kernel_regressor(C: Any = "auto", **parameters: Any) -> BasisExpansionRegressor:
    return BasisExpansionRegressor("rbf:gamma=0.3", normalization="nystroem", C=C, **parameters)


def test_is_kernel_ridge_regression_with_a_free_intercept() -> None:
    X, y = regression_table()
    K = rbf_kernel(X, X)
    for C in (0.1, 10.0):
        found = kernel_regressor(C).fit(X, y).predict(X)
        np.testing.assert_allclose(found, ridge_with_intercept(K, y, np.ones(len(y)), C, K), atol=1e-5)
    # scikit-learn's has no intercept.
    without = kernel_regressor(0.5, fit_intercept=False).fit(X, y)
    peer = KernelRidge(kernel="rbf", gamma=0.3, alpha=1.0).fit(X, y)
    np.testing.assert_allclose(without.predict(X), peer.predict(X), atol=1e-5)
    assert without.intercept_ == 0.0


def test_is_ridge_regression_on_features_with_the_same_leave_one_out() -> None:
    X, y = regression_table(n=80, d=6)
    found = BasisExpansionRegressor("features", normalization="none", C=0.25).fit(X, y)
    peer = Ridge(alpha=2.0).fit(X.astype(float), y)
    np.testing.assert_allclose(found.coef_, peer.coef_, atol=1e-5)
    assert found.intercept_ == pytest.approx(peer.intercept_, abs=1e-5)
    cross_validated = RidgeCV(alphas=[2.0], store_cv_results=True).fit(X.astype(float), y)
    error = float(np.sqrt(cross_validated.cv_results_.mean()))
    assert expected_error(found) == pytest.approx(error, rel=1e-5)


def test_the_target_may_be_far_from_zero_and_of_any_size() -> None:
    X, y = regression_table()
    plain = kernel_regressor().fit(X, y).predict(X)
    for factor, shift in ((1e-30, 0.0), (1e30, 0.0), (1.0, 1e9)):
        moved = kernel_regressor().fit(X, factor * y + shift).predict(X)
        np.testing.assert_allclose((moved - shift) / factor, plain, atol=1e-5)


def test_auto_finds_the_columns_that_matter() -> None:
    X, y = make_friedman1(300, n_features=10, noise=0.5, random_state=0)
    Xt, yt = make_friedman1(500, n_features=10, noise=0.0, random_state=1)
    found = BasisExpansionRegressor(random_state=0).fit(X, y)
    assert "weights=" in found.similarity_
    plain = BasisExpansionRegressor("z-score/rbf").fit(X, y)
    assert found.score(Xt, yt) > plain.score(Xt, yt)
    assert found.score(Xt, yt) > 0.97
    assert {"similarity", "score", "mean_fit_time"} <= set(candidates(found)[0])
    assert found.similarity_ == BasisExpansionRegressor(random_state=0, n_jobs=2).fit(X, y).similarity_


def test_weights_of_columns_are_not_learned_from_chance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X @ np.ones(20) + rng.normal(scale=4.0, size=300)
    found = BasisExpansionRegressor(random_state=0).fit(X, y)
    assert "weights=" not in found.similarity_
    # A constant column is no evidence, and gets no weight.
    X, y = make_friedman1(300, n_features=8, noise=0.5, random_state=0)
    X[:, 6] = 3.0
    found = BasisExpansionRegressor(random_state=0).fit(X, y)
    weights = found.similarity_.split("weights=")[1].split("/")[0].split(";")
    assert float(weights[6]) == 0.0
    assert max(map(float, weights)) == 1.0


@pytest.mark.parametrize("kernel", ["rbf:gamma=0.02", "multiquadric:gamma=0.3"])
def test_a_smooth_function_is_learned_as_by_the_exact_kernel(kernel: str) -> None:
    """Much of what is known of it lies in small eigenvalues of the kernel, which must not be dropped."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.5, 1.5, (400, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(scale=0.03, size=400)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    gram = np.exp(-0.02 * squares) if kernel.startswith("rbf") else -np.sqrt(1 + (0.3**2) * squares)
    ones = np.ones((400, 1))
    if not kernel.startswith("rbf"):
        center = np.eye(400) - ones @ ones.T / 400
        gram = center @ gram @ center
    errors = []
    for penalty in np.geomspace(1e-6, 1, 25):
        # Left-out residuals of kernel ridge regression with an unpenalized intercept.
        inverse = np.linalg.inv(gram + penalty * np.eye(400))
        whole = inverse - inverse @ ones @ ones.T @ inverse / (ones.T @ inverse @ ones)
        errors.append(np.sqrt(np.mean((whole @ y / np.diag(whole)) ** 2)))
    normalization = "nystroem" if kernel.startswith("rbf") else "centered"
    ours = BasisExpansionRegressor(kernel, normalization=normalization, n_basis=400).fit(X, y)
    assert expected_error(ours) < 1.1 * min(errors)


def test_auto_takes_any_kind_of_samples() -> None:
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcd"), size=rng.integers(5, 12))) for _ in range(80)]
    counts = np.array([text.count("a") for text in strings], dtype=float)
    assert BasisExpansionRegressor(random_state=0).fit(strings, counts).estimated_score_ > 0.8


def test_a_python_similarity_and_a_matrix_are_as_the_named_one() -> None:
    X, y = regression_table()
    named = kernel_regressor(1.0).fit(X, y)
    called = BasisExpansionRegressor(rbf_kernel, normalization="nystroem", C=1.0).fit(X, y)
    np.testing.assert_allclose(called.predict(X), named.predict(X), atol=1e-4)
    given = BasisExpansionRegressor("precomputed", normalization="nystroem", C=1.0).fit(rbf_kernel(X, X), y)
    np.testing.assert_allclose(given.predict(rbf_kernel(X, X)), named.predict(X), atol=1e-4)


@pytest.mark.parametrize("similarity", ["z-score/rbf:gamma=0.02", "z-score/multiquadric:gamma=0.1"])
def test_onnx_keeps_the_digits_of_a_smooth_function(similarity: str) -> None:
    """Weights on similarities are large there, and cancel."""
    X, y = make_friedman1(300, n_features=6, noise=1e-3, random_state=0)
    new = make_friedman1(100, n_features=6, random_state=1)[0].astype(np.float32)
    normalization = "nystroem" if "rbf" in similarity else "centered"
    fitted = BasisExpansionRegressor(similarity, normalization=normalization).fit(X.astype(np.float32), y)
    arrays = fitted._model.arrays()
    factors = np.abs(arrays["map.0.projection"] @ arrays["weights"][0]).sum()
    assert np.finfo(np.float32).eps * factors > 1e-4 * y.std()
    np.testing.assert_allclose(onnx_outputs(fitted, new)["targets"].ravel(), fitted.predict(new), atol=1e-5 * y.std())
    single = np.concatenate([fitted.predict(row[None]) for row in new[:5]])
    np.testing.assert_allclose(single, fitted.predict(new)[:5], rtol=0, atol=1e-6 * y.std())


def test_a_fit_no_better_than_the_mean_warns() -> None:
    X, _ = regression_table()
    y = np.random.default_rng(5).normal(size=60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = BasisExpansionRegressor("rbf:gamma=5", normalization="nystroem", C=1000.0).fit(X, y)
    assert found.estimated_score_ < 0
    assert any("no better than the mean" in str(one.message) for one in caught)
