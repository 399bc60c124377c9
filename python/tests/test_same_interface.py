"""What all estimators have in common: parameters, fitted attributes, `cv_results_`, and types that say something."""

from __future__ import annotations

import functools
import importlib
import inspect
import re

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_diabetes, load_iris

import widemargin as wm

CLASSES, KINDS = load_iris(return_X_y=True)
NUMBERS, TARGETS = load_diabetes(return_X_y=True)
NUMBERS, TARGETS = NUMBERS[:150], TARGETS[:150]

# Those of all fits.
SHARED = {"n_jobs", "random_state", "tol", "time_limit", "verbose", "class_weight"}
ATTRIBUTES = {
    "C_",
    "similarity_",
    "basis_",
    "basis_indices_",
    "coef_",
    "intercept_",
    "normalization_",
    "loss_",
    "n_iter_",
    "estimated_score_",
    "estimated_score_std_",
    "cv_results_",
    "report_",
}
# The attributes that an estimator has not: thin plate splines are not normalized, the power mean SVM has no bases, and
# outlier detection has neither classes nor targets to be right about.
ABSENT = {
    wm.BasisExpansionSVC: set(),
    wm.ThinPlateSVC: {"normalization_"},
    wm.PowerMeanSVC: {"normalization_", "basis_", "basis_indices_"},
    wm.AutoSVC: set(),
    wm.BasisExpansionRegressor: set(),
    wm.ThinPlateRegressor: {"normalization_"},
    wm.AutoRegressor: set(),
    wm.BasisExpansionOneClass: {"C_", "loss_", "estimated_score_", "estimated_score_std_"},
}
PUBLIC = ("", ".graphs", ".inspection", ".similarity", ".testing", ".dask")


@functools.cache
def fitted(make):
    if "Regressor" in make.__name__:
        return make().fit(NUMBERS, TARGETS)
    return make(**({"methods": ["basis_expansion"]} if make is wm.AutoSVC else {})).fit(CLASSES, KINDS)


@pytest.mark.parametrize("make", [*ABSENT, wm.BasisExpansion])
def test_no_estimator_has_more_than_eleven_parameters_of_its_own(make):
    own = set(inspect.signature(make).parameters) - SHARED
    assert len(own) <= 11, sorted(own)
    assert {"n_jobs", "random_state", "verbose"} <= set(inspect.signature(make).parameters)


@pytest.mark.parametrize("make", ABSENT)
def test_fitted_attributes_have_the_same_names(make):
    model = fitted(make)
    # Of one method.
    absent = ABSENT[make] | ({"normalization_"} - set(dir(model)) if make is wm.AutoRegressor else set())
    assert {name for name in ATTRIBUTES if hasattr(model, name)} == ATTRIBUTES - absent
    # The same with the parameter of the same name of a fit without a choice.
    assert model.n_iter_ >= 1
    n_problems = len(np.atleast_1d(model.intercept_))
    assert len(np.atleast_2d(model.coef_)) == n_problems
    if hasattr(model, "basis_indices_"):
        assert len(model.basis_) == len(model.basis_indices_)


@pytest.mark.parametrize("make", ABSENT)
def test_what_was_compared_is_a_table(make):
    results = fitted(make).cv_results_
    table = pandas.DataFrame(results)
    always = {"params", "mean_test_score", "std_test_score", "rank_test_score", "iter", "n_resources", "selected"}
    assert always <= set(table.columns)
    assert len(table) == len(results["params"])
    for name, column in results.items():
        if name.startswith("param_"):
            found = [None if value is np.ma.masked else value for value in column]
            assert found == [one.get(name.removeprefix("param_")) for one in results["params"]]
    if make is wm.BasisExpansionOneClass:
        assert table.empty
        return
    for _, entries in table.groupby("iter"):
        assert entries["selected"].sum() == 1
        assert entries["rank_test_score"].min() == 1
        best = entries["mean_test_score"].idxmax()
        assert entries["rank_test_score"][best] == 1
    model = fitted(make)
    (of_path,) = [one for one, selected in zip(results["params"], results["selected"], strict=True) if selected][-1:]
    assert of_path == {"C": model.C_}


@pytest.mark.parametrize("make", [one for one in ABSENT if "Regressor" in one.__name__])
def test_the_standard_error_of_a_regression_is_that_of_its_residuals(make):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(10, 100, 2))
    scores, expected = [], []
    for some in X:
        y = np.sin(2 * some[:, 0]) + some[:, 1] + rng.normal(scale=0.5, size=100)
        model = make(n_jobs=1).fit(some, y)
        scores.append(model.estimated_score_)
        expected.append(model.estimated_score_std_)
    # Of ten fits on other samples.
    assert 0.4 < np.std(scores) / np.mean(expected) < 2.0, (scores, expected)


def functions(module):
    for name in getattr(module, "__all__", []):
        found = getattr(module, name)
        if inspect.isclass(found):
            yield from (
                (f"{name}.{one}", getattr(found, one)) for one in dir(found) if one[0] != "_" or one == "__init__"
            )
        elif callable(found):
            yield name, found


@pytest.mark.parametrize("name", PUBLIC)
def test_public_signatures_have_no_any(name):
    module = importlib.import_module(f"widemargin{name}")
    vague = set()
    for where, function in functions(module):
        function = getattr(function, "__wrapped__", function)
        if not inspect.isfunction(function) or not function.__module__.startswith("widemargin"):
            continue
        # What a model is loaded as, or predicts on Dask, depends on the file and the collection.
        types = {one: str(hint) for one, hint in function.__annotations__.items() if one != "return"}
        if where != "load" and name != ".dask":
            types["return"] = str(function.__annotations__.get("return"))
        types = {one: hint for one, hint in types.items() if one != "self" and re.search(r"\bAny\b", hint)}
        if types:
            vague.add(f"{where}: {types}")
    assert not vague, "\n".join(sorted(vague))
