"""What a spec spells: similarities, descriptors, and chains of them."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from numbers import Integral, Real
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from . import _core


class _Spelled(BaseEstimator):
    """Anything that a spec spells."""

    @property
    def spec(self) -> str:
        """Its spelling: ``name:key=value,key=value``."""
        return self._written()

    def _written(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spec


class Similarity(_Spelled):
    """A similarity by its spec.

    Two are equal where their specs are. Called with samples, it returns their block as `pairwise` does.

    Parameters
    ----------
    spec : str
        Such as ``"rbf:gamma=1"`` or ``"hog:cell=8/rigid:radius=1"``.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec

    @property
    def spec(self) -> str:
        """Its spelling: ``name:key=value,key=value``, after descriptors joined by ``/``."""
        return self._written()

    @spec.setter
    def spec(self, spec: str) -> None:
        if type(self)._written is not Similarity._written:
            raise AttributeError(f"the spec of a {type(self).__name__} is made of its parameters: set these")
        if not isinstance(spec, str):
            raise TypeError(f"spec is {spec!r}: it must be a str such as 'rbf:gamma=1'")
        self._given = with_hyphens(spec)

    def _written(self) -> str:
        return self._given

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Similarity({self.spec!r})"

    def __eq__(self, other: object) -> bool:
        return self._canonical() == other._canonical() if isinstance(other, Similarity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._canonical())

    def _canonical(self) -> str:
        try:
            return _core.canonical(self.spec)
        except ValueError:  # what is no spec is equal to itself
            return self.spec

    def __call__(self, X: Any, Y: Any = None) -> npt.NDArray[np.float32]:
        """The block of samples X and bases Y, see `pairwise`."""
        from ._resolve import pairwise  # which imports this module

        return pairwise(self, X, Y)

    def __rshift__(self, then: object) -> Any:
        raise TypeError(
            f"{self!r} is a similarity, with which a chain ends: descriptors come before it, as in MeanNorm() >> RBF()"
        )


class DescriptorMixin:
    """For what describes samples before they are compared: ``descriptor >> similarity``. It needs a `spec`."""

    @property
    def spec(self) -> str:
        """Its spelling: ``name:key=value,key=value``."""
        raise NotImplementedError

    @overload
    def __rshift__(self, then: Similarity | str) -> _SimilarityChain: ...
    @overload
    def __rshift__(self, then: DescriptorMixin) -> _DescriptorChain: ...
    def __rshift__(self, then: Similarity | DescriptorMixin | str) -> Chain:
        if isinstance(then, str):
            then = Similarity(then)
        return Chain(self, then)


class Chain(_Spelled):
    """A descriptor and what follows it; a `Similarity` where it ends in one, else a descriptor.

    Parameters
    ----------
    first : descriptor
    then : similarity or descriptor
    """

    def __new__(cls, first: Any = None, then: Any = None) -> Chain:
        if cls is not Chain:
            made: Chain = super().__new__(cls)
            return made
        for name, step, allowed in (("first", first, DescriptorMixin), ("then", then, (Similarity, DescriptorMixin))):
            if isinstance(step, type):
                raise TypeError(f"{name}={step.__name__} is a class: write {step.__name__}()")
            if not isinstance(step, allowed):
                what = "a descriptor, such as HOG()" + (" or a similarity, such as RBF()" if name == "then" else "")
                raise TypeError(f"{name} is {step!r}: it must be {what}")
        chain: Chain = super().__new__(_SimilarityChain if isinstance(then, Similarity) else _DescriptorChain)
        return chain

    def __init__(self, first: Any, then: Any) -> None:
        self.first = first
        self.then = then

    def _written(self) -> str:
        return f"{self.first.spec}/{self.then.spec}"


class _SimilarityChain(Chain, Similarity):
    pass


class _DescriptorChain(Chain, DescriptorMixin):
    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.first!r} >> {self.then!r}"


# scikit-learn writes estimators that hold one with this name, and Chain(first=…, then=…) makes the same.
_SimilarityChain.__name__ = _DescriptorChain.__name__ = "Chain"


class Named(_Spelled):
    """One step of a spec: a name, and the parameters of the constructor."""

    _name: ClassVar[str]
    # Parameters that are written even where they have their default; others are then left out.
    _shown: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        pass

    def _written(self) -> str:
        cls: Any = type(self)
        values = []
        for name, default in _parameters(cls):
            value = getattr(self, name)
            if value is not None and (name in self._shown or value != default):
                values.append(f"{name}={_value(name, value)}")
        return self._name + (":" if values else "") + ",".join(values)


@functools.cache
def _parameters(cls: Any) -> list[tuple[str, Any]]:
    parameters = inspect.signature(cls).parameters.values()
    return [(parameter.name, parameter.default) for parameter in parameters]


def _value(name: str, value: Any) -> str:
    """A parameter as a spec writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)
    if isinstance(value, str):
        return value.replace("_", "-")
    raise TypeError(f"{name} is {value!r}: it must be a number, a str, or None where it may be left out")


def with_hyphens(spec: str) -> str:
    """The spec with hyphens in its names: ``jensen_shannon`` is ``jensen-shannon``."""
    parts = [step.partition(":") for step in steps_of(spec)]
    separators = [*re.findall("[/>]", spec), ""]
    named = [name.replace("_", "-") + colon + rest for name, colon, rest in parts]
    hyphenated = "".join(itertools.chain.from_iterable(zip(named, separators, strict=True)))
    return spec if hyphenated == spec else hyphenated


def steps_of(spec: str) -> list[str]:
    """The descriptors and the similarity of a spec; ``>`` may stand for ``/``, as it does in older model files."""
    return re.split("[/>]", spec)
