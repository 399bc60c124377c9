"""What workers do for the thin plate SVM: functions of their arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._samples import as_contiguous
from . import _tasks
from ._vectors import contiguous_rows

Floats = npt.NDArray[np.float64]
Columns = tuple[float, Floats, Floats]
First = tuple[int, Floats, Floats]


@dataclass(frozen=True)
class Plan:
    """What a kernel on landmarks is made of, anywhere."""

    kernel: str
    bases: Floats
    columns: Columns

    def made(self) -> _core.LandmarkPlan:
        return _core.LandmarkPlan(self.kernel, as_contiguous(self.bases, np.float64), _columns(self.columns))


@dataclass(frozen=True)
class Lift:
    """What makes features of kernel values and polynomials; with `cross` None, of the polynomials alone."""

    n_penalised: int
    penalised: Floats
    columns: Floats
    cross: Floats | None


def columns(number: int, samples: Any, weights: Floats) -> Columns:
    """Weight, means and squared deviations of the columns."""
    return _tasks.of_partition(
        number, lambda: _core.column_sums(contiguous_rows(samples), as_contiguous(weights, np.float64))
    )


def all_columns(parts: Sequence[Columns]) -> Columns:
    return reduce(lambda a, b: _core.merged_columns(_columns(a), _columns(b)), parts)


def _columns(sums: Columns) -> Columns:
    return sums[0], as_contiguous(sums[1], np.float64), as_contiguous(sums[2], np.float64)


def first(number: int, samples: Any, weights: Floats, plan: Plan) -> First:
    """What a partition tells of the polynomials."""
    return _tasks.of_partition(
        number, lambda: plan.made().first_sums(contiguous_rows(samples), as_contiguous(weights, np.float64))
    )


def all_first(parts: Sequence[First]) -> First:
    return reduce(lambda a, b: _core.merged_first(_first(a), _first(b)), parts)


def _first(sums: First) -> First:
    return sums[0], as_contiguous(sums[1], np.float64), as_contiguous(sums[2], np.float64)


def block(
    number: int,
    samples: Any,
    codes: npt.NDArray[np.uint32],
    weights: Floats,
    units: Floats,
    n_classes: int,
    plan: Plan,
    lift: Lift,
) -> _core.LandmarkPart:
    """Features of the samples of weight above 0."""

    def made() -> Floats:
        cross = None if lift.cross is None else as_contiguous(lift.cross, np.float64)
        rows, given = contiguous_rows(samples), as_contiguous(weights, np.float64)
        penalised, columns = as_contiguous(lift.penalised, np.float64), as_contiguous(lift.columns, np.float64)
        return plan.made().features(rows, given, penalised, columns, cross)

    present = weights > 0
    features = _tasks.of_partition(number, made)
    roots = np.sqrt(weights[present])
    return _core.LandmarkPart(number, features, lift.n_penalised, codes[present], n_classes, roots, units[present])
