"""User-defined similarities."""

from __future__ import annotations

import functools
import itertools
import reprlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from ._parameters import Samples, threads_of
from ._samples import count, items

Block = Callable[[Any, Any], Any]
PairFunction: TypeAlias = Callable[..., float]


class Pairs:
    """Applies a function of pairs to blocks of samples and bases; created by `pairs`.

    Parameters
    ----------
    function : callable
        The function ``f(sample, basis) -> float``.
    n_jobs : int or None, default=None
        Number of processes that compute the rows of a block; None means the current process only.
    symmetric : bool, default=False
        Whether f(a, b) = f(b, a). If True, a block of samples with themselves needs only half of the calls.

    Examples
    --------
    >>> from widemargin.similarity import pairs
    >>> overlap = pairs(lambda a, b: len(a & b), symmetric=True)
    >>> print(overlap([{1, 2}, {3}], [{2, 3}, {4}]))
    [[1. 0.]
     [1. 0.]]
    """

    def __init__(self, function: PairFunction, *, n_jobs: int | None = None, symmetric: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"pairs needs a function f(a, b) -> float, not {function!r}")
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ValueError(f"n_jobs is {n_jobs!r}: it must be None or an integer other than 0, -1 being all cores")
        self.__name__ = name_of(function)
        functools.update_wrapper(self, function)
        self.n_jobs = n_jobs
        self.symmetric = symmetric

    def __call__(self, samples: Samples, bases: Samples) -> npt.NDArray[np.float64]:
        """Returns the similarities, of shape (n_samples, n_bases)."""
        rows, columns = items(samples), items(bases)
        are_same = len(rows) == len(columns) and all(x is y for x, y in zip(rows, columns, strict=True))
        half = self.symmetric and (samples is bases or are_same)
        n_workers = 1 if self.n_jobs is None else threads_of(self.n_jobs)
        bounds = np.linspace(0, len(rows), min(len(rows), 4 * n_workers) + 1).astype(int).tolist()
        parts = Parallel(n_jobs=n_workers, backend="sequential" if self.n_jobs is None else None)(
            delayed(_rows_of_pairs)(self.__wrapped__, rows[first:last], columns, first, half)  # type: ignore[attr-defined]
            for first, last in itertools.pairwise(bounds)
        )
        block = np.concatenate([np.empty((0, len(columns))), *parts])
        if half:
            upper = np.triu_indices(len(rows), 1)
            block[upper] = block.T[upper]
        return block

    def __repr__(self) -> str:
        jobs = f", n_jobs={self.n_jobs}" if self.n_jobs is not None else ""
        return f"Pairs({self.__name__}{jobs}{', symmetric=True' if self.symmetric else ''})"

    def __deepcopy__(self, memo: Any) -> Pairs:
        return self  # immutable

    def __reduce__(self) -> Any:
        function = self.__wrapped__  # type: ignore[attr-defined]
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        name = getattr(function, "__qualname__", "")
        # The decorated function cannot be found by its name, which now refers to this object, so it is looked up
        # inside.
        if name and getattr(module, name, None) is self:
            function.__qualname__ = f"{name}.__wrapped__"
        return functools.partial(Pairs, n_jobs=self.n_jobs, symmetric=self.symmetric), (function,)


def _rows_of_pairs(
    function: Callable[[Any, Any], float], rows: list[Any], columns: list[Any], first: int, half: bool
) -> npt.NDArray[np.float64]:
    """Rows of a block from row `first` on; for half a block, the entries up to the diagonal."""
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
def pairs(function: PairFunction) -> Pairs: ...
@overload
def pairs(*, n_jobs: int | None = None, symmetric: bool = False) -> Callable[[PairFunction], Pairs]: ...
def pairs(
    function: PairFunction | None = None, *, n_jobs: int | None = None, symmetric: bool = False
) -> Pairs | Callable[[PairFunction], Pairs]:
    """Decorates a function ``f(sample, basis) -> float`` for use as a ``similarity``.

    Parameters
    ----------
    function : callable
        The function ``f(sample, basis) -> float``.
    n_jobs : int or None, default=None
        Number of processes that compute the rows of a block; None means the current process only. With several
        processes, the samples and the function must be picklable.
    symmetric : bool, default=False
        Whether f(a, b) = f(b, a). If True, a block of samples with themselves needs only half of the calls.

    Returns
    -------
    Pairs
        A callable similarity that returns an array of shape (n_samples, n_bases).

    Examples
    --------
    >>> from widemargin.similarity import pairs
    >>> @pairs
    ... def same_first_letter(a, b):
    ...     return float(a[:1] == b[:1])
    >>> print(same_first_letter(["Ann", "Bo"], ["Alf", "Bea"]))
    [[1. 0.]
     [0. 1.]]
    """
    if function is None:
        return functools.partial(Pairs, n_jobs=n_jobs, symmetric=symmetric)
    return Pairs(function, n_jobs=n_jobs, symmetric=symmetric)


@dataclass(frozen=True)
class Checked:
    """A user's function of blocks; validates its results and converts them for the extension module."""

    function: Block
    name: str

    @property
    def n_polynomials(self) -> int:
        """The number of further columns that the function returns, which are values of polynomials at the samples."""
        return int(getattr(self.function, "n_polynomials", 0))

    def _hint_of_pairs(self) -> str:
        if isinstance(self.function, Pairs):
            return ""
        return "; if it compares one sample with one basis, decorate it with widemargin.similarity.pairs"

    def __call__(self, samples: Any, bases: Any) -> npt.NDArray[np.float32]:
        shape = count(samples), count(bases) + self.n_polynomials
        try:
            block = self.function(samples, bases)
        except Exception as error:
            error.add_note(
                f"in the similarity '{self.name}', called for the block of {shape[0]} samples and {shape[1]} bases"
                f"{self._hint_of_pairs()}"
            )
            raise
        block = numbers_of(block, self.name)
        if block.shape != shape:
            hint = " (it looks transposed)" if block.shape == shape[::-1] else ""
            hint = self._hint_of_pairs() if block.ndim == 0 else hint
            further = f", then {self.n_polynomials} polynomials" if self.n_polynomials else ""
            raise ValueError(
                f"similarity '{self.name}' returned shape {block.shape} for {shape[0]} samples and {count(bases)} "
                f"bases, expected {shape}: rows are samples, columns are bases{further}{hint}"
            )
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(block, dtype=np.float32)
        if not np.isfinite(single).all():
            row, column = (int(at) for at in np.argwhere(~np.isfinite(single))[0])
            found = [items(X)[at] for X, at in ((samples, row), (bases, column)) if at < count(X)]
            pair = _shown(*found) if len(found) == 2 else ""
            why = "which overflows single precision" if np.isfinite(block[row, column]) else "which is not finite"
            raise ValueError(
                f"similarity '{self.name}' returned {block[row, column]}, {why}, for sample {row} and basis {column} "
                f"of a block of {shape[0]} samples and {shape[1]} bases{pair}"
            )
        return single


def numbers_of(block: Any, name: str) -> npt.NDArray[Any]:
    """The result of a user's function as an array of real numbers."""
    if hasattr(block, "toarray"):  # sparse
        block = block.toarray()
    try:
        array = np.asarray(block)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise TypeError(f"similarity '{name}' did not return an array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"similarity '{name}' returned an array of {array.dtype}: similarities are real numbers")
    return array


def _shown(a: Any, b: Any) -> str:
    """A pair in a message, if it is short."""
    texts = [reprlib.repr(x) for x in (a, b)]
    return f": {texts[0]} and {texts[1]}" if all(len(text) < 60 and "\n" not in text for text in texts) else ""


def name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))
