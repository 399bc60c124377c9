"""The tables and pictures of results/tasks.json and results/growth.json, and the table of COMPARE.md.

    python tables.py [--out results]

Writes tasks.md, tasks.png (accuracy against the time to tune and train, a panel a task), growth.md and growth.png, and
in COMPARE.md what is between the two marks. All rows must be from one machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from costs import cost, whole_cost
from one import engines

HERE = Path(__file__).resolve().parent
COMPARISON = HERE.parents[1] / "COMPARE.md"
# The part of COMPARE.md that is written here is between these two lines.
MARKS = ("<!-- written by benchmarks/peers/tables.py -->", "<!-- end -->")
INK = "#333333"
OURS, THEIRS = "#1f5fa8", "#d9822b"
# Accuracy that counts as equal, in percent.
EQUAL = 0.5
# Left end of the pictures: neighbors, which keep the samples and no more, take no time to train.
MIN_SECONDS = 0.01
# Names in the pictures, in parts of a panel's height.
MIN_DISTANCE = 0.056

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "results")
    out = parser.parse_args().out
    known = engines()
    for name, page, drawn in (("tasks", tasks_page, draw_tasks), ("growth", growth_page, draw_growth)):
        path = out / f"{name}.json"
        if not path.is_file():
            continue
        rows = json.loads(path.read_text())["rows"]
        (out / f"{name}.md").write_text(page(rows, known))
        drawn(rows, known, out / f"{name}.png")
        if name == "tasks" and out == HERE / "results":
            COMPARISON.write_text(compared(COMPARISON.read_text(), rows, known))


def compared(page: str, rows: list[Row], known: dict[str, Row]) -> str:
    """COMPARE.md with the table of the tasks between the two marks."""
    before, rest = page.split(MARKS[0])
    table_of_tasks = standings(rows, known, [("tuning and training", whole_cost)])
    return f"{before}{MARKS[0]}\n\n{table_of_tasks}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def tasks_page(rows: list[Row], known: dict[str, Row]) -> str:
    both = [("tuning and training", whole_cost), ("training alone", cost)]
    parts = ["# Every engine on every task", conditions(rows), "## Summary", standings(rows, known, both)]
    for task in dict.fromkeys(row["task"] for row in rows):
        of_task = [row for row in rows if row["task"] == task]
        sizes = next((f", {row['n_train']:,} + {row['n_test']:,} samples" for row in of_task if "n_train" in row), "")
        parts.append(f"## {task}{sizes}\n\n" + table(HEAD, [cells(row, known) for row in ranked(of_task)]))
    return "\n\n".join(parts) + "\n"


HEAD = [
    "engine",
    "accuracy %",
    "tune + train CPU s",
    "tune CPU s",
    "train CPU s",
    "train s",
    "predict µs a row",
    "peak MiB",
    "model KiB",
    "chosen",
]


def cells(row: Row, known: dict[str, Row]) -> list[str]:
    name = f"{known[row['engine']]['name']} ({row['version']})"
    chosen = ", ".join(f"{key}={value}" for key, value in row.get("chosen", {}).items())
    if "failed" in row:
        return [name, "-", row["failed"], "", "", "", "", "", "", chosen]
    model = "-" if row["model_bytes"] is None else f"{row['model_bytes'] / 1024:,.0f}"
    return [
        name,
        f"{100 * row['accuracy']:.2f}",
        with_range(row, whole_cost),
        "0" if row["tune_seconds"] == 0 else seconds(row["tune_seconds"]),
        "-" if row["fit_cpu_seconds"] is None else seconds(row["fit_cpu_seconds"]),
        seconds(row["fit_seconds"]),
        f"{1e6 * row.get('predict_cpu_seconds', row['predict_seconds']) / row['n_test']:.1f}",
        f"{row['peak_bytes'] / 2**20:,.0f}",
        model,
        chosen,
    ]


def ranked(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (-row.get("accuracy", -1.0), whole_cost(row) if "fit_seconds" in row else 0.0))


def standings(rows: list[Row], known: dict[str, Row], costs: Sequence[tuple[str, Callable[[Row], float]]]) -> str:
    """For each task the fastest engine at equal accuracy, by each of the costs."""
    parts = [
        f"*Level* are the engines within {EQUAL} percentage points of the best accuracy. *Widemargin* is the fastest "
        "of its rows that are level, or, if none is, its most accurate one. It is *first* where its slowest run was "
        "faster than the fastest run of every other level engine. Nearest neighbors train nothing: their work comes "
        "with prediction. Seconds are CPU seconds, in brackets the range of the runs."
    ]
    for title, seconds_of in costs:
        lines, n_first = [], 0
        for task in dict.fromkeys(row["task"] for row in rows):
            done = [row for row in rows if row["task"] == task and "failed" not in row]
            if not any(known[row["engine"]].get("ours") for row in done):
                continue
            line, is_first = standing(done, known, seconds_of)
            lines.append([task, *line])
            n_first += is_first
        head = ["task", "most accurate", "fastest of the others that are level", "Widemargin", "Widemargin is"]
        parts.append(f"By CPU seconds of {title}, Widemargin is first on {n_first} of {len(lines)} tasks.")
        parts.append(table(head, lines))
    return "\n\n".join(parts)


def standing(done: list[Row], known: dict[str, Row], seconds_of: Callable[[Row], float]) -> tuple[list[str], bool]:
    """The most accurate engine, the fastest other one level with it, ours, how ours compares; whether it is first."""
    best = min(done, key=lambda row: (-row["accuracy"], seconds_of(row)))
    level = [row for row in done if 100 * row["accuracy"] >= 100 * best["accuracy"] - EQUAL]
    ours = [row for row in done if known[row["engine"]].get("ours")]
    mine = min((row for row in level if row in ours), key=seconds_of, default=None)
    theirs = min((row for row in level if row not in ours), key=seconds_of, default=None)
    if mine is None:
        mine = min(ours, key=lambda row: (-row["accuracy"], seconds_of(row)))
        stand = f"{100 * (best['accuracy'] - mine['accuracy']):.2f} points less accurate"
    elif theirs is None:
        stand = "first: no other is level"
    elif range_of(mine, seconds_of)[1] < range_of(theirs, seconds_of)[0]:
        stand = f"first: {seconds(seconds_of(theirs) / max(seconds_of(mine), 1e-9))} times as fast"
    elif range_of(theirs, seconds_of)[1] < range_of(mine, seconds_of)[0]:
        stand = f"{seconds(seconds_of(mine) / max(seconds_of(theirs), 1e-9))} times as slow"
    else:
        stand = "equally fast"
    shown = [
        "none"
        if row is None
        else f"{known[row['engine']]['name']}: {100 * row['accuracy']:.2f} % in {with_range(row, seconds_of)} s"
        for row in (best, theirs, mine)
    ]
    return [*shown, stand], stand.startswith("first")


def range_of(row: Row, seconds_of: Callable[[Row], float]) -> tuple[float, float]:
    """The least and the most seconds of the runs of a row."""
    found = [one[seconds_of is cost] for one in row.get("costs", [])] or [seconds_of(row)]
    return min(found), max(found)


def with_range(row: Row, seconds_of: Callable[[Row], float]) -> str:
    """The seconds, and those of the fastest and the slowest run if it was repeated."""
    least, most = range_of(row, seconds_of)
    here = seconds(seconds_of(row))
    return here if len(row.get("costs", [])) < 2 else f"{here} ({seconds(least)}–{seconds(most)})"


def growth_page(rows: list[Row], known: dict[str, Row]) -> str:
    sizes = sorted({size_of(row) for row in rows})
    parts = ["# Time and memory as samples grow", conditions(rows)]
    for title, key, scale in (
        ("Training, seconds of CPU", "cost", 1.0),
        ("Most memory, MiB", "peak_bytes", 2.0**-20),
        ("Accuracy, %", "accuracy", 100.0),
    ):
        lines = []
        for engine in dict.fromkeys(row["engine"] for row in rows):
            found = {size_of(row): row for row in rows if row["engine"] == engine}
            lines.append([known[engine]["name"], *[one_size(found.get(size), key, scale) for size in sizes]])
        parts.append(f"## {title}\n\n" + table(["engine", *[f"{size:,}" for size in sizes]], lines))
    return "\n\n".join(parts) + "\n"


def one_size(row: Row | None, key: str, scale: float) -> str:
    if row is None:
        return ""
    return row["failed"] if "failed" in row else seconds((cost(row) if key == "cost" else row[key]) * scale)


def size_of(row: Row) -> int:
    return int(row["task"].removeprefix("made:"))


def machine(row: Row) -> str:
    one = row["machine"]
    return (
        f"{one['cpu']} (family/model {one['cpu_family_model']}), {one['cores']} cores, {one['memory_gib']} GiB, "
        f"Python {one['python']}"
    )


def conditions(rows: list[Row]) -> str:
    found = sorted(set(map(machine, rows)))
    if len(found) != 1:
        raise SystemExit(f"seconds of different machines cannot be compared: {'; '.join(found)}")
    dates = sorted({row["date"][:10] for row in rows})
    loads = [load for row in rows for load in row["load_average"] if load is not None]
    threads = sorted({row["threads"] for row in rows})
    return (
        f"{found[0]}. {', '.join(dates)}; "
        f"{' or '.join(map(str, threads))} thread{'' if threads == [1] else 's'} an engine. Load average from "
        f"{min(loads):.1f} to {max(loads):.1f}, median {statistics.median(loads):.1f}: above 1, other work ran "
        "at the same time, and CPU seconds are more reliable. Rows of less than 30 CPU seconds were run three times, "
        "each in its own process; the median is shown, and the range in brackets. A fit with its prediction could take "
        "100 CPU seconds (400 on ElectricDevices and Crop), a grid 120. Parameters were selected by 3-fold "
        "cross-validation on "
        "at most 3,000 training samples."
    )


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def draw_tasks(rows: list[Row], known: dict[str, Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tasks = list(dict.fromkeys(row["task"] for row in rows))
    across = min(3, len(tasks))
    down = -(-len(tasks) // across)
    figure, grid = plt.subplots(down, across, figsize=(5.2 * across, 3.6 * down), layout="constrained", squeeze=False)
    for axes, task in zip(grid.flat, tasks, strict=False):
        done = [row for row in rows if row["task"] == task and "failed" not in row]
        done.sort(key=lambda row: row["accuracy"])
        for row in done:
            mark, color = looks(row, known)
            axes.plot(max(whole_cost(row), MIN_SECONDS), 100 * row["accuracy"], mark, color=color)
        axes.set_xscale("log")
        axes.margins(x=0.08, y=0.08)
        name_points(axes, done, known)
        axes.set_title(task, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#eeeeee")
    for axes in grid.flat[len(tasks) :]:
        axes.set_visible(False)
    figure.supxlabel("seconds of CPU to tune and train (at least 0.01)")
    figure.supylabel("% right of the test samples")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def looks(row: Row, known: dict[str, Row]) -> tuple[str, str]:
    return ("o", OURS) if known[row["engine"]].get("ours") else ("s", THEIRS)


def name_points(axes: Any, done: list[Row], known: dict[str, Row]) -> None:
    """Names next to the panel from the least accurate to the most, a thin line from each to its point."""
    low, high = axes.get_ylim()
    shown = [(100 * row["accuracy"] - low) / (high - low) for row in done]
    for row, height in zip(done, spread(shown, MIN_DISTANCE), strict=True):
        mark, color = looks(row, known)
        axes.annotate(
            row["engine"],
            (max(whole_cost(row), MIN_SECONDS), 100 * row["accuracy"]),
            xytext=(1.04, height),
            textcoords="axes fraction",
            va="center",
            fontsize=7,
            color=OURS if mark == "o" else INK,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.5, "relpos": (0, 0.5)},
        )


def spread(heights: list[float], apart: float) -> list[float]:
    """Rising heights, moved as little as it takes for them to lie apart, below the top where there is room."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + apart) if placed else height)
    top = 1.0
    for at in reversed(range(len(placed))):
        placed[at] = min(placed[at], top)
        top = placed[at] - apart
    return placed


def draw_growth(rows: list[Row], known: dict[str, Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(12, 5.6), layout="constrained")
    names = list(dict.fromkeys(row["engine"] for row in rows))
    others = [name for name in names if not known[name].get("ours")]
    shades = plt.get_cmap("tab20")
    for axes, (key, scale, label) in zip(
        panels, (("cost", 1.0, "seconds of CPU to train"), ("peak_bytes", 2.0**-20, "MiB at the most")), strict=True
    ):
        for name in names:
            done = [row for row in rows if row["engine"] == name and "failed" not in row]
            # What takes no memory that can be seen is drawn at 1 MiB.
            found = sorted((size_of(row), cost(row) if key == "cost" else max(row[key] * scale, 1.0)) for row in done)
            if not found:
                continue
            ours = name not in others
            axes.plot(
                *zip(*found, strict=True),
                marker="o" if ours else "s",
                color=OURS if ours else shades(others.index(name) % 20),
                linestyle="-" if names.index(name) % 2 == 0 or not ours else "--",
                linewidth=2.4 if ours else 1.2,
                markersize=4,
                label=known[name]["name"],
            )
        axes.set(xscale="log", yscale="log", xlabel="samples", ylabel=label)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#eeeeee")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
