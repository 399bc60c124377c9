"""Users' collections, as the compiled half takes them."""

import importlib
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from widemargin._kinds import kind_of
from widemargin._samples import count, from_other, from_vectors, items, pick

IMAGES, GRIDS, SERIES, STRINGS, SETS = ["images"], ["grids"], ["series"], ["strings"], ["sets"]


class Molecules:
    """A sequence that knows its length and its elements, and nothing else."""

    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, at):
        if not isinstance(at, int):
            raise TypeError(f"no place {at!r}")
        return self.names[at]


def frames(library):
    return importlib.import_module(library)


# Vectors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_vectors_are_not_copied(dtype):
    X = np.arange(6, dtype=dtype).reshape(3, 2)
    assert np.shares_memory(from_vectors(X), X)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16, ">f4"])
def test_other_numbers_become_double(dtype):
    X = np.array([[0, 1], [1, 0]], dtype=dtype)
    taken = from_vectors(X)
    assert taken.dtype == np.float64
    np.testing.assert_array_equal(taken, X.astype(float))


def test_columns_side_by_side_become_rows():
    taken = from_vectors(np.asfortranarray(np.arange(6.0).reshape(3, 2)))
    assert taken.flags.c_contiguous


def test_sparse_vectors_are_not_copied():
    X = sparse.random_array((20, 30), density=0.2, format="csr", rng=np.random.default_rng(0), dtype=np.float32)
    form, data, indices, indptr, n_columns = from_vectors(X)
    assert (form, n_columns) == ("csr", 30)
    assert (data.dtype, indices.dtype, indptr.dtype) == (np.float32, np.uint32, np.uint64)
    assert np.shares_memory(data, X.data)
    np.testing.assert_array_equal(sparse.csr_array((data, indices, indptr), (20, 30)).toarray(), X.toarray())


def test_unsorted_and_repeated_entries_are_put_right_in_a_copy():
    data, indices, indptr = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3])
    X = sparse.csr_matrix((data, indices, indptr), shape=(2, 3))
    _, values, columns, starts, _ = from_vectors(X)
    assert (values.tolist(), columns.tolist(), starts.tolist()) == ([2.0, 5.0], [0, 2], [0, 2, 2])
    assert X.indices.tolist() == [2, 0, 2]
    assert X.data.tolist() == [1.0, 2.0, 4.0]


def test_entries_behind_the_last_row_are_left_out():
    X = sparse.csr_matrix(np.eye(2))
    X.data, X.indices = np.append(X.data, 9.0), np.append(X.indices, 1)
    _, data, indices, _, _ = from_vectors(X)
    assert len(data) == len(indices) == 2


def test_sparse_vectors_of_another_order_and_wide_indices():
    X = sparse.csc_matrix(np.array([[0, 3], [5, 0]]))
    _, data, indices, _, _ = from_vectors(X)
    assert (data.tolist(), data.dtype, indices.tolist()) == ([3.0, 5.0], np.float64, [1, 0])
    wide = sparse.csr_array((np.ones(1), (np.zeros(1, np.int64), np.full(1, 2**40))), shape=(1, 2**41))
    with pytest.raises(ValueError, match=f"{2**41} columns.*at most {2**31 - 1}"):
        from_vectors(wide)


# Images and grids


