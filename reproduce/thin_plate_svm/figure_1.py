"""Figure 1: a thin plate has no length scale, a Gaussian has one, seen on data that have no scale of their own.

    python figure_1.py

First as printed: points in the plane, r² log r, a panel for each λ from almost 0 to almost infinite, contours at 0 and
±1. The paper's points are not to be had; these are made. Then what the claim rests on: the two arms of a logarithmic
spiral, which looks the same at any magnification, with radii over three decades and as many points in each. No files
are read.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FIRST_LIGHT, INK, SECOND, SECOND_LIGHT, Study

# isort: split
import numpy as np

from choosing import by_leaving_out, machine
from widemargin import ThinPlateSVC

Array = np.ndarray

DECADES = 3
SAMPLES = 600
TESTED = 20_000

# From wider than the whole to narrower than the innermost turn, by factors of four.
GAMMAS = 4.0 ** np.arange(-1, 12)


# λ in units of the kernel's mean diagonal; the points of the figure as printed.
LAMBDAS = (1e-9, 1e-2, 1e-1, 1.0, 10.0, 1e6)
PRINTED = 60


def blobs(seed: int) -> tuple[Array, Array]:
    """A bay of one class in the other, with some points on the wrong side."""
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, (PRINTED, 2))
    inside = 0.8 - np.hypot(points[:, 0], points[:, 1] + 0.5) + 0.15 * random.standard_normal(PRINTED)
    return points, np.where(inside > 0, 1, -1)


def as_printed(study: Study) -> None:
    """From a border through every point to a straight line: the polynomials alone are not penalized."""
    import matplotlib.pyplot as plt

    points, labels = blobs(0)
    middle = machine("thin_plate", polynomials="free").fit(points, labels)
    # λ = 1/(2C), in units that one fit tells.
    path = middle.cv_results_
    unit = 0.5 / path["param_C"][0] / path["lambda"][0]
    side = np.linspace(-1.1, 1.1, 160)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    plane = np.c_[np.ones(len(grid)), grid]
    figure, panels = plt.subplots(1, len(LAMBDAS), figsize=(14, 3.0), layout="constrained")
    rows = []
    for axes, at in zip(panels, LAMBDAS, strict=True):
        fitted = machine("thin_plate", polynomials="free", C=1 / (2 * at * unit)).fit(points, labels)
        scores = fitted.decision_function(grid)
        wrong = 100 * float(np.mean(fitted.predict(points) != labels))
        # How far the surface is from a plane: nothing for infinite λ.
        residual = scores - plane @ np.linalg.lstsq(plane, scores, rcond=None)[0]
        bent = float(residual.std() / scores.std())
        violators = 100 * float(np.mean(labels * fitted.decision_function(points) < 1 - 1e-6))
        rows.append([f"{at:g}", f"{wrong:.1f}", f"{violators:.1f}", f"{bent:.2g}"])
        for what, value in (("% of its points wrong", wrong), ("departure from a plane", bent)):
            study.found(f"as printed, λ = {at:g}: {what}", value)
        surface = scores.reshape(len(side), len(side))
        axes.contourf(side, side, surface, [-1e9, 0, 1e9], colors=[SECOND_LIGHT, FIRST_LIGHT])
        lines = {"linewidths": [0.8, 1.5, 0.8], "linestyles": ["--", "-", "--"]}
        axes.contour(side, side, surface, [-1, 0, 1], colors=INK, **lines)
        axes.scatter(*points.T, c=np.where(labels > 0, FIRST, SECOND), s=9)
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.set_title(f"λ = {at:g}", loc="left", fontsize=10)
    text = (
        "λ in units of the projected kernel's mean diagonal. Bent: the standard deviation of the decision surface "
        "about the plane that fits it best, by its own."
    )
    study.table("Figure 1 as printed", text, ["λ", "% wrong", "% within the margin", "bent"], rows)
    study.picture(figure, "as_printed")
    plt.close(figure)


def spiral(n: int, seed: int) -> tuple[Array, Array, Array]:
    """Points, their arm, and the decade of their radius, 0 being the outermost."""
    random = np.random.default_rng(seed)
    depth, angle = random.uniform(0, DECADES, n), random.uniform(0, 2 * np.pi, n)
    arm = np.where(np.sin(angle + 2 * np.pi * depth) > 0, 1, -1)
    radius = 10.0**-depth
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], arm, depth.astype(int)


def errors(fitted: ThinPlateSVC, points: Array, arms: Array, decades: Array) -> list[float]:
    """Percent wrong: of all, then of each decade."""
    wrong = fitted.predict(points) != arms
    return [100 * float(wrong.mean()), *[100 * float(wrong[decades == one].mean()) for one in range(DECADES)]]


def other_draws(study: Study) -> None:
    """Whether the figure is of a lucky draw, and of a lucky number of points."""
    test = spiral(TESTED // 5, seed=1)
    rows = []
    for n in (SAMPLES // 2, SAMPLES):
        wrong: dict[str, list[float]] = {"thin plate": [], "distance": [], "Gaussian": []}
        for seed in range(10, 15):
            points, arms, _ = spiral(n, seed)
            for name, kernels in {
                "thin plate": ["thin_plate"],
                "distance": ["distance"],
                "Gaussian": [f"rbf:gamma={float(gamma)!r}" for gamma in GAMMAS[6:12]],
            }.items():
                wrong[name].append(errors(by_leaving_out(kernels, points, arms)[0], *test)[0])
        for name, found in wrong.items():
            study.found(f"% wrong of five draws of {n}: {name}", float(np.mean(found)))
            rows.append([f"{n} points, {name}", f"{np.mean(found):.1f}", f"{min(found):.1f}", f"{max(found):.1f}"])
    text = (
        "Percent wrong of five draws, C by leave-one-out, a Gaussian's width of six too; *distance* is the kernel −r."
    )
    study.table("Other draws of the points", text, ["", "mean", "best", "worst"], rows)


def draw(study: Study, columns: dict[str, tuple[ThinPlateSVC | None, list[float]]], points: Array, arms: Array) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    figure, panels = plt.subplots(DECADES, len(columns), figsize=(13, 9.6), layout="constrained")
    hues = ListedColormap([SECOND_LIGHT, FIRST_LIGHT])
    for row in range(DECADES):
        edge = 10.0**-row
        side = np.linspace(-edge, edge, 241)
        across, up = np.meshgrid(side, side)
        near = np.max(np.abs(points), axis=1) < edge
        for panel, (name, (fitted, wrong)) in zip(panels[row], columns.items(), strict=True):
            if fitted is None:
                arm = np.sin(np.arctan2(up, across) - 2 * np.pi * np.log10(np.maximum(np.hypot(across, up), 1e-12)))
                scores = arm
            else:
                scores = fitted.decision_function(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
            panel.pcolormesh(across, up, scores > 0, cmap=hues, vmin=0, vmax=1, rasterized=True)
            panel.contour(across, up, scores, levels=[0], colors=INK, linewidths=0.9)
            for label, color in ((1, FIRST), (-1, SECOND)):
                chosen = near & (arms == label)
                panel.scatter(*points[chosen].T, s=9, color=color, edgecolor="white", linewidth=0.3)
            panel.set(xlim=(-edge, edge), ylim=(-edge, edge), xticks=[], yticks=[], aspect="equal")
            if row == 0:
                panel.set_title(name, fontsize=11)
            if wrong:
                panel.set_xlabel(f"{wrong[row + 1]:.0f} % wrong at radii of {10.0**-row:g} to {10.0 ** -(row + 1):g}")
        panels[row, 0].set_ylabel("the whole" if row == 0 else f"magnified × {10**row}", fontsize=11)
    figure.suptitle(f"{SAMPLES} points on two arms of a logarithmic spiral, C by leave-one-out everywhere", fontsize=13)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    # Far from a good width there is hardly anything to solve, which is said each time.
    warnings.simplefilter("ignore")
    as_printed(study)
    points, arms, _ = spiral(SAMPLES, seed=0)
    test = spiral(TESTED // 10 if study.quick else TESTED, seed=1)
    gammas = GAMMAS[::2] if study.quick else GAMMAS

    plate = machine("thin_plate").fit(points, arms)
    gaussians = [machine(f"rbf:gamma={gamma!r}").fit(points, arms) for gamma in map(float, gammas)]
    plate_errors, gaussian_errors = errors(plate, *test), [errors(one, *test) for one in gaussians]
    chosen = int(np.argmin([-np.nanmax(one.cv_results_["mean_test_score"]) for one in gaussians]))
    # What one who looks at the outermost decade alone would take.
    wide = int(np.argmin([wrong[1] for wrong in gaussian_errors]))

    for name, wrong in (("thin plate", plate_errors), ("Gaussian, width left out", gaussian_errors[chosen])):
        study.found(f"% wrong: {name}", wrong[0])
        study.found(f"% wrong, worst decade: {name}", max(wrong[1:]))
    study.found("% wrong: Gaussian, best width for the test points", min(wrong[0] for wrong in gaussian_errors))
    study.found("% wrong, innermost decade: Gaussian, best width for the outermost", gaussian_errors[wide][DECADES])
    rows = [["thin plate", f"{plate.C_:.3g}", *[f"{one:.1f}" for one in plate_errors]]]
    for gamma, fitted, wrong in zip(gammas, gaussians, gaussian_errors, strict=True):
        mark = " (chosen)" if fitted is gaussians[chosen] else ""
        rows.append([f"Gaussian, gamma = {gamma:g}{mark}", f"{fitted.C_:.3g}", *[f"{one:.1f}" for one in wrong]])
    text = (
        f"Percent wrong of {len(test[0]):,} new points. C by leave-one-out for each line; *chosen* is the width with "
        "the least leave-one-out loss."
    )
    study.table("Every scale of the spiral", text, ["", "C", "all", "1 to 0.1", "0.1 to 0.01", "0.01 to 0.001"], rows)
    if not study.quick:
        other_draws(study)
    draw(
        study,
        {
            "the two arms": (None, []),
            f"thin plate: {plate_errors[0]:.1f} % wrong": (plate, plate_errors),
            f"Gaussian, chosen width: {gaussian_errors[chosen][0]:.1f} %": (gaussians[chosen], gaussian_errors[chosen]),
            f"Gaussian, width of the whole: {gaussian_errors[wide][0]:.1f} %": (gaussians[wide], gaussian_errors[wide]),
        },
        points,
        arms,
    )
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
