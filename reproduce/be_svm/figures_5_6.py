"""Figures 5 and 6: normalizations of HOG cells times normalizations of kernel maps, at C = 1 and at a chosen C.

    python figures_5_6.py --data DATA

Each of the twelve similarities alone (figure 5), then M2's first two, three and four together (figure 6, there
without z-scored cells); γ = 1 as printed. On 10x20 bases of 2,000 images of the first fold of CIFAR-10, by 2,000 of the
test images, where the paper has 10x100 bases of the whole fold. C is the one of 0.1, 1 and 10 that is best on a fifth
of the images, left out. Then how many steps solvers need: ours, and LIBLINEAR's dual coordinate descent. Cells are kept
in cache/ as they are measured.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import Stopwatch, Study

# isort: split
import numpy as np
from sklearn.svm import LinearSVC

from be_svm_similarities import M2, SIMILARITIES
from cifar import INTERCEPTS, Features, Images, linear, load, on_features
from kept import Kept
from widemargin import BasisExpansion

# What is done to HOG cells before they are compared, and to similarities before a machine learns from them.
CELLS = {"as they are": "", "mean-norm": "mean-norm/", "z-score": "z-score/"}
MAPS = ("as they are", "mean-norm", "z-score")
COSTS = (0.1, 1.0, 10.0)
# The paper's are 10x100 bases and the whole fold: 135 pairs of normalizations and similarities would take an hour.
IMAGES, BASES, QUICK_BASES, QUICK_IMAGES = 2000, 200, 100, 1000
QUICK_NAMES = ("H8L", "H8R", "H8(1,0)")
LEFT_OUT = 5

# C ≫ 1, for the steps of the solvers.
LARGE = 100.0
# They are counted on normalized HOG cells; LIBLINEAR's of the first class against the rest, on the first images alone,
# up to a limit.
STEPS_CELLS = "mean-norm"
STEPS_OF, STEPS_IMAGES, STEPS_MOST = ("H8R", "H8(1,0)"), 1000, 500

Maps = dict[str, tuple[np.ndarray, np.ndarray]]


def maps(name: str, step: str, n_basis: int, images: Images) -> Maps:
    """The similarities to the bases, normalized in three ways, of the training and the test images."""
    descriptor, _, similarity = SIMILARITIES[name].partition("/")
    spec = f"{descriptor},scale=none/{step}{similarity}"
    expansion = BasisExpansion(spec, n_basis=n_basis, basis="index", normalization="none", n_jobs=1)
    train = expansion.fit_transform(images.train, images.train_labels)
    test = expansion.transform(images.test)
    mean = train.mean(0, dtype=np.float64)
    norm = np.linalg.norm(train - mean, axis=1).mean()
    spread = train.std(0, dtype=np.float64)
    spread[spread == 0] = 1
    return {
        "as they are": (train, test),
        "mean-norm": tuple(((rows - mean) / norm).astype(np.float32) for rows in (train, test)),
        "z-score": tuple(((rows - mean) / spread).astype(np.float32) for rows in (train, test)),
    }


def measure(train: np.ndarray, test: np.ndarray, images: Images) -> dict[str, Any]:
    """Percent right at C = 1 without an intercept and with one, and with one at the chosen C; our solver's steps."""
    features = Features(train, test, Stopwatch())
    out = np.arange(len(train)) % LEFT_OUT == 0
    inner = Features(train[~out], train[out], Stopwatch())
    labels = Images(train[~out], images.train_labels[~out], train[out], images.train_labels[out])
    left_out = [linear(inner, labels, C=C)[0] for C in COSTS]
    chosen = COSTS[int(np.argmax(left_out))]
    at_1 = {name: linear(features, images, intercept=name == "free")[0] for name in INTERCEPTS}
    best = at_1["free"] if chosen == 1.0 else linear(features, images, C=chosen)[0]
    return {"C = 1, none": at_1["none"], "C = 1, free": at_1["free"], "C chosen": best, "C": chosen}


def our_steps(train: np.ndarray, images: Images, C: float) -> float:
    machine = on_features(train.shape[1], C=C, tol=1e-4)
    return float(np.mean(machine.fit(train, images.train_labels).report_["iterations"]))


