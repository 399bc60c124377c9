"""Regression, multilabel targets and outlier detection on several machines, compared with one machine."""

import dask.array as da
import numpy as np
import pytest
from compared import candidates, expected_error, path
from dask import bag, delayed
from on_dask import cut
from sklearn.datasets import load_diabetes, make_friedman1

import widemargin as wm
from widemargin.dask import (
    BasisExpansionOneClass,
    BasisExpansionRegressor,
    BasisExpansionSVC,
    PowerMeanSVC,
    ThinPlateRegressor,
    ThinPlateSVC,
)

SIZES = (1, 0, 180, 119, 100)


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(400, 7, noise=0.5, random_state=0)
    X[7] = X[3]
    weights = np.random.default_rng(1).integers(0, 4, 400).astype(float)
    return X, np.column_stack([1e4 + y, -3 * y**2]), weights


@pytest.mark.parametrize(
    ("normalization", "C"), [("mean_norm", "auto"), ("z_score", 0.5), ("none", 0.5), ("nystroem", "auto")]
)
def test_a_regression_is_that_of_one_machine(client, numbers, normalization, C):
    X, Y, weights = numbers
    parameters = {"normalization": normalization, "C": C, "fit_intercept": normalization != "z_score"}
    found = BasisExpansionRegressor("rbf:gamma=0.7", n_basis=40, **parameters)
    found.fit(*cut(X, Y, SIZES), sample_weight=da.from_array(weights, chunks=(SIZES,)))
    assert (weights[found.basis_indices_] > 0).all()
    alone = wm.BasisExpansionRegressor("rbf:gamma=0.7", basis=found.basis_indices_, **parameters)
    alone.fit(X, Y, sample_weight=weights)
    size = np.abs(Y).max(axis=0)
    np.testing.assert_allclose(found.predict(X) / size, alone.predict(X) / size, atol=2e-6)
    np.testing.assert_allclose(expected_error(found), expected_error(alone), rtol=1e-4)
    assert abs(found.C_ / alone.C_ - 1) < 1e-5
    assert found.estimated_score_ == pytest.approx(alone.estimated_score_, abs=1e-5)


# The folds of the quantile loss are others where samples are equal, as two are: C is given.
LOSSES = [
    ({"loss": "huber", "epsilon": 2.0, "C": 0.5}, slice(None)),
    ({"loss": "huber", "C": "auto"}, 0),
    ({"loss": "squared_epsilon_insensitive", "epsilon": 0.5, "C": 0.5, "fit_intercept": False}, slice(None)),
    ({"loss": "squared_epsilon_insensitive", "C": 0.5}, 0),
    ({"loss": "quantile", "quantile": 0.8, "C": 0.5}, slice(None)),
]


@pytest.mark.parametrize(("loss", "outputs"), LOSSES)
def test_a_regression_by_another_loss_is_that_of_one_machine(client, numbers, loss, outputs):
    X, Y, weights = numbers
    Y = (Y + np.where(np.arange(400) % 29 == 0, 500.0, 0.0)[:, None])[:, outputs]
    parameters = {"normalization": "mean_norm", **loss}
    found = BasisExpansionRegressor("rbf:gamma=0.7", n_basis=40, **parameters)
    found.fit(*cut(X, Y, SIZES), sample_weight=da.from_array(weights, chunks=(SIZES,)))
    alone = wm.BasisExpansionRegressor("rbf:gamma=0.7", basis=found.basis_indices_, **parameters)
    alone.fit(X, Y, sample_weight=weights)
    size = np.abs(alone.coef_).max(axis=-1)
    np.testing.assert_allclose(found.coef_.T / size, alone.coef_.T / size, atol=2e-6)
    size = np.abs(Y).max(axis=0)
    np.testing.assert_allclose(found.predict(X) / size, alone.predict(X) / size, atol=2e-6)
    np.testing.assert_array_equal(found.predict(cut(X, Y, SIZES)[0]).compute(), found.predict(X))
    assert abs(found.C_ / alone.C_ - 1) < 1e-5
    fitted = {name for name in vars(alone) if name.endswith("_")}
    assert fitted <= set(vars(found))
    assert found.report_["status"] == "converged"
    if loss["loss"] == "quantile":
        below = np.average(found.predict(X) > Y, axis=0, weights=weights)
        assert np.all(np.abs(below - 0.8) < 0.1)
    else:
        np.testing.assert_allclose(expected_error(found), expected_error(alone), rtol=1e-4)
        np.testing.assert_allclose(found.epsilon_, alone.epsilon_, rtol=1e-4)
        assert found.estimated_score_ == pytest.approx(alone.estimated_score_, abs=1e-5)


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
    # One query where the steps begin, and one a step.
    steps = max(alone.report_["iterations"])
    assert found.dask_report_["queries"]["look"] == steps + 1


