"""Accuracy against training seconds, one point an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from timing import Row

# Colors that stay apart for the color-blind and in gray, and a marker each so that color is never needed.
STYLES = {
    "Widemargin, polynomial": ("#0072B2", "o"),
    "Widemargin, Nyström": ("#D55E00", "s"),
    "χ² map + LIBLINEAR": ("#009E73", "^"),
    "LIBLINEAR": ("#555555", "D"),
    "exact χ² kernel, 10,000 rows only": ("#AA4499", "P"),
}


def draw(results: Row, stem: Path) -> None:
    """Writes `stem`.png; nothing when there is no point to draw."""
    points = _points(results["sections"])
    if not points:
        return
    plt.rcParams.update({"font.size": 10})
    figure, axes = plt.subplots(figsize=(8.5, 5.2), layout="constrained")
    for family, (color, marker) in STYLES.items():
        mine = [p for p in points if p["family"] == family]
        if mine:
            x, y = [p["seconds"] for p in mine], [p["accuracy"] for p in mine]
            axes.scatter(x, y, s=55, color=color, marker=marker, label=family, zorder=3)
    axes.set_xscale("log")
    # Room on both sides for the names.
    axes.set_xlim(min(p["seconds"] for p in points) / 8, max(p["seconds"] for p in points) * 12)
    _name_points(axes, points)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("training seconds, one thread (log scale)")
    axes.set_ylabel("test accuracy, %")
    rows = results["data"]["set"]
    axes.set_title(f"{rows['train_rows']:,} CIFAR-10 images as {rows['columns']:,} visual words, ten classes")
    axes.grid(alpha=0.3, which="both", linewidth=0.5)
    axes.legend(loc="lower left", fontsize=9)
    figure.savefig(stem.with_suffix(".png"), dpi=150)
    plt.close(figure)


def _points(sections: Row) -> list[Row]:
    points = []
    for row in sections.get("peers", {}).get("rows", []):
        family = "χ² map + LIBLINEAR" if "map" in row["stages"] else "LIBLINEAR"
        label = row["engine"].replace("χ² feature map", "χ² map")
        points.append(_point(row, family, f"{label}\nC = {row['C']:g}", "right"))
    for row in sections.get("peers", {}).get("exact", []):
        if row["best_C"]:
            label = f"exact χ² kernel, SVC\n{row['rows']:,} rows"
            points.append(_point(row, "exact χ² kernel, 10,000 rows only", label, "right"))
    for row in sections.get("ours", {}).get("rows", []):
        if "error" not in row:
            family = "Widemargin, Nyström" if row["approximation"] == "nystroem" else "Widemargin, polynomial"
            points.append(_point(row, family, row["kernel"], "left"))
    return points


def _point(row: Row, family: str, label: str, side: str) -> Row:
    seconds, accuracy = row["fit_seconds"], 100 * row["accuracy"]
    return {"family": family, "label": label, "side": side, "seconds": seconds, "accuracy": accuracy}


def _name_points(axes: Any, points: list[Row]) -> None:
    """Names in a column on each side of the points, spread so that none covers another, a thin line to each."""
    low, high = (min(p["accuracy"] for p in points), max(p["accuracy"] for p in points))
    span = max(high - low, 1.0)
    axes.set_ylim(low - 0.25 * span, high + 0.25 * span)
    for side in ("left", "right"):
        mine = sorted((p for p in points if p["side"] == side), key=lambda p: p["accuracy"])
        if not mine:
            continue
        heights = _spread([p["accuracy"] for p in mine], span * (0.05 if side == "left" else 0.1))
        edge = min(p["seconds"] for p in mine) / 1.6 if side == "left" else max(p["seconds"] for p in mine) * 1.35
        for point, height in zip(mine, heights, strict=True):
            color = STYLES[point["family"]][0]
            # From the middle of the name's end that faces the point.
            line = {"arrowstyle": "-", "linewidth": 0.6, "color": color, "alpha": 0.6}
            line["relpos"] = (1, 0.5) if side == "left" else (0, 0.5)
            axes.annotate(
                point["label"],
                (point["seconds"], point["accuracy"]),
                xytext=(edge, height),
                ha="right" if side == "left" else "left",
                va="center",
                fontsize=8,
                color=color,
                arrowprops=line,
            )


def _spread(heights: list[float], gap: float) -> list[float]:
    """The sorted heights moved as little as need be to lie `gap` apart: runs that touch are centered on their mean."""
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _bottom(groups[-1], gap) < _bottom(groups[-2], gap) + gap * len(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    return [_bottom(group, gap) + gap * i for group in groups for i in range(len(group))]


def _bottom(group: list[float], gap: float) -> float:
    return sum(group) / len(group) - gap * (len(group) - 1) / 2