def liblinear_steps(train: np.ndarray, images: Images, C: float) -> int:
    """Passes of dual coordinate descent over the samples, one class against the rest, at its tolerance of 0.01."""
    machine = LinearSVC(C=C, dual=True, tol=0.01, max_iter=STEPS_MOST, intercept_scaling=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(train[:STEPS_IMAGES].astype(np.float64), images.train_labels[:STEPS_IMAGES] == 0)
    return int(machine.n_iter_)


class Cells:
    """All that is measured of one normalization of the HOG cells; maps are made once, if they are asked for."""

    def __init__(self, kept: Kept, of_cells: str, n_basis: int, images: Images) -> None:
        self._kept, self._of_cells, self._n_basis, self._images = kept, of_cells, n_basis, images
        self._maps: dict[str, Maps] = {}

    def _of(self, name: str) -> Maps:
        if name not in self._maps:
            self._maps[name] = maps(name, CELLS[self._of_cells], self._n_basis, self._images)
        return self._maps[name]

    def __call__(self, names: tuple[str, ...], of_maps: str) -> dict[str, Any]:
        def fit() -> dict[str, Any]:
            train, test = (np.hstack([self._of(name)[of_maps][i] for name in names]) for i in (0, 1))
            return measure(train, test, self._images)

        return self._kept(f"{' + '.join(names)}, cells {self._of_cells}, maps {of_maps}", fit)

    def steps(self, name: str, of_maps: str) -> dict[str, Any]:
        def count() -> dict[str, Any]:
            train = self._of(name)[of_maps][0]
            return {
                f"{solver}, C = {C:g}": steps(train, self._images, C)
                for solver, steps in (("ours", our_steps), ("LIBLINEAR", liblinear_steps))
                for C in (1.0, LARGE)
            }

        return self._kept(f"steps of {name}, cells {self._of_cells}, maps {of_maps}", count)

    def forget(self, name: str) -> None:
        self._maps.pop(name, None)


# By similarities, then by normalization of the cells and of the maps.
Found = dict[str, dict[tuple[str, str], dict[str, Any]]]


def tell(study: Study, found: Found) -> None:
    for way, results in (("C = 1, none", "C = 1, no intercept"), ("C = 1, free", "C = 1, intercept"), ("C chosen", "")):
        rows = []
        for name, cells in found.items():
            row = []
            for (of_cells, of_maps), cell in cells.items():
                if results:
                    study.found(f"{name}, cells {of_cells}, maps {of_maps}, {results}", cell[way])
                row.append(f"{cell[way]:.2f}" + ("" if results else f" ({cell['C']:g})"))
            rows.append([name, *row, *[""] * (len(CELLS) * len(MAPS) - len(row))])
        text = "Percent right of the test images. HOG cells by their normalization, then the similarities by theirs"
        text += "." if results else "; in brackets the C that was chosen."
        head = ["", *(f"{of_cells}, {of_maps}" for of_cells, of_maps in next(iter(found.values())))]
        study.table(f"Normalizations, {results or 'C chosen, intercept'}", text, head, rows)
    both = ("mean-norm", "mean-norm")
    for way, results in (
        ("C = 1, none", "C = 1, no intercept"),
        ("C = 1, free", "C = 1, intercept"),
        ("C chosen", "C chosen"),
    ):
        behind = [max(cell[way] for cell in cells.values()) - cells[both][way] for cells in found.values()]
        study.found(f"points behind the best pair, mean: mean-norm of both, {results}", np.mean(behind))
        study.found(f"points behind the best pair, most: mean-norm of both, {results}", max(behind))
        above = [cells[both][way] - cells["as they are", "as they are"][way] for cells in found.values()]
        study.found(f"points above no normalization at all, mean: mean-norm of both, {results}", np.mean(above))


def tell_steps(study: Study, steps: Found) -> None:
    rows, columns = [], [f"{solver}, C = {C:g}" for solver in ("ours", "LIBLINEAR") for C in (1.0, LARGE)]
    for name, cells in steps.items():
        for (_, of_maps), cell in cells.items():
            rows.append([name, of_maps, *(f"{cell[column]:.1f}" for column in columns)])
    for of_maps in MAPS:
        for column in columns:
            values = [cell[column] for cells in steps.values() for key, cell in cells.items() if key[1] == of_maps]
            study.found(f"steps, mean: {column}, maps {of_maps}", np.mean(values))
    text = (
        "Ours are Newton steps to a relative gap of 1e-4, the mean of the ten classes; LIBLINEAR's are passes of dual "
        f"coordinate descent, the first class against the rest on {STEPS_IMAGES:,} images, {STEPS_MOST:,} at the most."
    )
    study.table("Steps of the solvers", text, ["similarity", "maps", *columns], rows)


def draw(study: Study, found: Found) -> None:
    import matplotlib.pyplot as plt

    panels = {
        "C = 1, none": "C = 1, no intercept",
        "C = 1, free": "C = 1, intercept",
        "C chosen": "C chosen, intercept",
    }
    figure, grid = plt.subplots(
        1, len(panels), figsize=(14, 0.36 * len(found) + 2.3), layout="constrained", sharey=True
    )
    pairs = [(of_cells, of_maps) for of_cells in CELLS for of_maps in MAPS]
    for axes, (way, results) in zip(grid, panels.items(), strict=True):
        block = np.array([[cells.get(pair, {}).get(way, np.nan) for pair in pairs] for cells in found.values()])
        # Colors are of a row alone: how far a pair is behind the best one of its similarity.
        axes.imshow(block - np.nanmax(block, 1, keepdims=True), cmap="Blues", vmin=-12, vmax=4, aspect="auto")
        for (row, column), value in np.ndenumerate(block):
            if np.isnan(value):
                continue
            best = value == np.nanmax(block[row])
            axes.text(
                column, row, f"{value:.1f}", ha="center", va="center", fontsize=7, weight="bold" if best else None
            )
        axes.set_xticks(range(block.shape[1]), list(MAPS) * len(CELLS), fontsize=7, rotation=90)
        axes.set_yticks(range(len(found)), list(found), fontsize=8)
        for at, of_cells in enumerate(CELLS):
            axes.text(3 * at + 1, -0.75, f"cells {of_cells}", ha="center", fontsize=8)
            if at:
                axes.axvline(3 * at - 0.5, color="white", linewidth=3)
        axes.set_title(results, loc="left", fontsize=10, pad=18)
    figure.supxlabel("normalization of the similarities", fontsize=9)
    figure.suptitle("% right (bold: the best of nine; darker: nearer to it)", x=0.01, ha="left", fontsize=10)
    study.picture(figure)
    plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    everything, kept = load(study), Kept(study, "figures_5_6")
    images = everything.first(*[QUICK_IMAGES if study.quick else IMAGES] * 2)
    n_basis = QUICK_BASES if study.quick else BASES
    names = QUICK_NAMES if study.quick else tuple(SIMILARITIES)
    # The prefixes of M2; in a quick run of what there is.
    joined = tuple(name for name in M2 if name in names)
    prefixes = [joined[: count + 1] for count in range(1, len(joined))]
    groups = [(name,) for name in names] + prefixes
    titles = [*names, *(f"M2, first {len(group)}" for group in prefixes)]
    found: Found = {title: {} for title in titles}
    steps: Found = {name: {} for name in names if name in STEPS_OF}
    for of_cells in CELLS:
        cells = Cells(kept, of_cells, n_basis, images)
        for title, group in zip(titles, groups, strict=True):
            # Several similarities on z-scored cells take the solver hundreds of steps.
            if len(group) > 1 and of_cells == "z-score":
                continue
            for of_maps in MAPS:
                found[title][of_cells, of_maps] = cells(group, of_maps)
                if title in steps and of_cells == STEPS_CELLS:
                    steps[title][of_cells, of_maps] = cells.steps(title, of_maps)
            if title not in joined:
                cells.forget(title)
    tell(study, found)
    tell_steps(study, steps)
    draw(study, found)
    for what, one in (("cells", found), ("steps", steps)):
        study.note(what, {name: {", ".join(key): cell for key, cell in of.items()} for name, of in one.items()})
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
