"""The paper's open question: where the approximation of the kernel stops being safe, and what the library does there.

    python safe.py

On scikit-learn's 8 × 8 digits, at most 1,000 to train on, for which the exact kernel can be solved too. The end points
of dual coordinate descent are found exactly, so that nothing here is a matter of when to stop. No files are read.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, INK, SECOND, SOFT, THIRD, Study
from declared import say

# isort: split
import numpy as np
import scipy.sparse as sp

import kernels
import sets
from algorithm_3 import Ended, descend
from optimum import end_point, gram
from widemargin import PowerMeanSVC

# Rows to train on; Algorithm 3 in NumPy is slow.
ROWS, FEW_ROWS = 1000, 300

COSTS = [10.0**k for k in range(-2, 3)]
SCALES = [10.0**k for k in range(1, -6, -1)]

# Of Algorithm 3 in NumPy, which is slow; where it diverges it does in a few.
MAX_EPOCHS = 30

# Features s times as large with a C of 1/s are the same problem for every kernel here: M_p(sx, sy) = s·M_p(x, y).
COST_OF_SCALE_1 = 0.1

WAYS: dict[str, dict[str, Any]] = {
    "polynomial": {"approximation": "polynomial"},
    "Nyström": {"approximation": "nystroem"},
    "Nyström, 8 nodes": {"approximation": "nystroem", "nodes": 8},
}
COLORS = dict(zip(WAYS, (SECOND, FIRST, THIRD), strict=True))

# Below it a gap is rounding, and drawn there.
MIN_DRAWS = 1e-10

Row = dict[str, Any]


class Digits:
    """Rows, both parts together, for which every kernel is a matrix."""

    def __init__(self, rows: int) -> None:
        data = sets.digits()
        self.data, self.n = data.head(rows), rows
        self.train = self.data.train / np.float32(16)
        self.signs = kernels.one_vs_rest(self.data.y_train)
        whole = sp.vstack([self.train, data.test / np.float32(16)], format="csr")
        self.exact = {name: gram(pairs, whole) for name, (pairs, _) in kernels.KERNELS.items()}

    def accuracy(self, scores: np.ndarray) -> float:
        return 100 * float(np.mean(scores.argmax(axis=1) == self.data.y_test))

    def exact_accuracy(self, name: str, c: float) -> float:
        matrix = self.exact[name]
        alphas = end_point(matrix[: self.n, : self.n], self.signs, c)
        return self.accuracy(matrix[self.n :, : self.n] @ (alphas * self.signs))


def fit_and_end(digits: Digits, name: str, way: str, c: float, scale: float = 1.0) -> Row:
    """The library's fit, the end point of the same iteration, and how far that is from the optimum of the kernel."""
    pairs, parameters = kernels.KERNELS[name]
    rows = digits.train * np.float32(scale)
    options = {**kernels.USUAL, **WAYS[way], "C": c}
    machine = PowerMeanSVC(**parameters, **options, scale=False, random_state=0, n_jobs=1)
    machine.fit(rows, digits.data.y_train)
    polynomial = way == "polynomial"
    reduced = kernels.polynomial(pairs) if polynomial else kernels.nystroem(pairs, machine.nodes_)
    scores = machine.decision_function(rows)
    matrix = gram(reduced.pairs, rows)
    alphas = end_point(matrix, digits.signs, c, scores)
    gap = np.nan
    if alphas is not None:
        exact = scale * digits.exact[name][: digits.n, : digits.n] @ (alphas * digits.signs)
        gap = kernels.true_gap(exact, alphas, digits.signs, c)
    test = digits.data.test * np.float32(scale / 16)
    return {
        "gap": gap,
        "accuracy": digits.accuracy(machine.decision_function(test)),
        "epochs": machine.n_iter_,
        "status": machine.report_["status"],
        "reported": max(machine.report_["gaps"]),
    }


def costs_section(study: Study, digits: Digits) -> dict[str, dict[str, list[Row]]]:
    """What becomes of both as C grows."""
    found: dict[str, dict[str, list[Row]]] = {}
    names = [kernels.CHI_SQUARE, "p = −8", *([] if study.quick else ["intersection"])]
    for name in names:
        found[name] = {way: [fit_and_end(digits, name, way, c) for c in COSTS] for way in WAYS}
        exact = [digits.exact_accuracy(name, c) for c in COSTS]
        for way, rows in found[name].items():
            say(f"{name}, {way}: gaps " + ", ".join(_gap(one["gap"]) for one in rows))
        table = [["exact kernel, %", *[f"{one:.1f}" for one in exact]]]
        for way, rows in found[name].items():
            table.append([f"{way}: true gap", *[_gap(one["gap"]) for one in rows]])
            table.append([f"{way}: %", *[f"{one['accuracy']:.1f}" for one in rows]])
            table.append([f"{way}: epochs", *[f"{one['epochs']}" for one in rows]])
            for c in (0.01, 0.1, 1.0):
                study.found(f"true gap, {name}, {way}, C = {c:g}", rows[COSTS.index(c)]["gap"])
        text = (
            f"{digits.n:,} rows. True gap: (primal − dual) / primal of the exact kernel at the end point, all classes "
            "together; 'circles' where the search for it found none. Epochs are the most of any class; the library "
            "stops at a gap of 1 % of the reduced problem, or after 1,000."
        )
        study.table(f"By C: {name}", text, ["", *[f"C = {c:g}" for c in COSTS]], table)
    return found


