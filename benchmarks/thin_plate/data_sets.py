"""The data sets, as the folder that `--data` names holds them, and the protocol of Table 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Array = np.ndarray

TABLE_1 = (
    "banana",
    "breast-cancer",
    "diabetes",
    "flare-solar",
    "german",
    "heart",
    "image",
    "ringnorm",
    "splice",
    "thyroid",
    "twonorm",
    "waveform",
)

SPLITS = 5
MAX_PER_CLASS = 1500


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to test on, in the same columns."""

    train: Array
    train_labels: Array
    test: Array
    test_labels: Array


class MissingDataError(Exception):
    """A file that is not where it should be."""


def splits(folder: Path, name: str, seed: int = 7) -> Iterator[Split]:
    """Five disjoint fifths of the distinct (x, y) pairs, each tested once, at most 1,500 pairs a class.

    Columns are standardized by what is trained on.
    """
    arrays = _load(folder / "ida13" / f"{name}.npz")
    pairs = np.unique(np.column_stack([arrays["X"].astype(float), arrays["y"]]), axis=0)
    random = np.random.default_rng(seed)
    classes = (-1, 1)
    members = [random.permutation(np.flatnonzero(pairs[:, -1] == c))[:MAX_PER_CLASS] for c in classes]
    index = np.concatenate(members)
    fold = np.concatenate([np.arange(len(rows)) % SPLITS for rows in members])
    for k in range(SPLITS):
        train, test = pairs[random.permutation(index[fold != k])], pairs[index[fold == k]]
        mean, spread = train[:, :-1].mean(0), train[:, :-1].std(0)
        spread[spread == 0] = 1
        yield Split(
            (train[:, :-1] - mean) / spread,
            train[:, -1].astype(int),
            (test[:, :-1] - mean) / spread,
            test[:, -1].astype(int),
        )


def usps(folder: Path) -> Split:
    """Pixels in [−1, 1]."""
    arrays = _load(folder / "usps" / "usps.npz")
    return Split(
        arrays["X_train"] / 1000.0,
        arrays["y_train"].astype(int),
        arrays["X_test"] / 1000.0,
        arrays["y_test"].astype(int),
    )


def ijcnn1(folder: Path) -> Split:
    arrays = _load(folder / "tabular" / "ijcnn1.npz")
    return Split(arrays["X_train"], arrays["y_train"].astype(int), arrays["X_test"], arrays["y_test"].astype(int))


def made(rows: int, columns: int = 20, seed: int = 1) -> Split:
    """Two classes of Gaussian points with a curved border, one label in twenty wrong."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((rows + 20_000, columns))
    border = points[:, 0] + np.sin(2 * points[:, 1]) + 0.5 * points[:, 2] * points[:, 3]
    labels = np.where((border > 0) ^ (random.random(len(points)) < 0.05), 1, 0)
    return Split(points[:rows], labels[:rows], points[rows:], labels[rows:])


def save(folder: Path, split: Split) -> tuple[Path, Path]:
    """The two halves as files that the command reads."""
    train, test = folder / "train.npz", folder / "test.npz"
    np.savez(train, X=split.train, y=split.train_labels)
    np.savez(test, X=split.test, y=split.test_labels)
    return train, test


def _load(path: Path) -> dict[str, Array]:
    if not path.is_file():
        raise MissingDataError(f"there is no file '{path}': see README.md for what --data holds")
    with np.load(path) as file:
        return {name: file[name] for name in file.files}
