"""Some rows of all blocks, brought to the machine that asks.

Newton's method needs its Hessian only for a direction. That of a sample is good enough for one, and conjugate gradients
then ask nobody: workers are asked for values and gradients, a few times each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from .. import _core
from .._samples import as_contiguous
from . import _tasks

# Below so many rows workers are asked for products too: steps then are those of one machine, and so are the weights,
# to rounding. With a sample they are the same to the duality gap.
FEWEST_ROWS = 200_000
# Rows of the sample: so many for each feature, in so many bytes, and no more than a quarter of all; from fewer than
# so many for each feature a direction is not worth its while.
ROWS_A_FEATURE = 32
MOST_BYTES = 1 << 28
FEWEST_A_FEATURE = 4
# A class has so many at the least, if there are so many.
FEW = 64


def sampled(
    client: Client,
    blocks: list[Future],
    codes: list[npt.NDArray[np.uint32]],
    costs: list[npt.NDArray[np.float64]],
    problem: tuple[int, str, str],
    n_features: int,
    threads: int,
) -> _core.LinearPart | None:
    """The rows that are here, at costs that stand for those of all; None where there are too few rows for a sample."""
    n_classes, loss, intercept = problem
    all_codes, all_costs = np.concatenate(codes), np.concatenate(costs)
    chosen = drawn(all_codes, all_costs, n_features)
    if chosen is None:
        return None
    ends = np.cumsum([len(some) for some in codes])
    owner = np.searchsorted(ends, chosen, side="right")
    asked = [
        client.submit(_tasks.features_of, blocks[number], chosen[owner == number] - (ends[number] - len(codes[number])))
        for number in np.unique(owner)
    ]
    features = as_contiguous(np.concatenate(client.gather(asked)), np.float32)
    here = all_codes[chosen]
    of_all = np.bincount(all_codes, all_costs, minlength=n_classes)
    of_chosen = np.bincount(here, all_costs[chosen], minlength=n_classes)
    stand = np.divide(of_all, of_chosen, out=np.zeros_like(of_all), where=of_chosen > 0)
    return _core.LinearPart(0, features, here, n_classes, all_costs[chosen] * stand[here], loss, intercept, threads)


def drawn(
    codes: npt.NDArray[np.uint32], costs: npt.NDArray[np.float64], n_features: int
) -> npt.NDArray[np.int64] | None:
    """Rows by chance, the same ones every time: of each class by its size, a few at the least."""
    present = np.flatnonzero(costs > 0)
    if len(present) < FEWEST_ROWS:
        return None
    wanted = min(ROWS_A_FEATURE * n_features, MOST_BYTES // (4 * max(n_features, 1)), len(present) // 4)
    if wanted < FEWEST_A_FEATURE * n_features:
        return None
    shuffled = np.random.default_rng(0).permutation(present)
    rows: list[Any] = []
    for code in np.unique(codes[present]):
        mine = shuffled[codes[shuffled] == code]
        rows.append(mine[: max(FEW, len(mine) * wanted // len(present))])
    return np.sort(np.concatenate(rows))
