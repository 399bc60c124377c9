"""Displays and explanations of regressors, outlier detectors, pipelines and searches."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
from compared import candidates, path
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import widemargin as wm
from widemargin.inspection import BasisDisplay, PathDisplay, SpectrumDisplay, dual_variables, explain, margins, report

matplotlib.use("Agg")
WINE, KINDS = load_wine(return_X_y=True, as_frame=True)
X, y = load_diabetes(return_X_y=True)
X, y = X[:200], y[:200]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("regressor", "left", "right"),
    [
        (wm.BasisExpansionRegressor(), "leave-one-out R²", "leave-one-out RMSE"),
        (wm.BasisExpansionRegressor("rbf", loss="huber"), "leave-one-out D²", "leave-one-out loss"),
        (wm.BasisExpansionRegressor("rbf", loss="quantile"), "five-fold D²", "five-fold loss"),
        (wm.ThinPlateRegressor(), "leave-one-out R²", "leave-one-out RMSE"),
        (wm.AutoRegressor(), "leave-one-out R²", "leave-one-out RMSE"),
    ],
    ids=["basis expansion", "huber", "quantile", "thin plate", "auto"],
)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_path_of_a_regressor(regressor, left, right, n_outputs):
    targets = y if n_outputs == 1 else np.stack([y, -(y**2)], axis=1)
    fitted = regressor.fit(X, targets)
    display = PathDisplay.from_estimator(fitted)
    measured = path(fitted)
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), measured["score"])
    name = "neg_loss" if "D²" in left else "neg_root_mean_squared_error"
    np.testing.assert_array_equal(display.ax_right_.lines[0].get_ydata(), -measured[f"mean_test_{name}"])
    assert (display.ax_.get_ylabel(), display.ax_right_.get_ylabel()) == (left, right)
    assert display.ax_.lines[1].get_xdata()[0] == fitted.C_
    if len(compared := candidates(fitted)) > 1:
        most = max(one["n_resources"] for one in compared)
        best = max(one["score"] for one in compared if one["n_resources"] == most)
        (selected,) = [one for one in compared if one["selected"]]
        assert selected["score"] == best
        assert any(label.get_text().endswith("(selected)") for label in display.ax_candidates_.get_yticklabels())


def test_the_bases_of_a_regressor_and_of_an_outlier_detector():
    for targets, names in ((y, [""]), (np.stack([y, y**2], axis=1), ["output 0", "output 1"])):
        fitted = wm.BasisExpansionRegressor("rbf", n_basis=30, normalization="mean_norm", C=1.0).fit(X, targets)
        display = BasisDisplay.from_estimator(fitted, 5, per_class=True)
        assert [name for name, _, _ in display.groups] == names
        for (_, order, weights), coefficients in zip(display.groups, np.atleast_2d(fitted.coef_), strict=True):
            np.testing.assert_allclose(weights, coefficients[order])
            assert np.abs(weights).min() >= np.sort(np.abs(coefficients))[-5]
        (_, order, weights), *_ = BasisDisplay.from_estimator(fitted, 5).groups
        np.testing.assert_allclose(weights, np.linalg.norm(np.atleast_2d(fitted.coef_), axis=0)[order])
    detector = wm.BasisExpansionOneClass(n_basis=30, normalization="none").fit(X)
    assert len(BasisDisplay.from_estimator(detector, 5).groups[0][1]) == 5
    with pytest.raises(ValueError, match=r"normalization='nystroem' mixes the bases"):
        BasisDisplay.from_estimator(wm.BasisExpansionOneClass().fit(X))


OTHERS = [
    wm.BasisExpansionRegressor("rbf", normalization="mean_norm"),
    wm.BasisExpansionRegressor("rbf", normalization="nystroem"),
    wm.BasisExpansionRegressor(["rbf", "linear"], loss="huber", C=1.0),
    wm.ThinPlateRegressor(),
    wm.ThinPlateRegressor("cubic", n_basis=30, standardize=True),
    wm.AutoRegressor(),
    wm.BasisExpansionOneClass(),
    wm.BasisExpansionOneClass("distance", normalization="none"),
]


@pytest.mark.parametrize("estimator", OTHERS, ids=str)
def test_what_is_of_classes_alone_names_the_estimator(estimator):
    fitted = estimator.fit(X, y)
    name = type(getattr(fitted, "best_estimator_", fitted)).__name__
    for function in (margins, lambda one: dual_variables(one, X, y)):
        for given in (fitted, make_pipeline(StandardScaler(), fitted).fit(X, y)):
            with pytest.raises(TypeError, match=f"estimator is a {name}: it must be a fitted classifier"):
                function(given)


@pytest.mark.parametrize("estimator", OTHERS, ids=str)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_predictions_of_numbers_and_outliers_are_sums(estimator, n_outputs):
    targets = y if n_outputs == 1 else np.stack([y, -(y**2)], axis=1)
    fitted = make_pipeline(StandardScaler(), estimator).fit(X, targets)
    explanation = explain(fitted, X, 7)
    sums = explanation.intercepts + explanation.contributions.sum(axis=0)
    np.testing.assert_allclose(sums, explanation.decision_values, rtol=1e-3, atol=1e-3)
    strongest = explanation.strongest(3)
    assert np.abs(explanation.for_class()).max() == abs(strongest[0].contributions[0])
    page = explanation._repr_html_()
    if isinstance(estimator, wm.BasisExpansionOneClass):
        np.testing.assert_allclose(explanation.decision_values, fitted.decision_function(X[7:8]), atol=1e-6)
        assert explanation.predicted == fitted.predict(X[7:8])[0]
        assert "contribution to the score" in page
    else:
        np.testing.assert_allclose(explanation.decision_values, np.atleast_1d(fitted.predict(X[7:8])[0]), rtol=1e-6)
        np.testing.assert_allclose(explanation.predicted, fitted.predict(X[7:8])[0], rtol=1e-6)
        assert "contribution to the target" in page
        if n_outputs == 2:
            assert explain(fitted, X, 7, label=1).explained == 1
            with pytest.raises(ValueError, match=r"label is 2: it must be one of \[0, 1\]"):
                explain(fitted, X, 7, label=2)
    assert repr(explanation).startswith("Explanation(predicted=")


@pytest.mark.parametrize("estimator", OTHERS, ids=str)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_reports_on_numbers_and_outliers(estimator, n_outputs, tmp_path):
    targets = y if n_outputs == 1 else np.stack([y, -(y**2)], axis=1)
    fitted = make_pipeline(StandardScaler(), estimator).fit(X, targets)
    page = report(fitted, X, targets, tmp_path / "page.html", data_name="the training samples")
    assert (tmp_path / "page.html").read_text() == page
    assert "the training samples" in page
    alone = report(fitted)
    assert "The model" in alone
    assert "the training samples" not in alone
    if isinstance(estimator, wm.BasisExpansionOneClass):
        assert f"<b>{(fitted.predict(X) == -1).sum()}</b>" in page
        assert report(fitted, X).count("Sample ") == page.count("Sample ")
        return
    predicted = fitted.predict(X).reshape(200, -1)[:, 0]
    assert f"<b>{r2_score(y, predicted):.4f}</b>" in page
    assert "Largest errors" in page
    worst = np.abs(fitted.predict(X) - targets).reshape(200, -1).max(axis=1).argmax()
    assert f"Sample {worst}: " in page
    with pytest.raises(ValueError, match="X and y: both are needed"):
        report(fitted, X)
    with pytest.raises(ValueError, match="y has 3 columns"):
        report(fitted, X, np.zeros((200, 3)))


def test_numbers_of_a_similarity_of_python_are_explained():
    def overlap(A, B):
        return np.array([[len(a & b) for b in B] for a in A], dtype=float)

    sets = [frozenset({i % 4, i % 7, 10 + i % 5}) for i in range(40)]
    for fitted in (
        wm.BasisExpansionRegressor(overlap, n_basis=10).fit(sets, np.arange(40.0) % 7),
        wm.BasisExpansionOneClass(overlap, n_basis=10).fit(sets),
    ):
        explanation = explain(fitted, sets, 3)
        sums = explanation.intercepts + explanation.contributions.sum(axis=0)
        np.testing.assert_allclose(sums, explanation.decision_values, atol=1e-4)
        with pytest.raises(TypeError, match="a report needs a model with built-in similarities"):
            report(fitted)


def test_what_has_no_path_and_no_bases_is_named():
    with pytest.raises(TypeError, match="BasisExpansionOneClass: it must be a fitted classifier or regressor"):
        PathDisplay.from_estimator(wm.BasisExpansionOneClass().fit(X))
    with pytest.raises(TypeError, match="ThinPlateRegressor: it must be a fitted BasisExpansionSVC"):
        BasisDisplay.from_estimator(wm.ThinPlateRegressor().fit(X, y))


def made():
    svc = wm.BasisExpansionSVC("rbf", n_basis=20, normalization="mean_norm")
    return {
        "pipeline": make_pipeline(StandardScaler(), svc),
        "nested": make_pipeline(StandardScaler(), make_pipeline("passthrough", svc)),
        "search": GridSearchCV(make_pipeline(StandardScaler(), svc), {"basisexpansionsvc__n_basis": [10, 20]}, cv=2),
        "search in a pipeline": make_pipeline(StandardScaler(), GridSearchCV(svc, {"n_basis": [10, 20]}, cv=2)),
        "auto": make_pipeline(StandardScaler(), wm.AutoSVC(methods=["basis_expansion"])),
    }


@pytest.mark.parametrize("name", made())
def test_pipelines_and_searches_are_inspected(name):
    fitted = made()[name].fit(WINE, KINDS)
    explanation = explain(fitted, WINE, 60)
    np.testing.assert_allclose(explanation.decision_values, fitted.decision_function(WINE)[60], atol=1e-4)
    assert explanation.predicted == fitted.predict(WINE)[60]
    page = report(fitted, WINE, KINDS)
    assert f"{100 * fitted.score(WINE, KINDS):.2f} %" in page
    assert PathDisplay.from_estimator(fitted).ax_.get_xlabel() == "C"
    assert len(SpectrumDisplay.from_estimator(fitted).spectra[0].eigenvalues) > 0
    assert margins(fitted).shape == (3,)
    assert dual_variables(fitted, WINE, KINDS).shape == (178, 3)
    if name != "auto":
        assert len(BasisDisplay.from_estimator(fitted, 3).groups[0][1]) == 3


def test_columns_of_a_pipeline_have_their_names():
    X = pandas.DataFrame(np.abs(WINE.to_numpy()), columns=WINE.columns)
    fitted = make_pipeline("passthrough", wm.PowerMeanSVC()).fit(X, KINDS)
    named = [term.name for term in explain(fitted, X, 3).terms]
    assert set(named) <= set(WINE.columns)


def test_the_methods_of_auto_svc_are_drawn_in_a_pipeline_too():
    auto = wm.AutoSVC(methods=["basis_expansion", "thin_plate"], random_state=0)
    fitted = make_pipeline(StandardScaler(), auto).fit(WINE, KINDS)
    display = PathDisplay.from_estimator(fitted)
    tried = [one["method"] for one in candidates(fitted[-1])]
    drawn = [] if display.ax_candidates_ is None else display.ax_candidates_.get_yticklabels()
    assert len(drawn) == (len(tried) if len(tried) > 1 else 0)
    strings = wm.BasisExpansionSVC("edit", normalization="nystroem").fit(["ab", "cd"] * 20, [0, 1] * 20)
    with pytest.raises(ValueError, match="normalization='nystroem' mixes the bases"):
        BasisDisplay.from_estimator(strings)
