"""The importances of columns are their shares of the column weights in the similarity."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

import widemargin as wm
from widemargin import (
    AutoRegressor,
    AutoSVC,
    BasisExpansionOneClass,
    BasisExpansionRegressor,
    BasisExpansionSVC,
    PowerMeanSVC,
    ThinPlateSVC,
)


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    """20 columns: 3, 7, 11 and 15 matter."""
    X = np.random.default_rng(0).uniform(-1.5, 1.5, (600, 20))
    return X, np.sin(2 * X[:, 3]) + X[:, 7] ** 2 + X[:, 11] * X[:, 15] > 1.3


def weighted(*similarities: str) -> BasisExpansionSVC:
    return BasisExpansionSVC(list(similarities), n_basis=20, C=1.0)


def test_the_columns_that_matter_have_the_largest(table) -> None:
    X, y = table
    svc = BasisExpansionSVC(random_state=0).fit(X, y)
    importances = svc.feature_importances_
    assert importances.shape == (20,)
    assert importances.sum() == pytest.approx(1.0)
    assert {*np.argsort(importances)[-4:]} == {3, 7, 11, 15}
    assert importances[[3, 7, 11, 15]].sum() > 0.5
    selector = SelectFromModel(svc, importance_getter="feature_importances_", max_features=4, prefit=True)
    assert np.flatnonzero(selector.get_support()).tolist() == [3, 7, 11, 15]


@pytest.mark.parametrize("estimator", [BasisExpansionRegressor, AutoRegressor])
def test_a_regression_has_none_since_its_weights_are_inverse_length_scales(estimator) -> None:
    X, y = make_friedman1(300, n_features=10, noise=0.5, random_state=0)
    model = estimator(random_state=0).fit(X, y)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="inverse length scales"):
        _ = model.feature_importances_


def test_weighted_similarities_have_equal_shares() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    svc = weighted("z-score:weights=1;0;3/rbf", "linear", "mean-norm/z-score:weights=0;2;0/laplacian").fit(X, y)
    np.testing.assert_allclose(svc.feature_importances_, [0.125, 0.5, 0.375], rtol=1e-6)


def test_columns_of_categories_are_summed(tmp_path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "color": rng.choice(["red", "green", "blue"], 60)})
    frame["flag"], frame["age"] = rng.random(60) > 0.5, rng.normal(size=60)
    frame.loc[3, "age"] = np.nan
    # A size, three colors, a flag, an age, and whether it is missing.
    svc = weighted("z-score:weights=1;2;3;4;5;6;7/rbf").fit(frame, frame["size"] > 0)
    expected = np.array([1, 9, 5, 13]) / 28
    np.testing.assert_allclose(svc.feature_importances_, expected, rtol=1e-6)
    assert len(svc.feature_importances_) == svc.n_features_in_
    wm.save(svc, tmp_path / "model")
    for same in (wm.load(tmp_path / "model"), pickle.loads(pickle.dumps(svc))):
        np.testing.assert_array_equal(same.feature_importances_, svc.feature_importances_)


def test_outlier_detection_and_auto_have_them(table) -> None:
    X, y = table
    weights = ";".join(["1"] * 19 + ["0"])
    outliers = BasisExpansionOneClass(f"z-score:weights={weights}/rbf").fit(X)
    np.testing.assert_allclose(outliers.feature_importances_, [1 / 19] * 19 + [0])
    best = AutoSVC(methods="basis_expansion", random_state=0).fit(X, y)
    np.testing.assert_array_equal(best.feature_importances_, best.best_estimator_.feature_importances_)


@pytest.mark.parametrize("spec", ["rbf", "z-score/rbf", "precomputed"])
def test_without_weights_there_are_none(spec, table) -> None:
    X, y = table
    svc = BasisExpansionSVC(spec, n_basis=20, C=1.0).fit(X[:20], y[:20])
    assert not hasattr(svc, "feature_importances_")
    with pytest.raises(AttributeError, match="only available if the similarity has weights of the columns"):
        _ = svc.feature_importances_


def test_without_a_fit_there_are_none() -> None:
    assert not hasattr(BasisExpansionSVC(), "feature_importances_")
    with pytest.raises(NotFittedError):
        _ = BasisExpansionSVC().feature_importances_


@pytest.mark.parametrize("cls", [ThinPlateSVC, PowerMeanSVC])
def test_kernels_without_descriptors_have_none(cls, table) -> None:
    assert not hasattr(cls().fit(abs(table[0][:60]), table[1][:60]), "feature_importances_")
