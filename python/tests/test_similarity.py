"""Similarities: their values against plain NumPy and Python, their habits as objects, and messages about mistakes."""

import inspect
import itertools
import math
import pathlib
import pickle
import subprocess
import sys
import tomllib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.metrics import pairwise as truth
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import widemargin as wm
from widemargin import _core
from widemargin import similarity as similarities
from widemargin._compares import object_of
from widemargin._specs import DESCRIPTORS, SIMILARITIES
from widemargin.similarity import (
    DTW,
    HOG,
    RBF,
    Align,
    Chain,
    Chi2,
    Cosine,
    Cubic,
    Deformable,
    Distance,
    EarthMover,
    Edit,
    Features,
    Hellinger,
    Hydra,
    Intersection,
    JensenShannon,
    Jitter,
    Laplacian,
    Linear,
    Match,
    MeanNorm,
    MiniRocket,
    NGram,
    NGramCounts,
    NGrams,
    Pairs,
    Pixels,
    Polyharmonic,
    Polynomial,
    PowerMean,
    Precomputed,
    Rigid,
    Sigmoid,
    Similarity,
    Spline,
    Tanimoto,
    Tfidf,
    ThinPlate,
    ZNorm,
    ZScore,
    pairs,
    pairwise,
    resolve,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 4)), RNG.normal(size=(6, 4))
H, G = RNG.random((7, 5)) * (RNG.random((7, 5)) < 0.7), RNG.random((4, 5)) * (RNG.random((4, 5)) < 0.7)
WORDS = ["kitten", "sitting", "", "a", "ab", "ba", "saturday", "sunday", "éàü", "CCO", "CCCCO"]


def by_pair(f, samples, bases):
    return np.array([[f(a, b) for b in bases] for a in samples], dtype=float)


