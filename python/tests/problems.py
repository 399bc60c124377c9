"""Random problems of every kind that a classifier may meet, and what must hold of a fit on each of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

N_TEST = 4000

# How labels follow from the samples; "noise" and "skewed noise": not at all.
KINDS = ("clouds", "rings", "linear", "table", "steps", "noise", "skewed noise")
WEIGHTS = ("none", "two", "ten", "log-normal", "copies")

# How targets follow from the samples.
TARGETS = ("linear", "waves", "steps", "table", "noise")


@dataclass(frozen=True)
class Problem:
    """Samples with weights, and new samples of the same population."""

    kind: str
    weighted: str
    X: Array
    y: Array
    weights: Array | None
    X_new: Array
    y_new: Array

    @property
    def is_noise(self) -> bool:
        return self.kind.endswith("noise")

    @property
    def chance(self) -> float:
        """The share of the largest class among new samples."""
        return float(np.unique(self.y_new, return_counts=True)[1].max() / len(self.y_new))


def problem(seed: int, largest: int, is_positive: bool = False) -> Problem:
    """The problem of a seed, with 2 to `largest` samples; without negative values if they must be positive."""
    rng = np.random.default_rng(seed)
    kind, weighted = KINDS[seed % len(KINDS)], WEIGHTS[seed // len(KINDS) % len(WEIGHTS)]
    n = round(float(np.exp(rng.uniform(np.log(2), np.log(largest + 0.4)))))
    n_classes = 2 if rng.random() < 0.7 else int(rng.integers(3, 6))
    n = max(n, n_classes)
    columns = int(rng.integers(2, 9))
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.7, 3.0, 50.0])))
    X, y = _population(rng, kind, n + N_TEST, columns, n_classes, shares)
    # Each class has a sample.
    for label in range(n_classes):
        if label not in y[:n]:
            y[label] = label
    X = _rescaled(rng, X)
    if is_positive:
        X = X - X.min(axis=0)
    return _weighted(rng, kind, weighted, X, y, n)


def regression_problem(seed: int, largest: int) -> Problem:
    """The same with a target in place of a class, and 20 samples at least. Columns are uniform: in R² a few samples far
    from those of the training would outweigh all others."""
    rng = np.random.default_rng(seed)
    kind, weighted = TARGETS[seed % len(TARGETS)], WEIGHTS[seed // len(TARGETS) % len(WEIGHTS)]
    n = round(float(np.exp(rng.uniform(np.log(20), np.log(largest + 0.4)))))
    X = rng.uniform(-1.7, 1.7, size=(n + N_TEST, int(rng.integers(2, 9))))
    if kind == "table":
        X = rng.integers(0, 3, size=X.shape).astype(float)
    y = {
        "linear": lambda: X @ rng.normal(size=X.shape[1]),
        "waves": lambda: np.sin(2 * X[:, 0]) + X[:, 1],
        "steps": lambda: np.floor(X[:, 0]) - np.floor(2 * X[:, 1]),
        "table": lambda: X[:, 0] * (X[:, 1] - 1),
        "noise": lambda: np.zeros(len(X)),
    }[kind]()
    y = 10.0 ** rng.integers(-3, 4) * (y + rng.choice([0.1, 0.5, 1.0]) * rng.normal(size=len(X)) + rng.choice([0, 5]))
    return _weighted(rng, kind, weighted, _rescaled(rng, X), y, n)


def _rescaled(rng: np.random.Generator, X: Array) -> Array:
    """With a constant column, perhaps, columns of different units, and columns far from 0."""
    if rng.random() < 0.5:
        X = np.column_stack([X, np.full(len(X), rng.normal())])
    X = X * 10.0 ** rng.integers(-2, 3, size=X.shape[1])
    if rng.random() < 0.4:
        X = X + np.abs(X).max(axis=0).clip(1e-3) * 10.0 ** rng.integers(0, 5, size=X.shape[1])
    return X


def _weighted(rng: np.random.Generator, kind: str, weighted: str, X: Array, y: Array, n: int) -> Problem:
    """The first n samples with weights; some of them several times, perhaps."""
    if n > 4 and rng.random() < 0.3:
        # Some rows several times, as in over-sampling.
        again = rng.integers(0, n, size=n // 2)
        X, y = np.concatenate([X[:n], X[again], X[n:]]), np.concatenate([y[:n], y[again], y[n:]])
        n += len(again)
    weights = {
        "none": lambda: None,
        "two": lambda: np.full(n, 2.0),
        "ten": lambda: np.full(n, 10.0),
        "log-normal": lambda: rng.lognormal(-0.5, 1.0, size=n),
        "copies": lambda: rng.integers(1, 4, size=n).astype(float),
    }[weighted]()
    return Problem(kind, weighted, X[:n], y[:n], weights, X[n:], y[n:])


def _population(
    rng: np.random.Generator, kind: str, n: int, columns: int, n_classes: int, shares: Array
) -> tuple[Array, Array]:
    y = rng.choice(n_classes, size=n, p=shares)
    X = rng.normal(size=(n, columns))
    if kind == "clouds":
        X += 1.5 * rng.normal(size=(n_classes, columns))[y]
    elif kind == "rings":
        radius = 1.0 + y + 0.4 * rng.normal(size=n)
        angle = rng.uniform(0, 2 * np.pi, size=n)
        X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    elif kind == "linear":
        X[:, 0] += y
    elif kind == "table":
        # Few distinct rows, each of all classes.
        X = rng.integers(0, 3, size=(n, columns)).astype(float)
        X[:, 0] = np.where(rng.random(n) < 0.7, y % 3, X[:, 0])
    elif kind == "steps":
        y = (np.floor(2 * X[:, 0]) + np.floor(X[:, 1])).astype(int) % n_classes
        y = np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, size=n), y)
    return X, y


@dataclass(frozen=True)
class Outcome:
    """What a fit says of itself, and what it is worth."""

    estimate: float
    standard_error: float
    n_samples: int
    score: float
    warnings: list[str]
    is_share: bool = True

    def is_within(self, standard_errors: float) -> bool:
        """Whether the estimate is near the score of new samples; an estimate that is not made is not wrong."""
        if np.isnan(self.estimate):
            return True
        # Of an accuracy, or of R².
        of_score = np.sqrt(0.25 / N_TEST) if self.is_share else 2 * (1 - self.score) / np.sqrt(N_TEST)
        spread = np.hypot(self.standard_error, of_score)
        return abs(self.estimate - self.score) <= standard_errors * spread


def fitted(make: Callable[[], Any], X: Array, y: Array, weights: Array | None) -> Any:
    """A fit, whose warnings stay in its report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y, sample_weight=weights)


