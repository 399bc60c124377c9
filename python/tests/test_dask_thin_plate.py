"""The thin plate SVM on Dask: the machine of one computer on the same bases, whatever the partitions."""

import dask.array as da
import numpy as np
import pytest
from compared import candidates, path
from dask import delayed
from on_dask import cut
from scipy import sparse
from sklearn.datasets import make_moons

import widemargin as wm
from widemargin.dask import ThinPlateSVC


def points(n, n_classes=2, seed=0):
    """Samples of four columns in classes that a curve separates, some of them wrong."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 4))
    level = X[:, 0] + 0.8 * np.sin(2 * X[:, 1]) + 0.3 * random.standard_normal(n)
    return X, np.clip(np.floor((level + 1.5) / 3 * n_classes), 0, n_classes - 1).astype(int)


def same_machine(found, X, y, sample_weight=None, **parameters):
    """One machine has the same bases, and the same weights to 1e-6."""
    alone = wm.ThinPlateSVC(basis="index", **parameters).fit(X, y, sample_weight)
    order = [np.lexsort(one.basis_.T) for one in (found, alone)]
    np.testing.assert_array_equal(found.basis_[order[0]], alone.basis_[order[1]])
    coef = alone.coef_[:, order[1]]
    np.testing.assert_allclose(found.coef_[:, order[0]], coef, atol=1e-6 * np.abs(coef).max())
    scores = alone.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=1e-6 * np.abs(scores).max())
    np.testing.assert_allclose(found.C_, alone.C_, rtol=1e-7)
    assert (found.polynomials_, found.report_["status"]) == (alone.polynomials_, "converged")
    for name in ("hinge", "objective", "lambda"):
        np.testing.assert_allclose(path(found)[name], path(alone)[name], rtol=1e-6)
    # The folds are others, dealt within each partition: two estimates of one error.
    errors = [np.nanmax(path(one)["fold_error"]) for one in (found, alone)]
    assert errors[0] == pytest.approx(errors[1], abs=0.04)
    return alone


@pytest.mark.parametrize("sizes", [(700,), (400, 300), (1, 0, 450, 49, 200)], ids=str)
def test_the_machine_is_that_of_one_computer_for_any_partitions(client, sizes):
    X, y = points(700, 3)
    found = ThinPlateSVC(n_basis=25, basis="index").fit(*cut(X, y, sizes))
    alone = same_machine(found, X, y, n_basis=25)
    assert sorted(found.basis_indices_) == sorted(alone.basis_indices_)
    assert found.dask_report_["queries"]["leave_one_out"] == len(path(found)["C"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"polynomials": "constant", "kernel": "distance", "C": 0.5},
        {"polynomials": "none", "class_weight": "balanced"},
        {"kernel": "rbf:gamma=0.3", "C": 1.0},
    ],
    ids=str,
)
def test_kernels_polynomialss_and_weights(client, parameters):
    X, y = points(500, seed=1)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    # A partition that counts for nothing.
    weights[200:300] = 0
    found = ThinPlateSVC(n_basis=20, basis="index", **parameters).fit(
        *cut(X, y, (200, 100, 200)), sample_weight=weights
    )
    same_machine(found, X, y, weights, n_basis=20, **parameters)


def test_sparse_rows_classes_apart_and_a_line_that_separates(client):
    X, y = points(400, 3, seed=2)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    # No two rows are alike: they are merged on one machine.
    X[:, 1:] = np.where(np.abs(X[:, 1:]) > 0.5, X[:, 1:], 0)
    blocks = [
        da.from_delayed(delayed(sparse.csr_array(X[a:b])), (b - a, 4), X.dtype, meta=sparse.csr_array((0, 0)))
        for a, b in [(0, 150), (150, 400)]
    ]
    found = ThinPlateSVC(n_basis=20, basis="index").fit(da.concatenate(blocks), da.from_array(y, chunks=((150, 250),)))
    same_machine(found, X, y, n_basis=20)
    y = (X[:, 0] > 0.2).astype(int)
    parameters = {"kernel": "thin_plate", "C": 2.0}
    found = ThinPlateSVC(n_basis=20, basis="index", **parameters).fit(*cut(X, y, (150, 250)))
    assert found.polynomials_ == "penalized"
    same_machine(found, X, y, n_basis=20, **parameters)
    found = ThinPlateSVC(n_basis=20, basis="index", C=2.0, loss="squared_error").fit(*cut(X, y, (150, 250)))
    same_machine(found, X, y, n_basis=20, C=2.0, loss="squared_error")


def test_bases_of_every_choice_do_about_as_well(client):
    X, y = make_moons(1000, noise=0.25, random_state=0)
    for basis in ("kmeans", "kmedoids", "random"):
        parameters = {"C": 10.0, "n_basis": 30, "basis": basis, "random_state": 0}
        alone = wm.ThinPlateSVC(**parameters).fit(X, y)
        found = ThinPlateSVC(**parameters).fit(*cut(X, y, (300, 700)))
        assert found.score(X, y) > alone.score(X, y) - 0.02
        assert found.basis_.shape == (30, 2)
        np.testing.assert_array_equal(X[found.basis_indices_], found.basis_[: len(found.basis_indices_)])
        again = ThinPlateSVC(**parameters).fit(*cut(X, y, (500, 500)))
        np.testing.assert_array_equal(again.basis_, found.basis_)


def test_mistakes_raise(client):
    X, y = points(100)
    dX, dy = cut(X, y, (60, 40))
    with pytest.raises(ValueError, match="'n_basis' parameter of ThinPlateSVC must be a number of bases on Dask"):
        ThinPlateSVC(n_basis=None).fit(dX, dy)
    with pytest.raises(ValueError, match="'C' parameter"):
        ThinPlateSVC(n_basis=10, C="best").fit(dX, dy)
    with pytest.raises(ValueError, match="'polynomials' parameter"):
        ThinPlateSVC(n_basis=10, polynomials="some").fit(dX, dy)


@pytest.mark.parametrize("seed", [3, 4])
def test_the_kernel_is_that_of_one_computer(client, seed):
    X, y = points(300, seed)
    # What turns with the axes is seen by the city-block distance alone.
    if seed == 4:
        X = np.c_[X, np.random.default_rng(seed).standard_cauchy((len(X), 2))]
    found = ThinPlateSVC(n_basis=25, basis="index").fit(*cut(X, y, (200, 100)))
    alone = wm.ThinPlateSVC(n_basis=25, basis="index", standardize=False).fit(X, y)
    assert found.similarity_ == alone.similarity_
    for one, other in zip(candidates(found), candidates(alone), strict=True):
        assert one["hinge"] == pytest.approx(other["hinge"], rel=1e-6)
    assert ThinPlateSVC(basis="index", C=1.0).fit(*cut(X, y, (200, 100)))._n_basis == 300
