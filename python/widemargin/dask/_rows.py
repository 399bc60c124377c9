"""The rows of a fit on the workers: the tasks on parts of the rows, and the queries of a solver to all parts.

Tasks are pure functions, so that any worker can recompute the results of a lost one. A query becomes a task per group
of parts, and a tree of merges.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import getitem
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from dask import config
from distributed import Client, Future

from .. import _core
from .._samples import checked_vectors, count
from ..basis_expansion import BasisExpansion

T = TypeVar("T")

# The number of results that one task merges: few enough that workers seldom wait for results of others, and enough that
# a sum over hundreds of groups is two or three tasks deep.
FAN_IN = 8

# The size in bytes up to which a query is sent with each task.
SMALL = 1 << 12


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


def of_partition(number: int, work: Callable[[], T]) -> T:
    """The result of `work`; exceptions get the number of the partition in their message."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


class Rows:
    """Parts of the rows on workers, and the state of each.

    Every task is a function of the results of others, so that the scheduler can recompute everything that is lost with
    a worker.
    """

    def __init__(self, client: Client, groups: list[Future]) -> None:
        self._client, self._groups = client, groups
        self._states: list[Any] = [None] * len(groups)
        # The number of queries of each kind.
        self.queries: Counter[str] = Counter()
        self._n_tasks, self._seconds = 0, 0.0

    def forget(self) -> None:
        """Releases the parts; no further queries are possible."""
        self._groups, self._states = [], []

    def report(self) -> dict[str, Any]:
        """The numbers of tasks and of queries of each kind, and the seconds spent waiting for answers."""
        return {"tasks": self._n_tasks, "queries": dict(self.queries), "seconds_of_sums": self._seconds}

    def ask(self, name: str, query: bytes, changes_state: bool, has_answer: bool) -> bytes:
        """The answer of all parts to a query of the solver; empty for queries without answer."""
        submit: Any = self._client.submit
        self.queries[name] += 1
        self._n_tasks += len(self._groups)
        shared: Any = query
        if len(query) > SMALL:
            # Sent once, as the result of a task, which workers pass on; small queries are faster as arguments. Dask
            # would warn about a large argument; this one has a number for each sample.
            with config.set({"distributed.admin.large-graph-warning-threshold": "1PiB"}):
                shared = submit(same, query, pure=False)
            self._n_tasks += 1
        parts = zip(self._groups, self._states, strict=True)
        if not changes_state:
            answers = [submit(answer, group, state, shared, pure=False) for group, state in parts]
        elif not has_answer:
            self._states = [submit(changed, group, state, shared, pure=False) for group, state in parts]
            return b""
        else:
            both = [submit(step, group, state, shared, pure=False) for group, state in parts]
            answers, self._states = ([submit(getitem, one, at, pure=False) for one in both] for at in range(2))
        return self._sum(answers, query, shared)

    def _sum(self, parts: list[Future], query: bytes, shared: Any) -> bytes:
        """Merges the answers to a query in a tree of tasks on the workers, and waits for the result. Tasks receive the
        query as `shared`. The last few answers are merged on the client: another task, and its wait for their transfer,
        would be slower."""
        while len(parts) > FAN_IN:
            groups = [parts[at : at + FAN_IN] for at in range(0, len(parts), FAN_IN)]
            self._n_tasks += sum(len(group) > 1 for group in groups)
            merged = partial(self._client.submit, _core.merge, shared, pure=False)
            parts = [merged(group) if len(group) > 1 else group[0] for group in groups]
        started = time.perf_counter()
        found: list[bytes] = self._client.gather(parts)
        self._seconds += time.perf_counter() - started
        return _core.merge(query, found) if len(found) > 1 else found[0]
