"""Training samples in files or chunks that need not fit in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.datasets import dump_svmlight_file
from sklearn.utils import check_array, check_consistent_length

from . import _core
from ._kinds import by_name, names_of
from ._parameters import ROWS, Samples, Targets


@dataclass(frozen=True)
class Files:
    """The result of `files`, which is passed to ``fit``."""

    data: str | os.PathLike[str] | Iterator[tuple[Samples, Targets]]
    scratch: str | os.PathLike[str] | None
    # Opens samples that are in files.
    store: Callable[..., _core.Store]


def files(
    data: str | os.PathLike[str] | Iterator[tuple[Samples, Targets]],
    *,
    label: str | int | None = "auto",
    format: str | None = None,
    memory_limit: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Files:
    """Describes training samples that ``fit`` reads in blocks, for data that do not fit in memory.

    Pass the result as X to ``fit`` of `BasisExpansionSVC`, `ThinPlateSVC`, `PowerMeanSVC` or the regressors, without y
    if the files contain the labels. The fit and the model are the same as those of the command line with
    ``--memory-limit``.

    Parameters
    ----------
    data : path or iterator
        A file of vectors, a folder of such files (shards), or an iterator of chunks (X, y), where X is an array, a
        sparse array or a numeric data frame. Chunks are written to temporary files.
    label : str, int or None, default="auto"
        The label column: its name, its number (counted from 1), or None if y is passed to ``fit``. "auto" selects the
        column by the same rule as the command line.
    format : str or None, default=None
        The format of the files, such as "csv"; None infers it from the file names.
    memory_limit : int or None, default=None
        The memory in bytes that the fit may use in addition to the memory already used by the process; None means half
        of the free memory.
    scratch : path or None, default=None
        The folder for temporary files, on a disk with sufficient space; None means the default of the system.
    checkpoint : path or None, default=None
        The folder for checkpoints: if a fit is interrupted, another fit with the same data and parameters resumes from
        the checkpoint.

    Returns
    -------
    Files

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import ThinPlateSVC, files
    >>> X, y = load_iris(return_X_y=True)
    >>> chunks = ((X[part], y[part]) for part in np.array_split(np.random.default_rng(0).permutation(150), 5))
    >>> ThinPlateSVC(n_basis=30).fit(files(chunks, memory_limit=2**30)).score(X, y) > 0.9
    True
    """
    column = None if label is None else str(label)
    store = partial(_core.Store, label=column, format=format, memory_limit=memory_limit, checkpoint=checkpoint)
    return Files(data, scratch, store)


class Stored:
    """Vectors on disk instead of an array."""

    def __init__(self, store: _core.Store, names: Sequence[str] | None) -> None:
        self.store = store
        self.names = store.feature_names if names is None else names
        self.shape = store.n_samples, store.n_features


@contextmanager
def opened(estimator: Any, X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """The X and y of a fit, with files open within the context and chunks written to files.

    Raises
    ------
    TypeError
        For files or chunks, if the estimator needs all samples in memory.
    """
    found = files(X) if hasattr(X, "__next__") else X
    if not isinstance(found, Files):
        yield X, y
        return
    if not estimator._reads_files:
        raise TypeError(f"{type(estimator).__name__} needs all samples in memory: pass them as an array")
    with tempfile.TemporaryDirectory(dir=found.scratch, prefix="widemargin-") as folder:
        data, store, n_features, names = found.data, found.store, None, None
        if isinstance(data, Iterator):
            if y is not None:
                raise ValueError("y must be None if X is an iterator: its chunks are pairs (X, y)")
            y, n_features, names = _write(data, Path(folder))
            data, store = folder, partial(store, label=None, format="npy" if n_features is None else "libsvm")
        read = store(data, n_features=n_features, scratch=folder, threads=estimator._threads())
        if y is None:
            classes, codes = read.labels()
            y = codes if codes.ndim == 2 else np.array(classes)[codes]
            y = y.astype(np.float64) if is_regressor(estimator) else y
        yield Stored(read, names), y


def _write(chunks: Iterator[Any], folder: Path) -> tuple[npt.NDArray[Any], int | None, list[str] | None]:
    """Writes chunks to files. Returns all labels, the number of features of sparse rows, and the names of columns."""
    labels, first, names = [], None, None
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, tuple) or len(chunk) != 2:
            raise TypeError(f"chunk {number} is a {type(chunk).__name__}, not a pair (X, y)")
        X, y = chunk
        found = names_of(X)
        names = found if number == 0 else names
        X = by_name(X, names)
        if names_of(X) != names:
            raise ValueError(f"chunk {number} has the columns {found or 'without names'}, chunk 0 has {names}")
        X = check_array(X, **ROWS)
        check_consistent_length(X, y)
        now = f"{X.shape[1]} columns and is {'sparse' if sparse.issparse(X) else 'dense'}"
        if first not in (None, now):
            raise ValueError(f"chunk {number} has {now}, chunk 0 has {first}")
        first = now
        if sparse.issparse(X):
            dump_svmlight_file(X, np.zeros(X.shape[0]), str(folder / f"{number:09}.svm"), zero_based=False)
        else:
            np.save(folder / f"{number:09}.npy", X)
        labels.append(np.asarray(y))
    if first is None:
        raise ValueError("the iterator has no chunks: it is exhausted, or empty")
    return np.concatenate(labels), X.shape[1] if sparse.issparse(X) else None, names
