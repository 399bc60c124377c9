"""Widemargin through its command line, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import alone
from timing import Row

KERNELS: dict[str, str] = {
    "p = −1 (χ²)": "--kernel=-1",
    "p = −8": "--kernel=-8",
    "p = 0 (Hellinger)": "--kernel=0",
    "p = −∞ (intersection)": "--kernel=-inf",
    "Jensen-Shannon": "--kernel=jensen-shannon",
}
CHI_SQUARE = "p = −1 (χ²)"
APPROXIMATIONS = ("polynomial", "nystroem")


class Program:
    def __init__(self, path: Path, scratch: Path, timeout: float = 900.0) -> None:
        self.path, self.scratch, self.timeout = path, scratch, timeout
        self.model = scratch / "model.wm"

    def version(self) -> str:
        return self._run(["--version"])[0].out.strip()

    def train(self, data: Path, flags: list[str], threads: int = 1) -> Row:
        """Train to `self.model`. Flags without hyphens are settings of the method. The row has `error` instead of
        `fit_seconds` when that failed.
        """
        settings = [flag for flag in flags if not flag.startswith("-")]
        # Three nodes by default.
        settings += [] if any(setting.startswith("nodes=") for setting in settings) else ["nodes=3"]
        options = [flag for flag in flags if flag.startswith("-")]
        method = ["--method", "power-mean:" + ",".join(settings)]
        command = ["train", str(data), "-o", str(self.model), *method, *options, f"--threads={threads}", "--json"]
        ran, problem = self._run(command)
        if problem:
            return {"error": problem}
        return {**_read_report(ran.out, data), **ran.costs()}

    def evaluate(self, data: Path) -> Row:
        ran, problem = self._run(["evaluate", str(self.model), str(data), "--threads=1", "--json"])
        return {"error": problem} if problem else {"accuracy": json.loads(ran.out)["accuracy"]}

    def predict(self, data: Path, threads: int = 1) -> Row:
        """Seconds of the whole command: reading the rows, scoring them, writing a label a line."""
        out = self.scratch / "predicted.txt"
        ran, problem = self._run(["predict", str(self.model), str(data), "-o", str(out), f"--threads={threads}"])
        if problem:
            return {"error": problem}
        with out.open("rb") as file:
            rows = sum(1 for _ in file)
        return {"rows": rows, "seconds": ran.seconds, "rows_a_second": rows / ran.seconds, **ran.costs()}

    def train_and_score(self, train: Path, test: Path | None, flags: list[str], threads: int = 1) -> Row:
        row = self.train(train, flags, threads)
        if "error" in row or test is None:
            return row
        return {**row, **self.evaluate(test)}

    def _run(self, arguments: list[str]) -> tuple[alone.Ended, str | None]:
        """What the program did, and what went wrong if something did."""
        ran = alone.run([str(self.path), *arguments], self.timeout)
        if ran.exit_code == 0:
            return ran, None
        if ran.is_late:
            return ran, f"stopped after {self.timeout:g} s"
        problem = next((line for line in ran.err.splitlines() if line.startswith("error")), ran.err[-200:])
        return ran, problem or f"exit code {ran.exit_code}"


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