# Values: vectors


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        (Linear(), truth.linear_kernel(X, Y)),
        (RBF(0.3), truth.rbf_kernel(X, Y, gamma=0.3)),
        (Laplacian(0.3), truth.laplacian_kernel(X, Y, gamma=0.3)),
        (Polynomial(4, gamma=0.2, coef0=0.5), truth.polynomial_kernel(X, Y, degree=4, gamma=0.2, coef0=0.5)),
        (Polynomial(gamma=0.2), truth.polynomial_kernel(X, Y, degree=3, gamma=0.2, coef0=1)),
        (Sigmoid(gamma=0.2, coef0=-0.5), truth.sigmoid_kernel(X, Y, gamma=0.2, coef0=-0.5)),
        (Sigmoid(gamma=0.2), truth.sigmoid_kernel(X, Y, gamma=0.2, coef0=0)),
        (Cosine(), truth.cosine_similarity(X, Y)),
        (Distance(), -truth.euclidean_distances(X, Y)),
        (Cubic(), truth.euclidean_distances(X, Y) ** 3),
        (MeanNorm() >> Linear(), None),
        (ZScore() >> Linear(), None),
    ],
    ids=str,
)
def test_vectors(similarity, expected):
    if expected is None:  # what a descriptor learns, it learns from the bases
        centered = Y - Y.mean(axis=0)
        scale = np.linalg.norm(centered, axis=1).mean() if "mean" in similarity.spec else Y.std(axis=0)
        expected = ((X - Y.mean(axis=0)) / scale) @ (centered / scale).T
    block = pairwise(similarity, X, Y)
    assert (block.shape, block.dtype) == ((9, 6), np.float32)
    np.testing.assert_allclose(block, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(similarity(X, Y), block)
    for samples, bases in ((sparse.csr_array(X), sparse.csr_array(Y)), (X.tolist(), Y.astype(np.float32))):
        if "mean" not in similarity.spec and "z-" not in similarity.spec:
            np.testing.assert_allclose(pairwise(similarity, samples, bases), expected, rtol=1e-3, atol=1e-4)


def test_gamma_is_learned_from_the_bases():
    mean = Y.mean(axis=0)
    gamma = 1 / ((Y - mean) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose(pairwise("rbf", X, Y), truth.rbf_kernel(X, Y, gamma=gamma), rtol=1e-4)
    gamma = 1 / np.abs(Y - mean).sum(axis=1).mean()
    np.testing.assert_allclose(pairwise(Laplacian(), X, Y), truth.laplacian_kernel(X, Y, gamma=gamma), rtol=1e-4)
    np.testing.assert_array_equal(pairwise(RBF("scale"), X, Y), pairwise(RBF(), X, Y))


def both(f):
    """A sum over the features where both have something."""
    return lambda x, y: sum(f(a, b) for a, b in zip(x, y, strict=True) if a > 0 and b > 0)


@pytest.mark.parametrize(
    ("similarity", "pair"),
    [
        (Chi2(), both(lambda a, b: 2 * a * b / (a + b))),
        (Hellinger(), both(lambda a, b: math.sqrt(a * b))),
        (Intersection(), both(min)),
        (JensenShannon(), both(lambda a, b: a / 2 * math.log2((a + b) / a) + b / 2 * math.log2((a + b) / b))),
        (PowerMean(-2), both(lambda a, b: ((a**-2 + b**-2) / 2) ** (-1 / 2))),
        (PowerMean(-1), both(lambda a, b: 2 * a * b / (a + b))),
        (PowerMean(-np.inf), both(min)),
        (PowerMean(2), lambda x, y: np.sqrt((x**2 + y**2) / 2).sum()),
        (PowerMean(1), lambda x, y: (x + y).sum() / 2),
        (PowerMean(0.5), lambda x, y: (((np.sqrt(x) + np.sqrt(y)) / 2) ** 2).sum()),
        (PowerMean(np.inf), lambda x, y: np.maximum(x, y).sum()),
        (PowerMean(0), both(lambda a, b: math.sqrt(a * b))),
        (Tanimoto(), lambda x, y: x @ y / (x @ x + y @ y - x @ y)),
    ],
)
def test_histograms(similarity, pair):
    expected = by_pair(pair, H, G)
    np.testing.assert_allclose(pairwise(similarity, H, G), expected, rtol=1e-5)
    np.testing.assert_allclose(pairwise(similarity, sparse.csr_array(H), sparse.csr_array(G)), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("similarity", "of_distance"),
    [
        (ThinPlate(), lambda r: r**2 * math.log(r)),
        (ThinPlate(3), lambda r: -(r**4) * math.log(r)),
        (Polyharmonic(1.5), lambda r: -(r**1.5)),
        (Polyharmonic(3), lambda r: r**3),
        (Polyharmonic(5), lambda r: -(r**5)),
        (Spline(2, 2), lambda r: r**2 * math.log(r)),
        (Spline(2, 1), lambda r: r**3),
    ],
)
def test_conditionally_definite(similarity, of_distance):
    expected = np.vectorize(of_distance)(truth.euclidean_distances(X, Y))
    np.testing.assert_allclose(pairwise(similarity, X, Y), expected, rtol=1e-4, atol=1e-5)


def transported(x, y, distances):
    """The least work from the shares of x to those of y, by linear programming."""
    n = len(x)
    from_bins, to_bins = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    shares = np.concatenate([x / x.sum(), y / y.sum()])
    return linprog(distances.ravel(), A_eq=np.vstack([from_bins, to_bins]), b_eq=shares, method="highs").fun


PLACES = np.arange(12)


@pytest.mark.parametrize(
    ("similarity", "distances"),
    [
        (EarthMover(), abs(np.subtract.outer(PLACES, PLACES))),
        (EarthMover(ground="circle"), abs((np.subtract.outer(PLACES, PLACES) + 6) % 12 - 6)),
    ],
    ids=["line", "circle"],
)
def test_earth_movers(similarity, distances):
    A, B = RNG.random((7, 12)) * (RNG.random((7, 12)) < 0.7), RNG.random((5, 12))
    expected = -by_pair(lambda x, y: transported(x, y, distances), A, B)
    np.testing.assert_allclose(similarity(A, B), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(similarity(sparse.csr_array(A), B), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(similarity(A), similarity(A).T)
    kernel = clone(similarity).set_params(gamma=0.5)
    np.testing.assert_allclose(kernel(A, B), np.exp(0.5 * expected), rtol=1e-5)


# Values: sets and strings


@given(
    st.lists(st.sets(st.integers(0, 200), max_size=12), min_size=1, max_size=5),
    st.lists(st.sets(st.integers(0, 5000), max_size=12), min_size=1, max_size=4),
)
@settings(deadline=None)
def test_sets(samples, bases):
    tanimoto = by_pair(lambda a, b: len(a & b) / len(a | b) if a | b else 1, samples, bases)
    np.testing.assert_allclose(pairwise(Tanimoto(), samples, bases), tanimoto, rtol=1e-6)
    cosine = by_pair(lambda a, b: len(a & b) / math.sqrt(len(a) * len(b)) if a and b else a == b, samples, bases)
    np.testing.assert_allclose(pairwise(Cosine(), samples, bases), cosine, rtol=1e-6)


def test_sets_as_rows_of_bool():
    A, B = RNG.random((6, 70)) < 0.3, RNG.random((3, 70)) < 0.3
    expected = by_pair(lambda a, b: (a & b).sum() / (a | b).sum(), A, B)
    np.testing.assert_allclose(pairwise(Tanimoto(), A, B), expected, rtol=1e-6)
    np.testing.assert_allclose(pairwise(Tanimoto(), A.astype(float), B.astype(float)), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="70"):
        pairwise(Tanimoto(), A, B[:, :50])


def edit_distance(x, y, replace=1, swap=math.inf):
    """The least cost, an insertion or deletion costing 1."""
    table = np.zeros((len(x) + 1, len(y) + 1))
    for i, j in itertools.product(range(len(x) + 1), range(len(y) + 1)):
        ways = [0.0] if i == j == 0 else []
        if i:
            ways.append(table[i - 1, j] + 1)
        if j:
            ways.append(table[i, j - 1] + 1)
        if i and j:
            ways.append(table[i - 1, j - 1] + replace * (x[i - 1] != y[j - 1]))
        if i > 1 and j > 1 and x[i - 1] == y[j - 2] and x[i - 2] == y[j - 1]:
            ways.append(table[i - 2, j - 2] + swap)
        table[i, j] = min(ways)
    return table[-1, -1]


@pytest.mark.parametrize(
    ("metric", "distance", "largest"),
    [
        ("levenshtein", edit_distance, max),
        ("osa", lambda x, y: edit_distance(x, y, swap=1), max),
        ("indel", lambda x, y: edit_distance(x, y, replace=2), lambda m, n: m + n),
        ("lcs", lambda x, y: max(len(x), len(y)) - (len(x) + len(y) - edit_distance(x, y, replace=2)) / 2, max),
    ],
)
def test_edits(metric, distance, largest):
    expected = by_pair(lambda x, y: 1 - distance(x, y) / (largest(len(x), len(y)) or 1), WORDS, WORDS[:6])
    np.testing.assert_allclose(pairwise(Edit(metric), WORDS, WORDS[:6]), expected, atol=1e-6)
    exponential = pairwise(Edit(metric, gamma=2.5), WORDS, WORDS[:6])
    np.testing.assert_allclose(exponential, np.exp(-2.5 * (1 - expected)), atol=1e-6)


@given(st.lists(st.text("abc", max_size=8), min_size=1, max_size=4), st.text("abc", max_size=8))
@settings(deadline=None)
def test_edits_of_any_strings(samples, basis):
    expected = [1 - edit_distance(x, basis) / (max(len(x), len(basis)) or 1) for x in samples]
    np.testing.assert_allclose(pairwise("edit", samples, [basis])[:, 0], expected, atol=1e-6)


def alignment(x, y, pair, opening, extending, local):
    """The best score, by all ways to end in a pair or in a gap of any length."""
    best = np.full((len(x) + 1, len(y) + 1), -np.inf)
    for i, j in itertools.product(range(len(x) + 1), range(len(y) + 1)):
        ways = [0.0] if local or i == j == 0 else []
        if i and j:
            ways.append(best[i - 1, j - 1] + pair(x[i - 1], y[j - 1]))
        ways += [best[i - k, j] + opening + (k - 1) * extending for k in range(1, i + 1)]
        ways += [best[i, j - k] + opening + (k - 1) * extending for k in range(1, j + 1)]
        best[i, j] = max(ways)
    return best.max() if local else best[-1, -1]


@pytest.mark.parametrize(
    ("similarity", "scores"),
    [
        (Align(normalize=False), (2, -1, -2, -1, True)),
        (Align("global", normalize=False), (2, -1, -2, -1, False)),
        (Align(match=3, mismatch=-2, open=-4, extend=0, normalize=False), (3, -2, -4, 0, True)),
    ],
    ids=str,
)
def test_alignments(similarity, scores):
    same, other, opening, extending, local = scores
    words = [word for word in WORDS if word]
    expected = by_pair(
        lambda x, y: alignment(x, y, lambda a, b: same if a == b else other, opening, extending, local), words, words
    )
    np.testing.assert_array_equal(pairwise(similarity, words), expected)
    root = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(
        pairwise(similarity.set_params(normalize=True), words), expected / np.outer(root, root), rtol=1e-6
    )


def test_alignment_by_a_matrix():
    block = pairwise(Align(matrix="blosum62", normalize=False), ["W", "WA"], ["W", "AW", "Y"])
    np.testing.assert_array_equal(block, [[11, 11, 2], [11, 11, 2]])


def grams(text, n):
    return Counter(text[i : i + n] for i in range(len(text) - n + 1)) if len(text) >= n else Counter([text])


def test_ngrams():
    def cosine(x, y):
        a, b = grams(x, 2), grams(y, 2)
        return sum(a[g] * b[g] for g in a) / math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))

    def shared(x, y):
        a, b = (set(grams(text, 2)) if text else set() for text in (x, y))
        return len(a & b) / len(a | b) if a | b else 1

    expected = by_pair(cosine, WORDS, WORDS[:5])
    np.testing.assert_allclose(pairwise(NGram(2), WORDS, WORDS[:5]), expected, rtol=1e-6)
    # Enough places that no two n-grams share one.
    block = pairwise(NGrams(2, bits=2**20) >> Tanimoto(), WORDS, WORDS[:5])
    np.testing.assert_allclose(block, by_pair(shared, WORDS, WORDS[:5]), rtol=1e-6)
    filled = [word for word in WORDS if word]
    counted = pairwise(NGramCounts(2, bits=2**20) >> Cosine(), filled)
    np.testing.assert_allclose(counted, by_pair(cosine, filled, filled), rtol=1e-6)


# Values: series and grids


def warped(x, y, window=1.0):
    x, y = (np.reshape(z, (len(z), -1)) for z in (x, y))
    band = max(math.floor(window * max(len(x), len(y)) + 1e-9), abs(len(x) - len(y)))
    table = np.full((len(x) + 1, len(y) + 1), np.inf)
    table[0, 0] = 0
    for i, j in itertools.product(range(len(x)), range(len(y))):
        if abs(i - j) <= band:
            before = min(table[i, j], table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = before + ((x[i] - y[j]) ** 2).sum()
    return table[-1, -1]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("window", [0, 0.2, 1])
def test_warping(window, channels):
    lengths = [5, 9, 1, 12, 7]
    series = [RNG.normal(size=(n, channels)) if channels > 1 else RNG.normal(size=n) for n in lengths]
    d = by_pair(lambda x, y: warped(x, y, window), series, series[:3])
    np.testing.assert_allclose(pairwise(DTW(window), series, series[:3]), -d, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(pairwise(DTW(window, gamma=0.1), series, series[:3]), np.exp(-0.1 * d), rtol=1e-5)
    rooted = pairwise(DTW(window, root=True), series, series[:3])
    np.testing.assert_allclose(rooted, -np.sqrt(d), rtol=1e-5, atol=1e-5)


def test_normalized_series():
    series = [RNG.normal(3, 5, size=n) for n in (6, 8, 5)]
    normalized = [(x - x.mean()) / x.std() for x in series]
    expected = -by_pair(warped, normalized, normalized)
    np.testing.assert_allclose(pairwise(ZNorm() >> DTW(), series), expected, rtol=1e-4, atol=1e-5)


def matched(x, y, rigid, local, penalty=0.0):
    """By the definition: x is the basis, y the sample whose cells are displaced."""
    rows, columns, _ = x.shape

    def cell(grid, r, c):
        return grid[r, c] if 0 <= r < rows and 0 <= c < columns else np.zeros(x.shape[2])

    def displaced(r, c, z):
        return max(
            x[r, c] @ cell(y, r + z[0] + u[0], c + z[1] + u[1]) - penalty * (u[0] ** 2 + u[1] ** 2)
            for u in itertools.product(range(-local, local + 1), repeat=2)
        )

    return max(
        sum(displaced(r, c, z) for r in range(rows) for c in range(columns)) - penalty * (z[0] ** 2 + z[1] ** 2)
        for z in itertools.product(range(-rigid, rigid + 1), repeat=2)
    )


@pytest.mark.parametrize(
    ("similarity", "settings"),
    [
        (Rigid(), (1, 0)),
        (Rigid(0), (0, 0)),
        (Rigid(2, penalty=0.5), (2, 0, 0.5)),
        (Deformable(), (1, 1)),
        (Deformable(0, 2, penalty=0.1), (0, 2, 0.1)),
    ],
    ids=str,
)
def test_matched_grids(similarity, settings):
    samples, bases = RNG.normal(size=(3, 3, 4, 5)), RNG.normal(size=(2, 3, 4, 5))
    expected = by_pair(lambda sample, basis: matched(basis, sample, *settings), samples, bases)
    np.testing.assert_allclose(pairwise(similarity, samples, bases), expected, rtol=1e-4)


def shifted(grid, z):
    out = np.zeros_like(grid)
    for r, c in np.ndindex(grid.shape[:2]):
        if 0 <= r + z[0] < grid.shape[0] and 0 <= c + z[1] < grid.shape[1]:
            out[r, c] = grid[r + z[0], c + z[1]]
    return out


def positions(grid, radius, quadratic):
    for z in itertools.product(range(-radius, radius + 1), repeat=2):
        yield shifted(grid, z).ravel(), -quadratic * (z[0] ** 2 + z[1] ** 2)


BASES = {
    "linear": lambda x, y: x @ y,
    "rbf": lambda x, y: np.exp(-0.3 * ((x - y) ** 2).sum()),
    "laplacian": lambda x, y: np.exp(-0.3 * np.abs(x - y).sum()),
    "chi2": lambda x, y: (2 * x * y / np.maximum(x + y, 1e-300)).sum(),
    "cityblock": lambda x, y: -np.abs(x - y).sum(),
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("radius", "basis_radius", "quadratic"), [(1, 1, 0), (2, 0, 0), (0, 1, 0.2), (1, 1, 0.05)])
def test_match_tries_all_positions_of_both_sides(base, radius, basis_radius, quadratic):
    samples, bases = RNG.uniform(size=(3, 3, 4, 2)), RNG.uniform(size=(2, 3, 4, 2))
    gamma = 0.3 if base in ("rbf", "laplacian") else None

    def both(sample, basis):
        here, there = positions(basis, basis_radius, quadratic), positions(sample, radius, quadratic)
        return itertools.product(here, there)

    def best(sample, basis):
        return max(BASES[base](x, y) + r + s for (x, r), (y, s) in both(sample, basis))

    def nearest(sample, basis):
        s = BASES[base]
        x, y = min(
            ((x, y) for (x, _), (y, _) in both(sample, basis)),
            key=lambda pair: s(pair[0], pair[0]) - 2 * s(*pair) + s(pair[1], pair[1]),
        )
        return s(x, y)

    match = Match(radius, basis_radius, base, gamma, quadratic=quadratic)
    np.testing.assert_allclose(pairwise(match, samples, bases), by_pair(best, samples, bases), rtol=1e-4)
    jitter = Jitter(radius, basis_radius, base, gamma)
    np.testing.assert_allclose(pairwise(jitter, samples, bases), by_pair(nearest, samples, bases), rtol=1e-4)


@pytest.mark.parametrize("smooth", [0, 0.05])
def test_match_displaces_cells(smooth):
    samples, bases = RNG.normal(size=(3, 2, 2, 3)), RNG.normal(size=(2, 2, 2, 3))
    steps = list(itertools.product((-1, 0, 1), repeat=2))
    neighbors = [((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1))]

    def best(sample, basis):
        cells = {z: shifted(sample, z) for z in steps}
        products = {z: (basis * cells[z]).sum(axis=2) for z in steps}

        def value(field):
            rough = sum((field[c][0] - field[d][0]) ** 2 + (field[c][1] - field[d][1]) ** 2 for c, d in neighbors)
            return sum(products[u][c] for c, u in field.items()) - smooth * rough

        cells_of = [(0, 0), (0, 1), (1, 0), (1, 1)]
        return max(value(dict(zip(cells_of, u, strict=True))) for u in itertools.product(steps, repeat=4))

    found = pairwise(Match(0, local=1, smooth=smooth), samples, bases)
    np.testing.assert_allclose(found, by_pair(best, samples, bases), rtol=1e-4, atol=1e-5)


def test_wrong_matching():
    for similarity, message in [
        (Match(quadratic=-1), "a finite number at least 0"),
        (Match(quadratic=np.inf), "a finite number at least 0"),
        (Match(smooth=1), "local or basis_local at least 1"),
        (Match(base="rbf", local=1), "a sum over cells"),
        (Match(base="dtw"), "one of linear, rbf"),
    ]:
        with pytest.raises(ValueError, match=message):
            pairwise(similarity, np.ones((2, 3, 3, 1)))


def test_images_are_described_first():
    images = RNG.integers(0, 256, (4, 16, 16, 3), dtype=np.uint8)
    cells = HOG(8, flatten=False).transform(images).astype(float)
    flat = cells.reshape(4, -1)
    mean = flat.mean(axis=0)
    scaled = ((flat - mean) / np.linalg.norm(flat - mean, axis=1).mean()).reshape(cells.shape)
    expected = by_pair(lambda sample, basis: matched(basis, sample, 1, 0), scaled, scaled)
    for similarity in (HOG(8) >> Rigid(1), "hog:cell=8/rigid:radius=1", "hog:cell=8/rigid:radius=1"):
        np.testing.assert_allclose(pairwise(similarity, images), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(pairwise(HOG(8) >> RBF(1), list(images)), pairwise(HOG(8) >> RBF(1), images))


# The block


def test_lists_keep_their_order():
    def negative(A, B):
        return -truth.euclidean_distances(A, B)

    blocks = pairwise(["linear", negative, RBF(1), negative], X, Y, n_jobs=2)
    assert (blocks.shape, blocks.dtype) == ((4, 9, 6), np.float32)
    for block, one in zip(blocks, ["linear", negative, RBF(1), negative], strict=True):
        np.testing.assert_allclose(block, pairwise(one, X, Y), rtol=1e-6)
    assert pairwise([RBF(1)], X).shape == (1, 9, 9)
    np.testing.assert_array_equal(pairwise("linear", X), pairwise("linear", X, X))


def test_precomputed():
    S = RNG.normal(size=(5, 3))
    np.testing.assert_allclose(pairwise(Precomputed(), S), S, rtol=1e-6)
    with pytest.raises(ValueError, match="bases as columns of X: Y must be None"):
        pairwise("precomputed", S, S)


def test_samples_that_do_not_fit():
    with pytest.raises(ValueError, match="X has 4 features, Y has 3: samples and bases need the same"):
        pairwise("rbf", X, Y[:, :3])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        pairwise("rbf", np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match=r"Y: row 1 \(from 0\) is missing"):
        pairwise("edit", ["a"], ["b", None])
    with pytest.raises(TypeError, match="X is one string"):
        pairwise("edit", "abc")
    with pytest.raises(TypeError, match="the similarity takes strings"):
        pairwise("edit", X)
    with pytest.raises(ValueError, match="n_jobs"):
        pairwise("rbf", X, n_jobs=0)


# Objects

EVERY = [
    *[object_of(spec, "similarity", {"": None}) for row in SIMILARITIES.values() for spec in row["examples"]],
    Laplacian(2),
    Polynomial(coef0=0),
    DTW(0.1, gamma="auto", root=True),
    Edit("jaro_winkler"),
    Align(matrix="blosum62", open=-11),
    Similarity("hog:cell=8/rigid:radius=1"),
    MeanNorm() >> RBF(1),
    NGrams() >> Tanimoto(),
    NGramCounts(2) >> ZScore() >> RBF(),
    ZNorm() >> DTW(),
    MiniRocket(2000, seed=3) >> ZScore() >> RBF(),
    Hydra(16, seed=3) >> Features(),
    HOG(4) >> Rigid(),
    NGramCounts(2) >> Features(),
    Tfidf("1-4", by="words_padded", sublinear=True) >> Features(),
    Match(basis_radius=1, base="power_mean", p=-np.inf, local=1, smooth=0.5),
    Pixels() >> Jitter(base="rbf", gamma=0.5),
]


TEXTS = tomllib.loads(
    (pathlib.Path(__file__).parents[2] / "crates/widemargin-kernels/similarities.toml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", [*SIMILARITIES.values(), *DESCRIPTORS.values()], ids=lambda row: row["name"])
def test_every_row_has_its_class(row):
    cls = getattr(similarities, row["class"])
    text, documentation = TEXTS[row["name"]], " ".join(cls.__doc__.split())
    assert all(reference in documentation for reference in text.get("references", []))
    assert row["class"] in similarities.__all__
    assert issubclass(cls, Similarity if row["name"] in SIMILARITIES else similarities.DescriptorMixin)
    assert (cls.__module__, cls.__qualname__) == ("widemargin.similarity", row["class"]) or cls is HOG
    if cls is not HOG:
        assert list(inspect.signature(cls).parameters) == [one["name"] for one in row["parameters"]]
        assert f"s: {text['formula']}." in documentation
        needed = [one["name"] for one in row["parameters"] if one["is_required"]]
        with pytest.raises(TypeError, match=needed[0] if needed else "nonsense"):
            cls(**({} if needed else {"nonsense": 1}))


def test_what_is_made_of_the_rows_is_up_to_date():
    script = pathlib.Path(__file__).parents[2] / "scripts/generate.py"
    made = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.mark.parametrize("similarity", EVERY, ids=str)
def test_an_object_is_its_spec(similarity):
    spec = similarity.spec
    assert _core.canonical(spec) == spec
    assert str(similarity) == spec
    assert repr(similarity) == f"Similarity({spec!r})"
    again = eval(repr(similarity))
    assert (again, hash(again)) == (similarity, hash(similarity))
    assert similarity != Similarity("rbf:gamma=123")
    assert similarity != spec
    for copy in (clone(similarity), pickle.loads(pickle.dumps(similarity))):
        assert (copy, type(copy)) == (similarity, type(similarity))
        assert copy is not similarity
        assert copy.get_params(deep=False).keys() == similarity.get_params(deep=False).keys()
    assert resolve(similarity).specs == [spec]


@pytest.mark.parametrize(
    ("similarity", "spec"),
    [
        (RBF(1.0), "rbf:gamma=1"),
        (RBF(np.float64(0.25)), "rbf:gamma=0.25"),
        (RBF(1e-5), "rbf:gamma=1e-05"),
        (PowerMean(-np.inf), "power-mean:p=-inf"),
        (Rigid(), "rigid:radius=1"),
        (Deformable(rigid=2, local=1), "deformable:rigid=2,local=1"),
        (Rigid(np.int64(3), 0.5), "rigid:radius=3,penalty=0.5"),
        (DTW(0.1, 2), "dtw:window=0.1,gamma=2"),
        (Align(normalize=np.False_), "align:normalize=false"),
        (Edit("jaro_winkler"), "edit:metric=jaro-winkler"),
        (HOG(4) >> (MeanNorm() >> RBF(1)), "hog:cell=4/mean-norm/rbf:gamma=1"),
        (HOG(4) >> MeanNorm() >> "rbf:gamma=1", "hog:cell=4/mean-norm/rbf:gamma=1"),
        (Similarity("jensen_shannon"), "jensen-shannon"),
        (Similarity("z_score/power_mean:p=-1"), "z-score/power-mean:p=-1"),
    ],
)
def test_spelling(similarity, spec):
    assert similarity.spec == spec


def test_parameters_of_a_chain():
    chain = HOG(4) >> Rigid(2)
    assert isinstance(chain, Chain)
    assert isinstance(chain, Similarity)
    assert chain == Chain(HOG(4), Rigid(2))
    assert chain.get_params()["first__cell_size"] == 4
    assert chain.set_params(first__cell_size=8, then__radius=1).spec == "hog:cell=8/rigid:radius=1"
    descriptors = MeanNorm() >> ZScore()
    assert isinstance(descriptors, Chain)
    assert not isinstance(descriptors, Similarity)
    assert repr(descriptors) == "MeanNorm() >> ZScore()"
    assert clone(descriptors).spec == pickle.loads(pickle.dumps(descriptors)).spec == "mean-norm/z-score"


def test_parameters_are_searched():
    A, y = RNG.normal(size=(60, 3)), np.arange(60) % 2
    search = GridSearchCV(wm.BasisExpansionSVC(RBF(), n_basis=20), {"similarity__gamma": [0.1, 1.0]}, cv=2).fit(A, y)
    assert search.best_estimator_.similarity.gamma in (0.1, 1.0)
    grid = {"similarity": [RBF(1), "linear", MeanNorm() >> RBF(2), [RBF(1), "linear"], linear_block]}
    search = GridSearchCV(wm.BasisExpansionSVC(n_basis=20), grid, cv=2).fit(A, y)
    assert len(search.cv_results_["mean_test_score"]) == 5
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    chained = wm.BasisExpansionSVC(MeanNorm() >> RBF(2))
    assert chained.set_params(similarity__then__gamma=3).similarity.spec == "mean-norm/rbf:gamma=3"


def linear_block(A, B):
    return np.asarray(A) @ np.asarray(B).T


def test_what_objects_refuse():
    with pytest.raises(TypeError, match=r"'rbf:gamma=1'.* is a similarity, which ends a chain"):
        RBF(1) >> Linear()
    with pytest.raises(TypeError, match=r"then=RBF is a class: write RBF\(\)"):
        MeanNorm() >> RBF
    with pytest.raises(TypeError, match=r"then is 3: it must be a descriptor.*or a similarity"):
        MeanNorm() >> 3
    with pytest.raises(TypeError, match=r"first is Similarity.*: it must be a descriptor"):
        Chain(RBF(), RBF())
    with pytest.raises(TypeError, match="spec is 3: it must be a str"):
        Similarity(3)
    with pytest.raises(AttributeError, match="follows from its parameters"):
        RBF().spec = "linear"
    with pytest.raises(TypeError, match=r"gamma is \[1\]: it must be a number"):
        str(RBF([1]))
    with pytest.raises(ValueError, match="Invalid parameter 'gama'"):
        RBF().set_params(gama=1)
    assert Similarity("nothing") == Similarity("nothing")


# What `similarity=` means


def test_resolved():
    def own(A, B):
        return np.zeros((len(A), len(B)))

    resolved = resolve(["rbf", own, Linear(), "jensen_shannon"])
    assert resolved.specs == ["rbf", "linear", "jensen-shannon"]
    assert [name for _, name in resolved.calls] == ["own"]
    assert resolved.order == [0, 2, 3, 1]
    assert resolved.in_list_order("abcd") == list("adbc")
    assert resolved.takes[0] == "table"
    assert not resolved.is_precomputed
    alone = resolve(own)
    assert (alone.specs, alone.takes, alone.order) == ([], [], [0])
    assert resolve(Precomputed()).is_precomputed
    assert resolve(("ngrams/tanimoto", "edit")).takes == ["strings"]


@pytest.mark.parametrize(
    ("similarity", "error", "message"),
    [
        (
            "rfb",
            ValueError,
            "similarity='rfb': unknown similarity 'rfb'. Did you mean 'rbf'\\? Known are linear, rbf, ",
        ),
        ("RBF", ValueError, "unknown similarity 'RBF'. Did you mean 'rbf'"),
        ("poly", ValueError, "Did you mean 'polynomial'"),
        ("jensen-shanon", ValueError, "Did you mean 'jensen-shannon'"),
        ("xyz", ValueError, "unknown similarity 'xyz'. Known are"),
        ("", ValueError, "unknown similarity ''"),
        ("hgo/rbf", ValueError, "unknown descriptor 'hgo'. Did you mean 'hog'\\? Known are hog, pixels, phog"),
        ("hog", ValueError, "'hog' is a descriptor, a similarity must follow it, as in 'hog/rbf'"),
        ("ngrams:n=2", ValueError, "as in 'ngrams:n=2/tanimoto'"),
        ("rbf/linear", ValueError, "'rbf' is a similarity, it comes last, after the descriptors"),
        ("rbf:gamma=-1", ValueError, "gamma = -1 in 'rbf:gamma=-1' is not allowed: a finite number above 0"),
        ("rbf:gama=1", ValueError, "'gama' is not known: the parameters of 'rbf' are gamma"),
        (Polynomial(99), ValueError, "degree = 99"),
        (["rbf", "lniear"], ValueError, r"similarity\[1\]='lniear'.*Did you mean 'linear'"),
        ([], ValueError, "similarity is an empty list"),
        (["rbf", "edit"], ValueError, "'rbf' takes vectors.*'edit' takes strings"),
        (["rbf", "precomputed"], ValueError, "'precomputed' cannot be combined"),
        (["precomputed", linear_block], ValueError, "'precomputed' cannot be combined"),
        (RBF, TypeError, r"similarity=RBF is a class: write RBF\(\)"),
        ([HOG], TypeError, r"similarity\[0\]=HOG is a class"),
        (MeanNorm(), TypeError, r"MeanNorm\(\) is a descriptor: a similarity must follow it"),
        (MeanNorm() >> ZScore(), TypeError, r"as in MeanNorm\(\) >> ZScore\(\) >> RBF\(\)"),
        (None, TypeError, "similarity is None: it must be a spec"),
        (3, TypeError, "similarity is 3: it must be"),
        ([["rbf"]], TypeError, r"similarity\[0\] is \['rbf'\]"),
    ],
)
def test_what_is_no_similarity(similarity, error, message):
    with pytest.raises(error, match=message):
        resolve(similarity)


# Functions of a user's own


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda A, B: np.ones((len(B), len(A))),
            ValueError,
            r"shape \(2, 9\) for 9 samples and 2 bases, expected \(9, 2\)",
        ),
        (lambda A, B: np.ones((len(B), len(A))), ValueError, "rows are samples, columns are bases.*transposed"),
        (lambda A, B: np.ones(len(A)), ValueError, r"returned shape \(9,\)"),
        (lambda A, B: None, ValueError, r"returned shape \(\)"),
        (lambda A, B: np.full((9, 2), ["a"]), TypeError, "returned an array of <U1: similarities are real numbers"),
        (lambda A, B: np.ones((9, 2)) * 1j, TypeError, "returned an array of complex128"),
        (lambda A, B: [[1, 2], [3]], TypeError, "did not return an array of numbers"),
        (lambda A, B: np.where(np.arange(18).reshape(9, 2) == 7, np.nan, 1), ValueError, "nan.*sample 3 and basis 1"),
        (lambda A, B: np.where(np.arange(18).reshape(9, 2) == 4, -np.inf, 1), ValueError, "-inf.*sample 2 and basis 0"),
        (
            lambda A, B: np.full((9, 2), 1e39),
            ValueError,
            r"1e\+39, which overflows single precision, for sample 0 and basis 0",
        ),
    ],
)
def test_what_a_function_may_not_return(made, error, message):
    with pytest.raises(error, match=message) as caught:
        pairwise(made, X, Y[:2])
    assert "similarity '<lambda>'" in str(caught.value)


def test_short_objects_are_shown():
    with pytest.raises(ValueError, match="sample 0 and basis 1 of a block of 1 samples and 2 bases: 'ab' and 'd'"):
        pairwise(lambda A, B: [[0, np.nan]], ["ab"], ["c", "d"])


def test_what_a_function_raises_passes_through():
    def own(A, B):
        raise KeyError("nothing of the kind")

    with pytest.raises(KeyError, match="nothing of the kind") as caught:
        pairwise(["rbf", own], X, Y)
    assert caught.value.__notes__ == [
        "in the similarity 'own', called for the block of 9 samples and 6 bases; if it compares one "
        "sample with one basis, decorate it with widemargin.similarity.pairs"
    ]
    assert "own" in [entry.name for entry in caught.traceback]


@pytest.mark.parametrize(
    "convert", [np.asarray, list, sparse.csr_array, lambda a: a.astype(object), lambda a: np.asfortranarray(a > 0)]
)
def test_what_a_function_may_return(convert):
    expected = X @ Y.T
    wanted = (
        expected > 0 if convert(expected[:1]).__class__ is np.ndarray and convert(expected).dtype == bool else expected
    )
    np.testing.assert_allclose(pairwise(lambda A, B: convert(A @ B.T), X, Y), wanted, rtol=1e-6)


class Callable:
    """A function object, whose name is its class's."""

    def __call__(self, A, B):
        return np.zeros((len(A), len(B)))


def test_names_of_functions():
    import functools

    assert resolve(Callable()).calls[0][1] == "Callable"
    assert resolve(functools.partial(linear_block)).calls[0][1] == "linear_block"
    assert resolve(lambda A, B: 0).calls[0][1] == "<lambda>"
    assert pickle.loads(pickle.dumps(resolve(linear_block))) == resolve(linear_block)


@pairs
def shared_letters(a, b):
    """How many letters two words share."""
    return len(set(a) & set(b))


@pairs(n_jobs=2, symmetric=True)
def same_ends(a, b):
    return float(a[-1:] == b[-1:]) + float(a[:1] == b[:1])


@pytest.mark.parametrize("function", [shared_letters, same_ends], ids=lambda f: f.__name__)
def test_functions_of_pairs(function):
    expected = by_pair(function.__wrapped__, WORDS, WORDS)
    np.testing.assert_array_equal(function(WORDS, WORDS), expected)
    np.testing.assert_array_equal(function(WORDS, list(WORDS)), expected)
    np.testing.assert_array_equal(pairwise(function, WORDS, WORDS[2:5]), expected[:, 2:5])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(function))(WORDS, WORDS[:3]), expected[:, :3])
    assert isinstance(function, Pairs)
    assert clone(wm.BasisExpansionSVC(function)).similarity is function


def test_pairs_looks_like_its_function():
    assert shared_letters.__name__ == "shared_letters"
    assert shared_letters.__doc__ == "How many letters two words share."
    assert inspect.signature(shared_letters.__wrapped__).parameters.keys() == {"a", "b"}
    assert repr(same_ends) == "Pairs(same_ends, n_jobs=2, symmetric=True)"
    assert resolve(same_ends).calls[0][1] == "same_ends"


def test_symmetric_pairs_are_called_half_as_often():
    asked = []

    @pairs(symmetric=True)
    def counted(a, b):
        asked.append((a, b))
        return a * b

    numbers = list(range(300, 310))
    np.testing.assert_array_equal(counted(numbers, list(numbers)), np.outer(numbers, numbers))
    assert len(asked) == 55
    np.testing.assert_array_equal(counted(numbers, numbers[:4]), np.outer(numbers, numbers[:4]))
    assert len(asked) == 95


def test_pairs_of_rows():
    import pandas
    import polars

    expected = np.maximum(X[:, :1], Y[:, 0])

    @pairs
    def larger(a, b):
        return max(a[0], b[0])

    for make in (np.asarray, pandas.DataFrame, polars.DataFrame, np.ndarray.tolist):
        np.testing.assert_allclose(pairwise(larger, make(X), make(Y)), expected, rtol=1e-6)


def test_the_pair_is_named_where_a_function_of_pairs_fails():
    for n_jobs in (None, 2):

        @pairs(n_jobs=n_jobs)
        def divided(a, b):
            return a / b

        with pytest.raises(ZeroDivisionError) as caught:
            pairwise(divided, [1, 2], [1, 2, 0])
        notes = getattr(caught.value, "__notes__", [])
        assert notes[-1] == "in the similarity 'divided', called for the block of 2 samples and 3 bases"
        if n_jobs is None:
            assert notes[0] == "for the pair of sample 0 and basis 2 of the block: 1 and 0"


def test_what_pairs_refuses():
    with pytest.raises(TypeError, match="pairs needs a function"):
        pairs(3)
    with pytest.raises(ValueError, match="n_jobs is 0: it must be None or an integer other than 0"):
        pairs(n_jobs=0)(len)


def test_a_function_of_a_script_is_pickled(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pickle\n"
        "import numpy as np\n"
        "import widemargin as wm\n"
        "from sklearn.model_selection import cross_val_score\n"
        "from widemargin.similarity import pairs\n"
        "@pairs(n_jobs=2)\n"
        "def f(a, b):\n"
        "    return len(set(a) & set(b))\n"
        "if __name__ == '__main__':\n"
        "    X = [c * 3 for c in 'abcdefghij'] * 4\n"
        "    y = np.array([c[0] < 'e' for c in X])\n"
        "    assert pickle.loads(pickle.dumps(f))(['a'], ['ab'])[0, 0] == 1\n"
        "    svc = wm.BasisExpansionSVC(f, n_basis=10)\n"
        "    assert cross_val_score(svc, X, y, cv=2, n_jobs=2).mean() >= 0.9\n"
    )
    subprocess.run([sys.executable, str(script)], check=True, capture_output=True)


# Parameters of a similarity that is given by its name


@pytest.mark.parametrize(
    ("estimator", "grid", "expected"),
    [
        (wm.BasisExpansionSVC("rbf", n_basis=20), {"similarity__gamma": [1e-4, 1e-2]}, RBF),
        (wm.BasisExpansionSVC("polynomial:degree=2,coef0=0.5", n_basis=20), {"similarity__degree": [1, 3]}, Polynomial),
        (wm.BasisExpansionSVC("power_mean", n_basis=20), {"similarity__p": [-1, -2.5]}, PowerMean),
        (wm.ThinPlateSVC("rbf:gamma=1", standardize=False), {"kernel__gamma": [0.1, 0.01]}, RBF),
        (wm.ThinPlateSVC("polyharmonic", standardize=False), {"kernel__exponent": [1, 3]}, Polyharmonic),
    ],
    ids=str,
)
def test_parameters_of_a_named_similarity_can_be_searched(estimator, grid, expected):
    X, y = np.abs(RNG.normal(size=(60, 3))), np.arange(60) % 2
    X[y == 1] += 1
    ((name, values),) = grid.items()
    found = GridSearchCV(estimator, grid, cv=2).fit(X, y)
    parameter, _, inner = name.partition("__")
    best = getattr(found.best_estimator_, parameter)
    assert isinstance(best, expected)
    assert getattr(best, inner) == found.best_params_[name] in values
    assert isinstance(getattr(estimator, parameter), str)  # what was given is left as it is
    in_pipeline = make_pipeline(clone(estimator)).set_params(
        **{f"{type(estimator).__name__.lower()}__{name}": values[0]}
    )
    assert getattr(getattr(in_pipeline[0], parameter), inner) == values[0]


def test_the_other_parameters_of_a_spec_are_preserved():
    svc = wm.BasisExpansionSVC("polynomial:degree=2,coef0=0.5").set_params(similarity__gamma=3, C=2.0)
    assert (svc.similarity.spec, svc.C) == ("polynomial:degree=2,gamma=3,coef0=0.5", 2.0)
    svc = wm.BasisExpansionSVC("edit").set_params(similarity="dtw:root=true,window=0.2", similarity__gamma="auto")
    assert svc.similarity.spec == "dtw:window=0.2,gamma=auto,root=true"


@pytest.mark.parametrize(
    ("similarity", "parameters", "message"),
    [
        ("hog/rbf", {"similarity__gamma": 1}, r"similarity is the spec 'hog/rbf'; pass an object.*HOG\(\) >> RBF\(\)"),
        ("rfb", {"similarity__gamma": 1}, "similarity is the spec 'rfb'; pass an object of widemargin.similarity"),
        (["rbf"], {"similarity__gamma": 1}, "similarity is \\['rbf'\\], which has no such parameters"),
        ("rbf", {"similarity__degree": 1}, "Invalid parameter 'degree' for estimator rbf"),
        ("power-mean", {"similarity__gamma": 1}, r"'similarity__gamma' cannot be set.*such as PowerMean\(\)"),
    ],
)
def test_parameters_that_a_named_similarity_does_not_have(similarity, parameters, message):
    with pytest.raises(ValueError, match=message):
        wm.BasisExpansionSVC(similarity).set_params(**parameters)


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [("znorm/rbf", "znorm/dtw"), ("hog:cell=4/dtw", "hog:cell=4/rbf"), ("tfidf/edit", "tfidf/features")],
)
def test_of_steps_that_do_not_go_together_the_last_is_named(spec, remedy):
    with pytest.raises(ValueError, match=f"similarity='{spec}' compares no samples: .* which '{remedy}' does"):
        wm.BasisExpansionSVC(spec).fit(["ab", "cd"], [0, 1])
