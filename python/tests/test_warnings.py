"""Warnings point at the caller's line, and seeds of loaded models read as numbers."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import widemargin as wm

X, y = load_digits(return_X_y=True)
X, y = X[:200], y[:200]


def warned(call, category):
    """The places of the warnings of a kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [one.filename for one in caught if issubclass(one.category, category)]


SVC = wm.PowerMeanSVC(kernel=-1, C=100.0, nodes=3, max_iter=1)
CALLS = {
    "fit": lambda: clone(SVC).fit(X, y),
    "pipeline": lambda: make_pipeline("passthrough", SVC).fit(X, y),
    "cross-validation": lambda: cross_val_score(SVC, X, y, cv=2),
    "search": lambda: GridSearchCV(SVC, {"C": [10.0, 100.0]}, cv=2).fit(X, y),
}


@pytest.mark.parametrize("name", CALLS)
def test_warnings_of_a_fit_point_at_the_line_that_called_it(name):
    found = warned(CALLS[name], ConvergenceWarning)
    assert found
    assert set(found) == {__file__}


def test_other_warnings_point_there_too(monkeypatch):
    monkeypatch.setattr("widemargin._parameters.cpu_count", lambda: 1)
    assert set(warned(lambda: wm.PowerMeanSVC(kernel=-1, C=1.0, n_jobs=2).fit(X, y), UserWarning)) == {__file__}
    noise = np.random.default_rng(0).normal(size=(60, 2))
    worse = warned(lambda: wm.ThinPlateSVC().fit(noise, np.arange(60) % 2), UserWarning)
    assert set(worse) <= {__file__}


def test_the_seed_of_a_loaded_model_reads_as_a_number(tmp_path):
    svc = wm.BasisExpansionSVC("rbf", n_basis=10, C=1.0, basis="random", random_state=3).fit(X, y)
    wm.save(svc, tmp_path / "model")
    loaded = wm.load(tmp_path / "model")
    assert "ExactSeed" not in repr(loaded)
    assert f"random_state={int(loaded.random_state)}" in repr(loaded)
    again = clone(loaded).fit(X, y)
    np.testing.assert_array_equal(again.basis_indices_, svc.basis_indices_)
