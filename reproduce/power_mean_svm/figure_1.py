"""Figure 1: what one feature adds to the gradient, as a function of its value, and how well three numbers hold it.

    python figure_1.py --data DATA

g_j(x) = Σ_i α_i y_i k(x, x_ij) with the dual variables of a fit at C = 0.01, exactly, by the paper's parabola in
ln(x + 0.05) through three nodes, and by Nyström nodes. Then the error of the whole gradient, the sum over the features,
for five kernels. The words of CIFAR-10 are made in two minutes if the cache has them not yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import FIRST, INK, SECOND, SOFT, THIRD, Study
from declared import say

# isort: split
import numpy as np

import kernels
import sets
from widemargin import PowerMeanSVC

Array = np.ndarray

C = 0.01

# The first rows of CIFAR-10 alone: the errors are means over this number.
ROWS = 10_000

WAYS = {"polynomial": 3, "Nyström": 3, "Nyström, 8 nodes": 8}
COLORS = dict(zip(WAYS, (SECOND, FIRST, THIRD), strict=True))

FEATURES = 3

# An error below it, in percent, is no more than rounding or might as well be, and drawn there.
MIN_DRAWS = 1e-5


def fit(data: sets.Histograms, name: str, n_nodes: int = 3) -> PowerMeanSVC:
    parameters = {**kernels.KERNELS[name][1], "C": C, "nodes": n_nodes, "tol": kernels.SOLVED}
    return PowerMeanSVC(**parameters, random_state=0, n_jobs=1).fit(data.train, data.y_train)


def reductions(data: sets.Histograms, name: str) -> dict[str, kernels.Reduced]:
    """What each way makes of a kernel, with the nodes that the library chooses for these data."""
    pairs = kernels.KERNELS[name][0]
    found = {"polynomial": kernels.polynomial(pairs)}
    for way, n_nodes in WAYS.items():
        if way != "polynomial":
            found[way] = kernels.nystroem(pairs, fit(data, name, n_nodes).nodes_)
    return found


def signed_duals(data: sets.Histograms, name: str) -> Array:
    signs = kernels.one_vs_rest(data.y_train)
    return signs * kernels.duals_of(fit(data, name).decision_function(data.train), signs, C)


def errors(data: sets.Histograms, name: str) -> dict[str, tuple[float, float]]:
    """For each way: percent error of the gradient over samples and classes, and of what single features add to it."""
    duals, reduced = signed_duals(data, name), reductions(data, name)
    exact_pairs, pieces = kernels.KERNELS[name][0], kernels.by_feature(data.scaled())
    exact = np.zeros_like(duals)
    made = {way: np.zeros_like(duals) for way in WAYS}
    single, whole = dict.fromkeys(WAYS, 0.0), 0.0
    for values, which, samples in pieces:
        sums = np.zeros((len(values), duals.shape[1]))
        np.add.at(sums, which, duals[samples])
        counts = np.bincount(which)[:, None]
        true = exact_pairs(values, values) @ sums
        exact[samples] += true[which]
        whole += float((counts * np.abs(true)).sum())
        for way, one in reduced.items():
            results = one.row(values) @ (one.column(values).T @ sums)
            made[way][samples] += results[which]
            single[way] += float((counts * np.abs(results - true)).sum())
    size = np.abs(exact).mean()
    return {way: (100 * float(np.abs(made[way] - exact).mean() / size), 100 * single[way] / whole) for way in WAYS}


def draw(study: Study, data: sets.Histograms, title: str, found: dict[str, dict[str, dict]]) -> None:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(13, 8.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    panels = above.subplots(1, FEATURES)
    name = kernels.CHI_SQUARE
    pairs, reduced = kernels.KERNELS[name][0], reductions(data, name)
    duals, pieces = signed_duals(data, name)[:, 0], kernels.by_feature(data.scaled())
    grid = np.geomspace(0.002, 1, 400)
    # Features of many values that say most about the first class.
    weight = [np.abs(duals[samples]).sum() if len(values) > 12 else 0.0 for values, _, samples in pieces]
    for axes, j in zip(panels, np.argsort(weight)[::-1][:FEATURES], strict=True):
        values, which, samples = pieces[j]
        sums = np.bincount(which, duals[samples])
        axes.plot(grid, pairs(grid, values) @ sums, color=INK, linewidth=3, label="exact")
        for way, one in reduced.items():
            style = {"color": COLORS[way], "linestyle": "--" if way == "Nyström, 8 nodes" else "-"}
            axes.plot(grid, one.row(grid) @ (one.column(values).T @ sums), label=way, linewidth=1.5, **style)
        nodes = kernels.NODES
        axes.plot(nodes, pairs(nodes, values) @ sums, "o", color=SECOND, markeredgecolor=INK, label="the paper's nodes")
        low = axes.get_ylim()[0]
        axes.plot(values, np.full(len(values), low), "|", color=SOFT, markersize=9, label="values in the data")
        axes.set(xscale="log", xlabel="value x of the feature")
        axes.set_title(f"feature {j + 1}", loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("g(x), its part of the gradient")
    above.suptitle(f"χ², {title}, first class", fontsize=12)
    above.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)

    panels = below.subplots(1, len(found), sharey=True)
    for axes, (name_of_set, rows) in zip(panels, found.items(), strict=True):
        for at, kernel in enumerate(rows):
            for shift, way in zip((-0.27, 0.0, 0.27), WAYS, strict=True):
                error = rows[kernel][way][0]
                drawn = max(error, MIN_DRAWS)
                axes.plot(at + shift, drawn, "o", color=COLORS[way], markersize=9, label=None if at else way)
                text = f"{error:.2g}" if error > MIN_DRAWS else "0"
                axes.text(at + shift, drawn * 1.6, text, ha="center", va="bottom", fontsize=7.5)
        axes.set(yscale="log", ylim=(MIN_DRAWS / 3, 300), xlim=(-0.6, len(rows) - 0.4))
        axes.grid(axis="y", color="#eeeeee")
        axes.set_xticks(
            range(len(rows)), [kernel.replace(" (", "\n(").replace("-S", "-\nS") for kernel in rows], fontsize=8
        )
        axes.set_title(name_of_set, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("error of the gradient, %")
    below.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS), frameon=False)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    loaders: dict[str, Callable[[Path], sets.Histograms]] = {"20 Newsgroups": sets.newsgroups}
    if not study.quick:
        loaders["CIFAR-10"] = lambda data: sets.cifar_words(data).head(ROWS)
    # Whose features are drawn: counts of many sizes.
    loaders["Scene-15"] = sets.scene15
    names = [kernels.CHI_SQUARE, "p = −8"] if study.quick else list(kernels.KERNELS)
    found: dict[str, dict[str, dict]] = {}
    for title, load in loaders.items():
        data = load(study.data)
        found[title] = {name: errors(data, name) for name in names}
        rows = []
        for name, results in found[title].items():
            say(f"{title}, {name}: " + ", ".join(f"{way} {error[0]:.3g} %" for way, error in results.items()))
            rows.append([name, *[f"{one:.3g}" for at in (0, 1) for one in (results[way][at] for way in WAYS)]])
            for way in WAYS:
                study.found(f"{title}, % error of the gradient: {name}, {way}", results[way][0])
        head = ["", *[f"gradient, {way}" for way in WAYS], *[f"one feature, {way}" for way in WAYS]]
        text = (
            f"{data.shape()}. Percent: mean absolute error over samples and classes by the mean absolute value, of the "
            "gradient y·g(x) without its constant and of what single features add to it."
        )
        study.table(title, text, head, rows)
    study.note("errors", found)
    draw(study, data, title, found)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
