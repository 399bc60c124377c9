"""CPU seconds of the command after a change and before it: training, prediction, similarities, reading.

    python run.py BEFORE AFTER [--data DATA] [--pairs 7] [--threads 1] [--only train,read] [--quick]

BEFORE and AFTER are checkouts, which are built (`cargo build --release --locked`), or built `widemargin` programs. Each
row of the table is one call of the command on synthetic data; before and after take turns, and the first of a pair is
the other one each time. What is compared are CPU seconds of the process, user and system, which other work on the
machine lengthens least; the figure of a row is the median of the pairs' ratios after / before. Rows above 1.05 are
marked. The group `fits` (fits.py) compares every solver also by held-out score, estimate, gap, peak memory and bytes of
the model, on data sets, some from the folder --data. Writes results/DATE_MACHINE.json and .md. Needs
NumPy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "power_mean"), str(HERE.parent / "thin_plate")]

import numpy as np

import fits
import synthetic
import timing

# A row above this is marked: slower than can be passed over.
SLOWER = 1.05
# Fits take some seconds each, which repeat better than the tenths of the other rows.
MAX_PAIRS_OF_FITS = 3


@dataclass(frozen=True)
class Task:
    """One call of the command. `{out}` in its arguments is a file or a folder that is new at each call."""

    group: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Side:
    """The program before or after, and what tells which it was."""

    name: str
    program: Path
    commit: str | None

    def about(self) -> dict[str, Any]:
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        digest = hashlib.sha256(self.program.read_bytes()).hexdigest()
        return {"commit": self.commit, "version": version.stdout.strip(), "program_sha256": digest}


def main() -> int:
    options = arguments()
    sides = [side("before", options.before), side("after", options.after)]
    load, rows = timing.load_average(), []
    fitted, missing, failed = [], {}, {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        if options.only != {"fits"}:
            write_data(folder, options.scale)
        # Each side predicts by its own models: the format of the file may have changed.
        models = {one.name: folder / f"models-{one.name}" for one in sides}
        for path in models.values():
            path.mkdir()
        for task in tasks(options.only):
            rows.append(measured(task, sides, models, folder, options))
            print(line(rows[-1]), flush=True)
        if "fits" in options.only:
            files, missing = fits.write(folder, options.data, options.scale)
            fitted, failed = measured_fits(files, sides, folder, options)
    results = {
        "date": timing.now(),
        "machine": timing.machine(),
        "load_average": [load, timing.load_average()],
        "pairs": options.pairs,
        "threads": options.threads,
        "scale": options.scale,
        **{one.name: one.about() for one in sides},
        "rows": rows,
        "fits": fitted,
        "missing": missing,
        "failed": failed,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    cpu = "-".join(results["machine"]["cpu"].replace("(R)", "").lower().split())
    stem = options.out / f"{timing.today()}_{cpu}-{results['machine']['cores']}-cores"
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text(page(results))
    print(f"\n{stem.with_suffix('.md')}")
    return int(any(is_slower(row) for row in rows) or any(row["marks"] for row in fitted) or bool(failed))


def side(name: str, path: Path) -> Side:
    """Of a checkout the program it builds."""
    path = path.resolve()
    if path.is_file():
        return Side(name, path, None)
    if not (path / "Cargo.toml").is_file():
        sys.exit(f"{path}: neither a checkout, which has a Cargo.toml, nor a program")
    build = ["cargo", "build", "--release", "--locked", "--package", "widemargin-cli", "--message-format", "json"]
    done = subprocess.run(build, cwd=path, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{path}: cannot be built")
    messages = map(json.loads, done.stdout.splitlines())
    [program] = [message["executable"] for message in messages if message.get("executable")]
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    commit = subprocess.run(git, cwd=path, capture_output=True, text=True, check=False).stdout.strip()
    return Side(name, Path(program), commit or None)


def write_data(folder: Path, scale: float) -> None:
    """The files that the tasks name, with a multiple of their usual rows."""
    random = np.random.default_rng(7)

    def rows(n: int) -> int:
        return max(int(n * scale), 20 * synthetic.CLASSES)

    synthetic.write_npy(folder / "points.npy", *synthetic.points(random, rows(60_000), 20))
    synthetic.write_npy(folder / "fewer.npy", *synthetic.points(random, rows(12_000), 20))
    synthetic.write_npy(folder / "few.npy", *synthetic.points(random, rows(1_500), 20))
    text = synthetic.libsvm(*synthetic.histograms(random, rows(40_000), 200, 0.3))
    (folder / "sparse.svm").write_text(text)
    (folder / "long.svm").write_text(8 * text)
    header, text = synthetic.csv(*synthetic.histograms(random, rows(15_000), 100, 1.0))
    (folder / "long.csv").write_text(header + 10 * text)
    synthetic.write_npy(folder / "long.npy", *synthetic.histograms(random, rows(300_000), 100, 1.0))
    synthetic.write_npy(folder / "histograms.npy", *synthetic.histograms(random, rows(20_000), 300, 0.8))
    synthetic.write_npy(folder / "series.npy", *synthetic.series(random, rows(3_000), 150))
    (folder / "strings.tsv").write_text(synthetic.lines_of_strings(*synthetic.strings(random, rows(4_000), 60)))
    pixels, labels = synthetic.images(random, rows(5_000))
    np.savez(folder / "images.npz", X=pixels, y=labels)


def tasks(only: set[str]) -> Iterator[Task]:
    power, basis, plate = "train --method power-mean", "train --method basis-expansion", "train --method thin-plate"
    # With a similarity: otherwise the search for one takes most of the time.
    rbf = f"{basis} --similarity rbf:gamma=0.05"
    table = [
        (
            "train",
            "power mean, χ²",
            f"{power}:nodes=3,tol=.001 sparse.svm -o {{model}}/power-mean -C 1 --kernel=-1",
        ),
        ("train", "power mean, intersection, hinge", f"{power} sparse.svm -o {{out}} --kernel=-inf --loss hinge -C 1"),
        ("train", "power mean, out of core", f"{power} sparse.svm -o {{out}} -C 1 --memory-limit 200MB"),
        ("train", "basis expansion", f"{rbf} points.npy --label -1 -o {{model}}/basis-expansion --n-basis 500"),
        ("train", "basis expansion, hinge", f"{rbf} fewer.npy --label -1 -o {{out}} --n-basis 200 --loss hinge"),
        (
            "train",
            "basis expansion, out of core",
            f"{rbf} points.npy --label -1 -o {{out}} --n-basis 500 --memory-limit 120MB",
        ),
        ("train", "basis expansion, similarity auto", f"{basis} fewer.npy --label -1 -o {{out}}"),
        ("train", "thin plate", f"{plate} few.npy --label -1 -o {{model}}/thin-plate"),
        ("train", "thin plate, bases", f"{plate} fewer.npy --label -1 -o {{out}} --n-basis 200"),
        (
            "train",
            "thin plate, out of core",
            f"{plate} fewer.npy --label -1 -o {{out}} --n-basis 200 --memory-limit 120MB",
        ),
        ("predict", "power mean", "predict {model}/power-mean long.svm --scores"),
        ("predict", "basis expansion", "predict {model}/basis-expansion points.npy --label -1 --scores"),
        ("predict", "thin plate", "predict {model}/thin-plate points.npy --label -1 --scores"),
        ("read", "LIBSVM text", "convert long.svm {out}.npz"),
        ("read", "CSV", "convert long.csv {out}.npz"),
        ("read", "NPY", "convert long.npy --label -1 {out}.npz"),
        ("similarity", "spectrum", "inspect {model}/basis-expansion --spectrum few.npy --label -1"),
    ]
    similarities = [
        ("Laplacian", "histograms.npy --label -1", "laplacian", 600),
        ("χ²", "histograms.npy --label -1", "chi2", 600),
        ("Jensen-Shannon", "histograms.npy --label -1", "jensen-shannon", 20),
        ("intersection", "histograms.npy --label -1", "intersection", 600),
        ("time warping", "series.npy --label -1", "dtw:window=0.2", 500),
        ("edit distance", "strings.tsv --format strings", "edit", 1000),
        ("local alignment", "strings.tsv --format strings", "align:mode=local", 300),
        ("HOG, Gaussian", "images.npz", "hog:cell=8/rbf:gamma=1", 500),
        ("HOG, rigid shifts", "images.npz", "hog:cell=4/rigid:radius=2", 100),
    ]
    # One Newton step: nearly all of it is similarities.
    for name, file, spec, n_basis in similarities:
        flags = f"--similarity {spec} --n-basis {n_basis}"
        table.append(("similarity", name, f"{basis}:max-iter=1 {file} -o {{out}} {flags}"))
    return (Task(*row) for row in table if row[0] in only)


def measured(
    task: Task, sides: list[Side], models: dict[str, Path], folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {one.name: [] for one in sides}
    # The first call finds the program and its data on the disk: it is not counted.
    for pair in range(options.pairs + 1):
        for one in sides if pair % 2 else sides[::-1]:
            with tempfile.TemporaryDirectory(dir=folder) as out:
                words = task.arguments.format(out=f"{out}/out", model=models[one.name]).split()
                taken = cpu_seconds([str(one.program), *words, "--threads", str(options.threads), "--quiet"], folder)
            if pair:
                seconds[one.name].append(taken)
    ratios = [after / before for before, after in zip(seconds["before"], seconds["after"], strict=True)]
    return {
        "group": task.group,
        "name": task.name,
        "arguments": task.arguments,
        **{f"{name}_seconds": values for name, values in seconds.items()},
        "ratios": ratios,
        "ratio": statistics.median(ratios),
    }


def measured_fits(
    files: dict[str, fits.Files], sides: list[Side], folder: Path, options: argparse.Namespace
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A row of each fit whose data there are, and what the fits printed that failed."""
    programs = {one.name: one.program for one in sides}
    pairs = min(options.pairs, MAX_PAIRS_OF_FITS)
    rows, failed = [], {}
    for fit in fits.FITS:
        if fit.data not in files or options.fit not in fit.name:
            continue
        try:
            rows.append(fits.measured(fit, files[fit.data], programs, folder, pairs, options.threads))
            print(fits.line(rows[-1]), flush=True)
        except fits.FailedError as error:
            failed[fit.name] = str(error)
            print(error, flush=True)
    return rows, failed


