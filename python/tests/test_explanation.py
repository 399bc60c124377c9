"""Explanations add up to decision values in Python as they do in Rust, are drawn, and reports say what `score` says."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss, roc_auc_score

import widemargin as wm
from widemargin.inspection import explain, report
from widemargin.similarity import pairs

NAMES = ["Rossi", "Russo", "Bianchi", "Romano", "Ricci", "Smith", "Jones", "Williams", "Taylor", "Walker"]
LANGUAGES = ["it"] * 5 + ["en"] * 5


def check(estimator, X, index=0):
    explanation = explain(estimator, X, index)
    values = np.atleast_2d(np.asarray(estimator.decision_function(X)).T).T[index]
    size = np.abs(explanation.contributions).sum() + np.abs(values).max()
    sums = explanation.intercepts + explanation.contributions.sum(axis=0)
    np.testing.assert_allclose(sums, values, atol=2e-6 * size)
    np.testing.assert_allclose(explanation.decision_values, values, atol=2e-6 * size)
    assert explanation.predicted == estimator.predict(X)[index]
    np.testing.assert_allclose(explanation.probabilities, estimator.predict_proba(X)[index], atol=1e-5)
    for label in explanation.classes:
        strongest = explanation.strongest(3, label)
        assert [term.contributions.tolist() for term in strongest]
    assert explanation._repr_html_().startswith("<style>")
    return explanation


@pytest.mark.parametrize(
    "made",
    [
        lambda: wm.BasisExpansionSVC("rbf:gamma=0.5", n_basis=20, C=1.0),
        lambda: wm.ThinPlateSVC("distance", C=1.0),
        lambda: wm.PowerMeanSVC(kernel=-1, C=1.0),
        lambda: wm.AutoSVC(methods=["thin_plate"], random_state=0),
    ],
)
@pytest.mark.parametrize("n_labels", [2, 3])
def test_each_of_several_labels_is_explained(made, n_labels):
    X, y = load_iris(return_X_y=True)
    Y = pd.DataFrame({"long": X[:, 2] > 4.0, "wide": X[:, 1] > 3.0, "last": y == 2}, dtype=float).iloc[:, :n_labels]
    svc = made().fit(X, Y)
    explanation = explain(svc, X, 60)
    scores = svc.decision_function(X)[60]
    assert explanation.multilabel
    assert explanation.classes.tolist() == ["long", "wide", "last"][:n_labels]
    assert explanation.predicted == [name for name, score in zip(explanation.classes, scores, strict=True) if score > 0]
    assert explanation.explained == explanation.classes[np.argmax(scores)]
    np.testing.assert_allclose(explanation.intercepts + explanation.contributions.sum(axis=0), scores, atol=1e-4)
    np.testing.assert_allclose(explanation.probabilities, svc.predict_proba(X)[60], atol=1e-5)
    for at, label in enumerate(explanation.classes):
        of_label = explain(svc, X, 60, label=label)
        assert (of_label.explained, of_label.predicted) == (label, explanation.predicted)
        np.testing.assert_array_equal(of_label.for_class(), explanation.contributions[:, at])
        assert f"Explained: <b>{label}</b>" in of_label._repr_html_()
    assert f"explained='{explanation.explained}'" in repr(explanation)
    with pytest.raises(ValueError, match="label is 'far'"):
        explain(svc, X, 60, label="far")
    page = report(svc, X, Y)
    assert "average precision, mean" in page
    assert "wide" in page


def test_another_class_than_the_predicted_one_is_explained():
    X, y = load_iris(return_X_y=True)
    svc = wm.BasisExpansionSVC("rbf", n_basis=30, C=1.0).fit(X, y)
    explanation = explain(svc, X, 60, label=2)
    assert (explanation.predicted, explanation.explained) == (1, 2)
    np.testing.assert_array_equal(explanation.for_class(), explanation.contributions[:, 2])
    compared = [term for term in explanation.strongest(10) if term.comparison is not None]
    assert len(compared) == 10
    assert "Explained: <b>2</b>" in explanation._repr_html_()


def series():
    rng = np.random.default_rng(0)
    return [rng.normal(size=20 + i).cumsum() for i in range(20)], ["a", "b"] * 10


IRIS, SPARSE = load_iris(return_X_y=True), csr_matrix(load_iris().data)
IMAGES = (load_digits().images[:80, ..., None] * 15).astype(np.uint8)


@pairs
def shared(a, b):
    return float(len(set(a) & set(b)))


CASES = {
    "vectors": (wm.BasisExpansionSVC("rbf", n_basis=30, C=1.0), *IRIS),
    "nystroem": (wm.BasisExpansionSVC("rbf", n_basis=30, C=1.0, normalization="nystroem"), *IRIS),
    "thin plate": (wm.ThinPlateSVC(), *IRIS),
    "power mean": (wm.PowerMeanSVC(), *IRIS),
    "sparse": (wm.BasisExpansionSVC(["linear", "features"], C=1.0), SPARSE, IRIS[1]),
    "moved shares": (wm.BasisExpansionSVC("emd:ground=circle", C=1.0, n_basis=20), *IRIS),
    "sparse moved shares": (wm.BasisExpansionSVC("emd", C=1.0, n_basis=20), SPARSE, IRIS[1]),
    "strings": (wm.BasisExpansionSVC("edit", C=1.0), NAMES, LANGUAGES),
    "terms": (wm.BasisExpansionSVC("tfidf:n=1-2/features", C=1.0, normalization="none"), NAMES, LANGUAGES),
    "series": (wm.BasisExpansionSVC("dtw", C=1.0, n_basis=8), *series()),
    "images": (wm.BasisExpansionSVC("pixels/rbf", C=1.0, n_basis=20), IMAGES, load_digits().target[:80]),
    "bits": (wm.BasisExpansionSVC("tanimoto", C=1.0, n_basis=10), IRIS[0] > 2.0, IRIS[1] > 0),
    "own": (wm.BasisExpansionSVC(shared, C=1.0), NAMES, LANGUAGES),
}


@pytest.mark.parametrize("case", CASES)
def test_terms_add_up_and_are_shown(case):
    estimator, X, y = CASES[case]
    assert "<svg" in check(estimator.fit(X, y), X, 3)._repr_html_()


def test_names_of_columns_and_samples_are_those_of_the_frame():
    iris = load_iris(as_frame=True)
    explanation = check(wm.PowerMeanSVC().fit(iris.data, iris.target), iris.data, 100)
    assert {term.name for term in explanation.terms} == set(iris.data.columns)
    assert explanation.strongest(1)[0].kind == "column"
    explanation = explain(wm.ThinPlateSVC("thin_plate").fit(iris.data, iris.target), iris.data, -1)
    assert [term.name for term in explanation.terms if term.kind == "polynomial"] == list(iris.data.columns)


def test_the_class_asked_for_and_what_there_is_none_of():
    svc = wm.BasisExpansionSVC("edit", C=1.0).fit(NAMES, LANGUAGES)
    explanation = explain(svc, ["Rosso"])
    np.testing.assert_array_equal(explanation.for_class("it"), -explanation.for_class("en"))
    assert "predicted='it'" in repr(explanation)
    with pytest.raises(IndexError, match="there are 1 samples"):
        explain(svc, ["Rosso"], 1)
    with pytest.raises(ValueError, match="it must be one of"):
        explanation.for_class("fr")
    with pytest.raises(TypeError, match="fitted estimator"):
        explain("edit", ["Rosso"])


def test_a_report_has_the_scores_of_scikit_learn(tmp_path):
    X, y = load_iris(return_X_y=True)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    svc = wm.BasisExpansionSVC("rbf", n_basis=20, C=0.01).fit(X[train], y[train])
    file = tmp_path / "report.html"
    page = report(svc, X[test], y[test], file, title="<i>iris</i>", data_name="odd & rows")
    assert file.read_text(encoding="utf-8") == page
    predicted, probabilities = svc.predict(X[test]), svc.predict_proba(X[test])
    tiles = {
        what: float(value.rstrip(" %"))
        for value, what in re.findall(r'<div class="wm-tile"><b>([^<]*)</b><span[^>]*>([^<]*)</span>', page)
    }
    assert tiles["accuracy"] == round(100 * accuracy_score(y[test], predicted), 2)
    assert tiles["balanced accuracy"] == round(100 * balanced_accuracy_score(y[test], predicted), 2)
    assert tiles["F1, mean of the classes"] == round(100 * f1_score(y[test], predicted, average="macro"), 2)
    assert tiles["log loss"] == pytest.approx(log_loss(y[test], probabilities), abs=1e-3)
    assert tiles["ROC AUC"] == pytest.approx(roc_auc_score(y[test], probabilities, multi_class="ovr"), abs=1e-4)
    assert html.escape("<i>iris</i>", quote=False) in page
    assert "<i>iris" not in page
    assert "odd &amp; rows" in page
    assert not re.search(r"https?:|<script|<link|url\(", page)


def test_reports_say_what_does_not_fit(tmp_path):
    X, y = load_iris(return_X_y=True)
    svc = wm.ThinPlateSVC().fit(X, y)
    with pytest.raises(ValueError, match="4 features"):
        report(svc, X[:, :2], y)
    with pytest.raises(ValueError, match="X and y"):
        report(svc, X)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[150, 149\]"):
        report(svc, X, y[1:])
    with pytest.raises(OSError, match="nowhere"):
        report(svc, file=tmp_path / "nowhere" / "report.html")
    own = wm.BasisExpansionSVC(pairs(lambda x, y: float(x == y)), C=1.0).fit(NAMES, LANGUAGES)
    with pytest.raises(TypeError, match="Python"):
        report(own)
    # A label that the fit never saw is counted, and said.
    page = report(svc, X, np.where(y == 2, 7, y))
    assert "50 samples have a label that is not a class of the model" in page


def test_a_frame_in_another_order_is_explained_alike():
    iris = load_iris(as_frame=True)
    svc = wm.ThinPlateSVC().fit(iris.data, iris.target)
    turned = iris.data[iris.data.columns[::-1]]
    assert isinstance(turned, pd.DataFrame)
    np.testing.assert_array_equal(explain(svc, turned, 5).contributions, explain(svc, iris.data, 5).contributions)
