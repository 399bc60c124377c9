"""An ONNX graph under construction, and kernels in it; imported only if onnx is installed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

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

    def __call__(self, operator: str, *operands: Operand, output: str | None = None, **attributes: Any) -> str:
        """Adds a node with one output, and returns the output's name."""
        output = output or self._name(operator)
        inputs = [one if isinstance(one, str) else self.constant(one) for one in operands]
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value: npt.NDArray[Any] | np.generic) -> str:
        """Adds a constant of the array's dtype; identical scalars are shared."""
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

    def texts(self, values: Sequence[str]) -> str:
        """Adds a constant of strings."""
        name = self._name("constant")
        self._constants.append(numpy_helper.from_array(np.array(values, dtype=object), name))
        return name

    def cast(self, value: str, dtype: npt.DTypeLike) -> str:
        """The value cast to another type."""
        return self("Cast", value, to=_element(dtype))

    def total(self, value: str, axis: int, *, keepdims: int = 1) -> str:
        """The sum along an axis."""
        return self("ReduceSum", value, np.array([axis]), keepdims=keepdims)

    def scan(
        self,
        x: str,
        rows: npt.NDArray[Any],
        step: Callable[[Graph, str, str], str],
    ) -> str:
        """Σ_j step(x_j, rows_j), of x [N, d] and rows [d, B]: [N, B], with memory for several such matrices.

        `step` receives [N, 1] and [B], and adds nodes to the inner graph that it receives.
        """
        dtype, (_, n_columns) = rows.dtype, rows.shape
        body = Graph(self._name("scan") + ".")
        partial_sum, column, row = body._name("sum"), body._name("x"), body._name("row")
        term = step(body, body("Unsqueeze", column, np.array([1])), row)
        after = body("Add", partial_sum, term)
        self._add_bytes(body.n_bytes)
        inner = body.proto(
            [value(partial_sum, dtype, ["N", n_columns]), value(column, dtype, ["N"]), value(row, dtype, [n_columns])],
            [value(after, dtype, ["N", n_columns])],
        )
        n_rows = self("Gather", self("Shape", x), np.array([0]), axis=0)
        zeros = self(
            "ConstantOfShape",
            self("Concat", n_rows, np.array([n_columns]), axis=0),
            value=numpy_helper.from_array(np.zeros(1, dtype)),
        )
        return self("Scan", zeros, self("Transpose", x, perm=[1, 0]), rows, body=inner, num_scan_inputs=2)

    def scan_pairs(
        self,
        x: str,
        rows: npt.NDArray[Any],
        pairs: str,
        step: Callable[[Graph, str, str], str],
    ) -> str:
        """Σ_j step(x_ij, rows_jk) in double precision for some pairs (i, k), [2, P], of x [N, d] and rows [d, B]: [P].

        `step` receives [P] twice, and adds nodes to the inner graph that it receives.
        """
        dtype, (_, n_columns) = rows.dtype, rows.shape
        prefix = self._name("scan") + "."
        body = Graph(prefix)
        left, right, partial_sum, column, row = (body._name(stem) for stem in ("i", "k", "sum", "x", "row"))
        term = step(body, body("Gather", column, left, axis=0), body("Gather", row, right, axis=0))
        after = [body("Identity", left), body("Identity", right), body("Add", partial_sum, term)]
        self._add_bytes(body.n_bytes)
        some: list[str | int] = [prefix + "pairs"]
        states = [np.int64, np.int64, np.float64]
        inner = body.proto(
            [value(name, kind, some) for name, kind in zip([left, right, partial_sum], states, strict=True)]
            + [value(column, dtype, ["N"]), value(row, dtype, [n_columns])],
            [value(name, kind, some) for name, kind in zip(after, states, strict=True)],
        )
        start = [self("Gather", pairs, np.array(side), axis=0) for side in (0, 1)]
        start.append(self("ConstantOfShape", self("Shape", start[0]), value=numpy_helper.from_array(np.zeros(1))))
        inputs = [*start, self("Transpose", x, perm=[1, 0]), self.constant(rows)]
        outputs = [self._name("scan") for _ in states]
        self._nodes.append(helper.make_node("Scan", inputs, outputs, body=inner, num_scan_inputs=2))
        return outputs[-1]

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
    """The type of an input or an output; "str" is the string type."""
    return helper.make_tensor_value_info(name, _element(dtype), list(shape))


