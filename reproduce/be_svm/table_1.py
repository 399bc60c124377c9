"""Table 1: what training and prediction cost in time and memory, as samples, bases, similarities and classes grow.

    python table_1.py --data DATA

One of the four grows while the others stay. A slope is that of a line through logarithms: 1 where cost is in
proportion. H8(1,0) on grids of HOG cells that are made before; and a kernel SVM on the same cells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, INK, SECOND, THIRD, Stopwatch, Study

# isort: split
import numpy as np
from sklearn.svm import SVC

import peer
from cifar import Images, load, on_features
from kept import Kept
from mean_norm import MeanNorm
from most_memory import most_memory
from widemargin import BasisExpansion
from widemargin.similarity import HOG

# Similarities of one cost: a rigid one with more and more of a penalty on displacements.
PENALTIES = (0.0, 0.01, 0.02, 0.03)
# What stays where something else grows: bases are few, so that samples are what is many.
FIXED = {"samples": 10_000, "bases": 500, "similarities": 1, "classes": 10}
GROWTH = {
    "samples": (2500, 5000, 10_000, 20_000),
    "bases": (125, 250, 500, 1000, 2000),
    "similarities": (1, 2, 3, 4),
    "classes": (2, 5, 10, 20, 40),
}
KERNEL_SAMPLES = (1000, 2000, 4000, 8000)
QUICK_FIXED = {"samples": 1000, "bases": 200, "similarities": 1, "classes": 10}
QUICK_GROWTH = {
    "samples": (500, 1000, 2000),
    "bases": (50, 100, 200, 400),
    "similarities": (1, 2, 4),
    "classes": (2, 10, 40),
}
QUICK_KERNEL_SAMPLES = (500, 1000, 2000)

TEST = 2000
REPEATS, QUICK_REPEATS = 3, 2
STAGES = ("features", "solver", "prediction")
MEMORY = "memory"
LABELS = {"features": "similarities", "solver": "solver", "prediction": "prediction", MEMORY: "memory of training"}
UNITS = {**dict.fromkeys(STAGES, "CPU s"), MEMORY: "MiB"}


def regroup(labels: np.ndarray, count: int) -> np.ndarray:
    """As many classes as asked for: those of the images put together, or split by chance."""
    own = int(labels.max()) + 1
    return labels % count if count <= own else labels + own * (np.arange(len(labels)) % (count // own))


def grids(images: Images) -> Images:
    """HOG cells of 8 in place of the images; of the test images only as many as are needed."""
    hog = HOG(8, flatten=False, n_jobs=1)
    most = max(max(GROWTH["samples"]), FIXED["samples"])
    train, test = hog.transform(images.train[:most]), hog.transform(images.test[:TEST])
    return Images(train, images.train_labels[:most], test, images.test_labels[:TEST])


def cost(images: Images, samples: int, bases: int, similarities: int, classes: int, repeats: int) -> dict[str, float]:
    """CPU seconds of each stage, the least of some runs."""
    similarity = [f"mean-norm/rigid:radius=1,penalty={penalty:g}" for penalty in PENALTIES[:similarities]]
    part, labels = images.train[:samples], regroup(images.train_labels[:samples], classes)
    found: dict[str, float] = {}
    for _ in range(repeats):
        expansion = BasisExpansion(similarity, n_basis=bases, basis="index", n_jobs=1)
        machine = on_features(bases * similarities, C=1.0)
        watches = {name: Stopwatch() for name in STAGES}
        with watches["features"]:
            features = expansion.fit_transform(part, labels)
        with watches["solver"]:
            machine.fit(features, labels)
        with watches["prediction"]:
            machine.predict(expansion.transform(images.test))
        for name, watch in watches.items():
            found[name] = min(found.get(name, np.inf), watch.cpu_seconds)
        del features
    return with_memory(found, train, (part[:500], labels[:500], similarity[:1], 50), (part, labels, similarity, bases))


def train(part: np.ndarray, labels: np.ndarray, similarity: list[str], bases: int) -> None:
    features = BasisExpansion(similarity, n_basis=bases, basis="index", n_jobs=1).fit_transform(part, labels)
    on_features(features.shape[1], C=1.0).fit(features, labels)


def with_memory(
    found: dict[str, float], call: Callable[..., None], first: tuple[Any, ...], arguments: tuple[Any, ...]
) -> dict[str, float]:
    used = most_memory(call, first, arguments)
    return found if used is None else {**found, MEMORY: used}


def flat(grids: np.ndarray) -> np.ndarray:
    return grids.reshape(len(grids), -1).astype(np.float64)


def kernel_cost(images: Images, samples: int) -> dict[str, float]:
    scaler = MeanNorm()
    cells = scaler.fit_transform(flat(images.train[:samples]))
    test = scaler.transform(flat(images.test))
    labels = images.train_labels[:samples]
    with Stopwatch() as training:
        machine = train_kernel(cells, labels)
    with Stopwatch() as prediction:
        machine.predict(test)
    found = {"solver": training.cpu_seconds, "prediction": prediction.cpu_seconds}
    return with_memory(found, train_kernel, (cells[:100], labels[:100]), (cells, labels))


def train_kernel(cells: np.ndarray, labels: np.ndarray) -> SVC:
    return SVC(C=peer.C, gamma=peer.GAMMA, cache_size=peer.CACHE_MB).fit(cells, labels)


def slope(sizes: tuple[int, ...], costs: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-9)), 1)[0])


def tell(study: Study, name: str, sizes: tuple[int, ...], cells: list[dict[str, float]], text: str) -> list[str]:
    """The table of one thing that grows; its slopes."""
    stages = [stage for stage in LABELS if stage in cells[0]]
    slopes = {stage: slope(sizes, [cell[stage] for cell in cells]) for stage in stages}
    for stage, value in slopes.items():
        study.found(f"slope with {name}: {LABELS[stage]}", value)
    rows = [[f"{size:,}", *(f"{cell[stage]:.4g}" for stage in stages)] for size, cell in zip(sizes, cells, strict=True)]
    rows.append(["slope", *(f"{value:.2f}" for value in slopes.values())])
    head = [name, *(f"{LABELS[stage]}, {UNITS[stage]}" for stage in stages)]
    study.table(f"Growing: {name}", text, head, rows)
    return [name, *(f"{slopes[stage]:.2f}" if stage in slopes else "" for stage in LABELS)]


def draw(study: Study, found: dict[str, tuple[tuple[int, ...], list[dict[str, float]]]]) -> None:
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(2, len(found), figsize=(13, 6.2), layout="constrained", sharey="row", sharex="col")
    colors = dict(zip(LABELS, (FIRST, SECOND, THIRD, INK), strict=True))
    for panels, shown in zip(grid, (STAGES, (MEMORY,)), strict=True):
        for axes, (name, (sizes, cells)) in zip(panels, found.items(), strict=True):
            ends = []
            for stage in (stage for stage in shown if stage in cells[0]):
                up = [cell[stage] for cell in cells]
                axes.plot(sizes, up, "o-", color=colors[stage], label=LABELS[stage])
                ends.append((up[-1], f"{slope(sizes, up):.2f}", colors[stage]))
            # Where two lines end together their slopes stand one above the other.
            for at, (end, results, color) in enumerate(sorted(ends)):
                axes.annotate(
                    results, (sizes[-1], end), (6, 8 * (at - 1)), textcoords="offset points", va="center", color=color
                )
            axes.set(xscale="log", yscale="log", title=name if shown == STAGES else "")
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
            axes.minorticks_off()
            axes.margins(x=0.2)
            axes.spines[["top", "right"]].set_visible(False)
    grid[0, 0].set_ylabel("CPU seconds")
    grid[1, 0].set_ylabel("MiB at the most")
    lines = [line for axes in grid[:, 0] for line in axes.get_lines()]
    figure.legend(handles=lines, loc="outside upper right", ncols=4, frameon=False)
    figure.suptitle("Numbers are slopes: 1 is in proportion", x=0.01, ha="left")
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    kept = Kept(study, "table_1")
    images = grids(load(study))
    fixed, growth = (QUICK_FIXED, QUICK_GROWTH) if study.quick else (FIXED, GROWTH)
    repeats = QUICK_REPEATS if study.quick else REPEATS
    # The first fit of a process does what later ones need not.
    cost(images, 500, 50, 1, 10, 1)
    found: dict[str, Any] = {}
    slopes = []
    text = "The others: " + ", ".join(f"{value:,} {name}" for name, value in fixed.items()) + f"; {TEST:,} test images."
    for name, sizes in growth.items():
        cells = []
        for size in sizes:
            one = {**fixed, name: size}
            cells.append(kept(f"{name}: {size}", lambda one=one: cost(images, repeats=repeats, **one)))
        found[name] = sizes, cells
        slopes.append(tell(study, name, sizes, cells, text))
    sizes = QUICK_KERNEL_SAMPLES if study.quick else KERNEL_SAMPLES
    cells = [kept(f"kernel SVM: {size}", lambda size=size: kernel_cost(images, size)) for size in sizes]
    found["samples, kernel SVM"] = sizes, cells
    text = f"LIBSVM on HOG cells of 8, its cache up to {peer.CACHE_MB:,} MB."
    slopes.append(tell(study, "samples, kernel SVM", sizes, cells, text))
    study.table("Slopes", "Of all of the above.", ["", *LABELS.values()], slopes)
    draw(study, found)
    study.note("costs", found)
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
