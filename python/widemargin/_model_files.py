"""Saving and loading models, in the file format of the command line."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from . import _core, _pipeline_file
from ._base import FittedModel, MarginClassifier
from ._classes import type_of_classes
from ._compares import Compares
from .basis_expansion import BasisExpansionSVC
from .one_class import BasisExpansionOneClass
from .power_mean import PowerMeanSVC
from .regression import BasisExpansionRegressor, ThinPlateRegressor
from .similarity import resolve
from .thin_plate import ThinPlateSVC

CLASSES: dict[str, Any] = {
    "power-mean": PowerMeanSVC,
    "basis-expansion": BasisExpansionSVC,
    "thin-plate": ThinPlateSVC,
    "basis-expansion-regression": BasisExpansionRegressor,
    "thin-plate-regression": ThinPlateRegressor,
    "basis-expansion-one-class": BasisExpansionOneClass,
}
# Tensors that the package adds to model files.
_PYTHON = "python.pickle"
_CLASSES = "python.classes"


def save(estimator: object, path: str | os.PathLike[str]) -> None:
    """Writes a fitted estimator, or a pipeline that ends in one, to a file, atomically.

    Symbolic links are followed; a replaced file keeps its permissions; devices, pipes and folders are refused.

    The command line and other languages can read the file (``docs/model-file.md``). A Python similarity is pickled
    into it with its bases: such a file can only be read by Python, and `load` needs ``trusted=True``.

    A `sklearn.pipeline.Pipeline` may have scikit-learn's scalers, `OneHotEncoder`, `OrdinalEncoder`, `SimpleImputer`,
    `FunctionTransformer` without a function and `ColumnTransformer` of these before the estimator. Its file is an
    archive without pickle; the command line does not read it.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A fitted `PowerMeanSVC`, `BasisExpansionSVC`, `ThinPlateSVC`, `BasisExpansionRegressor`, `ThinPlateRegressor`
        or `BasisExpansionOneClass`, or a pipeline that ends in one of these.
    path : path

    Raises
    ------
    TypeError
        For any other object, and for a similarity that cannot be pickled.
    sklearn.exceptions.NotFittedError
    OSError

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import ThinPlateSVC, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> svc = ThinPlateSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(svc, Path(folder) / "iris.model")
    ...     same = load(Path(folder) / "iris.model")
    >>> bool((same.decision_function(X) == svc.decision_function(X)).all())
    True
    """
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        _core.write_file(path, _pipeline_file.to_bytes(estimator, _step_bytes))
        return
    if not isinstance(estimator, FittedModel):
        names = ", ".join(one.__name__ for one in (*CLASSES.values(), Pipeline))
        found = type(estimator).__name__
        raise TypeError(f"save needs one of {names}, not {found}{_pipeline_file.instead_of(estimator)}")
    check_is_fitted(estimator)
    data = _model_bytes(estimator)
    if not _is_complete(estimator):
        data = _core.with_payload(data, _PYTHON, _pickled(estimator))
    _core.write_file(path, data)


def _model_bytes(estimator: FittedModel) -> bytes:
    """The model file, with the type of the classes unless its labels determine it."""
    data: bytes = estimator._model.to_bytes()
    if not isinstance(estimator, MarginClassifier) or estimator._is_several():
        return data
    stored = type_of_classes(estimator.classes_)
    return data if stored is None else _core.with_payload(data, _CLASSES, stored)


def _is_complete(estimator: Any) -> bool:
    """Whether the model file is complete without Python code."""
    return not (hasattr(estimator, "_resolved") and estimator._resolved.calls)


def _step_bytes(step: Any) -> bytes | None:
    """The model file of a step of a pipeline; None for steps of scikit-learn."""
    if not isinstance(step, FittedModel):
        return None
    if not _is_complete(step):
        raise TypeError(
            f"the similarity of {type(step).__name__} is Python code, which the file of a pipeline cannot contain"
        )
    return _model_bytes(step)


def load(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Reads an estimator or a pipeline written by `save`, or a model written by the command line.

    Parameters
    ----------
    path : path
    trusted : bool, default=False
        Whether to unpickle a Python similarity, which can execute arbitrary code. Must be ``True`` or ``False``.

    Returns
    -------
    PowerMeanSVC, BasisExpansionSVC, ThinPlateSVC, BasisExpansionRegressor, ThinPlateRegressor, BasisExpansionOneClass \
or Pipeline
        Fitted, with the parameters and column names of its training, so that fitting a clone repeats the fit.
        Parameters that the file does not store (``n_jobs``, ``verbose``, ``time_limit``) have their defaults.

    Raises
    ------
    ValueError
        For a file that is not a model, is damaged, has a newer format, or contains Python code and is not trusted.
    TypeError
        For a ``trusted`` that is not a bool.
    OSError

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        For a pipeline that was written with another version of scikit-learn.

    Examples
    --------
    See `save`.
    """
    if not isinstance(trusted, bool | np.bool_):
        raise TypeError(f"trusted must be True or False, not {trusted!r}")
    data = Path(path).read_bytes()
    if _pipeline_file.is_archive(data):
        try:
            return _pipeline_file.from_bytes(data, lambda model: _from_bytes(model, json.loads(_core.header_of(model))))
        except ValueError as error:
            raise ValueError(str(error).replace("<bytes>", os.fsdecode(path))) from error
    try:
        # The library first verifies the checksum and the header.
        header = json.loads(_core.header_of(data))
        fitted = _with_python(data, header, bool(trusted)) if _has_python(header) else _from_bytes(data, header)
    except ValueError as error:
        raise ValueError(str(error).replace("<bytes>", os.fsdecode(path))) from error
    return fitted


