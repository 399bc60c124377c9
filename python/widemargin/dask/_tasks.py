"""What workers do: functions of their arguments alone, so that any worker can do them again after another was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from .. import _core
from .._columns import names_of
from .._samples import count, from_vectors, pick
from ..transformers import BasisExpansion

T = TypeVar("T")


@dataclass(frozen=True)
class Summary:
    """What is to be known of a partition before a fit."""

    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float64] | None
    width: int | None
    kind: str
    # Of the columns, where they have names.
    names: list[str] | None

    @property
    def n(self) -> int:
        return len(self.codes)


def summary(number: int, samples: Any, labels: Any, weights: Any) -> Summary:
    """Checks a partition and tells its labels.

    Raises
    ------
    ValueError
        Naming the partition.
    """
    y, n = np.asarray(labels), count(samples, f"partition {number} of X")
    if y.ndim != 1:
        y = y.reshape(len(y), -1)
        if y.shape[1] != 1:
            raise ValueError(f"partition {number}: y has {y.shape[1]} columns, one label a row is needed")
        y = y[:, 0]
    if len(y) != n:
        raise ValueError(f"partition {number}: X has {n} rows, y has {len(y)}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"partition {number}: the label of its row {int(np.argmin(np.isfinite(y)))} is not finite")
    classes, codes = np.unique(y, return_inverse=True)
    given = None
    if weights is not None:
        given = np.asarray(weights, dtype=np.float64).reshape(-1)
        if len(given) != n:
            raise ValueError(f"partition {number}: X has {n} rows, sample_weight has {len(given)}")
        bad = ~np.isfinite(given) | (given < 0)
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(f"partition {number}: the weight of its row {row} is {given[row]}: a number of 0 or more")
    shape: tuple[int, ...] = getattr(samples, "shape", ())
    width = shape[1] if len(shape) > 1 else None
    return Summary(
        classes, codes.astype(np.uint32).reshape(-1), given, width, type(samples).__name__, names_of(samples)
    )


def same(given: T) -> T:
    """What was given, as a task's result: it is sent once to each worker that needs it, and can be had again."""
    return given


def some(samples: Any, rows: npt.NDArray[np.int64]) -> Any:
    return pick(samples, rows)


class Features:
    """Similarities of a partition's samples to the bases.

    They are normalised where they are: a copy would take as much memory again, and for a system to find it can take
    longer than to make the similarities. So this is no value that never changes, as tasks' results are to be; but it
    knows which of the two it is, and a task that is done twice does not do it twice.
    """

    def __init__(self, values: npt.NDArray[np.float32]) -> None:
        self.values = values
        self.is_normalised = False

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.values.nbytes


def features(number: int, expansion: BasisExpansion, samples: Any) -> Features:
    """Similarities to the bases, not normalised."""
    if count(samples) == 0:
        return Features(np.empty((0, expansion._n_features_out), np.float32))
    return Features(of_partition(number, lambda: expansion.transform(samples)))


