"""Probabilities: calibrated on what the fit did not see, and consistent with predictions."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import minmax_scale

import widemargin as wm

ESTIMATORS = {
    "thin_plate": wm.ThinPlateSVC(random_state=0),
    "basis_expansion": wm.BasisExpansionSVC(random_state=0),
    "power_mean": wm.PowerMeanSVC(random_state=0),
    "auto": wm.AutoSVC(random_state=0),
    "given C": wm.BasisExpansionSVC("rbf", C=1.0, n_basis=50, random_state=0),
    "logistic": wm.BasisExpansionSVC("rbf", C=1.0, n_basis=50, loss="logistic", random_state=0),
    "hinge": wm.BasisExpansionSVC("rbf", C=1.0, n_basis=50, loss="hinge", random_state=0),
    "power mean hinge": wm.PowerMeanSVC(-1, loss="hinge", C=1.0, nodes=3, random_state=0),
}


def calibration_of(fitted):
    return json.loads(fitted._model.header())["calibration"]


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_they_follow_the_conventions_and_the_predictions(name, load):
    X, y = load(return_X_y=True)
    X, y = minmax_scale(X), np.array(["c", "a", "b"])[y]
    fitted = clone(ESTIMATORS[name]).fit(X[::2], y[::2])
    P = fitted.predict_proba(X[1::2])
    assert P.shape == (len(X[1::2]), len(fitted.classes_))
    assert P.dtype == np.float64
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    assert (fitted.classes_[P.argmax(axis=1)] == fitted.predict(X[1::2])).all()
    logs = fitted.predict_log_proba(X[1::2])
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs), P, atol=1e-12)
    assert calibration_of(fitted)["on"] != "nothing"
    prior = np.unique(y[::2], return_counts=True)[1] / len(y[::2])
    assert log_loss(y[1::2], P) < 0.6 * log_loss(y[1::2], np.tile(prior, (len(P), 1)))


def test_the_slope_is_the_minimum_of_the_log_loss_of_the_left_out_values():
    X, y = load_breast_cancer(return_X_y=True)
    fitted = wm.ThinPlateSVC(random_state=0).fit(X, y)
    left_out = fitted._arrays()["loo_values"][0]
    n = len(y)
    own = np.where(y == 1, left_out, -left_out)

    def loss(slope):
        return ((n + 1) * np.logaddexp(0, -slope * own) + np.logaddexp(0, slope * own)).sum() / (n + 2)

    best = minimize_scalar(loss, bounds=(0.01, 100), method="bounded", options={"xatol": 1e-10}).x
    calibration = calibration_of(fitted)
    assert calibration["on"] == "leave-one-out"
    assert calibration["n_samples"] == n
    assert calibration["slopes"] == pytest.approx([best], rel=1e-6)
    p = 1 / (1 + np.exp(-best * fitted.decision_function(X)))
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], p, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("name", ["thin_plate", "basis_expansion", "power_mean"])
def test_log_loss_and_brier_score_are_those_of_calibration_by_folds_or_better(name):
    X, y = load_digits(return_X_y=True)
    X, new, y, of_new = train_test_split(X, y, train_size=300, random_state=0, stratify=y)
    fitted = clone(ESTIMATORS[name]).fit(X, y)
    folds = CalibratedClassifierCV(clone(ESTIMATORS[name]), cv=5).fit(X, y)
    ours, theirs = fitted.predict_proba(new), folds.predict_proba(new)
    assert log_loss(of_new, ours) < log_loss(of_new, theirs)
    assert np.square(ours - np.eye(10)[of_new]).sum() < np.square(theirs - np.eye(10)[of_new]).sum()


def test_class_weights_shift_them_with_the_predictions():
    X, y = make_classification(400, 5, weights=[0.85], flip_y=0.1, random_state=0)
    plain = wm.ThinPlateSVC(random_state=0).fit(X, y)
    balanced = wm.ThinPlateSVC(random_state=0, class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1
    assert ((balanced.predict_proba(X)[:, 1] > 0.5) == (balanced.predict(X) == 1)).all()
    # Without weights they add up to the shares of the classes.
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)


def test_similarities_of_the_users_own():
    X, y = load_iris(return_X_y=True)
    fitted = wm.BasisExpansionSVC(_inner, n_basis=20, C=1.0, random_state=0).fit(list(X), y)
    P = fitted.predict_proba(list(X))
    assert (fitted.classes_[P.argmax(axis=1)] == fitted.predict(list(X))).all()


def _inner(samples, bases):
    return rbf_kernel(np.stack(samples), np.stack(bases), gamma=0.5)


def test_scikit_learns_tools_take_them():
    X, y = load_breast_cancer(return_X_y=True)
    scores = cross_val_score(wm.ThinPlateSVC(random_state=0), X, y, scoring="neg_log_loss", cv=3)
    assert (scores > -0.2).all()
    members = [("a", wm.ThinPlateSVC(random_state=0)), ("b", wm.PowerMeanSVC(random_state=0))]
    voting = VotingClassifier(members, voting="soft").fit(X[::2], y[::2])
    assert voting.score(X[1::2], y[1::2]) > 0.92
    display = CalibrationDisplay.from_estimator(voting, X[1::2], y[1::2], n_bins=5)
    assert len(display.prob_true) > 1
    assert brier_score_loss(y[1::2], voting.predict_proba(X[1::2])[:, 1]) < 0.06


def test_a_class_with_one_sample_has_a_probability():
    X, y = load_iris(return_X_y=True)
    X, y = X[:101], y[:101]
    assert (np.bincount(y) == [50, 50, 1]).all()
    for name in ("thin_plate", "given C", "power_mean"):
        P = clone(ESTIMATORS[name]).fit(X, y).predict_proba(X)
        assert np.isfinite(P).all()
        assert (P > 0).all()


def test_labels_that_are_noise_have_the_probabilities_of_their_shares():
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 3)), rng.permutation(np.repeat([0, 1], 200))
    for name in ("thin_plate", "power_mean", "given C"):
        P = clone(ESTIMATORS[name]).fit(X, y).predict_proba(rng.random((200, 3)))
        assert np.abs(P - 0.5).mean() < 0.12


def test_files_without_a_calibration_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    fitted = wm.ThinPlateSVC(random_state=0).fit(X, y)
    fitted._model = _without_calibration(fitted._model)
    with pytest.raises(ValueError, match="fit it again"):
        fitted.predict_proba(X)
    assert fitted.score(X, y) > 0.9


def _without_calibration(model):
    """The model as earlier versions wrote it."""
    import zlib

    from widemargin import _core

    data = model.to_bytes()
    length = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer["__metadata__"]["widemargin"])
    del header["calibration"]
    header["checksum"] = "crc32:00000000"
    outer["__metadata__"]["widemargin"] = json.dumps(header)
    head = json.dumps(outer).encode()
    head += b" " * (-len(head) % 8)
    content = len(head).to_bytes(8, "little") + head + data[8 + length :]
    return _core.Model.from_bytes(content.replace(b"crc32:00000000", f"crc32:{zlib.crc32(content):08x}".encode(), 1))
