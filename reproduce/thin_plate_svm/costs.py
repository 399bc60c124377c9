"""What it costs: choosing C compared with a grid search of a Gaussian SVM, Newton steps, and bases for many samples.

    python costs.py --data DATA

Seconds depend on the machine and on what else it does, so the bounds in expected.toml on times and ratios are wide;
those on steps and errors are not.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, INK, SECOND, Stopwatch, Study
from declared import say

# isort: split
import numpy as np

import data_sets
import grid_search
from choosing import machine

# The sets on which the cost of tuning is reported: three of them small, three large.
TUNED = ("diabetes", "german", "image", "banana", "twonorm", "ringnorm")
QUICK_TUNED = TUNED[:2]
QUICK_SETS = ("breast-cancer", "diabetes", "german", "heart", "thyroid")

# λ in units of trace(G)/n at which Newton's steps are counted.
LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)

DEFAULT_BASES = 1000


def tuning_section(study: Study) -> None:
    """The first split of each set: a path with leave-one-out, and 7 C × 5 gamma by 5-fold cross-validation."""
    costs = {}
    for name in QUICK_TUNED if study.quick else TUNED:
        split = next(data_sets.splits(study.data, name))
        with Stopwatch() as watch:
            fitted = machine("thin_plate").fit(split.train, split.train_labels)
        ours = 100 * float(np.mean(fitted.predict(split.test) != split.test_labels))
        peer = grid_search.search(split)
        costs[name] = (len(split.train), watch.cpu_seconds, peer["cpu_seconds"], ours, 100 * peer["error"])
        say(f"{name}: {watch.cpu_seconds:.2f} CPU s, grid search {peer['cpu_seconds']:.1f}")
    for name, (_, seconds, peer_seconds, *_) in costs.items():
        study.found(f"times cheaper than a grid search: {name}", peer_seconds / seconds)
    rows = [
        [name, f"{n:,}", f"{ours:.2f}", f"{peer:.1f}", f"{peer / ours:.0f}", f"{error:.2f}", f"{peer_error:.2f}"]
        for name, (n, ours, peer, error, peer_error) in costs.items()
    ]
    text = (
        "CPU seconds of choosing and fitting on the first split of the set, and percent wrong on its test part. The "
        "grid search is scikit-learn's, of `SVC(kernel='rbf')` over 35 pairs of C and gamma in five folds."
    )
    head = ["set", "samples", "thin plate, CPU s", "grid search, CPU s", "times", "% wrong", "grid search, % wrong"]
    study.table("Choosing the parameters", text, head, rows)
    draw(study, {name: cost[1:3] for name, cost in costs.items()})


def draw(study: Study, costs: dict[str, tuple[float, float]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.7 * len(costs) + 1.4), layout="constrained")
    low, high = min(map(min, costs.values())), max(map(max, costs.values()))
    for row, (ours, peer) in enumerate(costs.values()):
        axes.plot([ours, peer], [row, row], color="#cccccc", linewidth=3, zorder=0)
        axes.text(np.sqrt(ours * peer), row - 0.12, f"{peer / ours:.0f} ×", ha="center", color=INK)
    for label, at, color in (("thin plate, leave-one-out", 0, FIRST), ("SVC, grid search in 5 folds", 1, SECOND)):
        seconds = [pair[at] for pair in costs.values()]
        axes.plot(seconds, range(len(costs)), "o", color=color, markersize=9, label=label)
    axes.set(xscale="log", xlabel="CPU seconds until the parameters are chosen and the classifier is trained")
    ticks = [one for one in (0.03, 0.1, 0.3, 1, 3, 10, 30, 100) if low / 1.5 <= one <= high * 1.5]
    axes.set_xticks(ticks, [f"{one:g}" for one in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(costs)), list(costs))
    axes.set_ylim(len(costs) - 0.5, -0.7)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    study.picture(figure)
    plt.close(figure)


def steps_section(study: Study) -> None:
    """From the origin at each λ alone, and along a path, where each C begins at its neighbor's solution."""
    rows, alone, on_paths = [], 0, 0
    for name in QUICK_SETS if study.quick else data_sets.TABLE_1:
        split = next(data_sets.splits(study.data, name))
        path = machine("thin_plate", polynomials="free").fit(split.train, split.train_labels).cv_results_
        # C and λ of one point give the unit of all of them.
        unit = 0.5 / path["param_C"][0] / path["lambda"][0]
        counts = []
        for lam in LAMBDAS:
            fitted = machine("thin_plate", C=0.5 / (lam * unit), polynomials="free").fit(
                split.train, split.train_labels
            )
            counts.append(int(fitted.cv_results_["steps"][0]))
        along = int(path["steps"][path["lambda"] >= min(LAMBDAS)].max())
        alone, on_paths = max(alone, *counts), max(on_paths, along)
        rows.append([name, f"{len(split.train):,}", *map(str, counts), str(along)])
    study.found("most Newton steps, each λ alone", alone)
    study.found("most Newton steps along a path", on_paths)
    text = "Steps on all samples, r² log r, by λ in units of trace(G)/n; the last column is the most along the path."
    study.table("Newton's method", text, ["set", "samples", *[f"{lam:g}" for lam in LAMBDAS], "path"], rows)


def bases_section(study: Study) -> None:
    split = data_sets.ijcnn1(study.data)
    with Stopwatch() as watch:
        fitted = machine("thin_plate", n_basis=DEFAULT_BASES, random_state=0).fit(split.train, split.train_labels)
    wrong = 100 * float(np.mean(fitted.predict(split.test) != split.test_labels))
    study.found("ijcnn1, 1000 bases: % wrong", wrong)
    study.found("ijcnn1, 1000 bases: CPU seconds", watch.cpu_seconds)
    row = [
        f"{len(split.train):,}",
        DEFAULT_BASES,
        len(fitted.cv_results_["params"]),
        f"{watch.seconds:.1f}",
        f"{watch.cpu_seconds:.1f}",
    ]
    text = f"ijcnn1, bases by k-means, the whole path of C with leave-one-out; {len(split.test):,} test samples."
    study.table("Bases", text, ["samples", "bases", "values of C", "s", "CPU s", "% wrong"], [[*row, f"{wrong:.2f}"]])


def main() -> int:
    study = Study(__file__, __doc__)
    warnings.simplefilter("ignore")
    tuning_section(study)
    steps_section(study)
    if not study.quick:
        bases_section(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
