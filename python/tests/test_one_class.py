"""Outlier detection: the threshold, samples of every kind, and warnings."""

import warnings

import numpy as np
import pytest
from compared import onnx_outputs

import widemargin as wm

TEXT = """
Rossi Russo Bianchi Romano Ricci Marino Bruno Gallo Conti Costa Rizzo Greco Ferrari Esposito Colombo
Fontana Santoro Mariani Rinaldi Caruso Ferrara Galli Martini Leone Longo Gentile Martinelli Vitale Lombardo
Serra Coppola Marchetti Parisi Villa Conte Ferraro Ferri Fabbri Bianco Marini Grasso Valentini Messina Sala
"""
NAMES = TEXT.split()


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("quantile", [0.02, 0.1, 0.3])
def test_the_threshold_is_beyond_the_share_of_new_samples_that_it_names(quantile):
    shares = []
    for seed in range(5):
        detector = wm.BasisExpansionOneClass(quantile=quantile, random_state=0).fit(normal(600, seed))
        shares.append((detector.predict(normal(2000, 100 + seed)) == -1).mean())
    # A quantile of 300 scores, five times: three standard errors.
    error = np.sqrt(quantile * (1 - quantile) / 1500)
    assert abs(np.mean(shares) - quantile) < 3 * error + 0.005, shares


@pytest.mark.parametrize("n", [20, 25, 40])
def test_few_samples_set_the_threshold_too(n):
    shares = []
    for seed in range(100):
        detector = wm.BasisExpansionOneClass(random_state=0).fit(normal(n, seed))
        shares.append((detector.predict(normal(400, 1000 + seed)) == -1).mean())
    # The next order statistic, without interpolation, has .09 to .13.
    assert abs(np.mean(shares) - 0.05) < 0.025, shares


