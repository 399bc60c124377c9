"""Time and memory as samples grow: made data of 1,000 to 1,000,000 rows of 20 columns, every engine for vectors.

    python growth.py --data DATA --cache CACHE [--engines widemargin-rbf,scikit-svc] [--sizes 1000,10000]

Parameters are chosen at the first size, by the grid that the tasks have, and kept. An engine grows until it passes 10
minutes or 16 GiB, or until its last two sizes say that the next would take more than 10 minutes: such a row says so and
is not measured. Results go to results/growth.json; `python tables.py` draws them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from typing import Any

import run
from costs import cost
from one import engines

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
# Seconds of a fit from which its growth is estimated.
SAYS_SOMETHING = 3.0
# What a row that was not measured has of the one before.
KEPT = ("engine", "chosen", "threads", "version", "date", "load_average", "machine")


def main() -> int:
    options = arguments()
    known = {name: one for name, one in engines().items() if one["view"] in ("vectors", "any")}
    path = options.out / "growth.json"
    rows = run.read(path)
    for name in options.engines or known:
        chosen: str | None = None
        measured: list[dict[str, Any]] = []
        for size in options.sizes:
            task = f"made:{size}"
            there = [row for row in rows if (row["task"], row["engine"]) == (task, name)]
            if there and not options.again:
                row = there[0]
            elif foreseen := too_long(measured, size, options.seconds):
                row = {key: measured[-1][key] for key in KEPT} | {"task": task, "failed": foreseen}
                rows = run.replaced(rows, row)
                run.write(path, rows)
                run.say(f"{known[name]['name']}, {size:,} rows: {foreseen}")
            else:
                run.say(f"{known[name]['name']}, {size:,} rows")
                options.extra = [] if chosen is None else ["--chosen", chosen]
                row = run.measured(name, task, known[name], options)
                rows = run.replaced(rows, row)
                run.write(path, rows)
                run.say(f"  {run.summary(row)}")
            if "failed" in row:
                break
            chosen = json.dumps(row["chosen"])
            measured.append(row)
    return 0


def too_long(measured: list[dict[str, Any]], size: int, limit: float) -> str | None:
    """What a fit and its prediction at this size would take: for each, a line through the logarithms of the last two.

    Below a few seconds they say more of what comes before the work than of the work.
    """
    if len(measured) < 2:
        return None
    fewer, more = measured[-2:]
    steps = math.log(size / more["n_train"]) / math.log(more["n_train"] / fewer["n_train"])

    def ahead(seconds: Callable[[dict[str, Any]], float]) -> float:
        return seconds(more) * (seconds(more) / seconds(fewer)) ** steps

    parts = (cost, lambda row: row.get("predict_cpu_seconds", row["predict_seconds"]))
    total = sum(ahead(part) for part in parts)
    if sum(part(more) for part in parts) < SAYS_SOMETHING or total <= limit:
        return None
    return f"some {total:,.0f} s by its growth"


def arguments() -> argparse.Namespace:
    parser = run.parser(__doc__ or "")
    parser.add_argument("--sizes", type=lambda text: [int(one) for one in text.split(",")], default=list(SIZES))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
