"""C = "auto" of the basis expansion, and the thin plate SVM on samples that are not vectors."""

import numpy as np
import pytest
from compared import path
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import train_test_split

import widemargin as wm


def test_c_is_chosen_and_refitted():
    X, y = make_moons(300, noise=0.3, random_state=0)
    fitted = wm.BasisExpansionSVC(normalization="nystroem", C="auto").fit(X[:200], y[:200])
    at = path(fitted)["C"] == fitted.C_
    assert at.sum() == 1
    assert np.nanargmin(path(fitted)["hinge"]) == np.flatnonzero(at)[0]
    assert 1 - path(fitted)["error"][at][0] == pytest.approx(fitted.score(X[200:], y[200:]), abs=0.06)
    given = wm.BasisExpansionSVC(normalization="nystroem", C=fitted.C_, tol=1e-6).fit(X[:200], y[:200])
    np.testing.assert_allclose(fitted.decision_function(X), given.decision_function(X), atol=5e-3)
    assert len(path(given)["C"]) == 0
    assert given.C_ == fitted.C_
    assert clone(fitted).C == "auto"


def test_many_classes_and_many_rows_take_a_part_to_choose():
    X, y = load_digits(return_X_y=True)
    X = np.concatenate([X, X + np.random.default_rng(0).normal(scale=0.1, size=X.shape), X[:, ::-1]])
    y = np.concatenate([y, y, y + 10])
    A, B, a, b = train_test_split(X, y, test_size=600, random_state=0)
    fitted = wm.BasisExpansionSVC("rbf", n_basis=80, normalization="nystroem", C="auto").fit(A, a)
    assert len(A) > 4000
    assert any("C was selected by" in note and "held out" in note for note in fitted.report_["notes"])
    assert fitted.score(B, b) > 0.9


def test_the_estimate_of_a_fit_whose_C_was_chosen_on_a_part_is_of_held_out_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 4))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(scale=0.5, size=len(X)) > 1).astype(int)
    fitted = wm.BasisExpansionSVC("rbf", n_basis=300, normalization="nystroem").fit(X[:8000], y[:8000])
    assert fitted.report_["estimate"]["method"] == "held_out"
    # 800 samples are held out: three standard errors.
    assert fitted.estimated_score_ == pytest.approx(fitted.score(X[8000:], y[8000:]), abs=0.04)
    whole = wm.BasisExpansionSVC("rbf", normalization="nystroem").fit(X[:300], y[:300])
    assert whole.report_["estimate"]["method"] == "leave_one_out"
    # With C given each of few samples is held out once.
    given = wm.BasisExpansionSVC("rbf", C=1.0).fit(X[:300], y[:300])
    estimate = given.report_["estimate"]
    assert estimate["method"] == "held_out"
    assert estimate["n_samples"] > 250
    assert given.estimated_score_ == 1 - estimate["error"]
    assert abs(given.estimated_score_ - given.score(X[8000:], y[8000:])) < 3 * estimate["standard_error"]


def test_the_thin_plate_on_edit_distances():
    rng = np.random.default_rng(0)
    motifs = ["".join(rng.choice(list("abcd"), 12)) for _ in range(3)]
    y = rng.integers(0, 3, 240)

    def sample(kind):
        text = list(motifs[kind])
        for _ in range(4):
            text[rng.integers(len(text))] = rng.choice(list("abcd"))
        return "".join(text) + "".join(rng.choice(list("abcd"), rng.integers(0, 4)))

    X = [sample(kind) for kind in y]
    distances = wm.similarity.pairwise("edit", X, X)
    for treatment in ("clip", "flip", "shift"):
        parameters = {"normalization": "centered", "negative_eigenvalues": treatment}
        fitted = wm.BasisExpansionSVC("edit", **parameters, C="auto").fit(X[:160], y[:160])
        assert (fitted.normalization_, fitted.negative_eigenvalues_) == ("centered", treatment)
        nearest = y[:160][np.asarray(distances)[160:, :160].argmax(axis=1)]
        assert fitted.score(X[160:], y[160:]) >= (nearest == y[160:]).mean()


def test_a_square_matrix_of_similarities_is_as_good_as_the_similarity():
    X, y = make_moons(200, noise=0.2, random_state=1)
    A, B, a = X[:140], X[140:], y[:140]
    gram = -np.linalg.norm(A[:, None] - A, axis=2)
    across = -np.linalg.norm(B[:, None] - A, axis=2)
    for basis, n_basis in (("index", 140), ("random", 40), ("kmedoids", 30)):
        for normalization, treatment in (("centered", "clip"), ("nystroem", "flip")):
            same = {"basis": basis, "n_basis": n_basis, "normalization": normalization, "C": 3.0, "random_state": 0}
            same["negative_eigenvalues"] = treatment
            by_matrix = wm.BasisExpansionSVC("precomputed", **same).fit(gram, a)
            rows = by_matrix.basis_indices_
            by_distance = wm.BasisExpansionSVC("distance", **{**same, "basis": rows, "n_basis": len(rows)}).fit(A, a)
            expected = by_distance.decision_function(B)
            np.testing.assert_allclose(by_matrix.decision_function(across), expected, atol=2e-2)
            np.testing.assert_allclose(by_matrix.decision_function(across[:, rows]), expected, atol=2e-2)
            if basis == "kmedoids":
                # Equally good: which local minimum is reached depends on the order of the samples.
                medoids = wm.BasisExpansionSVC("distance", **same).fit(A, a).basis_indices_
                ours, theirs = (-gram[:, chosen].max(axis=1).sum() for chosen in (rows, medoids))
                assert ours <= 1.1 * theirs
                assert ours < 0.9 * -gram[:, :30].max(axis=1).sum()
    with pytest.raises(ValueError, match="give those between all samples, a square matrix"):
        wm.BasisExpansionSVC("precomputed", normalization="nystroem").fit(gram[:, :50], a)
