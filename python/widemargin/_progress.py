"""Progress on the screen and in scikit-learn's callbacks."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """The monitor of a fit: call it with (stage, done, total, gap); use it as a context manager.

    `verbose` 0 shows nothing; 1 a progress bar per stage on a terminal or in a notebook if tqdm is installed,
    otherwise one line at the end of each stage; 2 also the duality gap. `context` is scikit-learn's callback context:
    every stage is a task, and every reported step is a subtask.
    """

    def __init__(self, estimator: Any, context: Any = None) -> None:
        self._name, self._verbose = type(estimator).__name__, int(estimator.verbose)
        self._estimator, self._context = estimator, context
        self._stage: str | None = None
        self._since = time.perf_counter()
        self._task: Any = None
        self._bar: Any = None
        self._gap: float | None = None

    @property
    def monitor(self) -> Progress | None:
        """The monitor for the extension module; None if progress is neither displayed nor passed to callbacks."""
        return None if self._verbose <= 0 and self._context is None else self

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._end_stage(finished=kind is None)

    def __call__(self, stage: str, done: int, total: int, gap: float | None) -> None:
        if stage != self._stage:
            self._end_stage()
            self._begin_stage(stage, total)
        if self._task is not None:
            step = self._task.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)
        self._gap = gap if self._verbose > 1 else None
        if self._bar is not None:
            if self._gap is not None:
                self._bar.set_postfix_str(f"gap {self._gap:.1e}", refresh=False)
            # Several threads report: their numbers may arrive out of order.
            self._bar.update(max(done - self._bar.n, 0))

    def _begin_stage(self, stage: str, total: int) -> None:
        self._stage, self._since = stage, time.perf_counter()
        if self._context is not None:
            self._task = self._context.subcontext(task_name=stage, max_subtasks=None)
            self._task.call_on_fit_task_begin(estimator=self._estimator)
        if self._verbose > 0:
            self._bar = _bar(f"{self._name}: {stage}", total)

    def _end_stage(self, finished: bool = True) -> None:
        if self._stage is None:
            return
        if self._bar is not None:
            self._bar.close()
        elif self._verbose > 0:
            gap = "" if self._gap is None else f", gap {self._gap:.1e}"
            seconds = time.perf_counter() - self._since
            print(f"{self._name}: {self._stage} {seconds:.1f} s{gap}", file=sys.stderr, flush=True)
        if self._task is not None and finished:
            self._task.call_on_fit_task_end(estimator=self._estimator)
        self._stage = self._bar = self._task = None


def _bar(title: str, total: int) -> Any:
    """A bar of tqdm on a terminal or in a notebook, if tqdm is installed; otherwise None."""
    shell = sys.modules.get("IPython")
    in_notebook = shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
    if not in_notebook and not sys.stderr.isatty():
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc=title, total=total or None, leave=True)
