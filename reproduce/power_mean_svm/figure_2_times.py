"""Figure 2's other half: training time over the power p of the mean, p = −2^k for k = −4 … 4.

    python figure_2_times.py --data DATA

CPU seconds of a fit at C = 0.01 to the library's default tolerance, the least of three, and its accuracy.
`figure_2.py` has the accuracies of fits to a smaller tolerance, and CIFAR-10.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, SECOND, THIRD, Stopwatch, Study

# isort: split
import numpy as np

import kernels
import sets
from figure_2 import POWERS, WAYS
from widemargin import PowerMeanSVC

REPEATS = 3


def measure(data: sets.Histograms, p: float, way: dict[str, Any]) -> tuple[float, float]:
    """Percent right and CPU seconds."""
    seconds = np.inf
    for _ in range(REPEATS):
        with Stopwatch() as watch:
            machine = PowerMeanSVC(p, **{**kernels.USUAL, **way}, random_state=0, n_jobs=1)
            machine.fit(data.train, data.y_train)
        seconds = min(seconds, watch.cpu_seconds)
    return 100 * float(np.mean(machine.predict(data.test) == data.y_test)), seconds


def draw(study: Study, found: dict[str, dict[str, list[tuple[float, float]]]]) -> None:
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(2, len(found), figsize=(5 * len(found), 5.6), layout="constrained", sharex=True)
    for column, (name, rows) in enumerate(found.items()):
        for at, what in enumerate(("test accuracy, %", "CPU seconds")):
            axes = grid[at, column]
            for (way, cells), color in zip(rows.items(), (SECOND, FIRST, THIRD), strict=True):
                axes.plot(-np.array(POWERS), [cell[at] for cell in cells], "o-", color=color, markersize=4, label=way)
            axes.set(xscale="log", ylabel=what if column == 0 else "")
            axes.set_xticks(-np.array(POWERS), [f"{-p:g}" for p in POWERS], fontsize=8)
            axes.minorticks_off()
            axes.spines[["top", "right"]].set_visible(False)
        grid[0, column].set_title(name, loc="left")
        # Times from 0, so that a small difference looks small.
        grid[1, column].set(ylim=(0, None), xlabel="−p")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, load in {"Scene-15": sets.scene15, "20 Newsgroups": sets.newsgroups}.items():
        data = load(study.data)
        found[name] = {way: [measure(data, p, results) for p in POWERS] for way, results in WAYS.items()}
        rows = []
        for way, cells in found[name].items():
            right, seconds = zip(*cells, strict=True)
            study.found(f"{name}, slowest p by the fastest: {way}", max(seconds) / min(seconds))
            study.found(f"{name}, points between the best p and the worst: {way}", max(right) - min(right))
            rows.append([f"{way}, % right", *(f"{value:.2f}" for value in right)])
            rows.append([f"{way}, CPU s", *(f"{value:.2f}" for value in seconds)])
        text = f"{data.shape()}. One thread, default tolerance, C = 0.01."
        study.table(name, text, ["", *(f"p = {p:g}" for p in POWERS)], rows)
    study.note("found", found)
    draw(study, found)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
