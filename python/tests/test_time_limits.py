"""A time limit is shared between the search and the fit that it is for."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning

import widemargin as wm


@pytest.mark.parametrize("estimator", [wm.BasisExpansionSVC, wm.BasisExpansionRegressor])
def test_a_search_leaves_time_for_the_fit(estimator):
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcd"), 60)) for _ in range(2000)]
    targets = np.array([text.count("a") > 15 for text in strings]) + 0
    started = time.perf_counter()
    wm.similarity.pairwise("subsequence", strings[:250], strings[:250])
    # Whatever the speed of the machine: the first look at 250 samples takes a tenth of it, one at 1,000 the whole.
    limit = 5 * (time.perf_counter() - started)
    with pytest.warns(ConvergenceWarning, match="trained on"):
        fitted = estimator("subsequence", time_limit=limit, random_state=0).fit(strings, targets)
    [n_samples] = re.findall(r"trained on (\d+) of 2000 samples", " ".join(fitted.report_["warnings"]))
    assert int(n_samples) >= 150


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        wm.BasisExpansionSVC,
        wm.ThinPlateSVC,
        wm.PowerMeanSVC,
        wm.AutoSVC,
        wm.BasisExpansionRegressor,
        wm.ThinPlateRegressor,
        wm.BasisExpansionOneClass,
    ],
)
def test_a_limit_is_kept_and_what_is_said_of_the_fit_is_true(estimator):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(24_000, 20)))
    product = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=24_000)
    y = product if is_regressor(estimator()) else product > 0.5
    started = time.process_time()
    try:
        fitted = estimator(time_limit=2, n_jobs=1).fit(X[:20_000], y[:20_000])
    except ValueError as error:
        if "the time limit is too short" not in str(error):
            raise
        # On a busy machine.
        return
    # Seconds of the processor, which do not depend on other programs.
    assert time.process_time() - started < 3
    if is_classifier(fitted) and np.isfinite(fitted.estimated_score_):
        score = fitted.score(X[20_000:], y[20_000:])
        assert abs(fitted.estimated_score_ - score) <= 3 * np.hypot(fitted.estimated_score_std_, 0.008)
    elif is_classifier(fitted):
        assert "the error is not estimated" in " ".join(fitted.report_["notes"] + fitted.report_["warnings"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [wm.AutoRegressor, wm.AutoSVC])
def test_a_comparison_of_methods_shares_the_limit_with_the_fit(estimator, monkeypatch):
    limits = []
    for cls in estimator._classes.values():

        def fit(self, *args, fit=cls.fit, **kwargs):
            limits.append(self.time_limit)
            return fit(self, *args, **kwargs)

        monkeypatch.setattr(cls, "fit", fit)
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(1100, 2)))
    y = X[:, 0] + (X[:, 1] > 1) if estimator is wm.AutoRegressor else (X[:, 0] > 1).astype(int)
    found = estimator(time_limit=1000, cv=2).fit(X, y)
    assert len(limits) == 2 * len(estimator._classes) + 1
    assert all(limit <= 250 for limit in limits[:2])
    assert all(limit <= 500 for limit in limits[:-1])
    assert 500 < limits[-1] < 1000
    assert found.score(X, y) > 0.8
