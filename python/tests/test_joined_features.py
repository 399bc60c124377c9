"""A descriptor's features together with similarities, sparse and dense."""

import numpy as np
import pytest

import widemargin as wm
from widemargin.similarity import Edit, Features, Linear, Tfidf, pairwise

NAMES = ["anna", "hanna", "johanna", "ivo", "ivan", "iva", "joan", "ioan", "anne", "ivanka", "rosso", "bianco"] * 3
LABELS = np.array([0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 2, 2] * 3)
JOINED = [Tfidf("1-2") >> Features(), Edit()]


@pytest.mark.parametrize("normalization", ["none", "mean_norm", "nystroem"])
def test_each_part_is_normalized_by_itself(normalization):
    expand = {"n_basis": 8, "normalization": normalization}
    both = wm.BasisExpansion(JOINED, **expand).fit(NAMES)
    edits = wm.BasisExpansion(Edit(), **expand).fit(NAMES)
    found, compared = both.transform(NAMES), edits.transform(NAMES)
    n_terms = found.shape[1] - compared.shape[1]
    # Columns are in the order of hashes: products do not depend on it. The norm of each row is 1.
    products = pairwise(Tfidf("1-2") >> Linear(), NAMES)
    np.testing.assert_allclose(found[:, :n_terms] @ found[:, :n_terms].T, products, atol=1e-5)
    np.testing.assert_allclose(found[:, n_terms:] @ found[:, n_terms:].T, compared @ compared.T, atol=1e-4)


@pytest.mark.parametrize("normalization", ["none", "mean_norm", "nystroem", "z_score", "centered", "auto"])
def test_a_model_is_a_linear_machine_on_both(normalization):
    parameters = {"n_basis": 8, "normalization": normalization, "negative_eigenvalues": "flip"}
    svc = wm.BasisExpansionSVC(JOINED, **parameters, C=10.0).fit(NAMES, LABELS)
    assert svc.score(NAMES, LABELS) == 1.0
    new = ["marianne", "", "xyz", "iv", "rosa"]
    scores = svc.decision_function(new)
    if normalization != "auto":
        expansion = wm.BasisExpansion(JOINED, **parameters).fit(NAMES, LABELS)
        by_hand = expansion.transform(new) @ svc.coef_.T + svc.intercept_
        np.testing.assert_allclose(by_hand, scores, atol=1e-3)


def test_weights_scale_the_features():
    def features(weight):
        parts = [f"tfidf:n=1/features:weight={weight}", "edit"]
        return wm.BasisExpansion(parts, n_basis=5, normalization="mean_norm").fit(NAMES).transform(NAMES)

    one, three = features(1), features(3)
    n_terms = one.shape[1] - 5
    np.testing.assert_allclose(three[:, :n_terms], 3 * one[:, :n_terms], rtol=1e-5)
    np.testing.assert_array_equal(three[:, n_terms:], one[:, n_terms:])
