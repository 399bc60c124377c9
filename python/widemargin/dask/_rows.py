"""The rows of a fit for the solver: a query becomes a task per group of parts, and a tree of merges."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import Any

from dask import config
from distributed import Client, Future

from .. import _core
from . import _tasks

# The number of results that one task merges: few enough that workers seldom wait for results of others, and enough that
# a sum over hundreds of groups is two or three tasks deep.
FAN_IN = 8

# The size in bytes up to which a query is sent with each task.
SMALL = 1 << 12


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
        submit = self._client.submit
        self.queries[name] += 1
        self._n_tasks += len(self._groups)
        shared: Any = query
        if len(query) > SMALL:
            # Sent once, as the result of a task, which workers pass on; small queries are faster as arguments. Dask
            # would warn about a large argument; this one has a number for each sample.
            with config.set({"distributed.admin.large-graph-warning-threshold": "1PiB"}):
                shared = submit(_tasks.same, query, pure=False)
            self._n_tasks += 1
        parts = zip(self._groups, self._states, strict=True)
        if not changes_state:
            answers = [submit(_tasks.answer, group, state, shared, pure=False) for group, state in parts]
        elif not has_answer:
            self._states = [submit(_tasks.changed, group, state, shared, pure=False) for group, state in parts]
            return b""
        else:
            both = [submit(_tasks.step, group, state, shared, pure=False) for group, state in parts]
            answers, self._states = ([submit(_tasks.part, one, at, pure=False) for one in both] for at in range(2))
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
