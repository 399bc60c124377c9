"""Saving and loading models, in the file format of the command line, and pipelines, as archives without pickle."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import sklearn
from sklearn import compose, impute, pipeline, preprocessing
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import FittedModel
from ._compares import Compares
from ._predictors import FittedRegressor, MarginClassifier
from .basis_expansion import BasisExpansionRegressor, BasisExpansionSVC
from .one_class import BasisExpansionOneClass
from .power_mean import PowerMeanSVC
from .thin_plate import ThinPlateRegressor, ThinPlateSVC

_FORMAT = 1
_MANIFEST, _ARRAYS = "pipeline.json", "arrays.npz"

_STEPS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        compose.ColumnTransformer,
        compose.make_column_selector,
        impute.MissingIndicator,
        impute.SimpleImputer,
        pipeline.Pipeline,
        preprocessing.FunctionTransformer,
        preprocessing.MaxAbsScaler,
        preprocessing.MinMaxScaler,
        preprocessing.Normalizer,
        preprocessing.OneHotEncoder,
        preprocessing.OrdinalEncoder,
        preprocessing.RobustScaler,
        preprocessing.StandardScaler,
    )
}

_INSTEAD = {
    "CalibratedClassifierCV": "fit the classifier itself: its predict_proba is calibrated",
    "OneVsRestClassifier": "fit the classifier itself: it supports several classes, and multilabel indicator matrices",
    "OneVsOneClassifier": "fit the classifier itself: it supports several classes",
    "MultiOutputClassifier": "fit the classifier itself: it supports multilabel indicator matrices",
    "ClassifierChain": "fit the classifier itself: it supports multilabel indicator matrices",
    "MultiOutputRegressor": "save the estimator of each output",
    "TfidfVectorizer": 'pass the strings themselves to BasisExpansionSVC, with the similarity "tfidf"',
    "CountVectorizer": 'pass the strings themselves to BasisExpansionSVC, with the similarity "tfidf"',
}


def instead_of(estimator: Any) -> str:
    """An alternative to saving or exporting an unsupported object, or an empty string."""
    name = type(estimator).__name__
    instead = "use its best_estimator_" if name.endswith("SearchCV") else _INSTEAD.get(name)
    return f"; of {name}: {instead}" if instead else ""


def pipeline_bytes(fitted: pipeline.Pipeline) -> bytes:
    """The file of a fitted pipeline.

    Raises
    ------
    TypeError
        For a step that cannot be saved, naming it.
    """
    writer = _Writer()
    manifest = {"format": _FORMAT, "sklearn": sklearn.__version__, "pipeline": writer.value(fitted, "the pipeline")}
    file, arrays = io.BytesIO(), io.BytesIO()
    np.savez(arrays, allow_pickle=False, **writer.arrays)
    members = {_MANIFEST: json.dumps(manifest).encode(), _ARRAYS: arrays.getvalue()}
    members |= {f"model-{at}": model for at, model in enumerate(writer.models)}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            # A fixed date, so that the same pipeline gives the same file.
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


def _pipeline_of(data: bytes) -> Any:
    """The pipeline of a file.

    Raises
    ------
    ValueError
        If the file is damaged, has a newer format, or does not contain a pipeline.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if (broken := archive.testzip()) is not None:
                raise ValueError(f"<bytes>: it is damaged: {broken}")
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members[_MANIFEST])
        if manifest["format"] > _FORMAT:
            found = manifest["format"]
            raise ValueError(
                f"<bytes>: pipeline format {found} is newer than {_FORMAT}, the newest known: update widemargin"
            )
        with np.load(io.BytesIO(members[_ARRAYS]), allow_pickle=False) as arrays:
            return _Reader(dict(arrays), members).value(manifest["pipeline"])
    except (zipfile.BadZipFile, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"<bytes>: not the file of a pipeline, or damaged ({error})") from error


