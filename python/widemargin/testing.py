"""Validation of user-defined similarities."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from ._calls import Checked, numbers_of
from ._parameters import RandomState, Samples, SimilarityLike, warn
from ._samples import count, items, pick
from .similarity import resolve

__all__ = ["SimilarityError", "SimilarityReport", "check_similarity"]

# Tolerance of a pair's values, relative to the largest value: rounding depends on the shape of the block.
_TOLERANCE = 1e-5
# The number of pairs evaluated one by one.
_MAX_PAIRS = 100


class SimilarityError(AssertionError):
    """Raised for a function that is not a valid similarity.

    Attributes
    ----------
    problems : list of str
        The descriptions of all problems that were found.

    Examples
    --------
    >>> import random
    >>> from widemargin.similarity import pairs
    >>> from widemargin.testing import SimilarityError, check_similarity
    >>> try:
    ...     check_similarity(pairs(lambda a, b: random.random()), list(range(10)))
    ... except SimilarityError as error:
    ...     print(len(error.problems) > 0)
    True
    """

    def __init__(self, name: str, problems: list[str]) -> None:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"similarity '{name}' has {number}:\n{listed}")
        self.problems = problems


@dataclass
class SimilarityReport:
    """The result of `check_similarity`.

    Attributes
    ----------
    similarity : str
        The name of the similarity.
    n_samples : int
        Number of samples that were compared with each other.
    value_range : tuple of float
        The smallest and the largest similarity.
    asymmetry : float
        The largest |s_ij - s_ji|; 0 if the similarity is symmetric.
    asymmetric_pair : tuple of int or None
        The indices i, j of the samples with the largest difference.
    n_negative : int
        Number of negative eigenvalues of (S + Sᵀ)/2, excluding those within single-precision rounding error; 0 for a
        kernel.
    least_eigenvalue, largest_eigenvalue : float
    not_checked : list of str
        Checks that were not possible.

    Examples
    --------
    >>> import operator
    >>> from widemargin.similarity import pairs
    >>> from widemargin.testing import check_similarity
    >>> report = check_similarity(pairs(operator.mul), [-1.0, 2.0, 3.0])
    >>> report.n_negative, report.asymmetry
    (0, 0.0)
    """

    similarity: str
    n_samples: int
    value_range: tuple[float, float]
    asymmetry: float
    asymmetric_pair: tuple[int, int] | None
    n_negative: int
    least_eigenvalue: float
    largest_eigenvalue: float
    not_checked: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        low, high = self.value_range
        lines = [f"similarity '{self.similarity}' on {self.n_samples} samples: no problem found"]
        lines.append(f"  values        from {low:.4g} to {high:.4g}")
        if self.asymmetric_pair is None:
            lines.append("  symmetric     yes")
        else:
            lines.append(f"  symmetric     no: samples {_and(self.asymmetric_pair)} differ by {self.asymmetry:.4g}")
        if self.n_negative == 0:
            lines.append("  definite      yes, on these samples: no eigenvalue is negative")
        else:
            lines.append(
                f"  definite      no: {self.n_negative} of {self.n_samples} eigenvalues are negative, from "
                f"{self.least_eigenvalue:.4g} (the largest is {self.largest_eigenvalue:.4g})"
            )
        lines += [f"  not checked   {what}" for what in self.not_checked]
        return "\n".join(lines)


def check_similarity(
    similarity: SimilarityLike, samples: Samples, *, n: int = 20, random_state: RandomState = 0
) -> SimilarityReport:
    """Validates a callable similarity: the value of each pair must be finite and the same in every block.

    Parameters
    ----------
    similarity : callable
        A function ``f(samples, bases)`` that returns an array of shape (n_samples, n_bases), for example created by
        `pairs`.
    samples : any sequence, array or frame
        The samples to compare; at least two.
    n : int, default=20
        Number of samples, selected at random; at least 2.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    SimilarityReport
        Whether the similarity is symmetric and positive semi-definite; neither is required. ``print`` shows a summary.

    Raises
    ------
    SimilarityError
        An AssertionError that lists all problems with the affected pairs: values that differ between blocks or calls, a
        wrong shape, non-finite values, modified samples, or a function that cannot be pickled.

    Warns
    -----
    UserWarning
        If the similarity is not symmetric.

    Examples
    --------
    >>> import operator
    >>> from widemargin.similarity import pairs
    >>> from widemargin.testing import check_similarity
    >>> print(check_similarity(pairs(operator.mul), [-1.0, 2.0, 3.0]))
    similarity 'mul' on 3 samples: no problem found
      values        from -3 to 9
      symmetric     yes
      definite      yes, on these samples: no eigenvalue is negative
    """
    from sklearn.utils import check_random_state

    function, name = _callable_of(similarity)
    if not isinstance(n, (int, np.integer)) or n < 2:
        raise ValueError(f"n is {n!r}: it must be an integer of at least 2")
    n_samples = count(samples, "samples")
    if n_samples < 2:
        raise ValueError(f"samples has {n_samples}: at least 2 are needed to compare")
    random = check_random_state(random_state)
    selected = np.sort(random.choice(n_samples, min(n, n_samples), replace=False))
    check = _Check(function, name, samples, selected, random)
    block = check.run()
    if check.problems or block is None:
        raise SimilarityError(name, check.problems)
    report = _report(name, block, selected, check.not_checked)
    if report.asymmetric_pair is not None:
        warn(
            f"similarity '{name}' is not symmetric: samples {_and(report.asymmetric_pair)} differ by "
            f"{report.asymmetry:.4g}. The normalizations 'nystroem' and 'centered' use its "
            "symmetric part, 'mean_norm' the similarity itself"
        )
    return report


def _callable_of(similarity: Any) -> tuple[Any, str]:
    resolved = resolve(similarity)
    if len(resolved.calls) != 1 or resolved.specs:
        raise TypeError(
            f"similarity is {similarity!r}: check_similarity checks one function f(samples, bases); built-in "
            "similarities need no check"
        )
    checked, name = resolved.calls[0]
    return checked.function if isinstance(checked, Checked) else checked, name


@dataclass
class _Check:
    """A run of all checks. Rows and columns are indices among the selected samples; messages name the sample."""

    function: Any
    name: str
    samples: Any
    selected: npt.NDArray[np.int64]
    random: np.random.RandomState
    problems: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        return len(self.selected)

    def run(self) -> npt.NDArray[np.float64] | None:
        everything = np.arange(self.n)
        block = self._block(everything, everything, "the block of all samples with each other", notices_changes=True)
        if block is not None and self._is_finite(block):
            for rows, columns, when in self._parts():
                if not self._compare(block, rows, columns, when) and when == "alone":
                    break  # one pair is enough
            self._pickles(block)
        return block

    def _pair(self, row: int, column: int) -> str:
        return f"sample {self.selected[row]} and basis {self.selected[column]}"

    def _block(
        self, rows: Any, columns: Any, what: str, notices_changes: bool = False
    ) -> npt.NDArray[np.float64] | None:
        """A block, or None and a problem."""
        samples, bases = pick(self.samples, self.selected[rows]), pick(self.samples, self.selected[columns])
        objects = [*zip(rows, items(samples), strict=True), *zip(columns, items(bases), strict=True)]
        before = [_state(sample) for _, sample in objects] if notices_changes else []
        try:
            block = numbers_of(self.function(samples, bases), self.name)
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{at.filename}, line {at.lineno}"
            self.problems.append(f"{what} raised {type(error).__name__}: {error} ({where})")
            return None
        after = zip(objects, before, strict=False)
        changed = {int(self.selected[at]) for (at, sample), state in after if state and state != _state(sample)}
        self.problems += [f"sample {at} was modified by comparing it" for at in sorted(changed)[:3]]
        if None in before:
            self.not_checked.append("whether samples are modified: they cannot be compared with copies")
        shape = len(rows), len(columns)
        if block.shape != shape:
            self.problems.append(
                f"{what} has shape {block.shape}, expected {shape}: rows are samples, columns are bases"
            )
            return None
        return block.astype(np.float64)

    def _is_finite(self, block: npt.NDArray[np.float64]) -> bool:
        # Rounded to single precision, as in the library.
        with np.errstate(over="ignore"):
            wrong = np.argwhere(~np.isfinite(block.astype(np.float32)))
        if len(wrong):
            row, column = wrong[0]
            others = f" ({len(wrong) - 1} other pairs too)" if len(wrong) > 1 else ""
            self.problems.append(
                f"{self._pair(row, column)} have the value {block[row, column]}, which is not finite in single "
                f"precision{others}"
            )
        return not len(wrong)

    def _parts(self) -> Iterator[tuple[Any, Any, str]]:
        """Other blocks with the same pairs: the same again, fewer rows than columns, fewer columns than rows, another
        order, and single pairs."""
        few, everything = max(1, self.n // 3), np.arange(self.n)
        some = self.random.permutation(self.n)
        yield everything, everything, "in another call"
        yield everything[:few], everything, f"in a block of {few} samples and {self.n} bases"
        yield everything, everything[-few:], f"in a block of {self.n} samples and {few} bases"
        yield some, some[::-1].copy(), "in a block of another order"
        for pair in self.random.permutation(self.n * self.n)[:_MAX_PAIRS]:
            yield np.array([pair // self.n]), np.array([pair % self.n]), "alone"

    def _compare(self, block: npt.NDArray[np.float64], rows: Any, columns: Any, when: str) -> bool:
        """Whether pairs have the same values in another block as in the full block."""
        is_pair = len(rows) == len(columns) == 1
        what = f"the pair of {self._pair(rows[0], columns[0])}" if is_pair else f"the block computed {when}"
        other = self._block(rows, columns, what)
        if other is None:
            return False
        known = block[np.ix_(rows, columns)]
        difference = np.abs(other - known)
        difference[np.isnan(difference)] = np.inf
        worst = np.unravel_index(difference.argmax(), difference.shape)
        if difference[worst] <= _TOLERANCE * max(np.abs(block).max(), np.finfo(np.float32).tiny):
            return True
        self.problems.append(
            f"{self._pair(rows[worst[0]], columns[worst[1]])} have the value {known[worst]:.7g} in the block of all, "
            f"and {other[worst]:.7g} {when}"
        )
        return False

    def _pickles(self, block: npt.NDArray[np.float64]) -> None:
        try:
            again = pickle.loads(pickle.dumps(self.function))
        except Exception as error:
            self.problems.append(
                f"it cannot be pickled ({type(error).__name__}: {error}), so that models with it cannot be saved or "
                "fitted by several processes: define it at the top level of a module, without lambdas"
            )
            return
        everything = np.arange(self.n)
        restored = _Check(again, self.name, self.samples, self.selected, self.random)
        restored._compare(block, everything, everything, "after the function was pickled")
        self.problems += restored.problems


def _state(sample: Any) -> str | None:
    """A hash of the contents of a sample; None if it is unknown."""
    # Objects without their own equality may cache results, which does not mean that they were modified.
    equality: Any = type(sample).__eq__
    if equality is object.__eq__ and not hasattr(sample, "toarray"):
        return None
    try:
        return joblib.hash(sample)
    except Exception:
        return None


def _report(
    name: str, block: npt.NDArray[np.float64], selected: npt.NDArray[np.int64], not_checked: list[str]
) -> SimilarityReport:
    difference = np.abs(block - block.T)
    pair = np.unravel_index(difference.argmax(), difference.shape)
    scale = np.abs(block).max()
    is_symmetric = difference[pair] <= _TOLERANCE * scale
    eigenvalues = np.linalg.eigvalsh((block + block.T) / 2)
    # Zeros after single-precision rounding do not count as negative: see `widemargin.inspection.Spectrum.rounding`.
    cut = len(block) * np.finfo(np.float32).eps * scale
    return SimilarityReport(
        similarity=name,
        n_samples=len(block),
        value_range=(float(block.min()), float(block.max())),
        asymmetry=0.0 if is_symmetric else float(difference[pair]),
        asymmetric_pair=None if is_symmetric else (int(selected[pair[0]]), int(selected[pair[1]])),
        n_negative=int((eigenvalues < -cut).sum()),
        least_eigenvalue=float(eigenvalues[0]),
        largest_eigenvalue=float(eigenvalues[-1]),
        not_checked=not_checked,
    )


def _and(pair: tuple[int, ...]) -> str:
    return f"{pair[0]} and {pair[1]}"
