"""The power mean SVM beyond the paper's three nodes and its kernels."""

import numpy as np
import pytest
from compared import candidates, path
from sklearn.datasets import load_digits

import widemargin as wm


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    # Pixels that are always 0 in training have no weights.
    return X[:600], y[:600], np.where(X[:600].max(0) > 0, X[600:900], 0)


def chi2(x, y):
    total = x + y
    return np.divide(2 * x * y, total, out=np.zeros_like(total), where=total > 0)


def polynomial_scores(model, X):
    """Decision values by NumPy's own interpolation: f(x) = Σ_j p_j(x_j), p_j through its values at the nodes."""
    x = (X / model.scale).astype(np.float32).astype(np.float64)
    t, nodes = np.log(x + 0.05), np.log(model.nodes_ + 0.05)
    # Values at the nodes from the model's numbers: powers of t up to three nodes, and the values themselves beyond.
    values = model.coef_.astype(np.float64)
    if len(nodes) <= 3:
        values = values @ np.vander(nodes, increasing=True).T
    scores = np.zeros((len(X), len(values)))
    for problem, feature in np.ndindex(*values.shape[:2]):
        fit = np.polynomial.Polynomial.fit(nodes, values[problem, feature], len(nodes) - 1)
        scores[:, problem] += np.where(x[:, feature] > 0, fit(t[:, feature]), 0.0)
    return scores


@pytest.mark.parametrize("nodes", [[0.05, 0.7], [0.01, 0.06, 0.75], [0.01, 0.05, 0.2, 0.5, 1.0], 8], ids=str)
def test_the_polynomial_has_any_degree_and_any_nodes(digits, nodes):
    X, y, X_test = digits
    model = wm.PowerMeanSVC(approximation="polynomial", nodes=nodes).fit(X, y)
    if not isinstance(nodes, int):
        np.testing.assert_array_equal(model.nodes_, nodes)
    model.scale = np.maximum(X.max(0), 1e-300)
    scores = model.decision_function(X_test)
    expected = polynomial_scores(model, X_test)
    np.testing.assert_allclose(scores, expected, atol=2e-4 * np.abs(scores).max())


def test_three_nodes_are_the_paper_s(digits):
    X, y, X_test = digits
    by_default = wm.PowerMeanSVC(approximation="polynomial", random_state=0).fit(X, y)
    given = wm.PowerMeanSVC(approximation="polynomial", nodes=(0.01, 0.06, 0.75), random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_default.decision_function(X_test), given.decision_function(X_test))


def refuse_to_be_called(x, y):
    raise AssertionError("a trained model calls no function")


@pytest.mark.parametrize("approximation", ["nystroem", "polynomial"])
@pytest.mark.parametrize(("own", "ours"), [(chi2, "chi2"), (np.minimum, "intersection")], ids=["chi2", "minimum"])
def test_a_kernel_of_one_s_own_is_the_library_s_written_again(digits, tmp_path, own, ours, approximation):
    X, y, _ = digits
    parameters = {"approximation": approximation, "random_state": 0, "C": 0.1}
    model = wm.PowerMeanSVC(kernel=own, **parameters).fit(X, y)
    same = wm.PowerMeanSVC(kernel=ours, **parameters).fit(X, y)
    np.testing.assert_array_equal(model.nodes_, same.nodes_)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, same.decision_function(X), atol=1e-4)

    model.kernel = refuse_to_be_called
    np.testing.assert_array_equal(model.decision_function(X), scores)
    wm.save(model, tmp_path / "model")
    loaded = wm.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X), scores)
    with pytest.raises(ValueError, match=r"'own:.*set it to the function"):
        loaded.fit(X, y)
    again = loaded.set_params(kernel=own, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), scores)


