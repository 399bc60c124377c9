"""What workers do for the power mean SVM: functions of their arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from .. import _core
from .._samples import from_vectors, straight
from . import _tasks

Counts = tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], bool]


def rows(number: int, samples: Any) -> Any:
    """A partition's samples as the compiled half takes them; not copied where they are of its form."""

    def checked() -> Any:
        return from_vectors(check_array(samples, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"))

    return _tasks.of_partition(number, checked)


def largest(number: int, samples: Any, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The largest value of each feature."""
    return _tasks.of_partition(number, lambda: _core.largest(_straight(samples), straight(weights, np.float64)))


def larger(parts: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    return reduce(np.maximum, parts)


def counts(
    number: int, samples: Any, weights: npt.NDArray[np.float64], factors: npt.NDArray[np.float64] | None
) -> Counts:
    """How often each value occurs, once features are multiplied by their factors."""
    return _tasks.of_partition(
        number, lambda: _core.value_counts(_straight(samples), straight(weights, np.float64), _of(factors))
    )


def together(parts: Sequence[Counts]) -> Counts:
    """The counts of several partitions as those of one."""

    def both(a: Counts, b: Counts) -> Counts:
        return _core.merged_counts(_whole(a), _whole(b))

    return reduce(both, parts)


def block(
    number: int,
    samples: Any,
    codes: npt.NDArray[np.uint32],
    weights: npt.NDArray[np.float64],
    C: float,
    factors: npt.NDArray[np.float64] | None,
    kernel: str,
    nodes: Sequence[float],
) -> _tasks.Block:
    """v(x) of the samples of weight above 0, with their classes and costs."""

    def made() -> Any:
        return _core.explicit(_straight(samples), straight(weights, np.float64), _of(factors), kernel, nodes)

    present = weights > 0
    return _tasks.Block(number, _tasks.of_partition(number, made), codes[present], C * weights[present])


def _straight(samples: Any) -> Any:
    """What came from another worker, as the compiled half reads it."""
    if isinstance(samples, tuple):
        form, data, indices, indptr, n_columns = samples
        return form, straight(data, data.dtype), straight(indices, np.int32), straight(indptr, np.int64), n_columns
    return straight(samples, samples.dtype)


def _of(factors: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if factors is None else straight(factors, np.float64)


def _whole(counts: Counts) -> Counts:
    return straight(counts[0], np.float32), straight(counts[1], np.float64), counts[2]