class _Writer:
    """Values as JSON, with separate lists of arrays and of our models."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self.models: list[bytes] = []

    def value(self, value: Any, where: str) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value), where)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (list, tuple)):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.value(one, where) for one in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.value(key, where), self.value(one, where)] for key, one in value.items()]}
        if isinstance(value, slice):
            return {"slice": [self.value(at, where) for at in (value.start, value.stop, value.step)]}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": value.__name__}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        return self._estimator(value, where)

    def _array(self, array: Any, where: str) -> dict[str, Any]:
        if array.dtype.kind == "O":
            items = [self.value(one, where) for one in array.ravel().tolist()]
            return {"objects": items, "shape": list(array.shape)}
        name = str(len(self.arrays))
        self.arrays[name] = array
        return {"array": name}

    def _estimator(self, value: Any, where: str) -> dict[str, Any]:
        if isinstance(value, FittedModel):
            if not _is_complete(value):
                what = f"the similarity of {type(value).__name__} is Python code"
                raise TypeError(f"{what}, which the file of a pipeline cannot contain")
            self.models.append(_model_bytes(value))
            return {"model": len(self.models) - 1}
        name = type(value).__name__
        if _STEPS.get(name) is not type(value):
            known = ", ".join(_STEPS)
            raise TypeError(f"{where} has {value!r}, which cannot be saved{instead_of(value)}; steps may be {known}")
        if isinstance(value, preprocessing.FunctionTransformer) and (value.func or value.inverse_func):
            raise TypeError(f"{where} has a FunctionTransformer with a Python function, which cannot be saved")
        state: Any = value.__getstate__()
        attributes = {key: self.value(one, f"{name}.{key}") for key, one in state.items()}
        return {"estimator": name, "state": attributes}


class _Reader:
    """The values of a manifest."""

    def __init__(self, arrays: dict[str, Any], members: dict[str, bytes]) -> None:
        self._arrays, self._members = arrays, members

    def value(self, encoded: Any) -> Any:
        if not isinstance(encoded, dict):
            return encoded
        match encoded:
            case {"array": name}:
                return self._arrays[name][()]  # an array without axes is a number
            case {"objects": items, "shape": shape}:
                array = np.empty(len(items), dtype=object)
                array[:] = [self.value(one) for one in items]
                return array.reshape(shape)
            case {"list": items}:
                return [self.value(one) for one in items]
            case {"tuple": items}:
                return tuple(self.value(one) for one in items)
            case {"dict": pairs}:
                return {self.value(key): self.value(one) for key, one in pairs}
            case {"slice": ends}:
                return slice(*(self.value(at) for at in ends))
            case {"dtype": name}:
                return np.dtype(name)
            case {"type": name} if issubclass(getattr(np, name), np.generic):
                return getattr(np, name)
            case {"model": at}:
                return _model_of(self._members[f"model-{at}"])
            case {"estimator": name, "state": state}:
                estimator: Any = object.__new__(_STEPS[name])
                # That of scikit-learn's estimators warns about another version, as in unpickling.
                set_state = getattr(estimator, "__setstate__", vars(estimator).update)
                set_state({key: self.value(one) for key, one in state.items()})
                return estimator
            case _:
                raise KeyError(f"a value of an unknown kind, {sorted(encoded)}")


CLASSES: dict[str, Any] = {
    "power-mean": PowerMeanSVC,
    "basis-expansion": BasisExpansionSVC,
    "thin-plate": ThinPlateSVC,
    "basis-expansion-regression": BasisExpansionRegressor,
    "thin-plate-regression": ThinPlateRegressor,
    "basis-expansion-one-class": BasisExpansionOneClass,
}
Loaded: TypeAlias = MarginClassifier | FittedRegressor | BasisExpansionOneClass | Pipeline

# Tensors that the package adds to model files.
_PYTHON = "python.pickle"
_STATE = "python.state"


def save(estimator: object, path: str | os.PathLike[str]) -> None:
    """Writes a fitted estimator, or a pipeline that ends in one, to a file.

    The file is written atomically. Symbolic links are followed, and a replaced file keeps its permissions; devices,
    pipes and folders are rejected.

    The command line and other languages can read the file (see ``docs/model-file.md``). A Python similarity is pickled
    into the file together with its bases; such a file can only be read by Python, and `load` requires ``trusted=True``.

    In a `sklearn.pipeline.Pipeline`, the steps before the estimator may be scikit-learn's scalers, `OneHotEncoder`,
    `OrdinalEncoder`, `SimpleImputer`, `FunctionTransformer` without a function, and `ColumnTransformer` with these. The
    file of a pipeline is an archive without pickle, which the command line cannot read.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A fitted `PowerMeanSVC`, `BasisExpansionSVC`, `ThinPlateSVC`, `BasisExpansionRegressor`, `ThinPlateRegressor`
        or `BasisExpansionOneClass`, or a pipeline that ends in one of these.
    path : path
        The file to write.

    Raises
    ------
    TypeError
        For any other object, or a similarity that cannot be pickled.
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
        _core.write_file(path, pipeline_bytes(estimator))
        return
    if not isinstance(estimator, FittedModel):
        names = ", ".join(one.__name__ for one in (*CLASSES.values(), Pipeline))
        found = type(estimator).__name__
        raise TypeError(f"save needs one of {names}, not {found}{instead_of(estimator)}")
    check_is_fitted(estimator)
    data = _model_bytes(estimator)
    if not _is_complete(estimator):
        data = _core.with_payload(data, _PYTHON, _pickled(estimator))
    _core.write_file(path, data)


