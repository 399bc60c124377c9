"""Types of parameters and arguments, their validation, and warnings."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from joblib import cpu_count, effective_n_jobs
from scipy import sparse

from ._sklearn import check_sample_weight

# Vectors, images, series, strings, graphs, sets or other objects that the similarity compares.
Samples: TypeAlias = object
# How scikit-learn validates vectors.
ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}
# Classes, a multilabel indicator matrix, or the targets of a regression.
Targets: TypeAlias = npt.ArrayLike | sparse.sparray | sparse.spmatrix
Weights: TypeAlias = npt.ArrayLike | None
ClassWeight: TypeAlias = Mapping[str, float] | Mapping[int, float] | str | None
RandomState: TypeAlias = int | np.random.RandomState | None
# A spec or an object of `widemargin.similarity`, a function of blocks, or several of these.
SimilarityLike: TypeAlias = object
Path: TypeAlias = str | os.PathLike[str]
Basis: TypeAlias = str | Sequence[int] | npt.NDArray[np.integer]
# The labels of samples, whose type is that of the labels in ``fit``.
Labels: TypeAlias = npt.NDArray[np.generic]


def one_of(name: str, value: object, known: Iterable[str], *, estimator: object | None = None) -> str:
    """`value`, if it is a known name, in the library's notation.

    Raises
    ------
    ValueError
        Naming the parameter, the known names and the closest of them.
    """
    names = list(known)
    if isinstance(value, str) and value in names:
        return value.replace("_", "-")
    where = f" of {type(estimator).__name__}" if estimator is not None else ""
    allowed = ", ".join(repr(n) for n in names)
    near = difflib.get_close_matches(str(value).replace("-", "_"), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"The {name!r} parameter{where} must be one of {allowed}. Got {value!r} instead.{hint}")


def invalid(estimator: object, name: str, problem: str) -> ValueError:
    """The error of a parameter."""
    return ValueError(f"The {name!r} parameter of {type(estimator).__name__} {problem}")


class KindWarning(UserWarning):
    """Warns that samples may have been read as the wrong kind, which the parameter ``kind`` of an estimator sets.

    Examples
    --------
    >>> import warnings
    >>> from widemargin import KindWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", KindWarning)
    """


_PACKAGES = ("widemargin", "sklearn", "joblib")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Issues a warning at the innermost line outside of this package and scikit-learn.

    The number of frames in between depends on the estimator, the version of scikit-learn and the caller of ``fit``, so
    that a fixed ``stacklevel`` would point into one of their files.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def threads_of(n_jobs: int | None) -> int:
    """The number of threads as joblib determines it, limited with a warning to the number of cores: more threads would
    only wait for each other, and many thousands overload the machine."""
    requested = int(effective_n_jobs(n_jobs))
    if requested == 1:  # Counting the cores takes longer than a prediction of few samples.
        return 1
    cores = int(cpu_count())
    # If n_jobs is None, joblib may count the cores of a whole cluster.
    if n_jobs is not None and n_jobs > cores:
        warn(f"n_jobs={n_jobs} exceeds the number of cores: {cores} threads are used")
    return min(requested, cores)


BASES = ("auto", "index", "every", "random", "kmedoids")
NORMALIZATIONS = ("mean_norm", "z_score", "covariance", "none", "nystroem", "centered")
NEGATIVE_EIGENVALUES = ("clip", "flip", "shift", "square")


def normalization_of(estimator: Any, *others: str) -> str:
    """The normalization of an estimator's parameters in the library's notation, or one of the other values."""
    name = one_of("normalization", estimator.normalization, (*NORMALIZATIONS, *others), estimator=estimator)
    negative = estimator.negative_eigenvalues
    negative = one_of("negative_eigenvalues", negative, NEGATIVE_EIGENVALUES, estimator=estimator)
    if negative == "square" and name == "centered":
        wanted = "'clip', 'flip' or 'shift' with normalization='centered': 'square' is only for 'nystroem'"
        raise invalid(estimator, "negative_eigenvalues", f"must be {wanted}")
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


def basis_of(estimator: Any) -> tuple[str, npt.NDArray[np.int64] | None]:
    """The selection of bases of an estimator's parameters: a name, or "index" and the rows."""
    basis = estimator.basis
    if isinstance(basis, str):
        return one_of("basis", basis, estimator._selections, estimator=estimator), None
    rows = np.asarray(basis)
    if rows.ndim != 1 or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
        names = ", ".join(repr(name) for name in estimator._selections)
        wanted = f"one of {names} or the rows of the bases (a one-dimensional array of integers)"
        raise invalid(estimator, "basis", f"must be {wanted}. Got {basis!r} instead.")
    if rows.min() < 0:
        raise invalid(estimator, "basis", f"has the row {rows.min()}: rows are counted from 0")
    return "index", np.ascontiguousarray(rows, dtype=np.int64)


def weights_of(sample_weight: Any, n_samples: int) -> npt.NDArray[np.float64] | None:
    """The weight of each sample, from an array or one number for all; None if there are none."""
    if sample_weight is None:
        return None
    return np.require(check_sample_weight(sample_weight, range(n_samples), dtype=np.float64), requirements=["C", "A"])
