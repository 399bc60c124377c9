"""
Multilabel classification
=========================

Multilabel classification with a third of the labels unknown: one fit of all labels, compared with a fit for each.

A sample of a screening is tested for some of twelve toxicities, a document has several topics: each label is a problem
of its own, but similarities, bases and Gram matrices are the same for all. `fit(X, Y)` with an indicator matrix solves
all labels together; NaN entries are ignored in the problem of their label only. The labels here are properties of
handwritten digits.

.. code-block:: sh

    python several_labels.py                             # scikit-learn's digits
    python several_labels.py --data toxicity.npz --out . # a .npz of X and Y, in which NaN is unknown

Expect the accuracy of one fit per label, in little more than half the time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from widemargin import BasisExpansionSVC

PROPERTIES = {
    "even": [0, 2, 4, 6, 8],
    "prime": [2, 3, 5, 7],
    "above 4": [5, 6, 7, 8, 9],
    "a hole": [0, 4, 6, 8, 9],
    "straight lines only": [1, 4, 7],
    "a multiple of 3": [0, 3, 6, 9],
    "a square": [0, 1, 4, 9],
    "symmetric top to bottom": [0, 3, 8],
    "two syllables": [7, 0],
    "ends in e": [1, 3, 5, 9],
    "has the letter i": [5, 6, 8, 9],
    "a Fibonacci number": [0, 1, 2, 3, 5, 8],
}


def made(small: bool) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Digits with twelve properties."""
    X, digits = load_digits(return_X_y=True)
    rows = slice(None, 600 if small else None)
    return X[rows], np.stack([np.isin(digits, has) for has in PROPERTIES.values()], axis=1)[rows], list(PROPERTIES)


def load(path: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Samples, their labels, and the names of these."""
    if not path.is_file():
        raise SystemExit(f"{path} is not a file: --data needs a .npz of X and Y")
    arrays = np.load(path)
    if missing := {"X", "Y"} - set(arrays.files):
        raise SystemExit(f"{path} lacks the arrays {sorted(missing)}: --data needs a .npz of X and Y")
    return arrays["X"], arrays["Y"], [str(label) for label in range(arrays["Y"].shape[1])]


def accuracies(Y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The share of right answers of each label, of those that are known."""
    return np.nanmean(np.where(np.isnan(Y), np.nan, predicted == Y), axis=0)


def draw(drawn: dict[str, np.ndarray], names: list[str], path: Path) -> None:
    """The error of each label: as estimated in training, and on new samples."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 5), layout="constrained")
    colors, height = ("#56B4E9", "#0072B2", "#E69F00"), 0.8 / len(drawn)
    for at, ((name, right), color) in enumerate(zip(drawn.items(), colors, strict=True)):
        axis.barh(np.arange(len(names)) + (at - 1) * height, 100 * (1 - right), height, label=name, color=color)
    axis.set(yticks=np.arange(len(names)), yticklabels=names, xlabel="error, %")
    axis.invert_yaxis()
    axis.legend()
    figure.savefig(path, dpi=110)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a .npz of X and Y")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    X, Y, names = load(args.data) if args.data else made(args.small)

    X, X_test, Y, Y_test = train_test_split(X, Y.astype(float), test_size=0.5, random_state=0)
    Y[np.random.default_rng(0).random(Y.shape) < 1 / 3] = np.nan
    start = time.perf_counter()
    fitted = BasisExpansionSVC("rbf", n_basis=200, normalization="mean_norm", random_state=0).fit(X, Y)
    together = time.perf_counter() - start
    ours = accuracies(Y_test, fitted.predict(X_test))

    start = time.perf_counter()
    alone, gaussian = np.empty(Y_test.shape), np.empty(Y_test.shape)
    for label in range(len(names)):
        known = ~np.isnan(Y[:, label])
        one = BasisExpansionSVC("rbf", n_basis=200, normalization="mean_norm", random_state=0)
        alone[:, label] = one.fit(X[known], Y[known, label]).predict(X_test)
    apart = time.perf_counter() - start
    for label in range(len(names)):
        known = ~np.isnan(Y[:, label])
        gaussian[:, label] = SVC().fit(X[known], Y[known, label]).predict(X_test)

    for name, right, estimated in zip(names, ours, fitted.estimated_label_scores_, strict=True):
        print(f"    {name:<24} accuracy {right:.3f}, estimated {estimated:.3f}")
    print(f"{'all labels by one fit':<24} accuracy {ours.mean():.3f}  seconds {together:.2f}")
    print(f"{'a fit for each':<24} accuracy {accuracies(Y_test, alone).mean():.3f}  seconds {apart:.2f}")
    print(f"{'Gaussian SVC for each':<24} accuracy {accuracies(Y_test, gaussian).mean():.3f}")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        drawn = {
            "estimated": fitted.estimated_label_scores_,
            "one fit": ours,
            "a fit for each": accuracies(Y_test, alone),
        }
        draw(drawn, names, args.out / "several_labels.png")
    return float(ours.mean())


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