def scales_section(study: Study, digits: Digits, name: str) -> dict[str, list[Row]]:
    """The same problem with features s times as large and C/s: nothing should change. Algorithm 3 to the letter too."""
    pairs = kernels.KERNELS[name][0]
    scales = _scales(study)
    found: dict[str, list[Row]] = {way: [] for way in WAYS}
    printed: dict[str, list[Ended]] = {"k(c₀, x) = c₀": [], "as meant": [], "with a guard": []}
    ratios = []
    for scale in scales:
        c, rows = COST_OF_SCALE_1 / scale, digits.train * np.float32(scale)
        for way in WAYS:
            found[way].append(fit_and_end(digits, name, way, c, scale))
        reduced = kernels.polynomial(pairs)
        for label, kernel, guard in (
            ("k(c₀, x) = c₀", kernels.polynomial(pairs, shortcut=True), False),
            ("as meant", reduced, False),
            ("with a guard", reduced, True),
        ):
            printed[label].append(descend(kernel, rows, digits.signs, c, guard=guard, most=MAX_EPOCHS))
        own = np.diag(gram(reduced.pairs, rows)) / np.asarray(rows.sum(axis=1)).ravel()
        ratios.append(float(own.mean()))
        say(f"{name}, × {scale:g}: " + ", ".join(f"{label} {ran[-1].status}" for label, ran in printed.items()))
    table = [["K̃(x, x) / K(x, x), polynomial", *[f"{one:.2f}" for one in ratios]]]
    table += [[f"Algorithm 3, {label}", *[_ended(one) for one in ran]] for label, ran in printed.items()]
    for way, rows in found.items():
        table.append([f"library, {way}: epochs", *[f"{one['epochs']}" for one in rows]])
        table.append([f"library, {way}: true gap", *[_gap(one["gap"]) for one in rows]])
        table.append([f"library, {way}: %", *[f"{one['accuracy']:.1f}" for one in rows]])
    text = (
        f"{digits.n} rows. Features × s and C = {COST_OF_SCALE_1:g}/s: one problem to the exact kernel, with "
        f"{digits.exact_accuracy(name, COST_OF_SCALE_1):.1f} % right. Algorithm 3 is in NumPy, its epochs until "
        f"LIBLINEAR's rule ends it, at most {MAX_EPOCHS}; the guard is a step by max(Q_ii, K̃_ii). The library divides "
        "features by their maximum unless `scale=False`, as it was here."
    )
    study.table(f"By the size of the features: {name}", text, ["", *[f"× {scale:g}" for scale in scales]], table)
    for label, ran in printed.items():
        study.found(
            f"{name}, sizes at which Algorithm 3 diverges: {label}", sum(one.status == "diverged" for one in ran)
        )
    for way, rows in found.items():
        study.found(f"{name}, sizes at which {way} diverges", sum(not np.isfinite(one["reported"]) for one in rows))
        study.found(f"{name}, points from the best to the worst size: {way}", np.ptp([one["accuracy"] for one in rows]))
    return found


def _scales(study: Study) -> list[float]:
    return SCALES[1::2] if study.quick else SCALES


def _gap(value: float) -> str:
    return "circles" if np.isnan(value) else f"{value:.1e}"


def _ended(one: Ended) -> str:
    return {"converged": f"{one.epochs}", "diverged": f"diverges in {one.epochs}"}.get(one.status, f"> {one.epochs}")


def _plain(found: dict[str, dict[str, list[Row]]]) -> Any:
    """For JSON, which knows no NaN."""

    def row(one: Row) -> Row:
        return {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in one.items()}

    return {name: {way: [row(one) for one in rows] for way, rows in ways.items()} for name, ways in found.items()}


def _drawn(rows: list[Row]) -> list[float]:
    return [max(one["gap"], MIN_DRAWS) for one in rows]


def draw(study: Study, by_cost: dict[str, dict[str, list[Row]]], by_scale: dict[str, list[Row]]) -> None:
    import matplotlib.pyplot as plt

    shown = [name for name in (kernels.CHI_SQUARE, "p = −8", "intersection") if name in by_cost]
    figure, panels = plt.subplots(1, len(shown) + 1, figsize=(4.1 * (len(shown) + 1), 4.4), layout="constrained")
    scales = _scales(study)
    for axes, name in zip(panels, shown, strict=False):
        for way, rows in by_cost[name].items():
            axes.plot(COSTS, _drawn(rows), "o-", color=COLORS[way], label=way)
        axes.set(xscale="log", yscale="log", xlabel="C", ylim=(MIN_DRAWS / 3, 3))
        axes.set_title(name, loc="left")
    for way, rows in by_scale.items():
        panels[-1].plot(scales, _drawn(rows), "o-", color=COLORS[way])
    panels[-1].set(xscale="log", yscale="log", xlabel="size of the features (C = 0.1 over it)")
    panels[-1].set_ylim(MIN_DRAWS / 3, 3)
    panels[-1].set_title("χ², one problem at every size", loc="left")
    for axes in panels:
        axes.axhline(0.01, color=SOFT, linewidth=0.9, linestyle=":")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#eeeeee")
    panels[0].set_ylabel("true relative duality gap of the exact kernel")
    panels[-1].text(scales[-1], 0.003, "1 %: where the library stops", color=INK, fontsize=8)
    panels[0].text(COSTS[0], 2 * MIN_DRAWS, f"{MIN_DRAWS:g} and less", color=INK, fontsize=8)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS), frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    # That fits end at their limit of epochs is in the tables.
    warnings.simplefilter("ignore")
    few = Digits(FEW_ROWS)
    with np.errstate(all="ignore"):
        by_scale = {name: scales_section(study, few, name) for name in (kernels.CHI_SQUARE, "Hellinger")}
        by_cost = costs_section(study, few if study.quick else Digits(ROWS))
    study.note("costs", COSTS)
    study.note("by_cost", _plain(by_cost))
    study.note("scales", _scales(study))
    study.note("by_scale", _plain(by_scale))
    draw(study, by_cost, by_scale[kernels.CHI_SQUARE])
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
