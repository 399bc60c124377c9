"""Exported models say what the estimators say."""

import itertools
import subprocess
import sys

import numpy as np
import onnx
import pytest
from compared import onnx_outputs
from onnx.reference import ReferenceEvaluator
from scipy import sparse

import widemargin as wm
from widemargin import _onnx
from widemargin._spec_texts import SIMILARITIES

# Warnings about few bases, and about polynomials that separate the data alone.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

EXPORTED = [spec for row in SIMILARITIES.values() if row["onnx"] for spec in row["examples"]]
RADIAL = [spec for spec in EXPORTED if "radial" in SIMILARITIES[spec.partition(":")[0]]["onnx"]]
WITH_SCALE = [
    *("rbf:gamma=0.5", "laplacian:gamma=0.5", "cityblock", "log:gamma=0.5", "log:gamma=0.5,exponent=1"),
    *("multiquadric:gamma=0.5", "inverse_multiquadric:gamma=0.5"),
]
DECLINED = [row for row in SIMILARITIES.values() if row["declined"]]
EDGES = ["power-mean:p=-1e-9", "power-mean:p=-1e6", "power-mean:p=-1", "power-mean:p=0"]
N_FEATURES = 8


@pytest.fixture(scope="module")
def histograms():
    """Training samples, three classes and test samples, with zeros, equal samples and an empty one."""
    rng = np.random.default_rng(0)
    X = rng.random((180, N_FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = 0.0
    X_test = X[120:].copy()
    X_test[:5], X_test[5], X_test[6] = X[:5], 0.0, 4 * X_test[6]
    y = (X @ rng.standard_normal((N_FEATURES, 3)) + 0.1 * rng.standard_normal((180, 3))).argmax(axis=1)
    return X[:120], y[:120], X_test


def run(model, X):
    """The outputs by name, computed by the operators' definitions."""
    onnx.checker.check_model(model, full_check=True)
    kind = model.graph.input[0].type.tensor_type.elem_type
    made = ReferenceEvaluator(model).run(None, {"X": np.asarray(X, dtype=onnx.helper.tensor_dtype_to_np_dtype(kind))})
    return dict(zip([output.name for output in model.graph.output], made, strict=True))


def agree(fitted, X, X_given=None, tolerance=1e-5, **options):
    """The exported model's scores and labels are the estimator's."""
    scores = fitted.decision_function(X if X_given is None else X_given)
    made = run(wm.to_onnx(fitted, **options), X)
    assert made["scores"].shape == scores.shape
    np.testing.assert_allclose(made["scores"], scores, rtol=0, atol=tolerance * np.abs(scores).max())
    np.testing.assert_array_equal(made["label"], fitted.predict(X if X_given is None else X_given))
    probabilities = fitted.predict_proba(X if X_given is None else X_given)
    assert made["probabilities"].shape == probabilities.shape
    np.testing.assert_allclose(made["probabilities"], probabilities, rtol=0, atol=10 * tolerance)


NORMALIZATIONS = ["mean_norm", "z_score", "covariance", "none", "nystroem", "nystroem square"]


@pytest.mark.parametrize(
    ("similarity", "normalization"),
    [
        (similarity, normalization)
        for similarity in EXPORTED + EDGES
        for normalization in NORMALIZATIONS
        # A Nyström map takes the similarities between the bases, which these two do not have.
        if similarity not in ("precomputed", "features") or "nystroem" not in normalization
    ],
)
def test_every_similarity_in_a_basis_expansion(similarity, normalization, histograms):
    X, y, X_test = histograms
    # Whitening magnifies the rounding of single precision.
    tolerance = 1e-4 if normalization == "covariance" else 1e-5
    name, _, treatment = normalization.partition(" ")
    parameters = {"normalization": name, "negative_eigenvalues": treatment or "clip"}
    agree(wm.BasisExpansionSVC(similarity, n_basis=30, **parameters).fit(X, y), X_test, tolerance=tolerance)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "similarity",
    [
        "mean-norm/rbf",
        "z-score/laplacian",
        ["rbf", "chi2"],
        ["z-score/linear", "mean-norm/z-score/rbf", "z-score/cosine", "jensen-shannon", "mean-norm/distance"],
    ],
)
def test_scalings_similarities_side_by_side_and_sparse_samples(similarity, form, histograms):
    X, y, X_test = histograms
    for normalization in ("mean_norm", "nystroem"):
        parameters = {"normalization": normalization, "negative_eigenvalues": "flip"}
        fitted = wm.BasisExpansionSVC(similarity, n_basis=30, **parameters).fit(form(X), y)
        agree(fitted, X_test)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_losses_and_intercepts(loss, fit_intercept, histograms):
    X, y, X_test = histograms
    agree(wm.BasisExpansionSVC(loss=loss, fit_intercept=fit_intercept, n_basis=30).fit(X, y), X_test)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("approximation", ["nystroem", "polynomial"])
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "chi2"},
        {"kernel": "hellinger"},
        {"kernel": "intersection"},
        {"kernel": "jensen_shannon"},
        {"kernel": -8.0},
        {"kernel": -0.5},
        {"kernel": -1e-9},
        {"kernel": 0.0},
        {"kernel": -np.inf},
    ],
    ids=str,
)
def test_every_kernel_of_the_power_mean(kernel, approximation, scaled, histograms):
    X, y, X_test = histograms
    for n_nodes in (1, 3, 16) if approximation == "nystroem" else (2, 3, 4, 16):
        estimator = wm.PowerMeanSVC(**kernel, approximation=approximation, scale=scaled, nodes=n_nodes, C=1.0)
        # One sample is beyond the range of the training samples, where a polynomial of a high degree has no digits.
        tried = np.minimum(X_test, X.max(axis=0)) if approximation == "polynomial" and n_nodes > 4 else X_test
        agree(estimator.fit(X, y), tried)


