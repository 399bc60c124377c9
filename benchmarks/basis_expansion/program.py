"""The `widemargin` command as the scripts of this folder call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "power_mean"))

import timing

DEFAULT = HERE.parent.parent / "target" / "release" / "widemargin"


class Program:
    """The built command, with as many threads as the caller allows."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        self.path, self.threads = path.resolve(), threads
        if not self.path.is_file():
            sys.exit(f"{path}: not there; build it with `cargo build --release` or name it with --widemargin")

    def __call__(self, *arguments: object) -> str:
        command = [str(self.path), *map(str, arguments), "--threads", str(self.threads), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return done.stdout

    def json(self, *arguments: object) -> Any:
        return json.loads(self(*arguments, "--json"))

    def accuracy(self, model: Path, data: Path, *arguments: object) -> float:
        """In percent."""
        return 100.0 * self.json("evaluate", model, data, *arguments)["accuracy"]


def write(name: str, result: dict[str, Any], table: str) -> None:
    """Writes results/DATE_MACHINE_NAME.json and .md, and prints the table."""
    result = {"date": timing.now(), "machine": timing.machine(), **result}
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    cpu = "-".join(result["machine"]["cpu"].replace("(R)", "").lower().split())
    stem = folder / f"{timing.today()}_{cpu}-{result['machine']['cores']}-cores_{name}"
    stem.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    stem.with_suffix(".md").write_text(table)
    print(table)


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
