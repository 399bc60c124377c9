"""Greedy selection, from the candidates' side."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score

import widemargin as wm
from widemargin.selection import Selection, select_similarities
from widemargin.similarity import RBF


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500], y[:500]


def noise(A, B):
    return np.random.default_rng(len(A)).normal(size=(len(A), len(B)))


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=1e-3)


def test_the_useful_ones_are_chosen(digits):
    X, y = digits
    candidates = [noise, "linear", RBF(1e-3), "rbf:gamma=100"]
    found = select_similarities(candidates, X, y, n_basis=100, random_state=0)
    assert isinstance(found, Selection)
    assert found.indices[0] == 2
    assert found.similarities_ == [candidates[at] for at in found.indices]
    assert found.similarities_[0] is candidates[2]
    assert 0 not in found.indices
    assert found.accuracies == sorted(found.accuracies)
    assert found.accuracies[0] > 0.9
    first = found.rounds[0]
    # Names in the order of the candidates, whatever order they were computed in.
    assert list(first) == ["noise", "linear", "rbf:gamma=0.001", "rbf:gamma=100"]
    assert max(first, key=first.get) == "rbf:gamma=0.001"
    assert first["noise"] < 0.5
    assert first["rbf:gamma=0.001"] == found.accuracies[0]
    for number, names in enumerate(found.rounds[1:], 1):
        assert len(names) == 4 - number
        assert "rbf:gamma=0.001" not in names
    svc = wm.BasisExpansionSVC(found.similarities_, n_basis=100).fit(X, y)
    assert svc.score(X, y) > 0.95


def test_own_functions_are_the_parts_behind_the_named_ones(digits):
    X, y = digits
    mixed = select_similarities([gaussian, "rbf:gamma=100"], X, y, n_basis=80, random_state=0)
    named = select_similarities(["rbf:gamma=100", "rbf:gamma=0.001"], X, y, n_basis=80, random_state=0)
    assert mixed.similarities_[0] is gaussian
    assert (mixed.indices[0], named.indices[0]) == (0, 1)
    # Bases follow the content where the library reads it, the position beside own functions: not the same draw.
    assert mixed.accuracies[0] == pytest.approx(named.accuracies[0], abs=0.02)


def test_accuracy_is_that_of_the_machine_cross_validated(digits):
    X, y = digits
    found = select_similarities(["rbf:gamma=0.001"], X, y, n_basis=500, C=0.5, random_state=0)
    svc = wm.BasisExpansionSVC("rbf:gamma=0.001", n_basis=500, C=0.5)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert found.accuracies[0] == pytest.approx(cross_val_score(svc, X, y, cv=folds).mean(), abs=0.02)
    assert found.indices == [0]


def test_a_class_that_folds_are_without_is_told(digits):
    X, y = digits
    few = np.flatnonzero((y < 3) | (np.cumsum(y == 3) <= 3) & (y == 3))
    with pytest.warns(
        UserWarning, match="class '3' has 3 samples: not each of 5 folds tests all classes; with 3 folds"
    ):
        select_similarities(["rbf:gamma=0.001"], X[few], y[few], n_basis=20, random_state=0)
    one = np.where(np.arange(len(few)) == 0, 9, y[few])
    with pytest.warns(UserWarning, match="class '9' has one sample: no fold tests the class"):
        select_similarities(["rbf:gamma=0.001"], X[few], one, n_basis=20, random_state=0, cv=3)


def test_how_many_are_chosen(digits):
    X, y = digits
    candidates = ["rbf:gamma=0.001", "rbf:gamma=0.003", "linear"]
    one = select_similarities(candidates, X, y, n_basis=50, max_similarities=1, random_state=0)
    assert (len(one.indices), len(one.rounds)) == (1, 1)
    never = select_similarities(candidates, X, y, n_basis=50, min_gain=0.9, random_state=0)
    assert (len(never.indices), len(never.rounds)) == (1, 2)
    always = select_similarities(candidates, X, y, n_basis=50, min_gain=0, random_state=0)
    assert len(always.accuracies) == len(always.indices) >= 1


def test_the_answer_can_be_read(digits):
    X, y = digits
    text = str(
        select_similarities(["rbf:gamma=0.001", "rbf:gamma=100"], X, y, n_basis=50, min_gain=0.9, random_state=0)
    )
    assert text.startswith("1 similarity chosen in 2 rounds")
    lines = text.splitlines()
    assert "+" in lines[1]
    assert "rbf:gamma=0.001" in lines[1]
    assert lines[-1].endswith("not enough, stopped")


def test_samples_of_any_kind(digits):
    words = ["".join(np.random.default_rng(i).choice(list("abcd" if i % 2 else "cdef"), 5)) for i in range(60)]
    labels = np.array(["odd" if i % 2 else "even" for i in range(60)])
    found = select_similarities(["edit", "ngram:n=1"], words, labels, cv=3, n_basis=20, random_state=0)
    assert found.accuracies[-1] > 0.8
    X, y = digits
    dense = select_similarities(["linear", "rbf"], X, y, n_basis=50, random_state=0)
    thin = select_similarities(["linear", "rbf"], sparse.csr_array(X), y.astype(str), n_basis=50, random_state=0)
    assert thin.indices == dense.indices
    assert thin.accuracies == pytest.approx(dense.accuracies, abs=0.01)


def test_the_answer_depends_on_the_seed_alone(digits):
    X, y = digits
    settings = {"n_basis": 60, "basis": "random"}
    candidates = ["rbf", "linear", "laplacian"]
    one = select_similarities(candidates, X, y, random_state=3, n_jobs=1, **settings)
    other = select_similarities(candidates, X, y, random_state=3, n_jobs=2, **settings)
    assert one == other
    another = select_similarities(candidates, X, y, random_state=4, **settings)
    assert another.rounds != one.rounds


def test_candidates_of_one_name_are_told_apart(digits):
    X, y = digits
    found = select_similarities(["rbf", "rbf"], X, y, n_basis=30, random_state=0)
    assert list(found.rounds[0]) == ["rbf", "rbf (2)"]
    assert found.indices[0] == 0


def test_progress_is_shown(digits, capsys):
    X, y = digits
    select_similarities(["rbf", "linear"], X, y, n_basis=30, verbose=1, random_state=0)
    assert "select_similarities" in capsys.readouterr().err
    select_similarities(["rbf", "linear"], X, y, n_basis=30, random_state=0)
    assert capsys.readouterr().err == ""


def failing(A, B):
    raise RuntimeError("not today")


@pytest.mark.parametrize(
    ("candidates", "settings", "error", "message"),
    [
        ("rbf", {}, TypeError, r"candidates is 'rbf': it must be a list"),
        ([], {}, ValueError, "empty list"),
        (["rbf", "lnear"], {}, ValueError, "Did you mean 'linear'"),
        (["rbf", "edit"], {}, ValueError, "'edit' takes strings"),
        (["rbf"], {"cv": 1}, ValueError, "cv is 1: it must be an integer of at least 2"),
        (["rbf"], {"cv": 2.5}, ValueError, "cv is 2.5"),
        (["rbf"], {"n_basis": 0}, ValueError, "n_basis is 0: it must be an integer of at least 1"),
        (["rbf"], {"max_similarities": 0}, ValueError, "max_similarities is 0"),
        (["rbf"], {"min_gain": -1}, ValueError, "min_gain is -1"),
        (["rbf"], {"C": 0}, ValueError, "C is 0: it must be a finite number above 0"),
        (["rbf"], {"C": "auto"}, ValueError, "C is 'auto'"),
        (["rbf"], {"basis": "idnex"}, ValueError, "'basis'.*Did you mean 'index'"),
        (["rbf"], {"normalization": "mean"}, ValueError, "'normalization'.*'mean_norm'"),
        ([failing], {}, RuntimeError, "not today"),
    ],
)
def test_what_is_refused(digits, candidates, settings, error, message):
    X, y = digits
    with pytest.raises(error, match=message):
        select_similarities(candidates, X, y, **settings)


def test_labels_that_do_not_fit(digits):
    X, y = digits
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        select_similarities(["rbf"], X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        select_similarities(["rbf"], X, y + 0.5)
    with pytest.raises(ValueError, match="at least two classes"):
        select_similarities(["rbf"], X, np.zeros(len(X), int))
