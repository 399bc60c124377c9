"""Two public bags of words, converted to files that `widemargin` reads.

    python bags_of_words.py --data FOLDER --out FOLDER
    widemargin train --method power-mean OUT/scene15.train.npz -o scene15.model
    widemargin evaluate scene15.model OUT/scene15.test.npz --json

`--data` contains `scene15_words.npz` (for every image a 24 x 24 grid of word indices in `words`, classes in `y`, the
number of training images in `n_train`) and `news20_w1000.npz` (CSR arrays `train_indptr`, ..., classes `y_train`).
Needs NumPy and SciPy.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

N_WORDS = 400


def save(path: Path, rows: csr_matrix, labels: np.ndarray) -> None:
    """SciPy's sparse layout plus an array `labels`."""
    rows.sort_indices()
    arrays = {"indptr": rows.indptr, "indices": rows.indices, "data": rows.data.astype(np.float32)}
    np.savez(path, format=b"csr", shape=rows.shape, labels=labels.astype(np.int64), **arrays)
    print(f"{path}: {rows.shape[0]} rows, {rows.shape[1]} words, {rows.nnz / rows.shape[0]:.0f} non-zeros a row")


def scene15(source: Path, out: Path) -> None:
    arrays = np.load(source)
    grids = arrays["words"].reshape(len(arrays["y"]), -1)
    rows = csr_matrix(np.stack([np.bincount(grid, minlength=N_WORDS) for grid in grids]))
    n_train = int(arrays["n_train"])
    save(out / "scene15.train.npz", rows[:n_train], arrays["y"][:n_train])
    save(out / "scene15.test.npz", rows[n_train:], arrays["y"][n_train:])


def news20(source: Path, out: Path) -> None:
    arrays = np.load(source)
    for part in ("train", "test"):
        labels = arrays[f"y_{part}"]
        parts = (arrays[f"{part}_data"], arrays[f"{part}_indices"], arrays[f"{part}_indptr"])
        save(out / f"news20.{part}.npz", csr_matrix(parts, shape=(len(labels), len(arrays["vocab"]))), labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, convert in (("scene15_words.npz", scene15), ("news20_w1000.npz", news20)):
        source = arguments.data / name
        if source.is_file():
            convert(source, arguments.out)
        else:
            print(f"{source} is not there: left out")


if __name__ == "__main__":
    main()
