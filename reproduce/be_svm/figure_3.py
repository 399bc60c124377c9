"""Figure 3: accuracy by the number of bases and of training images: H8R, one resolution (M1) and two (M2).

    python figure_3.py --data DATA

M1 = (H8R, H8(1,0), H8(0,1)), M2 = (H8R, H4(2,0), H4(0,1), H8(1,0)), on 1, 3 and 5 folds. Its cells are among those of
figure_4.py, measured once for both and kept in cache/, so that after that script this one takes seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, SECOND, SOFT, THIRD, Study

# isort: split
import m2
from cifar import INTERCEPTS, load
from kept import Kept

COLORS = {"M2": FIRST, "M1": SECOND, "H8R": THIRD}
# How high a name is, in percent.
NAME = 0.95

# Percent right by model, folds, bases a class and intercept.
Cells = dict[tuple[str, int, int, str], float]


def measure(study: Study, kept: Kept, folds: tuple[int, ...]) -> Cells:
    everything, cells = load(study), {}
    for count in folds:
        for each in m2.a_class(study, count):
            found = m2.cell(study, kept, everything, count, each)
            if each in m2.a_class_single(study, count):
                found = {**found, **m2.single(study, kept, everything, count, each)}
            for model in COLORS:
                for intercept in INTERCEPTS:
                    if f"{model}, {intercept}" in found:
                        cells[model, count, each, intercept] = found[f"{model}, {intercept}"]
    return cells


def tell(study: Study, cells: Cells) -> None:
    folds, a_class = (sorted({key[at] for key in cells}) for at in (1, 2))
    rows = []
    for model in COLORS:
        for intercept, results in INTERCEPTS.items():
            for count in folds:
                values = [cells.get((model, count, each, intercept)) for each in a_class]
                for each, value in zip(a_class, values, strict=True):
                    if value is not None:
                        study.found(f"{model}, {m2.many(count)}, 10x{each}, {results}", value)
                rows.append(
                    [f"{model}, {m2.many(count)}, {results}", *("" if one is None else f"{one:.2f}" for one in values)]
                )
    text = "Percent right of the 10,000 test images, C = 1."
    study.table("H8R, M1 and M2", text, ["", *(f"10x{each}" for each in a_class)], rows)
    most = folds[-1]
    for intercept, results in INTERCEPTS.items():
        for other in ("H8R", "M1"):
            gains = {
                key[1:3]: cells["M2", *key[1:]] - value
                for key, value in cells.items()
                if key[0] == other and key[3] == intercept
            }
            study.found(f"points that M2 is above {other}, at least, {results}", min(gains.values()))
            largest = max(each for count, each in gains if count == most)
            study.found(f"points that M2 is above {other}, all data, most bases, {results}", gains[most, largest])


def draw(study: Study, cells: Cells) -> None:
    import matplotlib.pyplot as plt

    folds, a_class = (sorted({key[at] for key in cells}) for at in (1, 2))
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 5), layout="constrained", sharey=True)
    for axes, intercept in zip(panels, ("free", "none"), strict=True):
        ends = []
        for model, color in COLORS.items():
            for count, mark in zip(folds, "osD", strict=False):
                across = [each for each in a_class if (model, count, each, intercept) in cells]
                up = [cells[model, count, each, intercept] for each in across]
                axes.plot(across, up, mark + "-", color=color, markersize=5)
                ends.append((up[-1], f"{model}, {m2.many(count)}", color))
        height = -1.0
        for end, results, color in sorted(ends):
            # Names are pushed up where they would lie on the one below.
            height = max(end, height + NAME)
            axes.annotate(results, (1.08 * a_class[-1], height), va="center", color=color, fontsize=8)
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
    cells = measure(study, kept, folds)
    tell(study, cells)
    draw(study, cells)
    study.note("cells", {", ".join(map(str, key)): value for key, value in cells.items()})
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
