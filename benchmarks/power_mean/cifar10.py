"""CIFAR-10 from any of the folders it is usually kept in."""

from __future__ import annotations

import importlib.util
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

N_TRAIN, N_TEST, SIDE = 50_000, 10_000, 32
ORIGIN = "the CIFAR-10 page of Alex Krizhevsky at the University of Toronto"


class MissingDataError(Exception):
    """The folder does not hold CIFAR-10; the message says what was looked for."""


@dataclass(frozen=True)
class Cifar10:
    """Images are (n, 32, 32, 3) uint8 in the original order, labels 0..9."""

    x_train: npt.NDArray[np.uint8]
    y_train: npt.NDArray[np.int64]
    x_test: npt.NDArray[np.uint8]
    y_test: npt.NDArray[np.int64]


def load(folder: Path) -> Cifar10:
    """Read whichever of the known layouts `folder`, or the usual folder inside it, holds."""
    if not folder.is_dir():
        raise MissingDataError(f"there is no folder '{folder}'; {_help()}")
    readers = {
        "cifar10_webp.npz": _read_mosaics,
        "data_batch_1.bin": _read_binary,
        "data_batch_1": _read_pickles,
    }
    for place in (folder, folder / "cifar-10-batches-bin", folder / "cifar-10-batches-py"):
        for marker, reader in readers.items():
            if (place / marker).is_file():
                return _checked(reader(place), place)
    raise MissingDataError(f"'{folder}' holds none of {', '.join(readers)}; {_help()}")


def _help() -> str:
    return (
        f"download the binary or the Python version of CIFAR-10 from {ORIGIN}, unpack it, "
        "and give its folder (cifar-10-batches-bin or cifar-10-batches-py) with --data"
    )


def _checked(data: Cifar10, place: Path) -> Cifar10:
    shapes = (data.x_train.shape, data.x_test.shape, data.y_train.shape, data.y_test.shape)
    expected = ((N_TRAIN, SIDE, SIDE, 3), (N_TEST, SIDE, SIDE, 3), (N_TRAIN,), (N_TEST,))
    if shapes != expected:
        raise MissingDataError(f"'{place}' is not the whole CIFAR-10: its arrays are {shapes}, expected {expected}")
    return data


def _read_mosaics(folder: Path) -> Cifar10:
    """A folder with its own decoder, `load.py`, next to lossless image mosaics."""
    script = folder / "load.py"
    if not script.is_file():
        raise MissingDataError(f"'{folder}' has cifar10_webp.npz but not the load.py that decodes it")
    spec = importlib.util.spec_from_file_location("cifar10_mosaics", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arrays = module.load_cifar10()
    return Cifar10(
        arrays["X_train"], arrays["y_train"].astype(np.int64), arrays["X_test"], arrays["y_test"].astype(np.int64)
    )


def _batches(folder: Path, suffix: str) -> list[Path]:
    """The five training batches and the test batch; all must be there."""
    names = [f"data_batch_{i}{suffix}" for i in range(1, 6)] + [f"test_batch{suffix}"]
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise MissingDataError(f"'{folder}' lacks {', '.join(missing)}; {_help()}")
    return [folder / name for name in names]


def _read_binary(folder: Path) -> Cifar10:
    """One byte of label, then the red, green and blue planes."""
    record = 1 + 3 * SIDE * SIDE
    parts = []
    for path in _batches(folder, ".bin"):
        raw = np.fromfile(path, np.uint8)
        if raw.size % record:
            raise MissingDataError(f"'{path}' is cut short: {raw.size} bytes is no multiple of {record}")
        rows = raw.reshape(-1, record)
        parts.append((rows[:, 1:], rows[:, 0]))
    return _from_planes(parts)


def _read_pickles(folder: Path) -> Cifar10:
    """The Python version: dictionaries with byte-string keys."""
    parts = []
    for path in _batches(folder, ""):
        with path.open("rb") as file:
            batch = pickle.load(file, encoding="bytes")
        parts.append((np.asarray(batch[b"data"], np.uint8), np.asarray(batch[b"labels"])))
    return _from_planes(parts)


def _from_planes(parts: list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.integer]]]) -> Cifar10:
    """Color planes to pixels; the last part is the test batch."""

    def images(planes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        return np.ascontiguousarray(planes.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1))

    x, y = zip(*parts, strict=True)
    return Cifar10(
        images(np.concatenate(x[:-1])), np.concatenate(y[:-1]).astype(np.int64), images(x[-1]), y[-1].astype(np.int64)
    )
