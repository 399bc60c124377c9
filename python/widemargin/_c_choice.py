"""C: a number or "auto", and the path of values tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def c_of(estimator: Any) -> float | None:
    """The estimator's C; None for "auto"."""
    C = estimator.C
    if not isinstance(C, str):
        return float(C)
    if C != "auto":
        name = type(estimator).__name__
        raise ValueError(f"The 'C' parameter of {name} must be a number above 0 or 'auto'. Got {C!r}.")
    return None


def estimated_score(report: dict[str, Any]) -> float:
    """One minus the error that the fit estimated; NaN where it has no estimate, which a note of the report explains."""
    estimate = report.get("estimate")
    return float("nan") if estimate is None else 1.0 - float(estimate["error"])


def estimated_label_scores(report: dict[str, Any], n_labels: int) -> npt.NDArray[np.float64]:
    """The same of each of several labels."""
    errors = (report.get("estimate") or {}).get("label_errors", [np.nan] * n_labels)
    return 1.0 - np.array(errors, dtype=np.float64)


def path_of(points: list[dict[str, Any]]) -> dict[str, npt.NDArray[np.float64]]:
    """The points of a path, column by column."""
    # Left out of the file where they have these values.
    usual = {"loo_exact": False, "fold_error": np.nan}
    usual_first = [name for name in points[0] if name != "label_errors"] if points else []
    columns = [*usual_first, *(name for name in usual if name not in points[0])] if points else []
    return {
        name: np.array([point.get(name, usual.get(name)) for point in points], dtype=np.float64) for name in columns
    }