def _model_bytes(estimator: FittedModel) -> bytes:
    """The model file, including the attributes that only the Python estimators have."""
    data: bytes = estimator._model.to_bytes()
    state = estimator._python_state()
    return _core.with_payload(data, _STATE, json.dumps(state).encode()) if state else data


def _is_complete(estimator: Any) -> bool:
    """Whether the model file is complete without Python code."""
    return not (hasattr(estimator, "_resolved") and estimator._resolved.calls)


def load(path: str | os.PathLike[str], *, trusted: bool = False) -> Loaded:
    """Reads an estimator or a pipeline written by `save`, or a model written by the command line.

    Parameters
    ----------
    path : path
        The file to read.
    trusted : bool, default=False
        Whether to unpickle a Python similarity. Unpickling can execute arbitrary code: use True only for files from a
        trusted source.

    Returns
    -------
    PowerMeanSVC, BasisExpansionSVC, ThinPlateSVC, BasisExpansionRegressor, ThinPlateRegressor, BasisExpansionOneClass \
or Pipeline
        The fitted estimator, with the parameters and column names of the original fit, so that fitting a clone repeats
        the fit. Parameters that are not stored in the file (``n_jobs``, ``verbose``, ``time_limit``) have their default
        values.

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, has a newer format, or contains Python code and ``trusted`` is False.
    TypeError
        If ``trusted`` is not a bool.
    OSError

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        If a pipeline was written with another version of scikit-learn.

    Examples
    --------
    See `save`.
    """
    if not isinstance(trusted, bool | np.bool_):
        raise TypeError(f"trusted must be True or False, not {trusted!r}")
    data = Path(path).read_bytes()
    try:
        return _pipeline_of(data) if data[:4] == b"PK\x03\x04" else _model_of(data, trusted=bool(trusted))
    except ValueError as error:
        raise ValueError(str(error).replace("<bytes>", os.fsdecode(path))) from error


def _model_of(data: bytes, *, trusted: bool = False) -> Any:
    """The estimator of a model file."""
    # The library first verifies the checksum and the header.
    header = json.loads(_core.header_of(data))
    if header["method"] not in CLASSES:
        raise ValueError(f"<bytes>: a model of {header['method']!r}, for which there is no estimator")
    cls = CLASSES[header["method"]]
    header["python"] = json.loads(_core.payload(data, _STATE) or "{}")
    if header["method"].startswith("basis-expansion") and header["bases"]["kind"] == "elsewhere":
        return _with_python(cls, data, trusted)
    return cls._restored(_core.Model.from_bytes(data), header)


def _with_python(cls: type[Compares], data: bytes, trusted: bool) -> Compares:
    if not trusted:
        raise ValueError(
            "<bytes>: its similarity is Python code, pickled into the file: load(path, trusted=True) runs it, if you "
            "trust the author of the file"
        )
    pickled = _core.payload(data, _PYTHON)
    if pickled is None:
        raise ValueError(f"<bytes>: the tensor '{_PYTHON}' is missing")
    try:
        fitted = cls.__new__(cls)
        fitted.__setstate__(pickle.loads(pickled) | {"_model": data})
        return fitted
    # Any exception that unpickling raises, such as for a missing module or invalid bytes.
    except Exception as error:
        raise ValueError(
            f"<bytes>: its Python code cannot be loaded ({type(error).__name__}: {error}); the module of the "
            "similarity must be importable, and the file undamaged"
        ) from error


def _pickled(estimator: Compares) -> bytes:
    """The state of an estimator, except for the model."""
    try:
        return pickle.dumps(estimator.__getstate__() | {"_model": None})
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"the similarity {estimator.similarity!r} or its bases cannot be pickled ({error}): define the function at "
            "the top level of a module, not as a lambda or inside another function"
        ) from error
