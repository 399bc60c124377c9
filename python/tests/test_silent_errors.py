"""Faults that once gave wrong answers without a word."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold

import widemargin as wm

pd = pytest.importorskip("pandas")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["array", "list"])
def test_copies_are_left_out_together_also_by_a_callable(rng, kind):
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    callable_ = wm.similarity.pairs(lambda a, b: np.exp(-((np.asarray(a) - np.asarray(b)) ** 2).sum()))
    model = wm.BasisExpansionSVC(callable_).fit(X if kind == "array" else list(X), y)
    named = wm.BasisExpansionSVC("rbf:gamma=1").fit(X, y)
    assert abs(model.estimated_score_ - named.estimated_score_) < 0.02
    assert model.estimated_score_ < 0.8


@pytest.mark.parametrize("options", [{"cv": 3}, {"scoring": "r2"}])
def test_rows_without_weight_do_not_choose_the_method(rng, options):
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    weights = np.ones(120)
    weights[::3] = 0
    y[::3] = 100 * rng.normal(size=40)
    scores = wm.AutoRegressor(**options).fit(X, y, weights).cv_results_["mean_test_score"][:2]
    assert (scores > 0.9).all()


def test_an_estimate_with_groups_is_that_of_their_folds(rng):
    groups = np.repeat(np.arange(30), 8)
    X = rng.normal(size=(30, 4))[groups] + 0.01 * rng.normal(size=(240, 4))
    y = rng.integers(0, 2, 30)[groups]
    model = wm.AutoSVC().fit(X, y, groups=groups)
    assert model.estimated_score_ < 0.8
    assert model.estimated_score_ == np.nanmax(model.cv_results_["mean_test_score"][:2])
    other = wm.AutoSVC(scoring="f1").fit(X, y, groups=groups)
    assert np.isnan(other.estimated_score_)


def test_scores_that_are_no_numbers_and_folds_that_are_none_are_refused(rng):
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    with pytest.raises(ValueError, match="the score of fold 0 is not a number"):
        wm.AutoSVC(scoring=lambda model, X, y: np.nan, cv=3).fit(X, y)
    used = GroupKFold(3).split(X, y, np.arange(60))
    list(used)
    with pytest.raises(ValueError, match="cv has no folds"):
        wm.AutoSVC(cv=used).fit(X, y)


def test_attributes_of_an_earlier_fit_do_not_stay(rng):
    X = np.abs(rng.normal(size=(100, 3)))
    y = (X[:, 0] > X[:, 1]).astype(int)
    model = wm.BasisExpansionSVC("rbf").fit(X, np.column_stack([y, X[:, 2] > 0.5]).astype(int)).fit(X, y)
    assert not hasattr(model, "label_names_")
    assert not hasattr(model, "estimated_label_scores_")
    auto = wm.AutoSVC(methods="basis_expansion").fit(X, y).set_params(methods="power_mean").fit(X, y)
    assert not hasattr(auto, "normalization_")


def test_similarities_to_the_bases_are_known_by_their_names(rng):
    Z = rng.normal(size=(80, 3))
    y = (Z[:, 0] * Z[:, 1] > 0).astype(int)
    names = [f"s{i}" for i in range(80)]
    K = pd.DataFrame(np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 2), columns=names)
    model = wm.BasisExpansionSVC("precomputed", n_basis=20).fit(K, y)
    of_bases = K.iloc[:, model.basis_indices_]
    expected = model.decision_function(K)
    np.testing.assert_array_equal(model.decision_function(of_bases), expected)
    np.testing.assert_array_equal(model.decision_function(of_bases[of_bases.columns[::-1]]), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        model.decision_function(K.drop(columns=of_bases.columns).iloc[:, :20])


def test_chunks_of_frames_are_joined_by_the_names_of_their_columns(rng):
    X = pd.DataFrame(rng.normal(size=(600, 3)) * [1, 5, 1], columns=list("abc"))
    y = (X.a - X.c > 0).astype(int).to_numpy()
    parts = np.array_split(np.arange(600), 3)
    rolled = [X.iloc[part][list(np.roll(list("abc"), at))] for at, part in enumerate(parts)]
    model = wm.BasisExpansionSVC("rbf", n_basis=100).fit(
        iter([(one, y[p]) for one, p in zip(rolled, parts, strict=True)])
    )
    assert list(model.feature_names_in_) == list("abc")
    assert model.score(X[["c", "b", "a"]], y) > 0.95
    renamed = rolled[1].set_axis(list("xyz"), axis=1)
    with pytest.raises(ValueError, match=r"chunk 1 has the columns \['x', 'y', 'z'\], chunk 0 has \['a', 'b', 'c'\]"):
        wm.BasisExpansionSVC("rbf").fit(iter([(rolled[0], y[parts[0]]), (renamed, y[parts[1]])]))


def test_sparse_columns_far_from_0_are_refused_with_a_cure(rng):
    X = np.column_stack([1.7e9 + rng.uniform(0, 100, 200), rng.normal(size=200)])
    y = (X[:, 1] > 0).astype(int)
    with pytest.raises(
        ValueError, match=r"a sparse column 0 so far from 0 .* differences from its mean, or dense rows"
    ):
        wm.BasisExpansionSVC("rbf").fit(sparse.csr_array(X), y)
    X[:, 0] -= X[:, 0].mean()
    assert wm.BasisExpansionSVC("rbf").fit(sparse.csr_array(X), y).score(X, y) > 0.9
