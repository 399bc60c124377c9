"""The losses of a regression: against direct minimization, linear programming, refits and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compared import expected_error, path
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV

from widemargin import BasisExpansionRegressor

LOSSES = ("huber", "squared_epsilon_insensitive", "quantile")


def table(n: int = 80, d: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = 3 + X @ np.linspace(1, -1, d) + 0.5 * rng.standard_t(2, size=n)
    return X, y


def linear(**parameters: Any) -> BasisExpansionRegressor:
    """On the features themselves."""
    return BasisExpansionRegressor("features", normalization="none", **parameters)


def value(loss: str, residuals: Any, epsilon: float = 0.0, quantile: float = 0.5) -> Any:
    size = np.abs(residuals)
    if loss == "huber":
        return np.where(size <= epsilon, size**2, epsilon * (2 * size - epsilon))
    if loss == "squared_epsilon_insensitive":
        return np.maximum(size - epsilon, 0) ** 2
    return np.maximum(quantile * residuals, (quantile - 1) * residuals)


def objective(point: Any, X: Any, y: Any, C: float, weights: Any, loss: str, **parameters: float) -> float:
    losses = value(loss, y - X @ point[:-1] - point[-1], **parameters)
    return float(0.5 * point[:-1] @ point[:-1] + C * (weights * losses).sum())


@pytest.mark.parametrize("loss", ["huber", "squared_epsilon_insensitive"])
@pytest.mark.parametrize(("C", "epsilon"), [(0.01, 0.5), (1.0, 0.1), (100.0, 1.0)])
def test_smooth_losses_are_minimized(loss: str, C: float, epsilon: float) -> None:
    X, y = table()
    weights = np.arange(80) % 3 + 0.5
    found = linear(loss=loss, C=C, epsilon=epsilon).fit(X, y, sample_weight=weights)
    X = X.astype(float)
    arguments = (X, y, C, weights, loss)
    point = np.append(found.coef_, found.intercept_)
    peer = minimize(
        lambda point: objective(point, *arguments, epsilon=epsilon), point * 0, method="BFGS", options={"gtol": 1e-9}
    )
    assert objective(point, *arguments, epsilon=epsilon) <= peer.fun * (1 + 1e-9)
    np.testing.assert_allclose(point, peer.x, atol=1e-6 * max(1, np.abs(peer.x).max()), rtol=1e-5)
    assert found.report_["status"] == "converged"
    assert max(found.report_["gaps"]) <= 1e-8
    assert found.report_["objective"] == pytest.approx(peer.fun, rel=1e-6)


@pytest.mark.parametrize("quantile", [0.2, 0.5])
def test_penalized_quantiles_are_those_of_the_dual(quantile: float) -> None:
    X, y = table(n=30)
    C = 0.3
    gram = X.astype(float) @ X.T.astype(float)
    # The dual by a general solver: max Σ αy − ½‖Σ αφ‖², α in C[q − 1, q], Σ α = 0.
    peer = minimize(
        lambda a: 0.5 * a @ gram @ a - a @ y,
        np.zeros(30),
        jac=lambda a: gram @ a - y,
        bounds=[(C * (quantile - 1), C * quantile)] * 30,
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    found = linear(loss="quantile", quantile=quantile, C=C).fit(X, y)
    assert found.report_["objective"] == pytest.approx(-peer.fun, rel=1e-5)
    assert found.report_["dual_objective"] <= -peer.fun * (1 + 1e-7)
    np.testing.assert_allclose(found.coef_, X.T.astype(float) @ peer.x, atol=1e-3)
    assert found.report_["objective"] == pytest.approx(
        objective(np.append(found.coef_, found.intercept_), X.astype(float), y, C, 1, "quantile", quantile=quantile)
    )


def test_the_estimate_is_named_and_the_best_is_selected() -> None:
    X, y = table()
    for loss in LOSSES:
        found = linear(loss=loss).fit(X, y)
        best = path(found)["score"].argmax()
        assert path(found)["C"][best] == found.C_
        assert path(found)["score"][best] == found.estimated_score_
        error = expected_error(found)
        assert -path(found)["mean_test_neg_loss"][best] == error
        assert hasattr(found, "epsilon_") == (loss != "quantile")
        parameters = {} if loss == "quantile" else {"epsilon": found.epsilon_}
        constants = np.linspace(y.min(), y.max(), 20_001)[:, None]
        constant = value(loss, y - constants, **parameters).mean(1).min()
        assert found.estimated_score_ == pytest.approx(1 - error / constant, rel=1e-3)
        assert f"{found.estimated_score_:.4f}" in found._repr_html_()


def test_the_estimate_is_near_the_loss_of_other_samples() -> None:
    X, y = table(n=400)
    Xt, yt = table(n=4000, seed=1)
    # Of heavy tails, the mean of squares is no estimate of anything.
    for loss in ("huber", "quantile"):
        found = linear(loss=loss).fit(X, y)
        parameters = {} if loss == "quantile" else {"epsilon": found.epsilon_}
        losses = value(loss, yt - found.predict(Xt), **parameters)
        assert losses.mean() == pytest.approx(expected_error(found), rel=0.25)


def test_outliers_have_little_weight_in_huber() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 300)
    y = np.sin(2 * x) + 0.1 * rng.normal(size=300) + 20 * (rng.random(300) < 0.1)
    errors = {}
    for loss in ("squared_error", "huber"):
        found = BasisExpansionRegressor("rbf:gamma=2", loss=loss).fit(x[:, None], y)
        errors[loss] = np.abs(found.predict(x[:, None]) - np.sin(2 * x)).mean()
    assert errors["huber"] < 0.1
    assert errors["squared_error"] > 1.0
    # 1.35 times the deviation of the noise, and what a tenth of outliers adds to it.
    assert 0.12 < found.epsilon_ < 0.25


def test_the_tube_is_that_of_the_noise() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 400)
    y = 100 * (np.sin(2 * x) + 0.1 * rng.normal(size=400))
    found = BasisExpansionRegressor("rbf:gamma=2", loss="squared_epsilon_insensitive").fit(x[:, None], y)
    assert found.epsilon_ == pytest.approx(3 * 10 * np.sqrt(np.log(400) / 400), rel=0.15)


def test_quantiles_cover_their_part() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (2500, 1))
    y = np.sin(x[:, 0]) + (0.1 + 0.1 * np.abs(x[:, 0])) * rng.normal(size=2500)
    for quantile in (0.1, 0.5, 0.9):
        found = BasisExpansionRegressor("rbf:gamma=0.5", n_basis=50, loss="quantile", quantile=quantile)
        found.fit(x[:1000], y[:1000])
        assert np.mean(y[:1000] <= found.predict(x[:1000])) == pytest.approx(quantile, abs=0.03)
        assert np.mean(y[1000:] <= found.predict(x[1000:])) == pytest.approx(quantile, abs=0.05)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "absolute"}, "loss.*must be one of 'squared_error', 'huber'"),
        ({"loss": "huber", "epsilon": 0.0}, "epsilon = 0.*above 0"),
        ({"loss": "squared_epsilon_insensitive", "epsilon": -0.1}, "epsilon.*range"),
        ({"loss": "huber", "epsilon": "wide"}, "epsilon.*'auto'"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile.*range"),
        ({"loss": "quantile", "quantile": 0.0}, "quantile.*range"),
        ({"loss": "squared_error", "epsilon": 1.0}, "epsilon = 1.*belongs to huber"),
        ({"loss": "quantile", "epsilon": 1.0}, "epsilon = 1.*belongs to huber"),
        ({"loss": "huber", "quantile": 0.9}, "quantile = 0.9.*belongs to quantile"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters: dict[str, Any], words: str) -> None:
    X, y = table(n=20)
    with pytest.raises(ValueError, match=words):
        linear(**parameters).fit(X, y)


def test_a_grid_may_compare_losses() -> None:
    X, y = table()
    grid = GridSearchCV(
        linear(C=1.0), {"loss": ["squared_error", "huber", "quantile"]}, scoring="neg_mean_absolute_error"
    )
    assert np.isfinite(grid.fit(X, y).cv_results_["mean_test_score"]).all()


def test_a_search_says_which_loss_it_compares_by() -> None:
    X, y = table(n=60, d=2)
    found = BasisExpansionRegressor(loss="huber", random_state=0).fit(X, y)
    assert any("squared error" in note for note in found.report_["notes"])
    assert found.similarity_ == BasisExpansionRegressor(random_state=0).fit(X, y).similarity_
