"""
Time series by dynamic time warping
===================================

Time series: dynamic time warping, compared with a Gaussian on the same values and the nearest neighbor by DTW.

DTW stretches and compresses the time axis of one series to match the other. It is not a kernel, which a basis expansion
does not require, and it is slow, so only a few series serve as bases: the nearest neighbor compares with all.

.. code-block:: sh

    python series_dtw.py                                       # patterns that are warped at random
    python series_dtw.py --data UCRArchive_2018/GunPoint --out .   # a folder of the UCR archive, or a .npz

Expect 96 % for DTW on 100 bases, 95 % for the nearest of all 500 series and 78 % for the Gaussian. On TwoPatterns
(1,000 training series) 99.6, 100 and 77.4 %, on GunPoint (50, all of them bases) 94.7, 97.3 and 89.3 %.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV

from widemargin import BasisExpansionSVC
from widemargin.similarity import DTW, RBF, ZScore, pairwise

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def make_series(n: int, length: int = 96, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four patterns of two bumps or dips, with randomly warped time and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    clock = np.linspace(0, 1, length)
    X = np.empty((n, length))
    for row, label in zip(X, y, strict=True):
        # A monotone map of [0, 1] to itself, through four random knots.
        knots = np.concatenate([[0], np.cumsum(rng.dirichlet(np.ones(5)))])
        warped = np.interp(clock, np.linspace(0, 1, 6), knots)
        signs = (1 - 2 * (label // 2), 1 - 2 * (label % 2))
        bumps = [sign * np.exp(-(((warped - at) / 0.05) ** 2)) for sign, at in zip(signs, (0.35, 0.65), strict=True)]
        row[:] = sum(bumps) + rng.normal(0, 0.25, length)
    return X, y


def load(path: Path) -> Split:
    """X_train, y_train, X_test, y_test of a folder of the UCR archive, or of a .npz with arrays of these names."""
    if path.suffix == ".npz":
        arrays = np.load(path)
        names = ("X_train", "y_train", "X_test", "y_test")
        if missing := set(names) - set(arrays.files):
            raise SystemExit(f"{path} lacks the arrays {sorted(missing)}")
        X, y, X_test, y_test = (arrays[name] for name in names)
        return X, y, X_test, y_test
    parts: list[np.ndarray] = []
    for part in ("TRAIN", "TEST"):
        file = path / f"{path.name}_{part}.tsv"
        if not file.is_file():
            raise SystemExit(f"{file} does not exist: --data needs a data set's folder of the UCR archive, or a .npz")
        rows = np.loadtxt(file, ndmin=2)
        parts += [rows[:, 1:], rows[:, 0].astype(int)]
    X, y, X_test, y_test = parts
    return X, y, X_test, y_test


def draw(svc: BasisExpansionSVC, path: Path) -> None:
    """The bases with the largest weights for and against each class."""

    from widemargin.inspection import BasisDisplay

    display = BasisDisplay.from_estimator(svc, 5, per_class=True)
    display.figure_.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a data set's folder of the UCR archive, or a .npz")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    if args.data:
        X, y, X_test, y_test = load(args.data)
    else:
        X, y = make_series(300 if args.small else 1000)
        X, y, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
    print(f"{len(X)} series to train on, {len(X_test)} to test, {X.shape[1]} long, {len(set(y.tolist()))} classes")

    n_basis = min(100, len(X))
    # The window, as a fraction of the length, and C are searched on the training series.
    windows = {"similarity__window": [0.05, 0.1, 0.2, 0.3]}
    methods = {
        "Gaussian on values": (ZScore() >> RBF(), {}),
        "DTW, basis expansion": (DTW(gamma="auto", root=True), windows),
    }
    for name, (similarity, searched) in methods.items():
        svc = BasisExpansionSVC(similarity, n_basis=n_basis, normalization="mean_norm")
        start = time.perf_counter()
        search = GridSearchCV(svc, {"C": [1.0, 10.0, 100.0], **searched}).fit(X, y)
        accuracy = search.score(X_test, y_test)
        print(f"{name:<22} accuracy {accuracy:.3f}  seconds {time.perf_counter() - start:6.2f}  {search.best_params_}")
    best = search.best_estimator_
    start = time.perf_counter()
    nearest = y[pairwise(DTW(window=best.similarity.window), X_test, X).argmax(axis=1)]
    share, seconds = np.mean(nearest == y_test), time.perf_counter() - start
    print(f"{'DTW, nearest neighbor':<22} accuracy {share:.3f}  seconds {seconds:6.2f}  compares with all {len(X)}")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        draw(best, args.out / "series_dtw.png")
    return accuracy


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
