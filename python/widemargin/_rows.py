"""What the library says of its similarities and descriptors, and the classes that are made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from . import _core
from ._row_examples import EXAMPLES

SIMILARITIES: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.similarity_rows()}
DESCRIPTORS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.descriptor_rows()}


def kernels_of(method: str) -> tuple[str, ...]:
    """The similarities that a method takes as its kernel, as Python writes their names."""
    return tuple(name.replace("-", "_") for name, row in SIMILARITIES.items() if method in row["kernel_of"])


_READ: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "bool": lambda text: text == "true"}


def default_of(parameter: dict[str, Any]) -> Any:
    """The default of a parameter that has one."""
    text = parameter["default"]
    return None if text is None else _READ[parameter["kind"]](text)


def _default(parameter: dict[str, Any], before: str) -> str:
    """How the default is written, unless the parameter must be given."""
    return "" if parameter["is_required"] else before + repr(default_of(parameter)).replace("'", '"')


def annotation(parameter: dict[str, Any]) -> str:
    """The type of a parameter as Python writes it."""
    word = " | str" if parameter["word"] else ""
    nothing = "" if parameter["is_required"] or parameter["default"] else " | None"
    return f"{parameter['kind']}{word}{nothing}"


def signature(row: dict[str, Any]) -> list[str]:
    """The parameters of the class, as Python writes them."""
    return [f"{one['name']}: {annotation(one)}{_default(one, ' = ')}" for one in row["parameters"]]


def documentation(row: dict[str, Any]) -> str:
    """The text about the class, as numpydoc wants it."""
    lines = [f"{row['formula']}, of {' or '.join(row['samples'])}."]
    if row["about"]:
        lines += ["", row["about"]]
    if row["parameters"]:
        lines += ["", "Parameters", "----------"]
    for one in row["parameters"]:
        choices = ", ".join(f'"{word}"' for word in one["words"])
        *kinds, last = [
            f"{{{choices}}}" if choices else one["kind"].replace("npt.ArrayLike", "array-like of shape (n, n)"),
            *([f'"{one["word"]}"'] if one["word"] else []),
            *(["None"] if annotation(one).endswith("None") else []),
        ]
        alternatives = f"{', '.join(kinds)} or {last}" if kinds else last
        lines.append(f"{one['name']} : {alternatives}{_default(one, ', default=')}")
        range = f"{one['range'][0].upper()}{one['range'][1:]}." if one["range"] else ""
        if range or one["about"]:
            lines.append(f"    {range} {one['about']}".rstrip().replace("     ", "    "))
    text = "\n".join(lines).replace("`", "``")
    return f"{text}\n\nExamples\n--------\n{_example(row).strip()}\n"


def _example(row: dict[str, Any]) -> str:
    """An example of the class, as doctests."""
    spec = next(iter(row["examples"]), f"{row['name']}/{row['usual']}")
    told = f">>> from widemargin.similarity import Similarity\n>>> Similarity({spec!r}).spec\n{spec!r}"
    return EXAMPLES.get(row["name"], told)


def make_class(row: dict[str, Any], bases: tuple[type, ...], module: str) -> type:
    """The class of a row: a step of a spec whose parameters are those of the constructor."""
    names = [one["name"] for one in row["parameters"]]
    scope: dict[str, Any] = {}
    # A real signature, as scikit-learn reads it, and Python's own messages for what does not fit it.
    body = "; ".join(f"self.{name} = {name}" for name in names) or "pass"
    exec(f"def __init__(self, {', '.join(signature(row))}) -> None: {body}", {"__name__": module, "npt": npt}, scope)
    scope["__init__"].__qualname__ = f"{row['class']}.__init__"
    written = tuple(one["name"] for one in row["parameters"] if one["is_written"])
    lists = tuple(one["name"] for one in row["parameters"] if one["kind"] == "list[float]")
    matrices = tuple(one["name"] for one in row["parameters"] if one["kind"] == "npt.ArrayLike")
    facts = {"__module__": module, "__doc__": documentation(row), "_name": row["name"]}
    return type(row["class"], bases, {**facts, "_shown": written, "_lists": lists, "_matrices": matrices, **scope})
