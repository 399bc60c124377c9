"""The tasks: data of one kind, split as their sources split them, and nothing an engine could not be given by a user.

A task has one or more views of the same samples, and an engine takes the one that it can use best: images are given
as images and as HOG vectors, strings as strings and as counts of their n-grams.
"""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

sys.path += [str(Path(__file__).resolve().parents[1] / name) for name in ("power_mean", "thin_plate")]

import cifar10
import data_sets
import sparse_files
import visual_words

# `series` of one length and channel; `bits` are 0/1 rows; `histograms` are at least 0, most of them 0.
VIEWS = ("vectors", "histograms", "images", "series", "strings", "bits")


class MissingDataError(Exception):
    """A file that is not where it should be."""


@dataclass(frozen=True)
class Task:
    """Both halves: `train[view]` and `test[view]` have as many samples as `y_train` and `y_test`."""

    train: dict[str, Any]
    y_train: np.ndarray
    test: dict[str, Any]
    y_test: np.ndarray


@dataclass(frozen=True)
class Places:
    data: Path
    cache: Path

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        with np.load(self.file(name)) as file:
            return {key: file[key] for key in file.files}

    def file(self, name: str) -> Path:
        path = self.data / name
        if not path.is_file():
            raise MissingDataError(f"there is no file '{path}': see reproduce/README.md for what --data holds")
        return path


