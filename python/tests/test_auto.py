"""AutoSVC: the method with the least leave-one-out loss, on samples of every kind."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine, make_circles

from widemargin import AutoSVC, BasisExpansionSVC, ThinPlateSVC, load, save, to_onnx


def test_the_best_method_is_taken_and_all_are_told(tmp_path):
    X, y = load_wine(return_X_y=True)
    auto = AutoSVC(random_state=0).fit(X[::2], y[::2])
    tried, notes = [one["method"] for one in auto.tried_], auto.report_["notes"]
    assert [tried[0], tried[-1]] == ["basis-expansion", "power-mean"]
    assert ("thin-plate" in tried) != any(note.startswith("thin-plate was left out") for note in notes)
    best = min(auto.tried_, key=lambda one: one["loo_squared_hinge"])
    assert auto.method_ == best["method"].replace("-", "_")
    assert auto.score(X[1::2], y[1::2]) > 0.95
    assert auto.estimated_score_ == pytest.approx(auto.score(X[1::2], y[1::2]), abs=0.05)
    assert any("methods compared" in note for note in auto.report_["notes"])
    values = auto.decision_function(X)
    np.testing.assert_array_equal(auto.best_estimator_.decision_function(X), values)
    np.testing.assert_array_equal(auto.best_estimator_.predict(X), auto.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(auto)).decision_function(X), values)
    save(auto, tmp_path / "model.wm")
    np.testing.assert_array_equal(load(tmp_path / "model.wm").decision_function(X), values)


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
def test_the_method_with_the_highest_score_is_taken(scoring):
    X, y = make_circles(150, noise=0.3, factor=0.5, random_state=0)
    weight = np.where(y == 1, 0.2, 1.0)
    auto = AutoSVC(scoring=scoring, random_state=0).fit(X - X.min(axis=0), y, weight)
    best = max(auto.tried_, key=lambda one: one["score"])
    assert auto.method_ == best["method"].replace("-", "_")
    assert any(f"compared by {scoring.replace('_', '-')}" in note for note in auto.report_["notes"])
    # What was chosen does not depend on what it is compared by, and without a scoring there is no score.
    plain = AutoSVC(random_state=0).fit(X - X.min(axis=0), y, weight)
    assert [one["chosen"] for one in plain.tried_] == [one["chosen"] for one in auto.tried_]
    assert all(one["score"] is None for one in plain.tried_)


def test_a_scoring_that_does_not_fit_is_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=r"average-precision.*two classes, not for 3"):
        AutoSVC(scoring="average_precision").fit(X, y)
    with pytest.raises(ValueError, match=r"scoring.*Did you mean 'roc_auc'"):
        AutoSVC(scoring="rocauc").fit(X, y)
    with pytest.raises(ValueError, match="class '3' has one sample only"):
        AutoSVC(scoring="roc_auc_ovr").fit(X, np.where(np.arange(len(y)) == 5, 3, y))
    assert AutoSVC(scoring="roc_auc_ovr", methods=["thin_plate"]).fit(X, y).tried_[0]["score"] > 0.9


def test_a_method_that_cannot_take_the_samples_is_left_out():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    words = ["".join(rng.choice(list("ab" if label else "ac"), 8)) for label in y]
    auto = AutoSVC().fit(words, y)
    assert auto.method_ == "basis_expansion"
    assert auto.score(words, y) > 0.8
    assert auto.predict(["abababab", "acacacac"]).tolist() == [1, 0]
    X = rng.normal(size=(60, 3))
    assert "power-mean" not in [one["method"] for one in AutoSVC().fit(X, X[:, 0] > 0).tried_]
    with pytest.raises(ValueError, match="methods"):
        AutoSVC(methods=["thin_plate"]).fit(words, y)
    with pytest.raises(ValueError, match="methods"):
        AutoSVC(methods="thinplate").fit(X, X[:, 0] > 0)


def test_many_samples_are_compared_on_a_thousand():
    X, y = load_digits(return_X_y=True)
    auto = AutoSVC(random_state=0, n_jobs=2).fit(X[:1400], y[:1400])
    assert all(one["n_samples"] <= 1000 for one in auto.tried_)
    assert auto.score(X[1400:], y[1400:]) > 0.95
    again = AutoSVC(random_state=0, n_jobs=1).fit(X[:1400], y[:1400])
    np.testing.assert_array_equal(again.decision_function(X[1400:]), auto.decision_function(X[1400:]))


def test_a_model_is_exported_to_onnx():
    X, y = load_wine(return_X_y=True)
    auto = AutoSVC(random_state=0).fit(X, y)
    assert to_onnx(auto).SerializeToString() == to_onnx(auto.best_estimator_).SerializeToString()
