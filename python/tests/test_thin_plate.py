"""The thin plate SVM where columns are many for the rows, and what it says of its own error."""

import numpy as np
import pytest
from compared import candidates, path
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import euclidean_distances, log_loss
from sklearn.svm import SVC

import widemargin as wm

KERNELS = ["distance", "thin_plate", "thin_plate:order=3", "cubic", "polyharmonic:exponent=2.5"]


def unit_length(n, d, classes, spread, seed):
    rng = np.random.default_rng(seed)
    centers, y = rng.normal(size=(classes, d)), rng.integers(0, classes, n)
    X = centers[y] + spread * rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


# On bases the 2,144 quadratic polynomials of order 3 would be as many features.
CASES = [(kernel, None) for kernel in KERNELS] + [(kernel, 150) for kernel in KERNELS if "order=3" not in kernel]


@pytest.mark.parametrize(("kernel", "n_basis"), CASES)
def test_every_kernel_is_near_svc_with_few_rows_for_the_columns(kernel, n_basis):
    X, y = unit_length(1300, 64, 2, 2.5, 0)
    wanted = SVC().fit(X[:300], y[:300]).score(X[300:], y[300:])
    fitted = wm.ThinPlateSVC(kernel, n_basis=n_basis, standardize=False).fit(X[:300], y[:300])
    if kernel == "distance":
        assert fitted.polynomials_ == "free"
    else:
        # The exact solver takes whichever has the lower leave-one-out loss.
        assert fitted.polynomials_ == "penalized" or (n_basis is None and fitted.polynomials_ == "constant")
    assert fitted.score(X[300:], y[300:]) >= wanted - 0.02
    chosen = path(fitted)["C"] == fitted.C_
    estimate = path(fitted)["error" if n_basis is None else "fold_error"][chosen]
    assert estimate == pytest.approx(1 - wanted, abs=0.03)
    assert ("loo_exact" in path(fitted)) == (n_basis is None)
    assert ("fold_error" in path(fitted)) == (n_basis is not None)


def test_ten_classes_in_as_many_columns_as_rows():
    X, y = unit_length(900, 400, 10, 2.0, 1)
    for kernel in ("distance", "thin_plate"):
        assert wm.ThinPlateSVC(kernel, standardize=False).fit(X[:400], y[:400]).score(X[400:], y[400:]) >= 0.97


@pytest.mark.parametrize("classes", [2, 5, 10])
def test_the_error_in_five_folds_is_that_of_new_rows_where_classes_come_in_a_period(classes):
    rng = np.random.default_rng(7)
    y = np.arange(3000) % classes
    angles = 2 * np.pi * y / classes
    X = 2 * np.c_[np.cos(angles), np.sin(angles)] + 0.5 * rng.normal(size=(3000, 2))
    fitted = wm.ThinPlateSVC("distance", n_basis=40, random_state=0).fit(X[:1000], y[:1000])
    truth = fitted.score(X[1000:], y[1000:])
    # Three standard errors of 1,000 samples.
    assert abs(fitted.estimated_score_ - truth) < 3 * np.sqrt(max(truth * (1 - truth), 0.002) / 1000)
    assert not any("no better" in warning for warning in fitted.report_["warnings"])


def test_the_kernel_with_the_smallest_loss_is_selected_and_reported(tmp_path):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    auto = wm.ThinPlateSVC().fit(X, y)
    compared = [(one["kernel"], one["standardize"]) for one in candidates(auto)]
    assert compared == [(kernel, scaled) for kernel in ("distance", "cityblock") for scaled in (False, True)]
    assert path(auto)["C"][np.nanargmin(path(auto)["hinge"])] == auto.C_
    alone = [wm.ThinPlateSVC(kernel, standardize=scaled).fit(X, y) for kernel, scaled in compared]
    losses = [np.nanmin(path(one)["hinge"][path(one)["C"] == one.C_]) for one in alone]
    # Kernels are compared in closed form; refits confirm what is fitted.
    np.testing.assert_allclose([one["hinge"] for one in candidates(auto)], losses, rtol=0.1)
    best = int(np.argmin(losses))
    assert auto.similarity_ == compared[best][0]
    np.testing.assert_allclose(auto.decision_function(X), alone[best].decision_function(X), rtol=1e-3)
    assert auto.estimated_score_ == alone[best].estimated_score_ > 0.9
    assert any("mean leave-one-out squared hinge on 300 samples" in note for note in auto.report_["notes"])
    wm.save(auto, tmp_path / "model.wm")
    assert wm.load(tmp_path / "model.wm").kernel == auto.similarity_
    # At a C that is given, losses have no common scale.
    assert wm.ThinPlateSVC(C=1.0).fit(X, y).similarity_ == "distance"
    assert candidates(wm.ThinPlateSVC("cubic", standardize=False).fit(X, y)) == []
    scalings = candidates(wm.ThinPlateSVC("cubic").fit(X, y))
    assert [(one["kernel"], one["standardize"]) for one in scalings] == [("cubic", False), ("cubic", True)]
    bases = wm.ThinPlateSVC(n_basis=40, random_state=0).fit(X, y)
    assert bases.similarity_ == auto.similarity_
    assert len(bases.basis_) == 40
    # Of so few samples none but those without a weight are left out.
    exact = wm.ThinPlateSVC(n_basis=None).fit(X, y)
    np.testing.assert_array_equal(exact.basis_indices_, auto.basis_indices_)
    with pytest.raises(ValueError, match="n_basis"):
        wm.ThinPlateSVC(n_basis="many").fit(X, y)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_hinge_is_the_kernel_machine_of_svc(C):
    X, y = make_moons(200, noise=0.25, random_state=0)
    fitted = wm.ThinPlateSVC("distance", C=C, loss="hinge").fit(X, y)
    # With coefficients whose sum is 0 a constant makes no difference, by which the kernel is positive definite.
    kernel = 10 - euclidean_distances(X)
    expected = SVC(C=C, kernel="precomputed", tol=1e-6).fit(kernel, y)
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(kernel), atol=1e-3)
    assert fitted.loss_ == "hinge"
    assert fitted.report_["gaps"][0] < 1e-6
    assert abs(fitted.report_["n_support"][0] - expected.n_support_.sum()) <= 4


@pytest.mark.parametrize("n_basis", [None, 30])
@pytest.mark.parametrize("loss", ["hinge", "squared_error"])
def test_other_losses_select_c_estimate_their_error_and_are_calibrated(loss, n_basis):
    X, y = make_moons(1300, noise=0.25, random_state=1)
    fitted = wm.ThinPlateSVC(loss=loss, n_basis=n_basis).fit(X[:300], y[:300])
    accuracy = fitted.score(X[300:], y[300:])
    assert accuracy > 0.9
    assert fitted.estimated_score_ == pytest.approx(accuracy, abs=3 * fitted.estimated_score_std_)
    assert log_loss(y[300:], fitted.predict_proba(X[300:])) < 0.3


def test_a_loss_that_is_not_there_is_named():
    X, y = make_moons(30, random_state=0)
    with pytest.raises(ValueError, match=r"'loss'.* one of 'squared_hinge', 'squared_error', 'hinge'.*'logistic'"):
        wm.ThinPlateSVC(loss="logistic").fit(X, y)
