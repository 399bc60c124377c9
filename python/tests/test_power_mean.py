"""The power mean SVM beyond the paper's three nodes and its kernels."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import widemargin as wm


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600], X[600:900]


def chi2(x, y):
    total = x + y
    return np.divide(2 * x * y, total, out=np.zeros_like(total), where=total > 0)


def polynomial_scores(model, X):
    """Decision values by NumPy's own interpolation: f(x) = Σ_j p_j(x_j), p_j through its values at the nodes."""
    x = (X / model.scale).astype(np.float32).astype(np.float64)
    t, nodes = np.log(x + 0.05), np.log(model.nodes_ + 0.05)
    # Values at the nodes from the model's numbers: powers of t up to three nodes, and the values themselves beyond.
    values = model.weights_.astype(np.float64)
    if len(nodes) <= 3:
        values = values @ np.vander(nodes, increasing=True).T
    scores = np.zeros((len(X), len(values)))
    for problem, feature in np.ndindex(*values.shape[:2]):
        fit = np.polynomial.Polynomial.fit(nodes, values[problem, feature], len(nodes) - 1)
        scores[:, problem] += np.where(x[:, feature] > 0, fit(t[:, feature]), 0.0)
    return scores


@pytest.mark.parametrize("nodes", [[0.05, 0.7], [0.01, 0.06, 0.75], [0.01, 0.05, 0.2, 0.5, 1.0], 8], ids=str)
def test_the_polynomial_has_any_degree_and_any_nodes(digits, tmp_path, nodes):
    X, y, X_test = digits
    given = {"n_nodes": nodes} if isinstance(nodes, int) else {"nodes": nodes}
    model = wm.PowerMeanSVC(approximation="polynomial", **given).fit(X, y)
    if not isinstance(nodes, int):
        np.testing.assert_array_equal(model.nodes_, nodes)
    model.scale = np.maximum(X.max(0), 1e-300)
    scores = model.decision_function(X_test)
    expected = polynomial_scores(model, np.where(X.max(0) > 0, X_test, 0))
    np.testing.assert_allclose(scores, expected, atol=2e-4 * np.abs(scores).max())

    path = tmp_path / "model"
    wm.save(model, path)
    loaded = wm.load(path)
    np.testing.assert_array_equal(loaded.decision_function(X_test), scores)
    again = clone(loaded).set_params(random_state=model.random_state).fit(X, y)
    np.testing.assert_array_equal(again.nodes_, model.nodes_)


def test_three_nodes_are_the_paper_s(digits):
    X, y, X_test = digits
    by_default = wm.PowerMeanSVC(approximation="polynomial", random_state=0).fit(X, y)
    given = wm.PowerMeanSVC(approximation="polynomial", nodes=(0.01, 0.06, 0.75), random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_default.decision_function(X_test), given.decision_function(X_test))


def test_nystrom_nodes_can_be_given(digits, tmp_path):
    X, y, X_test = digits
    model = wm.PowerMeanSVC(nodes=np.array([0.5, 0.1, 1.0, 0.02])).fit(X, y)
    np.testing.assert_array_equal(model.nodes_, [0.5, 0.1, 1.0, 0.02])
    wm.save(model, tmp_path / "model")
    assert wm.load(tmp_path / "model").nodes == [0.5, 0.1, 1.0, 0.02]
