"""AutoSVC and AutoRegressor: the method with the best score, on samples of every kind."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from compared import candidates
from sklearn.datasets import load_diabetes, load_wine, make_circles, make_friedman1
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from widemargin import AutoRegressor, AutoSVC, BasisExpansionSVC, ThinPlateSVC, load, save, to_onnx


def test_the_best_method_is_selected_and_all_are_reported(tmp_path):
    X, y = load_wine(return_X_y=True)
    auto = AutoSVC(random_state=0).fit(X[::2], y[::2])
    tried, notes = [one["method"] for one in candidates(auto)], auto.report_["notes"]
    assert [tried[0], tried[-1]] == ["basis_expansion", "power_mean"]
    assert ("thin_plate" in tried) != any(note.startswith("thin-plate was left out") for note in notes)
    best = min(candidates(auto), key=lambda one: one["hinge"])
    assert auto.method_ == best["method"]
    assert auto.score(X[1::2], y[1::2]) > 0.95
    assert auto.estimated_score_ == pytest.approx(auto.score(X[1::2], y[1::2]), abs=0.05)
    assert any("methods compared" in note for note in auto.report_["notes"])
    values = auto.decision_function(X)
    np.testing.assert_array_equal(auto.best_estimator_.decision_function(X), values)
    np.testing.assert_array_equal(auto.best_estimator_.predict(X), auto.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(auto)).decision_function(X), values)
    save(auto, tmp_path / "model.wm")
    np.testing.assert_array_equal(load(tmp_path / "model.wm").decision_function(X), values)
    assert to_onnx(auto).SerializeToString() == to_onnx(auto.best_estimator_).SerializeToString()


@pytest.mark.parametrize(
    ("method", "alone"),
    [("basis_expansion", BasisExpansionSVC(random_state=0)), ("thin_plate", ThinPlateSVC(standardize="auto"))],
)
def test_one_method_is_what_it_is_by_itself(method, alone):
    X, y = make_circles(200, noise=0.2, factor=0.6, random_state=0)
    auto = AutoSVC(methods=[method], random_state=0).fit(X, y)
    assert type(auto.best_estimator_) is type(alone)
    assert auto.method_ == method
    # The seed is drawn in the same way.
    np.testing.assert_allclose(auto.decision_function(X), alone.fit(X, y).decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "average_precision", "balanced_accuracy", "f1_macro", "accuracy", "neg_log_loss", "neg_brier_score"],
)
def test_the_method_with_the_highest_score_is_selected(scoring):
    X, y = make_circles(150, noise=0.3, factor=0.5, random_state=0)
    weight = np.where(y == 1, 0.2, 1.0)
    auto = AutoSVC(scoring=scoring, random_state=0).fit(X - X.min(axis=0), y, weight)
    best = max(candidates(auto), key=lambda one: one["score"])
    assert auto.method_ == best["method"]
    assert any(f"compared by {scoring.replace('_', '-')}" in note for note in auto.report_["notes"])
    # What was chosen does not depend on what it is compared by, and without a scoring there is no score.
    plain = AutoSVC(random_state=0).fit(X - X.min(axis=0), y, weight)
    assert [one["similarity"] for one in candidates(plain)] == [one["similarity"] for one in candidates(auto)]
    assert all(one["score"] <= 0 for one in candidates(plain))


def test_a_scoring_that_does_not_fit_is_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=r"average-precision.*two classes, not for 3"):
        AutoSVC(scoring="average_precision").fit(X, y)
    with pytest.raises(ValueError, match=r"scoring.*Did you mean 'roc_auc'"):
        AutoSVC(scoring="rocauc").fit(X, y)
    with pytest.raises(ValueError, match="class '3' has one sample only"):
        AutoSVC(scoring="roc_auc_ovr").fit(X, np.where(np.arange(len(y)) == 5, 3, y))
    assert AutoSVC(scoring="roc_auc_ovr", methods=["thin_plate"]).fit(X, y).cv_results_["mean_test_score"][0] > 0.9


def test_a_method_that_cannot_take_the_samples_is_left_out():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    words = ["".join(rng.choice(list("ab" if label else "ac"), 8)) for label in y]
    auto = AutoSVC().fit(words, y)
    assert auto.method_ == "basis_expansion"
    assert auto.score(words, y) > 0.8
    assert auto.predict(["abababab", "acacacac"]).tolist() == [1, 0]
    X = rng.normal(size=(60, 3))
    assert "power_mean" not in [one["method"] for one in candidates(AutoSVC().fit(X, X[:, 0] > 0))]
    with pytest.raises(ValueError, match="methods"):
        AutoSVC(methods=["thin_plate"]).fit(words, y)
    with pytest.raises(ValueError, match="methods"):
        AutoSVC(methods="thinplate").fit(X, X[:, 0] > 0)


def test_many_samples_are_compared_on_a_thousand():
    X, y = make_circles(1500, noise=0.15, factor=0.5, random_state=0)
    X -= X.min(axis=0)
    auto = AutoSVC(random_state=0, n_jobs=2).fit(X[:1100], y[:1100])
    assert all(one["n_resources"] <= 1000 for one in candidates(auto))
    assert auto.score(X[1100:], y[1100:]) > 0.9
    again = AutoSVC(random_state=0, n_jobs=1).fit(X[:1100], y[:1100])
    np.testing.assert_array_equal(again.decision_function(X[1100:]), auto.decision_function(X[1100:]))


def test_the_best_regressor_is_selected(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    auto = AutoRegressor(random_state=0).fit(X[:300], y[:300])
    scores = {one["method"]: one["score"] for one in candidates(auto)}
    assert set(scores) == {"basis_expansion", "thin_plate"}
    assert auto.method_ == max(scores, key=scores.get)
    # On few samples the comparison is of the models themselves.
    assert scores[auto.method_] == pytest.approx(auto.estimated_score_, abs=1e-6)
    assert auto.estimated_score_ == auto.best_estimator_.estimated_score_
    assert abs(auto.estimated_score_ - auto.score(X[300:], y[300:])) < 0.1
    values = auto.predict(X)
    np.testing.assert_array_equal(auto.best_estimator_.predict(X), values)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(auto)).predict(X), values)
    save(auto, tmp_path / "model.wm")
    np.testing.assert_array_equal(load(tmp_path / "model.wm").predict(X), values)
    assert to_onnx(auto).SerializeToString() == to_onnx(auto.best_estimator_).SerializeToString()
    both = AutoRegressor(random_state=0).fit(X, np.stack([y, -y], axis=1))
    assert both.predict(X).shape == (442, 2)


def test_regressors_of_many_samples_are_compared_on_some():
    X, y = make_friedman1(1100, n_features=5, noise=0.5, random_state=0)
    auto = AutoRegressor(random_state=0, n_jobs=2).fit(X, y)
    assert [one["n_resources"] for one in candidates(auto)] == [1000, 1000]
    assert len(auto.basis_indices_) <= 1100
    again = AutoRegressor(random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), auto.predict(X))


def test_regressors_of_other_samples():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), 8)) for _ in range(60)]
    y = np.array([word.count("a") for word in words], dtype=float)
    auto = AutoRegressor().fit(words, y)
    assert auto.method_ == "basis_expansion"
    (failed,) = [one for one in candidates(auto) if one["problem"]]
    assert failed["method"] == "thin_plate"
    assert np.isnan(failed["score"])
    assert auto.score(words, y) > 0.5
    with pytest.raises(ValueError, match="none of the methods can be fitted"):
        AutoRegressor(methods=["thin_plate"]).fit(words, y)
    with pytest.raises(ValueError, match="ThinPlateRegressor takes tables, not series"):
        AutoRegressor(kind="series", methods=["thin_plate"]).fit(np.zeros((60, 5)), y)


def test_rows_that_are_sorted_by_their_targets_are_compared_on_shuffled_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 3 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=200)
    order = np.argsort(y)
    scores = [
        candidates(AutoRegressor(methods="thin_plate", scoring="r2").fit(X[rows], y[rows]))[0]["score"]
        for rows in (slice(None), order)
    ]
    assert scores[1] == pytest.approx(scores[0], abs=0.03)


@pytest.mark.parametrize("make", [AutoSVC, AutoRegressor])
def test_methods_are_compared_by_any_scorer_on_any_folds(make):
    X, y = (one[::2] for one in load_wine(return_X_y=True))
    folds = KFold(3, shuffle=True, random_state=0)
    # Shuffled, since rows may be sorted by their targets.
    usual = (StratifiedKFold if make is AutoSVC else KFold)(shuffle=True, random_state=make(random_state=0)._seed())
    error = make_scorer(max_error, greater_is_better=False)
    for options in ({"scoring": error}, {"cv": folds}, {"scoring": error, "cv": list(folds.split(X))}):
        auto = make(random_state=0, **options).fit(X, y)
        compared = candidates(auto)
        best = max(compared, key=lambda one: one["score"])
        assert auto.method_ == best["method"]
        assert best["selected"]
        own = next(iter(auto._classes.values()))(random_state=0)
        expected = cross_val_score(own, X, y, scoring=options.get("scoring"), cv=options.get("cv", usual))
        assert compared[0]["score"] == pytest.approx(expected.mean())
        assert compared[0]["std_test_score"] == pytest.approx(expected.std(ddof=1) / np.sqrt(len(expected)))
    with pytest.raises(ValueError, match="scoring"):
        make(scoring="r3").fit(X, y)


@pytest.mark.parametrize("make", [AutoSVC, AutoRegressor])
def test_folds_do_not_cut_groups(make):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 3)), 5, axis=0) + 1e-3 * rng.normal(size=(200, 3))
    y = np.repeat(rng.integers(0, 2, 40), 5)
    groups = np.repeat(np.arange(40), 5)
    shared = {"random_state": 0, "methods": ["basis_expansion"]}
    cut = make(cv=KFold(10, shuffle=True, random_state=0), **shared).fit(X, y)
    whole = make(**shared).fit(X, y, groups=groups)
    cut, whole = (candidates(auto)[0]["score"] for auto in (cut, whole))
    # Labels are noise, which the other samples of a group know.
    assert whole < 0.7 < 0.8 < cut
