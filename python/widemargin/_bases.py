"""How bases are selected and similarities normalized: the names, and what is checked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._names import one_of

BASES = ("index", "every", "random", "stratified", "kmedoids")
NORMALIZATIONS = (
    "mean_norm",
    "z_score",
    "covariance",
    "none",
    "nystrom",
    "nystrom_clip",
    "nystrom_flip",
    "nystrom_shift",
    "nystrom_square",
    "nystrom_symmetric_clip",
    "nystrom_symmetric_flip",
    "nystrom_symmetric_shift",
    "nystrom_symmetric_square",
    "centered",
    "centered_clip",
    "centered_flip",
    "centered_shift",
)


def basis_of(basis: Any, estimator: Any) -> tuple[str, npt.NDArray[np.int64] | None]:
    """How bases are selected: a name, or "index" and the rows."""
    if isinstance(basis, str):
        return one_of("basis", basis, BASES, estimator=estimator), None
    rows = np.asarray(basis)
    if rows.ndim != 1 or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
        names = ", ".join(repr(name) for name in BASES)
        raise ValueError(
            f"The 'basis' parameter of {type(estimator).__name__} must be one of {names} or the rows of the bases "
            f"(a one-dimensional array of integers). Got {basis!r} instead."
        )
    return "index", np.ascontiguousarray(rows, dtype=np.int64)


def same_length(n_samples: int, n_labels: int) -> None:
    """Raises ValueError if the numbers of samples and labels differ."""
    if n_samples != n_labels:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[n_samples, n_labels]} (X and y)"
        )
