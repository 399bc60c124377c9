"""What the estimators on collections of Dask have in common: checks before the work, weights, lazy predictions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.base import compute
from dask.delayed import delayed
from distributed import Client, Future, get_client, wait
from scipy import sparse

from .. import _core
from .._base import ExactSeed, fitting
from .._progress import Progress
from .._results import Row
from .._samples import count, pick
from . import _tasks, _versions
from ._partitions import Partition, partitions, pieces
from ._rows import Rows


@dataclass(frozen=True)
class Piece:
    """A partition that has samples, and what is known of each."""

    # Among all partitions.
    number: int
    samples: Any
    # What a part of features is told of its answers: of classes or labels their codes, number and sets, of a regression
    # the standardized targets.
    known: Any
    # Those of the samples times those of their classes.
    weights: npt.NDArray[np.float64]
    # What leave-one-out takes away.
    units: npt.NDArray[np.float64]
    # The number of its first sample among all.
    first: int

    def units_of_others(self, bases: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.float64]:
        """The parts of weights that leave-one-out removes where these of all `n` samples are bases: nothing of them,
        unless the others are too few to judge by."""
        units = self.units.copy()
        here = bases - self.first
        if 2 * len(bases) < n:
            units[here[(here >= 0) & (here < len(units))]] = 0.0
        return units


@dataclass(frozen=True)
class Given:
    """What a fit was given."""

    client: Client
    X: Any
    pieces: list[Piece]
    weighted: Any
    width: int | None

    @property
    def n(self) -> int:
        return len(self.weighted.weights)

    @property
    def present(self) -> list[Piece]:
        """The partitions that have samples of weight above 0."""
        return [piece for piece in self.pieces if (piece.weights > 0).any()]

    def samples(self) -> list[Future]:
        """Parts of vectors, of the partitions that are present."""
        made = [delayed(_tasks.sample_part)(piece.number, piece.samples, piece.weights) for piece in self.present]
        return list(self.client.compute(made))

    def picked(self, rows: npt.NDArray[np.int64], take: Callable[[int, npt.NDArray[np.int64]], Future]) -> Any:
        """What belongs to some samples, by their numbers among all and in their order: `take` gives that of some rows
        of the piece at a place."""
        ends = np.cumsum([len(piece.weights) for piece in self.pieces])
        owner = np.searchsorted(ends, rows, side="right")
        order = np.argsort(owner, kind="stable")
        found = []
        for at in np.unique(owner).tolist():
            found.append(take(at, rows[order][owner[order] == at] - (ends[at] - len(self.pieces[at].weights))))
        # Back from the order of partitions to the order of the choice.
        return pick(joined(self.client.gather(found)), np.argsort(order, kind="stable"))

    def picked_samples(self, rows: npt.NDArray[np.int64]) -> Any:
        """Some samples in one collection of their kind."""

        def take(at: int, mine: npt.NDArray[np.int64]) -> Future:
            return self.client.compute(delayed(pick)(self.pieces[at].samples, mine))

        return self.picked(rows, take)


class Clock:
    """Seconds of stages."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float]] = []
        self._last = time.perf_counter()

    def end(self, name: str) -> None:
        now = time.perf_counter()
        self.stages.append((name, now - self._last))
        self._last = now


