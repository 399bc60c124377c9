#!/usr/bin/env python3
"""What compiling costs: the CPU seconds of a build, by our crates and by what each of their dependencies brings.

    scripts/build_cost.py build --release --locked --package widemargin-cli

builds in a new folder with that cargo command, on two cores, and prints a table in Markdown. A dependency's seconds
are those of all packages that would no longer be compiled without it; what several bring is a row of its own. Seconds
are user's and system's, which other work on the machine lengthens less than the time that passes. Build scripts are
compiled, and counted, but what they do when they run is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

LOG = "WIDEMARGIN_BUILD_COST_LOG"


def compile_one(command: list[str]) -> int:
    """As cargo's wrapper of rustc: compiles, and adds a line with the package and its seconds to the log."""
    # With the descriptors by which cargo counts what runs at a time.
    process = subprocess.Popen(command, close_fds=False)
    _, status, usage = os.wait4(process.pid, 0)
    if package := os.environ.get("CARGO_PKG_NAME"):
        line = json.dumps([f"{package} {os.environ['CARGO_PKG_VERSION']}", usage.ru_utime + usage.ru_stime])
        with open(os.environ[LOG], "a") as log:
            log.write(line + "\n")
    return os.waitstatus_to_exitcode(status)


def build(command: list[str]) -> Counter[str]:
    """CPU seconds of each package."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.touch()
        own = {"RUSTC_WRAPPER": __file__, LOG: str(log), "CARGO_TARGET_DIR": folder}
        settings = {"CARGO_INCREMENTAL": "0", "CARGO_BUILD_JOBS": "2"}
        subprocess.run(["cargo", *command], env={**os.environ, **settings, **own}, check=True)
        seconds: Counter[str] = Counter()
        for package, taken in map(json.loads, log.read_text().splitlines()):
            seconds[package] += taken
    return seconds


def dependencies() -> tuple[set[str], dict[str, set[str]], dict[str, set[str]]]:
    """Our packages; what each package needs to be built; and what only our tests need."""
    host = subprocess.run(["rustc", "--print", "host-tuple"], capture_output=True, text=True, check=True).stdout.strip()
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    metadata = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = {one["id"]: f"{one['name']} {one['version']}" for one in metadata["packages"]}
    ours = {names[member] for member in metadata["workspace_members"]}
    needs: dict[str, set[str]] = defaultdict(set)
    for_tests: dict[str, set[str]] = defaultdict(set)
    for node in metadata["resolve"]["nodes"]:
        for needed in node["deps"]:
            kinds = {kind["kind"] for kind in needed["dep_kinds"]}
            (for_tests if kinds == {"dev"} else needs)[names[node["id"]]].add(names[needed["pkg"]])
    return ours, needs, for_tests


def reached(needs: dict[str, set[str]], begin: set[str], without: str | None = None) -> set[str]:
    found, waiting = set(begin), list(begin)
    while waiting:
        new = needs[waiting.pop()] - found - {without}
        found |= new
        waiting += new
    return found


def table(seconds: Counter[str]) -> str:
    ours, needs, for_tests = dependencies()
    built = ours & set(seconds)
    direct = set().union(*(needs[one] | for_tests[one] for one in built)) - ours
    compiled = set(seconds)
    for one in built:
        needs[one] |= for_tests[one] & compiled
    rows, alone = [], set()
    for one in direct:
        brought = compiled - reached(needs, built, without=one)
        alone |= brought
        if brought:
            others = sorted(brought - {one}, key=lambda other: -seconds[other])
            rows.append((one, sum(seconds[other] for other in brought), others))
    shared = sorted(compiled - alone - built, key=lambda other: -seconds[other])
    rows.append(("what several bring", sum(seconds[one] for one in shared), shared))
    rows += [(one, seconds[one], []) for one in built]
    total = sum(seconds.values())
    lines = ["| | CPU seconds | % | with |", "|---|---:|---:|---|"]
    for name, taken, others in sorted(rows, key=lambda row: -row[1]):
        causes = ", ".join(f"{other.split()[0]} {seconds[other]:.1f}" for other in others[:8] if seconds[other] >= 0.1)
        lines.append(f"| {name} | {taken:.1f} | {100 * taken / total:.1f} | {causes} |")
    return "\n".join([*lines, f"| all | {total:.1f} | 100 | |"])


if __name__ == "__main__":
    if LOG in os.environ:
        raise SystemExit(compile_one(sys.argv[1:]))
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print(table(build(sys.argv[1:])))
