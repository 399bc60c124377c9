"""Models and basis expansions as ONNX models."""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any, cast

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from . import _core
from ._compares import bases_of
from ._onnx_expression import Additive, Array, Arrays, Expression, Graph, Pair, check_size, nan_if_rejected, value
from ._onnx_similarities import EXPRESSIONS
from ._spec_texts import SIMILARITIES, columns_of, default_of, options_of, parsed, steps_of

_NO_OPERATOR = "ONNX has no operator for it"
# Descriptors of vectors that have a feature for each column.
_SCALINGS = ("mean-norm", "z-score")
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


def expression_of(spec: str) -> Expression:
    """The ONNX expression of a similarity, from its spec without descriptors."""
    name, texts = parsed(spec)
    parameters = [one | {"default": texts.get(one["name"], one["default"])} for one in SIMILARITIES[name]["parameters"]]
    return EXPRESSIONS[name](**{one["name"]: default_of(one) for one in parameters})


def expansion(graph: Graph, x: str, model: Any, header: dict[str, Any], arrays: Arrays) -> str:
    """Features [N, D] of x [N, d]: similarities to the bases, normalized and concatenated.

    In double precision if any part is, else in single precision.
    """
    bases = _dense_bases(model, header)
    # Chains are numbered in the file in order of first use.
    numbers = itertools.count()

    @functools.cache
    def described(*steps: str) -> tuple[str, Array]:
        """Samples and bases after some scalings."""
        if not steps:
            return x, bases
        before = described(*steps[:-1])
        name = f"descriptor.{next(numbers)}."
        center, factors = arrays[name + "center"], arrays[name + "factors"]
        return graph("Mul", graph("Sub", before[0], center), factors), (before[1] - center) * factors

    parts = []
    for number, (spec, shape) in enumerate(zip(header["similarity"], header["maps"], strict=True)):
        *before, last = steps_of(spec)
        samples, described_bases = described(*before)
        # Weights are in the maps.
        own, similarity = described_bases[columns_of(spec, len(bases))], options_of(last)[0]
        if shape["kind"] == "precise-projection":
            precise = expression_of(similarity).block(graph, graph.cast(samples, np.float64), own.astype(np.float64))
            parts.append(graph("MatMul", precise, arrays[f"map.{number}.projection"]))
            continue
        raw = expression_of(similarity).block(graph, samples, own)
        parts.append(_normalized(graph, raw, shape["kind"], f"map.{number}.", arrays))
    if len(parts) == 1:
        return parts[0]
    if any(shape["kind"] == "precise-projection" for shape in header["maps"]):
        parts = [graph.cast(part, np.float64) for part in parts]
    return graph("Concat", *parts, axis=1)


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
    wide = graph.cast(graph.constant(matrix), np.float64)
    return graph.cast(graph("MatMul", graph.cast(rows, np.float64), wide), np.float32)


# The offset of the power mean's polynomial before the logarithm.
_LOG_OFFSET = 0.05
# The number of nodes up to which the library stores that polynomial by its powers.
_MAX_POWERS = 3


def model_of(estimator: Any, opset: int) -> onnx.ModelProto:
    """The ONNX model of a fitted classifier, regression model, outlier detector or expansion.

    Raises
    ------
    ValueError
        For a similarity that is not an expression on vectors, and for a model that is too large.
    """
    header, arrays = json.loads(estimator._model.header()), estimator._model.arrays()
    graph = Graph()
    dtype = np.dtype(np.float64 if header["method"].startswith("thin-plate") else np.float32)
    if header["method"] in _SCORES:
        n_features, result = header["n_features"], _SCORES[header["method"]](graph, "X", header, arrays)
    else:
        n_features, result = _expanded(graph, "X", estimator, header, arrays)
    if "classes" in header:
        if header["method"] not in _SCORES:
            products = graph("MatMul", result, arrays["weights"].T)
            result = graph("Add", products, arrays["intercepts"].astype(np.float32))
        labels = header["classes"]
        if not header.get("multilabel", False):
            # A model file may store string labels as integers.
            both = zip(estimator.classes_.tolist(), labels, strict=True)
            labels = [name if isinstance(name, str) else label for name, label in both]
        slopes = header.get("calibration", {}).get("slopes")
        classified = _multilabel_outputs if header.get("multilabel", False) else _class_outputs
        classified(graph, result, dtype, labels, None if slopes is None else np.array(slopes, dtype))
    elif "n_outputs" in header:
        targets = value("targets", np.float64, ["N", header["n_outputs"]])
        if header["method"] in _SCORES:
            graph.output(targets, "Identity", result)
        else:
            # The targets may be far from 0, and close to each other.
            products = graph("MatMul", graph.cast(result, np.float64), arrays["weights"].T)
            graph.output(targets, "Add", products, arrays["intercepts"])
    elif "threshold" in header:
        _one_class_outputs(graph, result, header["threshold"], arrays["weights"])
    else:
        width = sum(shape.get("n_features", shape["n_columns"]) for shape in header["maps"])
        graph.output(value("features", dtype, ["N", width]), "Cast", result, to=helper.np_dtype_to_tensor_dtype(dtype))
    # Labels come first.
    outputs = sorted(graph.outputs, key=lambda output: output.name != "label")
    opsets = [helper.make_opsetid("", opset)]
    proto = helper.make_model(
        graph.proto([value("X", dtype, ["N", n_features])], outputs),
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="widemargin",
        producer_version=_core.version(),
    )
    metadata = _metadata(header, type(estimator).__name__)
    proto.doc_string = "\n".join(f"{key}: {text}" for key, text in metadata.items())
    helper.set_model_props(proto, {f"widemargin.{key}": text for key, text in metadata.items()})
    return proto


