"""Widemargin's thin plate SVM through its command line, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from timing import Row


@dataclass(frozen=True)
class Program:
    path: Path
    scratch: Path
    threads: int = 1

    def version(self) -> str:
        return self._run("--version")[0].strip()

    def train_and_score(self, train: Path, test: Path, flags: list[str]) -> Row:
        """Seconds of the fit (all stages, not the reading), CPU seconds and memory of the whole command, the error."""
        model = self.scratch / "model.wm"
        out, costs = self._run("train", "thin-plate", str(train), "-o", str(model), *flags, "--json")
        trained = json.loads(out)
        report = trained["report"]
        tested = json.loads(self._run("evaluate", str(model), str(test), "--json")[0])
        inspected = json.loads(self._run("inspect", str(model), "--json")[0])
        known = inspected["parameters"]
        return {
            "flags": " ".join(flags),
            "samples": trained["n_samples"],
            "fit_seconds": report["seconds_total"],
            "stages": report["seconds"],
            **costs,
            "error": 1 - tested["accuracy"],
            "wrong": round((1 - tested["accuracy"]) * tested["n_samples"]),
            "tested": tested["n_samples"],
            "predict_seconds": tested["seconds"],
            "status": report["status"],
            "warnings": report["warnings"],
            "C": known["C"],
            "null_space": known["null_space"],
            "bases": known["n_bases"],
            "loo_error": known["loo_error"],
            "path_points": len(inspected["path"]),
        }

    def _run(self, *arguments: str) -> tuple[str, Row]:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = time.perf_counter()
            process = subprocess.Popen([self.path, *arguments, f"--threads={self.threads}"], stdout=out, stderr=err)
            # wait4 rather than wait: it alone tells the time and memory of this one child.
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            text, message = out.read().decode(), err.read().decode().strip()
        if process.returncode:
            raise RuntimeError(f"widemargin {' '.join(arguments)}: {message}")
        costs = {
            "command_seconds": seconds,
            "command_cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mib": usage.ru_maxrss / 1024,
        }
        return text, costs
