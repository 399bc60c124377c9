"""Similarities: their values against plain NumPy and Python, their habits as objects, and messages about mistakes."""

import inspect
import pathlib
import pickle
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise as truth
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import widemargin as wm
from widemargin import _core
from widemargin import similarity as similarities
from widemargin._compares import object_of
from widemargin._spec_texts import DESCRIPTORS, SIMILARITIES
from widemargin.similarity import (
    DTW,
    HOG,
    RBF,
    Align,
    Chain,
    Deformable,
    Edit,
    Features,
    Hydra,
    Jitter,
    Laplacian,
    Linear,
    Match,
    MeanNorm,
    MiniRocket,
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
    Tanimoto,
    Tfidf,
    ZNorm,
    ZScore,
    pairs,
    pairwise,
    resolve,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 4)), RNG.normal(size=(6, 4))
WORDS = ["kitten", "sitting", "", "a", "ab", "ba", "saturday", "sunday", "éàü", "CCO", "CCCCO"]


def by_pair(f, samples, bases):
    return np.array([[f(a, b) for b in bases] for a in samples], dtype=float)


# Values of each kind of samples; every_similarity.rs compares all similarities with their definitions


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        (RBF(0.3), truth.rbf_kernel(X, Y, gamma=0.3)),
        (Polynomial(4, gamma=0.2, coef0=0.5), truth.polynomial_kernel(X, Y, degree=4, gamma=0.2, coef0=0.5)),
        (Polynomial(gamma=0.2), truth.polynomial_kernel(X, Y, degree=3, gamma=0.2, coef0=1)),
        (Sigmoid(gamma=0.2), truth.sigmoid_kernel(X, Y, gamma=0.2, coef0=0)),
        (MeanNorm() >> Linear(), None),
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


GRIDS = np.zeros((3, 2, 3, 1))  # of 2 rows and 3 columns, each of one cell
GRIDS[[0, 1, 2], [0, 0, 1], [2, 1, 0]] = 1


@pytest.mark.parametrize(
    ("similarity", "samples", "bases", "expected"),
    [
        (Edit(), ["kitten", "éàü", ""], ["sitting", "éù"], [[1 - 3 / 7, 0], [0, 1 / 3], [0, 0]]),
        (DTW(), [[0, 1, 2], [1, 1]], [[0, 2]], [[-1], [-2]]),
        (DTW(), [np.array([[0, 0], [3, 4], [0, 0]])], [np.zeros((3, 2))], [[-25]]),
        (Rigid(), GRIDS[:1], GRIDS[1:], [[1, 0]]),
        (Tanimoto(), [{1, 2}, {2}, set()], [{2, 300}, set()], [[1 / 3, 0], [1 / 2, 0], [0, 1]]),
        (Tanimoto(), GRIDS[0, :, :, 0] > 0, GRIDS[1, :, :, 0] < 1, [[1 / 2, 1 / 3], [0, 0]]),
    ],
    ids=["strings", "series", "channels", "grids", "sets", "rows of bool"],
)
def test_samples_that_are_no_vectors(similarity, samples, bases, expected):
    np.testing.assert_allclose(pairwise(similarity, samples, bases), expected, atol=1e-6)


def test_images_are_described_first():
    images = RNG.integers(0, 256, (4, 16, 16, 3), dtype=np.uint8)
    cells = HOG(8, flatten=False).transform(images).astype(float)
    flat = cells.reshape(4, -1)
    mean = flat.mean(axis=0)
    scaled = ((flat - mean) / np.linalg.norm(flat - mean, axis=1).mean()).reshape(cells.shape)
    expected = pairwise(Rigid(1), scaled)
    for similarity in (HOG(8) >> Rigid(1), "hog:cell=8/rigid:radius=1"):
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
    with pytest.raises(ValueError, match="70"):
        pairwise(Tanimoto(), np.ones((6, 70), bool), np.ones((3, 50), bool))
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
        ("rfb", ValueError, "similarity='rfb': unknown similarity .* Did you mean 'rbf'\\? Known are linear, rbf, "),
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
        (lambda A, B: np.ones((2, 9)), ValueError, r"shape \(2, 9\) for 9 samples and 2 bases, expected \(9, 2\)"),
        (lambda A, B: np.ones((2, 9)), ValueError, "rows are samples, columns are bases.*transposed"),
        (lambda A, B: np.ones(len(A)), ValueError, r"returned shape \(9,\)"),
        (lambda A, B: None, ValueError, r"returned shape \(\)"),
        (lambda A, B: np.full((9, 2), ["a"]), TypeError, "returned an array of <U1: similarities are real numbers"),
        (lambda A, B: np.ones((9, 2)) * 1j, TypeError, "returned an array of complex128"),
        (lambda A, B: [[1, 2], [3]], TypeError, "did not return an array of numbers"),
        (lambda A, B: np.where(np.arange(18).reshape(9, 2) == 7, np.nan, 1), ValueError, "nan.*sample 3 and basis 1"),
        (lambda A, B: np.where(np.arange(18).reshape(9, 2) == 4, -np.inf, 1), ValueError, "-inf.*sample 2 and basis 0"),
        (lambda A, B: np.full((9, 2), 1e39), ValueError, r"1e\+39, which overflows single precision, for sample 0"),
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
