"""Samples on a cluster: Dask collections as partitions, the arguments of a fit, and groups of parts on workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection
from dask.delayed import delayed
from distributed import Client, Future, wait
from scipy import sparse

from .. import _core
from .._kinds import names_of
from .._predictors import distinct_classes, indicator
from .._samples import checked_vectors, count, pick
from . import _rows
from ._rows import Rows


def partitions(X: Any, y: Any, sample_weight: Any, plain: str) -> list[tuple[Any, Any, Any]]:
    """The delayed partitions of samples, with the labels and weights of the same rows; `plain` is the estimator for
    samples in memory.

    Raises
    ------
    TypeError
        If X is not a Dask collection.
    ValueError
        If the partitions of labels or weights cannot be matched to those of the samples.
    """
    if not is_dask_collection(X):
        raise TypeError(f"X is {type(X).__name__}, not a collection of Dask: widemargin.{plain} trains in memory")
    samples = pieces(X, "X")
    named = (("y", y), ("sample_weight", sample_weight))
    others = [[None] * len(samples) if one is None else _as(one, X, len(samples), name) for name, one in named]
    return list(zip(samples, *others, strict=True))


def pieces(X: Any, name: str) -> list[Any]:
    """One delayed object per partition of rows."""
    if hasattr(X, "to_delayed") and hasattr(X, "chunks"):
        blocks = np.asarray(X.to_delayed(), dtype=object)
        if blocks.ndim > 1 and any(size != 1 for size in blocks.shape[1:]):
            raise ValueError(
                f"{name} is also split along its columns (chunks {X.chunks[1:]}): pass {name}.rechunk({{1: -1}})"
            )
        return list(blocks.ravel())
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed())
    raise TypeError(f"{name} is {type(X).__name__}: a Dask array, frame, series or bag is needed")


def _as(other: Any, X: Any, n: int, name: str) -> list[Any]:
    """Labels or weights in as many partitions as the samples."""
    sizes = _lengths(X)
    if is_dask_collection(other):
        lengths = _lengths(other)
        if sizes is not None and lengths is not None and lengths != sizes:
            if sum(lengths) != sum(sizes):
                raise ValueError(f"X has {sum(sizes)} rows, {name} has {sum(lengths)}")
            other = other.rechunk({0: sizes})
        found = pieces(other, name)
        if len(found) != n:
            raise ValueError(f"X has {n} partitions, {name} has {len(found)}: they must be split at the same rows")
        return found
    if sizes is None:
        raise ValueError(
            f"{name} is {type(other).__name__}, and the lengths of the partitions of X are unknown: {name} must be a "
            "collection of Dask split at the same rows"
        )
    other = np.asarray(other)
    if other.shape[:1] != (sum(sizes),):
        raise ValueError(f"X has {sum(sizes)} rows, {name} has {len(other)}")
    return [delayed(part) for part in np.split(other, np.cumsum(sizes)[:-1])]


def _lengths(collection: Any) -> tuple[int, ...] | None:
    """Rows of each partition of an array, if they are known."""
    chunks = getattr(collection, "chunks", None)
    return None if chunks is None or np.isnan(chunks[0]).any() else tuple(chunks[0])


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
        known = np.nan_to_num(_rows.of_partition(number, lambda: indicator(y)), nan=2.0)
        classes, codes = np.unique(known, axis=0, return_inverse=True)
        return _summary(number, samples, n, (np.where(classes == 2.0, np.nan, classes), codes), weights)
    return _summary(number, samples, n, _rows.of_partition(number, lambda: distinct_classes(y.reshape(-1))), weights)


def target_summary(number: int, samples: Any, targets: Any, weights: Any) -> Summary:
    """The same for the targets of a regression, in columns."""
    y, n = np.asarray(targets), count(samples, f"partition {number} of X")
    y = _rows.of_partition(number, lambda: y.astype(np.float64)).reshape(len(y), -1 if len(y) else 1)
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


@dataclass(frozen=True)
class Piece:
    """A partition with samples, and the data of each sample."""

    # The index among all partitions.
    number: int
    samples: Any
    # The targets as arguments of the methods of `Part`: for classes or labels their codes, number and sets, for a
    # regression the standardized targets.
    targets: Any
    # Sample weights times class weights.
    weights: npt.NDArray[np.float64]
    # The parts of weights that leave-one-out removes.
    units: npt.NDArray[np.float64]
    # The index of its first sample among all.
    first: int

    def units_of_others(self, bases: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.float64]:
        """The parts of weights that leave-one-out removes if these of all `n` samples are bases: 0 for bases, unless
        less than a quarter are others, too few for an estimate."""
        units = self.units.copy()
        here = bases - self.first
        if 4 * len(bases) <= 3 * n:
            units[here[(here >= 0) & (here < len(units))]] = 0.0
        return units


@dataclass
class FitData:
    """The validated parameters and arguments of a fit, its progress, and the seconds of its stages."""

    client: Client
    # The parameters of the estimator in the library's notation, completed by selections on some of the samples.
    parameters: dict[str, Any]
    X: Any
    pieces: list[Piece]
    weighted: Any
    width: int | None
    started: float
    stages: list[tuple[str, float]] = field(default_factory=list)
    progress: Any = None

    def end(self, name: str) -> None:
        """Ends a stage, which began with the end of the previous one."""
        now = time.perf_counter()
        self.stages.append((name, now - self.started))
        self.started = now

    @property
    def n(self) -> int:
        return len(self.weighted.weights)

    @property
    def present(self) -> list[Piece]:
        """The partitions with samples of weight above 0."""
        return [piece for piece in self.pieces if (piece.weights > 0).any()]

    def samples(self) -> list[Future]:
        """Parts of vectors, of the partitions that are present."""
        parts = [delayed(_rows.sample_part)(piece.number, piece.samples, piece.weights) for piece in self.present]
        return list(self.client.compute(parts))

    def shared(self, value: Any) -> Future:
        """A value that tasks use, sent to each worker at most once."""
        return self.client.submit(_rows.same, value, pure=False)

    def called(self, parts: list[Future], method: str, arguments: Iterable[tuple[Any, ...]]) -> list[Future]:
        """Results of a method of parts, with the arguments of each part."""
        both = zip(parts, arguments, strict=True)
        return [self.client.submit(_rows.called, part, method, *own, pure=False) for part, own in both]

    def rows(self, parts: list[Future]) -> Rows:
        """The rows of a solver."""
        return Rows(self.client, grouped(self.client, parts))

    def ordered_rows(self, parts: list[Future]) -> Rows:
        """The same with a group for each part, so that answers are in the order of the samples."""
        return Rows(self.client, [self.client.submit(tuple, [part], pure=False) for part in parts])

    def picked(self, rows: npt.NDArray[np.int64], take: Callable[[int, npt.NDArray[np.int64]], Future]) -> Any:
        """Data of the samples with these indices among all, in their order: `take(at, rows)` returns that of some rows
        of a piece."""
        ends = np.cumsum([len(piece.weights) for piece in self.pieces])
        owner = np.searchsorted(ends, rows, side="right")
        order = np.argsort(owner, kind="stable")
        found = []
        for at in np.unique(owner).tolist():
            found.append(take(at, rows[order][owner[order] == at] - (ends[at] - len(self.pieces[at].weights))))
        # Back from the order of partitions to the order of `rows`.
        return pick(joined(self.client.gather(found)), np.argsort(order, kind="stable"))

    def picked_samples(self, rows: npt.NDArray[np.int64]) -> Any:
        """Some samples in one collection of their kind."""

        def take(at: int, mine: npt.NDArray[np.int64]) -> Future:
            return self.client.compute(delayed(pick)(self.pieces[at].samples, mine))

        return self.picked(rows, take)

    def picked_vectors(self, rows: npt.NDArray[np.int64]) -> Any:
        """Some vectors in the form of the extension module."""
        return checked_vectors(self.picked_samples(rows))


def summaries(client: Client, parts: list[tuple[Any, Any, Any]], summary: Callable[..., Any]) -> list[Summary]:
    found = [delayed(summary)(number, *part) for number, part in enumerate(parts)]
    return list(client.gather(client.compute(found)))


def check_columns(summaries: list[Summary], numbers: list[int]) -> None:
    """Raises ValueError if partitions have different columns, naming them."""
    first = summaries[numbers[0]]
    for number in numbers[1:]:
        found, where = summaries[number], f"partition {numbers[0]} has"
        if found.width != first.width:
            found_width = f"partition {number} of X has {found.width} columns"
            raise ValueError(f"{found_width}, {where} {first.width}: they must be the same")
        if found.names != first.names:
            found_names = f"partition {number} of X has the columns {found.names}"
            raise ValueError(f"{found_names}, {where} {first.names}: they must be the same, in the same order")


def joined(parts: list[Any]) -> Any:
    """Samples of several partitions as one collection of their kind."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat(parts)
    return [one for part in parts for one in part]


