"""Table 1: twelve two-class sets, thin plate and Gaussian, each with its parameters chosen in two ways.

    python table_1.py --data DATA

On distinct (x, y) pairs, at most 1,500 a class, in five disjoint stratified fifths, each tested once.
"""

from __future__ import annotations

import math
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FIRST_LIGHT, INK, SECOND, SECOND_LIGHT, SOFT, Stopwatch, Study
from declared import number, say

# isort: split
import numpy as np

import data_sets
from choosing import by_folds, by_leaving_out, gaussians, thin_plate

QUICK = ("breast-cancer", "diabetes", "flare-solar", "heart", "thyroid")

WAYS = ("thin plate, left out", "thin plate, folds", "Gaussian, left out", "Gaussian, folds")


def measure(study: Study, name: str) -> dict[str, Any]:
    """Percent wrong in each of the five splits, and the CPU seconds of choosing and fitting, for each way."""
    errors: dict[str, list[float]] = {way: [] for way in WAYS}
    watches = {way: Stopwatch() for way in WAYS}
    sizes = []
    for split in data_sets.splits(study.data, name):
        X, y = split.train, split.train_labels
        sizes.append(len(y))
        for kind, kernels in (("thin plate", thin_plate()), ("Gaussian", gaussians(X.shape[1]))):
            with watches[f"{kind}, left out"]:
                left_out, candidates = by_leaving_out(kernels, X, y)
            with watches[f"{kind}, folds"]:
                folds = by_folds(candidates, X, y)
            for way, fitted in ((f"{kind}, left out", left_out), (f"{kind}, folds", folds)):
                errors[way].append(100 * float(np.mean(fitted.predict(split.test) != split.test_labels)))
    seconds = {way: watch.cpu_seconds for way, watch in watches.items()}
    return {"train": sizes, "columns": X.shape[1], "errors": errors, "cpu_seconds": seconds}


def sum_rule(study: Study, name: str) -> float:
    """Percent wrong by the sign of the columns' sum, the best rule there is for two normal clouds on the diagonal."""
    wrong = []
    for split in data_sets.splits(study.data, name):
        # Which cloud is on which side is known from the training samples.
        side = np.sign(split.train_labels @ split.train.sum(1))
        wrong.append(100 * float(np.mean(np.sign(split.test.sum(1)) * side != split.test_labels)))
    return statistics.mean(wrong)


def standard_error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def draw(study: Study, sets: dict[str, Any], paper: dict[str, Any]) -> None:
    """The four errors of each set and the paper's, and what choosing costs."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained", width_ratios=[3, 2])
    looks = dict(zip(WAYS, ((FIRST, "o"), (FIRST_LIGHT, "o"), (SECOND, "s"), (SECOND_LIGHT, "s")), strict=True))
    names = list(sets)
    for row, name in enumerate(names):
        left.axhline(row, color="#eeeeee", zorder=0)
        for shift, way in zip((-0.24, -0.08, 0.08, 0.24), WAYS, strict=True):
            values = sets[name]["errors"][way]
            color, marker = looks[way]
            left.errorbar(
                statistics.mean(values),
                row + shift,
                xerr=standard_error(values),
                fmt=marker,
                color=color,
                markeredgecolor=INK,
                markeredgewidth=0.5,
                ecolor=SOFT,
                elinewidth=1,
                label=way if row == 0 else None,
            )
        if isinstance(paper[name], float):
            left.plot(paper[name], row, "x", color=INK, label="the paper's thin plate" if row == 0 else None)
        cost = sets[name]["cpu_seconds"]
        for shift, way in zip((-0.3, -0.1, 0.1, 0.3), WAYS, strict=True):
            right.barh(row + shift, cost[way], height=0.18, color=looks[way][0], edgecolor=INK, linewidth=0.4)
    left.set(xscale="log", xlabel="% wrong (mean of five splits, its standard error)")
    left.set_xticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
    left.minorticks_off()
    left.set_title("How many are wrong", loc="left")
    right.set(xscale="log", xlabel="CPU seconds of choosing and fitting, all five splits")
    right.set_title("What the choice costs", loc="left")
    left.set_yticks(range(len(names)), names)
    right.set_yticks(range(len(names)), [""] * len(names))
    for axes in (left, right):
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    study.picture(figure)
    plt.close(figure)


def tell(study: Study, sets: dict[str, Any], paper: dict[str, Any]) -> None:
    rows = []
    for name, one in sets.items():
        means = [statistics.mean(one["errors"][way]) for way in WAYS]
        for way, mean in zip(WAYS, means, strict=True):
            study.found(f"{name}: {way}", mean)
        spread = [standard_error(one["errors"][way]) for way in WAYS]
        results = [f"{mean:.2f} ± {error:.2f}" for mean, error in zip(means, spread, strict=True)]
        rows.append([name, f"{one['columns']} / {one['train'][0]:,}", number(paper[name]), *results])
    if not study.quick:
        grand = [statistics.mean(statistics.mean(one["errors"][way]) for one in sets.values()) for way in WAYS]
        for way, mean in zip(WAYS, grand, strict=True):
            study.found(f"mean: {way}", mean)
        best = statistics.mean(float(paper[name]) for name in sets)
        study.found("twonorm: the best rule for its distribution", sum_rule(study, "twonorm"))
        rows.append(["mean", "", f"{best:.2f}", *[f"{mean:.2f}" for mean in grand]])
    text = (
        "Percent wrong, mean and standard error of five splits; columns / training samples of a split. *Left out*: "
        "least leave-one-out squared hinge; *folds*: fewest errors in 5-fold cross-validation. The paper's splits are "
        "other random ones."
    )
    study.table("Table 1", text, ["set", "size", "paper, thin plate", *WAYS], rows)
    costs = [[name, *[f"{one['cpu_seconds'][way]:.2f}" for way in WAYS]] for name, one in sets.items()]
    total = [f"{sum(one['cpu_seconds'][way] for one in sets.values()):.1f}" for way in WAYS]
    text = (
        "CPU seconds on one thread, five splits. The folds begin from the candidates that leaving out found, so their "
        "whole cost is both columns."
    )
    study.table("What choosing costs", text, ["set", *WAYS], [*costs, ["sum", *total]])
    study.note("sets", sets)


def main() -> int:
    study = Study(__file__, __doc__)
    # At the ends of the grid a Gaussian has C that double precision cannot solve for, and says so each time.
    warnings.simplefilter("ignore")
    names = QUICK[:2] if study.synthetic else QUICK if study.quick else data_sets.TABLE_1
    sets: dict[str, Any] = {}
    for name in names:
        sets[name] = measure(study, name)
        means = ", ".join(f"{way} {statistics.mean(sets[name]['errors'][way]):.2f}" for way in WAYS)
        say(f"{name}: {means} in {sum(sets[name]['cpu_seconds'].values()):.0f} CPU s")
    paper = {name: study.script.figures[f"{name}: {WAYS[0]}"].paper for name in sets}
    tell(study, sets, paper)
    draw(study, sets, paper)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
