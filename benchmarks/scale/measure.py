"""What a fit on several machines costs, measured on this one, and what it would cost where there are more.

    python measure.py [--task vectors|series] [--rows N] [--bases N] [--classes 10] [--length 60]
                      [--quick]

1. The work of each question of the solver on a block of rows, in one process and on one thread: seconds a row.
2. What a task costs the scheduler: seconds a task in trees of tasks that do nothing.
3. Whole fits on 1 and 2 worker processes of one thread: how often each question is asked, how long a fit takes, and
   the efficiency of the second worker.
4. From 1, 2 and the counts of 3: what 10^7 and 10^9 rows would take on 16 and 256 workers, part by part.

Writes results/DATE_MACHINE.json and .md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "power_mean"))

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster

import timing
from widemargin import BasisExpansion, _core
from widemargin.dask import BasisExpansionSVC, _rows

HERE = Path(__file__).resolve().parent
COLUMNS = 20
# Vectors by a similarity that is cheap, so that a fit is a matter of memory, and series by one that is dear, so that it
# is a matter of arithmetic.
TASKS = {
    "vectors": ("rbf:gamma=0.05", "numbers", 400_000, 1000),
    "series": ("dtw:window=0.1,gamma=auto", "points", 500_000, 500),
}
BLOCK = 5_000
# Tasks of a round in which the scheduler is what takes time.
MANY = 200
# Bytes a second between machines of a cluster: ten gigabits.
NETWORK = 1.25e9
# What a fit of 10^7 or 10^9 rows would be made on.
PLANS = [(10**7, 16), (10**7, 256), (10**9, 16), (10**9, 256)]


def main() -> int:
    options = arguments()
    load = timing.load_average()
    work = seconds_a_row(options)
    fits = [one_fit(workers, options) for workers in (1, 2)]
    results = {
        "date": timing.now(),
        "machine": timing.machine(),
        "load_average": [load, timing.load_average()],
        "task": options.task,
        "width": options.width,
        "similarity": TASKS[options.task][0],
        "rows": options.rows,
        "bases": options.bases,
        "classes": options.classes,
        "seconds_a_row": work,
        "fits": fits,
        "speedup": fits[0]["seconds"] / fits[1]["seconds"],
        "plans": [plan(rows, workers, work, fits[1], options) for rows, workers in PLANS],
    }
    out = options.out / ("quick" if options.quick else "")
    out.mkdir(parents=True, exist_ok=True)
    stem = out / f"{timing.today()}_scale_{options.rows}-{options.task}-{options.width}"
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text(page(results))
    print(page(results))
    return 0


def made(task: str, width: int, seed: int, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    return (series if task == "series" else vectors)(width, seed, rows, classes)


def vectors(width: int, seed: int, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes with curved borders: which of some waves is the highest."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((rows, width), dtype=np.float32)
    waves = np.random.default_rng(0).standard_normal((width, classes))
    return points, np.argmax(np.sin(points @ waves) + 0.5 * points @ waves[:, ::-1], axis=1)


def series(width: int, seed: int, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """A curve a class, played at changing speeds, with noise."""
    random = np.random.default_rng(seed)
    curves = np.random.default_rng(0).standard_normal((classes, width)).cumsum(axis=1)
    y = random.integers(classes, size=rows)
    speeds = np.exp(0.3 * random.standard_normal((rows, width)))
    places = np.cumsum(speeds, axis=1)
    places = (width - 1) * (places - places[:, :1]) / (places[:, -1:] - places[:, :1])
    steps = np.arange(width)
    points = np.stack([np.interp(place, steps, curves[k]) for place, k in zip(places, y, strict=True)])
    return (points + 0.7 * random.standard_normal(points.shape)).astype(np.float32), y


class Timed:
    """A part of the rows, asked in this process; the least CPU seconds of each question."""

    def __init__(self, part: Any) -> None:
        self.part, self.state = part, None
        self.seconds: dict[str, float] = {}

    def ask(self, name: str, query: bytes, changes_state: bool, has_answer: bool) -> bytes:
        started = time.process_time()
        answer, state = self.part.answer(query, self.state, changes_state)
        seconds = time.process_time() - started
        self.seconds[name] = min(seconds, self.seconds.get(name, seconds))
        if changes_state:
            self.state = state
        return _core.merge(query, [answer]) if has_answer else b""


def seconds_a_row(options: argparse.Namespace) -> dict[str, float]:
    """Of the expansion and of each question of a fit, on one thread; other work may run meanwhile."""
    samples, y = made(options.task, options.width, 0, BLOCK, options.classes)
    raw = BasisExpansion(TASKS[options.task][0], n_basis=options.bases, normalization="none", n_jobs=1, random_state=0)
    raw.fit(samples, y)
    started = time.process_time()
    values = raw.transform(samples)
    work = {"similarity": time.process_time() - started}
    codes = y.astype(np.uint32)
    labels = _core.WeightedLabels((list(range(options.classes)), codes, None), None, 1.0)
    rows = Timed(_core.Part.features(0, values, np.ones(BLOCK)))
    expansion = _core.normalized(raw._model, "mean-norm", rows, labels)
    work |= rows.seconds
    rows = Timed(rows.part.linear(expansion, codes, options.classes, 1.0, "squared-hinge", "free"))
    common = {"tol": 1e-3, "max_iter": 100, "seed": 0, "threads": 1}
    common |= dict.fromkeys(("class_weight", "time_limit", "monitor", "features"))
    fit = {"basis": "index", "basis_rows": [], "stages": [], "common": common}
    _core.fit_expansion_remote(expansion, rows, (labels, 1.0, None), **fit)
    work |= rows.seconds
    return {name: seconds / BLOCK for name, seconds in work.items()}


def one_fit(workers: int, options: argparse.Namespace) -> dict[str, Any]:
    parts = max(options.rows // BLOCK, 2)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        halves = [
            delayed(made, nout=2)(options.task, options.width, seed, BLOCK, options.classes) for seed in range(parts)
        ]
        shape = (BLOCK, options.width)
        samples = da.concatenate([da.from_delayed(one[0], shape, np.float32) for one in halves]).persist()
        y = da.concatenate([da.from_delayed(one[1], (BLOCK,), np.int64) for one in halves]).persist()
        y.compute()
        scheduler = scheduler_seconds(client)
        started = time.perf_counter()
        svc = BasisExpansionSVC(
            TASKS[options.task][0], n_basis=options.bases, random_state=0, n_jobs=1, normalization="mean_norm", C=1.0
        ).fit(samples, y)
        seconds = time.perf_counter() - started
    report = svc.dask_report_
    rounds = sum(report["queries"].values())
    return {
        "workers": workers,
        "rows": parts * BLOCK,
        "seconds": seconds,
        "stages": {one["name"]: one["seconds"] for one in svc.report_["stages"]},
        "newton_steps": svc.n_iter_,
        "scheduler": scheduler,
        "scheduler_share": (scheduler["a_task"] * report["tasks"] + scheduler["a_round"] * rounds) / seconds,
        **report,
    }


def scheduler_seconds(client: Client) -> dict[str, float]:
    """Of rounds as the solver's, but of numbers that are no work: what a round takes however few its tasks, and what
    each task adds, from rounds of 1 task and of many."""
    few, many = (_seconds_a_round(client, n_tasks) for n_tasks in (1, MANY))
    a_task = (many[1] - few[1]) / (many[0] - few[0])
    return {"a_task": a_task, "a_round": max(few[1] - a_task * few[0], 0.0)}


def _seconds_a_round(client: Client, n_tasks: int, rounds: int = 20) -> tuple[float, float]:
    """How many tasks a round really has, those of its sum counted, and its seconds."""
    fan_in, n_sums, started = _rows.FAN_IN, 0, time.perf_counter()
    for _ in range(rounds):
        parts = [client.submit(_nothing, pure=False) for _ in range(n_tasks)]
        while len(parts) > fan_in:
            groups = [parts[at : at + fan_in] for at in range(0, len(parts), fan_in)]
            parts = [client.submit(sum, group, pure=False) for group in groups]
            n_sums += len(parts)
        client.gather(parts)
    return n_tasks + n_sums / rounds, (time.perf_counter() - started) / rounds


def _nothing() -> float:
    return 0.0


def plan(
    rows: int, workers: int, work: dict[str, float], fit: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any]:
    """Seconds of each part on workers of this machine's kind, the questions being as many as in the fit measured."""
    problems = options.classes if options.classes > 2 else 1
    point, gram = 8 * problems * (options.bases + 1), 4 * options.bases**2
    depth = int(np.ceil(np.log(workers) / np.log(_rows.FAN_IN)))
    tasks = workers + workers / (_rows.FAN_IN - 1) + 2
    rounds = sum(fit["queries"].values())
    big = fit["queries"].get("gram", 0)
    parts = {
        "similarities": 2 * work["similarity"] * rows / workers,
        "sums over rows": sum(work.get(name, 0.0) * count for name, count in fit["queries"].items()) * rows / workers,
        "scheduler": (fit["scheduler"]["a_round"] + fit["scheduler"]["a_task"] * tasks) * rounds,
        # A point goes to every worker and a sum comes back, level by level of the tree.
        "network": ((rounds - big) * point + big * gram) * 2 * max(depth, 1) / NETWORK,
        "labels to one machine": 4 * rows / NETWORK,
        # A Cholesky factor a Gram matrix, at 50 Gflop/s.
        "factor": big * options.bases**3 / 3 / 50e9,
    }
    return {
        "rows": rows,
        "workers": workers,
        "seconds": sum(parts.values()),
        "parts": parts,
        "gib_a_worker": 4 * options.bases * rows / workers / 2**30,
        "gib_of_labels": 20 * rows / 2**30,
    }


