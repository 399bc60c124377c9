"""Models on disk: the same file that the command line writes and reads."""

from __future__ import annotations

import contextlib
import os
import pickle
import uuid
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import MarginClassifier
from ._model_file import header, parse, with_payload
from .basis_expansion import BasisExpansionSVC
from .power_mean import PowerMeanSVC
from .similarity import resolve
from .thin_plate import ThinPlateSVC

_CLASSES: dict[str, Any] = {
    "power-mean": PowerMeanSVC,
    "basis-expansion": BasisExpansionSVC,
    "thin-plate": ThinPlateSVC,
}
_PYTHON = "python.pickle"


def save(estimator: MarginClassifier, path: str | os.PathLike[str]) -> None:
    """Writes a fitted classifier to a file, whole or not at all.

    The command line and other languages read it (``docs/model-file.md``). A similarity that is a Python callable is
    pickled into it with its bases: such a file only Python reads, and `load` only when told to trust it.

    Parameters
    ----------
    estimator : PowerMeanSVC, BasisExpansionSVC or ThinPlateSVC
    path : path

    Raises
    ------
    TypeError
        For something else, and for a similarity that cannot be pickled.
    sklearn.exceptions.NotFittedError
    OSError
    """
    if not isinstance(estimator, MarginClassifier):
        names = ", ".join(one.__name__ for one in _CLASSES.values())
        raise TypeError(f"save takes one of {names}, not {type(estimator).__name__}")
    check_is_fitted(estimator)
    data = estimator._machine.to_bytes()
    if isinstance(estimator, BasisExpansionSVC) and estimator._resolved.calls:
        data = with_payload(data, _PYTHON, _pickled(estimator))
    _write(Path(path), data)


def load(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Reads a classifier that `save` or the command line wrote.

    Parameters
    ----------
    path : path
    trusted : bool, default=False
        Whether to unpickle a Python similarity, which runs whatever code the file's maker put there.

    Returns
    -------
    PowerMeanSVC, BasisExpansionSVC or ThinPlateSVC
        Fitted, with the parameters and the names of columns that it was trained with, so that a clone of it can be
        fitted as it was. What the file does not keep (``n_jobs``, ``verbose``, ``time_limit``) is as by default.

    Raises
    ------
    ValueError
        For a file that is no model, damaged, of a newer version, or with Python code and not trusted.
    OSError
    """
    data = Path(path).read_bytes()
    try:
        method = _core.method_of(data)
        told = header(data)
        if told.get("bases", {}).get("kind") == "elsewhere":
            return _with_python(data, told, trusted)
        return _CLASSES[method]._from_bytes(data, told)
    except ValueError as error:
        raise ValueError(str(error).replace("<bytes>", os.fspath(path))) from error


def _with_python(data: bytes, told: dict[str, Any], trusted: bool) -> BasisExpansionSVC:
    if not trusted:
        raise ValueError(
            "<bytes>: its similarity is Python code, pickled into the file: load(path, trusted=True) runs it, if you "
            "trust whoever made the file"
        )
    similarity, bases, state, columns = pickle.loads(parse(data)[1][_PYTHON].tobytes())
    fitted = BasisExpansionSVC(similarity)
    fitted._resolved = resolve(similarity)
    fitted._python_bases = bases
    for name, value in columns.items():
        setattr(fitted, name, value)
    fitted._restore(told)
    fitted._rebuild(data, state)
    return fitted


def _pickled(estimator: BasisExpansionSVC) -> bytes:
    columns = {name: getattr(estimator, name) for name in ("n_features_in_",) if hasattr(estimator, name)}
    try:
        return pickle.dumps((estimator.similarity, estimator._python_bases, estimator._machine.state(), columns))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"the similarity {estimator.similarity!r} or its bases cannot be pickled ({error}): define the function at "
            "the top level of a module, not as a lambda or inside another function"
        ) from error


def _write(path: Path, data: bytes) -> None:
    """Into a temporary file beside the target, which then takes its name: no partial file replaces a good one."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