def cpu_seconds(command: list[str], folder: Path) -> float:
    """User's and system's, of the process and its threads; its output goes nowhere."""
    with open(os.devnull, "wb") as nowhere, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            err.seek(0)
            sys.exit(f"{' '.join(command)}\nexit code {process.returncode}: {err.read().decode().strip()}")
    return usage.ru_utime + usage.ru_stime


def is_slower(row: dict[str, Any]) -> bool:
    return bool(row["ratio"] > SLOWER)


def line(row: dict[str, Any]) -> str:
    before, after = (statistics.median(row[f"{name}_seconds"]) for name in ("before", "after"))
    low, high = min(row["ratios"]), max(row["ratios"])
    mark = " **slower**" if is_slower(row) else ""
    cells = f"{row['ratio']:.3f}{mark} | {low:.3f} to {high:.3f}"
    return f"| {row['group']} | {row['name']} | {before:.3f} | {after:.3f} | {cells} |"


def page(results: dict[str, Any]) -> str:
    machine, (before, after) = results["machine"], (results["before"], results["after"])
    loads = " to ".join("?" if load is None else f"{load:.1f}" for load in results["load_average"])
    s = "" if results["threads"] == 1 else "s"
    rows = "" if results["scale"] == 1 else f" on {results['scale']:g} of the rows"
    return "\n".join(
        [
            "# Before and after\n",
            f"{results['date']}; {machine['cpu']}, {machine['cores']} cores; load average {loads}. Before: "
            f"{before['commit'] or before['program_sha256'][:12]}; after: "
            f"{after['commit'] or after['program_sha256'][:12]}. CPU seconds of the command on {results['threads']} "
            f"thread{s}{rows}, medians of {results['pairs']}; the ratio is the median of the pairs' after / before, "
            f"with its range.\n",
            *table(results["rows"]),
            *(fits.page(results["fits"], results["missing"], results["failed"]) if results["fits"] else []),
        ]
    ) + ("\n")


