"""The expressions by which rows say what their similarity is in ONNX, such as ``exp(-gamma * squared_distance)``.

An expression is Python's. It may name the similarity's parameters, ``product``, ``squared_distance``, ``cosine`` and
``tanimoto`` of the sample and the basis, and ``x``, the sample; ``sum(…)`` is over the features, within it ``x`` and
``y`` are the values of the sample and the basis there. ``ratio(a, b)`` is a / b, and 0 where b is 0. ``power_mean(p)``,
``jensen_shannon``, ``radial(exponent)``, ``cityblock``, ``logarithm(gamma, exponent)``, ``multiquadric(gamma)`` and
``inverse_multiquadric(gamma)`` stand alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _onnx_kernels as kernels
from ._onnx_graph import Graph
from ._onnx_kernels import Additive, Array, Radial, Wide
from ._rows import SIMILARITIES, default_of

# Writes a value into a graph: of samples [N, d] and bases (B, d), or of a feature's values [N, 1] and [B].
_Write = Callable[[Graph, str, Any], str]


class Expression:
    """A value [N, B] that is written once there is a graph."""

    def __init__(self, write: _Write) -> None:
        self.block = write

    def __neg__(self) -> Expression:
        return _applied("Neg", self)

    def __add__(self, other: Expression | float) -> Expression:
        return _applied("Add", self, other)

    def __sub__(self, other: Expression | float) -> Expression:
        return _applied("Sub", self, other)

    def __mul__(self, other: Expression | float) -> Expression:
        return _applied("Mul", self, other)

    def __truediv__(self, other: Expression | float) -> Expression:
        return _applied("Div", self, other)

    def __pow__(self, other: Expression | float) -> Expression:
        return _applied("Pow", self, other)

    def __radd__(self, other: float) -> Expression:
        return self + other

    def __rsub__(self, other: float) -> Expression:
        return -self + other

    def __rmul__(self, other: float) -> Expression:
        return self * other


def _applied(operator: str, *operands: Expression | float) -> Expression:
    def write(graph: Graph, x: str, y: Any) -> str:
        written = [one.block(graph, x, y) if isinstance(one, Expression) else np.float32(one) for one in operands]
        return graph(operator, *written)

    return Expression(write)


def _function(operator: str) -> Callable[[Expression], Expression]:
    return lambda operand: _applied(operator, operand)


def _ratio(numerator: Expression, denominator: Expression) -> Expression:
    def write(graph: Graph, x: str, y: Any) -> str:
        a, b = numerator.block(graph, x, y), denominator.block(graph, x, y)
        is_nothing = graph("Equal", b, np.float32(0))
        return graph("Where", is_nothing, np.float32(0), graph("Div", a, graph("Where", is_nothing, np.float32(1), b)))

    return Expression(write)


def _sum(term: Expression) -> Expression:
    return Expression(lambda graph, x, bases: graph.scan(x, bases.T, term.block))


_NAMES: dict[str, Any] = {
    "__builtins__": {},
    "inf": math.inf,
    "x": Expression(lambda graph, x, y: x),
    "y": Expression(lambda graph, x, y: y),
    "product": Expression(kernels.products),
    "squared_distance": Expression(kernels.squared_distances),
    "cosine": Expression(kernels.cosine),
    "tanimoto": Expression(kernels.tanimoto),
    "exp": _function("Exp"),
    "tanh": _function("Tanh"),
    "abs": _function("Abs"),
    "sqrt": _function("Sqrt"),
    "sum": _sum,
    "ratio": _ratio,
    "power_mean": Additive,
    "jensen_shannon": Additive(None),
    "radial": Radial,
    "cityblock": kernels.CITYBLOCK,
    "logarithm": kernels.logarithm,
    "multiquadric": kernels.multiquadric,
    "inverse_multiquadric": kernels.inverse_multiquadric,
}


def expression_of(spec: str) -> Any:
    """What a similarity's expression is, from its spec without descriptors: an Expression, Additive or Wide."""
    name, _, rest = spec.partition(":")
    row = SIMILARITIES[name]
    given = dict(pair.split("=", 1) for pair in rest.split(",") if pair)
    texts = {one["name"]: given.get(one["name"], one["default"]) for one in row["parameters"]}
    numbers = {one["name"]: default_of({**one, "default": texts[one["name"]]}) for one in row["parameters"]}
    return eval(row["onnx"], _NAMES, numbers)


def block(graph: Graph, x: str, bases: Array, spec: str) -> str:
    """Similarities [N, B] of samples [N, d] and bases (B, d) in single precision."""
    found = expression_of(spec)
    if not isinstance(found, Wide):
        return str(found.block(graph, x, bases))
    return kernels.float32(graph, found.block(graph, kernels.float64(graph, x), bases.astype(np.float64)))


def wide_kernel(spec: str) -> Wide:
    """The function of distances that a similarity is in double precision, from its spec without descriptors."""
    name, _, gamma = spec.partition(":gamma=")
    # As similarities in single precision these two are expressions.
    exponentials = {"rbf": kernels.gaussian, "laplacian": kernels.laplacian}
    found = exponentials[name](float(gamma)) if name in exponentials else expression_of(spec)
    if not isinstance(found, Wide):
        raise ValueError(f"the similarity '{spec}' has no expression in double precision")
    return found
