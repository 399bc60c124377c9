"""The power mean SVM on Dask: the machine of one computer, whatever the partitions."""

import dask.array as da
import numpy as np
import pytest
from compared import path
from dask import delayed
from on_dask import cut
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

import widemargin as wm
from widemargin.dask import PowerMeanSVC


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


# So that one computer and several have the same parameters whichever samples are looked at.
GIVEN = {"kernel": -1.0, "C": 0.01, "nodes": 3}


def rows_cut(X, y, sizes):
    """Sparse rows."""
    ends = np.cumsum(sizes)
    blocks = [
        da.from_delayed(delayed(X[end - n : end]), (n, X.shape[1]), X.dtype, meta=sparse.csr_array((0, 0)))
        for n, end in zip(sizes, ends, strict=True)
    ]
    return da.concatenate(blocks), da.from_array(y, chunks=(sizes,))


def same_machine(found, X, y, sample_weight=None, **parameters):
    """One machine has the same nodes, and the same decision values to the precision of its weights."""
    alone = wm.PowerMeanSVC(**{**GIVEN, **parameters}).fit(X, y, sample_weight)
    np.testing.assert_array_equal(found.nodes_, alone.nodes_)
    scores = alone.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=2e-3 * np.abs(scores).max())
    assert found.report_["objective"] == pytest.approx(alone.report_["objective"], rel=1e-5)
    return alone


@pytest.mark.parametrize("sizes", [(1797,), (900, 897), (1, 0, 1200, 96, 500)], ids=str)
def test_the_machine_is_that_of_one_computer_for_any_partitions(client, digits, sizes):
    X, y = digits
    whole = PowerMeanSVC(**GIVEN, tol=1e-6).fit(*cut(X, y, (1797,)))
    found = PowerMeanSVC(**GIVEN, tol=1e-6).fit(*cut(X, y, sizes))
    assert found.report_["status"] == "converged"
    np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-5 * np.abs(whole.coef_).max())
    alone = same_machine(found, X, y, tol=1e-5)
    assert (found.predict(X) == alone.predict(X)).mean() > 0.999


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "intersection", "nodes": 5},
        {"kernel": "jensen_shannon", "scale": False},
        {"kernel": -4.0, "C": 1.0, "class_weight": "balanced"},
        {"nodes": [0.1, 0.5, 1.0]},
        {"kernel": np.minimum, "nodes": 4},
    ],
    ids=str,
)
def test_kernels_and_weights(client, digits, parameters):
    X, y = digits[0][:700], digits[1][:700] % 3
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    # A partition that counts for nothing, and a maximum that does not count.
    weights[300:400] = 0
    X = X.copy()
    X[350] *= 9
    found = PowerMeanSVC(**{**GIVEN, "tol": 1e-6, **parameters}).fit(*cut(X, y, (300, 100, 300)), sample_weight=weights)
    same_machine(found, X, y, weights, tol=1e-5, **parameters)


def test_sparse_rows_and_classes_apart(client, digits):
    X, y = digits
    order = np.argsort(y, kind="stable")
    X, y = sparse.csr_array(np.where(X[order] > 8, X[order], 0)), y[order]
    found = PowerMeanSVC(**GIVEN, tol=1e-6).fit(*rows_cut(X, y, (600, 700, 497)))
    same_machine(found, X, y, tol=1e-5)
    dense = PowerMeanSVC(**GIVEN, tol=1e-6).fit(*cut(X.toarray(), y, (600, 700, 497)))
    np.testing.assert_allclose(dense.coef_, found.coef_, atol=1e-5 * np.abs(found.coef_).max())


def test_more_values_than_are_counted(client):
    """Nodes are the same for any partitions, and as good as those of one machine."""
    random = np.random.default_rng(0)
    X = random.random((4000, 30)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] ** 2 > 0.8).astype(int)
    given = {**GIVEN, "C": 0.1}
    found = [PowerMeanSVC(**given).fit(*cut(X, y, sizes)) for sizes in [(4000,), (1000, 3000), (500,) * 8]]
    for other in found[1:]:
        np.testing.assert_array_equal(other.nodes_, found[0].nodes_)
    alone = wm.PowerMeanSVC(**given).fit(X, y)
    assert found[0].score(X, y) == pytest.approx(alone.score(X, y), abs=0.01)


def test_mistakes_raise(client, digits):
    X, y = digits[0][:100], digits[1][:100]
    dX, dy = cut(X, y, (60, 40))
    with pytest.raises(
        ValueError, match=r"'loss' parameter of PowerMeanSVC must be one of 'squared_hinge'\. Got 'hinge'"
    ):
        PowerMeanSVC(loss="hinge").fit(dX, dy)
    with pytest.raises(ValueError, match=r"'approximation' parameter .* 'nystroem'\. Got 'polynomial'"):
        PowerMeanSVC(approximation="polynomial").fit(dX, dy)
    with pytest.raises(ValueError, match="'scale' parameter"):
        PowerMeanSVC(scale="mean").fit(dX, dy)
    spoilt = X.copy()
    spoilt[63, 5] = -1.0
    for scale in (True, False):
        with pytest.raises(ValueError, match=r"partition 1: row 3, column 5 \(from 0\): -1 is negative"):
            PowerMeanSVC(scale=scale).fit(cut(spoilt, y, (60, 40))[0], dy)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_what_is_chosen_is_chosen_as_on_one_computer(client, digits, sparse_rows):
    X, y = digits[0][:700], digits[1][:700] % 4
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    dw = da.from_array(weights, chunks=((300, 400),))
    auto = {"kernel": "auto", "C": "auto", "nodes": "auto"}
    parts = rows_cut(sparse.csr_array(X), y, (300, 400)) if sparse_rows else cut(X, y, (300, 400))
    found = PowerMeanSVC(tol=1e-6, **auto).fit(*parts, sample_weight=dw)
    alone = wm.PowerMeanSVC(tol=1e-6, **auto).fit(X, y, sample_weight=weights)
    assert (found.similarity_, len(found.nodes_)) == (alone.similarity_, len(alone.nodes_))
    np.testing.assert_allclose(found.C_, alone.C_, rtol=1e-6)
    np.testing.assert_allclose(path(found)["hinge"], path(alone)["hinge"], rtol=1e-6)
    assert (found.predict(X) == alone.predict(X)).mean() > 0.995
    assert any("leave-one-out" in note for note in found.report_["notes"])


def test_probabilities_are_calibrated_and_lazy(client, digits):
    X, y = digits
    train, labels = cut(X[:1200], y[:1200], (500, 300, 400))
    fitted = PowerMeanSVC(**GIVEN).fit(train, labels)
    lazy = fitted.predict_proba(cut(X[1200:], y[1200:], (300, 297))[0])
    assert lazy.shape == (597, 10)
    P = lazy.compute()
    np.testing.assert_allclose(P, fitted.predict_proba(X[1200:]), atol=1e-12)
    alone = wm.PowerMeanSVC(**GIVEN).fit(X[:1200], y[:1200])
    loss = log_loss(y[1200:], P)
    assert loss < 1.1 * log_loss(y[1200:], alone.predict_proba(X[1200:]))
    assert (fitted.classes_[P.argmax(axis=1)] == fitted.predict(X[1200:])).all()
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X[1200:])), P, atol=1e-12)
