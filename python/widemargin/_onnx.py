"""Fitted estimators as ONNX models, for runtimes that know neither Python nor this library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from . import _core
from .basis_expansion import BasisExpansionSVC
from .power_mean import PowerMeanSVC
from .thin_plate import ThinPlateSVC
from .transformers import BasisExpansion

if TYPE_CHECKING:
    import onnx

_KINDS = (PowerMeanSVC, ThinPlateSVC, BasisExpansionSVC, BasisExpansion)

# Sums take their axes as an input since 13; runtimes of 2022 know 17.
_LEAST_OPSET = 13
_OPSET = 17


def to_onnx(estimator: Any, *, opset: int | None = None) -> onnx.ModelProto:
    """A fitted estimator as an ONNX model.

    It can be exported where its similarities are expressions on vectors, as those that compare vectors or sets are,
    each perhaps after ``mean-norm`` or ``z-score``, several side by side, with any normalization.

    The model's input is ``X`` of shape (n_samples, n_features), of float; for `ThinPlateSVC` of double, since its
    coefficients cancel more digits than single precision has. For "precomputed" it is what ``fit`` was given: a row of
    similarities to all training samples where that was a square matrix, of which those to the bases are taken. Sets
    are rows of 0 and 1.

    The outputs of a classifier are ``label`` (int64, or string where classes are not whole numbers; booleans are 0
    and 1) and ``scores``, shaped as ``decision_function`` gives them and of the input's type. A sample that
    ``decision_function`` refuses as no histogram, having values below 0, has the score NaN. The output of
    `BasisExpansion` is ``features``.

    The model holds the bases as dense rows. Comparing n samples with them takes memory for some matrices of
    (n, bases). Additive similarities, ``laplacian``, and powers of distances below 2 go through the features one by
    one: their time is that of n × bases × features without matrix products, so hand over samples in batches.
    Other distances are computed by matrix products, those of samples that are much nearer to a base than to the
    bases' mean once more by differences.
    `PowerMeanSVC` takes memory for some arrays of (n, features, nodes).

    Parameters
    ----------
    estimator : PowerMeanSVC, ThinPlateSVC, BasisExpansionSVC or BasisExpansion
    opset : int or None, default=None
        The version of ONNX's operators, 13 or above; None is 17.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ImportError
        Without onnx: ``pip install widemargin[onnx]``.
    TypeError
        For another estimator.
    ValueError
        For a similarity that is no expression on vectors, an opset that is not known, and for a model of 2 GB or more.
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
    if not isinstance(estimator, _KINDS):
        names = ", ".join(kind.__name__ for kind in _KINDS)
        raise TypeError(f"to_onnx takes one of {names}, not {type(estimator).__name__}")
    check_is_fitted(estimator)
    opset = _OPSET if opset is None else opset
    newest = onnx.defs.onnx_opset_version()
    if not _LEAST_OPSET <= opset <= newest:
        raise ValueError(f"opset = {opset}: this version of onnx and widemargin know {_LEAST_OPSET} to {newest}")

    from ._onnx_model import model_of

    columns = getattr(estimator, "_columns", None)
    return model_of(
        estimator._model.to_bytes(),
        opset=opset,
        name=type(estimator).__name__,
        version=_core.version(),
        columns=None if columns is None else (estimator.n_features_in_, columns),
    )
