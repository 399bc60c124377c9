"""Converters for skl2onnx: our estimators in pipelines, searches and ensembles; imported only if onnx is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
from onnx import compose
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

# The outputs of our models in the order in which skl2onnx's own converters read them.
_OUTPUTS = ("label", "probabilities", "scores", "targets", "features")
_ML_OPSET = 3
# For converters of classifiers whose outputs skl2onnx adds.
_OPTIONS = {"zipmap": [True, False, "columns"]}

_Export = Callable[[Any, int], onnx.ModelProto]


def model_with_steps(estimator: Any, X: Any, kinds: tuple[type, ...], export: _Export, opset: int) -> onnx.ModelProto:
    """The ONNX model of an estimator of scikit-learn that contains our fitted estimators.

    Parameters
    ----------
    estimator : estimator
        Such as a pipeline.
    X : samples or None
        Example samples with the types of the inputs; None for arrays of double.
    kinds : tuple of type
        Our estimators.
    export : callable
        Returns the ONNX model of one of ours, for an opset.
    opset : int

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    try:
        import skl2onnx
        from skl2onnx.common.data_types import DoubleTensorType
    except ImportError as error:
        raise ImportError("to_onnx of a pipeline needs the package skl2onnx: pip install skl2onnx") from error
    for kind in kinds:
        _register(kind, export)
    initial = [("X", DoubleTensorType([None, estimator.n_features_in_]))] if X is None else None
    if isinstance(estimator, Pipeline):
        estimator = Pipeline([step for step in estimator.steps if step[1] not in (None, "passthrough")])
    # Probabilities as an array, not as a list of dictionaries.
    options = {id(estimator): {"zipmap": False}} if is_classifier(estimator) else None
    opsets = {"": opset, "ai.onnx.ml": _ML_OPSET}
    made = skl2onnx.to_onnx(estimator, X, initial_types=initial, target_opset=opsets, options=options)
    # skl2onnx declares the oldest version with the same operators as the requested one.
    for declared in made.opset_import:
        declared.version = opset if declared.domain == "" else declared.version
    onnx.checker.check_model(made)
    return made


def _register(kind: type, export: _Export) -> None:
    from skl2onnx import update_registered_converter
    from skl2onnx.common import data_types

    alias = f"Widemargin{kind.__name__}"

    def type_of(value: onnx.ValueInfoProto, inputs: Any) -> Any:
        """Numbers have the precision of the inputs, as skl2onnx's converters expect it of each other."""
        tensor = value.type.tensor_type
        of_labels: dict[int, Any] = {
            onnx.TensorProto.INT64: data_types.Int64TensorType,
            onnx.TensorProto.STRING: data_types.StringTensorType,
        }
        number = (
            data_types.DoubleTensorType
            if isinstance(inputs[0].type, data_types.DoubleTensorType)
            else data_types.FloatTensorType
        )
        return of_labels.get(tensor.elem_type, number)([one.dim_value or None for one in tensor.shape.dim])

    def outputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
        return sorted(graph.output, key=lambda value: _OUTPUTS.index(value.name))

    def parse(scope: Any, estimator: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        operator = scope.declare_local_operator(alias, estimator)
        operator.inputs = inputs
        for value in outputs(export(estimator, _opset_of(scope)).graph):
            operator.outputs.append(scope.declare_local_variable(value.name, type_of(value, inputs)))
        return operator.outputs

    def set_types(operator: Any) -> None:
        made = outputs(export(operator.raw_operator, _opset_of(operator)).graph)
        # An ensemble uses only the first ones.
        for value, variable in zip(made, operator.outputs, strict=False):
            variable.type = type_of(value, operator.inputs)

    def convert(scope: Any, operator: Any, container: Any) -> None:
        opset, prefix = _opset_of(container), scope.get_unique_operator_name(alias) + "."
        made = export(operator.raw_operator, opset)
        graph = compose.add_prefix(made, prefix).graph
        kind = made.graph.input[0].type.tensor_type.elem_type
        columns = [f"{prefix}input.{number}" for number, _ in enumerate(operator.inputs)]
        for variable, column in zip(operator.inputs, columns, strict=True):
            container.add_node("Cast", variable.full_name, column, to=kind, op_version=opset)
        container.add_node("Concat", columns, graph.input[0].name, axis=1, op_version=opset)
        container.initializers.extend(graph.initializer)
        container.nodes.extend(graph.node)
        for value, variable in zip(outputs(made.graph), operator.outputs, strict=False):
            kind = data_types.guess_proto_type(variable.type)
            container.add_node("Cast", prefix + value.name, variable.full_name, to=kind, op_version=opset)

    update_registered_converter(kind, alias, set_types, convert, overwrite=True, parser=parse, options=_OPTIONS)


def _opset_of(converted: Any) -> int:
    opset = converted.target_opset
    return int(opset[""] if isinstance(opset, dict) else opset)
