"""What a row cost: CPU seconds, which other work on the machine lengthens least."""

from __future__ import annotations

from typing import Any


def whole_cost(row: dict[str, Any]) -> float:
    """Seconds from untouched samples to a tuned model."""
    return cost(row) + row["tune_seconds"]


def cost(row: dict[str, Any]) -> float:
    """Seconds of training, of CPU where they are known."""
    return row["fit_seconds"] if row["fit_cpu_seconds"] is None else row["fit_cpu_seconds"]
