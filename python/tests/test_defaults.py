"""Properties of default fits that users rely on without checking them."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from command_line import run
from compared import on_bases
from sklearn.datasets import load_digits

import widemargin as wm


@pytest.mark.parametrize("basis", ["auto", "random", "kmedoids"])
@pytest.mark.parametrize("normalization", ["mean_norm", "nystroem"])
def test_fewer_bases_than_rows_do_not_depend_on_the_order(basis, normalization):
    X, y = (values[:600] for values in load_digits(return_X_y=True))
    order = np.random.default_rng(0).permutation(600)
    svc = wm.BasisExpansionSVC("rbf:gamma=0.001", n_basis=60, basis=basis, normalization=normalization, random_state=0)
    expected = svc.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(svc.fit(X[order], y[order]).decision_function(X), expected)


@pytest.mark.parametrize(
    "classifier",
    [
        wm.BasisExpansionSVC("rbf", n_basis=500, random_state=0),
        wm.BasisExpansionSVC(random_state=0),
        wm.AutoSVC(random_state=0),
    ],
)
def test_a_rare_class_is_estimated_on_many_rows(classifier):
    rng = np.random.default_rng(1)
    y = (rng.random(8000) < 0.1).astype(int)
    X = rng.normal(size=(8000, 4)) + 1.2 * y[:, None]
    fitted = classifier.fit(X[:4000], y[:4000])
    score = fitted.score(X[4000:], y[4000:])
    error = np.hypot(fitted.estimated_score_std_, np.sqrt(score * (1 - score) / 4000))
    assert abs(fitted.estimated_score_ - score) <= 3 * error
    assert abs(fitted.predict_proba(X[4000:])[:, 1].mean() - 0.1) < 0.025


def test_many_rows_of_noise_have_a_warning():
    X, y = np.random.default_rng(2).normal(size=(3000, 3)), np.arange(3000) % 3 == 0
    with pytest.warns(UserWarning, match="no better than always predicting the largest class"):
        wm.BasisExpansionSVC("rbf", n_basis=200, random_state=0).fit(X, y)


def test_the_seconds_of_a_callable_are_those_of_the_similarity():
    def slow(a, b):
        time.sleep(0.4)
        return np.asarray(a) @ np.asarray(b).T

    X, y = load_digits(return_X_y=True)
    svc = on_bases(slow, n_basis=20).fit(X[:200], y[:200])
    stages = {stage["name"]: stage["seconds"] for stage in svc.report_["stages"]}
    assert stages["similarity"] >= 0.4 > stages["bases"]


def test_a_rare_letter_does_not_stop_a_fit():
    rng = np.random.default_rng(3)
    strings = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(300)]
    strings[123] = strings[123][:10] + "W" + strings[123][11:]
    labels = [text.count("A") > 7 for text in strings]
    svc = wm.BasisExpansionSVC("mismatch", n_basis=50, random_state=0).fit(strings, labels)
    assert len(svc.predict(strings)) == 300


def test_the_same_search_out_of_core_gives_the_same_file(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2500, 5))
    table = np.c_[X, X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=2500) > 0]
    for name, rows in (("data", slice(500)), ("new", slice(500, 2500))):
        np.savetxt(tmp_path / f"{name}.csv", table[rows], delimiter=",", fmt="%.6g")
    for model in ("a", "b"):
        train = f"train data.csv --label -1 --memory-limit 200MB --seed 0 --json -o {model}"
        fitted = json.loads(run(tmp_path, *train.split()))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    # What it says of itself is true.
    accuracy = json.loads(run(tmp_path, "evaluate", "a", "new.csv", "--json"))["accuracy"]
    estimate = fitted["report"]["estimate"]
    error = np.hypot(estimate["standard_error"], 0.5 / np.sqrt(2000))
    assert abs(1 - estimate["error"] - accuracy) <= 3 * error, (estimate, accuracy)
