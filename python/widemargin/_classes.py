"""Conversion between users' arrays of classes and the integers and strings of model files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

# The conversion of a model file's label to a class, for each kind of array; objects are strings.
_READERS: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


def labels_of(classes: npt.NDArray[Any]) -> list[int | str]:
    """Class labels as stored in a model file: signed 64-bit integers, or otherwise strings.

    Strings of an integer are stored as integers, as labels in files are read.
    """
    return [_label(label) for label in classes.tolist()]


def classes_of(labels: list[int | str]) -> npt.NDArray[Any]:
    """Class labels of a model file as an array."""
    if all(isinstance(label, int) for label in labels):
        return np.array(labels, dtype=np.int64)
    if all(isinstance(label, str) for label in labels):
        return np.array(labels)
    return np.array(labels, dtype=object)


def type_of_classes(classes: npt.NDArray[Any]) -> bytes | None:
    """The type of an array of classes, for `restored_classes`; None if a model file's labels are enough.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    JSON of the array's type, or None
    """
    plain = classes_of(labels_of(classes))
    if plain.dtype == classes.dtype and plain.tolist() == classes.tolist():
        return None
    return json.dumps({"dtype": classes.dtype.str}).encode() if classes.dtype.kind in _READERS else None


def restored_classes(labels: list[int | str], stored: bytes) -> npt.NDArray[Any]:
    """The array of classes from labels and the result of `type_of_classes`.

    Raises
    ------
    ValueError
        If the labels do not have this type.
    """
    dtype = np.dtype(json.loads(stored)["dtype"])
    return np.array([_READERS[dtype.kind](label) for label in labels], dtype=dtype)


def _label(label: Any) -> int | str:
    if isinstance(label, int) and -(2**63) <= label < 2**63:
        return int(label)
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    text = str(label)
    return int(text) if isinstance(label, str) and re.fullmatch(r"0|-?[1-9]\d{0,17}", text, re.ASCII) else text
