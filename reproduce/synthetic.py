"""Synthetic data with the arrays of the real files, but few samples, so that every script can run without any files.

`run.py --quick` uses them if there is no data folder. Results on them mean nothing: a script that gets `--synthetic`
only checks that each of its figures is a number that `expected.toml` knows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

Array = np.ndarray

COLUMNS = {"breast-cancer": 9, "diabetes": 8, "flare-solar": 9, "german": 20, "heart": 13, "thyroid": 5}
IMAGES = "cifar10/synthetic.npz"


def write(data: Path) -> None:
    """All files that quick runs read, in the folder `data`."""
    random = np.random.default_rng(0)
    for name, columns in COLUMNS.items():
        points, labels = _clouds(random, 2, 40, columns)
        _save(data / "ida13" / f"{name}.npz", X=points, y=2 * labels - 1)
    points, labels = _clouds(random, 10, 200, 256)
    _save(data / "usps" / "usps.npz", **_halves(np.clip(300 * points, -1000, 1000).astype(np.int16), labels))
    _save(data / IMAGES, **_halves(*_stripes(random, 20)))
    _save(data / "bow" / "scene15_words.npz", **_words(random))
    _save(data / "bow" / "news20_w1000.npz", **_counts(random))


def _save(path: Path, **arrays: Array) -> None:
    path.parent.mkdir(exist_ok=True)
    np.savez(path, **arrays)


def _clouds(random: np.random.Generator, classes: int, a_class: int, columns: int) -> tuple[Array, Array]:
    """Normal clouds, one a class, whose samples alternate."""
    labels = np.arange(classes * a_class) % classes
    centers = random.standard_normal((classes, columns))
    return centers[labels] + 2 * random.standard_normal((len(labels), columns)), labels


def _stripes(random: np.random.Generator, a_class: int) -> tuple[Array, Array]:
    """Color images of 32 × 32 in ten classes, each with stripes of another direction."""
    labels = np.arange(10 * a_class) % 10
    across, up = np.meshgrid(np.arange(32), np.arange(32))
    angle = np.pi * labels[:, None, None] / 10
    phase = random.uniform(0, 2 * np.pi, angle.shape)
    heights = np.sin(np.cos(angle) * across + np.sin(angle) * up + phase)[..., None]
    noise = random.standard_normal((*heights.shape[:3], 3))
    return np.clip(128 + 40 * heights + 60 * noise, 0, 255).astype(np.uint8), labels


def _halves(rows: Array, labels: Array) -> dict[str, Array]:
    half = len(rows) // 2
    return {"X_train": rows[:half], "y_train": labels[:half], "X_test": rows[half:], "y_test": labels[half:]}


def _words(random: np.random.Generator) -> dict[str, Array]:
    """Images of 8 × 8 words out of 50; each class prefers some of them."""
    labels, side, words = np.arange(300) % 15, 8, 50
    found = 3 * labels[:, None] + random.exponential(8, (len(labels), side * side)).astype(int)
    grid = np.full((len(labels), 2), side)
    return {
        "words": found.ravel() % words,
        "grid": grid,
        "y": labels,
        "n_train": np.array(150),
        "n_words": np.array(words),
    }


def _counts(random: np.random.Generator) -> dict[str, Array]:
    """Counts of 200 words, half of them to train on."""
    labels = np.arange(800) % 20
    rates = random.gamma(0.3, 0.5, (20, 200))[labels]
    found: dict[str, Array] = {"vocab": np.arange(rates.shape[1])}
    for part, chosen in (("train", slice(400)), ("test", slice(400, None))):
        rows = sp.csr_matrix(random.poisson(rates[chosen]))
        found |= {f"{part}_data": rows.data, f"{part}_indices": rows.indices, f"{part}_indptr": rows.indptr}
        found[f"y_{part}"] = labels[chosen]
    return found
