"""Drawings of what a similarity is made of: a path, an alignment, cells, shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._looks import INK, SOFT

# Characters of an alignment in a line, and pieces of a list.
_A_LINE, _LISTED = 26, 6


def as_series(x: Any) -> npt.NDArray[np.float64]:
    values = np.asarray(x, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def draw_path(
    panel: Any, sample: npt.NDArray[np.float64], basis: npt.NDArray[np.float64], path: list[dict[str, Any]], hue: str
) -> None:
    # Channels first, as some collections have them, have another length than the path.
    last = [max((step[side] for step in path if step[side] is not None), default=0) for side in ("sample", "basis")]
    sample = sample.T if len(sample) != last[0] + 1 and sample.shape[1] == last[0] + 1 else sample
    basis = basis.T if len(basis) != last[1] + 1 and basis.shape[1] == last[1] + 1 else basis
    low, high = min(sample.min(), basis.min()), max(sample.max(), basis.max())
    lift = 1.15 * (high - low or 1.0)
    pairs = [(step["sample"], step["basis"]) for step in path if None not in (step["sample"], step["basis"])]
    for i, j in pairs[:: max(1, len(pairs) // 50)]:
        panel.plot([i, j], [sample[i, 0] + lift, basis[j, 0]], color=SOFT, linewidth=0.5, alpha=0.6)
    panel.plot(sample + lift, color=INK, linewidth=1.3)
    panel.plot(basis, color=hue, linewidth=1.3)
    panel.set_xlim(-0.5, max(len(sample), len(basis)) - 0.5)


def draw_alignment(panel: Any, sample: str, basis: str, path: list[dict[str, Any]]) -> None:
    lines = [path[start : start + _A_LINE] for start in range(0, len(path), _A_LINE)][:3]
    panel.set(xlim=(-4.6, _A_LINE), ylim=(3.0 * max(len(lines), 1.4) - 1.2, -0.9))
    for number, line in enumerate(lines):
        for row, (name, side, text) in enumerate((("sample", "sample", sample), ("basis", "basis", basis))):
            y = 3.0 * number + row
            panel.text(-4.6, y, name, fontsize="x-small", color=SOFT, va="center")
            for column, step in enumerate(line):
                at = step[side]
                pair = step["sample"] is not None and step["basis"] is not None
                same = pair and sample[step["sample"]] == basis[step["basis"]]
                box = {"boxstyle": "square,pad=0.12", "facecolor": "#f6d9bd", "edgecolor": "none"}
                letter = "·" if at is None else (text[at] if not text[at].isspace() else "␣")
                style = {} if same or at is None else {"bbox": box}
                panel.text(
                    column,
                    y,
                    letter,
                    family="monospace",
                    ha="center",
                    va="center",
                    color=SOFT if at is None else INK,
                    **style,
                )


def draw_cells(panel: Any, sample: Any, basis: Any, comparison: dict[str, Any], hue: str) -> None:
    from matplotlib.colors import to_rgb

    rows, cols = comparison["grid"]
    most = max((abs(cell["share"]) for cell in comparison["cells"]), default=1.0) or 1.0
    for number, (name, side, image) in enumerate((("basis", "basis", basis), ("sample", "sample", sample))):
        picture = np.asarray(image.toarray() if hasattr(image, "toarray") else image).squeeze()
        if picture.ndim < 2:  # a histogram over the bins of the grid
            picture = picture.reshape(rows, cols) if picture.size == rows * cols else np.zeros((rows, cols))
        part = panel.inset_axes((0.5 * number, 0.02, 0.46, 0.9))
        part.set(xticks=[], yticks=[])
        part.spines[:].set(linewidth=0.5, color=SOFT)
        part.set_xlabel(name, fontsize="x-small", color=SOFT, labelpad=1)
        picture = picture if picture.ndim == 2 or picture.shape[-1] == 3 else np.linalg.norm(picture, axis=-1)
        part.imshow(picture, cmap="gray", extent=(0, cols, rows, 0), interpolation="nearest")
        layer = np.zeros((rows, cols, 4))
        layer[..., :3] = to_rgb(hue)
        for cell in comparison["cells"]:
            if cell[side] is not None:
                row, col = cell[side]
                layer[row, col, 3] = max(layer[row, col, 3], 0.75 * abs(cell["share"]) / most)
        part.imshow(layer, extent=(0, cols, rows, 0), interpolation="nearest")


def draw_shares(panel: Any, names: list[str], shares: list[float], hue: str, *, ordered: bool = False) -> None:
    order = list(range(len(shares)))
    if not ordered:
        order = np.argsort(-np.abs(shares), kind="stable")[:_LISTED].tolist()
    if not order:
        panel.text(0.5, 0.5, "nothing in common", transform=panel.transAxes, ha="center", fontsize="small", color=SOFT)
        return
    panel.set_axis_on()
    panel.spines[:].set_visible(False)
    values, places = [shares[at] for at in order], np.arange(len(order))
    panel.barh(places, values, height=0.66, color=hue, alpha=0.75)
    panel.set_yticks(places, [names[at] for at in order], fontsize="x-small")
    panel.tick_params(axis="both", length=0)
    panel.set_xticks([])
    panel.set_ylim(max(len(order), 3) - 0.4, -0.6)
    for place, value in zip(places, values, strict=True):
        panel.text(value, place, f" {value:.3g}", va="center", fontsize="x-small", color=INK)
