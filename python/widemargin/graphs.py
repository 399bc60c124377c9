"""Conversion of labeled graphs to the strings that the descriptor `wl` reads."""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["to_strings"]

_LISTS = (list, tuple, np.ndarray)


def to_strings(graphs: Iterable[object], *, node_label: str = "label", edge_label: str = "label") -> list[str]:
    """Converts graphs to JSON strings, the format that `WeisfeilerLehman` and the command line read.

    Estimators convert graphs in X automatically. Call this function to write files, or if the label attributes have
    other names.

    Parameters
    ----------
    graphs : iterable of tuple or of networkx graphs
        The graphs. In a tuple (node_labels, edges), ``node_labels`` contains the label of each node, a string or a
        number, and ``edges`` contains pairs (from, to) of node indices, or triples (from, to, edge_label). Networkx
        graphs, and other objects with `nodes(data=True)` and `edges(data=True)`, are treated as undirected unless `wl`
        is `directed`; each edge counts once.
    node_label, edge_label : str
        The names of the node and edge attributes that contain the labels in networkx graphs. Labels are empty if the
        attribute is missing.

    Returns
    -------
    strings : list of str

    Raises
    ------
    TypeError, ValueError
        For objects that are not graphs, and for labels that JSON cannot contain. The message names the graph. Other
        invalid labels and edges are reported by the similarity.

    Examples
    --------
    >>> to_strings([(["C", "O"], [(0, 1)])])
    ['{"nodes": ["C", "O"], "edges": [[0, 1]]}']
    """
    return [_string(number, graph, node_label, edge_label) for number, graph in enumerate(graphs)]


def is_graph(sample: object) -> bool:
    """Whether a sample looks like a graph: of networkx, or a pair of node labels and edges."""
    if callable(getattr(sample, "nodes", None)) and callable(getattr(sample, "edges", None)):
        return True
    if not (isinstance(sample, tuple) and len(sample) == 2 and all(isinstance(x, _LISTS) for x in sample)):
        return False
    labels, edges = sample
    # The two channels of a series are numbers, and edges are pairs or triples.
    return (len(labels) == 0 or not isinstance(labels[0], _LISTS)) and (len(edges) == 0 or isinstance(edges[0], _LISTS))


def _string(number: int, graph: Any, node_label: str, edge_label: str) -> str:
    if not is_graph(graph):
        raise TypeError(
            f"graph {number} (from 0) is a {type(graph).__name__}: a graph is a tuple (node_labels, edges), or one of "
            "networkx"
        )
    if isinstance(graph, tuple):
        labels, edges = graph
    else:
        nodes = list(graph.nodes(data=True))
        places = {node: place for place, (node, _) in enumerate(nodes)}
        labels = [data.get(node_label, "") for _, data in nodes]
        edges = []
        for tail, head, data in graph.edges(data=True):
            ends, label = (places[tail], places[head]), data.get(edge_label)
            edges.append(ends if label is None else (*ends, label))
    try:
        content = {"nodes": list(map(_label, labels)), "edges": [list(map(_label, edge)) for edge in edges]}
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"graph {number} (from 0): {error}") from None


def _label(label: Any) -> Any:
    """A label, or the number of a node, without NumPy's types."""
    if isinstance(label, numbers.Integral):
        return int(label)
    return label.item() if isinstance(label, np.generic) else label
