"""Figure 1 as printed: g(x) of random features of Scene-15, α uniform in [0, 1], one class positive, p = −1.

    python figure_1_printed.py --data DATA

g_j(x) = Σ_i α_i y_i k(x, x_ij) exactly, by the paper's parabola in ln(x + 0.05) through three nodes, and by Nyström
nodes. `figure_1.py` has the dual variables of fits instead, whole gradients, other kernels and other sets.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import INK, SOFT, Study

# isort: split
import numpy as np

import kernels
import sets
from figure_1 import COLORS, MIN_DRAWS, WAYS, reductions

Array = np.ndarray

# The paper shows one random feature.
FEATURES = 60
# Values below it are small.
SMALL_VALUE = 0.1
GRID = np.linspace(0.001, 1, 1000)


@dataclass(frozen=True)
class Feature:
    """One random feature as in the paper's figure: g on a grid of values, exactly and as each way has it."""

    feature: int
    exact: Array
    approximations: dict[str, Array]

    def error(self, way: str) -> float:
        """max |Δ| / max |g|, in percent."""
        return 100 * float(np.abs(self.approximations[way] - self.exact).max() / np.abs(self.exact).max())

    def error_near_zero(self, way: str) -> float:
        """The median of |Δ| / |g| at small values, in percent."""
        small = GRID < SMALL_VALUE
        return 100 * float(np.median(np.abs(self.approximations[way] - self.exact)[small] / np.abs(self.exact)[small]))


def measure(data: sets.Histograms) -> list[Feature]:
    """Features drawn at random among those that more than one image in a hundred has."""
    random = np.random.default_rng(0)
    pairs, reduced = kernels.KERNELS[kernels.CHI_SQUARE][0], reductions(data, kernels.CHI_SQUARE)
    rows = data.scaled().tocsc()
    alphas = random.uniform(size=rows.shape[0])
    signs = np.where(data.y_train == data.y_train[0], 1.0, -1.0)
    often = np.flatnonzero(np.diff(rows.indptr) > rows.shape[0] / 100)
    found = []
    for feature in random.choice(often, FEATURES, replace=False):
        span = slice(rows.indptr[feature], rows.indptr[feature + 1])
        values, weights = rows.data[span].astype(np.float64), (alphas * signs)[rows.indices[span]]
        approximations = {way: one.row(GRID) @ (one.column(values).T @ weights) for way, one in reduced.items()}
        found.append(Feature(int(feature), pairs(GRID, values) @ weights, approximations))
    return found


def tell(study: Study, found: list[Feature]) -> None:
    rows = []
    for way in WAYS:
        errors_of = np.array([one.error(way) for one in found])
        near_zero = float(np.median([one.error_near_zero(way) for one in found]))
        study.found(f"max |Δ| / max |g|, %, median: {way}", np.median(errors_of))
        study.found(f"max |Δ| / max |g|, %, worst: {way}", errors_of.max())
        study.found(f"% of features below 2 %: {way}", 100 * np.mean(errors_of < 2))
        study.found(f"|Δ| / |g| near 0, %, median: {way}", near_zero)
        rows.append([way, *(f"{value:.3g}" for value in (np.median(errors_of), errors_of.max(), near_zero))])
    text = (
        f"{FEATURES} random features of Scene-15, α uniform in [0, 1], the first class positive, p = −1. Percent: the "
        f"largest error by the largest |g|; near 0, the error by |g| itself at values below {SMALL_VALUE:g}."
    )
    study.table("Errors", text, ["", "median", "worst", "near 0, median"], rows)


def draw(study: Study, found: list[Feature]) -> None:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained", width_ratios=[1, 1, 1, 1.1])
    order = np.argsort([one.error("polynomial") for one in found])
    shown = {"best": order[0], "median": order[len(order) // 2], "worst": order[-1]}
    for axes, (approximations, at) in zip(panels, shown.items(), strict=False):
        one = found[at]
        axes.plot(GRID, one.exact, color=INK, linewidth=3, label="exact")
        for way in WAYS:
            style = "--" if way == "Nyström, 8 nodes" else "-"
            axes.plot(GRID, one.approximations[way], color=COLORS[way], linestyle=style, linewidth=1.4, label=way)
        axes.set_title(
            f"{approximations}, feature {one.feature + 1}: {one.error('polynomial'):.1f} %", loc="left", fontsize=10
        )
        axes.set(xlabel="value x of the feature")
    panels[0].set_ylabel("g(x)")
    for way in WAYS:
        panels[3].plot(
            np.sort([max(one.error(way), MIN_DRAWS) for one in found]),
            np.linspace(0, 100, len(found)),
            color=COLORS[way],
        )
    panels[3].axvline(2, color=SOFT, linewidth=0.8, linestyle=":")
    panels[3].set(xscale="log", xlabel="max |Δ| / max |g|, %", ylabel="% of the features")
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    found = measure(sets.scene15(study.data))
    tell(study, found)
    draw(study, found)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
