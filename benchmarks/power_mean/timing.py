"""Repeating a measurement and saying on what machine it was made."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PEER_PACKAGES = ("numpy", "scipy", "scikit-learn", "liblinear-official")


class Clock:
    """Seconds of named stages: `with clock("scale"): ...`. CPU seconds below them tell of a disturbed run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}

    def __call__(self, stage: str) -> _Stage:
        return _Stage(self, stage)

    def total(self, *without: str) -> float:
        return sum(value for stage, value in self.seconds.items() if stage not in without)


class _Stage:
    def __init__(self, clock: Clock, stage: str) -> None:
        self.clock, self.stage = clock, stage

    def __enter__(self) -> None:
        self.started, self.cpu_started = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.clock.seconds[self.stage] = time.perf_counter() - self.started
        self.clock.cpu_seconds[self.stage] = time.process_time() - self.cpu_started


def repeated(measure: Callable[[], Row], times: int, budget: float = 120.0, key: str = "fit_seconds") -> Row:
    """The run with the median of `key` among `times` runs, fewer when a run takes long.

    No further run is begun once `budget` seconds have passed; how many there were is in `repeats`, and the
    seconds of each in `all_<key>`. A run without `key` failed and is handed back at once.
    """
    started = time.perf_counter()
    runs: list[Row] = []
    while len(runs) < times and (not runs or time.perf_counter() - started < budget):
        runs.append(measure())
        if key not in runs[-1]:
            return runs[-1]
    middle = statistics.median_low([run[key] for run in runs])
    chosen = next(run for run in runs if run[key] == middle)
    return {**chosen, "repeats": len(runs), f"all_{key}": [run[key] for run in runs]}


def machine() -> Row:
    info = _cpu_info()
    return {
        "cpu": info.get("model name", platform.processor() or platform.machine()),
        "cpu_family_model": f"{info.get('cpu family', '?')}/{info.get('model', '?')}",
        "avx512": "avx512f" in info.get("flags", "").split(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    found = {}
    for package in PEER_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def load_average() -> float | None:
    """Above 1 on few cores, other work disturbed the timings; a reader should know."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def resident(key: str) -> int:
    """VmRSS or VmHWM (the peak) of this process in bytes, as Linux tells them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _cpu_info() -> dict[str, str]:
    path = Path("/proc/cpuinfo")
    if not path.is_file():
        return {}
    first = path.read_text().split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError):
        return None
