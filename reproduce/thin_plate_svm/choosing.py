"""The two ways of choosing C, and a Gaussian's width with it: leave-one-out in closed form, and cross-validation.

Both choose among the same candidates, the path of C that a fit with `C="auto"` walks, so that the difference between
them is the criterion alone. Cross-validation sees the whole decades of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from widemargin import ThinPlateSVC

FOLDS = 5

# Widths of a Gaussian as gamma × columns, for columns of unit variance: squared distances grow with the columns.
GAMMA_TIMES_COLUMNS = (1 / 16, 1 / 4, 1.0, 4.0)

Array = np.ndarray


@dataclass(frozen=True)
class Candidate:
    kernel: str
    C: float
    # The mean squared hinge of the samples left out.
    loo_squared_hinge: float
    # On a whole decade of λ in scale-free units.
    whole_decade: bool


def thin_plate() -> list[str]:
    return ["thin_plate"]


def gaussians(columns: int, times: Sequence[float] = GAMMA_TIMES_COLUMNS) -> list[str]:
    return [f"rbf:gamma={one / columns!r}" for one in times]


def machine(kernel: str, **parameters: Any) -> ThinPlateSVC:
    return ThinPlateSVC(kernel, n_jobs=1, **parameters)


def by_leaving_out(kernels: Sequence[str], X: Array, y: Array) -> tuple[ThinPlateSVC, list[Candidate]]:
    """The machine of least leave-one-out squared hinge, and all that was tried."""
    best, candidates = None, []
    for kernel in kernels:
        fitted = machine(kernel).fit(X, y)
        path = fitted.cv_results_
        decades = np.log10(path["lambda"])
        whole = np.abs(decades - np.round(decades)) < 1e-6
        found = [Candidate(kernel, *one) for one in zip(path["param_C"], -path["mean_test_score"], whole, strict=True)]
        candidates += found
        least = min(one.loo_squared_hinge for one in found)
        if best is None or least < best[0]:
            best = (least, fitted)
    assert best is not None
    return best[1], candidates


def by_folds(candidates: Sequence[Candidate], X: Array, y: Array) -> ThinPlateSVC:
    """The machine of the candidate with the fewest errors in five folds; of equals the one with the smaller C."""
    tried = [one for one in candidates if one.whole_decade]
    wrong = np.zeros(len(tried), dtype=int)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        for i, one in enumerate(tried):
            fitted = machine(one.kernel, C=one.C).fit(X[train], y[train])
            wrong[i] += np.count_nonzero(fitted.predict(X[test]) != y[test])
    best = min(range(len(tried)), key=lambda i: (wrong[i], tried[i].C))
    return machine(tried[best].kernel, C=tried[best].C).fit(X, y)
