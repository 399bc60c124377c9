"""Similarities as objects: what compares samples, and what describes them before.

Every object here stands for a *spec*, the text that names a similarity in the command line, in model files and in
messages; its parameters are those of the spec, so that ``similarity__gamma`` can be searched. It is one file of some
length because it is one table: a class a similarity, with its parameters and their defaults.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import itertools
import reprlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from . import _core
from ._samples import alike, count, from_other, items, pick

if TYPE_CHECKING:
    from .transformers import HOG

__all__ = [
    "DTW",
    "HOG",
    "RBF",
    "Align",
    "Chain",
    "Chi2",
    "Cosine",
    "Cubic",
    "Deformable",
    "DescriptorMixin",
    "Distance",
    "Edit",
    "Hellinger",
    "Intersection",
    "JensenShannon",
    "Laplacian",
    "Linear",
    "MeanNorm",
    "NGram",
    "NGramCounts",
    "NGrams",
    "Pairs",
    "Polyharmonic",
    "Polynomial",
    "PowerMean",
    "Precomputed",
    "Resolved",
    "Rigid",
    "Sigmoid",
    "Similarity",
    "Spline",
    "Tanimoto",
    "ThinPlate",
    "ZNorm",
    "ZScore",
    "pairs",
    "pairwise",
    "resolve",
]

_Block = Callable[[Any, Any], Any]


def __getattr__(name: str) -> Any:
    # It is a transformer too, whose module imports this one.
    if name == "HOG":
        from .transformers import HOG

        return HOG
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
        Such as ``"rbf:gamma=1"`` or ``"hog:cell=8>rigid:radius=1"``.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec

    @property
    def spec(self) -> str:
        """Its spelling: ``name:key=value,key=value``, after descriptors joined by ``>``."""
        return self._written()

    @spec.setter
    def spec(self, spec: str) -> None:
        if type(self)._written is not Similarity._written:
            raise AttributeError(f"the spec of a {type(self).__name__} is made of its parameters: set these")
        if not isinstance(spec, str):
            raise TypeError(f"spec is {spec!r}: it must be a str such as 'rbf:gamma=1'")
        self._given = _hyphenated(spec)

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
        return f"{self.first.spec}>{self.then.spec}"


class _SimilarityChain(Chain, Similarity):
    pass


class _DescriptorChain(Chain, DescriptorMixin):
    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.first!r} >> {self.then!r}"


# scikit-learn writes estimators that hold one with this name, and Chain(first=…, then=…) makes the same.
_SimilarityChain.__name__ = _DescriptorChain.__name__ = "Chain"


class _Named(_Spelled):
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


# Vectors


class Linear(_Named, Similarity):
    """x·y, of vectors."""

    _name = "linear"


class RBF(_Named, Similarity):
    """exp(-gamma ‖x - y‖²), of vectors.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖² from the training samples.
    """

    _name = "rbf"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma


class Laplacian(_Named, Similarity):
    """exp(-gamma ‖x - y‖₁), of vectors.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖₁ from the training samples.
    """

    _name = "laplacian"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma


class Polynomial(_Named, Similarity):
    """(gamma x·y + coef0)^degree, of vectors.

    Parameters
    ----------
    degree : int, default=3
        From 1 to 16.
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖² from the training samples.
    coef0 : float, default=1.0
    """

    _name = "polynomial"
    _shown = ("degree",)

    def __init__(self, degree: int = 3, gamma: float | str | None = None, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0


class Sigmoid(_Named, Similarity):
    """tanh(gamma x·y + coef0), of vectors; indefinite in general.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖² from the training samples.
    coef0 : float, default=0.0
    """

    _name = "sigmoid"

    def __init__(self, gamma: float | str | None = None, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0


class Cosine(_Named, Similarity):
    """x·y / √(x·x · y·y), of vectors or of bit sets."""

    _name = "cosine"


class Tanimoto(_Named, Similarity):
    """|x ∩ y| / |x ∪ y| of bit sets, and x·y / (x·x + y·y - x·y) of vectors."""

    _name = "tanimoto"


class Chi2(_Named, Similarity):
    """Σ 2 x_j y_j / (x_j + y_j), of histograms: no value below 0."""

    _name = "chi2"


class Hellinger(_Named, Similarity):
    """Σ √(x_j y_j), of histograms: no value below 0."""

    _name = "hellinger"


class Intersection(_Named, Similarity):
    """Σ min(x_j, y_j), of histograms: no value below 0."""

    _name = "intersection"


class JensenShannon(_Named, Similarity):
    """Σ x_j/2 log₂((x_j + y_j)/x_j) + y_j/2 log₂((x_j + y_j)/y_j), of histograms: no value below 0."""

    _name = "jensen-shannon"


class PowerMean(_Named, Similarity):
    """Σ ((x_j^p + y_j^p)/2)^(1/p), of histograms: no value below 0.

    Parameters
    ----------
    p : float
        From -inf to 0: -1 is chi2, 0 Hellinger, -inf intersection.
    """

    _name = "power-mean"

    def __init__(self, p: float) -> None:
        self.p = p


class Distance(_Named, Similarity):
    """-‖x - y‖, of vectors."""

    _name = "distance"


class ThinPlate(_Named, Similarity):
    """(-1)^order r^(2 order - 2) log r with r = ‖x - y‖, of vectors.

    Parameters
    ----------
    order : int, default=2
        From 2, which is r² log r, to 16.
    """

    _name = "thin-plate"

    def __init__(self, order: int = 2) -> None:
        self.order = order


class Cubic(_Named, Similarity):
    """‖x - y‖³, of vectors."""

    _name = "cubic"


class Polyharmonic(_Named, Similarity):
    """(-1)^⌈exponent/2⌉ ‖x - y‖^exponent, of vectors.

    Parameters
    ----------
    exponent : float
        Above 0, at most 32, and no even number.
    """

    _name = "polyharmonic"

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent


class Spline(_Named, Similarity):
    """± r^(2 order - dims) with r = ‖x - y‖, times log r where that is even; of vectors.

    Parameters
    ----------
    order : int
        Above dims / 2, at most 16.
    dims : int
        At least 1.
    """

    _name = "spline"

    def __init__(self, order: int, dims: int) -> None:
        self.order = order
        self.dims = dims


class Precomputed(_Named, Similarity):
    """Samples are rows of similarities, one column a basis."""

    _name = "precomputed"


# Grids of cells


class Rigid(_Named, Similarity):
    """max over shifts z of Σ_c φ_c(x)·φ_{c+z}(y), of grids of cells: ``HOG() >> Rigid()`` compares images.

    Parameters
    ----------
    radius : int, default=1
        How many cells z may go along each axis.
    penalty : float, default=0.0
        Its product with ‖z‖² is subtracted.
    precision : {"f32", "bf16"} or None, default=None
        In which cells are multiplied; None is f32.
    """

    _name = "rigid"
    _shown = ("radius",)

    def __init__(self, radius: int = 1, penalty: float = 0.0, precision: str | None = None) -> None:
        self.radius = radius
        self.penalty = penalty
        self.precision = precision


class Deformable(_Named, Similarity):
    """max over shifts z of Σ_c max over u of φ_c(x)·φ_{c+z+u}(y), of grids of cells; not symmetric.

    Parameters
    ----------
    rigid, local : int, default=1
        How many cells z, and u, may go along each axis.
    penalty : float, default=0.0
        Its product with ‖z‖², and with ‖u‖² for each cell, is subtracted.
    precision : {"f32", "bf16"} or None, default=None
        In which cells are multiplied; None is f32.
    """

    _name = "deformable"
    _shown = ("rigid", "local")

    def __init__(self, rigid: int = 1, local: int = 1, penalty: float = 0.0, precision: str | None = None) -> None:
        self.rigid = rigid
        self.local = local
        self.penalty = penalty
        self.precision = precision


# Time series


class DTW(_Named, Similarity):
    """-d(x, y), or exp(-gamma d(x, y)), d the least sum of squared differences along a warping path; of time series.

    Parameters
    ----------
    window : float, default=1.0
        Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    gamma : float, "auto" or None, default=None
        None is -d; "auto" learns 1 / mean d from pairs of training series.
    root : bool, default=False
        Take the root of the sum.
    """

    _name = "dtw"

    def __init__(self, window: float = 1.0, gamma: float | str | None = None, root: bool = False) -> None:
        self.window = window
        self.gamma = gamma
        self.root = root


# Strings


class Edit(_Named, Similarity):
    """1 - d(x, y) / largest d of such lengths, d the number of edits; of strings.

    Parameters
    ----------
    metric : str, default="levenshtein"
        "levenshtein", "osa", "damerau", "indel", "lcs", "jaro" or "jaro_winkler".
    gamma : float or None, default=None
        With one it is exp(-gamma (1 - s)).
    """

    _name = "edit"

    def __init__(self, metric: str = "levenshtein", gamma: float | None = None) -> None:
        self.metric = metric
        self.gamma = gamma


class Align(_Named, Similarity):
    """score(x, y) / √(score(x, x) score(y, y)) of the best alignment, of strings.

    Parameters
    ----------
    mode : {"local", "global"}, default="local"
    match, mismatch : int, default=2 and -1
        What a pair of characters scores.
    matrix : {"blosum62"} or None, default=None
        In the place of these two.
    open, extend : int or None, default=None
        A gap of k characters scores open + (k - 1) extend; None is -2 (with a matrix -11), and -1.
    normalize : bool, default=True
        False is the plain score.
    """

    _name = "align"

    def __init__(
        self,
        mode: str = "local",
        match: int = 2,
        mismatch: int = -1,
        matrix: str | None = None,
        open: int | None = None,
        extend: int | None = None,
        normalize: bool = True,
    ) -> None:
        self.mode = mode
        self.match = match
        self.mismatch = mismatch
        self.matrix = matrix
        self.open = open
        self.extend = extend
        self.normalize = normalize


class NGram(_Named, Similarity):
    """Cosine of how often each substring of n characters occurs, of strings.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    """

    _name = "ngram"
    _shown = ("n",)

    def __init__(self, n: int = 3) -> None:
        self.n = n


# Descriptors


class MeanNorm(_Named, DescriptorMixin):
    """(y - mean) / mean ‖y - mean‖, learned from the training samples; of vectors and grids."""

    _name = "mean-norm"


class ZScore(_Named, DescriptorMixin):
    """(y_j - mean_j) / standard deviation_j, learned from the training samples; of vectors and grids."""

    _name = "z-score"


class ZNorm(_Named, DescriptorMixin):
    """Each channel of each time series with mean 0 and standard deviation 1."""

    _name = "znorm"


class NGrams(_Named, DescriptorMixin):
    """Strings as bit sets of their substrings of n characters, hashed.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    bits : int, default=2048
        Places they are hashed to, up to 2²⁴.
    """

    _name = "ngrams"
    _shown = ("n",)

    def __init__(self, n: int = 3, bits: int = 2048) -> None:
        self.n = n
        self.bits = bits


class NGramCounts(NGrams):
    """Strings as sparse vectors: how often each of their substrings of n characters occurs, hashed.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    bits : int, default=2048
        Places they are hashed to, up to 2²⁴.
    """

    _name = "ngram-counts"


# Functions of a user's own


class Pairs:
    """A function of pairs as a function of blocks; what `pairs` makes.

    Parameters
    ----------
    function : callable
        ``f(sample, basis) -> float``.
    n_jobs : int or None, default=None
        Processes that share the rows of a block; None computes them here.
    symmetric : bool, default=False
        f(a, b) = f(b, a): a block of samples with themselves takes half of the calls.
    """

    def __init__(
        self, function: Callable[[Any, Any], float], *, n_jobs: int | None = None, symmetric: bool = False
    ) -> None:
        if not callable(function):
            raise TypeError(f"pairs takes a function f(a, b) -> float, not {function!r}")
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ValueError(f"n_jobs is {n_jobs!r}: it must be None or an integer other than 0, -1 being all cores")
        self.__name__ = _name_of(function)
        functools.update_wrapper(self, function)
        self.n_jobs = n_jobs
        self.symmetric = symmetric

    def __call__(self, samples: Any, bases: Any) -> npt.NDArray[np.float64]:
        """The block (samples, bases)."""
        rows, columns = items(samples), items(bases)
        half = self.symmetric and (samples is bases or _same_objects(rows, columns))
        if self.n_jobs is None:
            block = _rows_of_pairs(self.__wrapped__, rows, columns, 0, half)  # type: ignore[attr-defined]
        else:
            block = self._in_processes(rows, columns, half)
        if half:
            upper = np.triu_indices(len(rows), 1)
            block[upper] = block.T[upper]
        return block

    def _in_processes(self, rows: list[Any], columns: list[Any], half: bool) -> npt.NDArray[np.float64]:
        from joblib import Parallel, delayed, effective_n_jobs

        n_parts = min(len(rows), 4 * effective_n_jobs(self.n_jobs))
        bounds = np.linspace(0, len(rows), n_parts + 1).astype(int).tolist()
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_rows_of_pairs)(self.__wrapped__, rows[first:last], columns, first, half)  # type: ignore[attr-defined]
            for first, last in itertools.pairwise(bounds)
        )
        return np.concatenate(parts) if parts else np.empty((0, len(columns)))

    def __repr__(self) -> str:
        jobs = f", n_jobs={self.n_jobs}" if self.n_jobs is not None else ""
        return f"Pairs({self.__name__}{jobs}{', symmetric=True' if self.symmetric else ''})"

    def __deepcopy__(self, memo: Any) -> Pairs:
        return self  # nothing in it changes

    def __reduce__(self) -> Any:
        function = self.__wrapped__  # type: ignore[attr-defined]
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        name = getattr(function, "__qualname__", "")
        # A decorated function is no longer found under its name, where this object stands now, but it is in it.
        if name and getattr(module, name, None) is self:
            function.__qualname__ = f"{name}.__wrapped__"
        return _pairs_of, (function, self.n_jobs, self.symmetric)


def _pairs_of(function: Callable[[Any, Any], float], n_jobs: int | None, symmetric: bool) -> Pairs:
    return Pairs(function, n_jobs=n_jobs, symmetric=symmetric)


def _same_objects(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _rows_of_pairs(
    function: Callable[[Any, Any], float], rows: list[Any], columns: list[Any], first: int, half: bool
) -> npt.NDArray[np.float64]:
    """Rows of a block from row `first` on; of half a block what is left of the diagonal and on it."""
    block = np.zeros((len(rows), len(columns)))
    row = column = 0
    try:
        for row, a in enumerate(rows):
            for column, b in enumerate(columns[: first + row + 1] if half else columns):
                block[row, column] = function(a, b)
    except Exception as error:
        error.add_note(f"for the pair of sample {first + row} and basis {column} of the block{_shown(a, b)}")
        raise
    return block


@overload
def pairs(function: Callable[[Any, Any], float]) -> Pairs: ...
@overload
def pairs(*, n_jobs: int | None = None, symmetric: bool = False) -> Callable[[Callable[[Any, Any], float]], Pairs]: ...
def pairs(
    function: Callable[[Any, Any], float] | None = None, *, n_jobs: int | None = None, symmetric: bool = False
) -> Any:
    """Decorates a function of a pair, ``f(sample, basis) -> float``, so that it can be a ``similarity``.

    Parameters
    ----------
    function : callable
    n_jobs : int or None, default=None
        Processes that share the rows of a block; None computes them one after another. Samples and the function
        must be picklable.
    symmetric : bool, default=False
        f(a, b) = f(b, a): a block of samples with themselves takes half of the calls.

    Returns
    -------
    Pairs
        A function of a block, which returns an array (samples, bases).

    Examples
    --------
    >>> @pairs(n_jobs=2)
    ... def same_first_letter(a, b):
    ...     return float(a[:1] == b[:1])
    """
    if function is None:
        return functools.partial(Pairs, n_jobs=n_jobs, symmetric=symmetric)
    return Pairs(function, n_jobs=n_jobs, symmetric=symmetric)


@dataclass(frozen=True)
class Checked:
    """A user's function of blocks, whose answers are checked and come in the compiled half's form."""

    function: _Block
    name: str

    def __call__(self, samples: Any, bases: Any) -> npt.NDArray[np.float32]:
        shape = count(samples), count(bases)
        try:
            block = self.function(samples, bases)
        except Exception as error:
            error.add_note(
                f"in the similarity '{self.name}', asked for the block of {shape[0]} samples and {shape[1]} bases"
            )
            raise
        block = numbers_of(block, self.name)
        if block.shape != shape:
            hint = " (it looks transposed)" if block.shape == shape[::-1] else ""
            raise ValueError(
                f"similarity '{self.name}' returned shape {block.shape} for {shape[0]} samples and {shape[1]} bases, "
                f"expected {shape}: rows are samples, columns are bases{hint}"
            )
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(block, dtype=np.float32)
        if not np.isfinite(single).all():
            row, column = (int(at) for at in np.argwhere(~np.isfinite(single))[0])
            pair = _shown(*(items(X)[at] for X, at in ((samples, row), (bases, column))))
            why = "which leaves single precision" if np.isfinite(block[row, column]) else "which is not finite"
            raise ValueError(
                f"similarity '{self.name}' returned {block[row, column]}, {why}, for sample {row} and basis {column} "
                f"of a block of {shape[0]} samples and {shape[1]} bases{pair}"
            )
        return single


def numbers_of(block: Any, name: str) -> npt.NDArray[Any]:
    """What a user's function returned, as an array of real numbers."""
    if hasattr(block, "toarray"):  # sparse
        block = block.toarray()
    try:
        array = np.asarray(block)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise TypeError(f"similarity '{name}' returned no array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"similarity '{name}' returned an array of {array.dtype}: similarities are real numbers")
    return array


def _shown(a: Any, b: Any) -> str:
    """A pair for a message, where it is short."""
    texts = [reprlib.repr(x) for x in (a, b)]
    return f": {texts[0]} and {texts[1]}" if all(len(text) < 60 and "\n" not in text for text in texts) else ""


def _name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


# What estimators and functions are given


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
    """

    specs: list[str]
    calls: list[tuple[_Block, str]]
    takes: list[str]
    is_precomputed: bool
    order: list[int] = field(default_factory=list)

    def in_given_order(self, parts: Sequence[Any]) -> list[Any]:
        """What belongs to the parts, in the order in which the similarities were given."""
        return [part for _, part in sorted(zip(self.order, parts, strict=True), key=lambda pair: pair[0])]

    def given(self, X: Any, name: str = "X") -> tuple[tuple[Any, Any], int]:
        """Samples for the library's similarities and objects for the user's, and how many they are."""
        n = count(X, name)
        return (from_other(X, self.takes, name)[0] if self.specs else None, (X, n, pick) if self.calls else None), n


def resolve(similarity: Any) -> Resolved:
    """Reads a ``similarity`` parameter.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these

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
    several = isinstance(similarity, (list, tuple))
    given = list(similarity) if several else [similarity]
    if not given:
        raise ValueError("similarity is an empty list: it needs at least one, such as 'rbf'")
    specs: dict[int, str] = {}
    calls: dict[int, tuple[_Block, str]] = {}
    for place, one in enumerate(given):
        where = f"similarity[{place}]" if several else "similarity"
        if isinstance(one, (str, Similarity)):
            spec = _hyphenated(one) if isinstance(one, str) else one.spec
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
        checked = one if isinstance(one, Checked) else Checked(one, _name_of(one))
        calls[place] = (checked, checked.name)
    is_precomputed = any(_names(spec)[-1] == "precomputed" for spec in specs.values())
    if is_precomputed and len(given) > 1:
        raise ValueError("similarity='precomputed' stands alone: put the blocks side by side in one array")
    texts = list(specs.values())
    return Resolved(texts, list(calls.values()), _takes(texts), is_precomputed, [*specs, *calls])


def pairwise(similarity: Any, X: Any, Y: Any = None, n_jobs: int | None = None) -> npt.NDArray[np.float32]:
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

    Returns
    -------
    ndarray of float32 of shape (n_X, n_Y), or (n_similarities, n_X, n_Y) for a list

    Raises
    ------
    ValueError, TypeError
        For samples that the similarity cannot compare, naming them.
    """
    from joblib import effective_n_jobs

    resolved = resolve(similarity)
    if resolved.is_precomputed and Y is not None:
        raise ValueError("similarity='precomputed' has the bases as columns of X: Y must be None")
    (samples, objects), _ = resolved.given(X)
    bases, base_objects = samples, objects
    if Y is not None:
        (bases, base_objects), _ = resolved.given(Y, "Y")
        samples, bases = alike(samples, bases, X, Y)
    blocks: npt.NDArray[np.float32] = _core.pairwise(
        resolved.specs, resolved.calls, (samples, objects), (bases, base_objects), int(effective_n_jobs(n_jobs))
    )
    if not isinstance(similarity, (list, tuple)):
        only: npt.NDArray[np.float32] = blocks[0]
        return only
    return blocks if resolved.order == sorted(resolved.order) else np.stack(resolved.in_given_order(list(blocks)))


def _names(spec: str) -> list[str]:
    return [step.partition(":")[0] for step in spec.split(">")]


def _hyphenated(spec: str) -> str:
    """The spec with hyphens in its names: ``jensen_shannon`` is ``jensen-shannon``."""
    steps: Iterator[tuple[str, str, str]] = (step.partition(":") for step in spec.split(">"))
    hyphenated = ">".join(name.replace("_", "-") + colon + rest for name, colon, rest in steps)
    return spec if hyphenated == spec else hyphenated


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
                f"a similarity must follow it, as in '{spec}>{usual}'"
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