def table(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    slower = [f"{row['group']}: {row['name']}" for row in rows if is_slower(row)]
    return [
        f"Above {SLOWER}: {', '.join(slower) or 'none'}.\n",
        "| | | before, s | after, s | after / before | range |\n|---|---|---:|---:|---:|---:|",
        *map(line, rows),
    ]


def arguments() -> argparse.Namespace:
    groups = ["train", "predict", "similarity", "read", "fits"]

    def chosen(text: str) -> set[str]:
        if unknown := set(text.split(",")) - set(groups):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not among {', '.join(groups)}")
        return set(text.split(","))

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", type=chosen, default=set(groups), help="some of " + ", ".join(groups))
    parser.add_argument("--data", type=Path, help="folder of real data sets for fits [default: those fits are skipped]")
    parser.add_argument("--fit", default="", metavar="TEXT", help="of fits those with this text in their name")
    parser.add_argument("--scratch", type=Path, help="folder for the data, one gigabyte [default: the system's]")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows: whether it runs, not how fast")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error("--pairs: at least 1")
    if "predict" in options.only and "train" not in options.only:
        parser.error("--only: predict needs the models of train")
    options.scale = 0.1 if options.quick else 1.0
    if options.quick and options.out == HERE / "results":
        options.out /= "quick"
    return options


if __name__ == "__main__":
    raise SystemExit(main())
