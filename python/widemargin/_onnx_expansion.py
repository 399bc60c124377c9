"""Basis expansions as ONNX expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _onnx_kernels as kernels
from ._onnx_graph import Graph, check_size
from ._onnx_kernels import Additive, Array, Arrays, Radial, step_of
from ._specs import steps_of
from ._stored_bases import bases_of

_ADDITIVE = ("chi2", "hellinger", "intersection", "jensen-shannon", "power-mean")
_RADIAL = ("distance", "thin-plate", "cubic", "polyharmonic", "spline")
_SCALINGS = ("mean-norm", "z-score")
# Kinds of bases that are numeric rows; sets are rows of 0 and 1.
_VECTORS = ("dense", "sparse", "bit-sets")


def check(told: dict[str, Any]) -> None:
    """Raises ValueError naming any similarity that is not an expression on vectors."""
    kind, specs = told["bases"]["kind"], told["similarity"]
    if kind == "elsewhere":
        # Python similarities follow the library's.
        raise _refused(specs[-1], "a Python callable")
    for spec in specs:
        *before, last = steps_of(spec)
        foreign = [step for step in before if step not in _SCALINGS]
        if last.partition(":")[0] not in _BLOCKS:
            foreign.append(last)
        if foreign:
            raise _refused(spec, f"'{foreign[0]}'")
    if kind not in _VECTORS:
        raise _refused(specs[0], f"a similarity of {kind}")


def _refused(spec: str, what: str) -> ValueError:
    return ValueError(
        f"the similarity '{spec}' cannot be exported: {what} is not an expression on vectors: ONNX has no operator "
        "for it; use widemargin.save"
    )


def expansion(graph: Graph, x: str, model: Any, told: dict[str, Any], arrays: Arrays) -> str:
    """Features [N, D] of x [N, d] in single precision: similarities to the bases, normalised, side by side."""
    bases = _dense_bases(model, told)
    described = _Described(graph, x, bases, arrays)
    parts = []
    for number, (spec, shape) in enumerate(zip(told["similarity"], told["maps"], strict=True)):
        *before, last = steps_of(spec)
        samples, seen = described.after(before)
        name, arguments = step_of(last)
        raw = _BLOCKS[name](graph, samples, seen, name, arguments)
        parts.append(_normalised(graph, raw, shape["kind"], f"map.{number}.", arrays))
    return parts[0] if len(parts) == 1 else graph("Concat", *parts, axis=1)


class _Described:
    """Samples and bases after chains of scalings, each chain computed once."""

    def __init__(self, graph: Graph, x: str, bases: Array, arrays: Arrays) -> None:
        self._graph = graph
        self._arrays = arrays
        self._known: dict[tuple[str, ...], tuple[str, Array]] = {(): (x, bases)}

    def after(self, steps: list[str]) -> tuple[str, Array]:
        """Samples and bases after some scalings. Chains are numbered in the file in order of first use."""
        chain = tuple(steps)
        if chain in self._known:
            return self._known[chain]
        x, bases = self.after(steps[:-1])
        name = f"descriptor.{len(self._known) - 1}."
        centre, factors = self._arrays[name + "centre"], self._arrays[name + "factors"]
        scaled = self._graph("Mul", self._graph("Sub", x, centre), factors)
        self._known[chain] = scaled, (bases - centre) * factors
        return self._known[chain]


def _dense_bases(model: Any, told: dict[str, Any]) -> Array:
    bases, shape = bases_of(model), told["bases"]
    if shape["kind"] == "sparse":
        check_size(4 * shape["n"] * shape["n_features"])
        bases = bases.toarray()
    return np.asarray(bases, dtype=np.float32)


def _normalised(graph: Graph, block: str, kind: str, name: str, arrays: Arrays) -> str:
    if kind == "projection":
        return graph("MatMul", block, arrays[name + "projection"])
    centre, factors = arrays[name + "centre"], arrays[name + "factors"]
    if not centre.any() and (factors == 1).all():
        return block
    return graph("Mul", graph("Sub", block, centre), factors)


def _linear(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    return kernels.products(graph, x, bases)


def _exponential(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    distances = kernels.squared_distances if name == "rbf" else kernels.absolute_differences
    return graph("Exp", graph("Mul", distances(graph, x, bases), -np.float32(arguments["gamma"])))


def _of_product(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    scaled = graph("Mul", kernels.products(graph, x, bases), np.float32(arguments["gamma"]))
    if name == "sigmoid":
        return graph("Tanh", graph("Add", scaled, np.float32(arguments.get("coef0", 0))))
    base = graph("Add", scaled, np.float32(arguments.get("coef0", 1)))
    return graph("Pow", base, np.float32(arguments.get("degree", 3)))


def _ratio(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    """Cosine and Tanimoto, in double precision, in which products of counts are exact."""
    x, bases = kernels.float64(graph, x), bases.astype(np.float64)
    products, norms = kernels.products(graph, x, bases), kernels.squares(graph, x)
    own = np.square(bases).sum(axis=1)
    if name == "cosine":
        size = graph("Sqrt", graph("Mul", norms, own))
        # A zero vector is similar only to a zero vector.
        of_nothing: Any = kernels.float64(graph, graph("Equal", norms, own))
    else:
        size = graph("Sub", graph("Add", norms, own), products)
        of_nothing = np.float64(1)
    is_nothing = graph("LessOrEqual", size, np.float64(0))
    ratio = graph("Div", products, graph("Where", is_nothing, np.float64(1), size))
    return kernels.float32(graph, graph("Where", is_nothing, of_nothing, ratio))


def _additive(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    return Additive.of(name, arguments).block(graph, x, bases)


def _radial(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    block = Radial.of(name, arguments).block(graph, kernels.float64(graph, x), bases.astype(np.float64))
    return kernels.float32(graph, block)


def _as_given(graph: Graph, x: str, bases: Array, name: str, arguments: dict[str, str]) -> str:
    return x


_BLOCKS: dict[str, Callable[[Graph, str, Array, str, dict[str, str]], str]] = {
    "linear": _linear,
    "rbf": _exponential,
    "laplacian": _exponential,
    "polynomial": _of_product,
    "sigmoid": _of_product,
    "cosine": _ratio,
    "tanimoto": _ratio,
    "precomputed": _as_given,
    **dict.fromkeys(_ADDITIVE, _additive),
    **dict.fromkeys(_RADIAL, _radial),
}
