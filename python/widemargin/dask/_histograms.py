"""What workers do for the power mean SVM: functions of their arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._samples import as_contiguous
from . import _tasks
from ._vectors import contiguous_rows

Counts = tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], bool]


def largest(number: int, samples: Any, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The largest value of each feature."""
    return _tasks.of_partition(
        number, lambda: _core.largest(contiguous_rows(samples), as_contiguous(weights, np.float64))
    )


def larger(parts: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    return reduce(np.maximum, parts)


def counts(
    number: int, samples: Any, weights: npt.NDArray[np.float64], factors: npt.NDArray[np.float64] | None
) -> Counts:
    """How often each value occurs, once features are multiplied by their factors."""
    return _tasks.of_partition(
        number, lambda: _core.value_counts(contiguous_rows(samples), as_contiguous(weights, np.float64), _of(factors))
    )


def together(parts: Sequence[Counts]) -> Counts:
    """The counts of several partitions as those of one."""

    def both(a: Counts, b: Counts) -> Counts:
        return _core.merged_counts(_whole(a), _whole(b))

    return reduce(both, parts)


def part(
    number: int,
    samples: Any,
    codes: npt.NDArray[np.uint32],
    weights: npt.NDArray[np.float64],
    C: float,
    factors: npt.NDArray[np.float64] | None,
    kernel: str,
    nodes: Sequence[float],
    n_classes: int,
    loss: str,
) -> _core.LinearPart:
    """v(x) of the samples of weight above 0, with their classes and costs."""

    def made() -> Any:
        return _core.explicit(contiguous_rows(samples), as_contiguous(weights, np.float64), _of(factors), kernel, nodes)

    present = weights > 0
    features = _tasks.of_partition(number, made)
    return _core.LinearPart(number, features, codes[present], n_classes, C * weights[present], loss, "none")


def _of(factors: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if factors is None else as_contiguous(factors, np.float64)


def _whole(counts: Counts) -> Counts:
    return as_contiguous(counts[0], np.float32), as_contiguous(counts[1], np.float64), counts[2]
