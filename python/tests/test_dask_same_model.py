"""A fit on Dask gives the model of one computer, whatever the partitions: methods × tasks × parameters."""

import dask.array as da
import numpy as np
import pytest
from compared import expected_error, path
from dask import delayed
from on_dask import cut
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_friedman1

from widemargin import dask as wd

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RNG = np.random.default_rng(1)
X, NUMBER = make_friedman1(400, 7, noise=0.5, random_state=0)
# Classes in runs of rows: each is absent from some partition.
ORDER = np.argsort(NUMBER, kind="stable")
CLASSES = np.empty(400, int)
CLASSES[ORDER] = np.repeat([0, 1, 2, 3], 100)
TARGETS = np.column_stack([1e4 + NUMBER, -3 * NUMBER**2])
OUTLIERS = TARGETS + np.where(np.arange(400) % 29 == 0, 500.0, 0.0)[:, None]
LABELS = np.column_stack([X[:, 0] + X[:, 1] > 1, X[:, 2] > 0.6, X[:, 3] * X[:, 0] > 0.3]).astype(float)
LABELS[RNG.random(LABELS.shape) < 0.1] = np.nan
WEIGHTS = RNG.integers(0, 4, 400).astype(float)
# A partition that counts for nothing.
WEIGHTS[181:300] = 0
PARTITIONS = [(1, 0, 180, 119, 100), (400,), (200, 200)]

SPEC = "rbf:gamma=0.7"
PARTS = ["rbf:gamma=0.7,weight=2", "laplacian:gamma=0.5,weight=0.5,bases=9"]


def expansion(similarity=SPEC, **given):
    return wd.BasisExpansionSVC(
        similarity, **{"n_basis": 30, "normalization": "mean_norm", "C": 0.1, "tol": 1e-6, **given}
    )


def plate(kernel="distance", **given):
    return wd.ThinPlateSVC(kernel, n_basis=25, basis="index", **given)


def power(kernel=-1.0, **given):
    return wd.PowerMeanSVC(kernel, **{"C": 0.1, "nodes": 3, "tol": 1e-6, **given})


def regressor(normalization="mean_norm", C=0.5, **given):
    return wd.BasisExpansionRegressor(SPEC, n_basis=40, normalization=normalization, C=C, **given)


def spline(kernel):
    return wd.ThinPlateRegressor(kernel, n_basis=40, basis="index", standardize=False)


EPSILON = "squared_epsilon_insensitive"
BALANCED = {"class_weight": "balanced"}
# With the largest difference of values in units of the largest: of expansions the root of the gap.
CASES = {
    "expansion": (expansion(basis="index"), CLASSES, 2e-3),
    **{
        f"expansion, {name}": (expansion(normalization=name), CLASSES, 2e-3)
        for name in ("z_score", "none", "covariance", "nystroem")
    },
    **{
        f"two similarities, {name}": (expansion(PARTS, normalization=name, basis="every"), CLASSES, 2e-3)
        for name in ("mean_norm", "covariance", "none", "nystroem")
    },
    "expansion, logistic": (expansion(loss="logistic", **BALANCED), CLASSES > 1, 2e-3),
    "expansion, labels": (expansion(**BALANCED), LABELS, 2e-3),
    "expansion, labels, logistic": (expansion(loss="logistic"), LABELS, 2e-3),
    "thin plate": (plate(), CLASSES, 1e-6),
    "thin plate, auto": (plate("auto"), CLASSES, 1e-6),
    "thin plate, constant": (plate(polynomials="constant", C=0.5), CLASSES, 1e-6),
    "thin plate, none": (plate(polynomials="none", **BALANCED), CLASSES, 1e-6),
    "thin plate, rbf": (plate("rbf:gamma=0.3", C=1.0), CLASSES, 1e-6),
    "thin plate, penalized": (plate("thin_plate", C=2.0), X[:, 0] > 0.6, 1e-6),
    "thin plate, squared error": (plate(C=2.0, loss="squared_error"), CLASSES, 1e-6),
    "thin plate, labels": (plate(), LABELS, 1e-3),
    "thin plate, labels, constant": (plate(polynomials="constant"), LABELS, 1e-3),
    "power mean": (power(), CLASSES, 2e-3),
    "power mean, intersection": (power("intersection", nodes=5), CLASSES, 2e-3),
    "power mean, not scaled": (power("jensen_shannon", scale=False), CLASSES, 2e-3),
    "power mean, balanced": (power(-4.0, C=1.0, **BALANCED), CLASSES, 2e-3),
    "power mean, nodes": (power(nodes=[0.1, 0.5, 1.0]), CLASSES, 2e-3),
    "power mean, a function": (power(np.minimum, nodes=4), CLASSES, 2e-3),
    "power mean, labels": (power("chi2", nodes=4), LABELS, 2e-3),
    "power mean, auto": (power("auto", C="auto", nodes="auto", tol=1e-3), CLASSES, 5e-2),
    "regression": (regressor(C="auto"), TARGETS, 2e-6),
    "regression, z_score": (regressor("z_score", fit_intercept=False), TARGETS, 2e-6),
    "regression, none": (regressor("none"), TARGETS, 2e-6),
    "regression, nystroem": (regressor("nystroem", C="auto"), TARGETS, 2e-6),
    "huber": (regressor(loss="huber", epsilon=2.0), OUTLIERS, 2e-6),
    "huber, auto": (regressor(loss="huber", C="auto"), OUTLIERS[:, 0], 2e-6),
    "epsilon, folds": (regressor(loss=EPSILON, epsilon=0.5, fit_intercept=False), OUTLIERS, 2e-6),
    "epsilon, auto": (regressor(loss=EPSILON), OUTLIERS[:, 0], 2e-6),
    "quantile": (regressor(loss="quantile", quantile=0.8), OUTLIERS, 2e-6),
    **{f"spline, {kernel}": (spline(kernel), TARGETS[:, 0], 1e-6) for kernel in ("auto", "cubic", SPEC)},
    **{
        f"outliers, {name}": (wd.BasisExpansionOneClass(SPEC, n_basis=50, normalization=name), NUMBER, 1e-4)
        for name in ("nystroem", "none", "centered")
    },
}


