"""Names of selections of bases and of normalizations, and their validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._names import one_of

BASES = ("auto", "index", "every", "random", "kmedoids")
NORMALIZATIONS = ("mean_norm", "z_score", "covariance", "none", "nystroem", "centered")
NEGATIVE_EIGENVALUES = ("clip", "flip", "shift", "square")


def normalization_of(estimator: Any, *others: str) -> str:
    """The normalization of an estimator's parameters in the library's notation, or one of the other values."""
    name = one_of("normalization", estimator.normalization, (*NORMALIZATIONS, *others), estimator=estimator)
    negative = estimator.negative_eigenvalues
    negative = one_of("negative_eigenvalues", negative, NEGATIVE_EIGENVALUES, estimator=estimator)
    if negative == "square" and name == "centered":
        raise ValueError(
            f"The 'negative_eigenvalues' parameter of {type(estimator).__name__} must be 'clip', 'flip' or 'shift' "
            "with normalization='centered': 'square' is only for 'nystroem'"
        )
    return normalization_text(name, negative)


def normalization_text(name: str, negative_eigenvalues: str) -> str:
    """The normalization in the library's notation, such as "nystroem:negative-eigenvalues=flip"."""
    text = name.replace("_", "-")
    if negative_eigenvalues == "clip" or text not in ("nystroem", "centered"):
        return text
    return f"{text}:negative-eigenvalues={negative_eigenvalues}"


def normalization_parameters(text: str) -> dict[str, Any]:
    """The parameters ``normalization`` and ``negative_eigenvalues``, from the result of `normalization_text`."""
    name, _, option = text.partition(":")
    return {"normalization": name.replace("-", "_"), "negative_eigenvalues": option.partition("=")[2] or "clip"}


def basis_of(basis: Any, estimator: Any) -> tuple[str, npt.NDArray[np.int64] | None]:
    """The selection of bases: a name, or "index" and the rows."""
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