@pytest.mark.parametrize("kernel", ["auto", "cityblock", "cubic", "rbf:gamma=0.3"])
def test_a_spline_is_that_of_one_machine(client, numbers, kernel):
    X, Y, weights = numbers
    found = ThinPlateRegressor(kernel, n_basis=40, basis="index", standardize=False)
    found.fit(*cut(X, Y[:, 0], SIZES), sample_weight=da.from_array(weights, chunks=(SIZES,)))
    assert found.similarity_ == kernel or (kernel == "auto" and len(candidates(found)) == 2)
    alone = wm.ThinPlateRegressor(found.similarity_, n_basis=40, basis="index", standardize=False)
    alone.fit(X, Y[:, 0], sample_weight=weights)
    np.testing.assert_allclose(found.predict(X), alone.predict(X), rtol=1e-6)
    assert expected_error(found) == pytest.approx(expected_error(alone), rel=1e-5)
    assert pytest.approx(alone.C_, rel=1e-5) == found.C_


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


def test_strings_in_a_bag(client):
    words = ["a" * n + "b" * m for n in range(6) for m in range(1, 6)]
    y = np.array([len(word) for word in words], dtype=float)
    X = bag.from_delayed([delayed(words[:13]), delayed(words[13:])])
    y_parts = da.concatenate([da.from_array(y[:13]), da.from_array(y[13:])])
    found = BasisExpansionRegressor("edit:gamma=0.2", normalization="nystroem").fit(X, y_parts)
    assert found.score(X, y_parts) > 0.95


def test_wrong_targets_and_parameters_raise(client, numbers):
    X, Y, _ = numbers
    with pytest.raises(ValueError, match="epsilon = 0 is not allowed"):
        BasisExpansionRegressor("rbf", loss="huber", epsilon=0).fit(*cut(X, Y, SIZES))
    with pytest.raises(ValueError, match="must be a number of bases on Dask"):
        ThinPlateRegressor(n_basis=None).fit(*cut(X, Y, SIZES))
    wrong = Y.copy()
    wrong[200, 1] = np.inf
    with pytest.raises(ValueError, match=r"partition 3: a target of its row 19 \(from 0\) is not finite"):
        BasisExpansionRegressor("rbf").fit(*cut(X, wrong, SIZES))
    with pytest.raises(ValueError, match=r"partition \d: could not convert string to float"):
        BasisExpansionRegressor("rbf").fit(*cut(X, np.array(["word"] * 400), SIZES))
    with pytest.raises(ValueError, match="requires y to be passed"):
        ThinPlateRegressor().fit(cut(X, Y, SIZES)[0], None)


def answers(X):
    return np.column_stack([X[:, 0] + X[:, 1] > 0, X[:, 2] ** 2 > 1, X[:, 3] * X[:, 0] > 0.3]).astype(float)


def log_loss(model):
    """Of other samples of `labeled`, with what was never sure."""
    X = np.random.default_rng(5).normal(size=(1000, 4))
    chances = np.clip(np.where(answers(X) > 0, model.predict_proba(X), 1 - model.predict_proba(X)), 1e-3, 1)
    return float(-np.log(chances).mean())