def one_unit(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All columns divided by one number, so that the variances of the training columns sum to 1.

    It changes no kernel machine but the meaning of its gamma and C, which now are comparable between tasks: gamma = 1
    is what scikit-learn's "scale" gives.
    """
    size = np.float32(np.sqrt(train.var(axis=0, dtype=np.float64).sum()))
    return train.astype(np.float32) / size, test.astype(np.float32) / size


def one_view(view: str, train: Any, y_train: np.ndarray, test: Any, y_test: np.ndarray) -> Task:
    return Task({view: train}, y_train, {view: test}, y_test)


def _cifar10_hog(places: Places) -> Task:
    """Photographs; the vectors are HOG of 8-pixel cells, made once and not timed for the engines that take them."""
    from widemargin.similarity import HOG

    photos = cifar10.load(places.data / "cifar10")
    hog = HOG(8)
    train, test = one_unit(*(np.asarray(hog.fit_transform(images)) for images in (photos.x_train, photos.x_test)))
    return Task(
        {"images": photos.x_train, "vectors": train},
        photos.y_train,
        {"images": photos.x_test, "vectors": test},
        photos.y_test,
    )


def _mnist(places: Places) -> Task:
    packed = lzma.decompress(places.file("mnist/mnist.npz.xz").read_bytes())
    arrays = np.load(io.BytesIO(packed))
    train, test = one_unit(*(arrays[name].reshape(-1, 784) for name in ("X_train", "X_test")))
    return one_view("vectors", train, arrays["y_train"], test, arrays["y_test"])


def _cifar10_words(places: Places) -> Task:
    visual_words.ensure(places.data / "cifar10", places.cache)
    train, y_train = sparse_files.load_npz(places.cache / "train.npz")
    test, y_test = sparse_files.load_npz(places.cache / "test.npz")
    return one_view("histograms", train, y_train, test, y_test)


def _scene15_words(places: Places) -> Task:
    """400 words in the whole image, its 4 quarters and its 16 sixteenths: 8,400 counts."""
    arrays = places.arrays("bow/scene15_words.npz")
    grids, n_train, n_words = arrays["words"].reshape(-1, 24, 24), int(arrays["n_train"]), 400
    parts = []
    for side in (1, 2, 4):
        step = 24 // side
        for row in range(side):
            for column in range(side):
                cell = grids[:, row * step : (row + 1) * step, column * step : (column + 1) * step]
                parts.append([np.bincount(one.ravel(), minlength=n_words) for one in cell])
    rows = sp.csr_matrix(np.hstack(parts).astype(np.float32))
    labels = arrays["y"]
    return one_view("histograms", rows[:n_train], labels[:n_train], rows[n_train:], labels[n_train:])


def _newsgroups(places: Places) -> Task:
    arrays = places.arrays("bow/news20_w1000.npz")
    halves = []
    for half in ("train", "test"):
        parts = tuple(arrays[f"{half}_{part}"] for part in ("data", "indices", "indptr"))
        shape = (len(arrays[f"y_{half}"]), 1000)
        halves.append(sp.csr_matrix((parts[0].astype(np.float32), *parts[1:]), shape=shape))
    return one_view("histograms", halves[0], arrays["y_train"], halves[1], arrays["y_test"])


def _ijcnn1(places: Places) -> Task:
    split = data_sets.ijcnn1(places.data)
    train, test = one_unit(split.train, split.test)
    return one_view("vectors", train, split.train_labels, test, split.test_labels)


def _first_rows(name: str, n_train: int) -> Callable[[Places], Task]:
    """The usual split of a table: its first rows are for training. Columns are standardized."""

    def load(places: Places) -> Task:
        arrays = places.arrays(name)
        rows, labels = arrays["X"].astype(np.float64), arrays["y"]
        rows = (rows - rows[:n_train].mean(0)) / rows[:n_train].std(0)
        train, test = one_unit(rows[:n_train], rows[n_train:])
        return one_view("vectors", train, labels[:n_train], test, labels[n_train:])

    return load


def _a9a(places: Places) -> Task:
    arrays = places.arrays("tabular/a9a.npz")
    width = int(arrays["n_features"])
    train, test = one_unit(*(np.unpackbits(arrays[name], axis=1)[:, :width] for name in ("X_train", "X_test")))
    return one_view("vectors", train, arrays["y_train"], test, arrays["y_test"])


def _ucr(name: str) -> Callable[[Places], Task]:
    def load(places: Places) -> Task:
        arrays = places.arrays(f"ucr/{name}.npz")
        return one_view("series", arrays["X_train"], arrays["y_train"], arrays["X_test"], arrays["y_test"])

    return load


def _surnames(places: Places) -> Task:
    """20,050 surnames of 18 languages: every fifth of a fixed random order is for testing."""
    with gzip.open(places.file("strings/surnames.tsv.gz"), "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file][1:]
    languages, names = zip(*rows, strict=True)
    _, labels = np.unique(languages, return_inverse=True)
    train, test = fifths(len(names))
    return one_view("strings", [names[i] for i in train], labels[train], [names[i] for i in test], labels[test])


def _molecules(places: Places) -> Task:
    """Which of 2,039 molecules pass the blood-brain barrier; the bits are hashed n-grams of their SMILES."""
    with gzip.open(places.file("strings/mol_bbbp.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    smiles, labels = [row["smiles"] for row in rows], np.array([int(row["p_np"]) for row in rows])
    bits = np.stack([hashed_ngrams(one) for one in smiles])
    train, test = fifths(len(smiles))
    return Task(
        {"strings": [smiles[i] for i in train], "bits": bits[train]},
        labels[train],
        {"strings": [smiles[i] for i in test], "bits": bits[test]},
        labels[test],
    )


def fifths(n: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(n)
    return np.sort(order[n // 5 :]), np.sort(order[: n // 5])


def hashed_ngrams(text: str, n_bits: int = 2048, longest: int = 5) -> np.ndarray:
    """1 where a substring of 1 to 5 characters falls; the hash is FNV-1a, so that every run has the same bits."""
    bits = np.zeros(n_bits, np.uint8)
    for start in range(len(text)):
        code = 2166136261
        for byte in text[start : start + longest].encode():
            code = (code ^ byte) * 16777619 & 0xFFFFFFFF
            bits[code % n_bits] = 1
    return bits


def made(n: int) -> Task:
    """Two classes in 20 columns with a curved border, one label in twenty wrong: for growth."""
    split = data_sets.made(n)
    train, test = one_unit(split.train, split.test)
    return one_view("vectors", train, split.train_labels, test, split.test_labels)


TASKS: dict[str, Callable[[Places], Task]] = {
    "cifar10-hog": _cifar10_hog,
    "mnist": _mnist,
    "letter": _first_rows("tabular/letter.npz", 15_000),
    "shuttle": _first_rows("tabular/shuttle.npz", 43_500),
    "ijcnn1": _ijcnn1,
    "a9a": _a9a,
    "cifar10-words": _cifar10_words,
    "scene15-words": _scene15_words,
    "newsgroups": _newsgroups,
    "ECG5000": _ucr("ECG5000"),
    "TwoPatterns": _ucr("TwoPatterns"),
    "Wafer": _ucr("Wafer"),
    "ElectricDevices": _ucr("ElectricDevices"),
    "Crop": _ucr("Crop"),
    "surnames": _surnames,
    "molecules": _molecules,
}


def load(name: str, places: Places) -> Task:
    """A task by its name; `made:N` is the made one with N samples to train on."""
    if name.startswith("made:"):
        return made(int(name.removeprefix("made:")))
    return TASKS[name](places)
