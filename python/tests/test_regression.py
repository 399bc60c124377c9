"""Regression on a basis expansion: against scikit-learn, against refits, and through files and pickles."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import onnxruntime
import pytest
from compared import candidates, expected_error, path
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import BasisExpansionRegressor, load, save, to_onnx


def table(n: int = 60, d: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def weighted_ridge(K: Any, y: Any, weights: Any, C: float, at: Any) -> Any:
    """Kernel ridge regression with a free intercept, by the system that its coefficients solve."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + np.diag(0.5 / C / weights)
    system[:n, n] = system[n, :n] = 1
    solved = np.linalg.solve(system, np.concatenate([y, np.zeros((1, *y.shape[1:]))]))
    return at @ solved[:n] + solved[n]


def rbf(X: Any, Y: Any, gamma: float = 0.3) -> Any:
    return np.exp(-gamma * ((X[:, None].astype(float) - Y[None].astype(float)) ** 2).sum(-1))


def kernel_regressor(C: Any = "auto", **parameters: Any) -> BasisExpansionRegressor:
    return BasisExpansionRegressor("rbf:gamma=0.3", normalization="nystroem", C=C, **parameters)


def test_is_kernel_ridge_regression_with_a_free_intercept() -> None:
    X, y = table()
    K = rbf(X, X)
    for C in (0.1, 10.0):
        found = kernel_regressor(C).fit(X, y).predict(X)
        np.testing.assert_allclose(found, weighted_ridge(K, y, np.ones(len(y)), C, K), atol=1e-5)
    # scikit-learn's has no intercept.
    without = kernel_regressor(0.5, fit_intercept=False).fit(X, y)
    peer = KernelRidge(kernel="rbf", gamma=0.3, alpha=1.0).fit(X, y)
    np.testing.assert_allclose(without.predict(X), peer.predict(X), atol=1e-5)
    assert without.intercept_ == 0.0


def test_is_ridge_regression_on_features_with_the_same_leave_one_out() -> None:
    X, y = table(n=80, d=6)
    found = BasisExpansionRegressor("features", normalization="none", C=0.25).fit(X, y)
    peer = Ridge(alpha=2.0).fit(X.astype(float), y)
    np.testing.assert_allclose(found.coef_, peer.coef_, atol=1e-5)
    assert found.intercept_ == pytest.approx(peer.intercept_, abs=1e-5)
    cross_validated = RidgeCV(alphas=[2.0], store_cv_results=True).fit(X.astype(float), y)
    error = float(np.sqrt(cross_validated.cv_results_.mean()))
    assert expected_error(found) == pytest.approx(error, rel=1e-5)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(6, 14), st.integers(1, 3), st.sampled_from([0.05, 1.0, 20.0]))
def test_leave_one_out_is_that_of_refits(seed: int, n: int, outputs: int, C: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).astype(np.float32)
    Y = rng.normal(size=(n, outputs)) * np.array([1.0, 100.0, 0.01])[:outputs] + 7
    weights = rng.integers(1, 4, size=n).astype(float)
    # The last sample is the first one with other targets: independent draws, of which one is left out; others whole.
    X[-1] = X[0]
    removed = weights.copy()
    removed[[0, -1]] = weights.min()
    K = rbf(X, X)
    truth = np.zeros_like(Y)
    for i in range(n):
        fewer = weights.copy()
        fewer[i] -= removed[i]
        kept = fewer > 0
        at = K[i : i + 1][:, kept]
        truth[i] = weighted_ridge(K[np.ix_(kept, kept)], Y[kept], fewer[kept], C, at)[0]
    errors = np.sqrt((weights[:, None] * (Y - truth) ** 2).sum(0) / weights.sum())
    found = kernel_regressor(C).fit(X, Y, sample_weight=weights)
    assert expected_error(found) == pytest.approx(errors.mean(), rel=1e-4)


def test_the_least_error_of_the_path_is_taken() -> None:
    X, y = table()
    found = kernel_regressor().fit(X, y)
    best = path(found)["score"].argmax()
    assert path(found)["C"][best] == found.C_
    assert path(found)["score"][best] == found.estimated_score_
    assert found.estimated_score_ == pytest.approx(1 - expected_error(found) ** 2 / y.var())
    again = kernel_regressor(found.C_).fit(X, y)
    assert expected_error(again) == pytest.approx(expected_error(found))
    assert len(path(again)["C"]) == 1


def test_weights_are_copies_and_zero_is_absence() -> None:
    X, y = table(n=40)
    weights = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights)
    one = kernel_regressor().fit(X, y, sample_weight=weights.astype(float))
    other = kernel_regressor().fit(X[rows], y[rows])
    assert (one.predict(X) == other.predict(X)).all()
    assert expected_error(one) == expected_error(other)
    fractions = kernel_regressor(1.0).fit(X, y, sample_weight=0.25 + weights / 3)
    K = rbf(X, X)
    np.testing.assert_allclose(fractions.predict(X), weighted_ridge(K, y, 0.25 + weights / 3, 1.0, K), atol=1e-5)


