"""One class: left-out scores are those of refits, the threshold is what it says, and a file has all of it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import widemargin as wm

TEXT = """
Rossi Russo Bianchi Romano Ricci Marino Bruno Gallo Conti Costa Rizzo Greco Ferrari Esposito Colombo
Fontana Santoro Mariani Rinaldi Caruso Ferrara Galli Martini Leone Longo Gentile Martinelli Vitale Lombardo
Serra Coppola Marchetti Parisi Villa Conte Ferraro Ferri Fabbri Bianco Marini Grasso Valentini Messina Sala
"""
NAMES = TEXT.split()


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("shrinkage", [1e-4, 0.01, 1.0])
def test_left_out_scores_are_those_of_refits(shrinkage):
    X = normal(60, 0)
    detector = wm.BasisExpansionOneClass(shrinkage=shrinkage).fit(X)
    phi = detector._features(X).astype(float)
    penalty = shrinkage * np.trace(phi.T @ phi) / phi.shape[1] * np.eye(phi.shape[1])
    for left_out in (0, 7, 59):
        rest = np.delete(phi, left_out, axis=0)
        w = np.linalg.solve(rest.T @ rest + penalty, rest.sum(axis=0))
        assert detector.left_out_scores_[left_out] == pytest.approx(phi[left_out] @ w, abs=1e-8)
    # With all samples.
    w = np.linalg.solve(phi.T @ phi + penalty, phi.sum(axis=0))
    np.testing.assert_allclose(detector.score_samples(X), phi @ w, atol=1e-8)


@pytest.mark.parametrize("quantile", [0.02, 0.1, 0.3])
def test_the_threshold_is_beyond_the_share_of_new_samples_that_it_names(quantile):
    shares = []
    for seed in range(5):
        detector = wm.BasisExpansionOneClass(quantile=quantile, random_state=0).fit(normal(600, seed))
        shares.append((detector.predict(normal(2000, 100 + seed)) == -1).mean())
    # A quantile of 300 scores, five times: three standard errors.
    assert abs(np.mean(shares) - quantile) < 3 * np.sqrt(quantile * (1 - quantile) / 1500) + 0.005, shares


def test_samples_that_are_unlike_are_told():
    detector = wm.BasisExpansionOneClass(random_state=0).fit(normal(400, 0))
    there = np.vstack([normal(200, 1), normal(200, 2) + 4])
    assert roc_auc_score(np.repeat([1, 0], 200), detector.score_samples(there)) > 0.99
    assert (detector.predict(normal(200, 2) + 6) == -1).all()
    # Bases do not count for the threshold.
    others = np.delete(detector.left_out_scores_, detector.basis_indices_)
    assert (others < detector.offset_).sum() == np.ceil(0.05 * (len(others) + 1)) - 1
    np.testing.assert_allclose(detector.decision_function(there), detector.score_samples(there) - detector.offset_)


@pytest.mark.parametrize("similarity", ["edit", ["edit", "ngram"]])
def test_strings(similarity):
    detector = wm.BasisExpansionOneClass(similarity, quantile=0.1).fit(NAMES)
    assert detector.predict(["Krzyzewski", "Schwarz"]).tolist() == [-1, -1]
    assert (detector.fit_predict(NAMES) == 1).mean() > 0.8


def test_series_of_any_length():
    rng = np.random.default_rng(0)
    waves = [np.sin(np.arange(30 + k % 5) / 3 + rng.normal() / 5) for k in range(40)]
    detector = wm.BasisExpansionOneClass("dtw:gamma=0.1", quantile=0.1).fit(waves)
    noise = [rng.normal(size=30) for _ in range(10)]
    assert (detector.predict(noise) == -1).all()
    assert (detector.predict(waves) == 1).mean() > 0.8


@pytest.mark.parametrize("X", [normal(80, 0).astype(np.float32), NAMES])
def test_a_file_has_all_of_it(X, tmp_path):
    similarity = "edit" if isinstance(X, list) else "rbf"
    detector = wm.BasisExpansionOneClass(similarity, quantile=0.2, random_state=3).fit(X)
    wm.save(detector, tmp_path / "detector")
    read = wm.load(tmp_path / "detector")
    np.testing.assert_array_equal(read.decision_function(X), detector.decision_function(X))
    np.testing.assert_array_equal(read.left_out_scores_, detector.left_out_scores_)
    assert (read.offset_, read.quantile, read.shrinkage) == (detector.offset_, 0.2, 0.01)
    assert clone(read).set_params(random_state=3).fit(X).n_basis == len(detector.basis_indices_)
    whole = (tmp_path / "detector").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-20])
    with pytest.raises(ValueError, match="cut"):
        wm.load(tmp_path / "cut")


def test_bad_parameters_and_code_of_python_are_refused(tmp_path):
    with pytest.raises(ValueError, match="quantile"):
        wm.BasisExpansionOneClass(quantile=1.0).fit(normal(20, 0))
    with pytest.raises(ValueError, match="shrinkage"):
        wm.BasisExpansionOneClass(shrinkage=0.0).fit(normal(20, 0))
    with pytest.raises(ValueError, match="n_samples=1"):
        wm.BasisExpansionOneClass().fit(normal(1, 0))
    own = wm.BasisExpansionOneClass(lambda a, b: np.ones((len(a), len(b))), normalization="none").fit(NAMES)
    with pytest.raises(TypeError, match="Python"):
        wm.save(own, tmp_path / "own")
