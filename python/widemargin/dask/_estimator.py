"""Common parts of the estimators on collections of Dask: validation, weights, lazy predictions."""

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
        there are too few other samples for an estimate."""
        units = self.units.copy()
        here = bases - self.first
        if 2 * len(bases) < n:
            units[here[(here >= 0) & (here < len(units))]] = 0.0
        return units


@dataclass(frozen=True)
class FitData:
    """The validated arguments of a fit."""

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
        """The partitions with samples of weight above 0."""
        return [piece for piece in self.pieces if (piece.weights > 0).any()]

    def samples(self) -> list[Future]:
        """Parts of vectors, of the partitions that are present."""
        parts = [delayed(_tasks.sample_part)(piece.number, piece.samples, piece.weights) for piece in self.present]
        return list(self.client.compute(parts))

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


class Clock:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float]] = []
        self._last = time.perf_counter()

    def end(self, name: str) -> None:
        now = time.perf_counter()
        self.stages.append((name, now - self._last))
        self._last = now


class DaskEstimator:
    """Must precede the ordinary estimator in the bases of a class."""

    # The ordinary estimator.
    plain: ClassVar[type]
    _reads_files = False

    @fitting
    def fit(self: Any, X: object, y: object, sample_weight: object = None) -> Any:
        """Trains on a collection of Dask.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features); for similarities of other samples a bag
            As for the ordinary estimator.
        y : dask array, series or frame, or an array
        sample_weight : the same, or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        self._require(y)
        return self._fit_collection(X, y, sample_weight)

    def _fit_collection(self: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        parameters, clock = self._checked(), Clock()
        # Those of a fit on some samples, if it selects parameters.
        self._candidates: list[Row] = []
        data = self._fit_data(X, y, sample_weight)
        clock.end("labels")
        with self._watched(X=X, y=y) as progress:
            model, rows = self._train(parameters, data, clock, progress)
        self._set_fitted(model, self._candidates)
        self.dask_report_ = {"partitions": len(data.pieces), **rows.report()}
        return self

    def _checked(self) -> Any:
        """The parameters that need a check before any work is done."""
        raise NotImplementedError

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        """The model, and the rows of its solver."""
        raise NotImplementedError

    def _fit_data(self: Any, X: Any, y: Any, sample_weight: Any) -> FitData:
        """Validates the arguments of ``fit``, as far as possible before any work is done."""
        client = get_client()
        _versions.check(client)
        parts = partitions(X, y, sample_weight, self.plain.__name__)
        found = summaries(client, parts, self._summary)
        numbers = [number for number, one in enumerate(found) if one.n > 0]
        if not numbers:
            raise ValueError("X has no samples: at least one is needed")
        check_columns(found, numbers)
        present = [found[number] for number in numbers]
        copies = None if sample_weight is None else np.concatenate([one.weights for one in present])
        weighted, targets = self._targets_of(y, present, copies)
        ends = np.cumsum([one.n for one in present])[:-1]
        samples = [parts[number].samples for number in numbers]
        weights, units = (np.split(all_of, ends) for all_of in (weighted.weights, weighted.units))
        pieces = zip(numbers, samples, targets(ends), weights, units, [0, *ends.tolist()], strict=True)
        return FitData(client, X, [Piece(*fields) for fields in pieces], weighted, present[0].width)

    def _fit_on_some(
        self: Any, data: FitData, n: int, is_usable: Callable[[Any], bool] = lambda samples: True, **parameters: Any
    ) -> Any:
        """An ordinary fit on `n` of the samples, on the client; None if they are not usable."""
        seed = self._seed()
        rows = data.weighted.some_rows(n, seed)
        samples = data.picked_samples(rows)
        if not is_usable(samples):
            return None
        weights, of_classes = self._weights_of_some(data.weighted, rows)
        some = self.plain(**self.get_params(deep=False))
        some.set_params(verbose=0, random_state=ExactSeed(seed), **of_classes, **parameters)
        some.fit(samples, self._answers(data.weighted, rows), sample_weight=weights)
        self._candidates = some._candidates
        return some

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        """The weights of some samples, and the parameters that belong to them."""
        return weighted.weights[rows], {}

    # Summarizes a partition, on its worker.
    _summary: ClassVar[Callable[..., _tasks.Summary]]

    def _targets_of(
        self, y: Any, present: list[_tasks.Summary], copies: npt.NDArray[np.float64] | None
    ) -> tuple[Any, Callable[[Any], Sequence[Any]]]:
        """The targets of all samples with their weights, and a function that returns the `targets` of each piece, from
        the rows at which all samples are split."""
        raise NotImplementedError

    def _name_columns(self: Any, data: FitData) -> None:
        """Sets scikit-learn's attributes of the columns of vectors."""
        if data.width is None:
            raise TypeError(
                f"partition {data.pieces[0].number} of X has no columns: {type(self).__name__} takes a Dask array or "
                "frame of numbers"
            )
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = data.width
        names = np.asarray(getattr(data.X, "columns", ()), dtype=object)
        if len(names) and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = names

    @property
    def estimator_(self: Any) -> Any:
        """The fitted model, without Dask."""
        plain = self.plain(**self.get_params(deep=False))
        state = {key: value for key, value in self.__dict__.items() if key not in plain.__dict__}
        plain.__dict__.update({key: value for key, value in state.items() if key != "dask_report_"})
        return plain

    def _of_partitions(self: Any, function: Callable[..., Any], X: Any, y: Any, sample_weight: Any) -> Sequence[Any]:
        """Results of ``function(number, estimator, samples, labels, weights)`` for each partition, on its worker, with
        the ordinary estimator."""
        estimator, parts = delayed(self.estimator_), partitions(X, y, sample_weight, self.plain.__name__)
        found = [delayed(function)(at, estimator, one.samples, one.labels, one.weights) for at, one in enumerate(parts)]
        return list(compute(*found))

    def _lazily(self: Any, method: str, X: Any, dtype: np.dtype[Any], columns: Sequence[Any] | None) -> Any:
        """Results of a method of the ordinary estimator for a collection: one number per sample, or one for each of
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


def check_columns(summaries: list[_tasks.Summary], numbers: list[int]) -> None:
    """Raises ValueError if partitions have different columns, naming them."""
    first = numbers[0]
    for number in numbers[1:]:
        if summaries[number].width != summaries[first].width:
            raise ValueError(
                f"partition {number} of X has {summaries[number].width} columns, partition {first} has "
                f"{summaries[first].width}: they must be the same"
            )
        if summaries[number].names != summaries[first].names:
            raise ValueError(
                f"partition {number} of X has the columns {summaries[number].names}, partition {first} has "
                f"{summaries[first].names}: they must be the same, in the same order"
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
    """Groups of the blocks on each worker, one per thread: a step is then a task per thread, not a task per partition.
    Blocks are grouped once they are computed; a lost group is recomputed like any result."""
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
        groups += [client.submit(_tasks.group, *mine[at::n], pure=False) for at in range(n)]
    return groups


def in_order(client: Client, blocks: list[Future]) -> list[Future]:
    """A group for each block, so that answers are in the order of the samples."""
    return [client.submit(_tasks.group, block, pure=False) for block in blocks]


def _apply(samples: Any, estimator: Any, method: str, columns: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """The result for a partition, empty for an empty one."""
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
    """Results with the index of their samples."""
    import pandas

    if columns is not None:
        return pandas.DataFrame(values, index=index, columns=list(columns))
    return pandas.Series(values, index=index)
