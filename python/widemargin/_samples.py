"""Converts users' collections to the forms of the extension module (listed in `_core.pyi`)."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array

from ._files import Stored
from ._kinds import as_pixels, check_text, is_missing, is_nested, kind_for, plain, refuse_one
from ._parameters import ROWS
from .graphs import to_strings

# The largest number of possible elements of sets, which the library counts exactly.
_MAX_BITS = 1 << 24
# The smallest size of bit sets. Sizes are powers of two, so that those of new samples rarely differ.
_MIN_BITS = 2048


def from_vectors(X: Any) -> Any:
    """Converts validated vectors for the extension module.

    Parameters
    ----------
    X : ndarray, sparse matrix or Stored, of shape (n_samples, n_features)

    Returns
    -------
    ndarray, C-contiguous, the tuple ("csr", data, indices, indptr, n_columns), or the store
        float32 and float64 are preserved, other numbers become float64. The input is not modified, and not
        copied if it has the right form.

    Raises
    ------
    ValueError
        For a sparse matrix with more columns than 32 bits can count.
    """
    if isinstance(X, Stored):
        return X.store
    if not sparse.issparse(X):
        X = np.asarray(X)
        return as_contiguous(X, _float_of(X.dtype))
    X = X.tocsr()
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X has {X.shape[1]} columns: a sparse matrix may have at most {np.iinfo(np.int32).max}")
    if not X.has_canonical_format:
        # Sorting and summing happen in place, on a copy, since the matrix is the caller's.
        X = X.copy()
        X.sum_duplicates()
    indptr = X.indptr.astype(np.int64, copy=False)
    data, indices = X.data[: indptr[-1]], X.indices[: indptr[-1]]
    return (
        "csr",
        as_contiguous(data, _float_of(data.dtype)),
        # They are non-negative, so that unsigned integers have the same bits.
        as_contiguous(indices, np.int32).view(np.uint32),
        as_contiguous(indptr, np.int64).view(np.uintp),
        int(X.shape[1]),
    )


def checked_vectors(X: Any, name: str = "X") -> Any:
    """Validates vectors, and converts them for the extension module."""
    return from_vectors(check_array(X, **ROWS, input_name=name))


def as_contiguous(array: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A C-contiguous and aligned array, as the extension module needs it, without a copy if possible. Arrays that
    were received over a network or are memory-mapped may be neither."""
    return np.require(array, dtype=dtype, requirements=["C", "A"])


# The order of the axes of multichannel series: "auto" fails if the shape is ambiguous.


def from_other(
    X: Any, accepted: Sequence[str], name: str = "X", *, layout: str = "auto", n_channels: int | None = None
) -> tuple[Any, int]:
    """Converts samples, which need not be vectors, for the extension module.

    Parameters
    ----------
    X : array, list, tuple, sparse matrix, or frame or column of pandas or polars
        - images: uint8 of shape (n, height, width) or (n, height, width, channels), or a list of equal arrays;
        - grids of cells: floats of shape (n, rows, columns, depth);
        - time series: a list of arrays (length,) or (length, channels), rows of a 2-D array, a 3-D array
          (n, length, channels) or (n, 1, length), a column of arrays or lists, a frame with an array in each cell,
          whose columns are channels; with "channels_first" (channels, length) and (n, channels, length).
          Trailing time steps at which all channels are NaN are removed as padding;
        - strings: a list, an array, a column of strings or a frame with one such column; graphs, for `wl`, as tuples
          (node_labels, edges) or networkx graphs;
        - bit sets: a 2-D boolean array, or a list of sets of non-negative integers.
    accepted : sequence of str
        The accepted kinds of samples, in order of preference.
    name : str
        The name of X in messages.
    layout : {"auto", "channels_first", "channels_last"}
        The order of the axes of series.
    n_channels : int or None
        The required number of channels, if known: "auto" then finds their axis.

    Returns
    -------
    samples : array or tuple
    n_samples : int

    Raises
    ------
    ValueError, TypeError
        If X is of another kind or a sample cannot be used, naming the sample.
    """
    n = count(X, name)
    if not accepted:
        raise ValueError(f"{name} cannot be read: there are no accepted kinds of samples")
    if n == 0:
        raise ValueError(f"{name} has no samples: at least one is needed")
    if is_nested(X):
        layout = "channels_last"
    X = plain(X)
    kind = kind_for(X, accepted)
    if kind is None and len(accepted) > 1:
        raise TypeError(f"{name} is {_what(X)}; the similarity takes {' or '.join(_FORMS[kind] for kind in accepted)}")
    kind = kind or accepted[0]
    if kind == "series":
        return _series(X, name, layout, n_channels), n
    return _CONVERT[kind](X, name), n


