"""What a fit reports: its candidates as ``cv_results_``, and its report as an HTML table."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

Row = dict[str, Any]
Results = dict[str, Any]

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
        The parameters of the model; the candidate that agrees with most of them is the selected one.
    """
    copied = ([{**row, "params": dict(row["params"])} for row in rows] for rows in (candidates, path))
    stages = [stage for stage in copied if stage]
    for stage in stages:
        for row, rank in zip(stage, rankdata(-np.nan_to_num(_floats(stage, "score"), nan=-np.inf), "min"), strict=True):
            row["rank"] = rank
        if "selected" not in stage[0]:
            max(stage, key=lambda row: _agreement(row, fitted))["selected"] = True
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


# How the names begin of measures of a path that have another name in the form of `results`, or are not shown.
_RENAMED = ("C", "label_errors", "loo_squared_hinge", "loo_error", "loo_r2", "loo_rmse", "d2", "method")


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
    loss, error = row.get("loo_squared_hinge"), row.get("loo_error")
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