def outcome(model: Any, one: Problem) -> Outcome:
    """The estimate of a model and its score."""
    report = model.report_
    return Outcome(
        estimate=model.estimated_score_,
        standard_error=model.estimated_score_std_,
        n_samples=report.get("estimate", {"n_samples": 0})["n_samples"],
        score=float(model.score(one.X_new, one.y_new)),
        warnings=report["warnings"],
        is_share=hasattr(model, "classes_"),
    )


def _values(model: Any, X: Array) -> Array:
    return np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))


def changes(make: Callable[[], Any], one: Problem, model: Any, seed: int) -> dict[str, float]:
    """By how much decision values change, as a share of their spread, where they must not: with the rows in another
    order, and with each row twice in place of each weight doubled."""
    rng = np.random.default_rng(seed)
    values = _values(model, one.X_new[:200])
    order = rng.permutation(len(one.y))
    weights = np.ones(len(one.y)) if one.weights is None else one.weights
    permuted = fitted(make, one.X[order], one.y[order], None if one.weights is None else weights[order])
    doubled = fitted(make, one.X, one.y, 2 * weights)
    twice = fitted(make, np.concatenate([one.X, one.X]), np.concatenate([one.y, one.y]), np.concatenate([weights] * 2))

    def change(a: Array, b: Array) -> float:
        return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-12))

    of_doubled = _values(doubled, one.X_new[:200])
    return {
        "rows in another order": change(values, _values(permuted, one.X_new[:200])),
        "rows twice": change(of_doubled, _values(twice, one.X_new[:200])),
    }


def regression_table(n: int = 60, d: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def ridge_with_intercept(K: Any, y: Any, weights: Any, C: float, at: Any) -> Any:
    """Kernel ridge regression with a free intercept, by the system that its coefficients solve."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + np.diag(0.5 / C / weights)
    system[:n, n] = system[n, :n] = 1
    solved = np.linalg.solve(system, np.concatenate([y, np.zeros((1, *y.shape[1:]))]))
    return at @ solved[:n] + solved[n]


def rbf_kernel(X: Any, Y: Any, gamma: float = 0.3) -> Any:
    return np.exp(-gamma * ((X[:, None].astype(float) - Y[None].astype(float)) ** 2).sum(-1))
