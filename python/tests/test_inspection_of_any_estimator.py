"""Displays and explanations of regressors, outlier detectors, pipelines and searches."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import widemargin as wm
from widemargin.inspection import (
    BasisDisplay,
    PathDisplay,
    SpectrumDisplay,
    dual_variables,
    explain,
    margins,
    report,
)

matplotlib.use("Agg")
WINE, KINDS = load_wine(return_X_y=True, as_frame=True)
X, y = load_diabetes(return_X_y=True)
X, y = X[:200], y[:200]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("regressor", "score", "residual"),
    [
        (wm.BasisExpansionRegressor(), "loo_r2", "loo_rmse"),
        (wm.BasisExpansionRegressor("rbf", loss="huber"), "loo_d2", "loo_loss"),
        (wm.BasisExpansionRegressor("rbf", loss="quantile"), "fold_d2", "fold_loss"),
        (wm.ThinPlateRegressor(), "loo_r2", "loo_rmse"),
    ],
    ids=["basis expansion", "huber", "quantile", "thin plate"],
)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_path_of_a_regressor(regressor, score, residual, n_outputs):
    targets = y if n_outputs == 1 else np.stack([y, -(y**2)], axis=1)
    fitted = regressor.fit(X, targets)
    display = PathDisplay.from_estimator(fitted)
    np.testing.assert_array_equal(display.score, fitted.path_[score])
    np.testing.assert_array_equal(display.residual, fitted.path_[residual])
    order = np.argsort(fitted.path_["C"])
    assert len(display.ax_right_.lines) == n_outputs
    for line, values in zip(
        display.ax_right_.lines, np.asarray(fitted.path_[residual]).reshape(-1, n_outputs).T, strict=True
    ):
        np.testing.assert_array_equal(line.get_ydata(), values[order])
    assert ("R²" in display.ax_.get_ylabel()) == (score == "loo_r2")
    assert ("five-fold" in display.ax_.get_ylabel()) == (score == "fold_d2")
    assert display.chosen_C == fitted.C_
    if len(fitted.tried_) > 1:
        most = max(one["n_samples"] for one in fitted.tried_)
        best = max(one["loo_r2"] for one in fitted.tried_ if one["loo_r2"] is not None and one["n_samples"] == most)
        (chosen,) = [one for one in display.tried if one.chosen]
        assert chosen.loss == pytest.approx(1 - best)
        spec = fitted.similarities_[0] if hasattr(fitted, "similarities_") else fitted.kernel_.replace("_", "-")
        assert chosen.name.startswith(spec.partition(":")[0])


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


@pytest.mark.parametrize(
    "estimator", [wm.BasisExpansionRegressor("rbf"), wm.ThinPlateRegressor(), wm.BasisExpansionOneClass()], ids=str
)
def test_what_is_of_classes_alone_names_the_estimator(estimator):
    fitted = estimator.fit(X, y)
    name = type(fitted).__name__
    for function in (report, margins, lambda one: explain(one, X), lambda one: dual_variables(one, X, y)):
        for given in (fitted, make_pipeline(StandardScaler(), fitted).fit(X, y)):
            with pytest.raises(TypeError, match=f"estimator is a {name}: it must be a fitted classifier"):
                function(given)


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
    assert PathDisplay.from_estimator(fitted).chosen_C > 0
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
    tried = [one["method"] for one in fitted[-1].tried_]
    assert [one.name.partition(":")[0] for one in display.tried] == (tried if len(tried) > 1 else [])
    strings = wm.AutoSVC(methods=["basis_expansion"]).fit(["ab", "cd"] * 20, [0, 1] * 20)
    normalization = strings.best_estimator_.normalization_
    with pytest.raises(ValueError, match=f"normalization='{normalization}' mixes the bases"):
        BasisDisplay.from_estimator(strings)
