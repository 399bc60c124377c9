"""The tables and the picture of results/tables.json.

    python draw.py

Writes results/tables.md, and results/ranks.png: the mean rank of each engine by accuracy over the tables on which all
of them ended, with the critical difference of Nemenyi's test (Demšar, Statistical Comparisons of Classifiers over
Multiple Data Sets, 2006).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from scipy.stats import rankdata, studentized_range

from engines import ENGINES
from tasks import TASKS

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RESULTS = Path(__file__).resolve().parent / "results"
INK, OURS, THEIRS = "#333333", "#1f5fa8", "#d9822b"


def main() -> None:
    found = json.loads((RESULTS / "tables.json").read_text())
    tasks = [task for task in TASKS if task in found]
    engines = [engine for engine in ENGINES if any("accuracy" in found[task].get(engine, {}) for task in tasks)]
    lines = ["Accuracy in percent, the best of each table in bold; CPU seconds of the fit with its search below.", ""]
    lines += [*by_table(found, tasks, engines), ""]
    compared, ranks = mean_ranks(found, tasks, engines)
    lines += [f"Over the {len(compared)} tables on which all ended:", "", *means(found, compared, engines, ranks), ""]
    lines += [*log_losses(found, tasks, engines), ""]
    one = found[tasks[0]]
    versions = {name: of for row in one.values() for name, of in row.get("versions", {}).items()}
    dates = sorted({row["date"] for task in tasks for row in found[task].values()})
    listed = ", ".join(f"{name} {of}" for name, of in sorted(versions.items()))
    lines += [f"One thread; measured from {dates[0]} to {dates[-1]} with {listed}."]
    (RESULTS / "tables.md").write_text("\n".join(lines) + "\n")
    draw(engines, ranks, len(compared))


def by_table(found: Any, tasks: list[str], engines: list[str]) -> list[str]:
    lines = [
        "| table | rows | columns | classes | " + " | ".join(engines) + " |",
        "|---|" + "---:|" * (3 + len(engines)),
    ]
    for task in tasks:
        rows = found[task]
        best = max(row["accuracy"] for row in rows.values() if "accuracy" in row)
        cells = [cell(rows.get(engine, {}), best) for engine in engines]
        size = next(row for row in rows.values() if "rows" in row)
        lines.append(f"| {task} | {size['rows']} | {size['columns']} | {size['classes']} | " + " | ".join(cells) + " |")
    return lines


def cell(row: dict[str, Any], best: float) -> str:
    if "accuracy" not in row:
        return row.get("failed", "")
    text = f"{row['accuracy']:.2f}"
    text = f"**{text}**" if row["accuracy"] == best else text
    return f"{text}<br>{row['seconds']:.3g} s"


def mean_ranks(found: Any, tasks: list[str], engines: list[str]) -> tuple[list[str], Any]:
    compared = [task for task in tasks if all("accuracy" in found[task].get(engine, {}) for engine in engines)]
    ranks = [rankdata([-found[task][engine]["accuracy"] for engine in engines]) for task in compared]
    return compared, np.mean(ranks, axis=0)


def means(found: Any, tasks: list[str], engines: list[str], ranks: Any) -> list[str]:
    lines = ["| mean | accuracy, % | rank | CPU s | µs per prediction |", "|---|" + "---:|" * 4]
    for engine, rank in zip(engines, ranks, strict=True):
        rows = [found[task][engine] for task in tasks]
        of = [np.mean([row[name] for row in rows]) for name in ("accuracy", "seconds", "prediction_microseconds")]
        lines.append(f"| {engine} | {of[0]:.2f} | {rank:.2f} | {of[1]:.1f} | {of[2]:.0f} |")
    return lines


def log_losses(found: Any, tasks: list[str], engines: list[str]) -> list[str]:
    engines = [engine for engine in engines if any("log_loss" in found[task].get(engine, {}) for task in tasks)]
    lines = ["| log loss | " + " | ".join(engines) + " |", "|---|" + "---:|" * len(engines)]
    for task in tasks:
        losses = [found[task].get(engine, {}).get("log_loss") for engine in engines]
        cells = ["" if loss is None else f"{loss:.4f}" for loss in losses]
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return lines


def draw(engines: list[str], ranks: Any, n_tables: int) -> None:
    """Mean ranks on a line, the best at the left."""
    k = len(engines)
    difference = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n_tables))
    figure, ax = plt.subplots(figsize=(7, 0.9 + 0.34 * k), layout="constrained")
    for height, at in enumerate(np.argsort(ranks)[::-1]):
        color = OURS if engines[at].endswith("()") else THEIRS
        ax.plot([0.8, ranks[at]], [height, height], color="#dddddd", zorder=0)
        ax.plot(ranks[at], height, "o", color=color)
        ax.annotate(
            f"{engines[at]}  {ranks[at]:.2f}", (ranks[at], height), (8, -3), textcoords="offset points", color=INK
        )
    ax.plot([1, 1 + difference], [k - 0.3, k - 0.3], color=INK, linewidth=2)
    ax.annotate(f"critical difference {difference:.2f}", (1 + difference, k - 0.3), (6, -3), textcoords="offset points")
    ax.set(xlim=(0.8, k + 1.2), ylim=(-0.6, k + 0.2), yticks=[])
    ax.set_xlabel(f"mean rank by accuracy over {n_tables} tables; 1 is best")
    ax.spines[["top", "left", "right"]].set_visible(False)
    figure.savefig(RESULTS / "ranks.png", dpi=160)


if __name__ == "__main__":
    main()
