"""Graphs as samples: the descriptor `wl` compared with relabeling in Python."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import widemargin as wm
from widemargin.graphs import to_strings
from widemargin.similarity import Cosine, Features, Linear, WeisfeilerLehman, pairwise


@st.composite
def graph(draw):
    labels = draw(st.lists(st.sampled_from(["C", "N", "é"]), min_size=1, max_size=6))
    node = st.integers(0, len(labels) - 1)
    return labels, draw(st.lists(st.tuples(node, node).filter(lambda edge: edge[0] != edge[1]), max_size=8))


def colors(graph, iterations):
    """How many nodes have each color, colors being nested tuples."""
    labels, edges = graph
    counts = Counter()
    for iteration in range(iterations + 1):
        counts.update((iteration, label) for label in labels)
        around = [[] for _ in labels]
        for tail, head in edges:
            around[tail].append(labels[head])
            around[head].append(labels[tail])
        labels = [(label, tuple(sorted(map(repr, others)))) for label, others in zip(labels, around, strict=True)]
    return counts


@settings(max_examples=30)
@given(st.lists(graph(), min_size=2, max_size=5), st.integers(0, 3))
def test_counts_are_those_of_relabeling(graphs, iterations):
    counts = [colors(one, iterations) for one in graphs]
    right = [[sum(n * other[color] for color, n in one.items()) for other in counts] for one in counts]
    np.testing.assert_allclose(pairwise(WeisfeilerLehman(iterations) >> Linear(), graphs), right)


def rings_and_paths(n):
    rng = np.random.default_rng(0)
    graphs, labels = [], []
    for _ in range(n):
        size, is_ring = int(rng.integers(4, 9)), bool(rng.integers(2))
        edges = [(node, node + 1) for node in range(size - 1)] + [(size - 1, 0)] * is_ring
        order = rng.permutation(size)
        graphs.append((list(rng.choice(["C", "N"], size)), [(int(order[a]), int(order[b])) for a, b in edges]))
        labels.append("ring" if is_ring else "path")
    return graphs, labels


@pytest.mark.parametrize("last", [Cosine(), Features()])
def test_a_classifier_of_graphs(tmp_path, last):
    (graphs, labels), (new, right) = rings_and_paths(80), rings_and_paths(30)
    svc = wm.BasisExpansionSVC(WeisfeilerLehman(2) >> last, normalization="none", C=10.0).fit(graphs, labels)
    assert svc.score(new, right) == 1.0
    wm.save(svc, tmp_path / "model")
    expected = svc.decision_function(new)
    np.testing.assert_array_equal(wm.load(tmp_path / "model").decision_function(to_strings(new)), expected)


class Networkx:
    """What is asked of a graph of networkx."""

    def nodes(self, data):
        assert data
        return [("a", {"label": "C"}), ("b", {"kind": "O"})]

    def edges(self, data):
        assert data
        return [("b", "a", {"label": "="}), ("a", "b", {})]


def test_graphs_of_networkx_are_written_by_their_attributes():
    (text,) = to_strings([Networkx()])
    assert json.loads(text) == {"nodes": ["C", ""], "edges": [[1, 0, "="], [0, 1]]}
    (text,) = to_strings([Networkx()], node_label="kind", edge_label="order")
    assert json.loads(text) == {"nodes": ["", "O"], "edges": [[1, 0], [0, 1]]}


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ((["C"], [(0, 1)]), r"sample 1 \(from 0\) has an edge 0, \[0,1\], to a vertex 1 that is not there"),
        ((["C"], [(0, -1)]), r"edge 0, \[0,-1\], that is not two vertices"),
        ((["C", "O"], [(0, 1), (0,)]), r"sample 1 .* an edge 1, \[0\], that is not two vertices and perhaps a label"),
        ((["C", None], []), "sample 1 .* a node 1 whose label is neither a text nor a number"),
        ((["C", np.nan], []), r"graph 1 \(from 0\): Out of range float values"),
        ((["C", object()], []), r"graph 1 \(from 0\): Object of type object"),
        ((["C", "O"], [(0, 1, ["="])]), r"edge 0, \[0,1,\[\"=\"\]\], that is not two vertices and perhaps a label"),
        ("CO", "graph 1 .* is a str"),
    ],
)
def test_invalid_graphs_raise(graph, words):
    with pytest.raises((TypeError, ValueError), match=words):
        wm.BasisExpansionSVC("wl/cosine").fit([(["C"], []), graph], [0, 1])


def test_invalid_strings_of_graphs_raise():
    with pytest.raises(ValueError, match=r"sample 1 .* an edge 0, \[0,3\], to a vertex 3 that is not there"):
        wm.BasisExpansionSVC("wl/cosine").fit(
            ['{"nodes": ["C"], "edges": []}', '{"nodes": ["C"], "edges": [[0, 3]]}'], [0, 1]
        )
