"""Synthetic data of every kind the command reads, from a seed: the same files on every machine with the same NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

CLASSES = 5
LETTERS = np.array(list("acdefghiklmnpqrstvwy"))


def points(random: np.random.Generator, rows: int, width: int) -> tuple[Array, Labels]:
    """Classes with curved borders: which of some waves is the highest."""
    x = random.standard_normal((rows, width))
    waves = np.random.default_rng(0).standard_normal((width, CLASSES))
    return x, np.argmax(np.sin(x @ waves) + 0.3 * x @ waves[:, ::-1], axis=1)


def histograms(random: np.random.Generator, rows: int, width: int, filled: float) -> tuple[Array, Labels]:
    """Counts with this share of nonzeros, drawn around the histogram of their class."""
    means = np.random.default_rng(1).gamma(0.5, 4.0, (CLASSES, width))
    y = random.integers(CLASSES, size=rows)
    counts = random.poisson(means[y] + 0.5) + 1.0
    is_filled = random.random((rows, width)) < filled
    return np.where(is_filled, counts, 0.0), y


def series(random: np.random.Generator, rows: int, width: int) -> tuple[Array, Labels]:
    """A curve a class, shifted, with noise."""
    curves = np.random.default_rng(2).standard_normal((CLASSES, 2 * width)).cumsum(axis=1)
    y, first = random.integers(CLASSES, size=rows), random.integers(width, size=rows)
    x = curves[y[:, None], first[:, None] + np.arange(width)]
    return x + random.standard_normal(x.shape), y


def strings(random: np.random.Generator, rows: int, length: int) -> tuple[list[str], Labels]:
    """Words of each class's letters, which overlap."""
    y = random.integers(CLASSES, size=rows)
    lengths = random.integers(length // 2, length + 1, size=rows)
    picks = [(3 * label + random.integers(8, size=n)) % len(LETTERS) for label, n in zip(y, lengths, strict=True)]
    return ["".join(LETTERS[pick]) for pick in picks], y


def images(random: np.random.Generator, rows: int) -> tuple[npt.NDArray[np.uint8], Labels]:
    """32 x 32 pixels, three channels; stripes whose direction is the class."""
    y = random.integers(CLASSES, size=rows)
    across, down = np.meshgrid(np.arange(32), np.arange(32))
    angles = np.pi * (y + 0.4 * random.random(rows)) / CLASSES
    waves = np.sin(0.7 * (np.cos(angles)[:, None, None] * across + np.sin(angles)[:, None, None] * down))
    noise = random.standard_normal((rows, 32, 32, 3))
    return np.clip(128 + 60 * waves[..., None] + 20 * noise, 0, 255).astype(np.uint8), y


def libsvm(x: Array, y: Labels) -> str:
    def line(label: int, row: Array) -> str:
        return " ".join([str(label), *(f"{j + 1}:{row[j]:.6g}" for j in np.flatnonzero(row))])

    return _lines(map(line, y.tolist(), x))


def csv(x: Array, y: Labels) -> tuple[str, str]:
    """The header, and the rows."""
    header = ",".join([*(f"x{j}" for j in range(x.shape[1])), "label"])
    rows = (",".join([*(f"{value:.6g}" for value in row), str(label)]) for row, label in zip(x, y, strict=True))
    return _lines([header]), _lines(rows)


def lines_of_strings(x: Sequence[str], y: Labels) -> str:
    return _lines(f"{label}\t{text}" for text, label in zip(x, y, strict=True))


def write_npy(path: Path, x: Array, y: Labels) -> None:
    """The label is the last column."""
    np.save(path, np.column_stack([x, y]).astype(np.float32))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
