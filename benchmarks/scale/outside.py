"""More data than memory: `widemargin train --memory-limit` on a large file, and the same in memory on a small one.

    python outside.py --command widemargin [--method basis-expansion] [--gib 10] [--memory 2GiB] [--folder DIR]

The data are made: rows of 784 numbers with a class in the last column (NPY) for the basis expansion, rows of counts
(LIBSVM text) for the power mean. The process has `--memory` as its limit of address space, set by the system, so that a
fit that takes more ends. The report has the time per row of both fits, their ratio, and what the fit said of itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "power_mean"))

import timing

HERE = Path(__file__).resolve().parent
COLUMNS = 784
# What the columns are mixtures of.
HIDDEN = 10
CHUNK_ROWS = 20_000
UNITS = {"GiB": 2**30, "MiB": 2**20}


def main() -> int:
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    whole = options.folder / f"{options.method}-whole{ENDING[options.method]}"
    part = options.folder / f"{options.method}-part{ENDING[options.method]}"
    target = int((0.25 if options.quick else options.gib) * 2**30)
    rows = {path: make(options.method, path, size) for path, size in ((part, options.part), (whole, target))}
    results: dict[str, Any] = {"method": options.method, "machine": timing.machine(), "date": timing.now()}
    results["memory"], results["bytes"], results["threads"] = options.memory, whole.stat().st_size, options.threads
    for name, path, limited in (("in_memory", part, False), ("outside", whole, True)):
        results[name] = train(options, path, limited)
        results[name]["seconds_a_row"] = results[name]["seconds"] / rows[path]
        results[name]["cpu_seconds_a_row"] = results[name]["cpu_seconds"] / rows[path]
        print(f"{name}: {rows[path]:,} rows, {results[name]['seconds']:.1f} s", file=sys.stderr)
    results["ratio"] = results["outside"]["seconds_a_row"] / results["in_memory"]["seconds_a_row"]
    results["cpu_ratio"] = results["outside"]["cpu_seconds_a_row"] / results["in_memory"]["cpu_seconds_a_row"]
    out = options.out / ("quick" if options.quick else ".") / f"{results['date'][:10]}_outside_{options.method}"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    out.with_suffix(".md").write_text(page(results))
    print(page(results))
    if not options.keep:
        whole.unlink()
    return 0


ENDING = {"basis-expansion": ".npy", "power-mean": ".svm"}
FLAGS = {
    "basis-expansion": ["--label", "-1", "--similarity", f"rbf:gamma={1 / COLUMNS}", "--n-basis", "1000"],
    "power-mean": ["-C", "0.01", "--kernel=-1"],
}


def train(options: argparse.Namespace, data: Path, limited: bool) -> dict[str, Any]:
    """One fit in a process of its own; with the limit, the system refuses it more address space than that."""
    method = {"power-mean": "power-mean:nodes=3"}.get(options.method, options.method)
    command = [options.command, "train", "--method", method, str(data), "-o", str(options.folder / "model"), "--json"]
    command += [*FLAGS[options.method], "--threads", str(options.threads)]
    if limited:
        command += ["--memory-limit", options.memory]

    def limit() -> None:
        if limited:
            size = bytes_of(options.memory)
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

    load, started = timing.load_average(), time.perf_counter()
    child = subprocess.Popen(
        command, preexec_fn=limit, env=os.environ | {"TMPDIR": str(options.folder)}, stdout=subprocess.PIPE
    )
    results = child.stdout.read() if child.stdout else b""
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with status {status}")
    report = json.loads(results)
    return {
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
        "load_average": [load, timing.load_average()],
        "n_samples": report["n_samples"],
        "report": report["report"],
    }


def bytes_of(text: str) -> int:
    unit = next(unit for unit in UNITS if text.endswith(unit))
    return int(float(text.removesuffix(unit)) * UNITS[unit])


def make(method: str, path: Path, size: int) -> int:
    """Writes about `size` bytes, unless they are there; the number of rows."""
    count = path.with_suffix(".rows")
    if path.is_file() and count.is_file() and abs(path.stat().st_size - size) < 0.05 * size:
        return int(count.read_text())
    print(f"making {path} of {size / 2**30:.2f} GiB", file=sys.stderr)
    rows = make_rows(path, size) if method == "basis-expansion" else make_counts(path, size)
    count.write_text(str(rows))
    return rows


def make_rows(path: Path, size: int) -> int:
    """Mixtures of ten hidden numbers with noise, two classes with a border that bends, one label in 20 wrong."""
    random = np.random.default_rng(0)
    n = size // (4 * (COLUMNS + 1))
    mixed = random.standard_normal((HIDDEN, COLUMNS), np.float32) / np.float32(HIDDEN**0.5)
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n, COLUMNS + 1))
    for at in range(0, n, CHUNK_ROWS):
        hidden = random.standard_normal((min(CHUNK_ROWS, n - at), HIDDEN), np.float32)
        right = hidden[:, 0] * hidden[:, 1] + hidden[:, 2] + 0.5 * hidden[:, 3] ** 2 > 0.5
        rows = hidden @ mixed + np.float32(0.5) * random.standard_normal((len(hidden), COLUMNS), np.float32)
        array[at : at + len(rows), :COLUMNS] = rows
        array[at : at + len(rows), COLUMNS] = right ^ (random.random(len(rows)) < 0.05)
    array.flush()
    return n


def make_counts(path: Path, size: int) -> int:
    """Ten classes of bags of 5,000 words, some 150 different ones in each.

    Drawing words is dear, so a row joins two halves, one of the first 2,500 words and one of the others, each out of a
    few hundred of its class that are drawn anew all the time: hardly two rows are alike (copies are merged in memory).
    """
    random = np.random.default_rng(0)
    words, classes, written, n = 5000, 10, 0, 0
    common = 1 / np.arange(1, words + 1)
    likely = [random.permutation(common) * 0.6 + common * 0.4 for _ in range(classes)]
    ladders = [[np.cumsum(half / half.sum()) for half in np.split(one, 2)] for one in likely]
    with path.open("wb") as file:
        while written < size:
            pools = [
                [half_rows(random, ladder, first) for ladder, first in zip(pair, (0, words // 2), strict=True)]
                for pair in ladders
            ]
            labels = random.integers(classes, size=CHUNK_ROWS)
            picks = random.integers(HALVES, size=(CHUNK_ROWS, 2))
            rows = zip(labels.tolist(), picks.tolist(), strict=True)
            lines = [b"%d%s%s\n" % (k, pools[k][0][one], pools[k][1][other]) for k, (one, other) in rows]
            block = b"".join(lines)
            file.write(block)
            written += len(block)
            n += len(lines)
    return n


# Halves of rows a class, for each 20,000 rows.
HALVES = 200


def half_rows(random: np.random.Generator, ladder: np.ndarray, first: int) -> list[bytes]:
    """Counts of 200 words of those from `first` on, as text."""
    rows = []
    for draws in random.random((HALVES, 200)):
        found, counts = np.unique(np.searchsorted(ladder, draws), return_counts=True)
        pairs = zip((found + first + 1).tolist(), counts.tolist(), strict=True)
        rows.append("".join([f" {word}:{count}" for word, count in pairs]).encode())
    return rows


def page(results: dict[str, Any]) -> str:
    inside, outside = results["in_memory"], results["outside"]
    machine = results["machine"]
    lines = [
        f"# {results['method']}: {results['bytes'] / 2**30:.1f} GiB under a limit of {results['memory']}",
        "",
        f"{machine['cpu']} (family/model {machine['cpu_family_model']}), {machine['cores']} cores, "
        f"{results['threads']} thread(s); {results['date'][:10]}.",
        "",
        "| | in memory, a part | in blocks, all |",
        "| --- | ---: | ---: |",
        f"| rows | {inside['n_samples']:,} | {outside['n_samples']:,} |",
        f"| seconds | {inside['seconds']:.1f} | {outside['seconds']:.1f} |",
        f"| CPU seconds | {inside['cpu_seconds']:.1f} | {outside['cpu_seconds']:.1f} |",
        f"| µs a row | {1e6 * inside['seconds_a_row']:.1f} | {1e6 * outside['seconds_a_row']:.1f} |",
        f"| CPU µs a row | {1e6 * inside['cpu_seconds_a_row']:.1f} | {1e6 * outside['cpu_seconds_a_row']:.1f} |",
        f"| largest gap | {inside['report']['gap']:.1e} | {outside['report']['gap']:.1e} |",
        f"| load average | {inside['load_average'][0]:.1f} | {outside['load_average'][0]:.1f} |",
        "",
        f"Time a row: {results['ratio']:.2f} times that in memory, CPU: {results['cpu_ratio']:.2f} times. Most memory:",
        f"{outside['peak_mib']:,.0f} MiB. " + " ".join(outside["report"].get("notes", [])),
    ]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="widemargin", help="the program")
    parser.add_argument("--method", choices=sorted(FLAGS), default="basis-expansion")
    parser.add_argument("--gib", type=float, default=10, help="size of the file")
    parser.add_argument("--part", type=int, default=2**28, help="bytes of the part that is trained in memory")
    parser.add_argument("--memory", default="2GiB", help="limit of the process, in GiB or MiB")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("outside"), help="for the data and the scratch file")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--keep", action="store_true", help="keep the large file")
    parser.add_argument("--quick", action="store_true", help="a quarter of a GiB")
    return parser.parse_args()


if __name__ == "__main__":
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    sys.exit(main())
