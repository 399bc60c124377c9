"""The same model from weights and copies, from rows in another order, on more threads, and from files of any kind."""

import io
import pickle

import joblib
import numpy as np
import onnx
import pandas
import pytest
from compared import on_bases, onnx_outputs, path
from problems import rbf_kernel
from sklearn.base import clone, is_regressor

import widemargin as wm

RNG = np.random.default_rng(0)
X = RNG.random((80, 5))
TARGET = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=80)
CLASSES = np.digitize(TARGET, np.quantile(TARGET, [0.3, 0.7]))
TARGETS = np.column_stack([TARGET, 50 + TARGET**2])
LABELS = np.where(RNG.random((80, 3)) < 0.2, np.nan, np.column_stack([TARGET > 0.5, X[:, 2] > 0.5, X[:, 3] > 0.4]))
NAMED_LABELS = pandas.DataFrame(LABELS, columns=["a", "b", "c"])
IMAGES = RNG.integers(0, 255, (80, 16, 16, 3), dtype=np.uint8)
SERIES = np.sin(np.arange(30)[:, None] * (1 + 0.2 * CLASSES[:, None, None])) + 0.3 * RNG.normal(size=(80, 30, 2))
SERIES = SERIES.astype(np.float32)
SETS = [{10 + k, *np.flatnonzero(row)} for k, row in enumerate(X > 0.5)]
WORDS = ["".join(RNG.choice(list("abcd" if one else "cdef"), RNG.integers(3, 9))) for one in CLASSES]


def shared_letters(A, B):
    return np.array([[len(set(a) & set(b)) / len(set(a) | set(b)) for b in B] for a in A])


def mean_product(A, B):
    return np.array([[float(np.mean(a) * np.mean(b)) for b in B] for a in A])


def regressor(similarity="rbf:gamma=0.5", n_basis=30, **given):
    return wm.BasisExpansionRegressor(similarity, n_basis=n_basis, **given)


def by(loss):
    return regressor("rbf", 20, loss=loss, normalization="mean_norm")


THIN, POWER = wm.ThinPlateSVC, wm.PowerMeanSVC
LOSSES = ("huber", "squared_epsilon_insensitive", "quantile")
DISTANCE = {"kernel": "distance", "standardize": False}
MULTILABEL = {
    "labels of the thin plate": (THIN("thin_plate", polynomials="free", standardize=False), X, LABELS),
    "labels of features": (on_bases("features", normalization="none", tol=1e-7), X, LABELS),
    "labels of the power mean": (POWER(-1, nodes=[0.1, 0.4, 1.0], tol=1e-6, max_iter=5000), X, LABELS),
}