@pytest.fixture(scope="module")
def labeled():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    Y = answers(X)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, Y, rng.integers(1, 4, 400).astype(float)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_multilabel_are_those_of_one_machine(client, labeled, class_weight, loss):
    X, Y, weights = labeled
    parameters = {"normalization": "mean_norm", "C": 0.5, "tol": 1e-6, "class_weight": class_weight, "loss": loss}
    found = BasisExpansionSVC("rbf:gamma=0.3", n_basis=60, **parameters)
    found.fit(*cut(X, Y, SIZES), sample_weight=da.from_array(weights, chunks=(SIZES,)))
    alone = wm.BasisExpansionSVC("rbf:gamma=0.3", basis=found.basis_indices_, **parameters)
    alone.fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=2e-6 * np.abs(alone.coef_).max())
    np.testing.assert_array_equal(found.predict(X), alone.predict(X))
    # They are calibrated on rows that were held out, one in five of each partition here and others there.
    assert abs(log_loss(found) - log_loss(alone)) < 0.05


@pytest.mark.parametrize("polynomials", ["auto", "constant"])
def test_multilabel_on_bases(client, labeled, polynomials):
    X, Y, weights = labeled
    found = ThinPlateSVC("distance", n_basis=40, basis="index", polynomials=polynomials)
    found.fit(*cut(X, Y, SIZES), sample_weight=da.from_array(weights, chunks=(SIZES,)))
    parameters = {"n_basis": 40, "basis": "index", "polynomials": polynomials, "standardize": False}
    alone = wm.ThinPlateSVC("distance", **parameters).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(found.decision_function(X), alone.decision_function(X), atol=2e-3)
    assert found.estimated_score_ == pytest.approx(alone.estimated_score_, abs=0.02)
    np.testing.assert_allclose(path(found)["hinge"], path(alone)["hinge"], rtol=1e-4)
    assert abs(log_loss(found) - log_loss(alone)) < 0.02


def test_multilabel_of_histograms(client, labeled):
    X, Y, weights = labeled
    X = np.abs(X)
    Y[:, 0] = X[:, 0] > 0.6
    parameters = {"kernel": "chi2", "C": 0.5, "nodes": 4, "tol": 1e-6}
    found = PowerMeanSVC(**parameters).fit(*cut(X, Y, SIZES), sample_weight=da.from_array(weights, chunks=(SIZES,)))
    alone = wm.PowerMeanSVC(**parameters).fit(X, Y, sample_weight=weights)
    size = np.abs(alone.decision_function(X)).max()
    np.testing.assert_allclose(found.decision_function(X), alone.decision_function(X), atol=2e-3 * size)


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
    wrong = Y.to_numpy().copy()
    wrong[150, 2] = 2
    with pytest.raises(ValueError, match=r"partition 2: .* Y has 2 at row 0, column 2"):
        BasisExpansionSVC("rbf", n_basis=30).fit(*cut(X.to_numpy(), wrong, (100, 50, 250)))


@pytest.mark.parametrize("normalization", ["nystroem", "none", "centered"])
def test_one_class_is_that_of_one_machine(client, normalization):
    X = np.random.default_rng(4).normal(size=(400, 3))
    found = BasisExpansionOneClass("rbf:gamma=0.3", n_basis=50, normalization=normalization)
    found.fit(da.from_array(X, chunks=(SIZES, 3)))
    alone = wm.BasisExpansionOneClass("rbf:gamma=0.3", basis=found.basis_indices_, normalization=normalization).fit(X)
    np.testing.assert_allclose(found.leave_one_out_scores_, alone.leave_one_out_scores_, atol=1e-4)
    assert found.offset_ == pytest.approx(alone.offset_, abs=1e-4)
    np.testing.assert_array_equal(found.predict(X[:50]), alone.predict(X[:50]))
    lazily = found.predict(da.from_array(X, chunks=(SIZES, 3)))
    np.testing.assert_array_equal(lazily.compute(), found.predict(X))
    assert type(found.estimator_) is wm.BasisExpansionOneClass
    weights = np.arange(400) % 3.0
    cut_weights = da.from_array(weights, chunks=(SIZES,))
    found.fit(da.from_array(X, chunks=(SIZES, 3)), sample_weight=cut_weights)
    alone.set_params(basis=found.basis_indices_).fit(X, sample_weight=weights)
    np.testing.assert_allclose(found.leave_one_out_scores_, alone.leave_one_out_scores_, atol=1e-4)
    assert found.offset_ == pytest.approx(alone.offset_, abs=1e-4)
