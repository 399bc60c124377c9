"""Similarities, descriptors, and chains of them as objects; and interpretation of ``similarity`` parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, NoReturn, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from . import _core
from ._calls import Block, Checked, name_of
from ._files import Stored
from ._kinds import are_smooth, kind_and_layout, kind_of
from ._parameters import KindWarning, Samples, SimilarityLike, threads_of, warn
from ._samples import check_alike, count, from_objects, from_other
from ._sklearn import Interval
from ._spec_texts import accepted_kinds, canonical, names_of_steps, options_of, step_of, steps_of, with_hyphens, written

_Part = TypeVar("_Part")


class _HasSpec(BaseEstimator):
    """An object with a spec."""

    @property
    def spec(self) -> str:
        """The spec: ``name:key=value,key=value``."""
        return self._written()

    def _written(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spec


class Similarity(_HasSpec):
    """A similarity, described by its spec.

    Two similarities are equal if their specs are equal. Calling a similarity returns the values between samples and
    bases, as `pairwise` does.

    Parameters
    ----------
    spec : str
        The spec, such as ``"rbf:gamma=1"`` or ``"hog:cell=8/rigid:radius=1"``.

    Examples
    --------
    >>> from widemargin.similarity import RBF, Similarity
    >>> Similarity("rbf:gamma=1") == RBF(gamma=1.0)
    True
    >>> print(Similarity("distance")([[0.0, 0.0]], [[3.0, 4.0]]))
    [[-5.]]
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec

    @property
    def spec(self) -> str:
        """The spec: ``name:key=value,key=value``, preceded by its descriptors, separated by ``/``."""
        return self._written()

    @spec.setter
    def spec(self, spec: str) -> None:
        if type(self)._written is not Similarity._written:
            raise AttributeError(f"the spec of a {type(self).__name__} follows from its parameters: set these")
        if not isinstance(spec, str):
            raise TypeError(f"spec is {spec!r}: it must be a str such as 'rbf:gamma=1'")
        self._spec = with_hyphens(spec)

    def _written(self) -> str:
        return self._spec

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"Similarity({self.spec!r})"

    def __eq__(self, other: object) -> bool:
        return self._canonical() == other._canonical() if isinstance(other, Similarity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._canonical())

    def _canonical(self) -> str:
        try:
            return _core.canonical(self.spec)
        except ValueError:  # an invalid spec is equal to itself
            return self.spec

    def __call__(self, X: Samples, Y: Samples = None) -> npt.NDArray[np.float32]:
        """The similarities of samples X to bases Y; see `pairwise`."""
        return pairwise(self, X, Y)

    def in_expansion(self, *, weight: float | str = 1.0, bases: int | None = None) -> Similarity:
        """Returns the similarity with a weight and a number of bases, for use in a list of similarities.

        Parameters
        ----------
        weight : float or "auto", default=1.0
            The factor of the normalized features, above 0. "auto" selects it by leave-one-out on the training samples.
        bases : int or None, default=None
            Number of bases, evenly spaced among all bases, that samples are compared with; for example for a slow
            similarity that is combined with fast ones. None means all bases.

        Returns
        -------
        Similarity
        """
        *before, last = steps_of(self.spec)
        step, _, _ = options_of(last)
        options = [f"weight={weight}"] * (weight != 1.0) + ([] if bases is None else [f"bases={bases}"])
        if options:
            step += (":" if ":" not in step else ",") + ",".join(options)
        similarity = Similarity("/".join([*before, step]))
        _core.canonical(similarity.spec)
        return similarity

    def __rshift__(self, then: object) -> NoReturn:
        raise TypeError(
            f"{self!r} is a similarity, which ends a chain: descriptors come before it, as in MeanNorm() >> RBF()"
        )


