"""A similarity that is chosen: by the leave-one-out loss of candidates, for every kind of samples."""

from __future__ import annotations

import numpy as np
import pytest
from compared import candidates
from sklearn.datasets import load_wine, make_circles

from widemargin import BasisExpansionRegressor, BasisExpansionSVC

AUTO = {"similarity": "auto", "normalization": "auto", "C": "auto"}


def test_default_parameters_are_as_good_as_the_right_similarity():
    X, y = make_circles(300, noise=0.15, factor=0.6, random_state=0)
    model = BasisExpansionSVC(**AUTO).fit(X[:200], y[:200])
    linear = BasisExpansionSVC("linear", C="auto").fit(X[:200], y[:200])
    right = BasisExpansionSVC("rbf", normalization="nystroem", C="auto").fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > linear.score(X[200:], y[200:]) + 0.2
    assert model.score(X[200:], y[200:]) >= right.score(X[200:], y[200:]) - 0.02
    # The first that is not distinguishable from the best.
    taken = next(one for one in candidates(model) if one["similarity"] == model.similarity_)
    best = min(candidates(model), key=lambda one: one["hinge"])
    assert taken["hinge"] <= best["hinge"] + taken["std_test_score"] + best["std_test_score"]
    assert model.estimated_score_ == pytest.approx(model.score(X[200:], y[200:]), abs=0.1)


def test_columns_in_other_units_do_not_decide_alone():
    X, y = load_wine(return_X_y=True)
    model = BasisExpansionSVC(**AUTO).fit(X[::2], y[::2])
    assert all(spec.startswith("z-score") for spec in np.atleast_1d(model.similarity_))
    assert model.score(X[1::2], y[1::2]) > 0.95
    shuffled = np.random.default_rng(0).permutation(len(X[::2]))
    again = BasisExpansionSVC(**AUTO, n_jobs=2).fit(X[::2], y[::2])
    assert again.similarity_ == model.similarity_
    assert again.fit(X[::2][shuffled], y[::2][shuffled]).similarity_ == model.similarity_


@pytest.mark.parametrize("kind", ["strings", "series", "images", "sets", "histograms"])
def test_every_kind_of_samples(kind):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    if kind == "strings":
        X = ["".join(rng.choice(list("ab" if label else "ac"), 8)) for label in y]
    elif kind == "series":
        X = np.sin(np.linspace(0, 6, 40)[None, :, None] * (1 + y[:, None, None])) + rng.normal(0, 0.2, (60, 40, 1))
    elif kind == "images":
        X = rng.integers(0, 60, (60, 16, 16)).astype(np.uint8)
        X[y == 1, :, 8:] += 150
        X[y == 0, 8:] += 150
    elif kind == "sets":
        X = [set(rng.choice(20, 5) + 20 * label) for label in y.tolist()]
    else:
        X = rng.poisson(0.3 + 0.8 * np.outer(y, np.arange(12) % 2)).astype(float)
    model = BasisExpansionSVC(**AUTO).fit(X, y)
    assert model.score(X, y) > 0.8
    assert len(candidates(model)) > 1
    if kind == "histograms":
        assert any("chi2" in np.atleast_1d(one["similarity"])[0] for one in candidates(model))


def test_lists_of_rows_are_vectors():
    X, y = load_wine(return_X_y=True)
    assert BasisExpansionSVC(**AUTO).fit(X.tolist(), y).n_features_in_ == 13


def test_the_normalization_of_a_fixed_similarity():
    X, y = load_wine(return_X_y=True)
    model = BasisExpansionSVC("z-score/rbf").fit(X, y)
    assert {one["normalization"] for one in candidates(model)[:2]} == {"nystroem", "mean_norm"}
    assert model.similarity_ in [one["similarity"] for one in candidates(model)]
    # The normalization that is given is kept where the similarity is chosen, and several have the mean norm.
    given = BasisExpansionSVC(normalization="z_score").fit(X, y)
    assert {one["normalization"] for one in candidates(given)} == {"z_score"}
    assert candidates(BasisExpansionSVC(["z-score/rbf", "z-score/linear"]).fit(X, y)) == []


def test_bases_are_counted_where_there_are_many_samples():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4100)
    easy = rng.normal(size=(4100, 2)) + 3 * y[:, None]
    model = BasisExpansionSVC("rbf", normalization="nystroem").fit(easy, y)
    assert [one["n_basis"] for one in candidates(model)] == [1000, 500]
    assert all(1990 < one["n_resources"] <= 2000 for one in candidates(model))
    assert len(model.basis_indices_) == 1000
    # All rows of a smaller table are bases.
    model = BasisExpansionSVC("rbf", normalization="nystroem").fit(easy[:2500], y[:2500])
    assert (candidates(model), len(model.basis_indices_)) == ([], 2500)
    # Pieces so small that each needs bases of its own.
    hard = rng.uniform(0, 24, size=(4100, 2))
    y = (np.floor(hard).sum(axis=1) % 2).astype(int)
    model = BasisExpansionSVC("rbf:gamma=2", normalization="nystroem").fit(hard, y)
    assert len(model.basis_indices_) == 2000


def test_bad_input_is_named():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="n_basis"):
        BasisExpansionSVC(n_basis="many").fit(X, y)
    with pytest.raises(ValueError, match="normalization"):
        BasisExpansionSVC(normalization="best").fit(X, y)
    with pytest.raises(ValueError, match="chi2"):
        BasisExpansionSVC("chi2", normalization="auto").fit(-X, y)


@pytest.mark.parametrize("make", [BasisExpansionSVC, BasisExpansionRegressor])
@pytest.mark.parametrize("seed", range(6))
def test_a_fixed_gamma_is_preserved_and_an_automatic_one_is_searched(make, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = (np.hypot(*X.T[:2]) > 1).astype(int)
    for spec in ("rbf:gamma=9", "mean-norm/rbf:gamma=9"):
        fitted = make(spec, n_basis=30, random_state=0).fit(X, y)
        assert fitted.similarity_ == spec
        assert all(one["similarity"] == spec for one in candidates(fitted))
    assert len({str(one["similarity"]) for one in candidates(make("rbf", n_basis=30, random_state=0).fit(X, y))}) > 1
