"""What workers do for the thin plate SVM: functions of their arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
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
# Scores where the problems stand, scores ahead, what is counted, and the fold that is absent.
Memory = tuple[Floats, Floats, npt.NDArray[np.bool_], int | None]
# Changes of the Hessians, right-hand sides, what adds up, and of what the largest is taken.
Told = tuple[Floats, Floats, Floats, Floats]


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


@dataclass(frozen=True)
class Block:
    """Rows of features of one partition, with their classes and weights."""

    number: int
    features: Floats
    n_penalised: int
    codes: npt.NDArray[np.uint32]
    n_classes: int
    roots: Floats
    units: Floats

    def of(self) -> _core.LandmarkRows:
        codes, roots = as_contiguous(self.codes, np.uint32), as_contiguous(self.roots, np.float64)
        features, units = as_contiguous(self.features, np.float64), as_contiguous(self.units, np.float64)
        return _core.LandmarkRows(features, self.n_penalised, codes, self.n_classes, roots, units)


def block(
    number: int,
    samples: Any,
    codes: npt.NDArray[np.uint32],
    weights: Floats,
    units: Floats,
    n_classes: int,
    plan: Plan,
    lift: Lift,
) -> Block:
    """Features of the samples of weight above 0."""

    def made() -> Floats:
        cross = None if lift.cross is None else as_contiguous(lift.cross, np.float64)
        rows, given = contiguous_rows(samples), as_contiguous(weights, np.float64)
        penalised, columns = as_contiguous(lift.penalised, np.float64), as_contiguous(lift.columns, np.float64)
        return plan.made().features(rows, given, penalised, columns, cross)

    present = weights > 0
    features = _tasks.of_partition(number, made)
    roots = np.sqrt(weights[present])
    return Block(number, features, lift.n_penalised, codes[present], n_classes, roots, units[present])


def group(*blocks: Block) -> tuple[Block, ...]:
    """Blocks of one worker, none copied: a step over all of them is one task."""
    return blocks


def step(
    blocks: tuple[Block, ...], method: str, memories: list[Memory] | None, live: list[int], *given: Any
) -> tuple[list[Memory], Told]:
    """What is remembered of each block after a step, and what they tell together."""
    found = []
    for block, memory in zip(blocks, _known(blocks, memories), strict=True):
        arguments = () if memory is None else (memory, live, *_arrays(given))
        found.append(_tasks.of_partition(block.number, partial(getattr(block.of(), method), *arguments)))
    return [one[0] for one in found], together([one[1] for one in found])


def accept(blocks: tuple[Block, ...], memories: list[Memory], live: list[int]) -> list[Memory]:
    """What is remembered once problems are at the points that were looked at."""
    return [block.of().accept(memory, live) for block, memory in zip(blocks, _known(blocks, memories), strict=True)]


def without(blocks: tuple[Block, ...], memories: list[Memory], fold: int | None) -> list[Memory]:
    """What is remembered with the rows of a fold absent from now on, or with all of them present."""
    return [block.of().without(memory, fold) for block, memory in zip(blocks, _known(blocks, memories), strict=True)]


def ask(blocks: tuple[Block, ...], method: str, memories: list[Memory], *given: Any) -> Any:
    """A sum over the rows that changes nothing."""
    known = zip(blocks, _known(blocks, memories), strict=True)
    return _tasks.added([getattr(block.of(), method)(memory, *_arrays(given)) for block, memory in known])


def part(pair: tuple[Any, Any], at: int) -> Any:
    return pair[at]


def together(parts: Sequence[Told]) -> Told:
    """What several places told, as from one."""

    def both(a: Told, b: Told) -> Told:
        return a[0] + b[0], a[1] + b[1], a[2] + b[2], np.maximum(a[3], b[3])

    return reduce(both, parts)


def _known(blocks: tuple[Block, ...], memories: list[Memory] | None) -> list[Any]:
    if memories is None:
        return [None] * len(blocks)
    return [
        (as_contiguous(a, np.float64), as_contiguous(b, np.float64), as_contiguous(c, np.bool_), fold)
        for a, b, c, fold in memories
    ]


def _arrays(given: Sequence[Any]) -> list[Any]:
    return [as_contiguous(one, np.float64) if isinstance(one, np.ndarray) else one for one in given]
