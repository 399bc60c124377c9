"""Figure 3: accuracy by the number of bases and of training images, of one similarity (M1) and of four (M2).

    python figure_3.py --data DATA

M1 = {H4(2,0)}, M2 = {H8R, H4(2,0), H4(0,1), H8(1,0)}. Its cells are those of figure_4.py, measured once for both and
kept in cache/, so that after that script this one takes seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, SECOND, SOFT, Study

# isort: split
import numpy as np

import m2
from cifar import INTERCEPTS, load
from kept import Kept

# How high a name is, in percent.
NAME = 0.95

# By folds and bases a class.
Cells = dict[tuple[int, int], dict[str, Any]]


def tell(study: Study, cells: Cells, a_class: tuple[int, ...]) -> None:
    folds = sorted({key[0] for key in cells})
    rows = []
    for model in ("M1", "M2"):
        for intercept in INTERCEPTS:
            for count in folds:
                values = [cells[count, each][f"{model}, {intercept}"] for each in a_class]
                for each, value in zip(a_class, values, strict=True):
                    place = f"{model}, {m2.many(count)}, 10x{each}, {INTERCEPTS[intercept]}"
                    study.found(place, value)
                told = [f"{value:.2f}" for value in values]
                rows.append([f"{model}, {m2.many(count)}, {INTERCEPTS[intercept]}", *told])
    text = "Percent right of the 10,000 test images, C = 1."
    study.table("M1 and M2", text, ["", *(f"10x{each}" for each in a_class)], rows)
    smallest, largest, most = a_class[0], a_class[-1], folds[-1]
    for intercept, told in INTERCEPTS.items():
        gains = [cell[f"M2, {intercept}"] - cell[f"M1, {intercept}"] for cell in cells.values()]
        study.found(f"points that M2 is above M1, at least, {told}", min(gains))
        ends = [cells[most, each][f"M2, {intercept}"] for each in (smallest, largest)]
        study.found(f"points that M2 gains from 10x{smallest} to the most bases, on most folds, {told}", np.ptp(ends))


def draw(study: Study, cells: Cells, a_class: tuple[int, ...]) -> None:
    import matplotlib.pyplot as plt

    folds = sorted({key[0] for key in cells})
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained", sharey=True)
    for axes, intercept in zip(panels, ("free", "none"), strict=True):
        ends = []
        for model, colour in (("M2", FIRST), ("M1", SECOND)):
            for count, mark in zip(folds, "osD", strict=False):
                up = [cells[count, each][f"{model}, {intercept}"] for each in a_class]
                axes.plot(a_class, up, mark + "-", color=colour, markersize=5)
                ends.append((up[-1], f"{model}, {m2.many(count)}", colour))
        height = -1.0
        for end, told, colour in sorted(ends):
            # Names are pushed up where they would lie on the one below.
            height = max(end, height + NAME)
            axes.annotate(told, (1.06 * a_class[-1], height), va="center", color=colour)
        axes.set(xscale="log", xlabel="bases a class")
        axes.set_xticks(a_class, [str(each) for each in a_class])
        axes.minorticks_off()
        axes.margins(x=0.22)
        axes.grid(axis="y", color=SOFT, alpha=0.25)
        axes.set_title(INTERCEPTS[intercept].capitalize(), loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("% right of the test images")
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    # The paper's: 1, 3 and 5.
    kept, folds = Kept(study, "m2"), m2.folds(study)[::2]
    a_class = m2.a_class(study, folds[0])
    everything = load(study)
    cells: Cells = {}
    for count in folds:
        for each in a_class:
            cells[count, each] = m2.cell(study, kept, everything, count, each)
    tell(study, cells, a_class)
    draw(study, cells, a_class)
    study.note("cells", [{"folds": key[0], "a_class": key[1], **cell} for key, cell in cells.items()])
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
