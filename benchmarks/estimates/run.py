"""Three hundred random problems a method: whether each is fitted, how far the estimate of its accuracy is from that of
new samples, the estimates on pure noise, and whether the order of rows, or copies in place of weights, change the
model.

    python benchmarks/estimates/run.py --problems 300 --largest 5000 --output benchmarks/estimates/results/DATE.json
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import widemargin as wm

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/tests"))

from problems import KINDS, changes, fitted, outcome, problem

METHODS = {
    "basis expansion": lambda: wm.BasisExpansionSVC(n_jobs=1, random_state=0),
    "thin plate": lambda: wm.ThinPlateSVC(n_jobs=1),
    "power mean": lambda: wm.PowerMeanSVC(n_jobs=1, random_state=0),
}


def run(method: str, n_problems: int, largest: int, first: int, invariances_up_to: int) -> dict[str, Any]:
    """What was found of one method."""
    make, rows = METHODS[method], []
    for seed in range(first, first + n_problems):
        one = problem(seed, largest, is_positive=method == "power mean")
        row: dict[str, Any] = {"seed": seed, "kind": one.kind, "weights": one.weighted, "n": len(one.y)}
        started = time.process_time()
        try:
            model = fitted(make, one.X, one.y, one.weights)
            found = outcome(model, one)
            row |= {
                "estimate": round(found.estimate, 4),
                "standard_error": round(found.standard_error, 4),
                "score": round(found.score, 4),
                "chance": round(one.chance, 4),
                "is_within": bool(found.is_within(3)),
            }
            if len(one.y) <= invariances_up_to:
                row |= changes(make, one, model, seed)
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {error}"
        row["cpu_seconds"] = round(time.process_time() - started, 2)
        rows.append(row)
        print(method, row, flush=True)
    return {"summary": summary(rows), "rows": rows}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of a table."""
    done = [row for row in rows if "error" not in row]
    known = [row for row in done if not np.isnan(row["estimate"])]
    noise = [row for row in known if row["kind"] in KINDS[-2:]]
    bias = {
        kind: round(float(np.mean([row["estimate"] - row["score"] for row in known if row["kind"] == kind])), 4)
        for kind in KINDS
        if any(row["kind"] == kind for row in known)
    }
    figures: dict[str, Any] = {
        "problems": len(rows),
        "fitted": len(done),
        "with an estimate": len(known),
        "within three standard errors": round(float(np.mean([row["is_within"] for row in known])), 4),
        "mean of estimate - score": bias,
        "noise: mean of estimate - chance": round(float(np.mean([r["estimate"] - r["chance"] for r in noise])), 4),
    }
    for name in ("rows in another order", "rows twice"):
        values = [row[name] for row in done if name in row]
        figures[name] = {"problems": len(values), "largest change": max(values, default=None)}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--largest", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--invariances-up-to", type=int, default=500)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    found = {
        name: run(name, options.problems, options.largest, options.first, options.invariances_up_to)
        for name in options.methods
    }
    for name, one in found.items():
        print(name, json.dumps(one["summary"], indent=2))
    if options.output:
        about = {"version": wm.__version__, "machine": platform.machine(), "date": time.strftime("%Y-%m-%d")}
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps({"about": about, **found}) + "\n")


if __name__ == "__main__":
    main()
