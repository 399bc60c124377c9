"""The smoothing spline: against SciPy, against refits, and through files, pickles and ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from compared import candidates, expected_error
from scipy.interpolate import RBFInterpolator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import ThinPlateRegressor
from widemargin.similarity import Polyharmonic


def table(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("kernel", "name", "degree"),
    [("distance", "linear", 0), ("thin_plate", "thin_plate_spline", 1), ("cubic", "cubic", 1)],
)
def test_is_the_smoothing_spline_of_scipy(kernel: str, name: str, degree: int) -> None:
    X, y = table()
    Xt, _ = table(n=100, seed=1)
    for C in (0.05, 1.0, 100.0):
        # SciPy's r² log r, r³ and −r have the signs of ours.
        truth = RBFInterpolator(X, y, kernel=name, degree=degree, smoothing=0.5 / C)(Xt)
        found = ThinPlateRegressor(kernel, C=C).fit(X, y).predict(Xt)
        np.testing.assert_allclose(found, truth, atol=1e-8 * np.abs(truth).max())


def test_bases_leave_out_as_refits_on_the_same_bases() -> None:
    X, y = table(n=30, d=2)
    # The first ten samples are the bases of every fit.
    C, some = 2.0, np.arange(10)

    def on_bases(rows: Any) -> Any:
        return ThinPlateRegressor("distance", C=C, n_basis=10, basis="index").fit(X[rows], y[rows])

    found = on_bases(np.arange(30))
    assert (found.basis_indices_ == some).all()
    assert len(found.basis_) == 10
    errors = [y[i] - on_bases(np.delete(np.arange(30), i)).predict(X[i : i + 1])[0] for i in range(10, 30)]
    # Leaving out a basis's sample would move the bases: those are left out by the normal equations.
    for i in some:
        errors.append(y[i] - normal_equations(X, y, some, C, np.arange(30) != i)(X[i : i + 1])[0])
    assert expected_error(found) == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-6)
    np.testing.assert_allclose(found.predict(X), normal_equations(X, y, some, C, np.ones(30, bool))(X), atol=1e-8)


def normal_equations(X: Any, y: Any, some: Any, C: float, kept: Any) -> Any:
    """Over f = Σ α_j φ(‖x − z_j‖) + β with Σ α = 0 minimize ½αᵀΦα + C Σ (y − f)²."""

    def kernel(A: Any) -> Any:
        return -np.sqrt(((A[:, None] - X[some][None]) ** 2).sum(-1))

    m = len(some)
    off = np.linalg.svd(np.ones((1, m)))[2][1:].T
    A = np.column_stack([kernel(X[kept]) @ off, np.ones(kept.sum())])
    penalty = np.zeros((m, m))
    penalty[: m - 1, : m - 1] = off.T @ kernel(X[some]) @ off
    solved = np.linalg.solve(A.T @ A + penalty / (2 * C), A.T @ y[kept])
    return lambda at: kernel(at) @ off @ solved[:-1] + solved[-1]


def test_it_makes_no_difference_where_and_how_large_samples_and_targets_are() -> None:
    X, y = table()
    plain = ThinPlateRegressor().fit(X, y).predict(X)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    distance = ThinPlateRegressor("distance").fit(X, y).predict(X)
    np.testing.assert_allclose(
        ThinPlateRegressor("distance").fit(X @ turned, y).predict(X @ turned), distance, atol=1e-6
    )
    for factor, shift in ((1e-4, 0.0), (1e3, 0.0), (1.0, 1e6)):
        found = ThinPlateRegressor().fit(factor * X + shift, y).predict(factor * X + shift)
        np.testing.assert_allclose(found, plain, atol=1e-5)
    for factor, shift in ((1e-30, 0.0), (1e30, 0.0), (1.0, 1e9)):
        moved = ThinPlateRegressor().fit(X, factor * y + shift).predict(X)
        np.testing.assert_allclose((moved - shift) / factor, plain, atol=1e-5)


def test_columns_in_other_units_are_standardized_where_that_helps() -> None:
    X, y = table(n=150)
    X = X * [1.0, 1000.0, 1.0]
    found = ThinPlateRegressor().fit(X, y)
    assert found._model.arrays()["scale"].size == 3
    assert len(candidates(found)) == 4
    assert {(one["kernel"], one["standardize"]) for one in candidates(found)} == {
        (kernel, standard) for kernel in ("distance", "cityblock") for standard in (False, True)
    }
    best = max(candidates(found), key=lambda one: one["score"])
    assert found.similarity_ == best["kernel"]
    assert best["standardize"]
    assert best["score"] == found.estimated_score_
    by_hand = make_pipeline(StandardScaler(), ThinPlateRegressor(standardize=False)).fit(X, y)
    np.testing.assert_allclose(found.predict(X), by_hand.predict(X), atol=1e-6)


def test_sparse_samples_frames_and_nested_parameters() -> None:
    X, y = table()
    X[np.abs(X) < 0.3] = 0
    dense = ThinPlateRegressor().fit(X, y)
    assert (ThinPlateRegressor().fit(sp.csr_array(X), y).predict(sp.csr_array(X)) == dense.predict(X)).all()
    search = GridSearchCV(ThinPlateRegressor(Polyharmonic(1.5)), {"kernel__exponent": [0.5, 1.0]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.5
    import pandas

    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    named = ThinPlateRegressor().fit(frame, y)
    assert (named.predict(frame[["c", "a", "b"]]) == dense.predict(X)).all()


def test_bad_kernels_and_too_few_samples_raise() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="BasisExpansionRegressor"):
        ThinPlateRegressor("chi2").fit(X, y)
    # Four samples are met by the four polynomials of r³ whatever their targets.
    with pytest.raises(ValueError, match=r"n_samples = 4.*nothing left to fit.*polynomials of cubic .*: 4"):
        ThinPlateRegressor("cubic").fit(X[:4], y[:4])
