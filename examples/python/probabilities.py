"""
Probabilities without further fits
==================================

Probabilities without further fits: the thin plate SVM compared with a calibration by five folds.

A fit calibrates its probabilities on leave-one-out decision values, which have a closed form.
`CalibratedClassifierCV` needs five more fits, and averages the models.

.. code-block:: sh

    python probabilities.py                              # waves of four classes in noise, and two moons that overlap
    python probabilities.py --data waveform.npz --out .  # a .npz of X and y

Expect a log loss no larger than that of five folds, in less than a fifth of the time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from widemargin import ThinPlateSVC

Samples = tuple[np.ndarray, np.ndarray]
ENGINES = {
    "thin plate": lambda: ThinPlateSVC(),
    "thin plate, five folds": lambda: CalibratedClassifierCV(ThinPlateSVC(), cv=5),
    "Gaussian, five folds": lambda: CalibratedClassifierCV(SVC(), cv=5),
}


def made(n: int) -> dict[str, Samples]:
    """Problems of two and of four classes, in which a tenth of the labels is wrong."""
    many = make_classification(n, 12, n_informative=6, n_classes=4, class_sep=1.5, flip_y=0.1, random_state=0)
    return {"moons": make_moons(n, noise=0.3, random_state=0), "four classes": many}


def load(path: Path) -> Samples:
    """Samples and their labels."""
    if not path.is_file():
        raise SystemExit(f"{path} is not a file: --data needs a .npz of X and y")
    arrays = np.load(path)
    if missing := {"X", "y"} - set(arrays.files):
        raise SystemExit(f"{path} lacks the arrays {sorted(missing)}: --data needs a .npz of X and y")
    return arrays["X"], arrays["y"]


def draw(drawn: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]], path: Path) -> None:
    """One column per problem: shares of right answers against the predicted probabilities, and how often they occur."""
    import matplotlib.pyplot as plt

    colors = dict(zip(ENGINES, ("#0072B2", "#E69F00", "#009E73"), strict=True))
    figure, axes = plt.subplots(1, len(drawn), figsize=(6 * len(drawn), 5), squeeze=False, layout="constrained")
    for axis, (name, engines) in zip(axes[0], drawn.items(), strict=True):
        for engine, (right, predicted) in engines.items():
            CalibrationDisplay.from_predictions(
                right, predicted, n_bins=8, strategy="quantile", name=engine, color=colors[engine], ax=axis
            )
        axis.set(title=name, xlabel="probability of a class", ylabel="share of the samples in that class")
    figure.savefig(path, dpi=110)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a .npz of X and y")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    problems = {args.data.stem: load(args.data)} if args.data else made(500 if args.small else 1500)

    drawn: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]] = {name: {} for name in problems}
    losses: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    accuracies: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    for name, (X, y) in problems.items():
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
        for engine, make in ENGINES.items():
            start = time.perf_counter()
            fitted = make().fit(X, y)
            spent = time.perf_counter() - start
            P = fitted.predict_proba(X_test)
            losses[engine].append(log_loss(y_test, P, labels=fitted.classes_))
            accuracies[engine].append(fitted.score(X_test, y_test))
            # Each class of each sample counts as one predicted probability.
            drawn[name][engine] = ((y_test[:, None] == fitted.classes_).ravel().astype(int), P.ravel())
            print(f"    {name + ', ' + engine:<40} log loss {losses[engine][-1]:.3f}  seconds {spent:6.2f}")
    for engine in ENGINES:
        print(f"{engine:<24} accuracy {np.mean(accuracies[engine]):.3f}  log loss {np.mean(losses[engine]):.3f}")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        draw(drawn, args.out / "probabilities.png")
    return float(np.mean(accuracies["thin plate"]))


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