@pytest.mark.parametrize("n_basis", [None, 20])
@pytest.mark.parametrize("polynomials", ["auto", "free", "constant", "none"])
@pytest.mark.parametrize("kernel", [*RADIAL, *WITH_SCALE])
def test_every_kernel_of_the_thin_plate(kernel, polynomials, n_basis, histograms):
    X, y, X_test = histograms
    # Few features: polynomials of degree 2 are then fewer than the samples.
    svc = wm.ThinPlateSVC(kernel, polynomials=polynomials, n_basis=n_basis, C=100.0, standardize=False)
    agree(svc.fit(X[:, :4], y), X_test[:, :4].astype(np.float64))


def test_thin_plates_far_from_the_origin_and_with_samples_that_nearly_coincide():
    rng = np.random.default_rng(1)
    X = rng.random((100, 2)) + 1e4
    X = np.concatenate([X, X + 1e-6 * rng.standard_normal(X.shape)])
    y = rng.integers(0, 2, 200)
    for kernel in ("thin_plate", "distance", "cubic"):
        agree(wm.ThinPlateSVC(kernel, C=1e5, standardize=False).fit(X, y), X)


def placed(place, scale, offset, d):
    """Samples of a scale in single precision, in one cluster or two, in all columns or in one."""
    X = scale * np.random.default_rng(0).uniform(-1, 1, (30, d))
    sides = np.where(np.arange(30) % 2 == 0, 1, -1)[:, None] if place != "one cluster" else 1
    columns = np.arange(d) == 1 if place == "one column" else np.ones(d)
    X += offset * sides * columns
    X[25:] = X[:5]
    return X.astype(np.float32)


