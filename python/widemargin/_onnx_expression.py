"""Similarities as ONNX expressions, such as ``exp(-gamma * squared_distance)``, and the graph to which they are added.

Imported only if onnx is installed.

`scripts/generate.py` writes the expressions of the library's rows to `_onnx_similarities.py`. Their names are the
similarity's parameters, ``product``, ``squared_distance``, ``cosine`` and ``tanimoto`` of the sample and the basis, and
``x``, the sample. ``sum(…)`` is over the features: within it ``x`` and ``y`` are the values of one feature of the
sample and the basis. ``abs(…)`` is the absolute value, and ``ratio(a, b)`` is a / b, and 0 where b is 0.
``power_mean(p)``, ``jensen_shannon``, ``radial(exponent)``, ``cityblock``, ``logarithm(gamma, exponent)``,
``multiquadric(gamma)`` and ``inverse_multiquadric(gamma)`` are whole expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf as inf
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

# The fraction of the norms below which a squared distance from products is recomputed, by item size: that of the
# library for 4 bytes, and one that preserves 13 digits for 8.
_CANCELLED = {4: 2.0**-3, 8: 2.0**-10}

# The name of a value in the graph, or a constant to be added.
Operand = str | npt.NDArray[Any] | np.generic

# The maximum size of a model: protobuf has 32-bit lengths, and the nodes need space, too.
_MAX_BYTES = 2**31 - 2**20


class Graph:
    """Nodes and constants, numbered in order.

    Parameters
    ----------
    prefix : str, default=""
        Prefix of every name: an inner graph can access the names of the outer one, so they must differ.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._n_names = 0
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._shared: dict[tuple[str, float], str] = {}
        self.n_bytes = 0
        self.outputs: list[onnx.ValueInfoProto] = []

    def __call__(self, operator: str, *operands: Operand, **attributes: Any) -> str:
        """Adds a node with one output, and returns the output's name."""
        output = self._name(operator)
        inputs = [one if isinstance(one, str) else self.constant(one) for one in operands]
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def output(self, declared: onnx.ValueInfoProto, operator: str, *operands: Operand, **attributes: Any) -> None:
        """Adds a node whose output is one of the model."""
        self(operator, *operands, **attributes)
        self._nodes[-1].output[0] = declared.name
        self.outputs.append(declared)

    def constant(self, value: npt.NDArray[Any] | np.generic) -> str:
        """Adds a constant of the array's dtype, strings being objects; identical scalars are shared."""
        array = np.asarray(value)
        key = (array.dtype.str, float(array)) if array.ndim == 0 else None
        if key is not None and key in self._shared:
            return self._shared[key]
        self._add_bytes(array.nbytes)
        name = self._name("constant")
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        if key is not None:
            self._shared[key] = name
        return name

    def cast(self, value: str, dtype: npt.DTypeLike) -> str:
        """The value cast to another type."""
        return self("Cast", value, to=_element(dtype))

    def total(self, value: str, axis: int, *, keepdims: int = 1) -> str:
        """The sum along an axis."""
        return self("ReduceSum", value, np.array([axis]), keepdims=keepdims)

    def scan(
        self, x: str, rows: npt.NDArray[Any], step: Callable[[Graph, str, str], str], *, pairs: str | None = None
    ) -> str:
        """Σ_j step(x_j, rows_j), of x [N, d] and rows [d, B]: [N, B], with memory for several such matrices.

        For some pairs (i, k), [2, P], only these entries, in double precision: [P]. `step` receives [N, 1] and [B], or
        [P] twice, and adds nodes to the inner graph that it receives.
        """
        dtype, (_, n_columns) = rows.dtype, rows.shape
        prefix = self._name("scan") + "."
        body = Graph(prefix)
        partial_sum, column, row = body._name("sum"), body._name("x"), body._name("row")
        shape: list[str | int]
        if pairs is None:
            of_sum, shape = dtype, ["N", n_columns]
            n_rows = self("Gather", self("Shape", x), np.array([0]), axis=0)
            size = self("Concat", n_rows, np.array([n_columns]), axis=0)
            term = step(body, body("Unsqueeze", column, np.array([1])), row)
        else:
            of_sum, shape = np.dtype(np.float64), [prefix + "pairs"]
            left, right = (self("Gather", pairs, np.array(side), axis=0) for side in (0, 1))
            size = self("Shape", left)
            term = step(body, body("Gather", column, left, axis=0), body("Gather", row, right, axis=0))
        after = body("Add", partial_sum, term)
        self._add_bytes(body.n_bytes)
        inner = body.proto(
            [value(partial_sum, of_sum, shape), value(column, dtype, ["N"]), value(row, dtype, [n_columns])],
            [value(after, of_sum, shape)],
        )
        zeros = self("ConstantOfShape", size, value=numpy_helper.from_array(np.zeros(1, of_sum)))
        return self("Scan", zeros, self("Transpose", x, perm=[1, 0]), rows, body=inner, num_scan_inputs=2)

    def proto(
        self, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto], name: str = "widemargin"
    ) -> onnx.GraphProto:
        """The finished model."""
        return helper.make_graph(self._nodes, name, inputs, outputs, initializer=self._constants)

    def _name(self, stem: str) -> str:
        self._n_names += 1
        return f"{self._prefix}{stem.lower()}.{self._n_names}"

    def _add_bytes(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        check_size(self.n_bytes)


def check_size(n_bytes: int) -> None:
    """Raises ValueError for constants beyond the maximum size of a model, before they are copied."""
    if n_bytes > _MAX_BYTES:
        raise ValueError(
            f"the model's constants need {n_bytes / 1e9:.1f} GB or more, and the limit of ONNX is 2 GB: train with "
            "fewer bases (n_basis) or features, or use widemargin.save"
        )


def value(name: str, dtype: npt.DTypeLike, shape: Sequence[str | int]) -> onnx.ValueInfoProto:
    """The type of an input or an output; strings are objects."""
    return helper.make_tensor_value_info(name, _element(dtype), list(shape))


def _element(dtype: npt.DTypeLike) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


@dataclass(frozen=True)
class Pair:
    """Samples [N, d] and bases (B, d) in a graph, or the values [N, 1] and [B] of one feature."""

    graph: Graph
    x: str
    y: Any
    dtype: np.dtype[Any]
    # The values that are in the graph.
    written: dict[Expression, Operand] = field(default_factory=dict)


def _applied(operator: str, *operands: Expression | float) -> Expression:
    def write(pair: Pair) -> str:
        found = [one.of(pair) if isinstance(one, Expression) else pair.dtype.type(one) for one in operands]
        return pair.graph(operator, *found)

    return Expression(write)


def _function(operator: str) -> Callable[..., Expression]:
    return lambda *operands: _applied(operator, *operands)


class Expression:
    """A value [N, B], or one that is broadcast to this shape, in the type of the samples and bases."""

    def __init__(self, write: Callable[[Pair], Operand]) -> None:
        self._write = write

    def of(self, pair: Pair) -> Any:
        """Adds the value to the graph of a pair, if it is not there."""
        if self not in pair.written:
            pair.written[self] = self._write(pair)
        return pair.written[self]

    def block(self, graph: Graph, x: str, bases: Array) -> str:
        """The value for samples x and bases of the same type."""
        return str(self.of(Pair(graph, x, bases, bases.dtype)))

    __neg__, __add__, __sub__ = _function("Neg"), _function("Add"), _function("Sub")
    __mul__ = __rmul__ = _function("Mul")
    __truediv__ = _function("Div")

    def __pow__(self, power: float) -> Expression:
        if power == 1:
            return self
        return sqrt(self) if power == 0.5 else _applied("Pow", self, power)


exp, log, sqrt, tanh, absolute = (_function(operator) for operator in ("Exp", "Log", "Sqrt", "Tanh", "Abs"))
minimum, maximum, where = _function("Min"), _function("Max"), _function("Where")


def double(value: Expression) -> Expression:
    """The value, computed in double precision."""

    def write(pair: Pair) -> str:
        if pair.dtype == np.float64:
            return str(value.of(pair))
        graph, y = pair.graph, pair.y
        y = graph.cast(y, np.float64) if isinstance(y, str) else y.astype(np.float64)
        wide = Pair(graph, graph.cast(pair.x, np.float64), y, np.dtype(np.float64))
        return graph.cast(value.of(wide), pair.dtype)

    return Expression(write)


def total(term: Expression) -> Expression:
    """The sum over the features of a term in which `x` and `y` are the values of one feature."""

    def write(pair: Pair) -> str:
        def step(inner: Graph, x: str, y: str) -> str:
            return str(term.of(Pair(inner, x, y, pair.dtype)))

        return pair.graph.scan(pair.x, pair.y.T, step)

    return Expression(write)


def _squared_distance(pair: Pair) -> str:
    """‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y, summed in double precision.

    Centered on the bases' mean, so that norms are small. Distances much smaller than the norms would suffer from
    cancellation and are recomputed from differences.
    """
    graph, x, bases = pair.graph, pair.x, pair.y
    mean = bases.mean(axis=0, dtype=np.float64).astype(bases.dtype)
    centered, about_mean = graph("Sub", x, mean), bases - mean
    crossed = graph("MatMul", centered, -2 * about_mean.T)
    if bases.dtype != np.float64:
        centered, crossed = graph.cast(centered, np.float64), graph.cast(crossed, np.float64)
    norms = np.square(about_mean, dtype=np.float64).sum(axis=1)
    size = graph("Add", graph.total(graph("Mul", centered, centered), 1), norms)
    summed = graph("Add", size, crossed)
    # Not `Less`, so that NaN is recomputed, too.
    is_accurate = graph("GreaterOrEqual", summed, graph("Mul", size, np.float64(_CANCELLED[bases.dtype.itemsize])))
    pairs = graph("NonZero", graph("Not", is_accurate))

    def step(inner: Graph, x: str, y: str) -> str:
        difference = inner.cast(inner("Sub", x, y), np.float64)
        return inner("Mul", difference, difference)

    recomputed = graph.scan(x, bases.T, step, pairs=pairs)
    corrected = graph("ScatterND", summed, graph("Transpose", pairs, perm=[1, 0]), recomputed)
    return corrected if bases.dtype == np.float64 else graph.cast(corrected, bases.dtype)


x = Expression(lambda pair: pair.x)
y = Expression(lambda pair: pair.y)
product = Expression(lambda pair: pair.graph("MatMul", pair.x, pair.y.T))
squared_distance = Expression(_squared_distance)
# From differences, one feature at a time: 0 if x is a basis, and much slower than products.
_exact_squared_distance = total((x - y) * (x - y))
# x·x and y·y.
_of_x = Expression(lambda pair: pair.graph.total(pair.graph("Mul", pair.x, pair.x), 1))
_of_y = Expression(lambda pair: np.square(pair.y).sum(axis=1))


def _is_zero(value: Expression) -> Expression:
    """Whether a value that is not negative is 0; false for NaN."""
    return _applied("LessOrEqual", value, 0.0)


def ratio(numerator: Expression, denominator: Expression, otherwise: Expression | float = 0.0) -> Expression:
    """numerator / denominator, or another value where the denominator is 0."""
    is_zero = _is_zero(denominator)
    return where(is_zero, otherwise, numerator / where(is_zero, 1.0, denominator))


def _log1p(u: Expression) -> Expression:
    """ln(1 + u) to the last digit: the logarithm of the rounded 1 + u, plus a correction for the rounding."""
    near = u + 1.0
    return log(near) - ((near - 1.0) - u) / near


# Products of counts are exact in double precision.
cosine = double(ratio(product, sqrt(_of_x * _of_y), where(_applied("Equal", _of_x, _of_y), 1.0, 0.0)))
tanimoto = double(ratio(product, _of_x + _of_y - product, 1.0))
cityblock = double(-total(absolute(x - y)))


def radial(exponent: float) -> Expression:
    """± r^exponent with r = ‖x − y‖, times log r where the power itself is a polynomial."""
    is_logarithmic = exponent % 2 == 0
    # The sign that makes the kernel definite.
    is_negative = exponent / 2 % 2 == 0 if is_logarithmic else math.ceil(exponent / 2) % 2 == 1
    # A root magnifies the rounding error of a distance of 0; higher powers do not.
    squared = squared_distance if exponent >= 2 else _exact_squared_distance
    power = squared ** (exponent / 2)
    if is_logarithmic:
        # r^2k log r = ½ (r²)^k log r², whose limit at 0 is 0.
        power = power * (log(where(_is_zero(squared), 1.0, squared)) * 0.5)
    return double(-power if is_negative else power)


def logarithm(gamma: float, exponent: float) -> Expression:
    """−log(1 + gamma ‖x − y‖^exponent)."""
    return double(-_log1p(gamma * _exact_squared_distance ** (exponent / 2)))


def multiquadric(gamma: float) -> Expression:
    """−√(1 + gamma ‖x − y‖²)."""
    return double(-sqrt(gamma * squared_distance + 1.0))


def inverse_multiquadric(gamma: float) -> Expression:
    """1 / √(1 + gamma ‖x − y‖²)."""
    return double(_applied("Reciprocal", sqrt(gamma * squared_distance + 1.0)))


# 0, or NaN if a value of x is negative or not finite: samples that the library rejects have no score.
nan_if_rejected = Expression(lambda pair: pair.graph.total((sqrt(x) - sqrt(x)).of(pair), 1))


class Additive(Expression):
    """Σ_j k(x_j, y_j) on histograms, and NaN for a sample that is not one; `term` is k."""

    def __init__(self, term: Expression, summed: Expression) -> None:
        super().__init__((summed + nan_if_rejected).of)
        self.term = term


def power_mean(p: float) -> Additive:
    """The mean of power p; only χ², Hellinger and intersection are computed in single precision."""
    if p == 0:
        of_roots = Expression(lambda pair: pair.graph("MatMul", sqrt(x).of(pair), np.sqrt(pair.y.T)))
        return Additive(sqrt(x) * sqrt(y), of_roots)
    small, large = minimum(x, y), maximum(x, y)
    if p in (-1, -math.inf, math.inf):
        # 0 / 0 if both are 0, where the kernel is 0.
        chi2 = (x + x) * y / maximum(x + y, float(np.finfo(np.float32).tiny))
        term = {-1: chi2, -math.inf: small, math.inf: large}[p]
        return Additive(term, total(term))
    # Relative to the one that is 0 only if the mean is, so that no power overflows.
    one, other = (small, large) if p < 0 else (large, small)
    is_zero = _is_zero(one)
    one, other = where(is_zero, 1.0, one), where(is_zero, 1.0, other)
    t = p * log(other / one)
    # (e^t − 1)/2 = tanh(t/2) · (e^t + 1)/2.
    gain = tanh(t * 0.5) * ((exp(t) + 1.0) * 0.5)
    term = where(is_zero, 0.0, one * exp(_log1p(gain) / p))
    return Additive(term, total(double(term)))


def _jensen_shannon() -> Additive:
    small, large = minimum(x, y), maximum(x, y)
    is_zero = _is_zero(small)
    small, large = where(is_zero, 1.0, small), where(is_zero, 1.0, large)
    nats = small * log(large / small + 1.0) + large * _log1p(small / large)
    term = where(is_zero, 0.0, nats * (0.5 * math.log2(math.e)))
    return Additive(term, total(double(term)))


jensen_shannon = _jensen_shannon()
