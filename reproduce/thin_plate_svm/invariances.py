"""Moving, turning and stretching the data: what the classifier does not notice, and what it does.

    python invariances.py

Made data; no files are read. A change is the largest difference of a decision value at new points, moved, turned and
stretched as the data were, in units of the largest decision value.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, FIRST_LIGHT, INK, SECOND, SECOND_LIGHT, Study

# isort: split
import numpy as np

from choosing import machine
from widemargin import BasisExpansionSVC

Array = np.ndarray

# The dimensions that the problem is made in.
COLUMNS = (2, 5, 20)
STRETCH = 1000.0

# The kernel, and the power b of the length s by which λ = 1/(2C) must be multiplied when the data are stretched.
KERNELS = {"thin_plate": 2, "distance": 1, "cubic": 3}

# Homogeneous polynomials (x·y)^p, Theorem 4.6: a stretch by s multiplies ‖f‖² by s^-2p, and so λ by s^2p.
DEGREES = (1, 2, 3)
POLYNOMIAL_STRETCH = 10.0


def made(columns: int, seed: int, n: int = 150) -> tuple[Array, Array, Array]:
    """Two classes with a curved border and some noise; points to train on, their labels, points to look at."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((n + 100, columns))
    border = points[:, 0] ** 2 + np.sin(2 * points[:, 1]) - 0.7 + 0.3 * random.standard_normal(n + 100)
    return points[:n], np.where(border[:n] > 0, 1, -1), points[n:]


def turn(columns: int, seed: int) -> Array:
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((columns, columns)))
    return rotation


def changes(columns: int) -> dict[str, tuple[Callable[[Array], Array], float]]:
    """What is done to the points, and by how much it stretches them."""
    rotation, shift = turn(columns, 1), 100.0 * np.arange(1, columns + 1)
    return {
        "moved": (lambda points: points + shift, 1.0),
        "turned": (lambda points: points @ rotation, 1.0),
        "stretched": (lambda points: STRETCH * points, STRETCH),
        "shrunk": (lambda points: points / STRETCH, 1 / STRETCH),
    }


def decisions(kernel: str, X: Array, y: Array, seen: Array, C: float | str, polynomials: str) -> Array:
    return machine(kernel, C=C, polynomials=polynomials).fit(X, y).decision_function(seen)


def relative(truth: Array, found: Array) -> float:
    return float(np.max(np.abs(found - truth)) / np.max(np.abs(truth)))


def measure(study: Study, columns: tuple[int, ...]) -> None:
    """The largest change over the dimensions, for every kernel, polynomials and kind of change."""
    spaces = ("free", "constant", "none")
    worst: dict[tuple[str, str, str], float] = {}
    for d in columns:
        X, y, seen = made(d, seed=d)
        for kernel, power in (*KERNELS.items(), (f"rbf:gamma={1 / d!r}", 0)):
            for space in spaces if power else ("none",):
                # In the middle of where the path of C leads.
                chosen = machine(kernel, polynomials=space).fit(X, y).C_
                truth = decisions(kernel, X, y, seen, chosen, space)
                for name, (change, stretch) in changes(d).items():
                    C = chosen * stretch**-power
                    found = relative(truth, decisions(kernel, change(X), y, change(seen), C, space))
                    key = (kernel.partition(":")[0], space, name)
                    worst[key] = max(worst.get(key, 0.0), found)
                # Without invariance: C is chosen anew on what was moved, turned and stretched at once.
                (move, _), (rotate, _), (widen, _) = (changes(d)[name] for name in ("moved", "turned", "stretched"))
                points, looked = widen(move(rotate(X))), widen(move(rotate(seen)))
                found = relative(truth, decisions(kernel, points, y, looked, "auto", space))
                key = (kernel.partition(":")[0], space, "all three, C chosen anew")
                worst[key] = max(worst.get(key, 0.0), found)
    names = [*changes(2), "all three, C chosen anew"]
    for kernel in KERNELS:
        for space in ("free", "constant"):
            for name in names:
                study.found(f"{kernel}, {space}: {name}", worst[kernel, space, name])
    for name in ("moved", "turned", "stretched"):
        study.found(f"thin_plate, none: {name}", worst["thin_plate", "none", name])
        study.found(f"Gaussian: {name}", worst["rbf", "none", name])
    rows = [[*key[:2], *[f"{worst[(*key[:2], name)]:.1e}" for name in names]] for key in worst if key[2] == "moved"]
    text = (
        f"The largest change over {', '.join(map(str, columns))} columns. Moved by 100, 200, 300, ...; stretched and "
        f"shrunk by {STRETCH:.0f} with C multiplied by s^-b, b = 2 for r² log r, 1 for −r, 3 for r³; in the last "
        "column no C is given."
    )
    study.table("Largest change of a decision value", text, ["kernel", "polynomials", *names], rows)


