"""The basis expansion SVM on collections of Dask."""

from __future__ import annotations

import time
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection
from dask.delayed import delayed
from distributed import Client, Future, get_client, wait
from scipy import sparse
from sklearn.base import clone

from .. import _core
from .. import basis_expansion as _local
from .._base import fitting, labels_of, watched
from .._names import one_of
from ..similarity import resolve
from ..transformers import BasisExpansion
from . import _tasks, _versions
from ._partitions import Partition, partitions, pieces
from ._rows import Rows, Sums

# K-medoids would need the similarities of all samples to all medoids, over and over.
BASES = ("index", "random", "stratified")
# The dual that the hinge is solved in is no sum over rows.
LOSSES = ("squared_hinge", "logistic")
# Normalizations that are learned of all samples; the others are a matter of the bases.
LEARNED = ("mean-norm", "z-score")


class BasisExpansionSVC(_local.BasisExpansionSVC):
    """`widemargin.BasisExpansionSVC` on samples that are on several machines.

    X is a Dask array, frame or bag, y a Dask array or series cut at the same rows (or, where the partitions of X have
    known lengths, an array in memory). The bases are chosen and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities a row. Persist X where making it again is
    dear: it is read three times, for its labels, its bases, and its similarities.

    Parameters are those of `widemargin.BasisExpansionSVC`, with "index", "random" or "stratified" bases (or row
    numbers), the losses "squared_hinge" and "logistic", similarities of the library (a name or an object, or several),
    and no warm start. What a similarity learns of its training samples (the gamma of "rbf" where none is given, the
    mean of HOG features) it learns of the bases. Samples that are equal are not merged, as they are on one machine.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionSVC
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.
    """

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BasisExpansionSVC:
        """Trains on a collection of Dask.

        Parameters
        ----------
        X : dask array, frame or bag
        y : dask array or series, or an array
        sample_weight : the same, or None

        Returns
        -------
        BasisExpansionSVC
            Itself, fitted.
        """
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        normalization = one_of("normalization", self.normalization, _local.NORMALIZATIONS, estimator=self)
        basis, basis_rows = _local.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        if resolve(self.similarity).calls:
            raise TypeError(
                "the similarity is a Python callable: on several machines it must be one of the library's, by name or "
                "object"
            )
        client = get_client()
        _versions.check(client)
        clock = Clock()
        parts = partitions(X, y, sample_weight)
        told = summaries(client, parts)
        kept = [number for number, one in enumerate(told) if one.n > 0]
        if not kept:
            raise ValueError("X has no samples: at least one is needed")
        check_alike(told, kept)
        codes, weights = self._weighed([told[number] for number in kept])
        clock.end("labels")

        present = np.flatnonzero(np.concatenate(weights) > 0)
        chosen = self._drawn(np.concatenate(codes), present, basis, basis_rows)
        raw, bases = self._expansion(client, [parts[number] for number in kept], codes, chosen, normalization)
        clock.end("bases")

        with self._watched(X=X, y=y) as progress:
            blocks = [client.compute(delayed(_tasks.features)(number, raw, parts[number].samples)) for number in kept]
            centre: npt.NDArray[np.float32] | None = None
            factors: list[list[float]] = []
            if normalization in LEARNED:
                blocks, centre, factors = normalise(client, blocks, weights, bases, normalization)
            clock.end("similarity")

            costs = [self.C * some for some in weights]
            made = [
                client.submit(_tasks.Block, *one, pure=False) for one in zip(kept, blocks, codes, costs, strict=True)
            ]
            del blocks
            problem = _tasks.Problem(len(self.classes_), loss, "free" if self.fit_intercept else "none")
            rows = Rows(client, grouped(client, made), problem)
            n_features = bases._n_features_out
            solution = _core.minimise(
                rows,
                n_rows=sum(map(len, codes)),
                n_features=n_features,
                n_problems=len(self.classes_) if len(self.classes_) > 2 else 1,
                cost=rows.cost(),
                loss=problem.loss,
                intercept=problem.intercept,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                threads=self._threads(),
                time_limit=self.time_limit,
                watch=watched(progress),
            )
        clock.end("solve")
        machine = bases._machine.assemble(
            solution,
            labels_of(self.classes_),
            normalization=normalization,
            centre=centre,
            factors=factors,
            C=float(self.C),
            basis="given" if basis_rows is not None else basis,
            basis_rows=chosen.tolist(),
            loss=problem.loss,
            intercept=problem.intercept,
            stages=clock.stages,
            warnings=[],
        )
        self._resolved, self._columns = bases._resolved, None
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(bases, name):
                setattr(self, name, getattr(bases, name))
        self._keep(machine)
        self.dask_report_ = {"partitions": len(kept), **rows.told()}
        return self

    def _weighed(
        self, told: list[_tasks.Summary]
    ) -> tuple[list[npt.NDArray[np.uint32]], list[npt.NDArray[np.float64]]]:
        """Sets `classes_`; the number of each row's class, and its weight with that of its class."""
        self.classes_ = np.unique(np.concatenate([one.classes for one in told]))
        codes = [np.searchsorted(self.classes_, one.classes).astype(np.uint32)[one.codes] for one in told]
        weights = [np.ones(one.n) if one.weights is None else one.weights for one in told]
        totals = np.zeros(len(self.classes_))
        for some, weight in zip(codes, weights, strict=True):
            totals += np.bincount(some, weight, minlength=len(totals))
        given, factors = self._class_factors(), np.ones(len(totals))
        if isinstance(given, str):  # balanced
            present = totals > 0
            share = totals.sum() / max(int(present.sum()), 1)
            factors = np.where(present, share / np.where(present, totals, 1.0), 0.0)
        elif given is not None:
            factors = np.array(given)
        weights = [weight * factors[some] for some, weight in zip(codes, weights, strict=True)]
        totals *= factors
        if (totals > 0).sum() < 2:
            raise ValueError(
                "The number of classes has to be greater than one; of weight above 0 there are "
                f"{int((totals > 0).sum())}"
            )
        return codes, weights

    def _expansion(
        self,
        client: Client,
        parts: list[Partition],
        codes: list[npt.NDArray[np.uint32]],
        chosen: npt.NDArray[np.int64],
        normalization: str,
    ) -> tuple[Future, BasisExpansion]:
        """The expansion on the bases, not normalised (but a Nyström one, which is a matter of the bases alone): on the
        workers and here."""
        ends = np.cumsum([len(some) for some in codes])
        owner = np.searchsorted(ends, chosen, side="right")
        order = np.argsort(owner, kind="stable")
        picked = []
        for number in np.unique(owner):
            rows = chosen[order][owner[order] == number] - (ends[number] - len(codes[number]))
            picked.append(delayed(_tasks.some)(parts[number].samples, rows))
        gathered = client.gather(client.compute(picked))
        bases = joined(gathered)
        # Back from the order of partitions to the order of the choice.
        bases = _tasks.some(bases, np.argsort(order, kind="stable"))
        expansion = BasisExpansion(
            clone(self.similarity, safe=False),
            n_basis=len(chosen),
            basis=np.arange(len(chosen)),
            normalization="none" if normalization in LEARNED else self.normalization,
            n_jobs=1,
        ).fit(bases)
        return client.submit(_tasks.same, expansion, pure=False), expansion

    @property
    def estimator_(self) -> _local.BasisExpansionSVC:
        """What was fitted, without Dask."""
        plain = _local.BasisExpansionSVC(**self.get_params(deep=False))
        state = {key: value for key, value in self.__dict__.items() if key not in plain.__dict__}
        plain.__dict__.update({key: value for key, value in state.items() if key != "dask_report_"})
        return plain

    def decision_function(self, X: Any) -> Any:
        """Decision values: a lazy Dask array for a collection, else as those of the ordinary estimator."""
        if is_dask_collection(X):
            return self._lazily("decision_function", X, np.float64)
        return super().decision_function(X)

    def predict(self, X: Any) -> Any:
        """Classes: a lazy Dask array for a collection, else as those of the ordinary estimator."""
        if is_dask_collection(X):
            return self._lazily("predict", X, self.classes_.dtype)
        return super().predict(X)

    def _lazily(self, method: str, X: Any, dtype: Any) -> Any:
        estimator = delayed(self.estimator_)
        sizes = getattr(X, "chunks", [None])[0]
        found = []
        wide = method == "decision_function" and len(self.classes_) > 2
        for number, part in enumerate(pieces(X, "X")):
            rows = np.nan if sizes is None else sizes[number]
            shape = (rows, len(self.classes_)) if wide else (rows,)
            found.append(da.from_delayed(delayed(_apply)(estimator, method, part, wide), shape, dtype=dtype))
        return da.concatenate(found, allow_unknown_chunksizes=True)