def _from_bytes(data: bytes, header: dict[str, Any]) -> Any:
    if header["method"] not in CLASSES:
        raise ValueError(f"<bytes>: a model of {header['method']!r}, for which there is no estimator")
    model = _core.Model.from_bytes(data)
    return _with_classes(CLASSES[header["method"]]._restored(model, header), data)


def _with_classes(fitted: Any, data: bytes) -> Any:
    """The estimator with classes of the type in the fit."""
    if isinstance(fitted, MarginClassifier) and (stored := _core.payload(data, _CLASSES)) is not None:
        fitted._restore_type_of_classes(stored)
    return fitted


def _has_python(header: dict[str, Any]) -> bool:
    return header["method"].startswith("basis-expansion") and header["bases"]["kind"] == "elsewhere"


def _with_python(data: bytes, header: dict[str, Any], trusted: bool) -> Compares:
    if not trusted:
        raise ValueError(
            "<bytes>: its similarity is Python code, pickled into the file: load(path, trusted=True) runs it, if you "
            "trust the author of the file"
        )
    pickled = _core.payload(data, _PYTHON)
    if pickled is None:
        raise ValueError(f"<bytes>: the tensor '{_PYTHON}' is missing")
    try:
        return _unpickled(data, header, pickled)
    # Any exception that unpickling raises, such as for a missing module or invalid bytes.
    except Exception as error:
        raise ValueError(
            f"<bytes>: its Python code cannot be loaded ({type(error).__name__}: {error}); the module of the "
            "similarity must be importable, and the file undamaged"
        ) from error


def _unpickled(data: bytes, header: dict[str, Any], pickled: bytes) -> Compares:
    similarity, bases, state, columns = pickle.loads(pickled)
    fitted: Compares = CLASSES[header["method"]](similarity)
    fitted._python_bases = bases
    for name, value in columns.items():
        setattr(fitted, name, value)
    fitted._resolved = resolve(similarity, fitted.layout)
    # `_rebuild` needs these attributes.
    fitted._restore(None, header)
    fitted._rebuild(data, state)
    return _with_classes(fitted, data)


def _pickled(estimator: Compares) -> bytes:
    names = ("n_features_in_", "_table_columns", "kind", "kind_", "layout")
    columns = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    try:
        return pickle.dumps((estimator.similarity, estimator._python_bases, estimator._model.state(), columns))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"the similarity {estimator.similarity!r} or its bases cannot be pickled ({error}): define the function at "
            "the top level of a module, not as a lambda or inside another function"
        ) from error
