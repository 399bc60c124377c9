"""Time and memory as samples grow: made data of 1,000 to 1,000,000 rows of 20 columns, every engine for vectors.

    python growth.py --data DATA --cache CACHE [--engines widemargin-rbf,scikit-svc] [--sizes 1000,10000]

Parameters are chosen at the first size, by the grid that the tasks have, and kept. An engine grows until it passes 10
minutes or 16 GiB. Results go to results/growth.json; `python tables.py` draws them.
"""

from __future__ import annotations

import argparse
import json
import sys

import run
from one import engines

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def main() -> int:
    asked = arguments()
    known = {name: one for name, one in engines().items() if one["view"] == "vectors"}
    path = asked.out / "growth.json"
    rows = run.read(path)
    for name in asked.engines or known:
        chosen: str | None = None
        for size in asked.sizes:
            task = f"made:{size}"
            there = [row for row in rows if (row["task"], row["engine"]) == (task, name)]
            if there and not asked.again:
                row = there[0]
            else:
                run.say(f"{known[name]['name']}, {size:,} rows")
                asked.extra = [] if chosen is None else ["--chosen", chosen]
                row = run.measured(name, task, known[name], asked)
                rows = [one for one in rows if (one["task"], one["engine"]) != (task, name)] + [row]
                run.write(path, rows)
                run.say(f"  {run.told(row)}")
            if "failed" in row:
                break
            chosen = json.dumps(row["chosen"])
    return 0


def arguments() -> argparse.Namespace:
    parser = run.parser(__doc__ or "")
    parser.add_argument("--sizes", type=lambda text: [int(one) for one in text.split(",")], default=list(SIZES))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
