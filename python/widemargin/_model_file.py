"""Parsing of model files, see `docs/model-file.md`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

_DTYPES = {"F32": "<f4", "F64": "<f8", "U8": "u1", "U32": "<u4", "U64": "<u8"}
_KEY = "widemargin"


def parse(data: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The header, and the arrays as views of the bytes; for bytes that the library wrote or has verified."""
    layout, start = _layout(data)
    arrays = {}
    for name, tensor in layout.items():
        if name == "__metadata__":
            continue
        first, last = tensor["data_offsets"]
        part = memoryview(data)[start + first : start + last]
        arrays[name] = np.frombuffer(part, dtype=_DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
    return json.loads(layout["__metadata__"][_KEY]), arrays


def header(data: bytes) -> dict[str, Any]:
    """The header of any bytes; raises ValueError if they are not a model file, or damaged."""
    told: dict[str, Any] = json.loads(_core.header_of(data))
    return told


def _layout(data: bytes) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), 8 + length