# What other claims on weights leave out (claims/weights.rs, test_properties.py), with the largest difference of values
# in units of the largest.
WEIGHTED = {
    "thin plate, C per class": (THIN(C="auto_per_class", class_weight="balanced", **DISTANCE), X, CLASSES, 1e-8),
    "as many bases as samples": (on_bases(n_basis=80), X, CLASSES, 1e-9),
    "l1": (on_bases(n_basis=15, penalty="l1", normalization="none", tol=1e-8), X, CLASSES, 1e-3),
}
# What is stored; samples and functions of any kind.
STORED = {
    "thin plate on bases": (THIN("cubic", n_basis=30, C=2.0, standardize=True, basis="kmedoids", tol=1e-9), X, CLASSES),
    "thin plate": (THIN(C=1.0, class_weight="balanced", **DISTANCE), X, CLASSES),
    "thin plate, two classes": (THIN(), X, CLASSES > 0),
    **{f"thin plate by {loss}": (THIN(loss=loss), X, CLASSES) for loss in ("hinge", "squared_error")},
    "thin plate on bases by the hinge": (THIN(loss="hinge", n_basis=30), X, CLASSES > 0),
    "thin plate, C per class": (THIN(C="auto_per_class", n_basis=20, basis="index", **DISTANCE), X, CLASSES),
    "power mean": (POWER("jensen_shannon", C=0.1, nodes=3, max_iter=77, tol=0.02), X, CLASSES),
    "nodes": (POWER(-1, C=1.0, nodes=[0.5, 0.1, 1.0, 0.02]), X, CLASSES),
    "automatic power mean": (POWER(), X, CLASSES),
    "polynomial of five nodes": (POWER(approximation="polynomial", nodes=[0.01, 0.05, 0.2, 0.5, 1.0]), X, CLASSES),
    "polynomial": (POWER(-8.0, C=0.01, nodes=3, approximation="polynomial", scale=False, loss="hinge"), X, CLASSES),
    "several similarities": (on_bases(["rbf", "mean-norm/laplacian"], normalization="z_score"), X, CLASSES),
    "logistic": (on_bases(normalization="nystroem", loss="logistic", fit_intercept=False), X, CLASSES),
    "own bases": (on_bases(basis="random", tol=1e-4, loss="squared_hinge", class_weight={0: 2.0}), X, CLASSES),
    "covariance": (on_bases(normalization="covariance"), X, CLASSES),
    "l1": (on_bases(["rbf", "linear"], penalty="l1", C=0.5), X, CLASSES),
    "own numbers of bases": (on_bases(["rbf:gamma=0.5,weight=3", "laplacian:weight=0.25,bases=7"]), X, CLASSES),
    "columns far from 0": (on_bases("z-score/rbf"), 1 + 1e-6 * X, CLASSES),
    "automatic": (wm.BasisExpansionSVC(random_state=0), X, CLASSES),
    "images": (on_bases("hog:cell=8/rbf", n_basis=30), IMAGES, CLASSES),
    "sets": (on_bases("tanimoto", n_basis=20), SETS, CLASSES),
    "series": (on_bases("dtw:window=0.1", n_basis=30), [x[: 9 + k % 5] for k, x in enumerate(SERIES)], CLASSES),
    "hydra": (on_bases("hydra:groups=4/linear", n_basis=30, normalization="nystroem"), SERIES, CLASSES),
    "minirocket": (on_bases("minirocket:features=500/features", normalization="z_score"), SERIES, CLASSES),
    "series by a function": (on_bases(["hydra:groups=4/rbf", mean_product], n_basis=9), SERIES, CLASSES),
    "strings": (on_bases("edit", n_basis=30), WORDS, CLASSES),
    "rare terms": (on_bases("tfidf:n=1-3/linear", n_basis=30, normalization="none"), WORDS, CLASSES),
    "rare terms and edits": (on_bases(["tfidf:n=2,by=words-padded/features", "edit"], n_basis=30), WORDS, CLASSES),
    "rare words": (on_bases("tfidf:by=words,n=1/rbf", n_basis=30, normalization="nystroem"), WORDS, CLASSES),
    "a function": (on_bases(shared_letters, n_basis=30), WORDS, CLASSES),
    "a function and a descriptor": (on_bases(["mean-norm/rbf", rbf_kernel]), X, CLASSES),
    "regression": (regressor("z-score/laplacian"), X, TARGETS),
    "regression of a function": (regressor(rbf_kernel, normalization="nystroem", C=1.0), X, TARGET),
    **{f"regression by {loss}": (by(loss), X, TARGET) for loss in LOSSES},
    **{f"regressions by {loss}": (by(loss), X, TARGETS) for loss in LOSSES},
    "spline on bases": (wm.ThinPlateRegressor(n_basis=20), X, TARGET),
    "splines": (wm.ThinPlateRegressor("rbf:gamma=0.5"), X, TARGETS),
    **{
        f"regressions on {similarity}": (wm.BasisExpansionRegressor(similarity), X, TARGETS)
        for similarity in ("z-score/rbf", "distance", "linear", "features")
    },
    **{
        f"splines of {kernel}": (wm.ThinPlateRegressor(kernel, standardize=True), X, TARGETS)
        for kernel in ("auto", "thin_plate", "cubic", "rbf:gamma=0.3", "log:gamma=0.5")
    },
    "outliers": (wm.BasisExpansionOneClass("rbf", quantile=0.2), X, None),
    **{
        f"outliers by {similarity}": (wm.BasisExpansionOneClass(similarity, n_basis=30, quantile=0.1), X, None)
        for similarity in ("z-score/laplacian:gamma=0.2", "cosine")
    },
    "outliers by two similarities": (wm.BasisExpansionOneClass(["rbf:gamma=0.3", "linear"], n_basis=30), X, None),
    "outliers among strings": (wm.BasisExpansionOneClass("edit", quantile=0.2), WORDS, None),
    "outliers by a function": (wm.BasisExpansionOneClass([shared_letters, "edit"], quantile=0.1), WORDS, None),
    **{f"named {name}": (clone(one).set_params(C=0.1), X, NAMED_LABELS) for name, (one, X, _) in MULTILABEL.items()},
    **{f"two {name}": (one, X, LABELS[:, :2]) for name, (one, X, _) in MULTILABEL.items()},
}
METHODS = ("decision_function", "predict", "predict_proba")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_copies_and_threads_and_the_order_change_nothing(name):
    estimator, samples, y, tolerance = WEIGHTED[name]
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, len(samples))
    rows = rng.permutation(np.repeat(np.arange(len(samples)), weights))
    weighted = clone(estimator).set_params(n_jobs=1).fit(samples, y, sample_weight=weights.astype(float))
    copied = clone(estimator).set_params(n_jobs=2).fit(samples[rows], y[rows])
    for method in METHODS:
        if hasattr(estimator, method):
            one, other = (getattr(model, method)(samples) for model in (weighted, copied))
            np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(one).max())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", STORED)
