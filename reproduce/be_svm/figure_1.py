"""Figure 1: a kernel SVM beside the dual of basis expansion on two moons that noise blurs more and more.

    python figure_1.py

The same Gaussian for all: a kernel SVM, all samples as bases without a normalisation and with mean-norm, and a tenth of
the samples as bases with mean-norm. Hinge loss, so that support vectors can be counted. Reads no files.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FOURTH, INK, SECOND, SOFT, THIRD, Study

# isort: split
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from widemargin import BasisExpansionSVC

SAMPLES, TEST_SAMPLES = 400, 4000
LEVELS = np.round(np.linspace(0.05, 1.0, 20), 2)
QUICK_LEVELS = LEVELS[[1, 9, 19]]
DRAWS, QUICK_DRAWS = 5, 2
GAMMA, C = 2.0, 1.0
SHARE = 0.1

# The level and the draw that the picture shows.
SHOWN, SHOWN_DRAW = 0.25, 0

KERNEL, PLAIN, NORMED, TENTH = "kernel SVM", "all bases, not normalised", "all bases, mean-norm", "a tenth, mean-norm"
COLOURS = {KERNEL: SECOND, PLAIN: FOURTH, NORMED: FIRST, TENTH: THIRD}


def machines(intercept: bool) -> dict[str, Any]:
    def expansion(share: float, normalization: str) -> BasisExpansionSVC:
        return BasisExpansionSVC(
            f"rbf:gamma={GAMMA}",
            n_basis=round(share * SAMPLES),
            normalization=normalization,
            C=C,
            loss="hinge",
            fit_intercept=intercept,
            max_iter=20_000,
            n_jobs=1,
            random_state=0,
        )

    return {
        KERNEL: SVC(C=C, gamma=GAMMA),
        PLAIN: expansion(1.0, "none"),
        NORMED: expansion(1.0, "mean_norm"),
        TENTH: expansion(SHARE, "mean_norm"),
    }


def draw_samples(level: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_moons(SAMPLES, noise=level, random_state=seed)
    return X, y, *make_moons(TEST_SAMPLES, noise=level, random_state=1000 + seed)


def support(machine: Any) -> int:
    return len(machine.support_) if isinstance(machine, SVC) else int(machine.report_["n_support"][0])


def measure(levels: np.ndarray, draws: int, intercept: bool) -> dict[str, np.ndarray]:
    """Percent wrong and support vectors of each machine: draws × levels × 2."""
    found = {name: np.zeros((draws, len(levels), 2)) for name in COLOURS}
    for seed in range(draws):
        for at, level in enumerate(levels):
            X, y, X_test, y_test = draw_samples(level, seed)
            for name, machine in machines(intercept).items():
                machine.fit(X, y)
                found[name][seed, at] = 100 * np.mean(machine.predict(X_test) != y_test), support(machine)
    return found


def tell(study: Study, levels: np.ndarray, found: dict[str, dict[str, np.ndarray]]) -> None:
    head = ["noise", *(f"{name}, {what}" for name in COLOURS for what in ("% wrong", "kept"))]
    for intercept, by_machine in found.items():
        rows = []
        for at, level in enumerate(levels):
            means = [by_machine[name][:, at].mean(0) for name in COLOURS]
            rows.append([f"{level:g}", *(f"{value:.1f}" for mean in means for value in mean)])
        text = (
            f"Means of {by_machine[KERNEL].shape[0]} draws of {SAMPLES} samples; kept: the number of support vectors. "
            "The kernel SVM has a free intercept in both tables; under the hinge that of basis expansion is penalised."
        )
        study.table(f"Two moons, {intercept}", text, head, rows)
        for name in COLOURS:
            if name == KERNEL and intercept == "no intercept":
                continue
            place = name if name == KERNEL else f"{name}, {intercept}"
            study.found(f"% wrong, mean of all levels: {place}", by_machine[name][..., 0].mean())
            study.found(f"support vectors, mean of all levels: {place}", by_machine[name][..., 1].mean())
            worst = (by_machine[name][..., 0] - by_machine[KERNEL][..., 0]).mean(0).max()
            if name != KERNEL:
                study.found(f"points behind the kernel SVM at the worst level: {place}", worst)
    kept = {name: {key: values.tolist() for key, values in one.items()} for name, one in found.items()}
    study.note("levels", levels.tolist())
    study.note("draws x levels x (% wrong, support vectors)", kept)


def draw(study: Study, levels: np.ndarray, found: dict[str, np.ndarray]) -> None:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 7.4), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[5, 6])
    X, y, *_ = draw_samples(SHOWN, SHOWN_DRAW)
    low, high = X.min(0) - 0.3, X.max(0) + 0.3
    across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 160))
    grid = np.column_stack([across.ravel(), up.ravel()])
    for axes, (name, machine) in zip(top.subplots(1, 4), machines(True).items(), strict=True):
        machine.fit(X, y)
        values = machine.decision_function(grid).reshape(across.shape)
        axes.contourf(across, up, values, [-1e9, 0, 1e9], colors=["#fae3cc", "#cfe0f3"])
        axes.contour(
            across, up, values, [-1, 0, 1], colors=INK, linewidths=[0.8, 1.6, 0.8], linestyles=["--", "-", "--"]
        )
        axes.scatter(*X.T, c=np.where(y == 1, FIRST, SECOND), s=6)
        if name == TENTH:
            bases = X[machine.basis_indices_]
            axes.scatter(*bases.T, s=32, facecolors="none", edgecolors=INK, linewidths=0.9)
        circled = f"\n{len(machine.basis_indices_)} bases circled" if name == TENTH else "\n"
        axes.set_title(f"{name}{circled}", fontsize=10, loc="left")
        axes.set_xlabel(f"{support(machine)} support vectors")
        axes.set_xticks([])
        axes.set_yticks([])
    for axes, what, at in zip(bottom.subplots(1, 2), ("% wrong", "support vectors"), (0, 1), strict=True):
        for name, colour in COLOURS.items():
            means = found[name][..., at].mean(0)
            axes.plot(levels, means, "o-", color=colour, markersize=4, label=name)
        axes.axvline(SHOWN, color=SOFT, linewidth=0.8, linestyle=":")
        axes.set(xlabel="standard deviation of the noise (dotted: shown above)", ylabel=what, ylim=(0, None))
        axes.spines[["top", "right"]].set_visible(False)
        handles = axes.get_legend_handles_labels()
    bottom.legend(*handles, loc="outside upper center", ncols=4, frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    warnings.simplefilter("ignore")
    levels, draws = (QUICK_LEVELS, QUICK_DRAWS) if study.quick else (LEVELS, DRAWS)
    found = {name: measure(levels, draws, name == "intercept") for name in ("intercept", "no intercept")}
    tell(study, levels, found)
    draw(study, levels, found["intercept"])
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
