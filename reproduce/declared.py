"""What `expected.toml` says of the scripts and `data.toml` of their files. Needs nothing but Python's own library."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TOP = HERE.parent

# Exit codes: a figure that is not what is expected; something missing that the script needs.
OUTSIDE, MISSING = 1, 2


@dataclass(frozen=True)
class Expected:
    """What a figure must be: near a value, or on one side of a bound. `paper` is what the paper prints."""

    value: float | None = None
    tolerance: float = 0.0
    at_least: float | None = None
    at_most: float | None = None
    paper: float | str | None = None
    # What a quick run gives, where it does not give the same.
    quick: dict[str, Any] | None = None

    def holds(self, found: float) -> bool:
        # Written so that a NaN holds nowhere.
        return (
            (self.value is None or abs(found - self.value) <= self.tolerance)
            and (self.at_least is None or found >= self.at_least)
            and (self.at_most is None or found <= self.at_most)
        )

    def in_quick(self) -> Expected:
        return self if self.quick is None else Expected(**self.quick, paper=self.paper)

    def __str__(self) -> str:
        parts = [] if self.value is None else [f"{number(self.value)} ± {number(self.tolerance)}"]
        parts += [] if self.at_least is None else [f"≥ {number(self.at_least)}"]
        parts += [] if self.at_most is None else [f"≤ {number(self.at_most)}"]
        return ", ".join(parts)


@dataclass(frozen=True)
class Script:
    """What `expected.toml` says of one script."""

    path: Path
    claim: str
    seconds: float
    quick_seconds: float
    needs: tuple[str, ...]
    quick_needs: tuple[str, ...]
    figures: dict[str, Expected]

    def __str__(self) -> str:
        return str(self.path.relative_to(TOP))


def scripts(folder: Path) -> list[Script]:
    """The scripts of one paper, in the order of its `expected.toml`."""
    with (folder / "expected.toml").open("rb") as file:
        record = tomllib.load(file)
    found = []
    for name, one in record.items():
        figures = {key: Expected(**figure) for key, figure in one.get("figures", {}).items()}
        needs = tuple(one.get("needs", ()))
        quick_needs = tuple(one.get("quick_needs", needs))
        path = folder / f"{name}.py"
        found.append(Script(path, one["claim"], one["seconds"], one["quick_seconds"], needs, quick_needs, figures))
    return found


def checks(script: Script, found: dict[str, float], quick: bool, synthetic: bool = False) -> list[list[str]]:
    """A line for every figure: its name, what was found, what is expected, the paper's, and whether it is within.

    On synthetic data a figure need only be a number.
    """
    rows = []
    for name, value in found.items():
        expected = script.figures.get(name)
        if expected is None:
            # A figure that nothing holds is a hole in expected.toml.
            rows.append([name, number(value), "not in expected.toml", "", "no"])
            continue
        if synthetic:
            rows.append([name, number(value), "a number", "", "yes" if math.isfinite(value) else "no"])
            continue
        record = expected.in_quick() if quick else expected
        rows.append([name, number(value), str(record), cell(record.paper), "yes" if record.holds(value) else "no"])
    if not quick:
        absent = [name for name in script.figures if name not in found]
        rows += [[name, "none", str(script.figures[name]), "", "no"] for name in absent]
    return rows


def newest_results(path: Path) -> dict[str, Any] | None:
    """Of the last full run of the script at this path."""
    results = sorted((path.parent / "results").glob(f"*_{path.stem}.json"))
    return json.loads(results[-1].read_text()) if results else None


def missing(data: Path, needs: Iterable[str]) -> list[str]:
    """A line for every file that is not there or does not hold its arrays; a warning for one that is another copy."""
    lines = []
    with (HERE / "data.toml").open("rb") as file:
        known = tomllib.load(file)
    for name in needs:
        record, path = known[name], data / name
        if not path.is_file():
            # Another layout of the same data, which the loader knows.
            if any((data / other).is_file() for other in record.get("instead", ())):
                continue
            lines.append(f"{name} ({', '.join(record['arrays'])}): {record['source']}")
            continue
        if absent := sorted(set(record["arrays"]) - set(_arrays(path))):
            lines.append(f"{name} has no {', '.join(absent)}: {record['source']}")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != record["sha256"]:
            say(f"warning: {name} is not the file that the figures are of; they may differ")
    return lines


def _arrays(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as file:
            return [name.removesuffix(".npy") for name in file.namelist()]
    except (OSError, zipfile.BadZipFile):
        return []


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def number(value: float) -> str:
    """Whole numbers whole, small ones in powers of ten, the rest to four digits."""
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def cell(value: object) -> str:
    if value is None:
        return ""
    return number(value) if isinstance(value, (int, float)) else str(value)


def as_markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_text(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(one.ljust(width) for one, width in zip(line, widths, strict=True)) for line in lines)