@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize(
    ("place", "offset"),
    [("one cluster", 0.0), *itertools.product(["one cluster", "two clusters", "one column"], [1e3, 1e6])],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_distances_keep_their_digits(offset, scale, place, d):
    X = placed(place, scale, offset, d)
    y = np.arange(30) % 3
    difference = X[:, None].astype(np.float64) - X
    squared, absolute = np.square(difference).sum(axis=2), np.abs(difference).sum(axis=2)
    g, a = float(np.float32(1 / (scale**2 * d))), float(np.float32(1 / (scale * d)))
    r = np.sqrt(squared)
    with np.errstate(divide="ignore"):
        log_r = np.where(r > 0, np.log(r), 0)
    expected = {
        f"rbf:gamma={g}": np.exp(-g * squared),
        f"laplacian:gamma={a}": np.exp(-a * absolute),
        "cubic": r**3,
        "distance": -r,
        "thin-plate": squared * log_r,
        "cityblock": -absolute,
        f"log:gamma={g}": -np.log1p(g * squared),
        f"multiquadric:gamma={g}": -np.sqrt(1 + g * squared),
        f"inverse-multiquadric:gamma={g}": 1 / np.sqrt(1 + g * squared),
    }
    for spec, right in expected.items():
        fitted = wm.BasisExpansion(spec, n_basis=30, normalization="none").fit(X, y)
        bases = fitted.basis_indices_
        model = wm.to_onnx(fitted)
        for made in (run(model, X)["features"], onnx_outputs(model, X)["features"], fitted.transform(X)):
            error = 5e-6 * np.abs(right[:, bases])
            if spec.startswith(("rbf", "laplacian")):
                # The exponent is right to single precision.
                error *= 1 - np.log(np.maximum(right[:, bases], 1e-38))
            elif spec == "thin-plate":
                error += 1e-12 * squared[:, bases]
            assert (np.abs(made - right[:, bases]) <= error + 1e-37).all(), spec


@pytest.mark.parametrize("kernel", ["thin_plate", "cubic", "rbf:gamma=0.5"])
def test_thin_plates_of_two_clusters_far_apart(kernel):
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    y = (X[:, 1] > 0).astype(int)
    X[:, 0] += np.where(np.arange(60) % 2 == 0, 1e7, -1e7)
    fitted = wm.ThinPlateSVC(kernel, C=10.0, standardize=False).fit(X, y)
    agree(fitted, X)
    made, scores = onnx_outputs(fitted, X)["scores"], fitted.decision_function(X)
    np.testing.assert_allclose(made, scores, rtol=0, atol=1e-5 * np.abs(scores).max())


@pytest.mark.parametrize(
    "estimator",
    [
        wm.PowerMeanSVC(C=1.0),
        wm.ThinPlateSVC(n_basis=20, kernel="distance", standardize=False),
        wm.BasisExpansionSVC(n_basis=20),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_classes_of_every_kind_and_number(estimator, histograms):
    X, y, X_test = histograms
    names = np.array(["zebra", "ä b", "Ωmega"])
    for classes in (y == 1, y > 0, np.array([7, -3, 2**40])[y], names[y], names[(y > 0).astype(int)], 2.0 * y):
        fitted = estimator.fit(X, classes)
        agree(fitted, X_test)
        kind = run(wm.to_onnx(fitted), X_test)["label"].dtype
        assert (kind == np.int64) == (fitted.classes_.dtype.kind != "U")
    # One sample, and none.
    for rows in (X_test[:1], X_test[:0]):
        assert run(wm.to_onnx(fitted), rows)["scores"].shape == (len(rows), 3)


@pytest.mark.parametrize("opset", [13, 15, 18, 21, onnx.defs.onnx_opset_version()])
def test_every_opset(opset, histograms):
    X, y, X_test = histograms
    similarities = ["chi2", "hellinger", "cosine", "jensen-shannon", "power-mean:p=-2", "z-score/rbf", "thin-plate"]
    for estimator in (
        wm.BasisExpansionSVC(similarities, n_basis=20),
        wm.PowerMeanSVC(kernel="jensen_shannon"),
        wm.ThinPlateSVC("thin-plate:order=3", standardize=False),
    ):
        fitted = estimator.fit(X, np.array(["a", "b", "c"])[y])
        agree(fitted, X_test, opset=opset)
        assert wm.to_onnx(fitted, opset=opset).opset_import[0].version == opset
    for wrong in (12, 1000):
        with pytest.raises(ValueError, match=f"opset = {wrong}.*13 to"):
            wm.to_onnx(fitted, opset=wrong)


def test_precomputed_similarities_square_and_to_the_bases(histograms, tmp_path):
    X, y, X_test = histograms
    fitted = wm.BasisExpansionSVC("precomputed", n_basis=30).fit(X @ X.T, y)
    agree(fitted, X_test @ X.T)
    agree(wm.BasisExpansionSVC("precomputed").fit(X @ X[:40].T, y), X_test @ X[:40].T)
    wm.save(fitted, tmp_path / "model")
    agree(wm.load(tmp_path / "model"), X_test @ X.T)
    # What is fitted anew on something else knows nothing of the columns.
    agree(fitted.set_params(similarity="rbf").fit(X, y), X_test)


@pytest.mark.parametrize("similarity", ["tanimoto", "cosine"])
def test_sets_are_rows_of_0_and_1(similarity, histograms):
    X, y, X_test = histograms
    fitted = wm.BasisExpansionSVC(similarity, n_basis=30).fit(X > 0.3, y)
    agree(fitted, (X_test > 0.3).astype(np.float32), X_test > 0.3)


def test_counts(histograms):
    X, y, X_test = histograms
    for similarity in ("tanimoto", "cosine", "intersection"):
        agree(wm.BasisExpansionSVC(similarity, n_basis=30).fit(np.floor(9 * X), y), np.floor(9 * X_test))


def test_features_of_the_transformer(histograms):
    X, y, X_test = histograms
    for normalization in ("mean_norm", "nystroem"):
        fitted = wm.BasisExpansion(["rbf", "chi2", "z-score/cosine"], n_basis=30, normalization=normalization).fit(X, y)
        features = fitted.transform(X_test)
        made = run(wm.to_onnx(fitted), X_test)["features"]
        np.testing.assert_allclose(made, features, rtol=0, atol=1e-5 * np.abs(features).max())
        assert made.dtype == np.float32


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        wm.PowerMeanSVC(),
        wm.PowerMeanSVC(kernel="jensen_shannon", approximation="polynomial"),
        wm.PowerMeanSVC(kernel="intersection", scale=False),
        *[wm.BasisExpansionSVC(name, n_basis=20) for name in ("chi2", "hellinger", "intersection", "jensen-shannon")],
    ],
    ids=str,
)
def test_what_is_no_histogram_has_no_score(estimator, histograms):
    X, y, X_test = histograms
    rows = X_test[:4].copy()
    rows[1, 2], rows[2, 0], rows[3, 1] = -0.01, np.nan, np.inf
    made = run(wm.to_onnx(estimator.fit(X, y)), rows)["scores"]
    assert np.isfinite(made[0]).all()
    assert np.isnan(made[1:]).all()


def test_the_model_says_what_it_is(histograms):
    X, y, _ = histograms
    model = wm.to_onnx(wm.BasisExpansionSVC(["rbf:gamma=2", "chi2"], n_basis=20, C=3.0).fit(X, y))
    assert (model.producer_name, model.producer_version) == ("widemargin", wm.__version__)
    assert "similarity: rbf:gamma=2 | chi2" in model.doc_string
    known = {one.key: one.value for one in model.metadata_props}
    assert known["widemargin.estimator"] == "BasisExpansionSVC"
    assert known["widemargin.C"] == "3.0"
    assert [one.name for one in model.graph.output] == ["label", "scores", "probabilities"]
    shape = model.graph.input[0].type.tensor_type.shape.dim
    assert (shape[0].dim_param, shape[1].dim_value) == ("N", N_FEATURES)
    assert model.opset_import[0].version == 17


def _product(samples, bases):
    return np.asarray(samples) @ np.asarray(bases).T


SERIES = [np.sin(np.arange(20) * (1 + k % 3)) for k in range(12)]
STRINGS = ["abc", "abd", "xyz", "xyy", "abba", "xxyz"] * 2
IMAGES = np.random.default_rng(0).integers(0, 256, (12, 16, 16), dtype=np.uint8)
GRIDS = np.random.default_rng(0).random((12, 2, 2, 3), dtype=np.float32)


@pytest.mark.parametrize(
    ("similarity", "samples", "words"),
    [
        ("hog:cell=8/rbf:gamma=1", IMAGES, "'hog:cell=8/rbf:gamma=1' cannot be exported: 'hog:cell=8' is not"),
        ("mean-norm/rigid:radius=1", GRIDS, "'rigid:radius=1' is not an expression on vectors"),
        ("mean-norm/rbf:gamma=1", GRIDS, "a similarity of grids is not an expression on vectors"),
        ("dtw:window=0.1", SERIES, "'dtw:window=0.1' is not an expression on vectors"),
        ("znorm/dtw", SERIES, "'znorm' is not an expression on vectors"),
        ("edit", STRINGS, "'edit' is not an expression on vectors"),
        ("ngram-counts:n=2/rbf", STRINGS, "'ngram-counts:n=2' is not an expression on vectors"),
        ("ngrams/tanimoto", STRINGS, "'ngrams' is not an expression on vectors"),
        (_product, GRIDS.reshape(12, -1), "a Python callable is not an expression on vectors"),
        (["rbf", _product], GRIDS.reshape(12, -1), "a Python callable is not an expression on vectors"),
    ],
)
def test_what_has_no_operators_is_named(similarity, samples, words):
    fitted = wm.BasisExpansionSVC(similarity).fit(samples, np.arange(12) % 2)
    with pytest.raises(ValueError, match=r".*use widemargin\.save") as raised:
        wm.to_onnx(fitted)
    assert words in str(raised.value)


def test_every_similarity_is_exported_or_declined():
    assert all((row["onnx"] is None) != (row["declined"] is None) for row in SIMILARITIES.values())
    samples = {"time series": SERIES, "strings": STRINGS, "grids of cells": GRIDS, "vectors": GRIDS.reshape(12, -1)}
    for row in DECLINED:
        fitted = wm.BasisExpansionSVC(row["examples"][0]).fit(samples[row["samples"][0]], np.arange(12) % 2)
        with pytest.raises(ValueError, match=f"cannot be exported: .*{row['declined']}; use widemargin"):
            wm.to_onnx(fitted)


def test_other_estimators_unfitted_ones_and_models_too_large(histograms, monkeypatch):
    from sklearn.exceptions import NotFittedError

    from widemargin import _onnx_expression

    X, y, _ = histograms
    with pytest.raises(TypeError, match=r"to_onnx needs one of PowerMeanSVC.*not HOG"):
        wm.to_onnx(wm.similarity.HOG())
    with pytest.raises(NotFittedError):
        wm.to_onnx(wm.PowerMeanSVC())
    monkeypatch.setattr(_onnx_expression, "_MAX_BYTES", 100)
    for form in (np.asarray, sparse.csr_array):
        fitted = wm.BasisExpansionSVC(n_basis=20).fit(form(X), y)
        with pytest.raises(ValueError, match="the limit of ONNX is 2 GB: train with fewer bases"):
            wm.to_onnx(fitted)


def test_without_onnx_the_extra_is_named(histograms, monkeypatch):
    X, y, _ = histograms
    fitted = wm.PowerMeanSVC().fit(X, y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install widemargin\[onnx\]"):
        _onnx.to_onnx(fitted)
    code = "import sys, widemargin; widemargin.to_onnx; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
