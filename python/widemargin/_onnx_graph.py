"""An ONNX graph under construction; imported only if onnx is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """The type of an input or an output; "str" is the string type."""
    return helper.make_tensor_value_info(name, _element(dtype), list(shape))


def _element(dtype: npt.DTypeLike) -> int:
    found = np.dtype(dtype)
    if found.kind == "U":
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(found))
