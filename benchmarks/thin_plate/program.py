"""Widemargin's thin plate SVM through its command line, as a user runs it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import alone
from timing import Row


@dataclass(frozen=True)
class Program:
    path: Path
    scratch: Path
    threads: int = 1

    def version(self) -> str:
        return self._run("--version")[0].strip()

    def train_and_score(self, train: Path, test: Path, flags: list[str]) -> Row:
        """Seconds of the fit (all stages, not the reading), CPU seconds and memory of the whole command, the error.

        Flags without hyphens are settings of the method.
        """
        model = self.scratch / "model.wm"
        settings = ",".join(flag for flag in flags if not flag.startswith("-"))
        method = ["--method", f"thin-plate:{settings}" if settings else "thin-plate"]
        options = [flag for flag in flags if flag.startswith("-")]
        out, costs = self._run("train", str(train), "-o", str(model), *method, *options, "--json")
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
            "polynomials": known["polynomials"],
            "bases": known["n_bases"],
            "loo_error": known["loo_error"],
            "path_points": len(inspected["path"]),
        }

    def _run(self, *arguments: str) -> tuple[str, Row]:
        ran = alone.run([str(self.path), *arguments, f"--threads={self.threads}"])
        if ran.exit_code != 0:
            raise RuntimeError(f"widemargin {' '.join(arguments)}: {ran.err}")
        return ran.out, ran.costs()
