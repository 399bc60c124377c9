"""Widemargin through its command line, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
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
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = time.perf_counter()
            process = subprocess.Popen([self.path, *arguments], stdout=out, stderr=err)
            late = threading.Event()
            timer = threading.Timer(self.timeout, lambda: (late.set(), process.kill()))
            timer.start()
            # wait4 rather than wait: it alone tells the peak memory of this one child.
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - started
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            text, message = out.read().decode(), err.read().decode().strip()
        problem = None
        if late.is_set():
            problem = f"stopped after {self.timeout:g} s"
        elif process.returncode:
            problem = next((line for line in message.splitlines() if line.startswith("error")), message[-200:])
            problem = problem or f"exit code {process.returncode}"
        return Ran(text, problem, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


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
