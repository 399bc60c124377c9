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


def estimated_score(path: list[dict[str, Any]], C: float) -> float:
    """One minus the error at C by refits without some samples, each sample or each fold; NaN if there were none."""
    for point in path:
        if point["C"] == C:
            # Of least squares the closed form is exact: points without "loo_exact".
            exact = point["loo_error"] if point.get("loo_exact", "lambda" not in point) else None
            errors = (point.get("held_out_error"), exact, point.get("fold_error"))
            return 1.0 - next((float(error) for error in errors if error is not None), float("nan"))
    return float("nan")


def estimated_label_scores(path: list[dict[str, Any]], told: dict[str, Any]) -> npt.NDArray[np.float64]:
    """One minus the error of each of several labels, estimated as that of all is; NaN if it was not."""
    unknown = [np.nan] * len(told["classes"])
    errors = next((point.get("label_errors") for point in path if point["C"] == told["C"]), None)
    return 1.0 - np.array(errors or unknown, dtype=np.float64)


def path_of(points: list[dict[str, Any]]) -> dict[str, npt.NDArray[np.float64]]:
    """The points of a path, column by column."""
    # Left out of the file where they have these values.
    usual = {"loo_exact": False, "fold_error": np.nan, "held_out_error": np.nan}
    usual_first = [name for name in points[0] if name != "label_errors"] if points else []
    columns = [*usual_first, *(name for name in usual if name not in points[0])] if points else []
    return {
        name: np.array([point.get(name, usual.get(name)) for point in points], dtype=np.float64) for name in columns
    }
