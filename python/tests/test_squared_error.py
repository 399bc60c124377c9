"""Least squares, against scikit-learn's ridge classifier, and leave-one-out decision values by its hat matrix."""

import numpy as np
import pytest
from compared import candidates, path
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import RidgeClassifier

import widemargin as wm


def features(n_classes, n=400, d=12):
    X, y = make_classification(n, d, n_informative=6, n_classes=n_classes, class_sep=0.7, random_state=n_classes)
    return X.astype(np.float32), y


def left_out(X, y, alpha):
    """Decision values of ridge regression onto ±1 without each sample, by the hat matrix with a free intercept."""
    X, targets = X - X.mean(0), np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    hat = X @ np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T) + 1 / len(X)
    fitted = hat @ targets
    return targets - (targets - fitted) / (1 - np.diag(hat))[:, None]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_decision_values_are_those_of_the_ridge_classifier(n_classes, C):
    X, y = features(n_classes)
    ours = wm.BasisExpansionSVC("features", normalization="none", loss="squared_error", C=C, tol=1e-6).fit(X, y)
    peer = RidgeClassifier(alpha=0.5 / C).fit(X.astype(float), y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X.astype(float)), atol=1e-4)
    assert ours.loss_ == "squared_error"
    assert ours.report_["status"] == "converged"


@pytest.mark.parametrize("n", [400, 3000])
def test_the_estimate_is_exact_for_few_samples_and_for_many(n):
    X, y = features(4, n)
    ours = wm.BasisExpansionSVC("features", normalization="none", loss="squared_error").fit(X, y)
    values = left_out(X.astype(float), y, 0.5 / ours.C_)
    expected = np.mean(values.argmax(1) == y)
    assert ours.estimated_score_ == pytest.approx(expected, abs=1.5 / n)
    assert not any("squared hinge" in note for note in ours.report_.get("notes", []))
    if n < 2000:
        signs = np.where(y[:, None] == range(4), 1.0, -1.0)
        hinges = [
            np.mean(np.maximum(1 - signs * left_out(X.astype(float), y, 0.5 / C), 0) ** 2) for C in path(ours)["C"]
        ]
        np.testing.assert_allclose(path(ours)["hinge"], hinges, rtol=1e-4)
        assert path(ours)["C"][np.argmin(hinges)] == ours.C_


def test_it_classifies_with_bases_and_has_probabilities():
    X, y = load_digits(return_X_y=True)
    ours = wm.BasisExpansionSVC("rbf", n_basis=300, normalization="nystroem", loss="squared_error").fit(X[::2], y[::2])
    assert ours.score(X[1::2], y[1::2]) > 0.97
    loss = -np.mean(np.log(ours.predict_proba(X[1::2])[np.arange(len(y[1::2])), y[1::2]]))
    assert loss < 0.15


def test_rows_that_are_all_the_same_have_the_larger_class():
    X, y = np.ones((30, 3), np.float32), np.arange(30) % 3 // 2
    ours = wm.BasisExpansionSVC("features", normalization="none", loss="squared_error").fit(X, y)
    assert (ours.predict(X) == 0).all()
    np.testing.assert_allclose(ours.decision_function(X), -1 / 3, atol=1e-6)


def waves(n, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    steps = np.arange(40)
    X = np.sin(steps / (2 + y[:, None]) + rng.uniform(0, 6, n)[:, None]) + rng.normal(scale=0.8, size=(n, 40))
    return X[:, :, None].astype(np.float32), y


def test_a_search_takes_it_for_many_series_in_several_classes_only():
    for estimator, n, n_classes, expected in (
        (wm.AutoSVC(), 1200, 3, "squared_error"),
        (wm.BasisExpansionSVC(loss="squared_hinge"), 1200, 3, "squared_hinge"),
        (wm.BasisExpansionSVC(), 1200, 2, "squared_hinge"),
        (wm.BasisExpansionSVC(), 300, 3, "squared_hinge"),
    ):
        ours = estimator.fit(*waves(n, n_classes))
        assert np.atleast_1d(ours.similarity_)[0].startswith("minirocket"), ours.similarity_
        assert ours.loss_ == expected
        assert {one.get("loss", expected) for one in candidates(ours)} <= {"squared_hinge", "squared_error"}


def test_an_l1_penalty_leaves_auto_the_squared_hinge():
    X, y = features(2)
    assert wm.BasisExpansionSVC("rbf", penalty="l1", C=1.0).fit(X, y).loss_ == "squared_hinge"
