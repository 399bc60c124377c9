"""Bases among the columns of precomputed similarities: as many as asked for, and no table of features unnoticed."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel

import widemargin as wm

X, y = load_wine(return_X_y=True)
X = ((X - X.mean(axis=0)) / X.std(axis=0))[::2]
y = y[::2]
NEW = X[:20] + 0.1
GAMMA = 0.25
SQUARE, ACROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
SPEC = f"rbf:gamma={GAMMA}"


@pytest.mark.parametrize("labels", [None, y], ids=["without classes", "with classes"])
@pytest.mark.parametrize("basis", ["index", "random", "kmedoids", np.array([3, 50, 7])], ids=str)
def test_features_of_a_square_matrix_are_those_of_its_bases(basis, labels):
    expansion = wm.BasisExpansion("precomputed", n_basis=12, basis=basis, random_state=0).fit(SQUARE, labels)
    rows = expansion.basis_indices_
    assert len(rows) == (12 if isinstance(basis, str) else 3)
    assert len(set(rows.tolist())) == len(rows)
    same = wm.BasisExpansion(SPEC, basis=rows).fit(X)
    expected = same.transform(NEW)
    assert expected.shape == (20, len(rows))
    np.testing.assert_allclose(expansion.transform(ACROSS), expected, atol=1e-5)
    np.testing.assert_allclose(expansion.transform(ACROSS[:, rows]), expected, atol=1e-5)
    if isinstance(basis, str) and basis == "index":
        drawn = wm.BasisExpansion(SPEC, n_basis=12, basis=basis).fit(X, labels)
        np.testing.assert_array_equal(np.sort(drawn.basis_indices_), np.sort(rows))


@pytest.mark.parametrize(("n_basis", "found"), [(10, 10), ("auto", 44), (1000, 89)])
def test_an_outlier_detector_has_as_many_bases_as_are_asked_for(n_basis, found):
    detector = wm.BasisExpansionOneClass("precomputed", n_basis=n_basis, random_state=0).fit(SQUARE)
    assert len(detector.basis_indices_) == found
    same = wm.BasisExpansionOneClass(SPEC, basis=detector.basis_indices_, random_state=0).fit(X)
    assert detector.offset_ == pytest.approx(same.offset_, abs=1e-4)
    np.testing.assert_allclose(detector.score_samples(ACROSS), same.score_samples(NEW), atol=1e-4)
    weighted = clone(detector).fit(SQUARE, sample_weight=np.arange(89) >= 40)
    assert weighted.basis_indices_.min() >= 40


ESTIMATORS = [
    wm.BasisExpansionSVC("precomputed"),
    wm.BasisExpansionRegressor("precomputed"),
    wm.BasisExpansionOneClass("precomputed", normalization="none"),
    wm.BasisExpansion("precomputed"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_table_of_features_does_not_pass_for_similarities(estimator):
    with pytest.warns(UserWarning, match=r"X has 89 rows and 13 columns .*not as a table.*pass n_basis=13") as caught:
        clone(estimator).fit(X, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(estimator).set_params(n_basis=13).fit(X, y)
        clone(estimator).fit(SQUARE, y)
    with pytest.raises(ValueError, match=r"89 rows and 13 columns .*but n_basis=5: .*n_basis=13"):
        clone(estimator).set_params(n_basis=5).fit(X, y)
