"""Every engine on every task it can do: accuracy, seconds, memory, size of the model.

    python run.py --data DATA --cache CACHE                       # all rows: hours
    python run.py --data DATA --cache CACHE --tasks letter,a9a --engines widemargin-rbf,scikit-svc
    python run.py --list

Results go to results/tasks.json, a row an engine and task, each with its date, versions and machine; a row that is
there is kept unless `--again`. Then `python tables.py` makes the tables and pictures.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "power_mean"))

import timing
import watched
from costs import cost, whole_cost
from one import engines

HERE = Path(__file__).resolve().parent

# The views of each task: `tasks.py` is not loaded to know them, since that needs the packages of all engines' data.
VIEWS = {
    "cifar10-hog": ("images", "vectors"),
    **dict.fromkeys(("mnist", "letter", "shuttle", "ijcnn1", "a9a"), ("vectors",)),
    **dict.fromkeys(("cifar10-words", "scene15-words", "newsgroups"), ("histograms",)),
    **dict.fromkeys(("ECG5000", "TwoPatterns", "Wafer", "ElectricDevices", "Crop"), ("series",)),
    "surnames": ("strings",),
    "molecules": ("strings", "bits"),
}


def main() -> int:
    options = arguments()
    known = engines()
    for what, given, there in (("engine", options.engines, known), ("task", options.tasks, VIEWS)):
        if unknown := [name for name in given or () if name not in there]:
            say(f"error: no {what} {', '.join(unknown)}; there are {', '.join(there)}")
            return 2
    wanted = {
        (task, engine)
        for task in options.tasks or VIEWS
        for engine in options.engines or known
        if known[engine]["view"] in ("any", *VIEWS[task])
    }
    if options.list:
        for task in VIEWS:
            print(f"{task}: {', '.join(engine for engine in known if (task, engine) in wanted)}")
        return 0
    results = options.out / "tasks.json"
    rows = read(results)
    for task in VIEWS:
        for engine in known:
            there = any((row["task"], row["engine"]) == (task, engine) for row in rows)
            if (task, engine) not in wanted or (there and not options.again):
                continue
            say(f"{task}: {known[engine]['name']}")
            row = repeated(engine, task, known[engine], options)
            # Another run may write the rows of other tasks at the same time.
            rows = replaced(read(results), row)
            write(results, rows)
            say(f"  {summary(row)}")
    return 0


def repeated(engine: str, task: str, known: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """The run of median cost among `--repeats` runs, with the cost of each; a long run is not repeated."""
    runs = [measured(engine, task, known, options)]
    while len(runs) < options.repeats and "failed" not in runs[0] and whole_cost(runs[0]) <= options.repeat_seconds:
        runs.append(measured(engine, task, known, options))
    done = sorted((run for run in runs if "failed" not in run), key=whole_cost) or runs[:1]
    row = done[len(done) // 2]
    return row if "failed" in row else {**row, "costs": [[whole_cost(run), cost(run)] for run in done]}


def measured(engine: str, task: str, known: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    limits = watched.Limits(options.seconds, options.gib, options.tune_seconds)
    passed = [
        "--data",
        str(options.data),
        "--cache",
        str(options.cache),
        "--threads",
        str(options.threads),
        *options.extra,
    ]
    load = timing.load_average()
    python = dict(options.environment).get(known.get("environment"), sys.executable)
    row = watched.run(engine, task, passed, limits, python)
    return {
        "task": task,
        "engine": engine,
        **row,
        "threads": options.threads,
        "version": row.get("version") or package_version(known["package"]),
        "date": timing.now(),
        "load_average": [load, timing.load_average()],
        "machine": timing.machine(),
    }


def package_version(package: str) -> str:
    """Of a Python package, or of the crates that `rust/Cargo.lock` names."""
    if package == "rust":
        blocks = (HERE / "rust" / "Cargo.lock").read_text().split("[[package]]")
        named = [dict(line.split(" = ", 1) for line in block.strip().splitlines() if " = " in line) for block in blocks]
        found = {one["name"].strip('"'): one["version"].strip('"') for one in named if "name" in one}
        return f"linfa-svm {found.get('linfa-svm')}, smartcore {found.get('smartcore')}"
    try:
        return version(package)
    except PackageNotFoundError:
        # A package that is only in the path.
        found = find_spec(package)
        return getattr(import_module(package), "__version__", "?") if found else "not installed"


def summary(row: dict[str, Any]) -> str:
    if "failed" in row:
        return f"failed: {row['failed']}"
    return (
        f"{100 * row['accuracy']:.2f} %, fit {row['fit_seconds']:.2f} s, "
        f"predict {1e6 * row['predict_seconds_a_row']:.1f} µs, {row['peak_bytes'] / 2**20:.0f} MiB, "
        f"tuned in {row['tune_seconds']:.0f} s: {row['chosen']}"
    )


def read(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["rows"] if path.is_file() else []


def replaced(rows: list[dict[str, Any]], row: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows with this one in place of an earlier one of its task and engine."""
    return [one for one in rows if (one["task"], one["engine"]) != (row["task"], row["engine"])] + [row]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Whole or not at all: a run of hours must not be lost to a full disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    os.replace(partial, path)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    summary = parser(__doc__ or "")
    summary.add_argument("--tasks", type=names, help="with commas between")
    summary.add_argument("--list", action="store_true", help="say what would be run")
    summary.add_argument("--repeats", type=int, default=3, help="runs of each row")
    summary.add_argument("--repeat-seconds", type=float, default=30, help="CPU seconds from which a row is run once")
    return summary.parse_args()


def names(text: str) -> list[str]:
    return text.split(",")


def parser(description: str) -> argparse.ArgumentParser:
    """The options that `growth.py` has too."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "data")
    parser.add_argument("--cache", type=Path, default=HERE.parents[1] / "data" / "cache")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--engines", type=names, help="with commas between")
    parser.add_argument(
        "--environment",
        action="append",
        default=[],
        type=lambda text: text.split("=", 1),
        metavar="NAME=PYTHON",
        help="the Python of an environment that engines.toml names",
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="limit of a fit with its prediction")
    parser.add_argument("--gib", type=float, default=16, help="limit of memory")
    parser.add_argument("--tune-seconds", type=float, default=300, help="no point of a grid is begun after these")
    parser.add_argument("--again", action="store_true", help="measure what has a row already")
    parser.set_defaults(extra=[])
    return parser


if __name__ == "__main__":
    sys.exit(main())