class Clock:
    """Seconds of stages."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float]] = []
        self._last = time.perf_counter()

    def end(self, name: str) -> None:
        now = time.perf_counter()
        self.stages.append((name, now - self._last))
        self._last = now


def summaries(client: Client, parts: list[Partition]) -> list[_tasks.Summary]:
    found = [
        delayed(_tasks.summary)(number, part.samples, part.labels, part.weights) for number, part in enumerate(parts)
    ]
    return list(client.gather(client.compute(found)))


def check_alike(told: list[_tasks.Summary], kept: list[int]) -> None:
    """Raises ValueError where partitions differ in their number of columns, naming them."""
    first = kept[0]
    for number in kept[1:]:
        if told[number].width != told[first].width:
            raise ValueError(
                f"partition {number} of X has {told[number].width} columns, partition {first} has {told[first].width}: "
                "they must be the same"
            )


def normalise(
    client: Client,
    blocks: list[Future],
    weights: list[npt.NDArray[np.float64]],
    expansion: BasisExpansion,
    normalization: str,
) -> tuple[list[Future], npt.NDArray[np.float32], list[list[float]]]:
    """Learns centre and factors from sums over the blocks; the normalised blocks and these."""
    wait_for = Sums(client).wait
    total = float(sum(some.sum() for some in weights))
    sums = [client.submit(_tasks.sums, block, some, pure=False) for block, some in zip(blocks, weights, strict=True)]
    mean = wait_for(sums) / total
    ends = expansion._machine.part_columns
    asked = ends if normalization == "mean-norm" else None
    spreads = [
        client.submit(_tasks.spreads, block, some, mean, asked, pure=False)
        for block, some in zip(blocks, weights, strict=True)
    ]
    spread = wait_for(spreads) / total
    if normalization == "z-score":
        deviation = np.sqrt(spread)
        spread = np.where(deviation <= 1e-6 * np.abs(mean), 0.0, deviation)
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0).astype(np.float32)
    widths = [end - first for first, end in ends]
    factors = [[float(one)] for one in inverse] if asked else [inverse[a:b].tolist() for a, b in ends]
    wide = np.repeat(inverse, widths) if asked else inverse
    centre = mean.astype(np.float32)
    shared = [client.submit(_tasks.same, array, pure=False) for array in (centre, wide)]
    return [client.submit(_tasks.normalised, block, *shared, pure=False) for block in blocks], centre, factors


def grouped(client: Client, blocks: list[Future]) -> list[Future]:
    """Blocks that are on one worker together, one group a thread of it: a step is then a task a thread, not a task a
    partition. They are grouped by where they are when they have been made; a group is made again like any result."""
    wait(blocks)
    places, threads = client.who_has(blocks), client.nthreads()
    by_worker: dict[str, list[Future]] = {}
    for block in blocks:
        by_worker.setdefault(min(places[block.key]), []).append(block)
    groups = []
    for worker, mine in by_worker.items():
        n = min(threads.get(worker, 1), len(mine))
        groups += [client.submit(_tasks.group, *mine[at::n], pure=False) for at in range(n)]
    return groups


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


def _apply(estimator: Any, method: str, samples: Any, wide: bool) -> Any:
    """An empty partition has an empty answer."""
    if len(samples) == 0:
        return np.empty((0, len(estimator.classes_)) if wide else 0)
    return getattr(estimator, method)(samples)
