"""Export of fitted estimators as ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._model_files import CLASSES, instead_of
from ._parameters import Samples
from .auto import AutoRegressor, AutoSVC
from .basis_expansion import BasisExpansion

if TYPE_CHECKING:
    import onnx

_KINDS = (*CLASSES.values(), BasisExpansion)
# Their model is that of one of these.
_AUTO = (AutoSVC, AutoRegressor)
# Estimators of scikit-learn that may contain them, with converters of skl2onnx.
_ENSEMBLES = (StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor)
_CONTAINERS = (Pipeline, GridSearchCV, RandomizedSearchCV, *_ENSEMBLES)

# Reductions take their axes as an input since 13; runtimes of 2022 support 17.
_OLDEST_OPSET = 13
_OPSET = 17


def to_onnx(estimator: object, X: Samples = None, *, opset: int | None = None) -> onnx.ModelProto:
    """Exports a fitted estimator as an ONNX model.

    The similarities must be expressions on vectors. This includes the similarities of vectors and sets, also after the
    descriptors ``mean-norm`` and ``z-score``. Combinations of several similarities and all normalizations are
    supported.

    The input of the model is ``X`` of shape (n_samples, n_features). Its type is float, or double for `ThinPlateSVC`
    and `ThinPlateRegressor`, whose coefficients cancel more digits than single precision has. For "precomputed", it has
    the same columns as the X passed to ``fit``; if that was a square matrix, the model selects the columns of the
    bases. Sets are represented as rows of 0 and 1.

    The outputs of a classifier are ``label`` (int64, or string if the classes are not integers; booleans are 0 and 1),
    ``scores``, with the shape of ``decision_function`` and the type of the input, and, if the model is calibrated,
    ``probabilities`` of shape (n_samples, n_classes). For multilabel targets, ``label`` is the indicator matrix that
    ``predict`` returns. For histogram kernels, a sample with negative values, which ``decision_function`` rejects, has
    the score NaN. The output of a regressor is ``targets`` of shape (n_samples, n_outputs) and type double; the output
    of `BasisExpansion` is ``features``. The outputs of `BasisExpansionOneClass` are ``label`` (int64: 1 for inliers, -1
    for outliers) and ``scores`` of shape (n_samples,) and type double, as returned by `decision_function`.

    Pipelines, searches and ensembles of scikit-learn are converted by the package skl2onnx. Their inputs, ``scores``
    and ``probabilities`` have the types of X; without X, there is one input of type double. ONNX Runtime implements
    `SimpleImputer` in single precision only: pass X as float32. If X is a data frame, the model has an input of shape
    (n_samples, 1) for each column.

    The model stores the bases as dense rows. Prediction for n samples needs memory for several matrices of shape (n,
    n_basis). Additive similarities, ``laplacian``, and powers of distances with an exponent below 2 loop over the
    features, in time proportional to n × n_basis × n_features and without matrix products: pass samples in batches.
    Other distances are computed by matrix products, except for samples that are much closer to a basis than to the mean
    of the bases, whose distances are recomputed from differences. `PowerMeanSVC` needs memory for several arrays of
    shape (n, n_features, n_nodes).

    Parameters
    ----------
    estimator : estimator
        A fitted classifier, regressor, `BasisExpansionOneClass` or `BasisExpansion`, or a `Pipeline`, `GridSearchCV`,
        `RandomizedSearchCV`, or stacking or voting estimator that contains them.
    X : samples or None, default=None
        Example samples, which determine the inputs of a pipeline, search or ensemble; their values do not matter.
    opset : int or None, default=None
        The version of the ONNX operator set, 13 or above; None means 17.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ImportError
        If onnx, or for a pipeline skl2onnx, is not installed: ``pip install widemargin[onnx]``.
    TypeError
        For other estimators.
    ValueError
        For a similarity that is not an expression on vectors, an unknown opset, or a model of 2 GB or more.
    sklearn.exceptions.NotFittedError

    Examples
    --------
    >>> model = to_onnx(BasisExpansionSVC().fit(X, y))  # doctest: +SKIP
    >>> pathlib.Path("model.onnx").write_bytes(model.SerializeToString())  # doctest: +SKIP
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install widemargin[onnx]") from error
    if not isinstance(estimator, (*_KINDS, *_AUTO, *_CONTAINERS)):
        names = ", ".join(kind.__name__ for kind in (*_KINDS, *_CONTAINERS))
        raise TypeError(f"to_onnx needs one of {names}, not {type(estimator).__name__}{instead_of(estimator)}")
    check_is_fitted(estimator)
    opset = _OPSET if opset is None else opset
    newest = onnx.defs.onnx_opset_version()
    if not _OLDEST_OPSET <= opset <= newest:
        raise ValueError(f"opset = {opset}: this version of onnx and widemargin support {_OLDEST_OPSET} to {newest}")
    if isinstance(estimator, _CONTAINERS):
        return _model_with_steps(estimator, X, opset)
    return _model(estimator, opset)


def _model(estimator: Any, opset: int) -> onnx.ModelProto:
    """The ONNX model of one of our fitted estimators."""
    from ._onnx_model import model_of

    return model_of(estimator.best_estimator_ if isinstance(estimator, _AUTO) else estimator, opset)


# The outputs of our models in the order in which skl2onnx's own converters read them.
_OUTPUTS = ("label", "probabilities", "scores", "targets", "features")
_ML_OPSET = 3
# For converters of classifiers whose outputs skl2onnx adds.
_OPTIONS = {"zipmap": [True, False, "columns"]}


def _model_with_steps(estimator: Any, X: Any, opset: int) -> onnx.ModelProto:
    """The ONNX model of an estimator of scikit-learn that contains our fitted estimators.

    Parameters
    ----------
    estimator : estimator
        Such as a pipeline.
    X : samples or None
        Example samples with the types of the inputs; None for arrays of double.
    opset : int

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    import onnx

    try:
        import skl2onnx
        from skl2onnx.common.data_types import DoubleTensorType
    except ImportError as error:
        raise ImportError("to_onnx of a pipeline needs the package skl2onnx: pip install skl2onnx") from error
    for kind in (*_KINDS, *_AUTO):
        _register(kind)
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


def _register(kind: type) -> None:
    """Registers the converter of one of our estimators with skl2onnx."""
    import onnx
    from onnx import compose
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
        is_double = isinstance(inputs[0].type, data_types.DoubleTensorType)
        number = data_types.DoubleTensorType if is_double else data_types.FloatTensorType
        return of_labels.get(tensor.elem_type, number)([one.dim_value or None for one in tensor.shape.dim])

    def outputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
        return sorted(graph.output, key=lambda value: _OUTPUTS.index(value.name))

    def parse(scope: Any, estimator: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        operator = scope.declare_local_operator(alias, estimator)
        operator.inputs = inputs
        for value in outputs(_model(estimator, _opset_of(scope)).graph):
            operator.outputs.append(scope.declare_local_variable(value.name, type_of(value, inputs)))
        return operator.outputs

    def set_types(operator: Any) -> None:
        made = outputs(_model(operator.raw_operator, _opset_of(operator)).graph)
        # An ensemble uses only the first ones.
        for value, variable in zip(made, operator.outputs, strict=False):
            variable.type = type_of(value, operator.inputs)

    def convert(scope: Any, operator: Any, container: Any) -> None:
        opset, prefix = _opset_of(container), scope.get_unique_operator_name(alias) + "."
        made = _model(operator.raw_operator, opset)
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
