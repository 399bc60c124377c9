"""The training report as an HTML table below scikit-learn's diagram of an estimator."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

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
