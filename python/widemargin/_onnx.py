"""Export of fitted estimators as ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import MarginClassifier
from ._pipeline_file import instead_of
from ._types import Samples
from .auto import AutoRegressor, AutoSVC
from .basis_expansion import BasisExpansionSVC
from .one_class import BasisExpansionOneClass
from .power_mean import PowerMeanSVC
from .regression import BasisExpansionRegressor, ThinPlateRegressor
from .thin_plate import ThinPlateSVC
from .transformers import BasisExpansion

if TYPE_CHECKING:
    import onnx

_KINDS = (
    PowerMeanSVC,
    ThinPlateSVC,
    BasisExpansionSVC,
    BasisExpansionRegressor,
    ThinPlateRegressor,
    BasisExpansionOneClass,
    BasisExpansion,
)
# Their model is that of one of these.
_AUTO = (AutoSVC, AutoRegressor)
# Estimators of scikit-learn that may contain them, with converters of skl2onnx.
_CONTAINERS = (
    Pipeline,
    GridSearchCV,
    RandomizedSearchCV,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)

# Reductions take their axes as an input since 13; runtimes of 2022 support 17.
_OLDEST_OPSET = 13
_OPSET = 17


def to_onnx(estimator: object, X: Samples = None, *, opset: int | None = None) -> onnx.ModelProto:
    """Exports a fitted estimator as an ONNX model.

    The similarities must be expressions on vectors. Those that compare vectors or sets are, also after ``mean-norm``
    or ``z-score``. Combinations of several similarities and all normalizations are supported.

    The model's input is ``X`` of shape (n_samples, n_features), of type float; for `ThinPlateSVC` and
    `ThinPlateRegressor` it is of type double, since their coefficients cancel more digits than single precision has.
    For "precomputed" it has the columns of the X of ``fit``: similarities to all training samples if that was a square
    matrix, and the model selects those to the bases. Sets are rows of 0 and 1.

    The outputs of a classifier are ``label`` (int64, or string if classes are not integers; booleans are 0 and 1) and
    ``scores``, with the shape of ``decision_function`` and the type of the input, and, unless the model has no
    calibration, ``probabilities`` of shape (n_samples, n_classes). For multilabel targets, ``label`` is the indicator
    matrix that ``predict`` returns. A sample with negative values, which ``decision_function`` rejects for histogram
    kernels, has the score NaN. The output of a regression model is ``targets`` of
    shape (n_samples, n_outputs), of type double, and that of `BasisExpansion` is ``features``. The outputs of
    `BasisExpansionOneClass` are ``label`` (int64: 1, and -1 for outliers) and ``scores`` of shape (n_samples,), of type
    double, as `decision_function` returns them.

    Pipelines, searches and ensembles of scikit-learn are converted by the package skl2onnx. Their inputs have the types
    of X, as do ``scores`` and ``probabilities``; without X there is one input of type double. ONNX Runtime
    implements `SimpleImputer` in single precision only: pass X of float32. With a data frame as X the model has an
    input of shape (n_samples, 1) for each column.

    The model stores the bases as dense rows. Comparing n samples with them needs memory for several matrices of shape
    (n, bases). Additive similarities, ``laplacian``, and powers of distances below 2 loop over the features: their time
    is proportional to n × bases × features without matrix products, so pass samples in batches. Other distances are
    computed by matrix products; those of samples that are much closer to a basis than to the mean of the bases are
    recomputed from differences. `PowerMeanSVC` needs memory for several arrays of shape (n, features, nodes).

    Parameters
    ----------
    estimator : estimator
        A fitted classifier, regression model, `BasisExpansionOneClass` or `BasisExpansion`, or a `Pipeline`,
        `GridSearchCV`, `RandomizedSearchCV`, or stacking or voting estimator that contains them.
    X : samples or None, default=None
        Example samples for a pipeline, search or ensemble, which determine the inputs; their values do not matter.
    opset : int or None, default=None
        The version of the ONNX operator set, 13 or above; None means 17.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ImportError
        If onnx is not installed: ``pip install widemargin[onnx]``; for a pipeline, if skl2onnx is not.
    TypeError
        For other estimators.
    ValueError
        For a similarity that is not an expression on vectors, an unknown opset, and a model of 2 GB or more.
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
        from ._onnx_converters import model_with_steps

        return model_with_steps(estimator, X, (*_KINDS, *_AUTO), _model, opset)
    return _model(estimator, opset)


def _model(estimator: Any, opset: int) -> onnx.ModelProto:
    """The ONNX model of one of our fitted estimators."""
    from ._onnx_model import model_of

    if isinstance(estimator, _AUTO):
        estimator = estimator.best_estimator_
    columns = getattr(estimator, "_columns", None)
    # A model file may store string labels as integers.
    is_multiclass = isinstance(estimator, MarginClassifier) and not estimator._is_several()
    return model_of(
        estimator._model,
        opset=opset,
        name=type(estimator).__name__,
        version=_core.version(),
        columns=None if columns is None else (estimator.n_features_in_, columns),
        classes=estimator.classes_.tolist() if is_multiclass else None,
    )