def sums(features: Features, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Σ w φ̃."""
    return weighted(features.values, weights, lambda rows: rows)


def spreads(
    features: Features,
    weights: npt.NDArray[np.float64],
    mean: npt.NDArray[np.float64],
    ends: Sequence[tuple[int, int]] | None,
) -> npt.NDArray[np.float64]:
    """Σ w ‖φ̃ − mean‖ for each part between `ends`; without, Σ w (φ̃ − mean)² for each column."""

    def one(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        np.subtract(rows, mean, out=rows)
        if ends is None:
            return np.multiply(rows, rows, out=rows)
        parts = [rows[:, first:end] for first, end in ends]
        return np.stack([np.sqrt(np.einsum("ij,ij->i", part, part)) for part in parts], axis=1)

    return weighted(features.values, weights, one)


# So few rows at a time that they stay in the cache.
ROWS_AT_A_TIME = 64


def weighted(
    block: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float64],
    of: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
) -> npt.NDArray[np.float64]:
    """Σ w of(row) in double precision; `of` may write into the rows that it is given.

    Memory is taken once: workers of Dask give what they free back to the system, and taking it again costs more than
    the sums.
    """
    room = np.zeros((ROWS_AT_A_TIME, block.shape[1]))
    total: npt.NDArray[np.float64] = 0.0 * of(room[:1])[0]
    for at in range(0, len(block), ROWS_AT_A_TIME):
        some = block[at : at + ROWS_AT_A_TIME]
        rows = room[: len(some)]
        np.copyto(rows, some)
        total += weights[at : at + ROWS_AT_A_TIME] @ of(rows)
    return total


def normalised(features: Features, centre: npt.NDArray[np.float32], factors: npt.NDArray[np.float32]) -> Features:
    """(φ̃ − centre) · factors, in single precision as on one machine."""
    if not features.is_normalised:
        if not features.values.flags.writeable:
            # From another worker.
            features.values = features.values.copy()
        for at in range(0, len(features.values), ROWS_AT_A_TIME):
            rows = features.values[at : at + ROWS_AT_A_TIME]
            rows -= centre
            rows *= factors
        features.is_normalised = True
    return features


Part = _core.SamplePart | _core.LinearPart | _core.LandmarkPart
States = list[_core.State] | None


def sample_part(number: int, samples: Any, weights: npt.NDArray[np.float64]) -> _core.SamplePart:
    """Vectors of a partition with their weights; not copied where they are of the form that the compiled half takes."""

    def checked() -> Any:
        return from_vectors(check_array(samples, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"))

    return _core.SamplePart(number, of_partition(number, checked), weights)


def power_mean(part: _core.SamplePart, *given: Any) -> _core.LinearPart:
    """v(x) of the samples of weight above 0."""
    return of_partition(part.number, lambda: part.power_mean(*given))


def on_landmarks(part: _core.SamplePart, *given: Any) -> _core.LandmarkPart:
    """Features on landmarks of the samples of weight above 0."""
    return of_partition(part.number, lambda: part.on_landmarks(*given))


def linear_part(
    number: int,
    features: Features,
    codes: npt.NDArray[np.uint32],
    costs: npt.NDArray[np.float64],
    n_classes: int,
    loss: str,
    intercept: str,
) -> _core.LinearPart:
    """The rows of a partition, as the solver asks for them."""
    return _core.LinearPart(number, features.values, codes, n_classes, costs, loss, intercept)


def features_of(part: _core.LinearPart, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Some rows of dense features."""
    if isinstance(part.features, tuple):
        raise TypeError("a sample is taken of dense features")
    return part.features[rows]


def group(*parts: Part) -> tuple[Part, ...]:
    """Parts on one worker, none copied: a query to all of them is one task."""
    return parts


def step(parts: tuple[Part, ...], states: States, query: bytes) -> tuple[bytes, list[_core.State]]:
    """The answer of parts to a query that changes their states, and the states then."""
    both = [_answered(part, state, query, True) for part, state in _known(parts, states)]
    return _core.merge(query, [answer for answer, _ in both]), [state for _, state in both]


def changed(parts: tuple[Part, ...], states: States, query: bytes) -> list[_core.State]:
    """The states of parts after a query that has no answer."""
    return [_answered(part, state, query, True)[1] for part, state in _known(parts, states)]


def answer(parts: tuple[Part, ...], states: States, query: bytes) -> bytes:
    """The answer of parts to a query that changes no state."""
    return _core.merge(query, [_answered(part, state, query, False)[0] for part, state in _known(parts, states)])


def _known(parts: tuple[Part, ...], states: States) -> Iterable[tuple[Part, _core.State | None]]:
    known: Sequence[_core.State | None] = states or [None] * len(parts)
    return zip(parts, known, strict=True)


def _answered(part: Part, state: _core.State | None, query: bytes, changes_state: bool) -> tuple[bytes, Any]:
    return of_partition(part.number, lambda: part.answer(query, state, changes_state))


def part(of: Sequence[T], at: int) -> T:
    return of[at]


def cost(parts: tuple[_core.LinearPart, ...]) -> tuple[float, float, float]:
    """What a pass, a problem in it and the Gram matrix cost over these parts."""
    found: tuple[float, float, float] = added([part.cost() for part in parts])
    return found


def added(parts: Sequence[Any]) -> Any:
    """The sum of what several blocks told, number by number."""
    return reduce(_plus, parts)


def _plus(a: Any, b: Any) -> Any:
    return tuple(_plus(x, y) for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a + b


def of_partition(number: int, work: Callable[[], T]) -> T:
    """What goes wrong is told with the number of the partition."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error
