"""Training on several machines: what it gives is what one machine gives."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import dask.array as da
import distributed
import numpy as np
import pytest
from compared import candidates
from dask import bag
from on_dask import cut
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import log_loss

import widemargin as wm
from widemargin.dask import BasisExpansionRegressor, BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC, _rows, estimators
from widemargin.dask._data import check_versions

SPEC = "rbf:gamma=0.001"


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    # Not equal to any other row: copies are merged on one machine.
    return (X + 1e-3 * np.random.default_rng(0).random(X.shape)).astype(np.float32), y


def on_workers(similarity=SPEC, **given):
    return BasisExpansionSVC(similarity, **{"normalization": "mean_norm", "C": 1.0, **given})


def test_many_rows_are_not_asked_for_products(client, digits, monkeypatch):
    X, y = digits
    monkeypatch.setattr(estimators, "HESSIAN_SAMPLE_ROWS", 1000)
    parameters = {"n_basis": 40, "basis": "index", "C": 0.1, "tol": 1e-6, "normalization": "mean_norm"}
    found = BasisExpansionSVC(SPEC, **parameters).fit(*cut(X, y, (1, 0, 1200, 96, 500)))
    assert found.dask_report_["queries"].get("gram", 0) == 0
    assert found.report_["status"] == "converged"
    alone = wm.BasisExpansionSVC(SPEC, **parameters).fit(X, y)
    assert abs(found.report_["objective"] / alone.report_["objective"] - 1) < 2e-6
    assert (found.predict(X) != alone.predict(X)).mean() < 2e-3
    # The same sample whatever the partitions: the same steps.
    again = BasisExpansionSVC(SPEC, **parameters).fit(*cut(X, y, (900, 897)))
    np.testing.assert_allclose(again.coef_, found.coef_, atol=1e-6 * np.abs(found.coef_).max())


def test_two_clusters_far_apart(client):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 3))
    y = (X[:, 1] * X[:, 2] > 0).astype(int)
    X[:, 0] += np.where(np.arange(600) % 2 == 0, 1e6, -1e6)
    found = BasisExpansionSVC("rbf:gamma=2", n_basis=100, C=10.0, normalization="mean_norm").fit(*cut(X, y, (200, 400)))
    assert found.score(X, y) > 0.9


def test_strings_in_a_bag(client):
    words = ["aab", "abab", "ba", "bbb", "cdc", "ccd", "dcdd", "dd", "aaab", "cddc"] * 4
    labels = ["ab" if set(word) <= set("ab") else "cd" for word in words]
    strings = bag.from_sequence(words, npartitions=3)
    found = on_workers("edit", n_basis=4, random_state=0).fit(strings, bag.from_sequence(labels, npartitions=3))
    assert found.predict(["abba", "dcd"]).tolist() == ["ab", "cd"]
    assert found.predict(strings).compute().tolist() == labels
    lengths = da.from_array(np.array(list(map(len, words)), float), chunks=14)
    regressor = BasisExpansionRegressor("edit:gamma=0.2", normalization="nystroem").fit(strings, lengths)
    assert regressor.score(strings, lengths) > 0.95


def test_bases_of_every_choice_do_about_as_well(client):
    X, y = make_moons(400, noise=0.25, random_state=0)
    for basis in ("kmeans", "kmedoids", "random"):
        parameters = {"C": 10.0, "n_basis": 30, "basis": basis, "random_state": 0}
        alone = wm.ThinPlateSVC(**parameters).fit(X, y)
        found = ThinPlateSVC(**parameters).fit(*cut(X, y, (100, 300)))
        assert found.score(X, y) > alone.score(X, y) - 0.03
        assert found.basis_.shape == (30, 2)
        np.testing.assert_array_equal(X[found.basis_indices_], found.basis_[: len(found.basis_indices_)])
        again = ThinPlateSVC(**parameters).fit(*cut(X, y, (200, 200)))
        np.testing.assert_array_equal(again.basis_, found.basis_)
    assert ThinPlateSVC(basis="index", C=1.0).fit(*cut(X, y, (200, 200)))._n_basis == 400


def test_nodes_of_more_values_than_are_counted_do_not_depend_on_the_partitions(client):
    X = np.random.default_rng(0).random((2400, 30)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] ** 2 > 0.8).astype(int)
    svc = PowerMeanSVC(-1.0, C=0.1, nodes=3, tol=0.01)
    found = [clone(svc).fit(*cut(X, y, sizes)) for sizes in [(1000, 1400), (600,) * 4]]
    np.testing.assert_array_equal(found[1].nodes_, found[0].nodes_)
    alone = svc.plain(**svc.get_params()).fit(X, y)
    assert found[0].score(X, y) == pytest.approx(alone.score(X, y), abs=0.01)


def test_predictions_on_frames_keep_index_and_lengths(client):
    import dask.dataframe as dd
    import pandas

    random = np.random.default_rng(3)
    index = [f"row {i:02}" for i in range(90)]
    frame = pandas.DataFrame(random.normal(size=(90, 2)), columns=["a", "b"], index=index)
    for labels in (
        pandas.Series(np.where(frame.a > 0, "right", "left"), index=index),
        pandas.Series(np.digitize(frame.a, [-0.5, 0.5]), index=index),
    ):
        parts, names = dd.from_pandas(frame, npartitions=3), dd.from_pandas(labels, npartitions=3)
        found = on_workers("rbf:gamma=1", n_basis=10).fit(parts, names)
        for X, y, kept in (
            (parts, names, frame),
            (parts[parts.b > 0], names[parts.b > 0], frame[frame.b > 0]),
            (parts.loc["row 41":], names.loc["row 41":], frame.loc["row 41":]),
        ):
            predicted = found.predict(X)
            assert predicted.divisions == X.divisions
            assert len(predicted) == len(kept)
            expected = pandas.Series(found.predict(kept), index=kept.index)
            assert predicted.compute().to_dict() == expected.to_dict()
            right = (predicted == y).mean().compute()
            assert right == pytest.approx((expected == labels[kept.index]).mean())
            assert found.score(X, y) == pytest.approx(right)
            values = found.decision_function(X).compute()
            assert values.index.tolist() == kept.index.tolist()
            np.testing.assert_array_equal(values.to_numpy(), found.decision_function(kept))
        if values.ndim == 2:
            assert values.columns.tolist() == found.classes_.tolist()


def test_the_score_of_a_collection_is_that_of_its_rows(client, digits):
    X, y = digits[0][:400], digits[1][:400]
    found = on_workers(n_basis=10).fit(*cut(X, y, (300, 100)))
    weights = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    dX, dy = cut(X, y, (100, 0, 300))
    for labels in (y, dy):
        assert found.score(dX, labels) == found.score(X, y) < 1
        assert found.score(dX, labels, weights) == pytest.approx(found.score(X, y, weights))
    words = ["aab", "abab", "cdc", "ccd"] * 5
    strings, labels = (bag.from_sequence(given, npartitions=3) for given in (words, [w[0] for w in words]))
    svc = on_workers("edit", n_basis=4).fit(strings, labels)
    assert svc.score(strings, labels) == 1.0
    with pytest.raises(ValueError, match="X has 400 rows, y has 90"):
        found.score(dX, dy[:90])
    with pytest.raises(ValueError, match="no samples"):
        found.score(dX[:0], dy[:0])


def test_the_model_is_the_ordinary_one(client, digits, tmp_path):
    X, y = digits[0][:600], digits[1][:600]
    dX, dy = cut(X, y, (300, 300))
    found = on_workers(n_basis=30).fit(dX, dy)
    scores = found.decision_function(X)
    lazy = found.decision_function(dX)
    assert lazy.shape == (600, 10)
    np.testing.assert_array_equal(lazy.compute(), scores)
    np.testing.assert_array_equal(found.predict(dX).compute(), found.predict(X))
    assert type(found.estimator_) is wm.BasisExpansionSVC
    wm.save(found, tmp_path / "m.model")
    np.testing.assert_array_equal(wm.load(tmp_path / "m.model").decision_function(X), scores)
    (tmp_path / "m.pickle").write_bytes(pickle.dumps((found.estimator_, X)))
    code = (
        "import pickle, sys; estimator, X = pickle.load(open(sys.argv[1], 'rb')); estimator.predict(X); "
        "assert 'distributed' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "m.pickle"], check=True)


def test_automatic_parameters_are_selected_as_on_one_machine(client, digits):
    X, y = (one[digits[1] < 4][:400] for one in digits)
    dX, dy = cut(X, y, (150, 250))
    found = BasisExpansionSVC(random_state=3).fit(dX, dy)
    alone = wm.BasisExpansionSVC(random_state=3).fit(X, y)
    assert (found.similarity_, found.normalization_, found.C_) == (alone.similarity_, alone.normalization_, alone.C_)
    assert [one["hinge"] for one in candidates(found)] == [one["hinge"] for one in candidates(alone)]
    assert found.estimated_score_ == alone.estimated_score_
    # To the duality gap.
    np.testing.assert_allclose(found.decision_function(X), alone.decision_function(X), atol=0.2)
    assert (found.predict(X) == alone.predict(X)).mean() > 0.995
    given = BasisExpansionSVC(SPEC, n_basis=30, normalization="mean_norm", random_state=3).fit(dX, dy)
    same = wm.BasisExpansionSVC(SPEC, n_basis=30, normalization="mean_norm", random_state=3).fit(X, y)
    assert given.C_ == same.C_
    assert candidates(given) == []


@pytest.fixture(scope="module")
def processes():
    """Two workers that are processes of their own."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_workers_without_the_package_or_with_another_are_named(monkeypatch):
    class Cluster:
        def __init__(self, versions):
            self.run = lambda _: versions

    own = wm.__version__
    check_versions(Cluster({"tcp://a": own}))
    for versions, words in (
        ({}, "no workers"),
        ({"tcp://a": own, "tcp://b": None}, "worker tcp://b has no widemargin"),
        ({"tcp://a": "0.0.1"}, f"worker tcp://a has widemargin 0.0.1, here is {own}"),
    ):
        with pytest.raises(RuntimeError, match=words):
            check_versions(Cluster(versions))


