"""USPS digits, ten classes one against the rest: the thin plate in its variants, r³ and a Gaussian.

    python usps.py --data DATA

7,291 digits to train on and the usual 2,007 to test on, C by leave-one-out in closed form. Needs 1 GiB of memory.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FOURTH, INK, SECOND, SOFT, THIRD, Stopwatch, Study
from declared import say

# isort: split
import numpy as np

import data_sets
from choosing import gaussians, machine

# One training digit in this many: seconds instead of minutes.
QUICK_STEP = 7

# A Gaussian's gamma × 256: a factor of two to either side of what `gamma="scale"` of scikit-learn would take.
GAMMA_TIMES_COLUMNS = (1.0, 2.0, 4.0)

# The name of each machine in expected.toml and its parameters.
VARIANTS: dict[str, dict[str, Any]] = {
    "r² log r, no polynomials": {"kernel": "thin_plate", "polynomials": "none"},
    "r² log r, constant kept": {"kernel": "thin_plate", "polynomials": "constant"},
    "r² log r, polynomials free": {"kernel": "thin_plate", "polynomials": "free"},
    "r³, no polynomials": {"kernel": "cubic", "polynomials": "none"},
}


@dataclass
class Fit:
    machine: Any
    wrong: np.ndarray
    seconds: float
    cpu_seconds: float

    @property
    def path(self) -> dict[str, np.ndarray]:
        return self.machine.cv_results_

    @property
    def seconds_a_problem(self) -> float:
        """CPU seconds for one class at one C, kernel and leave-one-out included."""
        return self.cpu_seconds / len(self.path["params"]) / len(self.machine.classes_)


def fit(split: data_sets.Split, kernel: str, **parameters: Any) -> Fit:
    with Stopwatch() as watch:
        fitted = machine(kernel, **parameters).fit(split.train, split.train_labels)
    return Fit(fitted, fitted.predict(split.test) != split.test_labels, watch.seconds, watch.cpu_seconds)


def gaussian(split: data_sets.Split) -> Fit:
    """The width with the least leave-one-out squared hinge; the time is that of all widths."""
    fits = [fit(split, kernel) for kernel in gaussians(split.train.shape[1], GAMMA_TIMES_COLUMNS)]
    best = min(fits, key=lambda one: -np.nanmax(one.path["mean_test_score"]))
    best.seconds, best.cpu_seconds = sum(one.seconds for one in fits), sum(one.cpu_seconds for one in fits)
    return best


def draw(study: Study, split: data_sets.Split, fits: dict[str, Fit]) -> None:
    import matplotlib.pyplot as plt

    shown = "r² log r, no polynomials"
    figure = plt.figure(figsize=(12, 5.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[5, 6])
    axes = left.subplots()
    colors = dict(zip(fits, (FIRST, THIRD, SOFT, FOURTH, SECOND), strict=True))
    for name, one in fits.items():
        order = np.argsort(one.path["lambda"])
        lambdas, losses = one.path["lambda"][order], -one.path["mean_test_score"][order]
        label = f"{name}: {one.wrong.sum()} of {len(one.wrong):,} wrong"
        if np.isnan(losses).all():
            # Nowhere solved, so that there is nothing to choose C by: the fit says so in its report.
            axes.plot([], color=colors[name], label=f"{label}, not solved")
            continue
        axes.plot(lambdas, losses, color=colors[name], label=label)
        least = np.nanargmin(losses)
        axes.plot(lambdas[least], losses[least], "o", color=colors[name], markeredgecolor=INK)
    axes.set(xscale="log", yscale="log", xlabel="λ in units of the kernel's mean diagonal")
    axes.set_ylabel("mean squared hinge of digits left out")
    axes.set_title("Leave-one-out loss along the path of C", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    left.legend(*axes.get_legend_handles_labels(), loc="outside lower center", frameon=False)

    rows, columns = 8, 12
    wrong = np.flatnonzero(fits[shown].wrong)
    given = fits[shown].machine.predict(split.test[wrong])
    count = f"the {len(wrong)}" if len(wrong) <= rows * columns else f"{rows * columns} of the {len(wrong)}"
    right.suptitle(f"{shown}: {count} that it gets wrong, answer → truth")
    for axes, i, taken in zip(right.subplots(rows, columns).flat, wrong, given, strict=False):
        axes.imshow(-split.test[i].reshape(16, 16), cmap="gray")
        axes.set_title(f"{taken}→{split.test_labels[i]}", fontsize=7, pad=1.5)
    for axes in right.axes:
        axes.set_axis_off()
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    warnings.simplefilter("ignore")
    split = data_sets.usps(study.data)
    if study.quick:
        part = data_sets.Split(
            split.train[::QUICK_STEP], split.train_labels[::QUICK_STEP], split.test, split.test_labels
        )
        split = part
    fits = {}
    for name, parameters in (*VARIANTS.items(), ("Gaussian", None)):
        fits[name] = gaussian(split) if parameters is None else fit(split, **parameters)
        say(f"{name}: {fits[name].wrong.sum()} wrong in {fits[name].cpu_seconds:.0f} CPU s")
    rows = []
    for name, one in fits.items():
        study.found(f"wrong: {name}", one.wrong.sum())
        results = study.script.figures[f"wrong: {name}"].paper
        told_percent = "" if results is None else f"{float(results):.0f}"
        rows.append(
            [
                name,
                int(one.wrong.sum()),
                told_percent,
                f"{100 * one.wrong.mean():.2f}",
                one.machine.report_["status"],
                f"{one.machine.C_:.3g}",
                str(len(one.path["params"])),
                f"{one.seconds:.0f}",
                f"{one.cpu_seconds:.0f}",
                f"{one.seconds_a_problem:.2f}",
            ]
        )
    for name in ("r² log r, no polynomials", "r² log r, polynomials free"):
        study.found(f"solved: {name}", fits[name].machine.report_["status"] == "converged")
    study.found("CPU seconds a class and C, no polynomials", fits["r² log r, no polynomials"].seconds_a_problem)
    text = (
        f"{len(split.train_labels):,} digits to train on, {len(split.test_labels):,} to test on, C by leave-one-out. "
        "Seconds are of the whole path, the last column of one of its ten two-class problems at one C with its share "
        "of everything else. The Gaussian's are of three widths together."
    )
    head = ["kernel", "wrong", "paper", "%", "status", "C", "values of C", "s", "CPU s", "CPU s a problem"]
    study.table("USPS", text, head, rows)
    study.note("paths", {name: {key: list(value) for key, value in one.path.items()} for name, one in fits.items()})
    study.note("gaussian", str(fits["Gaussian"].machine.kernel))
    draw(study, split, fits)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
