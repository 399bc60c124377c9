"""Multilabel targets: the same in Python, on the command line and in model files, and no label changes the others."""

import functools

import numpy as np
import pytest
from compared import candidates
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

import widemargin as wm
from widemargin import inspection

# Warnings that some labels are predicted no better than by their more frequent answer.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

K = 4
X, Y = make_multilabel_classification(200, 8, n_classes=K, random_state=0)
X = X.astype(float)
SOME = np.where(np.random.default_rng(0).random(Y.shape) < 0.25, np.nan, Y.astype(float))

MADE = {
    "thin plate": functools.partial(wm.ThinPlateSVC, "thin-plate", polynomials="free", standardize=False, n_jobs=1),
    "basis expansion": functools.partial(wm.BasisExpansionSVC, "features", normalization="none", tol=1e-7, n_jobs=1),
    "power mean": functools.partial(
        wm.PowerMeanSVC, -1, nodes=[1.0, 3.0, 6.0, 12.0], scale=False, tol=1e-6, max_iter=5000, n_jobs=1, random_state=0
    ),
}


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("name", MADE)
def test_each_label_is_as_by_itself(name, class_weight):
    together = MADE[name](class_weight=class_weight).fit(X, SOME)
    scores = together.decision_function(X)
    assert scores.shape == (len(X), K)
    for label in range(K):
        known = ~np.isnan(SOME[:, label])
        alone = MADE[name](class_weight=class_weight, C=together.C_).fit(X[known], SOME[known, label].astype(int))
        atol = {"thin plate": 1e-8, "basis expansion": 2e-3, "power mean": 5e-3}[name]
        np.testing.assert_allclose(scores[:, label], alone.decision_function(X), atol=atol)
        if name == "thin plate":
            # Leave-one-out and the probabilities on it.
            assert together.estimated_label_scores_[label] == pytest.approx(alone.estimated_score_, abs=1e-12)
            probabilities = together.predict_proba(X)[:, label]
            np.testing.assert_allclose(probabilities, alone.predict_proba(X)[:, 1], atol=1e-8)
    if class_weight is None:
        weights = (~np.isnan(SOME)).sum(axis=0)
        mean = np.average(together.estimated_label_scores_, weights=weights)
        # Of held-out samples other shares of the labels are known than of all.
        assert mean == pytest.approx(together.estimated_score_, abs=1e-3 if name == "power mean" else 1e-9)


@pytest.mark.parametrize("name", MADE)
def test_what_is_predicted(name):
    fitted = MADE[name]().fit(X, Y)
    ours, theirs = fitted.predict(X), OneVsRestClassifier(LinearSVC()).fit(X, Y)
    assert ours.shape == theirs.predict(X).shape
    assert ours.dtype.kind == "i"
    np.testing.assert_array_equal(fitted.classes_, theirs.classes_)
    probabilities = fitted.predict_proba(X)
    np.testing.assert_array_equal(probabilities > 0.5, ours == 1)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), probabilities, atol=1e-12)
    assert fitted.score(X, Y) == accuracy_score(Y, ours)
    assert get_tags(fitted).classifier_tags.multi_label
    assert len(cross_val_score(MADE[name](C=0.01), X, Y, cv=3)) == 3
    # A sparse matrix, a list and booleans say the same.
    for same in (sparse.csr_array(Y), Y.tolist(), Y.astype(bool)):
        np.testing.assert_array_equal(MADE[name]().fit(X, same).decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("name", MADE)
def test_two_labels_are_no_two_classes(name):
    fitted = MADE[name](C=0.1).fit(X, Y[:, :2])
    assert fitted.decision_function(X).shape == fitted.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("name", MADE)
def test_a_sample_of_which_nothing_is_known_is_absent(name):
    is_known = np.random.default_rng(1).random(len(X)) < 0.75
    unknown = np.where(is_known[:, None], SOME, np.nan)
    without = MADE[name](C=0.01).fit(X[is_known], SOME[is_known])
    np.testing.assert_allclose(MADE[name](C=0.01).fit(X, unknown).decision_function(X), without.decision_function(X))


def test_strings_and_functions_of_python():
    words = [
        "red car",
        "blue car",
        "red house",
        "blue house",
        "old red car",
        "new house",
        "old car",
        "new red house",
    ] * 3
    answers = np.array([[int("red" in word), int("car" in word), int("old" in word)] for word in words])
    found = wm.BasisExpansionSVC("ngram", n_basis=8, C=10.0).fit(words, answers)
    np.testing.assert_array_equal(found.predict(words), answers)

    def shared(samples, bases):
        return np.array([[len(set(a.split()) & set(b.split())) for b in bases] for a in samples], dtype=float)

    own = wm.BasisExpansionSVC(shared, n_basis=8, C=10.0, normalization="none").fit(words, answers)
    assert own.predict_proba(words).shape == answers.shape
    np.testing.assert_array_equal(own.predict(words), answers)


@pytest.mark.parametrize("name", MADE)
def test_wrong_answers_are_named(name):
    def message(answers, given=X, **parameters):
        with pytest.raises(ValueError, match=r".") as caught:
            MADE[name](**parameters).fit(given, answers)
        return str(caught.value)

    constant = Y.copy()
    constant[:, 2] = 0
    assert "column of label 2" in message(constant)
    assert "no sample has it" in message(constant)
    unknown = SOME.copy()
    unknown[:, 1] = np.nan
    assert "it is known for no sample" in message(unknown)
    other = Y.copy()
    other[3, 1] = 2
    assert "2 at row 3, column 1" in message(other)
    assert "inconsistent numbers of samples" in message(Y[:-1]) or "samples" in message(Y[:-1])
    assert "'balanced' or None" in message(Y, class_weight={1: 2.0})
    with pytest.raises(ValueError, match=r"multilabel targets have accuracy"):
        wm.AutoSVC(scoring="neg_log_loss").fit(X, Y)


@pytest.mark.parametrize("scoring", [None, "accuracy", "f1_macro", "roc_auc", "average_precision"])
def test_the_method_is_chosen_for_all_labels(scoring):
    auto = wm.AutoSVC(scoring=scoring, random_state=0, n_jobs=1).fit(X, SOME)
    assert {tried["method"] for tried in candidates(auto)} >= {"basis_expansion", "power_mean"}
    best = auto.best_estimator_
    np.testing.assert_array_equal(auto.predict(X), best.predict(X))
    assert auto.predict(X).shape == Y.shape
    assert accuracy_score(Y.ravel(), auto.predict(X).ravel()) > 0.8
    assert auto.predict_proba(X).shape == Y.shape
    if scoring is not None:
        scores = {tried["method"]: tried["score"] for tried in candidates(auto)}
        assert scores[auto.method_] == max(scores.values())


@pytest.mark.parametrize("name", ["thin plate", "basis expansion"])
def test_dual_variables_are_0_where_a_label_is_unknown(name):
    given = {} if name == "thin plate" else {"fit_intercept": False}
    fitted = MADE[name](C=0.01, class_weight="balanced", **given).fit(X, SOME)
    alphas = inspection.dual_variables(fitted, X, SOME)
    assert (alphas >= 0).all()
    assert (alphas[np.isnan(SOME)] == 0).all()
    if name == "basis expansion":
        signs = np.where(SOME == 1, 1.0, -1.0)
        np.testing.assert_allclose(X @ (X.T @ (alphas * signs)), fitted.decision_function(X), atol=5e-3)
