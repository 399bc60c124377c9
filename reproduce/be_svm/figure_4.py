"""Figure 4: accuracy against the numbers that prediction needs and against the exemplars that are kept.

    python figure_4.py --data DATA

M2 = {H8R, H4(2,0), H4(0,1), H8(1,0)} on more and more bases, beside a kernel SVM and a linear one on HOG cells of 8, on
the first and on all five folds of CIFAR-10. Cells are kept in cache/ as they are measured, so that a run may stop.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, INK, SECOND, SOFT, Study
from declared import number

# isort: split
import m2
import peer
from cifar import ALL_INTERCEPTS, CLASSES, INTERCEPTS, Images, load
from kept import Kept

# Bases a class at which those of the first fold alone are tried.
BASES_OF_FIRST_FOLD = (100,)

# By model, folds and bases a class.
Cells = dict[tuple[str, int, int], dict[str, Any]]


def measure(study: Study, everything: Images, kept: Kept) -> Cells:
    """Most folds first, since they matter most."""
    peers = Kept(study, "peers")
    cells: Cells = {}
    for count in reversed(m2.folds(study)):
        images = m2.some(study, everything, count)
        cells["linear", count, 0] = peers(f"linear, {count}", lambda images=images: peer.linear_svm(images))
        a_class = m2.a_class(study, count)
        claimed = m2.claimed(a_class)
        cells["M2", count, claimed] = m2.cell(study, kept, everything, count, claimed)
        # Beside what it is compared with, while the machine is as it was.
        cells["kernel", count, 0] = peers(f"kernel, {count}", lambda images=images: peer.kernel(images))
        for each in reversed(a_class):
            cells["M2", count, each] = m2.cell(study, kept, everything, count, each)
    peers.tell(study)
    return cells


def tell(study: Study, cells: Cells) -> None:
    rows = []
    for (model, folds, a_class), cell in cells.items():
        place = f"{model}, {m2.many(folds)}" + (f", 10x{a_class}" if a_class else "")
        if model == "kernel":
            study.found(place, cell["right"])
            study.found(f"{place}, support vectors", cell["vectors"])
            study.found(f"{place}, answers are LIBSVM's", cell["as LIBSVM"])
            right, exemplars, values = ["", f"{cell['right']:.2f}", ""], number(cell["vectors"]), cell["numbers"]
        else:
            names = {name: f"M2, {name}" if model == "M2" else name for name in ALL_INTERCEPTS}
            for name, key in names.items():
                if key in cell:
                    study.found(f"{place}, {ALL_INTERCEPTS[name]}", cell[key])
            right = [f"{cell[key]:.2f}" if key in cell else "" for key in names.values()]
            exemplars = number(CLASSES * a_class) if model == "M2" else "none"
            values = m2.numbers("M2", a_class) if model == "M2" else cell["numbers"]
        cost = [f"{cell['cpu_seconds']:.1f}", f"{cell['seconds']:.1f}"]
        rows.append([place, *right, exemplars, number(values), *cost, cell["measured"]])
    text = (
        "Percent right of the 10,000 test images. The intercept is free unless it says otherwise; the kernel SVM, "
        "one-vs-one, has its own. Numbers are those that prediction needs: the exemplars' HOG cells and the weights. "
        "Seconds are from raw images to a trained machine, one with an intercept. M2 is made in two steps, the "
        "features and the machine on them, so that all three intercepts share the features."
    )
    head = ["", *ALL_INTERCEPTS.values(), "exemplars", "numbers", "CPU s", "s", "measured"]
    study.table("M2 beside a kernel SVM and a linear one", text, head, rows)
    study.note("cells", [{"model": key[0], "folds": key[1], "a_class": key[2], **cell} for key, cell in cells.items()])


def where_bases_are(study: Study, everything: Images, kept: Kept, cells: Cells) -> None:
    """On all folds: bases spread over all images, as the library has them, or over the first fold alone."""
    count, rows = m2.folds(study)[-1], []
    for each in BASES_OF_FIRST_FOLD:
        spread = cells["M2", count, each]
        first = m2.bases_of_first_fold(kept, everything, count, each)
        for name, told in INTERCEPTS.items():
            place = f"M2, {m2.many(count)}, 10x{each}, bases of the first fold, {told}"
            study.found(place, first[f"M2, {name}"])
            rows.append([f"10x{each}, {told}", f"{spread[f'M2, {name}']:.2f}", f"{first[f'M2, {name}']:.2f}"])
    text = f"Percent right of M2 on {m2.many(count)}."
    study.table("Where the bases are", text, ["", "spread over all images", "of the first fold"], rows)


def claim(study: Study, cells: Cells) -> None:
    """M2 on all folds beside the kernel SVM on all folds."""
    folds = max(key[1] for key in cells)
    a_class = m2.claimed(key[2] for key in cells)
    ours, peers = cells["M2", folds, a_class], cells["kernel", folds, 0]
    for name, told in ALL_INTERCEPTS.items():
        study.found(f"points above the kernel SVM: {told}", ours[f"M2, {name}"] - peers["right"])
    study.found("exemplars for each support vector", CLASSES * a_class / peers["vectors"])
    study.found("numbers for each of the kernel SVM's", m2.numbers("M2", a_class) / peers["numbers"])
    study.found("share of the kernel SVM's CPU seconds", ours["cpu_seconds"] / peers["cpu_seconds"])
    study.found("share of the kernel SVM's seconds", ours["seconds"] / peers["seconds"])


def draw(study: Study, cells: Cells) -> None:
    import matplotlib.pyplot as plt

    folds = sorted({key[1] for key in cells})
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharey=True)
    marks = dict(zip(folds, "osD^v", strict=False))
    for panel, against in zip(panels, ("exemplars", "numbers"), strict=True):
        for count in folds:
            a_class = sorted(key[2] for key in cells if key[:2] == ("M2", count))
            across = [CLASSES * each if against == "exemplars" else m2.numbers("M2", each) for each in a_class]
            told = str(count)
            for name, colour in (("free", FIRST), ("none", SOFT)):
                up = [cells["M2", count, each][f"M2, {name}"] for each in a_class]
                panel.plot(across, up, marks[count] + "-", color=colour, markersize=5)
                # On the right the lines are the same, and nearer to each other.
                if panel is panels[0]:
                    panel.annotate(
                        told, (across[-1], up[-1]), (6, 0), textcoords="offset points", va="center", color=colour
                    )
            kernel = cells["kernel", count, 0]
            at = kernel["vectors" if against == "exemplars" else "numbers"]
            panel.plot(at, kernel["right"], marks[count], color=SECOND, markersize=9)
            panel.annotate(told, (at, kernel["right"]), (8, 0), textcoords="offset points", va="center", color=SECOND)
        if against == "numbers":
            for count in folds:
                one = cells["linear", count, 0]
                panel.plot(one["numbers"], one["free"], marks[count], color=INK)
            panel.annotate("linear SVM", (one["numbers"], one["free"]), (8, 0), textcoords="offset points", va="center")
        panel.set(xscale="log")
        low, high = panel.get_xlim()
        steps = (1, 3) if against == "exemplars" else (1,)
        ticks = [one * 10**power for power in range(2, 9) for one in steps if low <= one * 10**power <= high]
        panel.set_xticks(ticks, [number(one) if one < 1e6 else f"{one / 1e6:g} M" for one in ticks])
        panel.minorticks_off()
        panel.margins(x=0.16)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set(xlabel="images kept (bases, support vectors)", ylabel="% right of the test images")
    panels[1].set_xlabel("numbers that prediction needs")
    for colour, told in ((FIRST, "M2, intercept"), (SOFT, "M2, no intercept"), (SECOND, "kernel SVM (LIBSVM)")):
        panels[0].plot([], [], "o-" if colour != SECOND else "o", color=colour, label=told)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.suptitle("Numbers are folds", x=0.01, ha="left", fontsize=10)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    everything, kept = load(study), Kept(study, "m2")
    cells = measure(study, everything, kept)
    tell(study, cells)
    claim(study, cells)
    if not study.quick:
        where_bases_are(study, everything, kept, cells)
    kept.tell(study)
    draw(study, cells)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
