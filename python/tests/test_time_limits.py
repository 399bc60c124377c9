"""A time limit is shared between the search and the fit that it is for."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning

import widemargin as wm


class Sleeping:
    """A similarity of numbers that sleeps, so that its time does not depend on how busy the machine is."""

    def __init__(self, seconds_per_pair):
        self.seconds_per_pair = seconds_per_pair

    def __call__(self, samples, bases):
        time.sleep(len(samples) * len(bases) * self.seconds_per_pair)
        return np.exp(-((np.array(samples)[:, None] - np.array(bases)) ** 2))


def test_the_number_of_samples_is_in_proportion_to_the_time():
    numbers = np.random.default_rng(0).normal(size=10_000)
    targets = (np.abs(numbers) > 1) + 0
    # All samples take 12.4 seconds, a sixth of them 2.
    similarity = Sleeping(12.4 / (10_000 * 100))
    options = {"C": 1.0, "normalization": "mean_norm", "time_limit": 2, "random_state": 0, "n_jobs": 1}
    model = wm.BasisExpansionSVC(similarity, n_basis=100, **options)
    with pytest.warns(ConvergenceWarning, match="trained on"):
        model.fit(list(numbers), targets)
    [n_samples] = re.findall(r"trained on (\d+) of 10000 samples", " ".join(model.report_["warnings"]))
    assert int(n_samples) >= 400


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
    if isinstance(getattr(fitted, "best_estimator_", fitted), wm.BasisExpansionSVC | wm.BasisExpansionRegressor):
        # Those of a fit of some samples, too.
        np.testing.assert_array_equal(fitted.basis_, X[fitted.basis_indices_].astype(np.float32))
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
