"""What a fit reports: its progress, its candidates as ``cv_results_``, and its report as an HTML table."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

Row = dict[str, Any]
Results = dict[str, Any]


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


# The measures of a candidate, and the names of their arrays.
_MEASURES = {
    "score": "mean_test_score",
    "std": "std_test_score",
    "accuracy": "mean_test_accuracy",
    "rmse": "mean_test_neg_root_mean_squared_error",
    "loss": "mean_test_neg_loss",
    "seconds": "mean_fit_time",
}


def results(candidates: Iterable[Row], path: Iterable[Row], fitted: Mapping[str, Any]) -> Results:
    """Arrays with an entry for each candidate, then for each C of the path of the selected one.

    Parameters
    ----------
    candidates, path : iterable of mappings
        Each with ``params``, and if they are known ``score``, ``std``, ``accuracy``, ``rmse``, ``loss``,
        ``n_samples``, ``seconds``, ``problem``, ``selected``, and other numbers, which are arrays of their own name.
    fitted : mapping
        The parameters of the model; the candidate that agrees with most of them is the selected one, of several that
        on the most samples.
    """
    copied = ([{**row, "params": dict(row["params"])} for row in rows] for rows in (candidates, path))
    stages = [stage for stage in copied if stage]
    for stage in stages:
        for row, rank in zip(stage, rankdata(-np.nan_to_num(_floats(stage, "score"), nan=-np.inf), "min"), strict=True):
            row["rank"] = rank
        if "selected" not in stage[0]:
            max(stage, key=lambda row: (_agreement(row, fitted), row.get("n_samples") or 0))["selected"] = True
    rows = [row for stage in stages for row in stage]
    names = dict.fromkeys(name for row in rows for name in row["params"])
    known = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    further = [name for name in known if name not in {*_MEASURES, "params", "n_samples", "problem", "rank", "selected"}]
    return {
        "iter": np.repeat(np.arange(len(stages)), [len(stage) for stage in stages]),
        "n_resources": _masked([row.get("n_samples") for row in rows]),
        "params": [row["params"] for row in rows],
        **{f"param_{name}": _masked([row["params"].get(name) for row in rows]) for name in names},
        **{_MEASURES[name]: _floats(rows, name) for name in _MEASURES if name in {*known, "score", "std"}},
        "rank_test_score": np.array([row["rank"] for row in rows], dtype=np.int32),
        "selected": np.array([row.get("selected", False) for row in rows], dtype=bool),
        "problem": np.array([row.get("problem") for row in rows], dtype=object),
        **{name: _floats(rows, name) for name in further},
    }


_HELD_OUT = "held_out_squared_hinge"
# How the names begin of measures of a path that have another name in the form of `results`, or are not shown.
_RENAMED = ("C", "label_errors", "loo_squared_hinge", "loo_error", "loo_r2", "loo_rmse", _HELD_OUT, "d2", "method")


def path_of(points: Iterable[Row], C: float, **params: Any) -> list[Row]:
    """The points of a path in a model file's header, in the form of `results`."""
    rows = []
    for point in points:
        row = {name: value for name, value in point.items() if not name.startswith(_RENAMED)}
        if "loo_squared_hinge" in point:
            row |= _of_classes(point)
        elif "loo_r2" in point:
            rmse = -float(np.mean(point["loo_rmse"]))
            row |= {"score": point["loo_r2"], "std": point["loo_r2_std"], "rmse": rmse}
        else:
            row |= {"score": point["d2"], "std": point["d2_std"], "loss": -float(np.mean(point["loss"]))}
        rows.append({**row, "params": {**params, "C": point["C"]}, "selected": point["C"] == C})
    return rows


def candidate_of(row: Row) -> Row:
    """A candidate in a model file's header, in the form of `results`."""
    params = {"kernel": row["kernel"], "nodes": row.get("n_nodes"), "C": row.get("C")}
    return {"params": params, "problem": row.get("problem"), **_of_classes(row)}


def _of_classes(row: Row) -> Row:
    """The score and the accuracy of a point or candidate of a classifier."""
    loss, error = row.get(_HELD_OUT, row.get("loo_squared_hinge")), row.get("loo_error")
    return {"score": None if loss is None else -loss, "accuracy": None if error is None else 1.0 - error}


def _agreement(row: Row, fitted: Mapping[str, Any]) -> tuple[int, int, float]:
    score = row.get("score")
    of_params = sum(fitted.get(name) == value for name, value in row["params"].items())
    return of_params, row.get("n_samples", 0), -np.inf if score is None else score


def _floats(rows: Sequence[Row], name: str) -> npt.NDArray[np.float64]:
    return np.array([row.get(name) for row in rows], dtype=np.float64)


def _masked(values: Sequence[Any]) -> Any:
    """A masked array, whose entries without a value are masked."""
    present = [value for value in values if value is not None]
    are_numbers = present and all(isinstance(one, Real) and not isinstance(one, bool) for one in present)
    dtype = np.array(present).dtype if are_numbers else object
    array: Any = np.ma.MaskedArray(np.zeros(len(values), dtype=dtype), mask=True)
    for at, value in enumerate(values):
        if value is not None:
            array[at] = value
    return array


_STYLE = (
    "border-collapse:collapse;margin:.4em 0 0 0;font-size:smaller;"
    "font-family:var(--jp-ui-font-family, sans-serif);color:inherit"
)


def report_table(rows: Mapping[str, str], warnings: list[str]) -> str:
    """A two-column table, with the warnings below it."""
    cells = "".join(
        f"<tr><th style='text-align:left;padding:.1em 1em .1em 0;font-weight:600'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    listed = "".join(f"<div style='font-size:smaller'>&#9888; {html.escape(text)}</div>" for text in warnings)
    return f"<table class='widemargin-report' style='{_STYLE}'><tbody>{cells}</tbody></table>{listed}"


def rows_of(report: Mapping[str, Any]) -> dict[str, str]:
    """The rows of a report's table."""
    gaps, steps, support = report["gaps"], report["iterations"], report["n_support"]
    stages = report.get("stages", [])
    rows = {
        "status": report["status"].replace("-", " "),
        "objective": f"{report['objective']:.6g}",
        "relative duality gap": f"{max(gaps, default=0.0):.1e}",
        "iterations": _range(steps),
        "samples inside the margin": _range(support),
    }
    if stages:
        rows["seconds"] = f"{sum(stage['seconds'] for stage in stages):.3g}"
    spent = ", ".join(f"{stage['name']} {stage['seconds']:.2g}" for stage in stages if stage["seconds"] >= 0.005)
    if spent:
        rows["of these"] = spent
    return rows


def _range(counts: list[int]) -> str:
    if not counts:
        return "0"
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high} (of {len(counts)} problems)"