def _metadata(header: dict[str, Any], name: str) -> dict[str, str]:
    """Metadata of the model."""
    specs = header["similarity"] if "similarity" in header else [header["kernel"]]
    optional = ("approximation", "normalization", "polynomials", "loss", "C")
    metadata = {"estimator": name, "similarity": " | ".join(specs)}
    return metadata | {key: str(header[key]) for key in optional if key in header}


def _class_outputs(
    graph: Graph, scores: str, dtype: np.dtype[Any], classes: list[int | str], slopes: Array | None
) -> None:
    """The outputs `label`, `scores` and, with slopes, `probabilities`, of scores [N, K]."""
    if len(classes) == 2:
        graph.output(value("scores", dtype, ["N"]), "Squeeze", scores, np.array([1]))
        selected = graph.cast(graph("Greater", "scores", dtype.type(0)), np.int64)
    else:
        graph.output(value("scores", dtype, ["N", len(classes)]), "Identity", scores)
        selected = graph("ArgMax", scores, axis=1, keepdims=0)
    are_integers = all(isinstance(label, int) for label in classes)
    labels = np.array(classes, np.int64) if are_integers else np.array([str(label) for label in classes], object)
    graph.output(value("label", labels.dtype, ["N"]), "Gather", labels, selected, axis=0)
    if slopes is None:
        return
    probabilities = value("probabilities", dtype, ["N", len(classes)])
    if len(classes) == 2:
        odds = graph("Unsqueeze", graph("Mul", "scores", slopes[0]), np.array([1]))
        # Each separately: 1 − P would cancel.
        graph.output(probabilities, "Sigmoid", graph("Concat", graph("Neg", odds), odds, axis=1))
        return
    zero, one = dtype.type(0), dtype.type(1)
    below = graph("Min", graph("Add", "scores", one), zero)
    within = graph("Max", graph("Min", "scores", one), -one)
    above = graph("Max", graph("Sub", "scores", one), zero)
    parts = [graph("Mul", part, slope) for part, slope in zip((below, within, above), slopes, strict=True)]
    odds = graph("Add", graph("Add", parts[0], parts[1]), parts[2])
    graph.output(probabilities, "Softmax", odds, axis=1)


def _multilabel_outputs(
    graph: Graph, scores: str, dtype: np.dtype[Any], classes: list[int | str], slopes: Array | None
) -> None:
    """The outputs `label`, 1 for each label that a sample has, `scores` and, with slopes, `probabilities`."""
    shape: list[str | int] = ["N", len(classes)]
    graph.output(value("scores", dtype, shape), "Identity", scores)
    is_positive = graph("Greater", "scores", dtype.type(0))
    graph.output(value("label", np.int64, shape), "Cast", is_positive, to=onnx.TensorProto.INT64)
    if slopes is not None:
        graph.output(value("probabilities", dtype, shape), "Sigmoid", graph("Mul", "scores", slopes))


def _one_class_outputs(graph: Graph, features: str, threshold: float, weights: Array) -> None:
    """The outputs `label`, 1 or -1 for outliers, and `scores`, of features [N, D]."""
    # The score may be close to the threshold.
    products = graph("MatMul", graph.cast(features, np.float64), weights)
    graph.output(value("scores", np.float64, ["N"]), "Sub", products, np.float64(threshold))
    is_outlier = graph("Less", "scores", np.float64(0.0))
    graph.output(value("label", np.int64, ["N"]), "Where", is_outlier, np.int64(-1), np.int64(1))


def _expanded(graph: Graph, x: str, estimator: Any, header: dict[str, Any], arrays: Arrays) -> tuple[int, str]:
    """The number of columns of the samples, and their features [N, D]."""
    check(header)
    shape = header["bases"]
    n_features = shape["n_bits"] if shape["kind"] == "bit-sets" else shape["n_features"]
    if estimator._columns is not None and header["similarity"] == ["precomputed"]:
        # The number of precomputed similarities per sample, and the indices of those used.
        n_features, x = estimator.n_features_in_, graph("Gather", x, estimator._columns, axis=1)
    return n_features, expansion(graph, x, estimator._model, header, arrays)