@pytest.mark.parametrize(
    ("svc", "at", "tolerance"),
    [
        (on_workers(n_basis=50, basis="index", tol=1e-6), 12, 1e-6),
        (PowerMeanSVC(-1.0, C=0.01, nodes=3, tol=1e-6), 10, 1e-5),
        (ThinPlateSVC(n_basis=20, basis="index"), 12, 1e-6),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_worker_that_is_killed_costs_nothing_but_time(svc, at, tolerance, digits, processes, monkeypatch):
    X, y = (one[digits[1] < 4] for one in digits)
    parts = cut(X, y, (250, 250, len(X) - 500))
    processes.wait_for_workers(2)
    with processes.as_current():
        undisturbed = svc.fit(*parts).coef_
    pids = list(processes.run(os.getpid).values())
    sums = []

    def sum_and_kill(self, parts, *query, own=_rows.Rows._sum):
        sums.append(len(parts))
        if len(sums) == at:
            os.kill(pids[0], signal.SIGKILL)
        return own(self, parts, *query)

    monkeypatch.setattr(_rows.Rows, "_sum", sum_and_kill)
    with processes.as_current():
        disturbed = svc.fit(*parts)
    assert len(sums) > at
    assert pids[0] not in processes.run(os.getpid).values()
    np.testing.assert_allclose(disturbed.coef_, undisturbed, atol=tolerance * np.abs(undisturbed).max())


def test_the_guides_example_runs(tmp_path):
    guide = Path(__file__).parents[2] / "docs" / "dask.md"
    code = guide.read_text().split("```python\n")[1].split("```")[0]
    for large, small in (("100_000", "2_000"), ("10_000", "1_000"), ("n_basis=500", "n_basis=50")):
        assert large in code
        code = code.replace(large, small)
    (tmp_path / "guide.py").write_text(code)
    finished = subprocess.run([sys.executable, "guide.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    status, right = finished.stdout.splitlines()
    assert status.startswith("converged")
    assert float(right) > 0.7
    assert wm.load(tmp_path / "svc.model").predict(np.zeros((1, 20), np.float32)).shape == (1,)


@pytest.mark.parametrize(
    "classifier",
    [BasisExpansionSVC("rbf:gamma=0.3", n_basis=60, C=0.3), ThinPlateSVC("distance", n_basis=60, C=0.3)],
    ids=["basis expansion", "thin plate"],
)
def test_rows_whose_classes_come_in_a_period_are_like_others(client, classifier):
    """Every fifth row is of one class: evenly spaced samples to calibrate on would all be of that class, and five folds
    that are dealt in turn would be the classes."""
    rng = np.random.default_rng(5)
    y = np.arange(4000) % 5
    X = (np.c_[np.cos(1.26 * y), np.sin(1.26 * y)] + 0.5 * rng.normal(size=(4000, 2))).astype(np.float32)
    order = rng.permutation(2500)

    def fitted(rows):
        return clone(classifier).fit(*cut(X[:2500][rows], y[:2500][rows], (1000, 1000, 500)))

    def loss(model):
        return log_loss(y[2500:], model.predict_proba(X[2500:]))

    in_a_period, shuffled = fitted(np.arange(2500)), fitted(order)
    assert loss(in_a_period) < 1.02 * loss(shuffled)
    assert loss(in_a_period) < 0.6 * np.log(5)
    assert not any("no better" in warning for warning in in_a_period.report_["warnings"])
