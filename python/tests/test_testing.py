"""What `check_similarity` finds, each fault planted on purpose."""

import re
import warnings

import numpy as np
import pytest

from widemargin.similarity import RBF, Similarity, pairs
from widemargin.testing import SimilarityError, SimilarityReport, check_similarity

X = np.random.default_rng(0).normal(size=(50, 3))
WORDS = ["ab", "abc", "b", "cab", "dab", "xyz", "yz", "z", "aabb", "bbcc"]


def gaussian(A, B):
    return np.exp(-((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2))


def shared_letters(A, B):
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


def negative_distance(A, B):
    return -np.sqrt(((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2))


def one_sided(A, B):
    return np.array([[len(set(a) - set(b)) for b in B] for a in A], dtype=float)


@pairs
def prefix(a, b):
    return float(a[:1] == b[:1])


def problems(similarity, samples, **settings):
    with pytest.raises(SimilarityError) as caught:
        check_similarity(similarity, samples, **settings)
    assert isinstance(caught.value, AssertionError)
    for problem in caught.value.problems:
        assert problem in str(caught.value)
    return caught.value.problems


@pytest.mark.parametrize(
    ("similarity", "samples"), [(gaussian, X), (gaussian, X.tolist()), (shared_letters, WORDS), (prefix, tuple(WORDS))]
)
def test_sound_ones_pass_without_a_warning(similarity, samples):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = check_similarity(similarity, samples)
    assert isinstance(report, SimilarityReport)
    assert report.n_samples == min(20, len(samples))
    assert (report.asymmetry, report.asymmetric_pair, report.n_negative) == (0.0, None, 0)
    assert report.not_checked == []
    assert "no problem found" in str(report)
    assert "symmetric     yes" in str(report)


def test_frames_pass():
    import pandas
    import polars

    for frame in (pandas.DataFrame(X, index=range(100, 150)), polars.DataFrame(X)):
        assert check_similarity(lambdaless_linear, frame).n_samples == 20


def lambdaless_linear(A, B):
    return A.to_numpy() @ B.to_numpy().T


def rounded_linear(A, B):
    return (A.astype(np.float64) @ B.T.astype(np.float64)).astype(np.float32)


def test_rounding_is_not_negative():
    report = check_similarity(rounded_linear, np.random.default_rng(0).normal(100, 1, (40, 3)), n=40)
    assert report.least_eigenvalue < 0
    assert report.n_negative == 0


def test_negative_eigenvalues_are_reported():
    report = check_similarity(negative_distance, X, n=10)
    assert report.n_negative == 1
    assert report.value_range[1] == 0
    assert "1 of 10 eigenvalues are negative" in str(report)
    S = negative_distance(X, X)
    assert report.value_range[0] >= S.min()


def test_asymmetry_is_a_warning():
    with pytest.warns(UserWarning, match="similarity 'one_sided' is not symmetric: samples .* differ by"):
        report = check_similarity(one_sided, WORDS)
    S = one_sided(WORDS, WORDS)
    assert report.asymmetry == np.abs(S - S.T).max()
    i, j = report.asymmetric_pair
    assert abs(S[i, j] - S[j, i]) == report.asymmetry
    assert f"samples {i} and {j} differ by" in str(report)


def row_normalized(A, B):
    S = gaussian(A, B)
    return S / S.max(axis=1, keepdims=True)


def column_centered(A, B):
    S = gaussian(A, B)
    return S - S.mean(axis=0)


def by_place(A, B):
    return np.add.outer(np.arange(len(A)), np.arange(len(B))).astype(float)


def random_values(A, B):
    return np.random.default_rng().random((len(A), len(B)))


def transposed(A, B):
    return gaussian(B, A)


def flat(A, B):
    return gaussian(A, B).ravel()


def with_a_hole(A, B):
    S = gaussian(A, B)
    S[3, 5] = np.nan
    S[4, 4] = np.inf
    return S


def too_large(A, B):
    return 1e40 * gaussian(A, B)


def failing(A, B):
    raise RuntimeError("no such pair")


def failing_alone(A, B):
    if len(A) == 1:
        raise RuntimeError("no such pair")
    return gaussian(A, B)


def of_texts(A, B):
    return np.full((len(A), len(B)), "a")


def greedy(A, B):
    block = gaussian(A, B)
    A[0] += 1
    return block


def sorting(A, B):
    for a in A:
        a.sort()
    return np.array([[len(set(a) & set(b)) for b in B] for a in A])


class Opaque:
    def __init__(self, number):
        self.number = number
        self.asked = 0


def opaque_product(A, B):
    for a in A:
        a.asked += 1
    return np.array([[a.number * b.number for b in B] for a in A], dtype=float)


def test_objects_that_cannot_be_compared_are_reported():
    report = check_similarity(opaque_product, [Opaque(number) for number in range(5)])
    assert "whether samples are modified" in report.not_checked[0]
    assert "not checked" in str(report)


class Forgetful:
    """Loses on the way what it multiplies by."""

    def __init__(self):
        self.factor = 2.0

    def __getstate__(self):
        return {"factor": 1.0}

    def __call__(self, A, B):
        return self.factor * gaussian(A, B)


TAKEN = np.sort(np.random.RandomState(0).choice(50, 20, replace=False))
LISTS = [list("ba"), list("ab"), list("ac")]


@pytest.mark.parametrize(
    ("similarity", "samples", "number", "words"),
    [
        (row_normalized, X, None, r"sample \d+ and basis \d+ .* in the block of all, and .* alone"),
        (row_normalized, X, None, r"sample .* basis .* (block of 6 samples|and 6 bases)"),
        (column_centered, X, None, r"sample \d+ and basis \d+ .* in the block of all, and .* alone"),
        (column_centered, X, None, r"sample .* basis .* (block of 6 samples|and 6 bases)"),
        (by_place, WORDS, None, "another order"),
        (random_values, WORDS, None, "in another call"),
        # A square block hides it.
        (transposed, X, None, r"has shape \(20, 6\), expected \(6, 20\): rows are samples"),
        (flat, X, 1, r"has shape \(400,\), expected \(20, 20\)"),
        (with_a_hole, X, 1, rf"sample {TAKEN[3]} and basis {TAKEN[5]} have the value nan.*1 other pairs"),
        (too_large, X, None, "not finite in single precision"),
        (failing, X, 1, r"raised RuntimeError: no such pair \(.*test_testing.py, line"),
        (failing_alone, X, 1, "^the pair of sample"),
        (of_texts, X, None, "real numbers"),
        (greedy, X, None, f"sample {TAKEN[0]} was modified by comparing it"),
        (sorting, LISTS, 1, "^sample 0 was modified by comparing it$"),
        (lambda A, B: gaussian(A, B), X, 1, "cannot be pickled.*at the top level of a module"),
        (Forgetful(), X, 1, "after the function was pickled"),
        (lambda A, B: by_place(A, B), WORDS, 4, "cannot be pickled"),
    ],
)
def test_faults_are_found(similarity, samples, number, words):
    found = problems(similarity, samples)
    assert any(re.search(words, problem) for problem in found), found
    assert number in (None, len(found)), found


@pytest.mark.parametrize(
    ("similarity", "samples", "settings", "error", "message"),
    [
        ("rbf", X, {}, TypeError, "checks one function"),
        (RBF(1), X, {}, TypeError, "checks one function"),
        (Similarity("linear"), X, {}, TypeError, "built-in similarities need no check"),
        ([gaussian, gaussian], X, {}, TypeError, "checks one function"),
        (gaussian, X[:1], {}, ValueError, "samples has 1: at least 2"),
        (gaussian, X, {"n": 1}, ValueError, "n is 1: it must be an integer of at least 2"),
        (gaussian, (x for x in X), {}, TypeError, "samples is a generator"),
        (gaussian, "ab", {}, TypeError, "samples is one string"),
    ],
)
def test_what_cannot_be_checked(similarity, samples, settings, error, message):
    with pytest.raises(error, match=message):
        check_similarity(similarity, samples, **settings)


def test_the_same_samples_are_selected_for_a_seed():
    one, other = (check_similarity(gaussian, X, n=5, random_state=seed) for seed in (1, 1))
    assert one == other
    assert check_similarity(gaussian, X, n=5, random_state=2).value_range != one.value_range
