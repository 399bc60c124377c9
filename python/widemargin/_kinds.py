"""The kind of samples in a collection, and conversion of collections of other libraries to arrays and lists.

Data frames and columns of pandas and polars are recognized by their methods, so that neither is imported here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ._parameters import one_of
from .graphs import is_graph

# The kinds of samples, with the library's names for them. Graphs are passed to it as strings.
NOUNS = {
    "table": "vectors",
    "series": "time series",
    "strings": "strings",
    "sets": "bit sets",
    "images": "images",
    "graphs": "graphs",
    "grids": "grids of cells",
}
# Values of the parameter `kind` that set the order of the axes of multichannel time series.
LAYOUTS = {"series_channels_first": "channels_first", "series_channels_last": "channels_last"}
# Values of the parameter `kind`.
KINDS = ("auto", *NOUNS, *LAYOUTS, "objects")

# Kinds in the order in which they are tried; a collection of none of them may be a table.
_TRIED = ("graphs", "strings", "images", "sets", "grids", "series")

# The types of the numbers in an array of each kind of samples, and its number of axes.
_NUMBERS = ("b", "i", "u", "f", "uint8")
_ARRAYS: dict[str, tuple[Sequence[str], Sequence[int]]] = {
    "images": (("uint8",), (3, 4)),
    "sets": (("b",), (2,)),
    "series": (_NUMBERS, (2, 3)),
    "table": (_NUMBERS, (2,)),
    "grids": (("i", "u", "f"), (4,)),
}

# The smallest number of columns that may be time steps, the largest share of the variance by which neighboring time
# steps differ, and the number of rows compared.
_STEPS, _ROUGHNESS, _SOME_ROWS = 50, 0.1, 200

# The smallest height and width of a picture.
_PICTURE = 16


def kind_and_layout(kind: object) -> tuple[str, str]:
    """The kind of samples that a parameter ``kind`` selects, and the order of the axes of time series.

    Raises
    ------
    ValueError
        For an unknown kind.
    """
    name = one_of("kind", kind, KINDS).replace("-", "_")
    return ("series", LAYOUTS[name]) if name in LAYOUTS else (name, "auto")


def kind_of(X: Any, name: str = "X") -> str:
    """The kind of the samples in X.

    Parameters
    ----------
    X : any collection of samples
    name : str
        The name of X in messages.

    Returns
    -------
    {"table", "series", "strings", "sets", "images", "graphs", "grids"}
        A numeric 2-D array, and a list of lists of equal length, is a table of vectors; a list or a column of arrays
        is time series.

    Raises
    ------
    TypeError
        For a list of other objects, and for pictures of another type than uint8.
    """
    refuse_one(X, name)
    X = plain(X)
    if _are_pictures(X):
        raise TypeError(
            f"{name} is an array of {X.dtype} of shape {X.shape}, which looks like pictures: pixels are uint8, 0 to "
            f"255. Convert them: {as_pixels(X)}. For time series or grids of cells pass kind='series' or kind='grids'"
        )
    kind = _known_kind(X)
    if kind is None:
        first = next((x for x in X if x is not None), None)
        if isinstance(first, bytes):
            raise TypeError(f"{name} has bytes, not strings: decode them, as by [x.decode() for x in {name}]")
        raise TypeError(
            f"{name} is a list of objects of type {type(first).__name__}, which built-in similarities cannot "
            f"compare. They compare {', '.join(NOUNS.values())}; for other objects pass a similarity of your own: a "
            "function f(a, b) decorated with widemargin.similarity.pairs"
        )
    return kind


def as_pixels(X: npt.NDArray[Any]) -> str:
    """Code that converts numbers to pixels from 0 to 255 without overflow."""
    largest = X.max(initial=0)
    if X.min(initial=0) < 0:
        return "(255 * (X - X.min()) / (X.max() - X.min())).round().astype(np.uint8)"
    if largest <= 1:
        return "(255 * X).round().astype(np.uint8)" if X.dtype.kind == "f" else "255 * X.astype(np.uint8)"
    if largest <= 255:
        return "X.round().astype(np.uint8)" if X.dtype.kind == "f" else "X.astype(np.uint8)"
    # The upper eight of 12 or 16 bits.
    return f"(X // {2 ** math.ceil(math.log2(float(largest) + 1)) // 256}).astype(np.uint8)"


def _are_pictures(X: Any) -> bool:
    """Whether an array of another type than uint8 looks like pictures: about the same height and width, and values from
    0 to 1 or whole numbers. Series with as many channels as time steps are rare."""
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "kind", "O") not in "biuf" or dtype == np.uint8 or X.ndim not in (3, 4) or X.size == 0:
        return False
    sides = X.shape[1:3]
    if min(sides) < _PICTURE or max(sides) > 2 * min(sides) or (X.ndim == 4 and X.shape[3] not in (1, 3)):
        return False
    low, high = X.min(), X.max()
    return bool(low >= 0 and (high <= 1 or (X.round() == X).all()))


def kind_for(X: Any, accepted: Sequence[str]) -> str | None:
    """The kind, among the accepted ones, as which X is read; None if it has no such kind.

    Parameters
    ----------
    X : array, list, sparse matrix or frame, as `plain` returns it
    accepted : sequence of str
        The accepted kinds of samples, in order of preference.
    """
    kind = _known_kind(X)
    may_be_series = kind == "table" and "series" in accepted and not sparse.issparse(X)
    if may_be_series and (accepted[0] == "series" or _is_padded(X)):
        return "series"  # rows of one length
    if kind in accepted or (kind == "graphs" and "strings" in accepted):
        return kind
    # A boolean table is also a numeric table.
    return next((kind for kind in sorted(accepted, key="table".__eq__) if _looks_like(kind, X)), None)


def are_smooth(X: Any) -> bool:
    """Whether the rows of a table look like series: many columns, with nearly equal values in neighboring ones."""
    X = plain(X)
    if not isinstance(X, (list, np.ndarray)) or len(X) < 2 or np.ndim(X[0]) != 1 or len(X[0]) < _STEPS:
        return False
    rows = np.asarray(X[:_SOME_ROWS])
    if rows.dtype.kind not in "iuf":
        return False
    with np.errstate(all="ignore"):  # Validation reports values that are not finite.
        # Column means differ between units, and row means are shared by all columns: both are subtracted.
        rows = rows - rows.mean(axis=0, dtype=np.float64)
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.square(rows).mean()
        return bool(variance > 0 and np.square(np.diff(rows)).mean() < 2 * _ROUGHNESS * variance)


def plain(X: Any) -> Any:
    """Converts frames, columns, sequences, tensors and arrays of objects to arrays and lists."""
    if isinstance(X, list) or sparse.issparse(X):
        return X
    if isinstance(X, tuple):
        return list(X)
    if is_nested(X):
        return channels_of(X)
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):  # a data frame
        if len(X.columns) == 1:
            column = plain(column_at(X, 0))
            return column if isinstance(column, list) or column.ndim != 1 else column[:, None]
        X = X.to_numpy()
    elif hasattr(X, "to_numpy") and hasattr(X, "to_list"):  # a column
        values = X.to_numpy()
        X = _cells(X.to_list()) if values.ndim > 1 or values.dtype.kind not in "biuf" else values
    elif hasattr(X, "to_pylist"):  # a column of Arrow
        X = _cells(X.to_pylist())
    elif hasattr(X, "__array__") and hasattr(X, "shape") and not isinstance(getattr(X, "dtype", None), np.dtype):
        X = np.asarray(X)  # a tensor, or an extension array
    elif _is_sequence(X) and not hasattr(X, "__array__"):
        X = [X[row] for row in range(len(X))]
    if isinstance(X, np.ndarray) and X.dtype.kind in "OSUT":
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim == 1:
            return _cells(X.tolist())
    return X


def names_of(X: Any) -> list[str] | None:
    """The column names of a data frame, if all names are strings."""
    names = list(X.columns) if hasattr(X, "columns") and hasattr(X, "__getitem__") else []
    return names if names and all(isinstance(name, str) for name in names) else None


def by_name(X: Any, trained: npt.NDArray[Any] | list[str] | None) -> Any:
    """Reorders the columns of a data frame to the order of the names in `trained`; other names than texts are compared
    as texts.

    Other objects, and frames with other or repeated names, are returned unchanged: scikit-learn's validation reports
    them.
    """
    if trained is None or not hasattr(X, "columns") or not hasattr(X, "__getitem__"):
        return X
    found, names = {str(name): name for name in X.columns}, list(trained)
    if list(found) == names or len(found) < len(X.columns) or sorted(found) != sorted(names):
        return X
    return X[[found[name] for name in names]]


def refuse_one(X: Any, name: str = "X") -> None:
    """Raises TypeError if X is a single sample, or a lazy frame, instead of a collection."""
    if isinstance(X, (str, bytes)):
        raise TypeError(f"{name} is one {'string' if isinstance(X, str) else 'bytes object'}: pass samples in a list")
    if is_graph(X):
        raise TypeError(f"{name} is one graph: pass samples in a list")
    # A lazy frame of polars, and a table of Arrow.
    for method in ("collect", "to_pandas"):
        if hasattr(X, method) and not hasattr(X, "to_numpy"):
            raise TypeError(f"{name} is a {type(X).__name__}, which has no rows of numbers: pass {name}.{method}()")
    if np.ma.is_masked(X):
        raise ValueError(f"{name} has masked values: impute them, such as by {name}.filled({name}.mean(axis=0))")


def check_text(text: str, where: str) -> None:
    """Refuses a string with a surrogate, which stands for no character and which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where} is not text: {text[error.start]!r} at position {error.start} is half of a character. Replace it, "
            "as by text.encode(errors='replace').decode()"
        ) from None