def test_several_outputs_are_fitted_as_one_by_one() -> None:
    X, y = table()
    Y = np.column_stack([y, 1e6 + 5 * y**2, np.full(len(y), 3.0)])
    both = kernel_regressor(2.0).fit(X, Y)
    assert both.predict(X).shape == Y.shape
    alone_errors = []
    assert both.coef_.shape[0] == 3
    for output in range(3):
        alone = kernel_regressor(2.0).fit(X, Y[:, output])
        np.testing.assert_allclose(both.predict(X)[:, output], alone.predict(X), rtol=1e-9)
        alone_errors.append(expected_error(alone))
    assert expected_error(both) == pytest.approx(np.mean(alone_errors), rel=1e-9)
    assert (both.predict(X)[:, 2] == 3.0).all()


def test_the_target_may_be_far_from_zero_and_of_any_size() -> None:
    X, y = table()
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


def test_a_python_similarity_and_a_matrix_are_as_the_named_one(tmp_path: Any) -> None:
    X, y = table()
    named = kernel_regressor(1.0).fit(X, y)
    called = BasisExpansionRegressor(rbf, normalization="nystroem", C=1.0).fit(X, y)
    np.testing.assert_allclose(called.predict(X), named.predict(X), atol=1e-4)
    given = BasisExpansionRegressor("precomputed", normalization="nystroem", C=1.0).fit(rbf(X, X), y)
    np.testing.assert_allclose(given.predict(rbf(X, X)), named.predict(X), atol=1e-4)
    save(called, tmp_path / "called.model")
    same = load(tmp_path / "called.model", trusted=True)
    assert (same.predict(X) == called.predict(X)).all()
    assert (pickle.loads(pickle.dumps(called)).predict(X) == called.predict(X)).all()


def test_files_and_pickles_predict_the_same_bits(tmp_path: Any) -> None:
    X, y = table()
    for target in (y, np.column_stack([y, y**2])):
        fitted = BasisExpansionRegressor("z-score/laplacian", n_basis=20).fit(X, target)
        save(fitted, tmp_path / "one.model")
        for same in (load(tmp_path / "one.model"), pickle.loads(pickle.dumps(fitted))):
            assert (same.predict(X) == fitted.predict(X)).all()
            assert same.C_ == fitted.C_
            assert same.estimated_score_ == fitted.estimated_score_
            assert np.all(expected_error(same) == expected_error(fitted))
            assert len(same.basis_) == 20
    damaged = bytearray((tmp_path / "one.model").read_bytes())
    damaged[-3] ^= 1
    (tmp_path / "one.model").write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged"):
        load(tmp_path / "one.model")


@pytest.mark.parametrize("similarity", ["z-score/rbf", "distance", "laplacian", "linear", "features"])
def test_onnx_predicts_the_same(similarity: str) -> None:
    X, y = table()
    Y = np.column_stack([y, 50 + y**2])
    fitted = BasisExpansionRegressor(similarity).fit(X, Y)
    session = onnxruntime.InferenceSession(to_onnx(fitted).SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(["targets"], {"X": X})
    np.testing.assert_allclose(found, fitted.predict(X), atol=1e-5 * np.abs(Y).max())


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
    session = onnxruntime.InferenceSession(to_onnx(fitted).SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(["targets"], {"X": new})
    np.testing.assert_allclose(found.ravel(), fitted.predict(new), atol=1e-5 * y.std())
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.predict(new), fitted.predict(new))
    single = np.concatenate([fitted.predict(row[None]) for row in new[:5]])
    np.testing.assert_allclose(single, fitted.predict(new)[:5], rtol=0, atol=1e-6 * y.std())


def test_bad_targets_are_told() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="NaN"):
        BasisExpansionRegressor("rbf").fit(X, np.where(np.arange(60) == 3, np.nan, y))
    with pytest.raises(ValueError, match="infinity"):
        BasisExpansionRegressor("rbf").fit(X, np.where(np.arange(60) == 3, np.inf, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        BasisExpansionRegressor("rbf").fit(X, y[:-1])
    with pytest.raises(ValueError, match="convert string"):
        BasisExpansionRegressor("rbf").fit(X, ["a"] * 60)
    with pytest.warns(UserWarning, match="same target"):
        constant = BasisExpansionRegressor("rbf").fit(X, np.full(60, 2.5))
    assert (constant.predict(X) == 2.5).all()
    assert expected_error(constant) == 0.0
    with pytest.raises(ValueError, match="C"):
        BasisExpansionRegressor("rbf", C="best").fit(X, y)


def test_a_fit_no_better_than_the_mean_warns() -> None:
    X, _ = table()
    y = np.random.default_rng(5).normal(size=60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = BasisExpansionRegressor("rbf:gamma=5", normalization="nystroem", C=1000.0).fit(X, y)
    assert found.estimated_score_ < 0
    assert any("no better than the mean" in str(one.message) for one in caught)


def test_the_estimate_is_near_the_score_of_other_samples() -> None:
    X, y = load_diabetes(return_X_y=True)
    chosen = BasisExpansionRegressor(random_state=0).fit(X[:300], y[:300])
    assert abs(chosen.estimated_score_ - chosen.score(X[300:], y[300:])) < 0.1


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([BasisExpansionRegressor("rbf"), BasisExpansionRegressor()])
def test_scikit_learns_checks(estimator, check) -> None:
    check(estimator)
