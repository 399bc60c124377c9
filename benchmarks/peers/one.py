"""One engine on one task, in a process of its own: chooses its parameters, trains, predicts, tells as JSON.

    python one.py --engine scikit-svc --task letter --data DATA --cache CACHE [--threads 1] [--tune-rows 3000]

`run.py` and `growth.py` call it, watch its time and memory, and keep what it prints.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pickle
import sys
import time
import tomllib
import warnings
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "power_mean"))

from timing import forget_peak, resident

HERE = Path(__file__).resolve().parent
FOLDS = 3


def engines() -> dict[str, dict[str, Any]]:
    with (HERE / "engines.toml").open("rb") as file:
        return tomllib.load(file)


def main() -> int:
    options = arguments()
    # Before NumPy and OpenMP are loaded, which read them once.
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
    ):
        os.environ[name] = str(options.threads)
    import tasks

    engine = engines()[options.engine]
    task = tasks.load(options.task, tasks.Places(options.data, options.cache))
    view = next(iter(task.train)) if engine["view"] == "any" else engine["view"]
    train, test = task.train[view], task.test[view]
    if engine["view"] == "any" and view == "series":
        # With an axis of channels they are series; rows of a matrix would be vectors.
        train, test = train[:, :, None], test[:, :, None]
    fixed = {**engine.get("parameters", {}), **({engine["threads"]: options.threads} if "threads" in engine else {})}
    warnings.simplefilter("ignore")
    chosen, tuning = choose(engine, fixed, train, task.y_train, options)
    tell(options.partial, {"chosen": chosen, "tune_seconds": tuning["seconds"], "tuned": tuning["scores"]})

    machine = make(engine, {**fixed, **chosen})
    before = resident("VmRSS")
    forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    machine.fit(train, task.y_train)
    fit_seconds, fit_cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resident("VmHWM") - before
    wall, cpu = time.perf_counter(), time.process_time()
    predicted = machine.predict(test)
    predict_seconds, predict_cpu = time.perf_counter() - wall, time.process_time() - cpu
    right = float((predicted == task.y_test).mean())
    results = {
        **installed(engine["package"]),
        "chosen": chosen,
        "tune_seconds": tuning["seconds"],
        "tuned": tuning["scores"],
        "accuracy": right,
        "fit_seconds": fit_seconds,
        "fit_cpu_seconds": fit_cpu,
        "predict_seconds": predict_seconds,
        "predict_cpu_seconds": predict_cpu,
        "peak_bytes": peak,
        "model_bytes": model_bytes(machine),
        "n_train": len(task.y_train),
        "n_test": len(task.y_test),
        # What a program outside Python measured itself.
        **getattr(machine, "measured_", {}),
    }
    results["predict_seconds_a_row"] = results["predict_seconds"] / len(task.y_test)
    print(json.dumps(results))
    return 0


def choose(
    engine: dict[str, Any], fixed: dict[str, Any], train: Any, labels: Any, options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The point of the grid with the best accuracy in three folds of at most `--tune-rows` training samples.

    Ends early after `--tune-seconds` of CPU, with the best so far.
    """
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    grid = engine.get("grid", {})
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if options.chosen is not None:
        return json.loads(options.chosen), {"seconds": 0.0, "scores": []}
    if len(points) <= 1:
        return (points[0] if points else {}), {"seconds": 0.0, "scores": []}
    random = np.random.default_rng(0)
    kept = np.sort(random.permutation(len(labels))[: options.tune_rows])
    # A class of fewer samples than folds cannot be in all of them; the folds say so in a warning and go on.
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(kept, labels[kept]))
    started, scores = cpu_seconds(), []
    for point in points:
        if scores and cpu_seconds() - started > options.tune_seconds:
            break
        rights = []
        for inner, outer in folds:
            machine = make(engine, {**fixed, **point})
            machine.fit(rows(train, kept[inner]), labels[kept[inner]])
            rights.append(float((machine.predict(rows(train, kept[outer])) == labels[kept[outer]]).mean()))
        scores.append([point, sum(rights) / FOLDS])
    best = max(scores, key=lambda one: one[1])[0]
    return best, {"seconds": cpu_seconds() - started, "scores": scores}


def cpu_seconds() -> float:
    """Of this process and the programs it ran."""
    return sum(os.times()[:4])


def installed(package: str) -> dict[str, str]:
    """The version in this process's environment, which may not be the caller's."""
    try:
        return {"version": version(package)}
    except PackageNotFoundError:
        # A package that is only in the path.
        found = getattr(sys.modules.get(package), "__version__", None)
        return {} if found is None else {"version": found}


def rows(samples: Any, index: Any) -> Any:
    return samples[index] if hasattr(samples, "shape") else [samples[i] for i in index]


def make(engine: dict[str, Any], parameters: dict[str, Any]) -> Any:
    module, name = engine["make"].split(":")
    return getattr(importlib.import_module(module), name)(**parameters)


def model_bytes(machine: Any) -> int | None:
    if hasattr(machine, "size"):
        return machine.size()
    try:
        return len(pickle.dumps(machine))
    except Exception:  # some peers cannot be pickled: there is no figure then
        return None


def tell(path: Path | None, what: dict[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps(what))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, choices=sorted(engines()))
    parser.add_argument("--task", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tune-rows", type=int, default=3000)
    parser.add_argument("--tune-seconds", type=float, default=300)
    parser.add_argument("--chosen", help="parameters as JSON, instead of choosing them")
    parser.add_argument("--partial", type=Path, help="a file for what was chosen, in case the fit is stopped")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