def is_missing(value: Any) -> bool:
    """Whether a cell, a label or a sample is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def is_nested(X: Any) -> bool:
    """Whether X is a frame, or an array of objects, with a series in each cell of several columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] < 2 or not isinstance(shape[0], int) or shape[0] == 0 or sparse.issparse(X):
        return False
    if isinstance(X, np.ndarray):
        return X.dtype.kind == "O" and _is_series(X[0, 0])
    return hasattr(X, "columns") and hasattr(X, "to_numpy") and _is_series(next(iter(column_at(X, 0))))


def channels_of(X: Any) -> list[npt.NDArray[Any]]:
    """The series (length, channels) of a nested frame, whose columns are channels.

    Raises
    ------
    ValueError
        If the channels of a series differ in length, naming the series.
    """
    columns = [list(column_at(X, at)) for at in range(X.shape[1])]
    series = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        lengths = [len(cell) if _is_series(cell) else 0 for cell in cells]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"series {row} (from 0) has channels of lengths {lengths}, one per column: the channels of a series "
                "must have the same length"
            )
        series.append(np.stack([np.asarray(cell) for cell in cells], axis=-1))
    return series


def column_at(X: Any, at: int) -> Any:
    """A column of a frame, or of an array, by its position."""
    return X.iloc[:, at] if hasattr(X, "iloc") else X[:, at]