def page(results: dict[str, Any]) -> str:
    machine = results["machine"]
    width = results["width"]
    lines = [
        "# What several machines cost\n",
        f"{results['date']}; {machine['cpu']}, {machine['cores']} cores; load average "
        f"{results['load_average'][0]:.1f} to {results['load_average'][1]:.1f}. {results['fits'][0]['rows']:,} made "
        f"{results['task']} of {width} {TASKS[results['task']][1]}, {results['bases']} bases, {results['classes']} "
        f"classes, similarity {results['similarity']}.\n",
        "## Work on one thread\n",
        "| | µs a row |\n|---|---:|",
        *[f"| {name} | {1e6 * value:.3f} |" for name, value in results["seconds_a_row"].items()],
        "\n## Fits\n",
        "| workers | seconds | Newton steps | tasks | ms a task | ms a round | scheduler's share | questions |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---|",
        *[
            f"| {fit['workers']} | {fit['seconds']:.1f} | {fit['newton_steps']} | {fit['tasks']} | "
            f"{1e3 * fit['scheduler']['a_task']:.2f} | {1e3 * fit['scheduler']['a_round']:.1f} | "
            f"{100 * fit['scheduler_share']:.1f} % | "
            + ", ".join(f"{count} {name}" for name, count in sorted(fit["queries"].items()))
            + " |"
            for fit in results["fits"]
        ],
        f"\nTwo workers are {results['speedup']:.2f} times as fast as one.\n",
        "## Plans\n",
        "| rows | workers | minutes | GiB a worker | "
        + " | ".join(f"{name}, s" for name in results["plans"][0]["parts"])
        + " |\n|---:|---:|---:|---:|"
        + "---:|" * len(results["plans"][0]["parts"]),
        *[
            f"| {one['rows']:,} | {one['workers']} | {one['seconds'] / 60:.1f} | {one['gib_a_worker']:.1f} | "
            + " | ".join(f"{value:.1f}" for value in one["parts"].values())
            + " |"
            for one in results["plans"]
        ],
    ]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=sorted(TASKS), default="vectors")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--bases", type=int)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--length", type=int, default=60, help="points of a series")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and bases")
    options = parser.parse_args()
    _, _, rows, bases = TASKS[options.task]
    options.rows, options.bases = options.rows or rows, options.bases or bases
    options.width = options.length if options.task == "series" else COLUMNS
    if options.quick:
        options.rows, options.bases = options.rows // 10, options.bases // 10
    return options


if __name__ == "__main__":
    raise SystemExit(main())
