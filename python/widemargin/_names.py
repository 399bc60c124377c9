"""Validation of names in parameters."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def one_of(name: str, value: object, known: Iterable[str], *, estimator: object | None = None) -> str:
    """The known name that matches `value` (hyphens and underscores are equivalent), in the library's notation.

    Raises
    ------
    ValueError
        Naming the parameter, the known names and the closest of them.
    """
    names = list(known)
    if isinstance(value, str) and (spelled := value.replace("_", "-")) in {n.replace("_", "-") for n in names}:
        return spelled
    where = f" of {type(estimator).__name__}" if estimator is not None else ""
    allowed = ", ".join(repr(n) for n in names)
    near = difflib.get_close_matches(str(value).replace("-", "_"), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"The {name!r} parameter{where} must be one of {allowed}. Got {value!r} instead.{hint}")