def _power_mean(graph: Graph, x: str, header: dict[str, Any], arrays: Arrays) -> str:
    """Scores [N, K] of x [N, d] in single precision: Σ_j read(x_j) · a_j."""
    if header["approximation"] == "nystroem" and "tabulated" in arrays:
        raise ValueError(f"the kernel {header['kernel']!r} is a table of values, for which ONNX has no operator")
    wide = graph.cast(x, np.float64)
    if header["scaled"]:
        # The library also rounds after scaling.
        wide = graph.cast(graph.cast(graph("Mul", wide, arrays["factors"]), np.float32), np.float64)
    features = _nystroem if header["approximation"] == "nystroem" else _polynomial
    numbers = graph.cast(features(graph, graph("Unsqueeze", wide, np.array([2])), header, arrays), np.float32)
    weights = arrays["weights"]
    size = weights.shape[0] * weights.shape[1]
    flat = graph("Reshape", numbers, np.array([0, size]))
    scores = graph("MatMul", flat, weights.reshape(size, weights.shape[2]))
    return graph("Add", scores, nan_if_rejected.of(Pair(graph, x, None, np.dtype(np.float32))))


def _nystroem(graph: Graph, x: str, header: dict[str, Any], arrays: Arrays) -> str:
    """L⁻¹ k(c, x)/√c: [N, d, m]."""
    kernel, nodes = cast(Additive, expression_of(header["kernel"])), arrays["nodes"]
    double, constant = np.dtype(np.float64), Graph()
    at_nodes = kernel.term.of(Pair(constant, constant.constant(nodes[:, None]), nodes, double))
    proto = helper.make_model(constant.proto([], [value(at_nodes, double, [len(nodes)] * 2)]))
    values: Any = ReferenceEvaluator(proto).run(None, {})
    roots = np.sqrt(nodes)
    correlations = values[0] / np.outer(roots, roots)
    inverse = np.linalg.inv(np.linalg.cholesky(correlations))
    return graph("MatMul", kernel.term.of(Pair(graph, x, nodes, double)), (inverse / roots).T)


def _polynomial(graph: Graph, x: str, header: dict[str, Any], arrays: Arrays) -> str:
    """Powers of t = ln(x + 0.05), or beyond three nodes Lagrange's polynomials of t, and 0 at 0: [N, d, m]."""
    t = graph("Log", graph("Add", x, np.float64(_LOG_OFFSET)))
    at_nodes = np.log(arrays["nodes"] + _LOG_OFFSET)
    n_nodes = len(at_nodes)
    if n_nodes <= _MAX_POWERS:
        numbers = graph("Pow", t, np.arange(float(n_nodes)))
    else:
        for node, at in enumerate(at_nodes):
            # (t − t_node)/(t_k − t_node) of each other node k, and 1 of this one.
            slopes = np.divide(1.0, at_nodes - at, out=np.zeros(n_nodes), where=np.arange(n_nodes) != node)
            offsets = np.where(np.arange(n_nodes) == node, 1.0, 0.0)
            factors = graph("Add", graph("Mul", graph("Sub", t, at), slopes), offsets)
            numbers = factors if node == 0 else graph("Mul", numbers, factors)
    return graph("Where", graph("LessOrEqual", x, np.float64(0)), np.float64(0), numbers)


def _thin_plate(graph: Graph, x: str, header: dict[str, Any], arrays: Arrays) -> str:
    """Scores [N, K] of x [N, d] in double precision: Σ_j α_j φ(‖x − z_j‖) + Σ_m β_m p_m(x)."""
    if header["standardized"]:
        x = graph("Mul", x, arrays["scale"])
    block = expression_of(header["kernel"]).block(graph, x, arrays["bases"])
    scores = graph("MatMul", block, arrays["coefficients"].T)
    polynomial = arrays["polynomial"]
    if polynomial.any():
        scaled = graph("Mul", graph("Sub", x, arrays["center"]), arrays["factors"])
        scores = graph("Add", scores, _polynomials(graph, scaled, polynomial, header["n_features"]))
    return scores


def _polynomials(graph: Graph, x: str, beta: Array, n_features: int) -> str:
    """Σ_m β_m p_m(x), with the monomials of each degree computed from those of the previous one."""
    summed = graph.constant(beta[:, 0])
    done, last_columns, monomials = 1, np.arange(n_features), x
    while True:
        part = beta[:, done : done + len(last_columns)]
        if part.any():
            summed = graph("Add", graph("MatMul", monomials, part.T), summed)
        done += len(last_columns)
        if done >= beta.shape[1]:
            return summed
        # Each is multiplied by its last column and all later ones.
        parents = np.repeat(np.arange(len(last_columns)), n_features - last_columns)
        last_columns = np.concatenate([np.arange(column, n_features) for column in last_columns])
        factors = graph("Gather", x, last_columns, axis=1)
        monomials = graph("Mul", graph("Gather", monomials, parents, axis=1), factors)


_SCORES = {"power-mean": _power_mean, "thin-plate": _thin_plate, "thin-plate-regression": _thin_plate}