@pytest.mark.parametrize("shape", [(4, 5, 6), (4, 5, 6, 3)])
def test_images(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    for given_as in (pixels, list(pixels), tuple(pixels), np.asfortranarray(pixels)):
        (form, taken), n = from_other(given_as, IMAGES)
        assert (form, n, taken.ndim, taken.dtype) == ("images", 4, 4, np.uint8)
        assert taken.flags.c_contiguous
        np.testing.assert_array_equal(taken.reshape(shape), pixels)


def test_grids():
    cells = np.random.default_rng(0).random((3, 4, 5, 31))
    (form, taken), n = from_other(cells, GRIDS)
    assert (form, n, taken.dtype) == ("grids", 3, np.float32)
    np.testing.assert_array_equal(taken, cells.astype(np.float32))
    with pytest.raises(ValueError, match=r"shape \(3, 20\): grids of cells are \(n, rows, columns, depth\)"):
        from_other(np.zeros((3, 20)), GRIDS)
    with pytest.raises(TypeError, match="which are images: a descriptor comes before"):
        from_other(np.zeros((3, 8, 8, 3), np.uint8), GRIDS)
    cells[1, 2, 3, 4] = np.inf
    with pytest.raises(ValueError, match=r"grid 1 has the value inf in cell 2, 3 \(from 0\)"):
        from_other(cells, GRIDS)


# Series


def test_series_of_unequal_length():
    series = [np.arange(3.0), [4, 5], (6.0,), np.arange(2, dtype=np.int8)]
    (form, values, lengths), n = from_other(series, SERIES)
    assert (form, n, lengths.tolist(), lengths.dtype) == ("series", 4, [3, 2, 1, 2], np.int64)
    assert (values.dtype, values.shape) == (np.float32, (8, 1))
    np.testing.assert_array_equal(values[:, 0], [0, 1, 2, 4, 5, 6, 0, 1])


def test_series_of_several_channels():
    series = [np.arange(6.0).reshape(3, 2), np.arange(4.0).reshape(2, 2)]
    (_, values, lengths), _ = from_other(series, SERIES)
    assert (values.shape, lengths.tolist()) == ((5, 2), [3, 2])
    (_, values, lengths), n = from_other(np.arange(24).reshape(2, 4, 3), SERIES)
    assert (values.shape, lengths.tolist(), n) == ((8, 3), [4, 4], 2)
    np.testing.assert_array_equal(values[1], [3, 4, 5])


def test_series_as_rows_of_a_table():
    X = np.arange(6.0).reshape(2, 3)
    expected, _ = from_other(list(X), SERIES)
    for table in (X, X.tolist(), frames("pandas").DataFrame(X), frames("polars").DataFrame(X)):
        taken, n = from_other(table, SERIES)
        assert n == 2
        np.testing.assert_array_equal(taken[1], expected[1])


def test_series_as_columns_of_lists():
    lists = [[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]]
    pandas, polars = frames("pandas"), frames("polars")
    for column in (
        pandas.Series(lists, index=[7, 8, 9]),
        pandas.Series([np.array(x) for x in lists]).to_frame("s"),
        polars.Series(lists),
        polars.DataFrame({"s": lists}),
    ):
        (_, values, lengths), n = from_other(column, SERIES)
        assert (n, lengths.tolist(), values[:, 0].tolist()) == (3, [3, 1, 2], [1, 2, 3, 4, 5, 6])


def same_series(found, series):
    (form, values, lengths), _ = found
    assert (form, lengths.tolist()) == ("series", [len(one) for one in series])
    np.testing.assert_array_equal(values, np.concatenate(series).astype(np.float32))


def test_missing_values_at_the_end_are_not_part_of_a_series():
    whole = [np.arange(2.0 * n).reshape(n, 2) + 1 for n in (4, 2, 3)]
    padded = np.full((3, 5, 2), np.nan)
    for row, one in zip(padded, whole, strict=True):
        row[: len(one)] = one
    for given_as in (padded, padded.astype(np.float32), list(padded), padded.tolist()):
        same_series(from_other(given_as, SERIES, layout="channels_last"), whole)
    same_series(from_other(padded.swapaxes(1, 2), SERIES, layout="channels_first"), whole)
    rows = padded[..., 0]
    flat = [one[:, :1] for one in whole]
    for table in (rows, rows.tolist(), frames("pandas").DataFrame(rows), [[1, 3, 5, 7, None], [1, 3], [1, 3, 5]]):
        same_series(from_other(table, SERIES), flat)


def test_layouts_of_series():
    series = [np.arange(3.0 * n).reshape(n, 3) for n in (5, 5)]
    stacked = np.stack(series)
    for X in (stacked, stacked.tolist(), series):
        for layout in ("auto", "channels_last"):
            same_series(from_other(X, SERIES, layout=layout), series)
    first = stacked.swapaxes(1, 2)
    for X in (first, first.tolist(), list(first)):
        same_series(from_other(X, SERIES, layout="channels_first"), series)
    # Series of one channel have one layout, whatever is given.
    for X in (stacked[..., 0], [one[:, 0] for one in series], stacked[..., :1]):
        same_series(from_other(X, SERIES), [one[:, :1] for one in series])
    same_series(from_other(stacked[..., 0], SERIES, layout="channels_first"), [one[:, :1] for one in series])
    same_series(from_other(first[:, :1], SERIES, layout="channels_first"), [one[:, :1] for one in series])


def test_lengths_that_differ_tell_the_layout():
    series = [np.arange(4.0 * n).reshape(n, 4) for n in (3, 2, 9)]
    same_series(from_other(series, SERIES), series)
    with pytest.raises(
        ValueError, match=r"series 1 \(from 0\) has 2 and the first one 3 .*unless kind='series_channels_first'"
    ):
        from_other([one.T for one in series], SERIES)


@pytest.mark.parametrize("shape", [(10, 2, 50), (10, 3, 3)], ids=str)
def test_the_layout_is_asked_for(shape):
    X = np.random.default_rng(0).random(shape)
    for given_as in (X, list(X), X.tolist()):
        with pytest.raises(ValueError, match=rf"{shape[1]} time steps of {shape[2]} channels.*'series_channels_first'"):
            from_other(given_as, SERIES)
        for layout in ("channels_first", "channels_last"):
            from_other(given_as, SERIES, layout=layout)


def test_the_number_of_channels_tells_the_layout():
    series = [np.arange(8.0).reshape(2, 4)] * 3
    for X in (np.stack(series), np.stack(series).swapaxes(1, 2)):
        same_series(from_other(X, SERIES, n_channels=4), series)
    with pytest.raises(ValueError, match="kind='series_channels_first'"):
        from_other(np.ones((3, 4, 4)), SERIES, n_channels=4)
    same_series(from_other(np.ones((3, 1, 1)), SERIES, n_channels=1), [np.ones((1, 1))] * 3)


# Strings


def test_strings_of_every_kind_of_column():
    texts = ["ab", "", "é€😀"]
    pandas, polars = frames("pandas"), frames("polars")
    for column in (
        texts,
        tuple(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        np.array(texts)[:, None],
        np.array(texts, dtype=np.dtypes.StringDType()),
        pandas.Series(texts),
        pandas.Series(texts, dtype="string", index=[5, 6, 7]),
        pandas.DataFrame({"name": texts}),
        polars.Series(texts),
        polars.DataFrame({"name": texts}),
    ):
        (form, taken), n = from_other(column, STRINGS)
        assert (form, n, taken) == ("strings", 3, texts)
        assert all(isinstance(text, str) for text in taken)


def test_missing_strings_are_named():
    pandas, polars = frames("pandas"), frames("polars")
    for column in (
        ["a", None],
        ["a", float("nan")],
        np.array(["a", None], dtype=object),
        pandas.Series(["a", None]),
        pandas.Series(["a", None], dtype="string"),
        pandas.DataFrame({"name": ["a", None]}),
        polars.Series(["a", None]),
    ):
        with pytest.raises(ValueError, match=r"names: row 1 \(from 0\) is missing.*the empty one is ''"):
            from_other(column, STRINGS, "names")


# Bit sets


def bits_of(words, n_bits):
    return [
        {64 * at + bit for at, word in enumerate(row) for bit in range(64) if int(word) >> bit & 1} for row in words
    ]


@given(st.integers(1, 200), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_rows_of_bool_become_words(n_bits, n, random):
    X = np.array([[random.random() < 0.3 for _ in range(n_bits)] for _ in range(n)])
    (form, words, found), _ = from_other(X, SETS)
    assert (form, found, words.dtype, words.shape) == ("bits", n_bits, np.uint64, (n, -(-n_bits // 64)))
    assert bits_of(words, n_bits) == [set(np.flatnonzero(row)) for row in X]


@given(st.lists(st.sets(st.integers(0, 5000), max_size=20), min_size=1, max_size=5))
@settings(deadline=None)
def test_sets_become_words(sets):
    (_, words, n_bits), n = from_other(sets, SETS)
    assert n == len(sets)
    assert n_bits > max((max(s) for s in sets if s), default=0)
    assert words.shape == (n, -(-n_bits // 64))
    assert bits_of(words, n_bits) == sets


def test_frames_of_bool_are_sets():
    X = np.array([[True, False, True], [False, False, True]])
    expected, _ = from_other(X, SETS)
    for frame in (frames("pandas").DataFrame(X, columns=list("abc")), frames("polars").DataFrame(X)):
        taken, _ = from_other(frame, SETS)
        np.testing.assert_array_equal(taken[1], expected[1])


# Mistakes

REFUSED = {
    "images": [
        (np.zeros((2, 8, 8)), TypeError, r"pixels of float64: pixels are uint8, .*\(255 \* X\)\.round\(\)\.astype"),
        (np.zeros((2, 8, 8), np.int64), TypeError, "pixels of int64: pixels are uint8, 0 to 255"),
        (np.zeros((2, 64), np.uint8), ValueError, r"shape \(2, 64\): images are \(n, height, width\)"),
        ([np.zeros((8, n), np.uint8) for n in (8, 9)], ValueError, r"image 1 \(from 0\) has shape \(8, 9\) and the"),
        (["a.png", "b.png"], TypeError, "takes images"),
        (sparse.eye(3, format="csr"), TypeError, "sparse matrix; the similarity takes images"),
    ],
    "series": [
        ([[1.0], [1.0, np.nan, 1.0]], ValueError, r"series 1 .* nan at time step 1, channel 0.*cut or interpolate"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), ValueError, r"series 1 .* nan.*list of arrays, or padded with NaN"),
        ([[1.0], [1.0, None, 1.0]], ValueError, r"series 1 \(from 0\) is nan at time step 1"),
        ([[1.0], [np.nan, None]], ValueError, r"series 1 \(from 0\) is empty: all its values are missing \(NaN\)"),
        ([[[1.0, 2.0], [1.0, np.nan], [1.0, np.nan]]], ValueError, r"series 0 .* is nan at time step 1, channel 1"),
        ([[1.0], [1e300]], ValueError, r"series 1 \(from 0\) is 1e\+300 at time step 0.*overflows single precision"),
        ([[1.0], []], ValueError, r"series 1 \(from 0\) is empty"),
        ([[1.0], None], ValueError, r"series 1 \(from 0\) is missing"),
        ([[1.0], "abc"], TypeError, r"series 1 \(from 0\) is .*a series is an array of numbers"),
        ([[1.0], ["a", "b"]], TypeError, r"series 1 \(from 0\) is"),
        ([np.ones((3, 2)), np.ones((3, 1))], ValueError, r"series 1 \(from 0\) has 1 and the first one 2"),
        ([np.ones((3, 2, 2))], ValueError, r"series 0 \(from 0\) has shape \(3, 2, 2\)"),
        (np.ones((2, 2, 2, 2)), ValueError, r"shape \(2, 2, 2, 2\): series are \(n, length\)"),
        (["ab", "c"], TypeError, r"series 0 \(from 0\) is"),
    ],
    "strings": [
        ("abc", TypeError, "X is one string: pass samples in a list"),
        (b"abc", TypeError, "X is one bytes object"),
        (["a", b"b"], TypeError, r"row 1 \(from 0\) is a bytes, not a string: decode it"),
        (["a", 3], TypeError, r"row 1 \(from 0\) is a int, not a string"),
        (np.zeros((2, 2)), TypeError, r"array of float64 of shape \(2, 2\); the similarity takes strings"),
        (np.array([["a", "b"]]), TypeError, "takes strings"),
    ],
    "sets": [
        ([{1}, {-1}], ValueError, r"set 1 \(from 0\) has the element -1: elements are integers from 0 to 16777215"),
        ([{1}, {2**24}], ValueError, r"set 1 \(from 0\) has the element 16777216"),
        ([{1}, {"a"}], TypeError, r"set 1 \(from 0\) has the element 'a': elements are integers"),
        ([{1}, {True}], TypeError, r"set 1 \(from 0\) has the element True"),
        ([{1}, [2]], TypeError, r"set 1 \(from 0\) is a list, not a set"),
        (np.ones((2, 3)), TypeError, "takes bit sets"),
        ({1, 2}, TypeError, "X is a set, which has no order"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "X", "error", "message"), [(kind, *row) for kind, rows in REFUSED.items() for row in rows]
)
def test_samples_of_another_kind_raise(kind, X, error, message):
    with pytest.raises(error, match=message):
        from_other(X, [kind])


# Which kind is meant


@pytest.mark.parametrize(
    ("X", "takes", "form"),
    [
        (np.ones((3, 4), bool), ["table", "sets"], "bits"),
        ([{1}, {2}], ["table", "sets"], "bits"),
        ([{1}, {2}], ["sets", "table"], "bits"),
        (np.ones((3, 4, 5, 6)), ["table", "grids"], "grids"),
        (["a", "b"], ["table", "strings"], "strings"),
        ([[1.0], [1.0, 2.0]], ["strings", "series"], "series"),
    ],
)
def test_the_kind_follows_from_the_samples(X, takes, form):
    assert from_other(X, takes)[0][0] == form


def test_vectors_where_they_will_do():
    X = np.arange(6.0).reshape(3, 2)
    for table in (X, X.tolist(), frames("pandas").DataFrame(X)):
        taken, n = from_other(table, ["sets", "table"])
        assert n == 3
        np.testing.assert_array_equal(taken, X)
    taken, _ = from_other(sparse.csr_array(X), ["sets", "table"])
    assert taken[0] == "csr"


def test_a_kind_that_none_takes():
    with pytest.raises(
        TypeError, match=re.escape("a sequence of str; the similarity takes vectors (n, features) or bit")
    ):
        from_other(["a", "b"], ["table", "sets"])
    with pytest.raises(ValueError, match="X has no samples"):
        from_other([], STRINGS)


# Counting and picking


def collections():
    import pandas
    import polars

    X = np.arange(12.0).reshape(6, 2)
    names = list("abcdef")
    return [
        names,
        tuple(names),
        X,
        X[:, 0],
        np.array(names, dtype=object),
        sparse.csr_array(X),
        sparse.coo_matrix(X),
        pandas.DataFrame(X, index=list("uvwxyz")),
        pandas.Series(names, index=range(10, 16)),
        polars.DataFrame(X),
        polars.Series(names),
        Molecules(names),
    ]


@pytest.mark.parametrize("rows", [[0], [5, 0, 3], [2, 2], []])
def test_picking_keeps_samples_and_their_order(rows):
    for X in collections():
        assert count(X) == 6
        picked = pick(X, np.array(rows, dtype=np.int64))
        assert count(picked) == len(rows)
        every, some = items(X), items(picked)
        for row, one in zip(rows, some, strict=True):
            wanted = every[row]
            if sparse.issparse(one):
                one, wanted = one.toarray(), wanted.toarray()
            np.testing.assert_array_equal(one, wanted)


def test_picking_leaves_the_kind():
    import pandas

    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    picked = pick(frame, np.array([2, 0]))
    assert list(picked["b"]) == ["z", "x"]
    assert isinstance(pick(["a", "b"], np.array([1])), list)
    assert items(frame) == [(1, "x"), (2, "y"), (3, "z")]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ((x for x in "ab"), r"generator, which has no length: pass list\(X\)"),
        (3, "int, which has no length$"),
        ({"a": 1}, "dict, which has no order"),
        (np.array(3.0), "single value"),
        ("ab", "one string"),
    ],
)
def test_what_cannot_be_counted(X, message):
    with pytest.raises(TypeError, match=message):
        count(X)


@pytest.mark.parametrize(
    ("pixels", "largest"),
    [
        (np.linspace(0, 1, 2 * 25 * 25).reshape(2, 25, 25), 255),
        (np.linspace(0, 65535, 2 * 25 * 25).astype(np.uint16).reshape(2, 25, 25), 255),
        (np.arange(2 * 25 * 25).reshape(2, 25, 25) % 256, 255),
        (np.linspace(0, 4095, 2 * 25 * 25).round().reshape(2, 25, 25), 255),
        (np.linspace(0, 200, 2 * 25 * 25 * 3).round().astype(np.float32).reshape(2, 25, 25, 3), 200),
    ],
)
def test_advice_on_pictures_of_other_numbers_scales_them(pixels, largest):
    for convert in (kind_of, lambda X: from_other(X, ["images"])):
        with pytest.raises(TypeError, match="pixels are uint8") as caught:
            convert(pixels)
        advice = re.search(r"Convert them: (.*?astype\(np\.uint8\))", str(caught.value))
        scaled = eval(advice[1], {"X": pixels, "np": np})
        assert scaled.dtype == np.uint8
        assert scaled.max() == largest
        # None wraps: the order of the pixels is kept.
        assert (np.diff(scaled.ravel()[np.argsort(pixels.ravel(), kind="stable")].astype(int)) >= 0).all()
        assert kind_of(scaled) == "images"


def test_series_of_few_channels_and_of_any_sign_are_no_pictures():
    rng = np.random.default_rng(0)
    assert kind_of(rng.random((4, 30, 3))) == "series"
    assert kind_of(rng.normal(size=(4, 30, 20))) == "series"
    assert kind_of(rng.random((4, 144, 20))) == "series"
