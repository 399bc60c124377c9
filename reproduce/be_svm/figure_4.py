"""Figure 4: accuracy against the numbers that prediction needs and against the exemplars that are kept.

    python figure_4.py --data DATA

M2 = (H8R, H4(2,0), H4(0,1), H8(1,0)), its first one, two and three similarities, and M1 = (H8R, H8(1,0), H8(0,1)) on
more and more bases and all five folds of CIFAR-10; M2, kernel SVMs and linear ones on HOG cells of 8 and of 4 also on
the first folds. Cells are kept in cache/ as they are measured, so that a run may stop.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FOURTH, INK, SECOND, SOFT, THIRD, Study
from declared import number

# isort: split
import m2
import peer
from cifar import ALL_INTERCEPTS, CLASSES, INTERCEPTS, Images, load
from kept import Kept

# Bases a class at which those of the first fold alone are tried.
BASES_OF_FIRST_FOLD = (100,)

# A kernel SVM on HOG cells of 4 takes four times as long as one on cells of 8, and as much more memory.
FINE_KERNEL_FOLDS = (1,)

# What is on all folds alone: M1 and what M2 begins with.
SINGLE = ("H8R", "M1")
PREFIXES = ("M2, first 2", "M2, first 3")
NAMES = {"linear": "H8L", "fine linear": "H4L", "kernel": "K8R", "fine kernel": "K4R"}

PREFIX_COLORS = {"H8R": THIRD, "M1": FOURTH, "M2, first 2": "#56b4e9", "M2, first 3": "#0b3c6f"}

# By model, folds and bases a class.
Cells = dict[tuple[str, int, int], dict[str, Any]]


def measure(study: Study, everything: Images, kept: Kept) -> Cells:
    """Most folds first, since they matter most."""
    peers = Kept(study, "peers")
    cells: Cells = {}
    most = m2.folds(study)[-1]
    for each in reversed(m2.a_class_single(study, most)):
        single, first = (make(study, kept, everything, most, each) for make in (m2.single, m2.prefixes))
        cells.update({(model, most, each): _of(model, single) for model in SINGLE})
        cells.update({(model, most, each): _of(model, first) for model in PREFIXES})
    for count in reversed(m2.folds(study)):
        images = m2.some(study, everything, count)
        cells["linear", count, 0] = peers(f"linear, {count}", lambda images=images: peer.linear_svm(images))
        cells["fine linear", count, 0] = peers(
            f"fine linear, {count}", lambda images=images: peer.linear_svm(images, cell=4)
        )
        if count in FINE_KERNEL_FOLDS:
            cells["fine kernel", count, 0] = peers(
                f"fine kernel, {count}", lambda images=images: peer.fine_kernel(images)
            )
        a_class = m2.a_class(study, count)
        claimed = m2.claimed(a_class)
        cells["M2", count, claimed] = m2.cell(study, kept, everything, count, claimed)
        # Together with what it is compared with, while the machine is as it was.
        cells["kernel", count, 0] = peers(f"kernel, {count}", lambda images=images: peer.kernel(images))
        for each in reversed(a_class):
            cells["M2", count, each] = m2.cell(study, kept, everything, count, each)
    peers.tell(study)
    return cells


def _of(model: str, cell: dict[str, Any]) -> dict[str, Any]:
    """One model of a cell of several, without times, which are of all of them together."""
    return {"measured": cell["measured"], **{key: value for key, value in cell.items() if key.startswith(f"{model}, ")}}


def tell(study: Study, cells: Cells) -> None:
    rows = []
    for (model, folds, a_class), cell in cells.items():
        place = f"{NAMES.get(model, model)}, {m2.many(folds)}" + (f", 10x{a_class}" if a_class else "")
        if "kernel" in model:
            study.found(place, cell["right"])
            study.found(f"{place}, support vectors", cell["vectors"])
            study.found(f"{place}, answers are LIBSVM's", cell["as LIBSVM"])
            right, exemplars, values = ["", f"{cell['right']:.2f}", ""], number(cell["vectors"]), cell["numbers"]
        else:
            names = {name: f"{model}, {name}" if a_class else name for name in ALL_INTERCEPTS}
            for name, key in names.items():
                # A quick run has these on other folds.
                if key in cell and not (study.quick and model in (*SINGLE, *PREFIXES)):
                    study.found(f"{place}, {ALL_INTERCEPTS[name]}", cell[key])
            right = [f"{cell[key]:.2f}" if key in cell else "" for key in names.values()]
            exemplars = number(CLASSES * a_class) if a_class else "none"
            values = m2.numbers(model, a_class) if a_class else cell["numbers"]
        cost = [f"{cell[key]:.1f}" if key in cell else "" for key in ("cpu_seconds", "seconds")]
        rows.append([place, *right, exemplars, number(values), *cost, cell["measured"]])
    text = (
        "Percent right of the 10,000 test images. The intercept is free unless it says otherwise; the kernel SVM, "
        "one-vs-one, has its own. H8L and H4L are linear SVMs, K8R and K4R kernel SVMs on HOG cells of 8 and 4. "
        "Numbers are those that prediction needs: the exemplars' HOG cells and the weights. "
        "Seconds are from raw images to a trained machine, one with an intercept. M2 is made in two steps, the "
        "features and the machine on them, so that all three intercepts share the features."
    )
    head = ["", *ALL_INTERCEPTS.values(), "exemplars", "numbers", "CPU s", "s", "measured"]
    study.table("Expansions, kernel SVMs and linear ones", text, head, rows)
    study.note("cells", [{"model": key[0], "folds": key[1], "a_class": key[2], **cell} for key, cell in cells.items()])


def where_bases_are(study: Study, everything: Images, kept: Kept, cells: Cells) -> None:
    """On all folds: bases spread over all images, as the library has them, or over the first fold alone."""
    count, rows = m2.folds(study)[-1], []
    for each in BASES_OF_FIRST_FOLD:
        spread = cells["M2", count, each]
        first = m2.bases_of_first_fold(kept, everything, count, each)
        for name, results in INTERCEPTS.items():
            place = f"M2, {m2.many(count)}, 10x{each}, bases of the first fold, {results}"
            study.found(place, first[f"M2, {name}"])
            rows.append([f"10x{each}, {results}", f"{spread[f'M2, {name}']:.2f}", f"{first[f'M2, {name}']:.2f}"])
    text = f"Percent right of M2 on {m2.many(count)}."
    study.table("Where the bases are", text, ["", "spread over all images", "of the first fold"], rows)


def claim(study: Study, cells: Cells) -> None:
    """M2 on all folds and the kernel SVM on all folds."""
    folds = max(key[1] for key in cells)
    a_class = m2.claimed(key[2] for key in cells)
    ours, peers = cells["M2", folds, a_class], cells["kernel", folds, 0]
    for name, results in ALL_INTERCEPTS.items():
        study.found(f"points above the kernel SVM: {results}", ours[f"M2, {name}"] - peers["right"])
    study.found("exemplars for each support vector", CLASSES * a_class / peers["vectors"])
    study.found("numbers for each of the kernel SVM's", m2.numbers("M2", a_class) / peers["numbers"])
    study.found("share of the kernel SVM's CPU seconds", ours["cpu_seconds"] / peers["cpu_seconds"])
    study.found("share of the kernel SVM's seconds", ours["seconds"] / peers["seconds"])
    if not study.quick:
        claims_in_print(study, cells, folds)


def claims_in_print(study: Study, cells: Cells, folds: int) -> None:
    """Of the text about figure 4, with an intercept."""
    largest = cells["kernel", folds, 0]
    three = cells["M2, first 3", folds, m2.CLAIMED]["M2, first 3, free"]
    study.found("points of three similarities, 10x250, above K8R on all folds", three - largest["right"])
    low = cells["M1", folds, m2.CLAIMED]["M1, free"]
    for count in m2.folds(study):
        study.found(f"points of M1, 10x250, above K8R on {m2.many(count)}", low - cells["kernel", count, 0]["right"])
    for count in FINE_KERNEL_FOLDS:
        study.found(
            f"points of M1, 10x250, above K4R on {m2.many(count)}", low - cells["fine kernel", count, 0]["right"]
        )
    # Of all expansions that are no worse than K8R on all folds, the smallest.
    equal = {
        (model, a_class): value
        for (model, count, a_class), cell in cells.items()
        if a_class and count == folds and (value := cell.get(f"{model}, free", 0.0)) >= largest["right"]
    }
    model, a_class = min(equal, key=lambda key: m2.numbers(*key))
    study.note("the smallest expansion that is level with K8R", [model, a_class, equal[model, a_class]])
    study.found("times sparser at equal accuracy: images", largest["vectors"] / (CLASSES * a_class))
    study.found("times sparser at equal accuracy: numbers", largest["numbers"] / m2.numbers(model, a_class))


def draw(study: Study, cells: Cells) -> None:
    import matplotlib.pyplot as plt

    folds = sorted({key[1] for key in cells})
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharey=True)
    marks = dict(zip(folds, "osD^v", strict=False))
    for panel, against in zip(panels, ("exemplars", "numbers"), strict=True):
        for count in folds:
            a_class = sorted(key[2] for key in cells if key[:2] == ("M2", count))
            across = [CLASSES * each if against == "exemplars" else m2.numbers("M2", each) for each in a_class]
            results = str(count)
            for name, color in (("free", FIRST), ("none", SOFT)):
                up = [cells["M2", count, each][f"M2, {name}"] for each in a_class]
                panel.plot(across, up, marks[count] + "-", color=color, markersize=5)
                # On the right the lines are the same, and nearer to each other.
                if panel is panels[0]:
                    panel.annotate(
                        results, (across[-1], up[-1]), (6, 0), textcoords="offset points", va="center", color=color
                    )
            for machine, fill in (("kernel", SECOND), ("fine kernel", "white")):
                if (machine, count, 0) in cells:
                    kernel = cells[machine, count, 0]
                    at = kernel["vectors" if against == "exemplars" else "numbers"]
                    panel.plot(at, kernel["right"], marks[count], color=fill, mec=SECOND, markersize=8)
                    panel.annotate(
                        results, (at, kernel["right"]), (8, 0), textcoords="offset points", va="center", color=SECOND
                    )
        for model, color in PREFIX_COLORS.items():
            a_class = sorted(
                key[2] for key in cells if key[:2] == (model, folds[-1]) and f"{model}, free" in cells[key]
            )
            across = [CLASSES * each if against == "exemplars" else m2.numbers(model, each) for each in a_class]
            up = [cells[model, folds[-1], each][f"{model}, free"] for each in a_class]
            panel.plot(across, up, "x--", color=color, markersize=5, linewidth=1)
        if against == "numbers":
            for machine in ("linear", "fine linear"):
                for count in folds:
                    one = cells[machine, count, 0]
                    panel.plot(one["numbers"], one["free"], marks[count], color=INK, markersize=5)
                panel.annotate(
                    NAMES[machine], (one["numbers"], one["free"]), (8, 0), textcoords="offset points", va="center"
                )
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
    for color, results in ((FIRST, "M2, intercept"), (SOFT, "M2, no intercept")):
        panels[0].plot([], [], "o-", color=color, label=results)
    for model, color in PREFIX_COLORS.items():
        panels[0].plot([], [], "x--", color=color, label=f"{model}, {m2.many(folds[-1])}")
    for fill, results in ((SECOND, "K8R (LIBSVM)"), ("white", "K4R")):
        panels[0].plot([], [], "o", color=fill, mec=SECOND, label=results)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
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