def _element(dtype: npt.DTypeLike) -> int:
    found = np.dtype(dtype)
    if found.kind == "U":
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(found))


Array = npt.NDArray[Any]
Arrays = dict[str, npt.NDArray[Any]]
_F64 = np.float64

# The fraction of the norms below which a squared distance from products is recomputed, by item size: that of the
# library for 4 bytes, and one that preserves 13 digits for 8.
_CANCELLED = {4: 2.0**-3, 8: 2.0**-10}


def float64(graph: Graph, x: str) -> str:
    """The value in double precision."""
    return graph.cast(x, _F64)


def float32(graph: Graph, x: str) -> str:
    """The value in single precision."""
    return graph.cast(x, np.float32)


def products(graph: Graph, x: str, bases: Array) -> str:
    """x·y, in the type of the bases."""
    return graph("MatMul", x, bases.T)


def squares(graph: Graph, x: str) -> str:
    """x·x: [N, 1]."""
    return graph.total(graph("Mul", x, x), 1)


def squared_distances(graph: Graph, x: str, bases: Array) -> str:
    """‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y in the type of the bases, summed in double precision.

    Centered on the bases' mean, so that norms are small. Distances much smaller than the norms would suffer from
    cancellation and are recomputed from differences.
    """
    mean = bases.mean(axis=0, dtype=_F64).astype(bases.dtype)
    centered, about_mean = graph("Sub", x, mean), bases - mean
    crossed = graph("MatMul", centered, -2 * about_mean.T)
    if bases.dtype != _F64:
        centered, crossed = float64(graph, centered), float64(graph, crossed)
    norms = np.square(about_mean, dtype=_F64).sum(axis=1)
    size = graph("Add", squares(graph, centered), norms)
    summed = graph("Add", size, crossed)
    # Not `Less`, so that NaN is recomputed, too.
    is_accurate = graph("GreaterOrEqual", summed, graph("Mul", size, _F64(_CANCELLED[bases.dtype.itemsize])))
    pairs = graph("NonZero", graph("Not", is_accurate))

    def step(inner: Graph, x: str, y: str) -> str:
        difference = float64(inner, inner("Sub", x, y))
        return inner("Mul", difference, difference)

    recomputed = graph.scan_pairs(x, bases.T, pairs, step)
    corrected = graph("ScatterND", summed, graph("Transpose", pairs, perm=[1, 0]), recomputed)
    return corrected if bases.dtype == _F64 else graph.cast(corrected, bases.dtype)


def squared_differences(graph: Graph, x: str, bases: Array) -> str:
    """‖x − y‖² from differences, one feature at a time: exact if x is a basis, and much slower than products."""

    def step(inner: Graph, x: str, y: str) -> str:
        difference = inner("Sub", x, y)
        return inner("Mul", difference, difference)

    return graph.scan(x, bases.T, step)


def absolute_differences(graph: Graph, x: str, bases: Array) -> str:
    """‖x − y‖₁."""
    return graph.scan(x, bases.T, lambda inner, x, y: inner("Abs", inner("Sub", x, y)))


def cosine(graph: Graph, x: str, bases: Array) -> str:
    """x·y / √(x·x · y·y); 1 if both are 0, and 0 if one is."""
    x, bases, own = _wide(graph, x, bases)
    norms = squares(graph, x)
    both_zero = float64(graph, graph("Equal", norms, own))
    return _share(graph, products(graph, x, bases), graph("Sqrt", graph("Mul", norms, own)), both_zero)


def tanimoto(graph: Graph, x: str, bases: Array) -> str:
    """x·y / (x·x + y·y − x·y), 1 where both are 0."""
    x, bases, own = _wide(graph, x, bases)
    shared = products(graph, x, bases)
    either = graph("Sub", graph("Add", squares(graph, x), own), shared)
    return _share(graph, shared, either, _F64(1))


