#!/usr/bin/env python3
"""Draws docs/images/fronts.png, the picture of the README: what the short examples draw, side by side.

It needs the package, matplotlib and Pillow, and runs in some seconds.
"""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
FRONTS = {
    "vectors": "vectors",
    "histograms": "histograms",
    "images": "images",
    "series": "time series",
    "strings": "strings",
    "own": "your own similarity",
}


def picture(name: str) -> Image.Image:
    """What the example draws last."""
    plt.show = lambda: None
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(ROOT / "examples/python/short" / f"{name}.py"), run_name="__main__")
    drawn = io.BytesIO()
    plt.gcf().savefig(drawn, dpi=100)
    plt.close("all")
    drawing = Image.open(drawn).convert("RGB")
    # All of one size, so that titles are at one height.
    canvas = Image.new("RGB", (600, 375), "white")
    drawing.thumbnail(canvas.size)
    canvas.paste(drawing, ((canvas.width - drawing.width) // 2, (canvas.height - drawing.height) // 2))
    return canvas


def main() -> None:
    plt.switch_backend("Agg")
    pictures = {title: picture(name) for name, title in FRONTS.items()}
    figure, axes = plt.subplots(2, 3, figsize=(12, 5.6), layout="constrained")
    for ax, (title, image) in zip(axes.flat, pictures.items(), strict=True):
        ax.imshow(image)
        ax.set_title(title, fontsize=14)
        ax.axis("off")
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=100)
    # Few colors suffice for lines and bars, and keep the file small.
    Image.open(drawn).convert("RGB").quantize(192, dither=Image.Dither.NONE).save(
        ROOT / "docs/images/fronts.png", optimize=True
    )


if __name__ == "__main__":
    main()
