"""The thin plate SVM where columns are many for the rows, and what it says of its own error."""

import warnings

import numpy as np
import pytest
from sklearn.svm import SVC

import widemargin as wm

KERNELS = ["distance", "thin_plate", "thin_plate:order=3", "cubic", "polyharmonic:exponent=2.5"]


def unit_length(n, d, classes, spread, seed):
    rng = np.random.default_rng(seed)
    centres, y = rng.normal(size=(classes, d)), rng.integers(0, classes, n)
    X = centres[y] + spread * rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


# On landmarks the 2,144 quadratic polynomials of order 3 would be as many features.
CASES = [(kernel, None) for kernel in KERNELS] + [(kernel, 150) for kernel in KERNELS if "order=3" not in kernel]


@pytest.mark.parametrize(("kernel", "n_basis"), CASES)
def test_every_kernel_is_near_svc_with_few_rows_for_the_columns(kernel, n_basis):
    X, y = unit_length(1300, 64, 2, 2.5, 0)
    wanted = SVC().fit(X[:300], y[:300]).score(X[300:], y[300:])
    fitted = wm.ThinPlateSVC(kernel, n_basis=n_basis).fit(X[:300], y[:300])
    if kernel == "distance":
        assert fitted.null_space_ == "free"
    else:
        # The exact solver takes whichever has the lower leave-one-out loss.
        assert fitted.null_space_ == "penalized" or (n_basis is None and fitted.null_space_ == "constant")
    assert fitted.score(X[300:], y[300:]) >= wanted - 0.02
    chosen = fitted.path_["C"] == fitted.C_
    estimate = fitted.path_["loo_error" if n_basis is None else "fold_error"][chosen]
    assert estimate == pytest.approx(1 - wanted, abs=0.03)
    assert (fitted.path_["loo_exact"][chosen] == 1).all() == (n_basis is None)
    assert np.isnan(fitted.path_["fold_error"]).sum() == len(chosen) - (n_basis is not None)


def test_ten_classes_in_as_many_columns_as_rows():
    X, y = unit_length(900, 400, 10, 2.0, 1)
    for kernel in ("distance", "thin_plate"):
        assert wm.ThinPlateSVC(kernel).fit(X[:400], y[:400]).score(X[400:], y[400:]) >= 0.97


def test_an_estimate_no_better_than_the_largest_class_warns():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 4)), (rng.random(80) < 0.2).astype(int)
    with pytest.warns(UserWarning, match="no better than always answering the largest class"):
        wm.ThinPlateSVC().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wm.ThinPlateSVC().fit(X, (X[:, 0] > 0).astype(int))


def test_a_time_limit_ends_at_a_small_c_and_says_so():
    X, y = unit_length(400, 5, 2, 2.5, 2)
    with pytest.warns(UserWarning, match="not converged when the time limit passed"):
        cut = wm.ThinPlateSVC(time_limit=0.0).fit(X, y)
    assert cut.report_["status"] == "time-limit"
    assert cut.lambda_ == pytest.approx(1.0)
