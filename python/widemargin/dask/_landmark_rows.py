"""The rows of a fit on landmarks as the solver sees them: each of its questions becomes a task a group of blocks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from . import _landmark_tasks as tasks
from . import _tasks
from ._rows import Sums


class LandmarkRows:
    """Blocks on workers and what is remembered of each.

    Every task is a function of others' results: a worker that is lost takes nothing along that its scheduler cannot
    have made again.
    """

    def __init__(self, client: Client, groups: list[Future]) -> None:
        self._groups = groups
        self._memory: list[Any] = [None] * len(groups)
        self._sums = Sums(client)
        # How often each question was asked.
        self.asked: Counter[str] = Counter()

    def told(self) -> dict[str, Any]:
        """Tasks, how often each question was asked, and the seconds spent waiting for answers."""
        return {"tasks": self._sums.n_tasks, "asked": dict(self.asked), "seconds_of_sums": self._sums.seconds}

    def origin(self, live: list[int]) -> Any:
        self._memory = [None] * len(self._groups)
        return self._step("origin", live)

    def look(self, live: list[int], points: npt.NDArray[np.float64]) -> Any:
        return self._step("look", live, points)

    def take_step(self, live: list[int], places: npt.NDArray[np.float64]) -> Any:
        return self._step("take_step", live, places)

    def accept(self, live: list[int]) -> None:
        self._count("accept")
        self._remember(tasks.accept, live)

    def without(self, folds: list[int]) -> None:
        """The rows of a fold are absent from now on; of none, all are present."""
        self._count("without")
        self._remember(tasks.without, folds[0] if folds else None)

    def line_search_eval(self, live: list[int], places: npt.NDArray[np.float64]) -> Any:
        return self._ask("line_search_eval", live, places)

    def leave_one_out(self, live: list[int], roots: npt.NDArray[np.float64]) -> Any:
        return self._ask("leave_one_out", roots)

    def absent_rows(self, live: list[int]) -> Any:
        return self._ask("absent_rows")

    def _remember(self, task: Any, given: Any) -> None:
        submit = self._sums.client.submit
        known = zip(self._groups, self._memory, strict=True)
        self._memory = [submit(task, group, memory, given, pure=False) for group, memory in known]

    def _step(self, method: str, live: list[int], *given: npt.NDArray[np.float64]) -> Any:
        self._count(method)
        submit = self._sums.client.submit
        shared = [submit(_tasks.same, array, pure=False) for array in given]
        pairs = [
            submit(tasks.step, group, method, memory, live, *shared, pure=False)
            for group, memory in zip(self._groups, self._memory, strict=True)
        ]
        self._memory = [submit(tasks.part, pair, 0, pure=False) for pair in pairs]
        told = [submit(tasks.part, pair, 1, pure=False) for pair in pairs]
        return self._sums.wait(told, tasks.together)

    def _ask(self, method: str, *given: Any) -> Any:
        self._count(method)
        submit = self._sums.client.submit
        shared = [submit(_tasks.same, one, pure=False) if isinstance(one, np.ndarray) else one for one in given]
        known = zip(self._groups, self._memory, strict=True)
        return self._sums.wait(
            [submit(tasks.ask, group, method, memory, *shared, pure=False) for group, memory in known]
        )

    def _count(self, method: str) -> None:
        self.asked[method] += 1
        self._sums.n_tasks += len(self._groups)
