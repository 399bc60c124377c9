"""Tasks of workers: pure functions, so that any worker can recompute the results of a lost one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from .._kinds import names_of
from .._samples import checked_vectors, count
from .._targets import distinct_classes, indicator
from ..basis_expansion import BasisExpansion

T = TypeVar("T")


@dataclass(frozen=True)
class Summary:
    """The summary of a partition before a fit."""

    # The distinct targets, in rows if there are several per sample, and the index of each sample's target.
    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float64] | None
    width: int | None
    # The names of the columns, if they have some.
    names: list[str] | None

    @property
    def n(self) -> int:
        return len(self.codes)


def label_summary(number: int, samples: Any, labels: Any, weights: Any) -> Summary:
    """Validates a partition and summarizes its labels.

    Raises
    ------
    ValueError
        Naming the partition.
    """
    y, n = np.asarray(labels), count(samples, f"partition {number} of X")
    if y.ndim > 1 and y.shape[1] != 1 and len(y):
        # Unknown entries are equal to each other.
        known = np.nan_to_num(of_partition(number, lambda: indicator(y)), nan=2.0)
        classes, codes = np.unique(known, axis=0, return_inverse=True)
        return _summary(number, samples, n, (np.where(classes == 2.0, np.nan, classes), codes), weights)
    return _summary(number, samples, n, of_partition(number, lambda: distinct_classes(y.reshape(-1))), weights)


def target_summary(number: int, samples: Any, targets: Any, weights: Any) -> Summary:
    """The same for the targets of a regression, in columns."""
    y, n = np.asarray(targets), count(samples, f"partition {number} of X")
    y = of_partition(number, lambda: y.astype(np.float64)).reshape(len(y), -1 if len(y) else 1)
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y).all(axis=1)))
        raise ValueError(f"partition {number}: a target of its row {row} (from 0) is not finite")
    return _summary(number, samples, n, (y, np.arange(len(y))), weights)


def sample_summary(number: int, samples: Any, labels: None, weights: Any) -> Summary:
    """The same for samples without targets."""
    n = count(samples, f"partition {number} of X")
    return _summary(number, samples, n, (np.zeros(1), np.zeros(n)), weights)


def _summary(number: int, samples: Any, n: int, answers: tuple[Any, Any], weights: Any) -> Summary:
    classes, codes = answers
    if len(codes) != n:
        raise ValueError(f"partition {number}: X has {n} rows, y has {len(codes)}")
    checked = None
    if weights is not None:
        checked = np.asarray(weights, dtype=np.float64).reshape(-1)
        if len(checked) != n:
            raise ValueError(f"partition {number}: X has {n} rows, sample_weight has {len(checked)}")
        bad = ~np.isfinite(checked) | (checked < 0)
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(
                f"partition {number}: the weight of its row {row} (from 0) is {checked[row]}: it must be a number of "
                "at least 0"
            )
    shape: tuple[int, ...] = getattr(samples, "shape", ())
    width = shape[1] if len(shape) > 1 else None
    return Summary(classes, codes.astype(np.uint32).reshape(-1), checked, width, names_of(samples))


def same(value: T) -> T:
    """The value as a task's result, which is sent to each worker at most once, and can be recomputed."""
    return value


States = list[_core.State] | None


def sample_part(number: int, samples: Any, weights: npt.NDArray[np.float64]) -> _core.Part:
    """Vectors of a partition with their weights; not copied if they have the form of the extension module."""

    return _core.Part.samples(number, of_partition(number, lambda: checked_vectors(samples)), weights)


def feature_part(number: int, expansion: BasisExpansion, samples: Any, weights: npt.NDArray[np.float64]) -> _core.Part:
    """Similarities of a partition's samples to the bases, not normalized."""
    if count(samples) == 0:
        values = np.empty((0, expansion._n_features_out), np.float32)
    else:
        values = of_partition(number, lambda: expansion.transform(samples))
    return _core.Part.features(number, values, weights)


def called(part: _core.Part, method: str, *arguments: Any) -> Any:
    """The result of a method of a part."""
    return of_partition(part.number, lambda: getattr(part, method)(*arguments))


def group(*parts: _core.Part) -> tuple[_core.Part, ...]:
    """Parts on one worker, without copies: a query to all of them is one task."""
    return parts


def step(parts: tuple[_core.Part, ...], states: States, query: bytes) -> tuple[bytes, list[_core.State]]:
    """The answer of parts to a query that changes their states, and the new states."""
    answers, changed = _answered(parts, states, query, True)
    return _core.merge(query, answers), changed


def changed(parts: tuple[_core.Part, ...], states: States, query: bytes) -> list[_core.State]:
    """The states of parts after a query without answer."""
    return _answered(parts, states, query, True)[1]


def answer(parts: tuple[_core.Part, ...], states: States, query: bytes) -> bytes:
    """The answer of parts to a query that changes no state."""
    return _core.merge(query, _answered(parts, states, query, False)[0])


def _answered(parts: tuple[_core.Part, ...], states: States, query: bytes, changes_state: bool) -> Any:
    """The answers and the states of parts."""
    with_states = zip(parts, states or itertools.repeat(None), strict=False)
    return [*zip(*(called(part, "answer", query, state, changes_state) for part, state in with_states), strict=True)]


def part(of: Sequence[T], at: int) -> T:
    return of[at]


def of_partition(number: int, work: Callable[[], T]) -> T:
    """The result of `work`; exceptions get the number of the partition in their message."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error