def _wide(graph: Graph, x: str, bases: Array) -> tuple[str, Array, Array]:
    """x and bases in double precision, in which products of counts are exact, and y·y."""
    bases = bases.astype(_F64)
    return float64(graph, x), bases, np.square(bases).sum(axis=1)


def _share(graph: Graph, part: str, whole: str, if_empty: Operand) -> str:
    is_empty = graph("LessOrEqual", whole, _F64(0))
    ratio = graph("Div", part, graph("Where", is_empty, _F64(1), whole))
    return float32(graph, graph("Where", is_empty, if_empty, ratio))


@dataclass(frozen=True)
class Additive:
    """Σ_j k(x_j, y_j) on histograms, where k is the mean of power p, or Jensen-Shannon if p is None."""

    p: float | None

    def block(self, graph: Graph, x: str, bases: Array) -> str:
        """Sums over features, and NaN for a sample that is not a histogram."""
        if self.p == 0:
            summed = graph("MatMul", graph("Sqrt", x), np.sqrt(bases.T))
        else:
            summed = graph.scan(x, bases.T, self._narrow_term)
        return graph("Add", summed, nan_if_rejected(graph, x))

    def _narrow_term(self, graph: Graph, x: str, y: str) -> str:
        """k(x, y) in single precision, as summed by the library."""
        if self.p in (-1, -math.inf, math.inf):
            return self.term(graph, x, y, np.float32)
        return float32(graph, self.term(graph, float64(graph, x), float64(graph, y)))

    def term(self, graph: Graph, x: str, y: Operand, dtype: type[np.floating[Any]] = _F64) -> str:
        """k(x, y) of non-negative values; single precision suffices only for χ², Hellinger and intersection."""
        if self.p == -1:
            # 0 / 0 if both are 0, where the kernel is 0.
            either = graph("Max", graph("Add", x, y), np.finfo(dtype).tiny)
            return graph("Div", graph("Mul", graph("Add", x, x), y), either)
        if self.p == 0:
            return graph("Mul", graph("Sqrt", x), graph("Sqrt", y))
        if self.p == -math.inf:
            return graph("Min", x, y)
        if self.p == math.inf:
            return graph("Max", x, y)
        small, large = graph("Min", x, y), graph("Max", x, y)
        if self.p is not None and self.p > 0:
            # Zero only if both are.
            is_zero = graph("LessOrEqual", large, _F64(0))
            mean = self._mean(graph, self.p, graph("Where", is_zero, _F64(1), large), small)
            return graph("Where", is_zero, _F64(0), mean)
        is_zero = graph("LessOrEqual", small, _F64(0))
        small, large = graph("Where", is_zero, _F64(1), small), graph("Where", is_zero, _F64(1), large)
        mean = self._entropy(graph, small, large) if self.p is None else self._mean(graph, self.p, small, large)
        return graph("Where", is_zero, _F64(0), mean)

    def _entropy(self, graph: Graph, small: str, large: str) -> str:
        of_small = graph("Mul", small, graph("Log", graph("Add", graph("Div", large, small), _F64(1))))
        of_large = graph("Mul", large, _log1p(graph, graph("Div", small, large)))
        return graph("Mul", graph("Add", of_small, of_large), _F64(0.5 * math.log2(math.e)))

    def _mean(self, graph: Graph, p: float, one: str, other: str) -> str:
        # Relative to one of the two, so that no power overflows. (e^t − 1)/2 = tanh(t/2) · (e^t + 1)/2.
        t = graph("Mul", graph("Log", graph("Div", other, one)), _F64(p))
        half = graph("Mul", graph("Add", graph("Exp", t), _F64(1)), _F64(0.5))
        gain = graph("Mul", graph("Tanh", graph("Mul", t, _F64(0.5))), half)
        return graph("Mul", one, graph("Exp", graph("Div", _log1p(graph, gain), _F64(p))))

    def value(self, x: Array, y: Array) -> Array:
        """k(x, y) of positive numbers."""
        small, large = np.minimum(x, y), np.maximum(x, y)
        if self.p is None:
            ratio = small / large
            entropy: Array = small * np.log1p(1 / ratio) + large * np.log1p(ratio)
            return entropy * (0.5 * math.log2(math.e))
        if self.p == 0:
            return np.sqrt(small) * np.sqrt(large)
        if self.p == -math.inf:
            return small
        logarithms: Array = np.log1p(0.5 * np.expm1(self.p * np.log(large / small)))
        return small * np.exp(logarithms / self.p)


