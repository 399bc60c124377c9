"""What a ``similarity`` parameter means, and blocks of it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._calls import Block, Checked, name_of
from ._names import one_of
from ._samples import LAYOUTS, alike, count, from_other, pick
from ._specs import DescriptorMixin, Similarity, steps_of, with_hyphens


@dataclass(frozen=True)
class Resolved:
    """What a ``similarity`` parameter means.

    Attributes
    ----------
    specs : list of str
        The library's similarities: the first parts.
    calls : list of (function, name)
        The user's own, whose results are checked: the parts after these.
    takes : list of str
        The kinds of samples that all specs take, the preferred first; empty without specs.
    is_precomputed : bool
    order : list of int
        For each part its place in the list that was given.
    layout : {"auto", "channels_first", "channels_last"}
        The order of the axes of time series.
    """

    specs: list[str]
    calls: list[tuple[Block, str]]
    takes: list[str]
    is_precomputed: bool
    order: list[int] = field(default_factory=list)
    layout: str = "auto"

    def in_given_order(self, parts: Sequence[Any]) -> list[Any]:
        """What belongs to the parts, in the order in which the similarities were given."""
        return [part for _, part in sorted(zip(self.order, parts, strict=True), key=lambda pair: pair[0])]

    def of_bases(self) -> Resolved:
        """The same for samples that a fit has read: "auto" was "channels_last" then."""
        return replace(self, layout="channels_last") if self.layout == "auto" else self

    def given(self, X: Any, name: str = "X") -> tuple[tuple[Any, Any], int]:
        """Samples for the library's similarities and objects for the user's, and how many they are."""
        n = count(X, name)
        samples = from_other(X, self.takes, name, layout=self.layout)[0] if self.specs else None
        return (samples, (X, n, pick) if self.calls else None), n


def resolve(similarity: Any, layout: str = "auto") -> Resolved:
    """Reads a ``similarity`` parameter.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of time series.

    Returns
    -------
    Resolved

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For a spec that is not one, naming the nearest, an empty list, or similarities that no samples suit.
    """
    layout = layout_of(layout)
    several = isinstance(similarity, (list, tuple))
    given = list(similarity) if several else [similarity]
    if not given:
        raise ValueError("similarity is an empty list: it needs at least one, such as 'rbf'")
    specs: dict[int, str] = {}
    calls: dict[int, tuple[Block, str]] = {}
    for place, one in enumerate(given):
        where = f"similarity[{place}]" if several else "similarity"
        if isinstance(one, (str, Similarity)):
            spec = with_hyphens(one) if isinstance(one, str) else one.spec
            specs[place] = _known(spec, where)
            continue
        if isinstance(one, type):
            raise TypeError(f"{where}={one.__name__} is a class: write {one.__name__}()")
        if isinstance(one, DescriptorMixin):
            raise TypeError(f"{where}={one!r} is a descriptor: a similarity must follow it, as in {one!r} >> RBF()")
        if not callable(one):
            raise TypeError(
                f"{where} is {one!r}: it must be a spec such as 'rbf:gamma=1', an object of widemargin.similarity, a "
                "function f(samples, bases) that returns an array (samples, bases), or a list of these"
            )
        checked = one if isinstance(one, Checked) else Checked(one, name_of(one))
        calls[place] = (checked, checked.name)
    is_precomputed = any(_names(spec)[-1] == "precomputed" for spec in specs.values())
    if is_precomputed and len(given) > 1:
        raise ValueError("similarity='precomputed' stands alone: put the blocks side by side in one array")
    texts = list(specs.values())
    return Resolved(texts, list(calls.values()), _takes(texts), is_precomputed, [*specs, *calls], layout)


def layout_of(layout: object) -> str:
    """The known layout of time series that was meant; ValueError for another."""
    return one_of("layout", layout, LAYOUTS).replace("-", "_")


def pairwise(
    similarity: Any, X: Any, Y: Any = None, n_jobs: int | None = None, *, layout: str = "auto"
) -> npt.NDArray[np.float32]:
    """Similarities of samples to bases: ``[i, j]`` is s(basis Y[j], sample X[i]).

    What a similarity learns, such as a gamma that is not given, it learns from the bases.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    X : samples
        Of whatever kind the similarity compares.
    Y : bases or None, default=None
        None is X.
    n_jobs : int or None, default=None
        Threads; -1 is one a core.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of time series, as in `BasisExpansionSVC`.

    Returns
    -------
    ndarray of float32 of shape (n_X, n_Y), or (n_similarities, n_X, n_Y) for a list

    Raises
    ------
    ValueError, TypeError
        For samples that the similarity cannot compare, naming them.
    """
    from ._threads import threads_of

    resolved = resolve(similarity, layout)
    if resolved.is_precomputed and Y is not None:
        raise ValueError("similarity='precomputed' has the bases as columns of X: Y must be None")
    (samples, objects), _ = resolved.given(X)
    bases, base_objects = samples, objects
    if Y is not None:
        (bases, base_objects), _ = resolved.given(Y, "Y")
        samples, bases = alike(samples, bases, X, Y)
    blocks: npt.NDArray[np.float32] = _core.pairwise(
        resolved.specs, resolved.calls, (samples, objects), (bases, base_objects), threads_of(n_jobs)
    )
    if not isinstance(similarity, (list, tuple)):
        only: npt.NDArray[np.float32] = blocks[0]
        return only
    return blocks if resolved.order == sorted(resolved.order) else np.stack(resolved.in_given_order(list(blocks)))


def _names(spec: str) -> list[str]:
    return [step.partition(":")[0] for step in steps_of(spec)]


def _known(spec: str, where: str) -> str:
    """The spec, once it is one."""
    known = {"similarity": _core.similarity_names(), "descriptor": _core.descriptor_names()}
    *before, last = _names(spec)
    steps = [(name, "descriptor", "similarity") for name in before] + [(last, "similarity", "descriptor")]
    for name, what, other in steps:
        if name in known[what]:
            continue
        if name in known[other]:
            usual = {"ngrams": "tanimoto", "znorm": "dtw"}.get(name, "rbf")
            hint = (
                f"a similarity must follow it, as in '{spec}/{usual}'"
                if what == "similarity"
                else "it comes last, after the descriptors"
            )
            raise ValueError(f"{where}={spec!r}: {name!r} is a {other}, {hint}")
        # Capitals are the likeliest slip, and no letter of them is right.
        near = difflib.get_close_matches(name.lower(), known[what], n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{where}={spec!r}: unknown {what} {name!r}.{hint} Known are {', '.join(known[what])}")
    return _core.canonical(spec)


def _takes(specs: list[str]) -> list[str]:
    if not specs:
        return []
    each = [_core.takes([spec]) for spec in specs]
    takes = [kind for kind in each[0] if all(kind in kinds for kinds in each)]
    if not takes:
        told = "; ".join(f"'{spec}' takes {' or '.join(kinds)}" for spec, kinds in zip(specs, each, strict=True))
        raise ValueError(f"no samples suit all of the similarities: {told}")
    return takes
