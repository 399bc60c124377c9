"""Basis expansions as ONNX expressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _onnx_kernels as kernels
from ._onnx_graph import Graph, check_size
from ._onnx_kernels import Array, Arrays, Wide, float32, float64
from ._onnx_similarities import EXPRESSIONS
from ._rows import SIMILARITIES, default_of
from ._specs import columns_of, options_of, steps_of
from ._stored_bases import bases_of

_SCALINGS = ("mean-norm", "z-score")
_NO_OPERATOR = "ONNX has no operator for it"
# Bases that are rows of numbers; sets are, of 0 and 1.
_VECTORS = ("dense", "sparse", "bit-sets")
# The number of columns up to which the library sums products in double precision.
_PRECISE_COLUMNS = 512


def check(header: dict[str, Any]) -> None:
    """Raises ValueError naming any similarity that is not an expression on vectors."""
    kind, specs = header["bases"]["kind"], header["similarity"]
    if kind == "elsewhere":
        # Python similarities follow the built-in ones.
        raise _refused(specs[-1], "a Python callable")
    for spec in specs:
        *before, last = steps_of(spec)
        foreign = [step for step in before if step.partition(":")[0] not in _SCALINGS]
        if last.startswith("precomputed:"):
            raise _refused(spec, "a matrix of distances or with polynomials")
        if SIMILARITIES[last.partition(":")[0]]["declined"]:
            foreign.append(last)
        if foreign:
            reason = SIMILARITIES.get(foreign[0].partition(":")[0], {}).get("declined")
            raise _refused(spec, f"'{foreign[0]}'", reason or _NO_OPERATOR)
    if kind == "far":
        raise ValueError(
            "columns far from 0 cannot be exported: the graph of a basis expansion is in single precision, which has "
            "too few digits for them; fit a pipeline of StandardScaler() and this estimator, and export that"
        )
    if kind not in _VECTORS:
        raise _refused(specs[0], f"a similarity of {kind}")


def _refused(spec: str, what: str, reason: str = _NO_OPERATOR) -> ValueError:
    return ValueError(
        f"the similarity '{spec}' cannot be exported: {what} is not an expression on vectors: {reason}; use "
        "widemargin.save"
    )


def expression_of(spec: str) -> Any:
    """The ONNX expression of a similarity, from its spec without descriptors: an Expression, Additive or Wide."""
    name, _, rest = spec.partition(":")
    arguments = dict(pair.split("=", 1) for pair in rest.split(",") if pair)
    parameters = SIMILARITIES[name]["parameters"]
    values = {
        one["name"]: default_of({**one, "default": arguments.get(one["name"], one["default"])}) for one in parameters
    }
    return EXPRESSIONS[name](**values)


def wide_kernel(spec: str) -> Wide:
    """A similarity as a function of distances in double precision, from its spec without descriptors."""
    name, _, gamma = spec.partition(":gamma=")
    # In single precision these two are expressions.
    exponentials = {"rbf": kernels.gaussian, "laplacian": kernels.laplacian}
    found = exponentials[name](float(gamma)) if name in exponentials else expression_of(spec)
    if not isinstance(found, Wide):
        raise ValueError(f"the similarity '{spec}' has no expression in double precision")
    return found


def expansion(graph: Graph, x: str, model: Any, header: dict[str, Any], arrays: Arrays) -> str:
    """Features [N, D] of x [N, d]: similarities to the bases, normalized and concatenated.

    In double precision if any part is, else in single precision.
    """
    bases = _dense_bases(model, header)
    described = _Described(graph, x, bases, arrays)
    parts = []
    for number, (spec, shape) in enumerate(zip(header["similarity"], header["maps"], strict=True)):
        *before, last = steps_of(spec)
        samples, all_bases = described.after(before)
        # Weights are in the maps.
        bases, similarity = all_bases[columns_of(spec, len(all_bases))], options_of(last)[0]
        if shape["kind"] == "precise-projection":
            precise = wide_kernel(similarity).block(graph, float64(graph, samples), bases.astype(np.float64))
            parts.append(graph("MatMul", precise, arrays[f"map.{number}.projection"]))
            continue
        raw = block(graph, samples, bases, similarity)
        parts.append(_normalized(graph, raw, shape["kind"], f"map.{number}.", arrays))
    if len(parts) == 1:
        return parts[0]
    if any(shape["kind"] == "precise-projection" for shape in header["maps"]):
        parts = [float64(graph, part) for part in parts]
    return graph("Concat", *parts, axis=1)


class _Described:
    """Samples and bases after chains of scalings, each chain computed once."""

    def __init__(self, graph: Graph, x: str, bases: Array, arrays: Arrays) -> None:
        self._graph = graph
        self._arrays = arrays
        self._chains: dict[tuple[str, ...], tuple[str, Array]] = {(): (x, bases)}

    def after(self, steps: list[str]) -> tuple[str, Array]:
        """Samples and bases after some scalings. Chains are numbered in the file in order of first use."""
        chain = tuple(steps)
        if chain in self._chains:
            return self._chains[chain]
        x, bases = self.after(steps[:-1])
        name = f"descriptor.{len(self._chains) - 1}."
        center, factors = self._arrays[name + "center"], self._arrays[name + "factors"]
        scaled = self._graph("Mul", self._graph("Sub", x, center), factors)
        self._chains[chain] = scaled, (bases - center) * factors
        return self._chains[chain]


def block(graph: Graph, x: str, bases: Array, spec: str) -> str:
    """Similarities [N, B] of samples [N, d] and bases (B, d) in single precision."""
    found = expression_of(spec)
    if not isinstance(found, Wide):
        return str(found.block(graph, x, bases))
    return float32(graph, found.block(graph, float64(graph, x), bases.astype(np.float64)))


def _dense_bases(model: Any, header: dict[str, Any]) -> Array:
    bases, shape = bases_of(model), header["bases"]
    if shape["kind"] == "sparse":
        check_size(4 * shape["n"] * shape["n_features"])
        bases = bases.toarray()
    return np.asarray(bases, dtype=np.float32)


def _normalized(graph: Graph, raw: str, kind: str, name: str, arrays: Arrays) -> str:
    if kind == "projection":
        return _projected(graph, raw, arrays[name + "projection"])
    if kind == "whitening":
        return _projected(graph, graph("Sub", raw, arrays[name + "center"]), arrays[name + "projection"])
    center, factors = arrays[name + "center"], arrays[name + "factors"]
    if not center.any() and (factors == 1).all():
        return raw
    return graph("Mul", graph("Sub", raw, center), factors)


def _projected(graph: Graph, rows: str, matrix: Array) -> str:
    """Rows times a matrix; with few columns in double precision, as in the library, since the terms may cancel."""
    if len(matrix) > _PRECISE_COLUMNS:
        return graph("MatMul", rows, matrix)
    # The file stores the matrix in single precision.
    wide = float64(graph, graph.constant(matrix))
    return float32(graph, graph("MatMul", float64(graph, rows), wide))
