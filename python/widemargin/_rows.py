"""The library's rows of similarities and descriptors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core

SIMILARITIES: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.similarity_rows()}
DESCRIPTORS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.descriptor_rows()}


def kernels_of(method: str) -> tuple[str, ...]:
    """The names, in Python's notation, of the similarities that a method accepts as its kernel."""
    return tuple(name.replace("-", "_") for name, row in SIMILARITIES.items() if method in row["kernel_of"])


_READ: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "bool": lambda text: text == "true"}


def default_of(parameter: dict[str, Any]) -> Any:
    """The default of a parameter; None if it has none."""
    text = parameter["default"]
    return None if text is None else _READ[parameter["kind"]](text)
