"""Columns far from 0 relative to their range, such as map coordinates and Unix times, in double precision."""

import json
import warnings

import dask.array as da
import numpy as np
import pytest
from command_line import run
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import widemargin
import widemargin.dask
from widemargin import (
    AutoSVC,
    BasisExpansion,
    BasisExpansionOneClass,
    BasisExpansionRegressor,
    BasisExpansionSVC,
    ThinPlateRegressor,
    ThinPlateSVC,
)

OFFSET = 1.7e9


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    # Multiples of 1/1024 are the same near 0 and far from it, to the last digit.
    X = rng.integers(0, 2048, (400, 2)) / 1024
    radius = np.hypot(X[:, 0] - 1, X[:, 1] - 1)
    return X, (radius < 0.7).astype(int), np.sin(3 * X[:, 0]) + X[:, 1]


@pytest.mark.parametrize("estimator", [BasisExpansionSVC, ThinPlateSVC, AutoSVC])
def test_classes_are_those_of_columns_near_0(points, estimator):
    X, y, _ = points
    near = estimator(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    far = estimator(random_state=0).fit(X[::2] + OFFSET, y[::2])
    score = far.score(X[1::2] + OFFSET, y[1::2])
    assert score > 0.95
    assert abs(score - near) <= 0.02
    one = far.decision_function(X[5:6] + OFFSET)
    assert one == far.decision_function(X[:9] + OFFSET)[5]


@pytest.mark.parametrize("estimator", [BasisExpansionRegressor, ThinPlateRegressor])
def test_numbers_are_those_of_columns_near_0(points, estimator):
    X, _, y = points
    assert estimator().fit(X[::2] + OFFSET, y[::2]).score(X[1::2] + OFFSET, y[1::2]) > 0.995


def test_a_regression_on_few_rows_has_the_estimate_of_columns_near_0():
    rng = np.random.default_rng(0)
    X = rng.integers(-2048, 2048, (100, 4)) / 1024
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=100)
    near, far = (BasisExpansionRegressor().fit(X + shift, y) for shift in (0.0, OFFSET))
    assert abs(far.estimated_score_ - near.estimated_score_) < 0.03
    assert far.estimated_score_ > 0.85
    np.testing.assert_allclose(far.predict(X + OFFSET), near.predict(X), atol=0.1)


def test_splines_on_bases_features_and_outliers_are_those_of_columns_near_0(points):
    X, y, target = points
    spline = ThinPlateSVC(n_basis=40, random_state=0)
    assert spline.fit(X[::2] + OFFSET, y[::2]).score(X[1::2] + OFFSET, y[1::2]) > 0.95
    regressor = ThinPlateRegressor(n_basis=40, random_state=0).fit(X[::2] + OFFSET, target[::2])
    assert regressor.score(X[1::2] + OFFSET, target[1::2]) > 0.995
    for near in (BasisExpansion("rbf:gamma=2", n_basis=40, basis="index"), BasisExpansionOneClass("rbf:gamma=2")):
        values = [_values(near.fit(X + shift), X + shift) for shift in (0.0, OFFSET)]
        np.testing.assert_allclose(values[1], values[0], rtol=0, atol=1e-3 * np.abs(values[0]).max())


def _values(fitted, X):
    if hasattr(fitted, "score_samples"):
        return fitted.score_samples(X)
    # Products of features do not depend on the order of the bases.
    features = fitted.transform(X)
    return features @ features.T


def test_workers_and_blocks_take_columns_far_from_0(points, client, tmp_path):
    X, y, target = points
    far, chunks = X + OFFSET, ((67, 0, 133),)
    X_dask = da.from_array(far[::2], chunks=(*chunks, 2))
    for remote, values in (
        (widemargin.dask.BasisExpansionSVC("rbf", random_state=0), y),
        (widemargin.dask.ThinPlateSVC(n_basis=60, random_state=0), y),
        (widemargin.dask.BasisExpansionRegressor("rbf", random_state=0), target),
        (widemargin.dask.ThinPlateRegressor(n_basis=60, random_state=0), target),
    ):
        remote.fit(X_dask, da.from_array(values[::2], chunks=chunks))
        assert remote.score(far[1::2], values[1::2]) > 0.95, remote
    for name, rows in (("train", slice(0, None, 2)), ("test", slice(1, None, 2))):
        np.savetxt(tmp_path / f"{name}.csv", np.c_[far, y][rows], delimiter=",", fmt="%.12g")
    train = "train train.csv --label -1 --memory-limit 200MB --seed 0 -o model --method basis-expansion"
    run(tmp_path, *train.split())
    assert json.loads(run(tmp_path, "evaluate", "model", "test.csv", "--json"))["accuracy"] > 0.95


def test_z_score(points):
    X, y, _ = points
    X = 1 + 1e-6 * X
    model = BasisExpansionSVC("z-score/rbf", n_basis=60).fit(X, y)
    assert model.score(X, y) > 0.97
    np.testing.assert_allclose(model.basis_, X[model.basis_indices_], rtol=0, atol=1e-13)
    inside = BasisExpansionOneClass("z-score/rbf").fit(X).score_samples(X)
    assert BasisExpansionOneClass("z-score/rbf").fit(X).score_samples(X[:1] + 1e-5)[0] < inside.min()


def test_onnx_names_the_cure(points):
    X, y, _ = points
    X = X + 1e7
    with pytest.raises(ValueError, match=r"StandardScaler\(\)"):
        widemargin.to_onnx(BasisExpansionSVC("rbf").fit(X, y))
    widemargin.to_onnx(make_pipeline(StandardScaler(), BasisExpansionSVC("rbf")).fit(X, y))


def test_a_similarity_that_loses_the_digits_of_columns_far_from_0_warns_with_a_cure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    far = X + [0.0, 1e6, 0.0]
    with pytest.warns(UserWarning, match=r"column 1 lies so far from 0.*as in z-score/linear"):
        BasisExpansionSVC("linear", n_basis=50).fit(far, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for similarity in ("z-score/linear", "rbf"):
            assert BasisExpansionSVC(similarity, n_basis=50).fit(far, y).score(far, y) > 0.95
        BasisExpansionSVC("linear", n_basis=50).fit(X, y)