def depth_of(x: Any) -> int:
    """The number of axes, judging by the first elements."""
    if hasattr(x, "ndim"):
        return int(x.ndim)
    if isinstance(getattr(x, "shape", None), tuple):
        return len(x.shape)
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)):
        return 1 + (depth_of(x[0]) if len(x) else 0)
    return 0


def _known_kind(X: Any) -> str | None:
    """The kind of samples; None for a list of objects of no kind."""
    if _is_table(X):
        return "table"
    kind = next((kind for kind in _TRIED if _looks_like(kind, X)), None)
    if kind is not None or not isinstance(X, list):
        return kind or "table"
    first = next((x for x in X if x is not None), 0.0)
    return "table" if isinstance(first, Number) or depth_of(first) > 0 else None


def _is_table(X: Any) -> bool:
    """Whether X is a numeric 2-D array, or a list of lists of equal length."""
    if isinstance(X, list):
        rows_are_lists = all(isinstance(row, (list, tuple)) for row in X)
        return rows_are_lists and depth_of(X) == 2 and len({len(row) for row in X}) == 1 and not is_graph(X[0])
    return getattr(X, "ndim", 0) == 2 and getattr(getattr(X, "dtype", None), "kind", "O") in "iuf"


def _is_padded(X: Any) -> bool:
    """Whether rows of a table are padded with NaN, as series of different lengths."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f" and bool(np.isnan(X).any())


def _looks_like(kind: str, X: Any) -> bool:
    """Whether X can be read as samples of a kind."""
    dtype, ndim = getattr(X, "dtype", None), getattr(X, "ndim", 0)
    if isinstance(X, list):
        return len(X) > 0 and _are_like(kind, X)
    if sparse.issparse(X) or not isinstance(dtype, np.dtype):
        return kind == "table"
    types, axes = _ARRAYS.get(kind, ((), ()))
    return ("uint8" if dtype == np.uint8 else dtype.kind) in types and ndim in axes


def _are_like(kind: str, X: list[Any]) -> bool:
    """Whether the elements of a list can be read as samples of a kind, judging by the first."""
    first = next((x for x in X if x is not None), None)
    match kind:
        case "strings":
            return any(isinstance(x, str) for x in X)
        case "graphs":
            return is_graph(first)
        case "sets":
            return isinstance(first, (set, frozenset))
        case "images" if getattr(first, "dtype", None) != np.uint8:
            return False
    return depth_of(first) + 1 in _ARRAYS[kind][1] and not is_graph(first)


def _is_series(cell: Any) -> bool:
    """Whether a cell of a frame holds several values."""
    return depth_of(cell) > 0 and not is_graph(cell)


def _cells(values: list[Any]) -> list[Any]:
    """Cells of a column: lists become arrays, so that they are series and not rows of a table."""
    return [_array(cell) if isinstance(cell, (list, tuple)) and not is_graph(cell) else cell for cell in values]


def _array(cell: Any) -> Any:
    try:
        return np.asarray(cell)
    except ValueError:  # of unequal rows, which the conversion to samples reports
        return cell


def _is_sequence(X: Any) -> bool:
    return hasattr(X, "__len__") and hasattr(X, "__getitem__") and not hasattr(X, "shape") and not hasattr(X, "keys")
