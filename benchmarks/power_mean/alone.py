"""A command run in a way that tells what it alone took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Runs a command and writes its exit status, seconds, CPU seconds and peak KiB to a file. A process of its own, since
# Linux counts the memory of whoever starts a program, here all the data, into that program's peak.
LAUNCHER = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds, cpu_seconds = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
usage_of_run = [os.waitstatus_to_exitcode(status), seconds, cpu_seconds, usage.ru_maxrss]
with open(sys.argv[1], "w") as file:
    json.dump(usage_of_run, file)
"""


@dataclass(frozen=True)
class Ended:
    """`exit_code` is None where the command was stopped, which `is_late` says, or never began; then the costs are 0."""

    out: str
    err: str
    exit_code: int | None = None
    is_late: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mib: float = 0.0

    def costs(self) -> dict[str, float]:
        return {
            "command_seconds": self.seconds,
            "command_cpu_seconds": self.cpu_seconds,
            "peak_mib": self.peak_mib,
        }


def run(command: list[str], timeout: float | None = None) -> Ended:
    """The command's first word is the path of a program; after `timeout` seconds it is stopped."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        results = Path(folder) / "usage_of_run.json"
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, str(results), *command],
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        is_late = False
        try:
            process.wait(timeout)
        except BaseException as error:
            # The program with its launcher, also where it is Ctrl-C that ends the wait: the session is their own.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            is_late = isinstance(error, subprocess.TimeoutExpired)
            if not is_late:
                raise
        out.seek(0)
        err.seek(0)
        texts = out.read().decode(), err.read().decode().strip()
        if not results.is_file():
            return Ended(*texts, is_late=is_late)
        exit_code, seconds, cpu_seconds, peak_kib = json.loads(results.read_text())
    return Ended(*texts, exit_code, is_late, seconds, cpu_seconds, peak_kib / 1024)
