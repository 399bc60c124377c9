"""Training tables of 2,000 to 50,000 rows: public ones, and synthetic ones whose relevant columns are known.

`TASKS[name](data)` returns training rows, their labels, test rows and their labels; labels are 0, 1, ….
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import train_test_split

Task = tuple[Any, Any, Any, Any]


def letter(data: Path) -> Task:
    file = np.load(data / "tabular" / "letter.npz")
    return parted(file["X"], file["y"], slice(15000), slice(15000, None))


def shuttle(data: Path) -> Task:
    file = np.load(data / "tabular" / "shuttle.npz")
    return parted(file["X"], file["y"], slice(43500), slice(43500, None))


def dna(data: Path) -> Task:
    file = np.load(data / "tabular" / "dna.npz")
    X = np.unpackbits(file["X"], axis=1)[:, : int(file["n_features"])] if "n_features" in file.files else file["X"]
    return parted(X, file["y"], slice(2000), slice(2000, None))


def ijcnn1(data: Path) -> Task:
    file = np.load(data / "tabular" / "ijcnn1.npz")
    some = np.random.default_rng(0).permutation(len(file["y_test"]))[:20000]
    return coded(file["X_train"], file["y_train"], file["X_test"][some], file["y_test"][some])


def a9a(data: Path) -> Task:
    file = np.load(data / "tabular" / "a9a.npz")
    train, test = (bits(file[name], file) for name in ("X_train", "X_test"))
    return coded(train, file["y_train"], test, file["y_test"])


def w8a(data: Path) -> Task:
    file = np.load(data / "tabular" / "w8a_train.npz")
    return split(bits(file["X_train"], file), file["y_train"], 35000, 14749)


def ida(name: str, n_train: int, n_test: int, data: Path) -> Task:
    file = np.load(data / "ida13" / f"{name}.npz")
    X = file["X"]
    if name == "splice":
        # Codes of the four letters.
        X = (X[:, :, None] == np.arange(1, 5)).reshape(len(X), -1)
    return split(X, file["y"], n_train, n_test)


def interaction(n_train: int, _: Path) -> Task:
    """Four of twenty columns matter: two curved effects and an interaction, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_train + 10000, 20))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) - np.sqrt(2 / np.pi)
    y = signal + 0.1 * rng.normal(size=len(X)) > 0
    return parted(X, y, slice(n_train), slice(n_train, None))


def irrelevant(_: Path) -> Task:
    X, y = make_classification(
        15000, 60, n_informative=10, n_redundant=5, n_classes=4, n_clusters_per_class=3, flip_y=0.02, random_state=0
    )
    return parted(X, y, slice(10000), slice(10000, None))


def friedman(_: Path) -> Task:
    """Friedman's function of five of fifteen columns, above or below its mean."""
    X, y = make_friedman1(15000, 15, noise=1.0, random_state=0)
    return parted(X, y > y[:5000].mean(), slice(5000), slice(5000, None))


def forest(_: Path) -> Task:
    """A made forest: heights, slopes and distances of skewed scales, and forty kinds of soil; three classes."""
    rng = np.random.default_rng(0)
    n = 30000
    soil = rng.choice(40, n, p=rng.dirichlet(np.ones(40)))
    height = rng.normal(2800, 250, n) + 40 * rng.normal(size=40)[soil]
    slope, aspect = rng.gamma(2, 7, n), rng.uniform(0, 360, n)
    water, road, fire = (rng.gamma(1.2, scale, n) for scale in (250, 1800, 1700))
    moist = -water / 400 + rng.normal(size=40)[soil] + 0.6 * np.cos(np.radians(aspect)) * np.minimum(slope / 15, 2)
    line = (height - 2800) / 180
    scores = np.stack([line + 0.5 * moist, 1.2 - np.abs(line), -1.1 * line - 0.4 * moist + (road < 700)], axis=1)
    y = np.argmax(scores + 0.45 * rng.gumbel(size=scores.shape), axis=1)
    X = np.column_stack([height, slope, aspect, water, road, fire, np.eye(40)[soil]])
    return parted(X, y, slice(20000), slice(20000, None))


def bits(packed: Any, file: Any) -> Any:
    return np.unpackbits(packed, axis=1)[:, : int(file["n_features"])]


def parted(X: Any, y: Any, train: slice, test: slice) -> Task:
    return coded(X[train], y[train], X[test], y[test])


def split(X: Any, y: Any, n_train: int, n_test: int) -> Task:
    a, b, c, d = train_test_split(X, y, train_size=n_train, test_size=n_test, stratify=y, random_state=0)
    return coded(a, c, b, d)


def coded(X: Any, y: Any, X_test: Any, y_test: Any) -> Task:
    _, codes = np.unique(np.concatenate([y, y_test]), return_inverse=True)
    return X.astype(np.float32), codes[: len(y)], X_test.astype(np.float32), codes[len(y) :]


TASKS: dict[str, Callable[[Path], Task]] = {
    "interaction, 2,000": partial(interaction, 2000),
    "dna": dna,
    "splice": partial(ida, "splice", 2200, 975),
    "waveform": partial(ida, "waveform", 3500, 1500),
    "ringnorm": partial(ida, "ringnorm", 5000, 2400),
    "friedman": friedman,
    "letter": letter,
    "made forest": forest,
    "interaction, 30,000": partial(interaction, 30000),
    "irrelevant columns": irrelevant,
    "shuttle": shuttle,
    "ijcnn1": ijcnn1,
    "a9a": a9a,
    "w8a": w8a,
}
