"""Power mean out of core: dual coordinate descent on blocks, or Newton's method as on a cluster?

    python descent_or_newton.py --command widemargin [--rows 20000 40000] [--folder DIR]

Both can train on rows that memory does not hold: descent on blocks (`widemargin train --memory-limit`), and Newton's
method on the explicit map (`widemargin.dask`), a sum over rows. This script gives both the same rows, one thread and
the same tolerance, and prints CPU seconds, gaps and objectives. The rows are those of `outside.py`: bags of 5,000
words of ten classes; and dense histograms of 100 columns, where Newton's method has the fewest coordinates.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "power_mean"))

import outside
import timing
import widemargin.dask as wd

HERE = Path(__file__).resolve().parent
TOLERANCE = 0.01
C = 0.01


def main() -> int:
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for kind in ("words", "histograms"):
        for n in options.rows:
            x, y = words(n, options.folder) if kind == "words" else histograms(n)
            found = {"data": kind, "rows": x.shape[0], "columns": x.shape[1], "nonzeros": x.nnz / x.shape[0]}
            found["descent"] = descent(options, x, y)
            found["newton"] = newton(x, y)
            found["ratio"] = found["newton"]["cpu_seconds"] / found["descent"]["cpu_seconds"]
            rows.append(found)
            print(json.dumps(found), file=sys.stderr)
    results = {"machine": timing.machine(), "date": timing.now(), "tol": TOLERANCE, "C": C, "fits": rows}
    out = HERE / "results" / f"{results['date'][:10]}_descent_or_newton"
    out.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    out.with_suffix(".md").write_text(page(results))
    print(page(results))
    return 0


def words(n: int, folder: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """The first n rows of `outside.py`'s counts."""
    path = folder / "words.svm"
    outside.make("power-mean", path, 2**26)
    x, y = load_svmlight_file(str(path), n_features=5000)
    return sparse.csr_array(x[:n]), y[:n].astype(int)


def histograms(n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Counts of 400 draws over 100 bins, ten classes that overlap."""
    random = np.random.default_rng(0)
    centers = random.dirichlet(np.full(100, 0.5), 10)
    y = random.integers(10, size=n)
    mixed = 0.3 * centers[y] + 0.7 * random.dirichlet(np.full(100, 0.3), n)
    return sparse.csr_array(random.multinomial(400, mixed).astype(float)), y


def descent(options: argparse.Namespace, x: sparse.csr_array, y: np.ndarray) -> dict[str, Any]:
    """Blocks of a file, in a process of its own, in a memory that holds a part of them."""
    path = options.folder / "rows.svm"
    dump_svmlight_file(x, y, str(path), zero_based=False)
    command = [options.command, "train", str(path), "-o", str(options.folder / "model"), "--json"]
    command += [
        "--method",
        f"power-mean:nodes=3,tol={TOLERANCE}",
        "--kernel=-1",
        "-C",
        str(C),
        "--threads",
        "1",
        "--memory-limit",
        options.memory,
    ]
    started = time.perf_counter()
    child = subprocess.Popen(command, env=os.environ | {"TMPDIR": str(options.folder)}, stdout=subprocess.PIPE)
    results = child.stdout.read() if child.stdout else b""
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with status {status}")
    report = json.loads(results)["report"]
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime, **facts(report)}


def newton(x: sparse.csr_array, y: np.ndarray) -> dict[str, Any]:
    """Ten partitions on one worker of one thread in this process; reading a file is not in it."""
    cuts = np.linspace(0, x.shape[0], 11).astype(int)
    parts = [
        da.from_delayed(dask.delayed(x[a:b]), (b - a, x.shape[1]), x.dtype, meta=sparse.csr_array((0, 0)))
        for a, b in itertools.pairwise(cuts)
    ]
    labels = da.from_array(y, chunks=(tuple(np.diff(cuts)),))
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        started, cpu = time.perf_counter(), time.process_time()
        model = wd.PowerMeanSVC(kernel=-1.0, nodes=3, C=C, tol=TOLERANCE, n_jobs=1).fit(da.concatenate(parts), labels)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {"seconds": seconds, "cpu_seconds": cpu, **facts(model.report_)}


def facts(report: dict[str, Any]) -> dict[str, Any]:
    return {"gap": max(report["gaps"]), "objective": report["objective"], "iterations": max(report["iterations"])}


def page(results: dict[str, Any]) -> str:
    machine = results["machine"]
    lines = [
        "# Power mean out of core: descent on blocks or Newton's method",
        "",
        f"{machine['cpu']} (family/model {machine['cpu_family_model']}), {machine['cores']} cores, 1 thread; "
        f"{results['date'][:10]}. Relative gap {results['tol']}, C = {results['C']}, ten classes. Descent reads "
        "a LIBSVM file twice, which is in its CPU seconds; Newton's method has its rows in memory.",
        "",
        "| rows | columns | non-zeros a row | descent: CPU s | gap | Newton: CPU s | gap | Newton / descent |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in results["fits"]:
        a, b = one["descent"], one["newton"]
        lines.append(
            f"| {one['rows']:,} | {one['columns']:,} | {one['nonzeros']:.0f} | {a['cpu_seconds']:.1f} | {a['gap']:.1e} "
            f"| {b['cpu_seconds']:.1f} | {b['gap']:.1e} | {one['ratio']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="widemargin", help="the program")
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 60_000])
    parser.add_argument("--memory", default="64MiB", help="of descent")
    parser.add_argument("--folder", type=Path, default=Path("scratch"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