def rows_cut(X, sizes):
    """Sparse rows."""
    ends = np.cumsum(sizes)
    blocks = [
        da.from_delayed(delayed(sparse.csr_array(X[end - n : end])), (n, 7), float, meta=sparse.csr_array((0, 0)))
        for n, end in zip(sizes, ends, strict=True)
    ]
    return da.concatenate(blocks)


def values_of(model, samples):
    return getattr(model, "predict" if is_regressor(model) else "decision_function")(samples)


def check(name, order, sizes, weights, is_sparse=False):
    estimator, y, tolerance = CASES[name]
    samples, y = np.where(X[order] > 0.2, X[order], 0) if is_sparse else X[order], y[order]
    parts, answers = cut(samples, y, sizes)
    parts = rows_cut(samples, sizes) if is_sparse else parts
    given = {} if weights is None else {"sample_weight": da.from_array(weights, chunks=(sizes,))}
    found = clone(estimator).fit(parts, *([] if "outliers" in name else [answers]), **given)
    bases = {} if isinstance(estimator, wd.PowerMeanSVC) else {"basis": "index"}
    if "basis" in bases and hasattr(found, "normalization_"):
        assert weights is None or (weights[found.basis_indices_] > 0).all()
        bases["basis"] = found.basis_indices_
    own = {"standardize": False} if isinstance(estimator, wd.ThinPlateSVC) else {}
    alone = estimator.plain(**estimator.get_params() | bases | own).fit(samples, y, sample_weight=weights)
    assert type(found.estimator_) is estimator.plain
    expected, values = values_of(alone, samples), values_of(found, samples)
    size = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(values / size, expected / size, rtol=0, atol=tolerance)
    for method in ("predict", "predict_proba"):
        if hasattr(found, method):
            np.testing.assert_array_equal(getattr(found, method)(parts).compute(), getattr(found, method)(samples))
    if hasattr(found, "polynomials_"):
        np.testing.assert_array_equal(np.sort(found.basis_indices_), np.sort(alone.basis_indices_))
    for attribute in ("C_", "epsilon_", "nodes_", "offset_", "leave_one_out_scores_"):
        if hasattr(alone, attribute):
            np.testing.assert_allclose(getattr(found, attribute), getattr(alone, attribute), rtol=1e-4, atol=1e-4)
    assert {name for name in vars(alone) if name.endswith("_")} <= set(vars(found))
    for attribute in ("similarity_", "normalization_", "polynomials_", "loss_"):
        assert getattr(found, attribute, None) == getattr(alone, attribute, None)
    assert found.report_["status"] == "converged"
    if is_regressor(found):
        # Folds are others, of the quantile loss and without an intercept.
        is_exact = "quantile" not in name and "folds" not in name
        assert not is_exact or expected_error(found) == pytest.approx(expected_error(alone), rel=1e-4)
        assert not is_exact or found.estimated_score_ == pytest.approx(alone.estimated_score_, abs=1e-5)
    elif is_classifier(found):
        assert found.report_["objective"] == pytest.approx(alone.report_["objective"], rel=1e-5)
        np.testing.assert_allclose(path(found)["hinge"], path(alone)["hinge"], rtol=1e-4)
        # Held-out samples and folds are others, dealt within each partition: two estimates of one error.
        error = np.hypot(found.estimated_score_std_, alone.estimated_score_std_)
        assert abs(found.estimated_score_ - alone.estimated_score_) <= 3 * error
        assert np.abs(found.predict_proba(samples) - alone.predict_proba(samples)).mean() < 0.06


@pytest.mark.parametrize("name", CASES)
def test_weighted_samples_in_uneven_partitions(client, name):
    check(name, ORDER, PARTITIONS[0], WEIGHTS)


@pytest.mark.parametrize(("sizes", "is_sparse"), [*zip(PARTITIONS, (True, False, False), strict=True)])
@pytest.mark.parametrize("name", ["expansion", "thin plate", "power mean"])
def test_any_partitions_of_dense_and_sparse_samples(client, name, sizes, is_sparse):
    check(name, np.arange(400), sizes, None, is_sparse)
