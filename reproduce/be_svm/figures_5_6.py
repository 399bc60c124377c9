"""Figures 5 and 6: normalisations of HOG cells times normalisations of kernel maps, at C = 1 and at a chosen C.

    python figures_5_6.py --data DATA

The first fold of CIFAR-10. C is the one of 0.1, 1 and 10 that is best on a fifth of the images, left out. Cells are
kept in cache/ as they are measured.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import Stopwatch, Study

# isort: split
import numpy as np

from cifar import INTERCEPTS, Features, Images, linear, load
from kept import Kept
from widemargin import BasisExpansion

# What is done to HOG cells before they are compared, and to similarities before a machine learns from them.
CELLS = {"as they are": "", "mean-norm": "mean-norm>", "z-score": "z-score>"}
MAPS = {"as they are": "none", "mean-norm": "mean_norm", "z-score": "z_score"}
# gamma is 1 / mean ‖y − mean‖², so that a Gaussian suits cells of every scale.
SIMILARITIES = {
    "H8L": "hog:cell=8,scale=none>{}linear",
    "H8R, gamma learned": "hog:cell=8,scale=none>{}rbf",
    "H8(1,0)": "hog:cell=8,scale=none>{}rigid:radius=1",
}
COSTS = (0.1, 1.0, 10.0)
BASES, QUICK_BASES, QUICK_IMAGES = 500, 100, 2000
LEFT_OUT = 5


def measure(spec: str, normalization: str, n_basis: int, images: Images) -> dict[str, Any]:
    """Percent right at C = 1 and at the chosen C, without an intercept and with one."""
    expansion = BasisExpansion(spec, n_basis=n_basis, normalization=normalization, n_jobs=1)
    train = expansion.fit_transform(images.train, images.train_labels)
    features = Features(train, expansion.transform(images.test), Stopwatch())
    out = np.arange(len(train)) % LEFT_OUT == 0
    inner = Features(train[~out], train[out], Stopwatch())
    labels = Images(train[~out], images.train_labels[~out], train[out], images.train_labels[out])
    cell: dict[str, Any] = {}
    for name in INTERCEPTS:
        free = name == "free"
        left_out = [linear(inner, labels, C=C, intercept=free)[0] for C in COSTS]
        chosen = COSTS[int(np.argmax(left_out))]
        at_1 = linear(features, images, C=1.0, intercept=free)[0]
        cell[name] = {
            "C = 1": at_1,
            "C chosen": at_1 if chosen == 1.0 else linear(features, images, C=chosen, intercept=free)[0],
            "C": chosen,
            "left out": left_out,
        }
    return cell


def tell(study: Study, found: dict[str, dict[tuple[str, str], dict[str, Any]]]) -> None:
    for intercept, told in INTERCEPTS.items():
        rows = []
        for name, cells in found.items():
            for (of_cells, of_maps), cell in cells.items():
                one = cell[intercept]
                study.found(f"{name}, cells {of_cells}, maps {of_maps}, C = 1, {told}", one["C = 1"])
                rows.append(
                    [f"{name}, {of_cells}", of_maps, f"{one['C = 1']:.2f}", f"{one['C chosen']:.2f}", f"{one['C']:g}"]
                )
        text = "Percent right of the test images. HOG cells by their normalisation, then the similarities by theirs."
        head = ["similarity, cells", "maps", "C = 1", "C chosen", "C"]
        study.table(f"Normalisations, {told}", text, head, rows)
    for intercept, told in INTERCEPTS.items():
        for way in ("C = 1", "C chosen"):
            behind = [
                max(cell[intercept][way] for cell in cells.values()) - cells["mean-norm", "mean-norm"][intercept][way]
                for cells in found.values()
            ]
            study.found(f"most points behind the best pair: mean-norm of both, {way}, {told}", max(behind))


def draw(study: Study, found: dict[str, dict[tuple[str, str], dict[str, Any]]]) -> None:
    import matplotlib.pyplot as plt

    for intercept, told in INTERCEPTS.items():
        figure, panels = plt.subplots(
            2, len(found), figsize=(3.1 * len(found) + 1, 5.6), layout="constrained", sharex=True, sharey=True
        )
        for column, (name, cells) in enumerate(found.items()):
            values = [cell[intercept][way] for cell in cells.values() for way in ("C = 1", "C chosen")]
            for axes, way in zip(panels[:, column], ("C = 1", "C chosen"), strict=True):
                block = np.array([[cells[row, col][intercept][way] for col in MAPS] for row in CELLS])
                # Colours are of this similarity alone: its own best is darkest.
                axes.imshow(block, cmap="Blues", vmin=max(min(values), max(values) - 12) - 2, vmax=max(values) + 3)
                for (row, col), value in np.ndenumerate(block):
                    best = value == block.max()
                    weight = "bold" if best else "normal"
                    axes.text(col, row, f"{value:.1f}", ha="center", va="center", weight=weight)
                axes.set_xticks(range(len(MAPS)), list(MAPS), fontsize=8)
                axes.set_yticks(range(len(CELLS)), list(CELLS), fontsize=8)
                axes.set_title(f"{name}, {way}", loc="left", fontsize=10)
        figure.supxlabel("normalisation of the similarities", fontsize=10)
        figure.supylabel("normalisation of the HOG cells", fontsize=10)
        figure.suptitle(f"% right, {told} (bold: the best of nine)", x=0.01, ha="left")
        study.picture(figure, told.replace(" ", "_"))
        plt.close(figure)


def main() -> int:
    study = Study(__file__, __doc__)
    everything, kept = load(study), Kept(study, "figures_5_6")
    images = everything.first(QUICK_IMAGES, QUICK_IMAGES) if study.quick else everything.folds(1)
    n_basis = QUICK_BASES if study.quick else BASES
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for name in SIMILARITIES:
        found[name] = {}
        for of_cells, step in CELLS.items():
            spec = SIMILARITIES[name].format(step)
            for of_maps, normalization in MAPS.items():
                key = f"{name}, {of_cells}, {of_maps}"
                cell = kept(key, lambda spec=spec, how=normalization: measure(spec, how, n_basis, images))
                found[name][of_cells, of_maps] = cell
    tell(study, found)
    draw(study, found)
    study.note("cells", {name: {", ".join(key): cell for key, cell in cells.items()} for name, cells in found.items()})
    kept.tell(study)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
