"""Widemargin through its command line, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from timing import Row

KERNELS: dict[str, str] = {
    "p = −1 (χ²)": "--p=-1",
    "p = −8": "--p=-8",
    "p = 0 (Hellinger)": "--p=0",
    "p = −∞ (intersection)": "--p=-inf",
    "Jensen-Shannon": "--kernel=jensen-shannon",
}
CHI_SQUARE = "p = −1 (χ²)"
APPROXIMATIONS = ("polynomial", "nystrom")

# Runs a command and writes its exit status, seconds, CPU seconds and peak KiB to a file. A process of its own, since
# Linux counts the memory of whoever starts a program, here all the data, into that program's peak.
LAUNCHER = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds, cpu_seconds = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
told = [os.waitstatus_to_exitcode(status), seconds, cpu_seconds, usage.ru_maxrss]
with open(sys.argv[1], "w") as file:
    json.dump(told, file)
"""


@dataclass(frozen=True)
class Ran:
    """What a command did: `seconds` is the whole command, from start to exit."""

    out: str
    problem: str | None
    seconds: float
    cpu_seconds: float
    peak_mib: float

    def costs(self) -> Row:
        return {
            "command_seconds": self.seconds,
            "command_cpu_seconds": self.cpu_seconds,
            "peak_mib": self.peak_mib,
        }


class Program:
    def __init__(self, path: Path, scratch: Path, timeout: float = 900.0) -> None:
        self.path, self.scratch, self.timeout = path, scratch, timeout
        self.model = scratch / "model.wm"

    def version(self) -> str:
        return self._run(["--version"]).out.strip()

    def train(self, data: Path, flags: list[str], threads: int = 1) -> Row:
        """Train to `self.model`. The row has `error` instead of `fit_seconds` when that failed."""
        command = ["train", "power-mean", str(data), "-o", str(self.model), *flags, f"--threads={threads}", "--json"]
        ran = self._run(command)
        if ran.problem:
            return {"error": ran.problem}
        return {**_read_report(ran.out, data), **ran.costs()}

    def evaluate(self, data: Path) -> Row:
        ran = self._run(["evaluate", str(self.model), str(data), "--threads=1", "--json"])
        return {"error": ran.problem} if ran.problem else {"accuracy": json.loads(ran.out)["accuracy"]}

    def predict(self, data: Path, threads: int = 1) -> Row:
        """Seconds of the whole command: reading the rows, scoring them, writing a label a line."""
        out = self.scratch / "predicted.txt"
        ran = self._run(["predict", str(self.model), str(data), "-o", str(out), f"--threads={threads}"])
        if ran.problem:
            return {"error": ran.problem}
        with out.open("rb") as file:
            rows = sum(1 for _ in file)
        return {"rows": rows, "seconds": ran.seconds, "rows_a_second": rows / ran.seconds, **ran.costs()}

    def train_and_score(self, train: Path, test: Path | None, flags: list[str], threads: int = 1) -> Row:
        row = self.train(train, flags, threads)
        if "error" in row or test is None:
            return row
        return {**row, **self.evaluate(test)}

    def _run(self, arguments: list[str]) -> Ran:
        told = self.scratch / "ran.json"
        told.unlink(missing_ok=True)
        command = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(told), str(self.path), *arguments]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
            try:
                process.wait(self.timeout)
                late = False
            except subprocess.TimeoutExpired:
                # The program with its launcher.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                late = True
            out.seek(0)
            err.seek(0)
            text, message = out.read().decode(), err.read().decode().strip()
        if late or not told.is_file():
            problem = f"stopped after {self.timeout:g} s" if late else message[-200:]
            return Ran(text, problem, self.timeout, self.timeout, 0.0)
        exit_code, seconds, cpu_seconds, peak_kib = json.loads(told.read_text())
        problem = None
        if exit_code:
            problem = next((line for line in message.splitlines() if line.startswith("error")), message[-200:])
            problem = problem or f"exit code {exit_code}"
        return Ran(text, problem, seconds, cpu_seconds, peak_kib / 1024)


def _read_report(out: str, data: Path) -> Row:
    """The fit's own account; `fit_seconds` is all of the fit, its precomputations included, but not the reading."""
    report = json.loads(out)["report"]
    stages = report["seconds"]
    epochs = _many(report.get("iterations", report["epochs"]))
    with np.load(data) as file:
        nonzeros, classes = len(file["indices"]), len(np.unique(file["labels"]))
    # Classes that stop at different epochs are counted with their own.
    passes = sum(epochs) if len(epochs) == classes else max(epochs) * classes
    return {
        "fit_seconds": report["seconds_total"],
        "stages": stages,
        "epochs": max(epochs),
        "gap": _number(report.get("gap")),
        "status": report["status"],
        "classes": classes,
        "ns_per_nonzero_class_epoch": 1e9 * stages["solve"] / (nonzeros * passes),
    }


def _many(value: float | list[float]) -> list[float]:
    return value if isinstance(value, list) else [value]


def _number(value: float | list[float] | None) -> float | None:
    """The worst where there is one a class; None where the report has none (JSON cannot write NaN)."""
    if isinstance(value, list):
        return None if any(v is None for v in value) else max(value)
    return value
