"""Figure 2: accuracy over the power p of the mean, from −1/16 to −16, by the paper's polynomial and by Nyström nodes.

    python figure_2.py --data DATA

C = 0.01 everywhere, as in the paper; its sets are not to be had. The words of CIFAR-10 are made in two minutes if the
cache (`$XDG_CACHE_HOME/widemargin-bench`) has them not yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, INK, SECOND, SOFT, THIRD, Study
from declared import say

# isort: split
import numpy as np

import kernels
import sets
from widemargin import PowerMeanSVC

POWERS = [-(2.0**k) for k in range(-4, 5)]

# What is drawn: how the kernel is reduced, and with how many numbers a feature.
WAYS: dict[str, dict[str, object]] = {
    "polynomial": {"approximation": "polynomial"},
    "Nyström": {"approximation": "nystroem"},
    "Nyström, 8 nodes": {"approximation": "nystroem", "nodes": 8},
}


# For each set and each way, an accuracy at each power.
Found = dict[str, dict[str, list[float]]]


def accuracy(data: sets.Histograms, p: float, way: dict[str, object]) -> float:
    machine = PowerMeanSVC(p, **{**kernels.USUAL, **way}, tol=kernels.SOLVED, random_state=0, n_jobs=1)
    machine.fit(data.train, data.y_train)
    return 100 * float(np.mean(machine.predict(data.test) == data.y_test))


def standard_error(percent: float, tests: int) -> float:
    return float(np.sqrt(percent * (100 - percent) / tests))


def draw(study: Study, found: Found, limits: Found, tests: dict[str, int]) -> None:
    import matplotlib.pyplot as plt

    colors = dict(zip(WAYS, (SECOND, FIRST, THIRD), strict=True))
    figure, panels = plt.subplots(1, len(found), figsize=(4.4 * len(found), 4.3), layout="constrained")
    powers = -np.array(POWERS)
    # Where the two limits are drawn, a step beyond the ends.
    ends = powers[0] / 4, powers[-1] * 4
    for axes, (name, rows) in zip(panels, found.items(), strict=True):
        for way, values in rows.items():
            axes.plot(powers, values, "o-", color=colors[way], markersize=4, label=way)
            axes.plot(ends, limits[name][way], "D", color=colors[way], markeredgecolor=INK, markeredgewidth=0.5)
        axes.axvline(1, color=SOFT, linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="−p")
        axes.set_xticks([ends[0], *powers[::2], ends[1]], ["0", "1/16", "1/4", "1", "4", "16", "∞"])
        axes.minorticks_off()
        error = standard_error(values[0], tests[name])
        axes.set_title(f"{name}, standard error {error:.1f}", loc="left")
        # No axis so short that chance looks like a difference.
        middle, half = sum(axes.get_ylim()) / 2, max(1.5 * error, np.ptp(axes.get_ylim()) / 2)
        axes.set_ylim(middle - half, middle + half)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#eeeeee")
    panels[0].set_ylabel("test accuracy, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS), frameon=False)
    figure.suptitle("Diamonds: p = 0 (Hellinger) and −∞ (intersection). Dotted: p = −1 (χ²).", fontsize=11)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    loaders: dict[str, Callable[[Path], sets.Histograms]] = {
        "Scene-15": sets.scene15,
        "20 Newsgroups": sets.newsgroups,
    }
    if not study.quick:
        loaders["CIFAR-10"] = sets.cifar_words
    found: Found = {}
    limits: Found = {}
    tests = {}
    for name, load in loaders.items():
        data = load(study.data)
        tests[name] = len(data.y_test)
        found[name] = {way: [accuracy(data, p, results) for p in POWERS] for way, results in WAYS.items()}
        limits[name] = {way: [accuracy(data, p, results) for p in (0.0, -np.inf)] for way, results in WAYS.items()}
        say(f"{name}: " + "; ".join(f"{way} {min(row):.2f} to {max(row):.2f}" for way, row in found[name].items()))
        rows = []
        for way, values in found[name].items():
            first, last = limits[name][way]
            rows.append([way, *[f"{value:.2f}" for value in (first, *values, last)]])
            chi_square, eight = values[POWERS.index(-1.0)], values[POWERS.index(-8.0)]
            study.found(f"{name}, %: p = −1, {way}", chi_square)
            study.found(f"{name}, %: p = −8, {way}", eight)
            study.found(f"{name}, points from the best p to −1, {way}", max(values) - chi_square)
            study.found(f"{name}, points from −8 to the intersection, {way}", abs(last - eight))
        head = ["", "0", *[f"{p:g}" for p in POWERS], "−∞"]
        study.table(name, f"Percent right of {len(data.y_test):,} test rows; {data.shape()}.", head, rows)
    study.note("powers", POWERS)
    study.note("found", found)
    study.note("limits", limits)
    draw(study, found, limits, tests)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