def polynomial_decisions(degree: int, X: Array, y: Array, seen: Array, C: float) -> Array:
    """Of the SVM on (x·y)^p: Nyström's map of all samples is the kernel itself. Features are single precision."""
    fitted = BasisExpansionSVC(
        f"polynomial:degree={degree},gamma=1,coef0=0",
        n_basis=len(X),
        normalization="nystroem",
        C=C,
        fit_intercept=False,
        tol=1e-8,
        n_jobs=1,
    )
    return fitted.fit(X, y).decision_function(seen)


def measure_polynomials(study: Study, columns: tuple[int, ...]) -> None:
    """The largest change of a decision of a homogeneous polynomial kernel, with λ scaled as stated and not."""
    rows = []
    for degree in DEGREES:
        worst: dict[str, float] = {}
        for d in columns:
            X, y, seen = made(d, seed=d)
            C = 1 / float(np.mean((X * X).sum(1) ** degree))
            truth = polynomial_decisions(degree, X, y, seen, C)
            for name, s in (("stretched", POLYNOMIAL_STRETCH), ("shrunk", 1 / POLYNOMIAL_STRETCH)):
                for results, power in (("λ × s^2p", 2 * degree), ("λ as it was", 0)):
                    found = relative(truth, polynomial_decisions(degree, s * X, y, s * seen, C * s**-power))
                    worst[f"{name}, {results}"] = max(worst.get(f"{name}, {results}", 0.0), found)
            rotation = turn(d, 1)
            found = relative(truth, polynomial_decisions(degree, X @ rotation, y, seen @ rotation, C))
            worst["turned"] = max(worst.get("turned", 0.0), found)
        for name in worst:
            study.found(f"(x·y)^{degree}: {name}", worst[name])
        rows.append([f"(x·y)^{degree}", *(f"{value:.1e}" for value in worst.values())])
    text = f"The largest change of a decision value, stretched and shrunk by {POLYNOMIAL_STRETCH:g} about the origin."
    study.table("Homogeneous polynomials", text, ["kernel", *worst], rows)


def draw(study: Study) -> None:
    """Each panel shows its data in their own coordinates: a picture that looks the same is an invariance."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    X, y, _ = made(2, seed=2)
    angle = np.deg2rad(40)
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    shown: dict[str, Callable[[Array], Array]] = {
        "as they are": lambda points: points,
        "moved by (1000, −500)": lambda points: points + np.array([1000.0, -500.0]),
        "turned by 40°": lambda points: points @ rotation,
        "stretched × 1000": lambda points: 1000.0 * points,
        "shrunk × 1/1000": lambda points: points / 1000.0,
        "one axis × 6: another problem": lambda points: points * np.array([6.0, 1.0]),
    }
    side = np.linspace(-3.6, 3.6, 160)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    rows = {
        "thin plate\nunchanged": lambda points: machine("thin_plate").fit(points, y),
        "Gaussian\ngamma = 1, C chosen": lambda points: machine("rbf:gamma=1").fit(points, y),
    }
    figure, panels = plt.subplots(2, len(shown), figsize=(16, 6), layout="constrained")
    for row, (row_name, fit) in enumerate(rows.items()):
        truth = np.asarray(fit(X).predict(grid))
        for panel, (name, change) in zip(panels[row], shown.items(), strict=True):
            fitted = fit(change(X))
            scores = fitted.decision_function(change(grid)).reshape(len(side), len(side))
            corners = change(grid).reshape(len(side), len(side), 2)
            hues = ListedColormap([SECOND_LIGHT, FIRST_LIGHT])
            panel.pcolormesh(corners[..., 0], corners[..., 1], scores > 0, cmap=hues, vmin=0, vmax=1, rasterized=True)
            panel.contour(corners[..., 0], corners[..., 1], scores, levels=[0], colors=INK, linewidths=1.2)
            at = change(X)
            for label, color in ((1, FIRST), (-1, SECOND)):
                panel.scatter(*at[y == label].T, s=9, color=color, edgecolor="white", linewidth=0.3)
            share = np.mean(np.asarray(fitted.predict(change(grid))) != truth)
            panel.set_title(name if row == 0 else "", fontsize=11)
            panel.set_xlabel(
                "every point as before" if share == 0 else f"{100 * share:.1f} % of the field other than before"
            )
            panel.set_xticks([])
            panel.set_yticks([])
            if not name.startswith("one axis"):
                panel.set_aspect("equal")
        panels[row, 0].set_ylabel(row_name, fontsize=12)
    figure.suptitle("The same data moved, turned and stretched, and the classifier trained on each anew", fontsize=13)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    warnings.simplefilter("ignore")
    columns = COLUMNS[:2] if study.quick else COLUMNS
    measure(study, columns)
    measure_polynomials(study, columns)
    draw(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