class DaskEstimator:
    """Comes before the ordinary estimator among the bases of a class."""

    # The ordinary estimator.
    plain: ClassVar[type]
    _reads_files = False

    @fitting
    def fit(self: Any, X: object, y: object, sample_weight: object = None) -> Any:
        """Trains on a collection of Dask.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features); where similarities compare other samples a bag
            As for the ordinary estimator.
        y : dask array, series or frame, or an array
        sample_weight : the same, or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        return self._fit_collection(X, y, sample_weight)

    def _fit_collection(self: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        asked, clock = self._checked(), Clock()
        # Of a fit on some samples, where one decides.
        self._candidates: list[Row] = []
        given = self._given(X, y, sample_weight)
        clock.end("labels")
        with self._watched(X=X, y=y) as progress:
            model, rows = self._train(asked, given, clock, progress)
        self._keep(model, self._candidates)
        self.dask_report_ = {"partitions": len(given.pieces), **rows.told()}
        return self

    def _checked(self) -> Any:
        """The parameters that need a check before any work is done."""
        raise NotImplementedError

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        """The model, and the rows that its solver asked."""
        raise NotImplementedError

    def _given(self: Any, X: Any, y: Any, sample_weight: Any) -> Given:
        """Checks what was given: all that can be said before any work is done."""
        client = get_client()
        _versions.check(client)
        parts = partitions(X, y, sample_weight, self.plain.__name__)
        told = summaries(client, parts, self._summary)
        kept = [number for number, one in enumerate(told) if one.n > 0]
        if not kept:
            raise ValueError("X has no samples: at least one is needed")
        check_alike(told, kept)
        there = [told[number] for number in kept]
        copies = None if sample_weight is None else np.concatenate([one.weights for one in there])
        weighted, known = self._known(y, there, copies)
        ends = np.cumsum([one.n for one in there])[:-1]
        samples = [parts[number].samples for number in kept]
        weights, units = (np.split(all_of, ends) for all_of in (weighted.weights, weighted.units))
        made = zip(kept, samples, known(ends), weights, units, [0, *ends.tolist()], strict=True)
        return Given(client, X, [Piece(*facts) for facts in made], weighted, there[0].width)

    def _fit_on_some(
        self: Any, given: Given, n: int, is_usable: Callable[[Any], bool] = lambda samples: True, **parameters: Any
    ) -> Any:
        """An ordinary fit on `n` of the samples, which are brought here; None where they are not usable."""
        seed = self._seed()
        rows = given.weighted.some_rows(n, seed)
        samples = given.picked_samples(rows)
        if not is_usable(samples):
            return None
        weights, of_classes = self._weights_of_some(given.weighted, rows)
        some = self.plain(**self.get_params(deep=False))
        some.set_params(verbose=0, random_state=ExactSeed(seed), **of_classes, **parameters)
        some.fit(samples, self._answers(given.weighted, rows), sample_weight=weights)
        self._candidates = some._candidates
        return some

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        """The weights of some samples, and the parameters that belong to them."""
        return weighted.weights[rows], {}

    # What workers tell of a partition.
    _summary: ClassVar[Callable[..., _tasks.Summary]]

    def _known(
        self, y: Any, there: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[Any, Callable[[Any], Sequence[Any]]]:
        """The answers of all samples with their weights, and what is known of those between places at which all are
        cut."""
        raise NotImplementedError

    def _name_columns(self: Any, given: Given) -> None:
        """Sets what scikit-learn keeps of the columns of vectors."""
        if given.width is None:
            raise TypeError(
                f"partition {given.pieces[0].number} of X has no columns: {type(self).__name__} takes a Dask array or "
                "frame of numbers"
            )
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = given.width
        names = np.asarray(getattr(given.X, "columns", ()), dtype=object)
        if len(names) and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = names

    @property
    def estimator_(self: Any) -> Any:
        """What was fitted, without Dask."""
        plain = self.plain(**self.get_params(deep=False))
        state = {key: value for key, value in self.__dict__.items() if key not in plain.__dict__}
        plain.__dict__.update({key: value for key, value in state.items() if key != "dask_report_"})
        return plain

    def _of_partitions(self: Any, told: Callable[..., Any], X: Any, y: Any, sample_weight: Any) -> Sequence[Any]:
        """What each partition tells of the ordinary estimator, where it is: ``told(number, estimator, samples, labels,
        weights)``."""
        estimator, parts = delayed(self.estimator_), partitions(X, y, sample_weight, self.plain.__name__)
        found = [delayed(told)(at, estimator, one.samples, one.labels, one.weights) for at, one in enumerate(parts)]
        return list(compute(*found))

    def _lazily(self: Any, method: str, X: Any, dtype: np.dtype[Any], columns: Sequence[Any] | None) -> Any:
        """What a method of the ordinary estimator says of a collection, one number a sample or one for each of
        `columns`."""
        estimator, shape = delayed(self.estimator_), () if columns is None else (len(columns),)
        if hasattr(X, "map_partitions") and hasattr(X, "divisions"):  # a frame or a series
            meta = _framed(np.empty((0, *shape), dtype), X._meta.index[:0], columns)
            return X.map_partitions(_apply_to_frame, estimator, method, shape, dtype, columns, meta=meta)
        parts = pieces(X, "X")
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
        found = [
            da.from_delayed(delayed(_apply)(part, estimator, method, shape, dtype), (rows, *shape), dtype=dtype)
            for part, rows in zip(parts, sizes, strict=True)
        ]
        return da.concatenate(found, allow_unknown_chunksizes=True)


def summaries(client: Client, parts: list[Partition], summary: Callable[..., Any]) -> list[_tasks.Summary]:
    found = [delayed(summary)(number, part.samples, part.labels, part.weights) for number, part in enumerate(parts)]
    return list(client.gather(client.compute(found)))


def check_alike(told: list[_tasks.Summary], kept: list[int]) -> None:
    """Raises ValueError where partitions differ in their columns, naming them."""
    first = kept[0]
    for number in kept[1:]:
        if told[number].width != told[first].width:
            raise ValueError(
                f"partition {number} of X has {told[number].width} columns, partition {first} has {told[first].width}: "
                "they must be the same"
            )
        if told[number].names != told[first].names:
            raise ValueError(
                f"partition {number} of X has the columns {told[number].names}, partition {first} has "
                f"{told[first].names}: they must be the same, in one order"
            )


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
    """Blocks that are on one worker together, one group a thread of it: a step is then a task a thread, not a task a
    partition. They are grouped by where they are when they have been made; a group is made again like any result."""
    wait(blocks)
    # What one of them met is raised here.
    client.gather([block for block in blocks if block.status == "error"])
    places, threads = client.who_has(blocks), client.nthreads()
    by_worker: dict[str, list[Future]] = {}
    for block in blocks:
        by_worker.setdefault(min(places[block.key]), []).append(block)
    groups = []
    for worker, mine in by_worker.items():
        n = min(threads.get(worker, 1), len(mine))
        groups += [client.submit(_tasks.group, *mine[at::n], pure=False) for at in range(n)]
    return groups


def in_order(client: Client, blocks: list[Future]) -> list[Future]:
    """Blocks each in a group of its own, so that answers come in the order of the samples."""
    return [client.submit(_tasks.group, block, pure=False) for block in blocks]


def _apply(samples: Any, estimator: Any, method: str, columns: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An empty partition has an empty answer."""
    return getattr(estimator, method)(samples) if count(samples) else np.empty((0, *columns), dtype)


def _apply_to_frame(
    samples: Any,
    estimator: Any,
    method: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    columns: Sequence[Any] | None,
) -> Any:
    return _framed(_apply(samples, estimator, method, shape, dtype), samples.index, columns)


def _framed(values: npt.NDArray[Any], index: Any, columns: Sequence[Any] | None) -> Any:
    """Answers with the index of their samples."""
    import pandas

    if columns is not None:
        return pandas.DataFrame(values, index=index, columns=list(columns))
    return pandas.Series(values, index=index)