def nan_if_rejected(graph: Graph, x: str) -> str:
    """[N, 1]: 0, or NaN if a value is negative or not finite: samples that the library rejects have no score."""
    root = graph("Sqrt", x)
    return graph.total(graph("Sub", root, root), 1)


@dataclass(frozen=True)
class Wide:
    """A function of the distances of x and bases, in double precision throughout."""

    distances: Callable[[Graph, str, Array], str]
    function: Callable[[Graph, str], str]

    def block(self, graph: Graph, x: str, bases: Array) -> str:
        """The kernel [N, B] of x [N, d] and bases (B, d)."""
        return self.function(graph, self.distances(graph, x, bases))


class Radial(Wide):
    """± r^exponent with r = ‖x − y‖, times log r where the power itself is a polynomial."""

    def __init__(self, exponent: float) -> None:
        is_logarithmic = exponent % 2 == 0
        # The sign that makes the kernel definite.
        is_negative = exponent / 2 % 2 == 0 if is_logarithmic else math.ceil(exponent / 2) % 2 == 1

        def function(graph: Graph, squared: str) -> str:
            power = squared
            if exponent != 2:
                power = graph("Sqrt", squared) if exponent == 1 else graph("Pow", squared, _F64(exponent / 2))
            if is_logarithmic:
                # r^2k log r = ½ (r²)^k log r², whose limit at 0 is 0.
                nonzero = graph("Where", graph("LessOrEqual", squared, _F64(0)), _F64(1), squared)
                power = graph("Mul", power, graph("Mul", graph("Log", nonzero), _F64(0.5)))
            return graph("Neg", power) if is_negative else power

        # A root magnifies the rounding error of a distance of 0; higher powers do not.
        super().__init__(squared_distances if exponent >= 2 else squared_differences, function)


CITYBLOCK = Wide(absolute_differences, lambda graph, r: graph("Neg", r))


def gaussian(gamma: float) -> Wide:
    """exp(−gamma ‖x − y‖²)."""
    return Wide(squared_distances, lambda graph, squared: graph("Exp", graph("Mul", squared, _F64(-gamma))))


def laplacian(gamma: float) -> Wide:
    """exp(−gamma ‖x − y‖₁)."""
    return Wide(absolute_differences, lambda graph, r: graph("Exp", graph("Mul", r, _F64(-gamma))))


def logarithm(gamma: float, exponent: float) -> Wide:
    """−log(1 + gamma ‖x − y‖^exponent)."""

    def function(graph: Graph, squared: str) -> str:
        power = squared if exponent == 2 else graph("Pow", squared, _F64(exponent / 2))
        return graph("Neg", _log1p(graph, graph("Mul", power, _F64(gamma))))

    return Wide(squared_differences, function)


def multiquadric(gamma: float) -> Wide:
    """−√(1 + gamma ‖x − y‖²)."""
    return Wide(squared_distances, lambda graph, squared: graph("Neg", _quadric(graph, squared, gamma)))


def inverse_multiquadric(gamma: float) -> Wide:
    """1 / √(1 + gamma ‖x − y‖²)."""
    return Wide(squared_distances, lambda graph, squared: graph("Reciprocal", _quadric(graph, squared, gamma)))


def _quadric(graph: Graph, squared: str, gamma: float) -> str:
    return graph("Sqrt", graph("Add", graph("Mul", squared, _F64(gamma)), _F64(1)))


def _log1p(graph: Graph, u: str) -> str:
    """ln(1 + u) to the last digit: the logarithm of the rounded 1 + u, plus a correction for the rounding."""
    near = graph("Add", u, _F64(1))
    added = graph("Sub", graph("Sub", near, _F64(1)), u)
    return graph("Sub", graph("Log", near), graph("Div", added, near))
