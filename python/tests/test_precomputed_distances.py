"""Matrices of distances, and similarities that come with polynomials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_moons

from widemargin import BasisExpansionSVC, ThinPlateSVC, load, save, to_onnx

X, y = make_moons(160, noise=0.2, random_state=0)
A, B, a, b = X[:100], X[100:], y[:100], y[100:]


@pytest.mark.parametrize(
    ("spec", "make"),
    [("negative", lambda d: -d), ("squared", lambda d: -(d**2)), ("exp,gamma=0.7", lambda d: np.exp(-0.7 * d))],
)
@pytest.mark.parametrize("normalization", ["mean_norm", "centered"])
def test_distances_are_the_similarities_that_they_name(spec, make, normalization):
    within, across = cdist(A, A), cdist(B, A)
    options = {"normalization": normalization, "negative_eigenvalues": "flip", "n_basis": 40, "C": 2.0}
    distances = BasisExpansionSVC(f"precomputed:distance={spec}", **options).fit(within, a)
    similarities = BasisExpansionSVC("precomputed", **options).fit(make(within), a)
    expected = similarities.decision_function(make(across))
    np.testing.assert_allclose(distances.decision_function(across), expected, atol=1e-3)
    assert (distances.basis_indices_ == similarities.basis_indices_).all()


def test_gamma_is_learned_and_stored(tmp_path):
    model = BasisExpansionSVC("precomputed:distance=exp", n_basis=100).fit(cdist(A, A), a)
    gamma = float(model.similarity_.partition("gamma=")[2])
    assert gamma == pytest.approx(1 / cdist(A, A).mean(), rel=1e-5)
    save(model, tmp_path / "model.wm")
    again = load(tmp_path / "model.wm").decision_function(cdist(B, A)[:, model.basis_indices_])
    assert (again == model.decision_function(cdist(B, A))).all()


def test_medoids_are_central():
    distances = cdist(A, A)
    model = BasisExpansionSVC("precomputed:distance=negative", basis="kmedoids", n_basis=10).fit(distances, a)
    nearest = distances[:, model.basis_indices_].min(axis=1).sum()
    rng = np.random.default_rng(0)
    random = [distances[:, rng.choice(len(A), 10, replace=False)].min(axis=1).sum() for _ in range(20)]
    assert nearest < 0.8 * np.mean(random)


def cubic(samples, bases):
    """r³, definite against the linear functions."""
    samples, bases = np.asarray(samples), np.asarray(bases)
    return np.hstack([cdist(samples, bases) ** 3, samples])


cubic.n_polynomials = 2


def test_polynomials_of_a_matrix_and_of_a_callable_are_those_of_the_kernel():
    options = {"normalization": "centered", "n_basis": 100, "C": 50.0, "tol": 1e-7}
    by_matrix = BasisExpansionSVC("precomputed:polynomials=2", **options).fit(cubic(A, A), a)
    by_call = BasisExpansionSVC(cubic, **options).fit(A, a)
    expected = by_matrix.decision_function(cubic(B, A))
    np.testing.assert_allclose(by_call.decision_function(B), expected, atol=2e-2)
    # The thin plate SVM on r³ with penalized linear functions is the same but for how much these are penalized.
    exact = ThinPlateSVC(kernel="cubic", polynomials="penalized", standardize=False).fit(A, a)
    chosen = BasisExpansionSVC("precomputed:polynomials=2", **(options | {"C": "auto"})).fit(cubic(A, A), a)
    found, truth = chosen.score(cubic(B, A), b), exact.score(B, b)
    assert found >= truth - 0.03


def test_features_off_the_polynomials_are_the_projected_kernel():
    from widemargin import BasisExpansion

    expansion = BasisExpansion(cubic, normalization="centered", n_basis=100).fit(A)
    features = expansion.transform(A).astype(float)
    polynomials = np.c_[np.ones(len(A)), A]
    q, _ = np.linalg.qr(polynomials)
    off = np.eye(len(A)) - q @ q.T
    # Without the two polynomials, and off them all, the Gram matrix is the kernel's.
    kernel = features[:, :-2] @ features[:, :-2].T
    truth = off @ cdist(A, A) ** 3 @ off
    assert np.abs(off @ kernel @ off - truth).max() < 1e-3 * np.abs(truth).max()
    variance = np.trace(truth) / len(A)
    np.testing.assert_allclose(features[:, -2:].var(axis=0), variance, rtol=0.01)


def test_bad_input_is_named():
    distances = cdist(A, A)
    with pytest.raises(ValueError, match=r"has -1 in column \d+, which is no distance"):
        BasisExpansionSVC("precomputed:distance=negative").fit(distances - np.eye(100), a)
    skewed = distances + np.triu(np.ones((100, 100)), 1)
    with pytest.warns(UserWarning, match=r"is not symmetric.*symmetric part"):
        BasisExpansionSVC("precomputed:distance=negative", normalization="centered").fit(skewed, a)
    with pytest.raises(ValueError, match="centered: polynomials belong"):
        BasisExpansionSVC(cubic).fit(A, a)
    twice = np.c_[distances, A, A[:, 0]]
    with pytest.raises(ValueError, match="polynomial 2 is a combination"):
        BasisExpansionSVC("precomputed:distance=negative,polynomials=3", normalization="centered").fit(twice, a)
    with pytest.raises(ValueError, match="cannot be combined"):
        BasisExpansionSVC(["rbf", cubic], normalization="centered").fit(A, a)
    with pytest.raises(ValueError, match=r"expected .*then 2 polynomials"):
        BasisExpansionSVC(wrong, normalization="centered").fit(A, a)
    with pytest.raises(ValueError, match="matrix of distances"):
        to_onnx(BasisExpansionSVC("precomputed:distance=negative").fit(distances, a))
    # A kernel that is far from definite against these polynomials says by how much.
    X3, y3 = load_iris(return_X_y=True)
    far = BasisExpansionSVC("precomputed:distance=squared,polynomials=1", normalization="centered", n_basis=150).fit(
        np.c_[cdist(X3, X3) ** 3, X3[:, 0]], y3
    )
    assert any("far from conditionally" in text for text in far.report_["warnings"])


def wrong(samples, bases):
    return cdist(samples, bases)


wrong.n_polynomials = 2


def test_smooth_losses_on_a_distance():
    from sklearn.linear_model import LogisticRegression

    options = {"normalization": "centered", "n_basis": 100}
    model = BasisExpansionSVC("distance", loss="logistic", C=3.0, tol=1e-6, **options).fit(A, a)
    # The same problem on the eigenvectors of the centered kernel.
    center = np.eye(100) - 1 / 100
    values, vectors = np.linalg.eigh(center @ -cdist(A, A) @ center)
    kept = values > 1e-6 * values.max()
    features = vectors[:, kept] * np.sqrt(values[kept])
    peer = LogisticRegression(C=3.0, tol=1e-8, max_iter=10_000).fit(features, a)
    np.testing.assert_allclose(model.decision_function(A), peer.decision_function(features), atol=5e-3)
