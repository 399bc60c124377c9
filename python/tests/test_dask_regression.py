"""Regression, multilabel targets and outlier detection on several machines, compared with one machine."""

import dask.array as da
import numpy as np
import pytest
from compared import candidates, path
from on_dask import cut
from sklearn.datasets import load_diabetes, make_friedman1

import widemargin as wm
from widemargin.dask import (
    BasisExpansionRegressor,
    BasisExpansionSVC,
)

SIZES = (1, 0, 180, 119, 100)


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(400, 7, noise=0.5, random_state=0)
    X[7] = X[3]
    weights = np.random.default_rng(1).integers(0, 4, 400).astype(float)
    return X, np.column_stack([1e4 + y, -3 * y**2]), weights


def test_a_regression_by_another_loss_is_chosen_for_and_saved(client, numbers, tmp_path):
    X, Y, _ = numbers
    found = BasisExpansionRegressor(n_basis=40, C=0.5, loss="quantile", quantile=0.9).fit(*cut(X, Y[:, 0], SIZES))
    assert len(candidates(found)) > 2
    assert "mean_test_neg_loss" in path(found)
    assert abs(np.mean(Y[:, 0] < found.predict(X)) - 0.9) < 0.06
    wm.save(found, tmp_path / "quantile")
    again = wm.load(tmp_path / "quantile")
    assert (again.loss, again.quantile) == ("quantile", 0.9)
    np.testing.assert_array_equal(again.predict(X), found.predict(X))


def test_many_groups_are_merged_where_they_are(client, numbers):
    X, Y, _ = numbers
    parameters = {"normalization": "mean_norm", "C": 0.5, "loss": "huber", "epsilon": 1.0}
    found = BasisExpansionRegressor("rbf:gamma=0.7", n_basis=40, **parameters).fit(*cut(X, Y[:, 0], (20,) * 20))
    alone = wm.BasisExpansionRegressor("rbf:gamma=0.7", basis=found.basis_indices_, **parameters).fit(X, Y[:, 0])
    np.testing.assert_allclose(found.predict(X), alone.predict(X), rtol=1e-6)
    # One query where the steps begin, one per step, and another for each step that is shortened instead of accepted.
    steps, queries = max(alone.report_["iterations"]), found.dask_report_["queries"]
    n_shortened = steps + 1 - queries["accept"]
    assert queries["evaluate"] - n_shortened == steps + 1


def test_what_is_auto_is_chosen_on_some(client):
    X, y = load_diabetes(return_X_y=True)
    found = BasisExpansionRegressor(n_basis=100).fit(*cut(X, y, (200, 242)))
    alone = wm.BasisExpansionRegressor(n_basis=100).fit(X, y)
    assert len(candidates(found)) > 2
    assert found.estimated_score_ > alone.estimated_score_ - 0.02
    assert type(found.estimator_) is wm.BasisExpansionRegressor


def test_answers_are_lazy_and_scored_where_the_partitions_are(client, numbers, tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    X, Y, weights = numbers
    found = BasisExpansionRegressor("rbf:gamma=0.7", n_basis=40, normalization="mean_norm").fit(*cut(X, Y, SIZES))
    parts = cut(X, Y, SIZES)
    np.testing.assert_array_equal(found.predict(parts[0]).compute(), found.predict(X))
    given = da.from_array(weights, chunks=(SIZES,))
    assert found.score(*parts, sample_weight=given) == pytest.approx(found.score(X, Y, weights), abs=1e-12)
    frame = pd.DataFrame(X, columns=list("abcdefg"), index=np.arange(400) + 7)
    targets = pd.DataFrame(Y, columns=["p", "q"], index=frame.index)
    of_frame = BasisExpansionRegressor("rbf:gamma=0.7", n_basis=40, normalization="mean_norm")
    of_frame.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(targets, npartitions=3))
    predicted = of_frame.predict(dd.from_pandas(frame, npartitions=3)).compute()
    assert predicted.shape == (400, 2)
    assert list(predicted.index) == list(frame.index)
    np.testing.assert_allclose(predicted, found.predict(X), rtol=1e-6)
    assert list(of_frame.feature_names_in_) == list("abcdefg")
    wm.save(of_frame, tmp_path / "regression")
    np.testing.assert_array_equal(wm.load(tmp_path / "regression").predict(frame), predicted)


def answers(X):
    return np.column_stack([X[:, 0] + X[:, 1] > 0, X[:, 2] ** 2 > 1, X[:, 3] * X[:, 0] > 0.3]).astype(float)


@pytest.fixture(scope="module")
def labeled():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    Y = answers(X)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, Y, rng.integers(1, 4, 400).astype(float)


def test_multilabel_are_chosen_for_and_framed(client, labeled):
    import dask.dataframe as dd
    import pandas as pd

    X, Y, _ = labeled
    X, Y = pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=["left", "far", "warm"])
    parts = [dd.from_pandas(one, npartitions=3) for one in (X, Y)]
    found = BasisExpansionSVC(n_basis=80).fit(*parts)
    assert list(found.label_names_) == ["left", "far", "warm"]
    predicted = found.predict(parts[0]).compute()
    assert list(predicted.columns) == ["left", "far", "warm"]
    known = Y.to_numpy()
    assert (predicted.to_numpy() == known)[~np.isnan(known)].mean() > 0.85
    assert 0.6 < found.score(parts[0], parts[1].fillna(0.0)) <= 1.0