def count(X: Any, name: str = "X") -> int:
    """The number of samples.

    Parameters
    ----------
    X : any sequence, array, sparse matrix or frame
    name : str
        The name of X in messages.

    Raises
    ------
    TypeError
        For anything but a collection of samples, such as a string or a generator.
    """
    refuse_one(X, name)
    if isinstance(X, (dict, set, frozenset)):
        raise TypeError(f"{name} is a {type(X).__name__}, which has no order: pass samples in a list or an array")
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        if not shape:
            raise TypeError(f"{name} is a single value: pass samples in a list or an array")
        return int(shape[0])
    if not hasattr(X, "__len__"):
        hint = f": pass list({name})" if hasattr(X, "__iter__") else ""
        raise TypeError(f"{name} is a {type(X).__name__}, which has no length{hint}")
    return len(X)


def pick(X: Any, rows: npt.NDArray[np.integer]) -> Any:
    """Selects samples, as a collection of the same kind if possible, otherwise as a list.

    Parameters
    ----------
    X : any sequence, array, sparse matrix or frame
    rows : ndarray of int of shape (n_rows,)
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        X = X.tocsr()
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows.tolist()]


def from_objects(X: Any, n: int, samples: Any = None, *, hashed: bool = False) -> Any:
    """The form for user-defined functions, with the `samples` for built-in similarities, and with fingerprints if
    `hashed`."""
    return "objects", samples, X, n, pick, fingerprints(X) if hashed else []


def items(X: Any) -> list[Any]:
    """The samples as a list: rows of arrays and frames (as tuples), elements of sequences."""
    if hasattr(X, "itertuples"):
        return list(X.itertuples(index=False, name=None))
    if hasattr(X, "iter_rows"):
        return list(X.iter_rows())
    if sparse.issparse(X):
        X = X.tocsr()
    is_indexed = (hasattr(X, "shape") and not hasattr(X, "to_list")) or not hasattr(X, "__iter__")
    return [X[row] for row in range(count(X))] if is_indexed else list(X)


def fingerprints(X: Any) -> list[int]:
    """Hashes of the content of the samples; empty if they cannot be pickled."""
    try:
        hashes = (blake2b(pickle.dumps(sample), digest_size=16) for sample in items(X))
        return [int.from_bytes(one.digest(), "little") for one in hashes]
    except Exception:  # whatever the samples' own code raises
        return []


def check_alike(samples: Any, bases: Any, X: Any, Y: Any) -> None:
    """Checks that tables have the same number of features; `samples` and `bases` are the converted X and Y.

    Raises
    ------
    ValueError
        If the numbers of features differ.
    """
    widths = _width(samples, X), _width(bases, Y)
    if None not in widths and widths[0] != widths[1]:
        raise ValueError(f"X has {widths[0]} features, Y has {widths[1]}: samples and bases need the same number")


def _width(form: Any, X: Any) -> int | None:
    """The number of columns of vectors and boolean rows; None for other samples, such as Python sets."""
    if isinstance(form, tuple) and form[0] == "objects":
        form = form[1]
    if isinstance(form, np.ndarray):
        return form.shape[1]
    known = ("csr", "bits") if len(getattr(X, "shape", ())) == 2 else ("csr",)
    return form[-1] if isinstance(form, tuple) and form[0] in known else None


def _float_of(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype == np.float32 else np.float64


def _what(X: Any) -> str:
    if isinstance(X, np.ndarray):
        return f"an array of {X.dtype} of shape {X.shape}"
    if isinstance(X, list):
        return f"a sequence of {type(X[0]).__name__}" if X else "an empty sequence"
    if sparse.issparse(X):
        return "a sparse matrix"
    return f"a {type(X).__name__}"


def _array(X: Any, name: str, form: str) -> npt.NDArray[Any]:
    """X as a numeric array with more than one axis."""
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} has samples of different shapes ({error}); the similarity takes {form}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} is {_what(X)}; the similarity takes {form}")
    return array


def _images(X: Any, name: str) -> Any:
    if isinstance(X, list):
        X = [np.asarray(image) for image in X]
        for number, image in enumerate(X):
            if image.shape != X[0].shape:
                raise ValueError(
                    f"{name}: images must have the same size, but image {number} (from 0) has shape {image.shape} and "
                    f"the first one {X[0].shape}: resize or crop them"
                )
    pixels = _array(X, name, _FORMS["images"])
    if pixels.dtype != np.uint8:
        raise TypeError(
            f"{name} has pixels of {pixels.dtype}: pixels are uint8, 0 to 255. Convert them: {as_pixels(pixels)}"
        )
    if pixels.ndim not in (3, 4):
        form = "(n, height, width) or (n, height, width, channels)"
        raise ValueError(f"{name} has shape {pixels.shape}: images are {form}")
    return "images", as_contiguous(pixels if pixels.ndim == 4 else pixels[..., None], np.uint8)


def _grids(X: Any, name: str) -> Any:
    cells = _array(X, name, _FORMS["grids"])
    if cells.dtype == np.uint8:
        raise TypeError(
            f"{name} is {_what(cells)}, which are images: a descriptor comes before the similarity, HOG() >> Rigid()"
        )
    if cells.ndim != 4:
        raise ValueError(f"{name} has shape {cells.shape}: grids of cells are (n, rows, columns, depth)")
    cells = as_contiguous(cells, np.float32)
    if not np.isfinite(cells).all():
        number, row, column, at = np.argwhere(~np.isfinite(cells))[0]
        value = cells[number, row, column, at]
        raise ValueError(
            f"{name}: grid {number} has the value {value} in cell {row}, {column} (from 0): it must be finite"
        )
    return "grids", cells


def _series(X: Any, name: str, layout: str = "auto", n_channels: int | None = None) -> Any:
    if not isinstance(X, list):
        X = _array(X, name, _FORMS["series"])
        if X.ndim not in (2, 3):
            raise ValueError(f"{name} has shape {X.shape}: series are (n, length) or (n, length, channels)")
    padded = isinstance(X, np.ndarray)
    shapes = [X.shape[1:]] if padded else [np.shape(x) if hasattr(x, "shape") else _shape(x) for x in X]
    is_first = _is_channels_first(shapes, name, layout, n_channels)
    series = [_one_series(x, number, name, padded, is_first) for number, x in enumerate(X)]
    channels = series[0].shape[1]
    form = "(channels, length)" if is_first else "(length, channels) unless kind='series_channels_first'"
    for number, x in enumerate(series):
        if x.shape[1] != channels:
            raise ValueError(
                f"{name}: all series must have as many channels, but series {number} (from 0) has {x.shape[1]} and the "
                f"first one {channels} (a series is (length,) or {form})"
            )
    values = np.concatenate(series)
    if n_channels is None:
        _check_precision(values, X, name)
    lengths = np.array([len(x) for x in series], dtype=np.int64)
    return "series", np.ascontiguousarray(values), lengths


def _check_precision(values: npt.NDArray[np.float32], X: Any, name: str) -> None:
    """Raises ValueError for training series whose range is close to the resolution of single precision."""
    low, high = float(values.min()), float(values.max())
    if high == low and not any(np.ptp(np.asarray(x, dtype=np.float64)) > 0 for x in X):
        return  # All values are equal.
    if high - low < 50 * np.finfo(np.float32).eps * max(abs(low), abs(high)):
        raise ValueError(
            f"{name}: all values are between {low:.9g} and {high:.9g}, too far from 0 for single precision: subtract "
            f"the same number from all series, such as {low:.9g}"
        )


def _shape(x: Any) -> tuple[int, ...]:
    """The shape of nested lists; (0,) for objects without one, which are rejected later by index."""
    try:
        return np.asarray(x).shape if isinstance(x, (list, tuple)) else (0,)
    except ValueError:
        return (0,)


def _is_channels_first(shapes: list[tuple[int, ...]], name: str, layout: str, n_channels: int | None) -> bool:
    """Whether series of these shapes are (channels, length).

    Raises
    ------
    ValueError
        If `layout` is "auto" and the shapes are ambiguous.
    """
    shapes = [shape for shape in shapes if len(shape) == 2]
    if layout != "auto" or not shapes:
        return layout == "channels_first"
    first, last = {shape[0] for shape in shapes}, {shape[1] for shape in shapes}
    if n_channels is not None:
        as_first, as_last = first == {n_channels}, last == {n_channels}
        if not (as_first and as_last) or n_channels == 1:
            return as_first and not as_last
    elif first == {1} and min(last) > 1:
        return True  # one channel
    elif len(first) > 1 or len(last) > 1:
        return False  # lengths differ, and channels must not
    elif max(last) < max(2, *first):
        return False  # fewer channels than time steps, or one
    length, channels = shapes[0]
    raise ValueError(
        f"{name} has series of shape {(length, channels)}: as (length, channels) each has {length} time steps of "
        f"{channels} channels. Pass kind='series_channels_first' if they are (channels, length), as in aeon, or "
        "kind='series_channels_last' if they are (length, channels), as in tslearn"
    )


def channels_first(series: list[Any]) -> list[Any]:
    """Converts series (length, channels) to (channels, length), or vice versa."""
    return [one.T if np.ndim(one) == 2 else one for one in series]


def _one_series(x: Any, number: int, name: str, padded: bool, is_first: bool) -> npt.NDArray[np.float32]:
    """A series of shape (length, channels)."""
    where = f"{name}: series {number} (from 0)"
    if is_missing(x):
        raise ValueError(f"{where} is missing ({x})")
    try:
        array = np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x)
        if array.dtype.kind == "O":  # as with None for a missing value
            array = array.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{where} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{where} is {_what(array)}: a series is an array of numbers")
    if array.ndim not in (1, 2):
        form = "(channels, length)" if is_first else "(length, channels)"
        raise ValueError(f"{where} has shape {array.shape}: a series is (length,) or {form}")
    if is_first and array.ndim == 2:
        array = array.T
    if array.size == 0:
        raise ValueError(f"{where} is empty: it needs at least one time step")
    with np.errstate(over="ignore"):
        values = array.astype(np.float32).reshape(len(array), -1)
    # Shorter series are padded with NaN.
    present = np.flatnonzero(~np.isnan(values).all(axis=1))
    if not len(present):
        raise ValueError(f"{where} is empty: all its values are missing (NaN)")
    values = values[: present[-1] + 1]
    if not np.isfinite(values).all():
        time, channel = np.argwhere(~np.isfinite(values))[0]
        at = array.reshape(len(array), -1)[time, channel]
        hint = "cut or interpolate missing values"
        if padded:
            hint += "; pass series of unequal length as a list of arrays, or padded with NaN at their end"
        elif np.isfinite(at):
            hint = "it overflows single precision, scale the series"
        raise ValueError(f"{where} is {at} at time step {time}, channel {channel}: {hint}")
    return values


def _strings(X: Any, name: str) -> Any:
    if not isinstance(X, list):
        raise TypeError(f"{name} is {_what(X)}; the similarity takes {_FORMS['strings']}")
    for row, text in enumerate(X):
        if isinstance(text, str):
            check_text(text, f"{name}: row {row} (from 0)")
            continue
        if is_missing(text):
            raise ValueError(f"{name}: row {row} (from 0) is missing ({text}): a string is needed; the empty one is ''")
        hint = ": decode it" if isinstance(text, bytes) else ""
        raise TypeError(f"{name}: row {row} (from 0) is a {type(text).__name__}, not a string{hint}")
    return "strings", X


def _bit_sets(X: Any, name: str) -> Any:
    if not isinstance(X, list):
        if not isinstance(X, np.ndarray) or X.dtype.kind != "b" or X.ndim != 2:
            raise TypeError(f"{name} is {_what(X)}; the similarity takes {_FORMS['sets']}")
        packed = np.packbits(X, axis=1, bitorder="little")
        n_bytes = 8 * math.ceil(X.shape[1] / 64)
        packed = np.pad(packed, ((0, 0), (0, n_bytes - packed.shape[1])))
        return "bits", np.ascontiguousarray(packed).view("<u8").astype(np.uint64, copy=False), int(X.shape[1])
    sets = [_one_set(elements, number, name) for number, elements in enumerate(X)]
    largest = max((int(elements[-1]) for elements in sets if len(elements)), default=0)
    n_bits = max(_MIN_BITS, 1 << largest.bit_length())
    words = np.zeros((len(sets), math.ceil(n_bits / 64)), dtype=np.uint64)
    for row, elements in zip(words, sets, strict=True):
        np.bitwise_or.at(row, elements // 64, np.uint64(1) << (elements % 64).astype(np.uint64))
    return "bits", words, n_bits


def _one_set(elements: Any, number: int, name: str) -> npt.NDArray[np.int64]:
    """The elements in ascending order."""
    where = f"{name}: set {number} (from 0)"
    if not isinstance(elements, (set, frozenset)):
        raise TypeError(f"{where} is a {type(elements).__name__}, not a set")
    for element in elements:
        if isinstance(element, (bool, np.bool_)) or not isinstance(element, (int, np.integer)):
            raise TypeError(f"{where} has the element {element!r}: elements are integers from 0")
        if not 0 <= element < _MAX_BITS:
            raise ValueError(f"{where} has the element {element}: elements are integers from 0 to {_MAX_BITS - 1}")
    return np.array(sorted(int(element) for element in elements), dtype=np.int64)


_FORMS = {
    "table": "vectors (n, features)",
    "images": "images (uint8 of shape (n, height, width) or (n, height, width, channels), or a list of equal arrays)",
    "grids": "grids of cells (floats of shape (n, rows, columns, depth))",
    "series": (
        "time series (a list of arrays (length,) or (length, channels), or an array (n, length) or "
        "(n, length, channels))"
    ),
    "strings": "strings (a list or a column of str)",
    "sets": "bit sets (an array of bool of shape (n, elements), or a list of sets of integers)",
}

_CONVERT: dict[str, Callable[[Any, str], Any]] = {
    "table": checked_vectors,
    "images": _images,
    "grids": _grids,
    "sets": _bit_sets,
    "graphs": lambda X, name: _strings(to_strings(X), name),
    "strings": _strings,
}
