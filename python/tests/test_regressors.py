"""What holds for every regressor: leave-one-out against refits, several outputs, bad targets, ONNX, and estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compared import expected_error, path
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import rbf_kernel, regression_table, ridge_with_intercept
from sklearn.datasets import load_diabetes

from widemargin import BasisExpansionRegressor, ThinPlateRegressor

Make = Callable[..., Any]


def on_rbf(C: Any = "auto", **parameters: Any) -> BasisExpansionRegressor:
    return BasisExpansionRegressor("rbf:gamma=0.3", normalization="nystroem", C=C, **parameters)


def on_distances(C: Any = "auto", **parameters: Any) -> ThinPlateRegressor:
    return ThinPlateRegressor("distance", C=C, **parameters)


def minus_distance(A: Any, B: Any) -> Any:
    return -np.sqrt(((A[:, None] - B[None]) ** 2).sum(-1))


each = pytest.mark.parametrize("make", [on_rbf, on_distances])


@each
def test_the_smallest_leave_one_out_error_of_the_path_is_selected(make: Make) -> None:
    X, y = regression_table()
    found = make().fit(X, y)
    best = path(found)["score"].argmax()
    assert path(found)["C"][best] == found.C_
    assert path(found)["score"][best] == found.estimated_score_
    assert found.estimated_score_ == pytest.approx(1 - expected_error(found) ** 2 / y.var())
    again = make(found.C_).fit(X, y)
    assert expected_error(again) == pytest.approx(expected_error(found))
    assert len(path(again)["C"]) == 1


@pytest.mark.parametrize(("make", "kernel", "rtol"), [(on_rbf, rbf_kernel, 1e-4), (on_distances, minus_distance, 1e-6)])
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(6, 14), st.integers(1, 3), st.sampled_from([0.05, 1.0, 20.0]))
def test_leave_one_out_is_that_of_refits(
    make: Make, kernel: Any, rtol: float, seed: int, n: int, outputs: int, C: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).astype(np.float32).astype(float)
    Y = rng.normal(size=(n, outputs)) * np.array([1.0, 100.0, 0.01])[:outputs] + 7
    weights = rng.integers(1, 4, size=n).astype(float)
    # Targets that are unlike all others are no independent draws, also of two samples at one place.
    X[-1] = X[0]
    K = kernel(X, X)
    truth = np.zeros_like(Y)
    for i in range(n):
        fewer = weights.copy()
        fewer[i] = 0
        rest = fewer > 0
        truth[i] = ridge_with_intercept(K[np.ix_(rest, rest)], Y[rest], fewer[rest], C, K[i : i + 1][:, rest])[0]
    errors = np.sqrt((weights[:, None] * (Y - truth) ** 2).sum(0) / weights.sum())
    found = make(C).fit(X, Y, sample_weight=weights)
    assert expected_error(found) == pytest.approx(errors.mean(), rel=rtol)
    if make is on_distances:
        expected = ridge_with_intercept(K, Y, weights, C, K)
        np.testing.assert_allclose(found.predict(X), expected, rtol=1e-7, atol=1e-9)


@each
def test_several_outputs_are_fitted_as_one_by_one(make: Make) -> None:
    X, y = regression_table()
    Y = np.column_stack([y, 1e6 + 5 * y**2, np.full(len(y), 3.0)])
    both = make(2.0).fit(X, Y)
    assert both.predict(X).shape == Y.shape
    assert both.coef_.shape[0] == 3
    alone_errors = []
    for output in range(3):
        alone = make(2.0).fit(X, Y[:, output])
        np.testing.assert_allclose(both.predict(X)[:, output], alone.predict(X), rtol=1e-9)
        alone_errors.append(expected_error(alone))
    assert expected_error(both) == pytest.approx(np.mean(alone_errors), rel=1e-9)
    assert (both.predict(X)[:, 2] == 3.0).all()


@pytest.mark.parametrize("make", [BasisExpansionRegressor, ThinPlateRegressor])
def test_bad_targets_raise(make: Make) -> None:
    X, y = regression_table()
    regressor = make("rbf:gamma=0.3")
    with pytest.raises(ValueError, match="NaN"):
        regressor.fit(X, np.where(np.arange(60) == 3, np.nan, y))
    with pytest.raises(ValueError, match="infinity"):
        regressor.fit(X, np.where(np.arange(60) == 3, np.inf, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        regressor.fit(X, y[:-1])
    with pytest.raises(ValueError, match="convert string"):
        regressor.fit(X, ["a"] * 60)
    with pytest.warns(UserWarning, match="same target"):
        constant = make().fit(X, np.full(60, 2.5))
    assert (constant.predict(X) == 2.5).all()
    assert expected_error(constant) == 0.0
    with pytest.raises(ValueError, match="'C'"):
        make(C="best").fit(X, y)


@pytest.mark.parametrize("regressor", [BasisExpansionRegressor(random_state=0), ThinPlateRegressor()], ids=str)
def test_the_estimate_is_near_the_score_of_other_samples(regressor: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    regressor.fit(X[:300], y[:300])
    assert abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1
