"""Collections of Dask as partitions: samples, labels and weights of the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed


@dataclass(frozen=True)
class Partition:
    """Delayed parts of some rows."""

    samples: Any
    labels: Any
    weights: Any


def partitions(X: Any, y: Any, sample_weight: Any, plain: str) -> list[Partition]:
    """The partitions of samples, with the labels and weights of the same rows; `plain` is the estimator for samples in
    memory.

    Raises
    ------
    TypeError
        If X is not a collection of Dask.
    ValueError
        If the partitions of labels or weights cannot be matched to those of the samples.
    """
    if not is_dask_collection(X):
        raise TypeError(f"X is {type(X).__name__}, not a collection of Dask: widemargin.{plain} trains in memory")
    samples = pieces(X, "X")
    named = (("y", y), ("sample_weight", sample_weight))
    others = [[None] * len(samples) if one is None else _as(one, X, len(samples), name) for name, one in named]
    return [Partition(*parts) for parts in zip(samples, *others, strict=True)]


def pieces(X: Any, name: str) -> list[Any]:
    """One delayed object per partition of rows."""
    if hasattr(X, "to_delayed") and hasattr(X, "chunks"):
        blocks = np.asarray(X.to_delayed(), dtype=object)
        if blocks.ndim > 1 and any(size != 1 for size in blocks.shape[1:]):
            raise ValueError(
                f"{name} is also split along its columns (chunks {X.chunks[1:]}): pass {name}.rechunk({{1: -1}})"
            )
        return list(blocks.ravel())
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed())
    raise TypeError(f"{name} is {type(X).__name__}: a Dask array, frame, series or bag is needed")


def _as(other: Any, X: Any, n: int, name: str) -> list[Any]:
    """Labels or weights in as many partitions as the samples."""
    sizes = _lengths(X)
    if is_dask_collection(other):
        lengths = _lengths(other)
        if sizes is not None and lengths is not None and lengths != sizes:
            if sum(lengths) != sum(sizes):
                raise ValueError(f"X has {sum(sizes)} rows, {name} has {sum(lengths)}")
            other = other.rechunk({0: sizes})
        found = pieces(other, name)
        if len(found) != n:
            raise ValueError(f"X has {n} partitions, {name} has {len(found)}: they must be split at the same rows")
        return found
    if sizes is None:
        raise ValueError(
            f"{name} is {type(other).__name__}, and the lengths of the partitions of X are unknown: {name} must be a "
            "collection of Dask split at the same rows"
        )
    other = np.asarray(other)
    if other.shape[:1] != (sum(sizes),):
        raise ValueError(f"X has {sum(sizes)} rows, {name} has {len(other)}")
    return [delayed(part) for part in np.split(other, np.cumsum(sizes)[:-1])]


def _lengths(collection: Any) -> tuple[int, ...] | None:
    """Rows of each partition of an array, if they are known."""
    chunks = getattr(collection, "chunks", None)
    return None if chunks is None or np.isnan(chunks[0]).any() else tuple(chunks[0])
