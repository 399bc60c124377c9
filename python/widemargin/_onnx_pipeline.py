"""Pipelines as ONNX models: scikit-learn's steps by skl2onnx, before ours; imported only if onnx is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import compose
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline


def pipeline_model(pipeline: Pipeline, last: onnx.ModelProto, *, opset: int) -> onnx.ModelProto:
    """The ONNX model of a fitted pipeline, of that of its last step.

    Its input is ``X``, of type double (float with an imputer), or one of shape (n_samples, 1) a column of a frame, by
    its name, where a `ColumnTransformer` takes columns by name; columns of texts are of type string.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    steps = [step for step in pipeline.steps[:-1] if step[1] not in (None, "passthrough")]
    if not steps:
        return last
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common import data_types
    except ImportError as error:
        raise ImportError("to_onnx of a pipeline needs the package skl2onnx: pip install skl2onnx") from error
    # In double precision as scikit-learn's: what single precision loses here, steep probabilities show. ONNX Runtime
    # has imputers in single precision only.
    number = data_types.FloatTensorType if _imputes(Pipeline(steps)) else data_types.DoubleTensorType
    is_double = last.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    first = steps[0][1]
    names = getattr(first, "feature_names_in_", None)
    if names is not None and isinstance(first, ColumnTransformer):
        texts = _text_columns(first)
        inputs = [
            (str(name), data_types.StringTensorType([None, 1]) if name in texts else number([None, 1]))
            for name in names
        ]
    else:
        inputs = [("X", number([None, first.n_features_in_]))]
    before = convert_sklearn(Pipeline(steps), initial_types=inputs, target_opset={"": opset, "ai.onnx.ml": 3})
    # It declares the least version in which its operators are as they are in the one asked for.
    for declared in before.opset_import:
        declared.version = opset if declared.domain == "" else declared.version
    if not any(declared.domain == "" for declared in before.opset_import):
        before.opset_import.append(onnx.helper.make_opsetid("", opset))
    before = compose.add_prefix(before, "steps.", rename_inputs=False)
    after = compose.add_prefix(last, "classifier.", rename_outputs=False)
    before.ir_version = after.ir_version = max(before.ir_version, after.ir_version)
    result = _as_input(before, is_double)
    merged = compose.merge_models(before, after, io_map=[(result, after.graph.input[0].name)])
    merged.producer_name, merged.producer_version = last.producer_name, last.producer_version
    merged.doc_string = last.doc_string
    del merged.metadata_props[:]
    merged.metadata_props.extend(last.metadata_props)
    onnx.checker.check_model(merged)
    return merged


def _imputes(step: Any) -> bool:
    """Whether a step, or one inside it, is an imputer."""
    if isinstance(step, Pipeline):
        return any(_imputes(inner) for _, inner in step.steps)
    if isinstance(step, ColumnTransformer):
        return any(_imputes(inner) for _, inner, _ in step.transformers_)
    return isinstance(step, SimpleImputer)


def _as_input(before: onnx.ModelProto, is_double: bool) -> str:
    """The name of the result of the first steps, in the precision of the last."""
    result = before.graph.output[0]
    wanted = onnx.TensorProto.DOUBLE if is_double else onnx.TensorProto.FLOAT
    if result.type.tensor_type.elem_type == wanted:
        return str(result.name)
    name = "steps.cast"
    before.graph.node.append(onnx.helper.make_node("Cast", [result.name], [name], to=wanted))
    del before.graph.output[:]
    before.graph.output.append(onnx.helper.make_tensor_value_info(name, wanted, [None, None]))
    return name


def _text_columns(transformer: ColumnTransformer) -> set[str]:
    """The columns that an encoder knows as texts."""
    found = set()
    for _, step, columns in transformer.transformers_:
        stages = [one for _, one in step.steps] if isinstance(step, Pipeline) else [step]
        for stage in stages:
            categories = getattr(stage, "categories_", None)
            if categories is None:
                continue
            names = np.atleast_1d(np.asarray(transformer.feature_names_in_)[_positions(transformer, columns)])
            found |= {name for name, known in zip(names, categories, strict=True) if known.dtype.kind in "OUS"}
    return found


def _positions(transformer: ColumnTransformer, columns: Any) -> Any:
    """The positions of columns that are given in any way that a `ColumnTransformer` takes."""
    is_name = isinstance(columns, str) or (
        not isinstance(columns, slice) and len(columns) and isinstance(columns[0], str)
    )
    if not is_name:
        return columns
    places = {name: at for at, name in enumerate(transformer.feature_names_in_)}
    return [places[name] for name in ([columns] if isinstance(columns, str) else columns)]