class DescriptorMixin:
    """Mixin for descriptors, which can be combined with a similarity: ``descriptor >> similarity``.

    Examples
    --------
    >>> from widemargin.similarity import HOG, DescriptorMixin
    >>> isinstance(HOG(), DescriptorMixin)
    True
    """

    @property
    def spec(self) -> str:
        """The spec: ``name:key=value,key=value``."""
        raise NotImplementedError

    @overload
    def __rshift__(self, then: Similarity | str) -> _SimilarityChain: ...
    @overload
    def __rshift__(self, then: DescriptorMixin) -> _DescriptorChain: ...
    def __rshift__(self, then: Similarity | DescriptorMixin | str) -> Chain:
        if isinstance(then, str):
            then = Similarity(then)
        return Chain(self, then)


class HOG(DescriptorMixin, TransformerMixin, BaseEstimator):
    """Histograms of oriented gradients of images, with 31 values per cell.

    The transformer is stateless. As a descriptor, it can be combined with a similarity: ``HOG(4) >> Rigid(1)`` is a
    similarity of images.

    Parameters
    ----------
    cell_size : int, default=8
        Side length of a cell in pixels. The height and width of the images must be multiples of it.
    flatten : bool, default=True
        Whether the result has one row per image, of shape (n, rows · columns · 31). If False, its shape is (n, rows,
        columns, 31), for similarities of grids.
    n_jobs : int or None, default=None

    References
    ----------
    .. [1] N. Dalal and B. Triggs, *Histograms of oriented gradients for human detection*, CVPR 2005.
    .. [2] P. F. Felzenszwalb, R. B. Girshick, D. McAllester and D. Ramanan, *Object detection with discriminatively
           trained part-based models*, IEEE Transactions on Pattern Analysis and Machine Intelligence 32(9), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.similarity import HOG
    >>> images = np.zeros((2, 32, 32), dtype=np.uint8)
    >>> HOG(cell_size=8).fit_transform(images).shape
    (2, 496)
    >>> (HOG(8) >> "rigid").spec
    'hog:cell=8/rigid'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cell_size": [Interval(Integral, 1, None, closed="left")],
        "flatten": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, cell_size: int = 8, flatten: bool = True, *, n_jobs: int | None = None) -> None:
        self.cell_size = cell_size
        self.flatten = flatten
        self.n_jobs = n_jobs

    @property
    def spec(self) -> str:
        """The spec of this descriptor, as a step of a similarity."""
        return f"hog:cell={self.cell_size}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def fit(self, X: Samples, y: object = None) -> Self:
        """Checks the parameters.

        Parameters
        ----------
        X : ignored
        y : ignored

        Returns
        -------
        HOG
            Itself.
        """
        self._validate_params()
        return self

    def transform(self, X: Samples) -> npt.NDArray[np.float32]:
        """Computes the histograms of images.

        Parameters
        ----------
        X : array of uint8 of shape (n, height, width) or (n, height, width, 3)

        Returns
        -------
        ndarray of float32 of shape (n, rows · columns · 31) or (n, rows, columns, 31)
        """
        self._validate_params()
        (_, pixels), _ = from_other(X, ["images"])
        cells = _core.hog(pixels, int(self.cell_size), threads_of(self.n_jobs))
        if self.flatten:
            return cells
        rows, columns = (side // self.cell_size for side in pixels.shape[1:3])
        return cells.reshape(len(pixels), rows, columns, -1)


class Chain(_HasSpec):
    """A descriptor followed by a similarity or another descriptor; created by ``>>``.

    Parameters
    ----------
    first : descriptor
    then : similarity or descriptor

    Examples
    --------
    >>> from widemargin.similarity import HOG, Chain, Rigid
    >>> chain = HOG(4) >> Rigid(radius=1)
    >>> isinstance(chain, Chain), chain.spec, chain.then.radius
    (True, 'hog:cell=4/rigid:radius=1', 1)
    """

    def __new__(cls, first: Any = None, then: Any = None) -> Chain:
        if cls is not Chain:
            return super().__new__(cls)
        for name, step, allowed in (("first", first, DescriptorMixin), ("then", then, (Similarity, DescriptorMixin))):
            if isinstance(step, type):
                raise TypeError(f"{name}={step.__name__} is a class: write {step.__name__}()")
            if not isinstance(step, allowed):
                what = "a descriptor, such as HOG()" + (" or a similarity, such as RBF()" if name == "then" else "")
                raise TypeError(f"{name} is {step!r}: it must be {what}")
        return super().__new__(_SimilarityChain if isinstance(then, Similarity) else _DescriptorChain)

    def __init__(self, first: DescriptorMixin, then: Similarity | DescriptorMixin) -> None:
        self.first = first
        self.then = then

    def _written(self) -> str:
        return f"{self.first.spec}/{self.then.spec}"


class _SimilarityChain(Chain, Similarity):
    pass


class _DescriptorChain(Chain, DescriptorMixin):
    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.first!r} >> {self.then!r}"


# The name in scikit-learn's repr of estimators with a chain, which Chain(first=…, then=…) evaluates to.
_SimilarityChain.__name__ = _DescriptorChain.__name__ = "Chain"


class Named(_HasSpec):
    """One step of a spec: a name, and the parameters of the constructor."""

    _name: ClassVar[str]
    # Parameters that are written even if they have their default; others are omitted then.
    _shown: ClassVar[tuple[str, ...]] = ()
    # Parameters that are lists of numbers.
    _lists: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        pass

    def _written(self) -> str:
        cls: Any = type(self)
        values = {}
        for name, parameter in _signature(cls).parameters.items():
            value, default = getattr(self, name), parameter.default
            if value is not None and (default is None or name in self._shown or value != default):
                values[name] = written(name, value, is_list=name in self._lists)
        return step_of(self._name, values)


_signature = functools.cache(inspect.signature)


@dataclass(frozen=True)
class Resolved:
    """The interpretation of the value of a ``similarity`` parameter.

    Attributes
    ----------
    specs : list of str
        The specs of the built-in similarities, which are the first parts of the expansion.
    calls : list of (function, name)
        The user-defined functions, whose results are validated; they are the following parts.
    takes : list of str
        The kinds of samples that all specs accept, in order of preference; empty if there are no specs.
    is_precomputed : bool
        Whether the similarity is precomputed.
    order : list of int
        The index of each part in the ``similarity`` list.
    layout : {"auto", "channels_first", "channels_last"}
        The order of the axes of time series.

    Examples
    --------
    >>> from widemargin.similarity import resolve
    >>> resolve(["dtw:window=0.1", "msm"]).takes
    ['series', 'table']
    """

    specs: list[str]
    calls: list[tuple[Block, str]]
    takes: list[str]
    is_precomputed: bool
    order: list[int] = field(default_factory=list)
    layout: str = "auto"

    @property
    def similarities(self) -> tuple[list[str], list[tuple[Block, str]]]:
        """The specs and the calls."""
        return self.specs, self.calls

    def in_list_order(self, parts: Sequence[_Part]) -> list[_Part]:
        """Values of the parts, in the order of the ``similarity`` list."""
        return [part for _, part in sorted(zip(self.order, parts, strict=True), key=lambda pair: pair[0])]

    def of_bases(self) -> Resolved:
        """The same for samples of a fit, in which "auto" was "channels_last"."""
        return replace(self, layout="channels_last") if self.layout == "auto" else self

    def converted(self, X: Samples, name: str = "X") -> _core._Samples:
        """The samples in the form of the extension module."""
        n = count(X, name)
        samples = from_other(X, self.takes, name, layout=self.layout)[0] if self.specs else None
        return from_objects(X, n, samples) if self.calls else samples


def resolve(similarity: SimilarityLike, kind: str = "auto") -> Resolved:
    """Interprets the value of a ``similarity`` parameter.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`.

    Returns
    -------
    Resolved

    Raises
    ------
    TypeError
        For a value of another type.
    ValueError
        For an invalid spec (the message suggests the closest valid name), an empty list, or similarities without a
        common kind of samples.

    Examples
    --------
    >>> from widemargin.similarity import resolve
    >>> resolve("hog:cell=8/rbf").takes
    ['images']
    """
    kind, layout = kind_and_layout(kind)
    listed: list[Any] = list(similarity) if isinstance(similarity, (list, tuple)) else [similarity]
    if not listed:
        raise ValueError("similarity is an empty list: it needs at least one, such as 'rbf'")
    specs: dict[int, str] = {}
    calls: dict[int, tuple[Block, str]] = {}
    for place, one in enumerate(listed):
        where = f"similarity[{place}]" if isinstance(similarity, (list, tuple)) else "similarity"
        if isinstance(one, (str, Similarity)):
            spec = with_hyphens(one) if isinstance(one, str) else one.spec
            specs[place] = canonical(spec, where)
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
    is_precomputed = any(names_of_steps(spec)[-1] == "precomputed" for spec in specs.values())
    if calls and any(names_of_steps(spec)[-1] == "features" for spec in specs.values()):
        raise ValueError("similarity='features' cannot be combined with a function")
    if is_precomputed and len(listed) > 1:
        raise ValueError("similarity='precomputed' cannot be combined with others: concatenate the blocks in one array")
    texts = list(specs.values())
    takes = accepted_kinds(texts)
    if kind != "auto" and (texts or kind != "objects"):
        accepted = "strings" if kind == "graphs" else kind
        if accepted not in takes:
            known = " or ".join(repr(one) for one in takes) or "'objects'"
            raise ValueError(f"kind={kind!r}, but the similarity compares samples of the kind {known}")
        takes = [accepted]
    return Resolved(texts, list(calls.values()), takes, is_precomputed, [*specs, *calls], layout)


def is_auto(similarity: Any) -> bool:
    """Whether the similarity is selected automatically."""
    return isinstance(similarity, str) and similarity == "auto"


def any_kind(X: Any, kind: str) -> Resolved:
    """A placeholder for a similarity that is selected later, for samples of `kind`, or of the kind that X looks like.

    Warns
    -----
    KindWarning
        For a table whose rows may be series.
    """
    kind, layout = kind_and_layout(kind)
    if kind == "auto" and isinstance(X, Stored):
        kind = "table"
    elif kind == "auto":
        kind = kind_of(X)
        if kind == "table" and are_smooth(X):
            hint = "X is read as a table, but its rows look like time series: kind='series' reads it as such"
            warn(hint, KindWarning)
    elif kind == "objects":
        raise ValueError("kind='objects' needs a similarity of your own: a function f(samples, bases)")
    return Resolved(["auto"], [], ["strings" if kind == "graphs" else kind], False, [0], layout)


def pairwise(
    similarity: SimilarityLike, X: Samples, Y: Samples = None, n_jobs: int | None = None, *, kind: str = "auto"
) -> npt.NDArray[np.float32]:
    """Computes the similarities of samples to bases: entry ``[i, j]`` is s(basis Y[j], sample X[i]).

    Automatic parameters of a similarity, such as gamma, are computed from the bases.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    X : samples
        Samples of a kind that the similarity compares.
    Y : bases or None, default=None
        The bases; None means X.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core.
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`.

    Returns
    -------
    ndarray of float32 of shape (n_X, n_Y), or (n_similarities, n_X, n_Y) for a list

    Raises
    ------
    ValueError, TypeError
        For samples that the similarity cannot compare. The message names them.

    Examples
    --------
    >>> from widemargin.similarity import pairwise
    >>> print(pairwise("edit", ["Rossi", "Smith"], ["Russo", "Smithe", "Rossi"]).round(2))
    [[0.6  0.   1.  ]
     [0.   0.83 0.  ]]
    """
    resolved = resolve(similarity, kind)
    if resolved.is_precomputed and Y is not None:
        raise ValueError("similarity='precomputed' has the bases as columns of X: Y must be None")
    samples = bases = resolved.converted(X)
    if Y is not None:
        bases = resolved.converted(Y, "Y")
        check_alike(samples, bases, X, Y)
    blocks: npt.NDArray[np.float32] = _core.pairwise(resolved.similarities, samples, bases, threads_of(n_jobs))
    if not isinstance(similarity, (list, tuple)):
        return blocks[0]
    return blocks if resolved.order == sorted(resolved.order) else np.stack(resolved.in_list_order(list(blocks)))
