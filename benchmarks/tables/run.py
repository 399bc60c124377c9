"""Tables of 2,000 to 50,000 rows: our defaults compared with peers that search for their parameters.

    python run.py --data DATA                               # all rows: hours
    python run.py --data DATA --tasks "letter;a9a" --engines "AutoSVC();LightGBM"

A row per table and engine goes to results/tables.json as soon as it is measured; one that is there is kept unless
`--again`. Each runs in a process of its own, on one thread, and is ended after `--limit` CPU seconds; a search of
parameters ends after `--tune-seconds` of them. `python draw.py` writes the table and the picture.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "tables.json"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
PACKAGES = ("widemargin", "scikit-learn", "lightgbm", "catboost", "pytabkit", "xrfm", "torch", "numpy")


def main() -> None:
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from engines import ENGINES
    from tasks import TASKS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", type=lambda text: text.split(";"), default=list(TASKS), help="separated by ;")
    parser.add_argument("--engines", type=lambda text: text.split(";"), default=list(ENGINES), help="separated by ;")
    parser.add_argument("--limit", type=int, default=900)
    parser.add_argument("--tune-seconds", type=float, default=200)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--one", action="store_true", help="the one task by the one engine, in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options)))
        return
    for task in options.tasks:
        for engine in options.engines:
            known = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
            if engine in known.get(task, {}) and not options.again:
                continue
            row = {**watched(task, engine, options), "date": datetime.now(UTC).strftime("%Y-%m-%d")}
            print(task, engine, row, flush=True)
            known = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
            known.setdefault(task, {})[engine] = row
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")


def watched(task: str, engine: str, options: argparse.Namespace) -> dict[str, Any]:
    """The row of a process of its own, or why there is none."""
    command = [sys.executable, __file__, "--one", "--data", str(options.data), "--tasks", task, "--engines", engine]
    command += ["--tune-seconds", str(options.tune_seconds)]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit))

    child = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, check=False)
    if child.returncode == 0:
        return json.loads(child.stdout.strip().splitlines()[-1])
    last = (child.stderr.strip().splitlines() or [""])[-1]
    over = child.returncode in (-9, -24)
    return {"failed": f"more than {options.limit} CPU seconds" if over else last[:200]}


def measured(options: argparse.Namespace) -> dict[str, Any]:
    import warnings

    import numpy as np
    from sklearn.metrics import log_loss

    from engines import ENGINES
    from tasks import TASKS

    warnings.simplefilter("ignore")
    [task], [engine] = options.tasks, options.engines
    X, y, X_test, truth = TASKS[task](options.data)
    started = time.process_time()
    model = ENGINES[engine](X, y, options.tune_seconds)
    fitted = time.process_time()
    found = np.asarray(model.predict(X_test)).ravel()
    row = {
        "rows": len(y),
        "columns": X.shape[1],
        "classes": int(max(y.max(), truth.max())) + 1,
        "accuracy": 100 * float(np.mean(found == truth)),
        "seconds": fitted - started,
        "prediction_microseconds": 1e6 * (time.process_time() - fitted) / len(truth),
    }
    if hasattr(model, "predict_proba"):
        row["log_loss"] = float(log_loss(truth, model.predict_proba(X_test), labels=np.arange(row["classes"])))
    for name in ("estimated_score_", "tried_", "method_", "similarity_"):
        value = getattr(model, name, None)
        if value is not None:
            row[name.rstrip("_")] = value if isinstance(value, (int, float, str)) else str(value)
    return {**row, "versions": versions()}


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    main()