def test_values_between_the_tabulated_ones_are_linear_and_constant_beyond():
    # One feature and one node: f(x) = k(c, x) · a, whatever k is.
    X, y = np.array([[1.0], [2.0], [4.0], [8.0]]), [0, 0, 1, 1]
    model = wm.PowerMeanSVC(kernel=lambda x, y: x * y, scale=False, nodes=[3.0], C=1.0).fit(X, y)
    at = lambda *x: model.decision_function(np.array(x)[:, None]) / model.decision_function([[8.0]])  # noqa: E731
    np.testing.assert_allclose(at(1.0, 2.0, 3.0, 4.0), [1 / 8, 2 / 8, 3 / 8, 4 / 8], rtol=1e-6)
    # k(3, 6) = 18 is the mean of 12 and 24; 0.5 is half of 1, and 100 counts as 8.
    np.testing.assert_allclose(at(6.0, 0.5, 0.0, 100.0), [6 / 8, 0.5 / 8, 0.0, 1.0], rtol=1e-6)


def test_the_kernel_sees_distinct_training_values_only():
    seen = set()

    def kernel(x, y):
        assert x.dtype == y.dtype == np.float64
        assert x.shape == y.shape
        seen.update(x, y)
        return np.minimum(x, y)

    X = np.random.default_rng(0).integers(0, 5, (50, 6))
    wm.PowerMeanSVC(kernel=kernel, scale=False).fit(X, X[:, 0] > 1)
    assert seen == {0.0, 1.0, 2.0, 3.0, 4.0}


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda x, y: x / (y - 1), r"= (inf|-inf|NaN), expected finite"),
        (lambda x, y: 1.0, r"float64 of shape \(\), expected numbers of shape"),
        (lambda x, y: x.astype(str), r"expected numbers of shape"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rejects_functions_that_are_no_kernels(kernel, message):
    X = np.random.default_rng(0).integers(0, 5, (50, 6))
    with pytest.raises(ValueError, match=message):
        wm.PowerMeanSVC(kernel=kernel, scale=False).fit(X, X[:, 0] > 1)


def test_an_exception_of_the_kernel_is_raised_as_it_is():
    with pytest.raises(AssertionError, match="calls no function"):
        wm.PowerMeanSVC(kernel=refuse_to_be_called).fit([[1.0], [2.0]], [0, 1])


def test_a_table_is_not_exported():
    model = wm.PowerMeanSVC(kernel=np.minimum).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="'own:minimum' is a table"):
        wm.to_onnx(model)


AUTO = {"kernel": "auto", "C": "auto", "nodes": "auto"}


def test_selected_parameters_are_reported(digits):
    X, y, X_test = digits
    model = wm.PowerMeanSVC(**AUTO, random_state=0).fit(X, y)
    exact = {one["kernel"]: one for one in candidates(model) if one["nodes"] is None}
    assert len(exact) == 7
    assert model.similarity_ in exact
    assert set(candidates(model)[0]) >= {"kernel", "nodes", "C", "score", "error", "problem"}
    losses = path(model)["hinge"]
    near = np.flatnonzero(losses <= 1.02 * losses.min())
    assert path(model)["C"][near[0]] == model.C_
    assert len(model.nodes_) >= 3
    assert model.score(X, y) > 0.97
    given = wm.PowerMeanSVC(kernel=model.similarity_, C=model.C_, nodes=model.nodes_, random_state=0)
    np.testing.assert_array_equal(given.fit(X, y).decision_function(X_test), model.decision_function(X_test))
    assert candidates(given) == []
    assert len(path(given)["C"]) == 0


def test_a_kernel_of_ones_own_has_c_and_nodes_chosen(digits):
    X, y, _ = digits
    own = wm.PowerMeanSVC(kernel=chi2, C="auto", nodes="auto", random_state=0).fit(X, y)
    named = wm.PowerMeanSVC(kernel="chi2", C="auto", nodes="auto", random_state=0).fit(X, y)
    assert own.similarity_ == "own:chi2"
    assert named.similarity_ == "chi2"
    assert candidates(own)[0]["nodes"] >= 8
    assert candidates(named)[0]["nodes"] is None
    assert 0.5 < own.C_ / named.C_ < 2
    assert own.score(X, y) == pytest.approx(named.score(X, y), abs=0.02)
