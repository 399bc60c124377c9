"""Files of scikit-learn pipelines around our estimators, without pickle.

A file is a ZIP archive: ``pipeline.json`` has the steps, their parameters and fitted attributes, ``arrays.npz`` the
arrays of these, and ``model-N`` our estimators, each as its own model file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sklearn
from sklearn import compose, impute, pipeline, preprocessing
from sklearn.base import BaseEstimator

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
    "GridSearchCV": "use its best_estimator_",
    "RandomizedSearchCV": "use its best_estimator_",
    "HalvingGridSearchCV": "use its best_estimator_",
    "HalvingRandomSearchCV": "use its best_estimator_",
}


def instead_of(estimator: Any) -> str:
    """What to do instead of saving or exporting an unsupported object, or an empty string."""
    name = type(estimator).__name__
    return f"; of {name}: {_INSTEAD[name]}" if name in _INSTEAD else ""


def is_archive(data: bytes) -> bool:
    """Whether these are the bytes of the file of a pipeline."""
    return data[:4] == b"PK\x03\x04"


def to_bytes(fitted: pipeline.Pipeline, ours: Callable[[Any], bytes | None]) -> bytes:
    """The file of a fitted pipeline; `ours` returns the model file of one of our estimators, and None for others.

    Raises
    ------
    TypeError
        For a step that cannot be saved, naming it.
    """
    writer = _Writer(ours)
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


def from_bytes(data: bytes, ours: Callable[[bytes], Any]) -> Any:
    """The pipeline of a file; `ours` returns one of our estimators from its model file.

    Raises
    ------
    ValueError
        For a file that is damaged, has a newer format, or is not that of a pipeline.
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
            reader = _Reader(dict(arrays), members, ours)
        return reader.value(manifest["pipeline"])
    except (zipfile.BadZipFile, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"<bytes>: not the file of a pipeline, or damaged ({error})") from error


class _Writer:
    """Values as JSON, with separate lists of arrays and of our models."""

    def __init__(self, ours: Callable[[Any], bytes | None]) -> None:
        self.arrays: dict[str, Any] = {}
        self.models: list[bytes] = []
        self._ours = ours

    def value(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, np.generic):
            return value if isinstance(value, int) or np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return self._array(np.asarray(value), where) | {"is_scalar": True}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
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
        model = self._ours(value)
        if model is not None:
            self.models.append(model)
            return {"model": len(self.models) - 1}
        name = type(value).__name__
        if _STEPS.get(name) is not type(value):
            known = ", ".join(_STEPS)
            raise TypeError(f"{where} has {value!r}, which cannot be saved{instead_of(value)}; steps may be {known}")
        if isinstance(value, preprocessing.FunctionTransformer) and (value.func or value.inverse_func):
            raise TypeError(f"{where} has a FunctionTransformer with a Python function, which cannot be saved")
        state = value.__getstate__() if isinstance(value, BaseEstimator) else vars(value)
        attributes = {key: self.value(one, f"{name}.{key}") for key, one in state.items()}
        return {"estimator": name, "state": attributes}


class _Reader:
    """The values of a manifest."""

    def __init__(self, arrays: dict[str, Any], members: dict[str, bytes], ours: Callable[[bytes], Any]) -> None:
        self._arrays, self._members, self._ours = arrays, members, ours

    def value(self, encoded: Any) -> Any:
        if not isinstance(encoded, dict):
            return encoded
        match encoded:
            case {"float": text}:
                return float(text)
            case {"array": name, "is_scalar": True}:
                return self._arrays[name][()]
            case {"array": name}:
                return self._arrays[name]
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
                return self._ours(self._members[f"model-{at}"])
            case {"estimator": name, "state": state}:
                return self._estimator(_STEPS[name], {key: self.value(one) for key, one in state.items()})
            case _:
                raise KeyError(f"a value of an unknown kind, {sorted(encoded)}")

    def _estimator(self, kind: type, state: dict[str, Any]) -> Any:
        estimator: Any = object.__new__(kind)
        if isinstance(estimator, BaseEstimator):
            # Warns about another version of scikit-learn, as unpickling does.
            estimator.__setstate__(state)
        else:
            vars(estimator).update(state)
        return estimator
