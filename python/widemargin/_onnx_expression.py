"""The names in ONNX expressions of the library's rows, such as ``exp(-gamma * squared_distance)``.

`scripts/generate.py` writes these expressions to `_onnx_similarities.py`. Their names are the similarity's parameters,
``product``, ``squared_distance``, ``cosine`` and ``tanimoto`` of the sample and the basis, and ``x``, the sample.
``sum(…)`` is over the features: within it ``x`` and ``y`` are the values of one feature of the sample and the basis.
``abs(…)`` is the absolute value, and ``ratio(a, b)`` is a / b, and 0 where b is 0. ``power_mean(p)``,
``jensen_shannon``, ``radial(exponent)``, ``cityblock``, ``logarithm(gamma, exponent)``, ``multiquadric(gamma)`` and
``inverse_multiquadric(gamma)`` are whole expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf as inf
from typing import Any

import numpy as np

from . import _onnx_graph as kernels
from ._onnx_graph import Additive, Graph, Radial

# Adds a value to a graph: of samples [N, d] and bases (B, d), or of the values [N, 1] and [B] of a feature.
_Write = Callable[[Graph, str, Any], str]


class Expression:
    """A value [N, B] that is added to a graph by `block`."""

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


def ratio(numerator: Expression, denominator: Expression) -> Expression:
    """numerator / denominator, and 0 where the denominator is 0."""

    def write(graph: Graph, x: str, y: Any) -> str:
        a, b = numerator.block(graph, x, y), denominator.block(graph, x, y)
        is_zero = graph("Equal", b, np.float32(0))
        return graph("Where", is_zero, np.float32(0), graph("Div", a, graph("Where", is_zero, np.float32(1), b)))

    return Expression(write)


def total(term: Expression) -> Expression:
    """The sum over the features of a term in which `x` and `y` are the values of one feature."""
    return Expression(lambda graph, x, bases: graph.scan(x, bases.T, term.block))


x = Expression(lambda graph, x, y: x)
y = Expression(lambda graph, x, y: y)
product = Expression(kernels.products)
squared_distance = Expression(kernels.squared_distances)
cosine = Expression(kernels.cosine)
tanimoto = Expression(kernels.tanimoto)
exp, tanh, absolute = _function("Exp"), _function("Tanh"), _function("Abs")
power_mean, jensen_shannon, radial = Additive, Additive(None), Radial
cityblock, logarithm = kernels.CITYBLOCK, kernels.logarithm
multiquadric, inverse_multiquadric = kernels.multiquadric, kernels.inverse_multiquadric
