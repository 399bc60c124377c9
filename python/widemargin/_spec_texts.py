"""Specs of similarities and descriptors as texts."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._kinds import NOUNS

SIMILARITIES: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.similarity_rows()}
DESCRIPTORS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.descriptor_rows()}


def kernels_of(method: str) -> tuple[str, ...]:
    """The names, in Python's notation, of the similarities that a method accepts as its kernel."""
    return tuple(name.replace("-", "_") for name, row in SIMILARITIES.items() if method in row["kernel_of"])


READERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "bool": lambda text: text == "true"}


def default_of(parameter: dict[str, Any]) -> Any:
    """The default of a parameter; None if it has none."""
    text = parameter["default"]
    return None if text is None else READERS[parameter["kind"]](text)


def steps_of(spec: str) -> list[str]:
    """The descriptors and the similarity of a spec."""
    return spec.split("/")


def parsed(step: str) -> tuple[str, dict[str, str]]:
    """The name of a step, and its parameters as texts."""
    name, _, rest = step.partition(":")
    pairs = (pair.partition("=") for pair in rest.split(",") if pair)
    return name, {key: value for key, _, value in pairs}


def names_of_steps(spec: str) -> list[str]:
    return [parsed(step)[0] for step in steps_of(spec)]


def step_of(name: str, parameters: dict[str, str]) -> str:
    """A step, from its name and its parameters as texts."""
    return ":".join(filter(None, (name, ",".join(f"{key}={value}" for key, value in parameters.items()))))


def options_of(step: str) -> tuple[str, float, int | None]:
    """A similarity's step without the options of an expansion, its weight, and the number of its bases."""
    name, parameters = parsed(step)
    weight, bases = parameters.pop("weight", "1"), parameters.pop("bases", None)
    number = math.nan if weight == "auto" else float(weight)
    return step_of(name, parameters), number, None if bases is None else int(bases)


def columns_of(spec: str, n_basis: int) -> npt.NDArray[np.intp]:
    """The indices, among `n_basis`, of the bases of a part of an expansion."""
    bases = options_of(steps_of(spec)[-1])[2]
    width = n_basis if bases is None else min(bases, n_basis)
    return np.arange(width) * n_basis // max(width, 1)


def with_hyphens(spec: str) -> str:
    """The spec with hyphens in its names: ``jensen_shannon`` is ``jensen-shannon``."""
    parts = [step.partition(":") for step in steps_of(spec)]
    hyphenated = "/".join(name.replace("_", "-") + colon + rest for name, colon, rest in parts)
    # The same object, as scikit-learn's clone expects.
    return spec if hyphenated == spec else hyphenated


def canonical(spec: str, where: str) -> str:
    """The spec in canonical form; ValueError for an unknown name."""
    known = {"similarity": SIMILARITIES, "descriptor": DESCRIPTORS}
    # A plus sign before a digit belongs to a number, such as 1e+5.
    if len(joined := re.split(r"\+(?=[a-z])", spec)) > 1:
        raise ValueError(f"{where}={spec!r}: several similarities are passed as a list, {joined!r}")
    *before, last = names_of_steps(spec)
    steps = [(name, "descriptor", "similarity") for name in before] + [(last, "similarity", "descriptor")]
    for name, what, other in steps:
        if name in known[what]:
            continue
        if name in known[other]:
            hint = "it comes last, after the descriptors"
            if what == "similarity":
                hint = f"a similarity must follow it, as in '{spec}/{known[other][name]['usual']}'"
            raise ValueError(f"{where}={spec!r}: {name!r} is a {other}, {hint}")
        # Wrong capitals are the most likely mistake.
        near = difflib.get_close_matches(name.lower(), known[what], n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{where}={spec!r}: unknown {what} {name!r}.{hint} Known are {', '.join(known[what])}")
    return _core.canonical(spec)


def accepted_kinds(specs: list[str]) -> list[str]:
    if not specs:
        return []
    each = [_core.accepted_kinds([spec]) for spec in specs]
    for spec in (spec for spec, nouns in zip(specs, each, strict=True) if not nouns):
        *before, last = spec.split("/")
        usual = "/".join([*before, DESCRIPTORS[before[-1].partition(":")[0]]["usual"]]) if before else "rbf"
        raise ValueError(
            f"similarity={spec!r} compares no samples: {last.partition(':')[0]} does not compare what the descriptor "
            f"before it returns, which {usual!r} does"
        )
    common = [noun for noun in each[0] if all(noun in nouns for nouns in each)]
    if not common:
        listed = "; ".join(f"'{spec}' takes {' or '.join(nouns)}" for spec, nouns in zip(specs, each, strict=True))
        raise ValueError(f"the similarities have no common kind of samples: {listed}")
    return [kind for noun in common for kind in NOUNS if NOUNS[kind] == noun]


def written(name: str, value: Any, *, is_list: bool = False) -> str:
    """A parameter as a spec writes it: a number, a text, or a list of numbers."""
    if is_list and not isinstance(value, str):
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) == 0:
            raise TypeError(f"{name} is {value!r}: it must be a list of numbers, or None")
        return ";".join(written(name, one) for one in value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)
    if isinstance(value, str):
        return value if is_list else value.replace("_", "-")
    raise TypeError(f"{name} is {value!r}: it must be a number, a str, or None if it is optional")
