"""Runs `one.py` with a limit on its time and memory, and keeps what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Limits:
    """Of a fit and its prediction together, in seconds of CPU; choosing parameters has a limit of its own."""

    seconds: float = 600.0
    gib: float = 16.0
    tune_seconds: float = 300.0


def run(engine: str, task: str, passed: list[str], limits: Limits, python: str = sys.executable) -> dict[str, Any]:
    """The output of `one.py`, or `failed`: a word on why."""
    with tempfile.TemporaryDirectory() as folder:
        partial = Path(folder) / "partial.json"
        command = [python, str(HERE / "one.py"), "--engine", engine, "--task", task, *passed]
        command += ["--partial", str(partial), "--tune-seconds", str(limits.tune_seconds)]
        with (Path(folder) / "out").open("w+") as out, (Path(folder) / "err").open("w+") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, cwd=HERE)
            reason = _watch(child, partial, limits)
            out.seek(0)
            err.seek(0)
            results, said = out.read(), err.read()
        found = json.loads(partial.read_text()) if partial.is_file() else {}
        if reason is not None:
            return {**found, "failed": reason}
        if child.returncode != 0:
            last = said.strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
            return {**found, "failed": last[0][:300]}
        return json.loads(results.strip().splitlines()[-1])


def _watch(child: subprocess.Popen[bytes], partial: Path, limits: Limits) -> str | None:
    """Waits for the end, or ends it and says why."""
    fitting: float | None = None
    while child.poll() is None:
        time.sleep(LOOK_EVERY)
        # What other work on the machine takes is not held against an engine.
        now = _cpu_seconds(child.pid)
        if fitting is None and partial.is_file():
            fitting = now
        # Loading, and one point of the grid that may be begun just before its limit.
        if fitting is None and now > 2 * limits.tune_seconds + limits.seconds:
            return _end(child, f"choosing took more than {2 * limits.tune_seconds + limits.seconds:.0f} s")
        if fitting is not None and now - fitting > limits.seconds:
            return _end(child, f"more than {limits.seconds:.0f} s")
        if _gib(child.pid) > limits.gib:
            return _end(child, f"more than {limits.gib:g} GiB")
    return None


def _end(child: subprocess.Popen[bytes], why: str) -> str:
    for one in [*_children(child.pid), child.pid]:
        subprocess.run(["kill", "-9", str(one)], check=False, capture_output=True)
    child.wait()
    return why


def _gib(pid: int) -> float:
    """Of the process and those it began."""
    total = 0
    for one in [pid, *_children(pid)]:
        try:
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
        total += pages * 4096
    return total / 2**30


def _cpu_seconds(pid: int) -> float:
    """Of the process and those it began, the ended ones included."""
    ticks = 0
    for one in [pid, *_children(pid)]:
        try:
            # The name of a program, in brackets, may hold spaces.
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in text.split()]