def test_copies_are_left_out_together():
    shares = {"weights": [], "copies": [], "drawn": []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, new = normal(400, seed), normal(1000, 1000 + seed)
        counts, drawn = rng.integers(1, 6, 400), rng.integers(0, 400, 400)
        fits = {
            "weights": wm.BasisExpansionOneClass("rbf").fit(X, sample_weight=counts),
            "copies": wm.BasisExpansionOneClass("rbf").fit(np.repeat(X, counts, axis=0)),
            "drawn": wm.BasisExpansionOneClass("rbf").fit(X[drawn]),
        }
        for name, detector in fits.items():
            shares[name].append((detector.predict(new) == -1).mean())
    assert shares["weights"] == shares["copies"]
    # .14 with a copy left in the fit.
    assert all(abs(np.mean(of) - 0.05) < 0.02 for of in shares.values()), shares


def test_samples_unlike_all_others_are_outliers_where_many_have_no_similarity():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcdefghijk"), rng.integers(4, 9))) for _ in range(300)]
    detector = wm.BasisExpansionOneClass("ngram", quantile=0.1).fit(strings)
    others = np.setdiff1d(np.arange(300), detector.basis_indices_)
    assert 0.1 < (detector.leave_one_out_scores_[others] == 0).mean() < 0.2
    assert detector.predict(["ЖШЮЯФЫ", ""]).tolist() == [-1, -1]


@pytest.mark.parametrize("n", [20, 24, 30, 38])
def test_distances_find_outliers_of_few_samples(n):
    detector = wm.BasisExpansionOneClass("distance").fit(np.random.default_rng(1).normal(size=(n, 3)))
    assert detector.predict([[50, 0, 0], [0, -60, 0], [1e6, 0, 0]]).tolist() == [-1] * 3


def test_a_threshold_below_the_scores_of_outliers_raises_a_warning():
    with pytest.warns(UserWarning, match="the threshold is -.*they may not be detected"):
        wm.BasisExpansionOneClass("distance", n_basis=100).fit(np.random.default_rng(1).normal(size=(100, 3)))


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


def shared_letters(a, b):
    return np.array([[len(set(x) & set(y)) / len(set(x) | set(y)) for y in b] for x in a])


def test_similarities_of_python():
    detector = wm.BasisExpansionOneClass([shared_letters, "edit"], quantile=0.1).fit(NAMES)
    assert detector.predict(["Krzyzewski", "Rosso"]).tolist() == [-1, 1]


@pytest.mark.parametrize("normalization", ["nystroem", "none"])
def test_weights_are_copies(normalization):
    X, weights = normal(90, 5), np.arange(90) % 3
    weighted = wm.BasisExpansionOneClass(normalization=normalization).fit(X, sample_weight=weights)
    copies = wm.BasisExpansionOneClass(normalization=normalization).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(weighted.score_samples(X), copies.score_samples(X))
    assert weighted.offset_ == copies.offset_
    np.testing.assert_array_equal(np.repeat(weighted.leave_one_out_scores_, weights), copies.leave_one_out_scores_)
    # Of samples that the fit did not see the score itself.
    unseen = weights == 0
    np.testing.assert_array_equal(weighted.leave_one_out_scores_[unseen], weighted.score_samples(X)[unseen])
    with pytest.raises(ValueError, match="sample_weight"):
        wm.BasisExpansionOneClass().fit(X, sample_weight=weights[:-1])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_it_tells_what_it_did(n_jobs):
    X = normal(100, 1)
    detector = wm.BasisExpansionOneClass(n_jobs=n_jobs, random_state=0, basis="random").fit(X)
    assert detector.report_["status"] == "converged"
    assert "threshold" in detector._repr_html_()
    other = wm.BasisExpansionOneClass(random_state=0, basis="random").fit(X)
    np.testing.assert_array_equal(other.leave_one_out_scores_, detector.leave_one_out_scores_)


@pytest.mark.parametrize("similarity", ["rbf", "laplacian"])
def test_onnx_keeps_the_digits_of_many_bases(similarity):
    detector = wm.BasisExpansionOneClass(similarity, n_basis=100).fit(normal(300, 0))
    X = normal(150, 1).astype(np.float32)
    arrays = detector._model.arrays()
    # What similarities in single precision would be multiplied by.
    factors = np.abs(arrays["map.0.projection"] @ arrays["weights"]).sum()
    assert arrays["map.0.projection"].dtype == np.float64
    assert np.finfo(np.float32).eps * factors > 1e-6
    np.testing.assert_allclose(onnx_outputs(detector, X)["scores"], detector.decision_function(X), atol=1e-6)


def test_columns_in_different_units_are_warned_of():
    X = normal(300, 0) * [1, 1, 1, 1000]
    outlier = [[8.0, 0, 0, 0]]
    with pytest.warns(UserWarning, match="spreads of columns differ by a factor of .*z-score/rbf"):
        assert wm.BasisExpansionOneClass().fit(X).predict(outlier) == 1
    # The remedy.
    assert wm.BasisExpansionOneClass("z-score/rbf").fit(X).predict(outlier) == -1


def test_unknown_n_grams_are_warned_of():
    with pytest.warns(UserWarning, match="tfidf omits n-grams that no training sample has"):
        wm.BasisExpansionOneClass("tfidf/rbf").fit(NAMES)


def test_constant_columns_are_warned_of():
    X = np.hstack([normal(300, 0), np.full((300, 1), 5.0)])
    with pytest.warns(UserWarning, match=r"1 columns of the training samples \(the first is column 4.*z-score omits"):
        assert wm.BasisExpansionOneClass("z-score/rbf").fit(X).predict([[0, 0, 0, 0, 50]]) == 1


@pytest.mark.parametrize("similarity", ["distance", "z-score/distance", "cityblock", "log:gamma=1"])
def test_distances_detect_what_is_far(similarity):
    detector = wm.BasisExpansionOneClass(similarity).fit(normal(300, 0))
    assert detector.normalization_ == "centered"
    far = 4 * normal(100, 1)
    far = far[np.linalg.norm(far, axis=1) > 6]
    assert np.mean(detector.predict(far) == -1) > 0.9
    assert np.mean(detector.predict(normal(300, 2)) == -1) < 0.1


@pytest.mark.parametrize(
    ("similarity", "normalization"), [("distance", "nystroem"), ("distance", "none"), ("thin_plate", "auto")]
)
def test_unsuitable_normalizations_of_distances_raise_a_warning(similarity, normalization):
    with pytest.warns(UserWarning, match=r"more similar to others than to themselves by .*centered"):
        wm.BasisExpansionOneClass(similarity, normalization=normalization).fit(normal(100, 0))


def test_distances_of_series_are_warned_of():
    waves = [np.sin(np.arange(30) / 4 + shift) for shift in np.linspace(0, 1, 60)]
    with pytest.warns(UserWarning, match="with gamma"):
        wm.BasisExpansionOneClass("dtw").fit(waves)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wm.BasisExpansionOneClass("dtw:gamma=auto").fit(waves)


def test_weights_leave_the_share_of_false_alarms():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(300, 3)), rng.normal(size=(4000, 3))
    equal = {name: np.full(300, weight) for name, weight in (("ones", 1.0), ("shares", 1 / 300), ("tiny", 1e-6))}
    weights = {**equal, "uneven": 10 * rng.random(300)}
    flagged = {
        name: np.mean(wm.BasisExpansionOneClass(quantile=0.05).fit(X, sample_weight=w).predict(new) == -1)
        for name, w in weights.items()
    }
    assert all(abs(share - flagged["ones"]) < 0.02 for share in flagged.values()), flagged
    assert flagged["ones"] < 0.09


@pytest.mark.parametrize("n", [2, 5, 50])
def test_equal_samples_are_no_outliers_and_others_are(n):
    detector = wm.BasisExpansionOneClass().fit(np.ones((n, 3)))
    assert detector.predict([[1.0, 1.0, 1.0], [50.0, 50.0, 50.0]]).tolist() == [1, -1]
