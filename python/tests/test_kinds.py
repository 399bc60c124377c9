"""The kind of samples is inferred in one place, said, and what is of no kind is refused."""

import warnings
from collections import deque

import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from compared import on_bases
from scipy import sparse
from sklearn.datasets import load_digits

import widemargin as wm
from widemargin._kinds import are_smooth, kind_of
from widemargin._samples import from_other
from widemargin.graphs import is_graph
from widemargin.similarity import pairs

SERIES = [np.arange(3.0), np.arange(3.0) + 1]
LISTS = [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
GRAPHS = [(["C", "O"], [(0, 1)]), (["C"], [])]


class Sequence:
    """A collection that has a length and positions, and nothing else."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, at):
        if not isinstance(at, int) or at >= len(self.values):
            raise KeyError(at)
        return self.values[at]


def nested():
    """Two frames of two series of two channels."""
    cells = {"x": [np.arange(3.0), np.arange(4.0)], "y": [np.arange(3.0) + 5, np.arange(4.0) + 5]}
    return [
        pandas.DataFrame({name: [pandas.Series(cell) for cell in column] for name, column in cells.items()}),
        pandas.DataFrame(cells),
        polars.DataFrame({name: [cell.tolist() for cell in column] for name, column in cells.items()}),
        pandas.DataFrame(cells).to_numpy(),
    ]


@pytest.mark.parametrize(
    ("kind", "X"),
    [
        ("table", np.zeros((2, 3))),
        ("table", LISTS),
        ("table", tuple(map(tuple, LISTS))),
        ("table", pandas.DataFrame(LISTS)),
        ("table", polars.DataFrame(LISTS)),
        ("table", sparse.csr_array(LISTS)),
        ("table", Sequence(LISTS)),
        ("series", SERIES),
        ("series", [[1.0, 2.0], [3.0]]),
        ("series", np.array([*SERIES, None], dtype=object)[:2]),
        ("series", [pandas.Series(x) for x in SERIES]),
        ("series", [polars.Series(x) for x in SERIES]),
        ("series", [deque(x) for x in LISTS]),
        ("series", pandas.Series(SERIES)),
        ("series", pandas.Series(LISTS)),
        ("series", pandas.DataFrame({"x": SERIES})),
        ("series", polars.Series(LISTS)),
        ("series", polars.Series(LISTS, dtype=polars.Array(polars.Float64, 3))),
        ("series", polars.DataFrame({"x": LISTS})),
        ("series", pyarrow.array(LISTS)),
        ("series", Sequence(SERIES)),
        ("series", np.zeros((2, 3, 1))),
        ("series", [([1.0, 2.0], [3.0, 4.0]), ([1.0, 2.0], [3.0, 4.0])]),
        *[("series", frame) for frame in nested()],
        ("strings", ["a", "b"]),
        ("strings", deque(["a", "b"])),
        ("strings", Sequence(["a", "b"])),
        ("strings", pyarrow.chunked_array([["a"], ["b"]])),
        ("strings", pandas.array(["a", "b"], dtype="string")),
        ("graphs", GRAPHS),
        ("graphs", [(np.array([1, 2]), np.array([[0, 1]]))]),
        ("graphs", [networkx.path_graph(3)]),
        ("graphs", Sequence(GRAPHS)),
        ("graphs", pandas.Series(GRAPHS)),
        ("sets", [{1}, {2}]),
        ("sets", np.ones((2, 3), bool)),
        ("images", np.zeros((2, 8, 8), np.uint8)),
        ("images", [np.zeros((8, 8, 3), np.uint8)] * 2),
        ("grids", np.zeros((2, 3, 3, 4))),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_kind_of_every_collection(kind, X):
    assert kind_of(X) == kind


@pytest.mark.parametrize(
    "X", [[{"a": 1}], [object()], [lambda: 0], Sequence([object()])], ids=["dict", "object", "function", "sequence"]
)
def test_objects_of_no_kind_are_refused(X):
    for fitted in (wm.BasisExpansionSVC(), wm.AutoSVC(), wm.BasisExpansionSVC("rbf"), wm.BasisExpansionRegressor()):
        with pytest.raises(TypeError, match=r"X is a list of objects of type .*decorated with widemargin\.similarity"):
            fitted.fit(X, [0])


def test_a_single_sample_is_refused():
    for one in (networkx.path_graph(3), GRAPHS[0]):
        for similarity in ("auto", "wl/cosine"):
            with pytest.raises(TypeError, match="X is one graph: pass samples in a list"):
                wm.BasisExpansionSVC(similarity).fit(one, [0, 1, 2])


def test_the_kind_is_an_attribute_and_is_said(tmp_path, capsys):
    X, y = waves(40)
    svc = on_bases("dtw", n_basis=5, verbose=1)
    assert svc.fit(list(X), y).kind_ == "series"
    assert "BasisExpansionSVC: X has 40 samples, read as series" in capsys.readouterr().err
    assert svc.set_params(verbose=0).fit(X, y).kind_ == "series"
    assert svc.set_params(kind="table").fit(list(X), y).kind_ == "table"
    svc.set_params(kind="auto")
    assert capsys.readouterr().err == ""
    svc.fit(list(X), y)
    wm.save(svc, tmp_path / "model")
    assert wm.load(tmp_path / "model").kind_ == "series"
    assert wm.BasisExpansion(pairs(lambda a, b: 1.0 + len(a)), n_basis=3).fit(list(X)).kind_ == "objects"
    assert wm.BasisExpansionSVC("precomputed", C=1.0).fit(X @ X.T, y).kind_ == "precomputed"
    assert wm.BasisExpansionOneClass().fit(X).kind_ == "table"
    assert wm.BasisExpansionRegressor("wl/cosine").fit(GRAPHS * 5, np.arange(10)).kind_ == "graphs"
    assert wm.AutoSVC().fit(list(X), y).kind_ == "series"


def waves(n, length=30):
    """Series of two classes, which differ in their frequency."""
    random = np.random.default_rng(n)
    y = np.arange(n) % 2
    return np.sin(np.linspace(0, 6, length) * (1 + y[:, None])) + random.normal(0, 0.1, (n, length)), y


def test_a_model_of_series_of_equal_length_takes_others():
    X, y = waves(60)
    svc = wm.BasisExpansionSVC().fit(list(X), y)
    assert svc.kind_ == "series"
    shorter, labels = waves(30, 30)
    assert svc.score([row[:25] for row in shorter], labels) > 0.9
    scores = svc.decision_function(list(X))
    for same in (X, X[:, :, None], X[:, None, :], pandas.Series(list(X)), polars.Series(X.tolist())):
        np.testing.assert_array_equal(svc.decision_function(same), scores)


def test_one_channel_first_is_one_channel():
    X, y = waves(40)
    settings = {"n_basis": 5, "normalization": "mean_norm", "C": 1.0}
    expected = wm.BasisExpansionSVC("dtw", **settings).fit(list(X), y).decision_function(list(X))
    for first in (X[:, None, :], list(X[:, None, :])):
        svc = wm.BasisExpansionSVC("dtw", **settings).fit(first, y)
        np.testing.assert_array_equal(svc.decision_function(first), expected)
    uneven = [np.ones((1, 5)), np.ones((1, 3))]
    (_, values, lengths), _ = from_other(uneven, ["series"])
    assert (values.shape, lengths.tolist()) == ((8, 1), [5, 3])


def test_columns_of_nested_frames_are_channels():
    for frame in nested():
        for layout in ("auto", "channels_first"):
            (_, values, lengths), n = from_other(frame, ["series", "table"], layout=layout)
            assert (n, lengths.tolist()) == (2, [3, 4])
            np.testing.assert_array_equal(values, [[0, 5], [1, 6], [2, 7], [0, 5], [1, 6], [2, 7], [3, 8]])
    frame = pandas.DataFrame({"x": SERIES, "y": [np.ones(3), np.ones(2)]})
    with pytest.raises(ValueError, match=r"series 1 .* channels of lengths \[3, 2\]"):
        from_other(frame, ["series"])


def rings_and_stars(n):
    """Graphs of networkx whose nodes have no labels."""
    graphs = [networkx.cycle_graph(4 + k % 5) if k % 2 else networkx.star_graph(3 + k % 5) for k in range(n)]
    return graphs, np.arange(n) % 2


def test_graphs_with_the_default_similarity():
    graphs, y = rings_and_stars(60)
    tuples = [([""] * len(graph), list(graph.edges)) for graph in graphs]
    for samples in (graphs, tuples, np.array([*graphs, None], dtype=object)[:-1], Sequence(tuples)):
        for estimator in (wm.BasisExpansionSVC(), wm.AutoSVC()):
            fitted = estimator.fit(samples, y)
            assert fitted.kind_ == "graphs"
            assert fitted.score(graphs, y) == 1.0
    assert wm.BasisExpansionSVC().fit(graphs, y).similarity_.startswith("wl:")


def test_channels_of_a_series_are_no_graph():
    assert not is_graph(([1.0, 2.0], [3.0, 4.0]))
    assert not is_graph(([[1.0], [2.0]], [[3.0], [4.0]]))
    assert is_graph((["C"], []))
    assert is_graph((["C", "O"], [(0, 1, "=")]))


def test_sequences_of_samples():
    words, y = ["abc", "abd", "xyz", "xyy"] * 10, [0, 0, 1, 1] * 10
    for samples in (Sequence(words), deque(words)):
        for similarity in ("auto", "edit", pairs(lambda a, b: float(a[0] == b[0]))):
            svc = wm.BasisExpansionSVC(similarity).fit(samples, y)
            assert svc.score(samples, y) == 1.0
            np.testing.assert_array_equal(svc.predict(samples), svc.predict(words))


@pytest.mark.parametrize(
    "function",
    [lambda a, b: abs(len(a) - len(b)), lambda a, b: float(a.lower() == b.lower())],
    ids=["a number", "an error"],
)
def test_a_forgotten_decorator_is_named(function):
    with pytest.raises((ValueError, AttributeError)) as raised:
        wm.BasisExpansionSVC(function).fit(["abc", "xyz"] * 10, [0, 1] * 10)
    message = " ".join([str(raised.value), *getattr(raised.value, "__notes__", [])])
    assert "compares one sample with one basis, decorate it with widemargin.similarity.pairs" in message


def test_kind_decides_where_a_collection_could_be_of_several():
    X, y = waves(40)
    settings = {"n_basis": 5, "normalization": "mean_norm", "C": 1.0}
    series = wm.BasisExpansionSVC(kind="series", **settings).fit(X, y)
    assert series.kind_ == "series"
    assert series.predict([row[:20] for row in X]).shape == (40,)
    assert wm.BasisExpansionSVC("dtw", kind="table", **settings).fit(list(X), y).kind_ == "table"
    assert wm.BasisExpansionSVC("dtw", **settings).fit(X.tolist(), y).kind_ == "series"
    assert wm.AutoSVC(kind="table").fit(list(X), y).kind_ == "table"
    assert wm.BasisExpansion(kind="table", n_basis=3).fit(X > 0).kind_ == "table"
    assert wm.BasisExpansionRegressor(kind="sets", n_basis=3, C=1.0).fit(X > 0, y).kind_ == "sets"
    assert wm.BasisExpansionOneClass("wl/cosine", kind="graphs").fit(GRAPHS * 5).kind_ == "graphs"
    own = wm.BasisExpansionSVC(pairs(lambda a, b: 1.0 + len(a)), kind="objects", **settings)
    assert own.fit(list(X), y).kind_ == "objects"


@pytest.mark.parametrize(
    ("similarity", "kind", "message"),
    [
        ("rbf", "series", "kind='series', but the similarity compares samples of the kind 'table'"),
        ("edit", "table", "kind='table', but the similarity compares samples of the kind 'strings'"),
        ("auto", "objects", "kind='objects' needs a similarity of your own"),
        ("dtw", "objects", "kind='objects', but the similarity compares samples of the kind 'series' or 'table'"),
        ("auto", "vectors", "The 'kind' parameter must be one of 'auto', 'table'"),
        ("rbf", "vectors", "The 'kind' parameter must be one of 'auto', 'table'"),
        (pairs(lambda a, b: 1.0), "series", "kind='series', but the similarity compares samples of the kind 'objects'"),
    ],
)
def test_rejects_a_kind_that_the_similarity_does_not_compare(similarity, kind, message):
    with pytest.raises(ValueError, match=message):
        wm.BasisExpansionSVC(similarity, kind=kind).fit(*waves(10))


def test_hints_at_series_where_neighboring_columns_are_alike():
    X, y = waves(40, 60)
    svc = wm.BasisExpansionSVC(n_basis=5, C=1.0)
    for smooth in (X, X.tolist(), pandas.DataFrame(X), polars.DataFrame(X)):
        with pytest.warns(wm.KindWarning, match="kind='series'"):
            svc.fit(smooth, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svc.set_params(kind="table").fit(X, y)
        svc.set_params(kind="auto", similarity="rbf").fit(X, y)
    random = np.random.default_rng(0)
    shared = random.normal(size=(50, 1)) + 0.3 * random.normal(size=(50, 80))
    for rough in (random.normal(size=(50, 80)), shared, X[:, ::3], load_digits().data, np.ones((9, 60))):
        assert not are_smooth(rough)
