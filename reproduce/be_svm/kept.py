"""Cells of a table that take long, each measured once and kept, so that an interrupted run resumes where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import timing
from cifar import CACHE
from common import Study
from declared import say


class Kept:
    """Several scripts may keep theirs under one name. To measure anew, delete `cache/`. A quick run keeps none."""

    def __init__(self, study: Study, name: str) -> None:
        self._path = CACHE / f"{name}.json"
        self._keeps = not study.quick
        self._cells: dict[str, dict[str, Any]] = {}
        if self._keeps and self._path.is_file():
            self._cells = json.loads(self._path.read_text())
        self._asked: list[str] = []

    def __call__(self, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if key not in self._cells:
            self._cells[key] = {**measure(), "measured": timing.now()}
            say(f"{key}: {_short(self._cells[key])}")
            if self._keeps:
                self._write()
        self._asked.append(key)
        return self._cells[key]

    def _write(self) -> None:
        CACHE.mkdir(exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self._cells, indent=1, default=float))
        part.replace(self._path)

    def tell(self, study: Study) -> None:
        """When the cells that were asked for were measured: not all of them in this run, perhaps."""
        dates = sorted(self._cells[key]["measured"] for key in self._asked)
        text = "An interrupted run resumes where it was: the time at the top of this page is that of the last one."
        row = [len(dates), dates[0], dates[-1]]
        study.table(f"When it was measured: {self._path.stem}", text, ["cells", "first", "last"], [row])


def _short(cell: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in cell.items() if isinstance(value, (int, float)))
