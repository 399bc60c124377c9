"""Conversion of labeled graphs to the strings that the descriptor `wl` reads."""

from __future__ import annotations

import json
import math
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
    ValueError, TypeError
        For other objects, for labels that are neither strings nor numbers, and for edges to nodes that do not exist.
        The message names the graph and the edge.

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
        edges = [_numbered(places, edge, edge_label) for edge in graph.edges(data=True)]
    names = [_label(number, f"node {place}", label) for place, label in enumerate(labels)]
    written = [_edge(number, place, edge, len(names)) for place, edge in enumerate(edges)]
    return json.dumps({"nodes": names, "edges": written}, ensure_ascii=False)


def _numbered(places: dict[Any, int], edge: Any, edge_label: str) -> tuple[Any, ...]:
    tail, head, data = edge
    label = data.get(edge_label)
    ends = (places[tail], places[head])
    return ends if label is None else (*ends, label)


def _label(number: int, what: str, label: Any) -> str | int | float:
    match label:
        case str():
            return str(label)
        case numbers.Integral():
            return int(label)
        case numbers.Real() if math.isfinite(label):
            return float(label)
    raise ValueError(f"graph {number} (from 0), {what}: the label {label!r} is neither a string nor a finite number")


def _edge(number: int, place: int, edge: Any, n_nodes: int) -> list[Any]:
    parts = list(edge) if isinstance(edge, (list, tuple, np.ndarray)) else []
    ends = parts[:2]
    if len(parts) not in (2, 3) or not all(isinstance(end, numbers.Integral) for end in ends):
        raise ValueError(
            f"graph {number} (from 0), edge {place}: {edge!r} must be the numbers of two nodes, optionally with a label"
        )
    for end in ends:
        if not 0 <= end < n_nodes:
            raise ValueError(
                f"graph {number} (from 0), edge {place}: there is no node {end} among {n_nodes}, which are numbered "
                "from 0"
            )
    return [int(end) for end in ends] + [_label(number, f"edge {place}", label) for label in parts[2:]]
