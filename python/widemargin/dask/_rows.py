"""The rows of a fit as the solver sees them: each of its questions becomes a task a block and a tree of sums."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from .._samples import as_contiguous
from . import _tasks

# How many results one task adds up: few enough that a worker seldom waits for others' results, enough that a sum over
# hundreds of blocks is two or three tasks deep.
FAN_IN = 8

# Bytes up to which numbers go along with each task.
SMALL = 1 << 12


class Rows:
    """Blocks on workers and what is remembered of each.

    Every task is a function of others' results: a worker that is lost takes nothing along that its scheduler cannot
    have made again.
    """

    def __init__(self, client: Client, groups: list[Future], problem: _tasks.Problem) -> None:
        self._groups = groups
        self._problem = client.submit(_tasks.same, problem, pure=False)
        self._memory: list[Any] = [None] * len(groups)
        self._sums = Sums(client)
        # How often each question was asked.
        self.asked: Counter[str] = Counter()

    def told(self) -> dict[str, Any]:
        """Tasks, how often each question was asked, and the seconds spent waiting for answers."""
        return {"tasks": self._sums.n_tasks, "asked": dict(self.asked), "seconds_of_sums": self._sums.seconds}

    def cost(self) -> tuple[float, float, float]:
        submit = self._sums.client.submit
        found: tuple[float, float, float] = self._sums.wait(
            [submit(_tasks.cost, group, self._problem, pure=False) for group in self._groups]
        )
        return found

    def set_point(self, live: list[int], points: npt.NDArray[np.float64]) -> None:
        self._move("set_point", live, points)

    def set_direction(self, live: list[int], directions: npt.NDArray[np.float64]) -> None:
        self._move("set_direction", live, directions)

    def take_step(self, live: list[int], steps: npt.NDArray[np.float64]) -> None:
        self._move("take_step", live, steps)

    def line_search_eval(self, live: list[int], lines: npt.NDArray[np.float64]) -> Any:
        return self._sum("line_search_eval", live, lines)

    def gradient(self, live: list[int], intercepts: npt.NDArray[np.float64]) -> Any:
        return self._sum("gradient", live, intercepts)

    def hessian_product(
        self, live: list[int], intercepts: npt.NDArray[np.float64], directions: npt.NDArray[np.float64]
    ) -> Any:
        return self._sum("hessian_product", live, intercepts, directions)

    def gram(self, live: list[int], intercepts: npt.NDArray[np.float64]) -> Any:
        return self._sum("gram", live, intercepts)

    def diagonal(self, live: list[int], intercepts: npt.NDArray[np.float64]) -> Any:
        return self._sum("diagonal", live, intercepts)

    def active_rows(self, live: list[int], intercepts: npt.NDArray[np.float64], most: npt.NDArray[np.float64]) -> Any:
        """The rows of all blocks, one after the other; None where they are too many."""
        parts = self._tasks(_tasks.active_rows, "active_rows", live, (intercepts, most))
        return self._sums.wait(parts, partial(_tasks.joined, int(most[0])))

    def _move(self, method: str, live: list[int], *given: npt.NDArray[np.float64]) -> None:
        self._memory = self._tasks(_tasks.move, method, live, given)

    def _sum(self, method: str, live: list[int], *given: npt.NDArray[np.float64]) -> Any:
        return self._sums.wait(self._tasks(_tasks.total, method, live, given))

    def _tasks(self, work: Any, method: str, live: list[int], given: tuple[npt.NDArray[np.float64], ...]) -> list[Any]:
        submit = self._sums.client.submit
        # What is large is sent once, as a task's result that workers hand on; what is small goes with every task, which
        # spares them the wait for one another.
        large = [array.nbytes > SMALL for array in given]
        shared = [
            submit(_tasks.same, array, pure=False) if is_large else array
            for array, is_large in zip(given, large, strict=True)
        ]
        self._sums.n_tasks += len(self._groups) + sum(large)
        self.asked[method] += 1
        return [
            submit(work, group, self._problem, method, memory, live, *shared, pure=False)
            for group, memory in zip(self._groups, self._memory, strict=True)
        ]


class Sums:
    """Trees of sums."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.n_tasks = 0
        self.seconds = 0.0

    def wait(self, parts: list[Future], by: Callable[[Any], Any] = _tasks.added) -> Any:
        """Adds results up where they are (or makes one of several in another way), and waits for the sum. The last few
        are added here: another task, and its wait for what the others have, would take longer."""
        while len(parts) > FAN_IN:
            groups = [parts[at : at + FAN_IN] for at in range(0, len(parts), FAN_IN)]
            self.n_tasks += sum(len(group) > 1 for group in groups)
            parts = [self.client.submit(by, group, pure=False) if len(group) > 1 else group[0] for group in groups]
        started = time.perf_counter()
        found = self.client.gather(parts)
        self.seconds += time.perf_counter() - started
        return _contiguous(by(found) if len(found) > 1 else found[0])


def _contiguous(found: Any) -> Any:
    """What came over the network, as the compiled half reads it."""
    if isinstance(found, tuple):
        return tuple(_contiguous(one) for one in found)
    return as_contiguous(found, found.dtype) if isinstance(found, np.ndarray) else found