def grouped(client: Client, blocks: list[Future]) -> list[Future]:
    """Groups of the blocks on each worker, one per thread, without copies: a step is then a task per thread, not a task
    per partition. Blocks are grouped once they are computed; a lost group is recomputed like any result."""
    wait(blocks)
    # An exception in one of them is raised here.
    client.gather([block for block in blocks if block.status == "error"])
    places, threads = client.who_has(blocks), client.nthreads()
    by_worker: dict[str, list[Future]] = {}
    for block in blocks:
        by_worker.setdefault(min(places[block.key]), []).append(block)
    groups = []
    for worker, mine in by_worker.items():
        n = min(threads.get(worker, 1), len(mine))
        groups += [client.submit(tuple, mine[at::n], pure=False) for at in range(n)]
    return groups


def check_versions(client: Client) -> None:
    """Checks the workers of a cluster before a fit.

    Raises
    ------
    RuntimeError
        If there are no workers, or one has no widemargin or another version of it.
    """
    versions = client.run(_version)
    if not versions:
        raise RuntimeError("the cluster has no workers: start some, or wait for them with client.wait_for_workers(1)")
    own = _core.version()
    for worker, found in versions.items():
        if found is None:
            raise RuntimeError(f"worker {worker} has no widemargin: install widemargin {own} there")
        if found != own:
            raise RuntimeError(f"worker {worker} has widemargin {found}, here is {own}: they must be the same")


def _version() -> str | None:
    try:
        from widemargin import _core
    except ImportError:
        return None
    return _core.version()