def test_a_file_and_pickles_have_all_of_a_model(name, tmp_path):
    estimator, samples, y = STORED[name]
    fitted = clone(estimator).fit(samples, y)
    if not isinstance(samples, np.ndarray) or samples is IMAGES:
        bases = [{*np.flatnonzero(one)} if isinstance(samples[0], set) else one for one in fitted.basis_]
        np.testing.assert_equal(bases, [samples[row] for row in fitted.basis_indices_])
    wm.save(fitted, tmp_path / "a.model")
    assert [path.name for path in tmp_path.iterdir()] == ["a.model"]
    joblib.dump(fitted, dumped := io.BytesIO())
    loaded = wm.load(tmp_path / "a.model", trusted=True)
    for same in (loaded, pickle.loads(pickle.dumps(fitted)), joblib.load(dumped)):
        assert type(same) is type(fitted)
        for method in METHODS:
            if hasattr(fitted, method):
                np.testing.assert_array_equal(getattr(same, method)(samples), getattr(fitted, method)(samples))
        attributes = [name for name in dir(fitted) if name[0] != "_" and name.endswith("_")]
        for attribute in attributes:
            if attribute not in ("report_", "cv_results_"):
                np.testing.assert_equal(getattr(same, attribute), getattr(fitted, attribute), err_msg=attribute)
        for column in ("C", "score"):
            np.testing.assert_equal(path(same)[column], path(fitted)[column])
        assert same.report_["objective"] == fitted.report_["objective"]
    for parameter, value in estimator.get_params(deep=False).items():
        # What "auto" became is stored.
        if parameter not in ("similarity", "random_state") and value not in ("auto", None):
            expected = fitted._n_basis if parameter == "n_basis" else value
            assert loaded.get_params()[parameter] == expected, parameter
    # A selected C brings a start, from which a solver ends elsewhere within the gap; the epsilon of several outputs is
    # estimated anew.
    if name not in ("automatic", "l1") and not name.startswith(("regressions by", "two labels")):
        again = clone(loaded).fit(samples, y)
        expected, found = (getattr(model, METHODS[is_regressor(fitted)])(samples) for model in (fitted, again))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in STORED if STORED[name][1] is X and "function" not in name])
def test_onnx_has_the_same_outputs(name):
    estimator, samples, y = STORED[name]
    fitted = clone(estimator).fit(samples, y)
    outputs = onnx_outputs(fitted, samples)
    # The graph of a thin plate spline is in double precision.
    is_double = wm.to_onnx(fitted).graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    given, tolerance = samples if is_double else samples.astype(np.float32), 1e-8 if is_double else 1e-5
    methods = {"targets": "predict", "scores": "decision_function", "probabilities": "predict_proba"}
    for output in methods.keys() & outputs.keys():
        expected = getattr(fitted, methods[output])(given)
        atol = tolerance * np.abs(expected).max()
        np.testing.assert_allclose(outputs[output].reshape(expected.shape), expected, rtol=0, atol=atol)
    if "label" in outputs:
        np.testing.assert_array_equal(outputs["label"], fitted.predict(given))
