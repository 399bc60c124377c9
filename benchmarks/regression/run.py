"""Regression beside scikit-learn's tuned kernel methods: error, and CPU seconds of tuning and training, on one thread.

    python run.py [--out results.json] [--quick]

Data: diabetes (five random splits, 300 samples of 442 train), Friedman's three functions with 400 and 1,000 training samples (10
columns, 4 and 4; three seeds; noise of a tenth or so of the signal; the test targets are without noise), and Friedman's first
with 100,000 rows, where the peer is `Nystroem` with `Ridge`. Peers search these grids by five folds on standardised columns and
targets: `KernelRidge` 7 gamma × 7 alpha, `SVR` 5 gamma × 5 C × 3 epsilon; `GaussianProcessRegressor` maximises its likelihood
over an anisotropic length scale, an amplitude and the noise (up to 400 samples).
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import widemargin
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from widemargin import BasisExpansionRegressor

# Standard deviations of the noise: the functions have deviations of about 5, 380 and 0.3.
FUNCTIONS = {
    "friedman1": (lambda n, noise, seed: make_friedman1(n, n_features=10, noise=noise, random_state=seed), 1.0),
    "friedman2": (lambda n, noise, seed: make_friedman2(n, noise=noise, random_state=seed), 40.0),
    "friedman3": (lambda n, noise, seed: make_friedman3(n, noise=noise, random_state=seed), 0.03),
}
N_TEST = 2000
MOST_OF_PROCESSES = 400


def tasks(quick: bool) -> Iterator[tuple[str, int, Any, Any, Any, Any]]:
    """Name, seed, training samples and targets, test samples and targets."""
    X, y = load_diabetes(return_X_y=True)
    for seed in range(2 if quick else 5):
        X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=seed)
        yield "diabetes", seed, X_train, y_train, X_test, y_test
    for name, (make, noise) in FUNCTIONS.items():
        for n in (400,) if quick else (400, 1000):
            for seed in range(1 if quick else 3):
                yield f"{name}-{n}", seed, *make(n, noise, seed), *make(N_TEST, 0.0, 1000 + seed)


def standardised(model: Any) -> Any:
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())


def kernel_ridge(n: int, d: int) -> Any:
    grid = {"kernelridge__gamma": np.geomspace(1e-3, 1, 7) * 4 / d, "kernelridge__alpha": np.geomspace(1e-5, 10, 7)}
    return standardised(GridSearchCVOf(KernelRidge(kernel="rbf"), grid))


def support_vectors(n: int, d: int) -> Any:
    grid = {
        "svr__gamma": np.geomspace(1e-2, 1, 5) * 2 / d,
        "svr__C": np.geomspace(0.1, 1000, 5),
        "svr__epsilon": [0.01, 0.05, 0.2],
    }
    return standardised(GridSearchCVOf(SVR(), grid))


def GridSearchCVOf(model: Any, grid: dict[str, Any]) -> Any:  # noqa: N802
    name = type(model).__name__.lower()
    inner = {key.removeprefix(f"{name}__"): values for key, values in grid.items()}
    return GridSearchCV(model, inner, cv=5, scoring="neg_mean_squared_error", n_jobs=1)


def process(n: int, d: int) -> Any:
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.ones(d), (1e-2, 1e3)) + WhiteKernel(0.1, (1e-6, 10))
    return standardised(GaussianProcessRegressor(kernel, random_state=0))


ENGINES: dict[str, Callable[[int, int], Any]] = {
    "BasisExpansionRegressor": lambda n, d: BasisExpansionRegressor(random_state=0, n_jobs=1),
    "KernelRidge": kernel_ridge,
    "SVR": support_vectors,
    "GaussianProcessRegressor": process,
}


def measured(make: Callable[[], Any], X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, y)
    seconds = time.process_time() - start
    rmse = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
    told = {"rmse": rmse, "cpu_seconds": seconds}
    if isinstance(model, BasisExpansionRegressor):
        told |= {"loo_rmse": model.loo_error_, "similarity": model.similarities_}
    return told


def large(n: int) -> list[dict[str, Any]]:
    """An expansion on many rows: 1,000 bases, beside Nystroem with its gamma and alpha chosen on 4,000 rows."""
    make, noise = FUNCTIONS["friedman1"]
    X, y = make(n, noise, 0)
    X_test, y_test = make(20_000, 0.0, 1000)

    def nystroem() -> Any:
        grid = {
            "nystroem__gamma": np.geomspace(1e-3, 1, 7) * 0.4,
            "ridge__alpha": np.geomspace(1e-5, 10, 7),
        }
        pipe = make_pipeline(StandardScaler(), Nystroem(n_components=1000, random_state=0), Ridge())
        search = GridSearchCV(pipe, grid, cv=5, scoring="neg_mean_squared_error", n_jobs=1)
        return Chosen(search)

    found = []
    for name, engine in (
        ("BasisExpansionRegressor", lambda: ENGINES["BasisExpansionRegressor"](n, 10)),
        ("Nystroem + Ridge", nystroem),
    ):
        told = measured(engine, X, y, X_test, y_test)
        found.append({"task": f"friedman1-{n}", "seed": 0, "engine": name, **told})
        print(found[-1], flush=True)
    return found


class Chosen:
    """A search on 4,000 rows, refitted on all."""

    def __init__(self, search: GridSearchCV) -> None:
        self.search = search

    def fit(self, X: Any, y: Any) -> Any:
        return self.search.fit(X[:4000], y[:4000]).best_estimator_.fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("results.json"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--engines", nargs="*", default=list(ENGINES))
    arguments = parser.parse_args()
    results = []
    for task, seed, X, y, X_test, y_test in tasks(arguments.quick):
        for engine in arguments.engines:
            if engine == "GaussianProcessRegressor" and len(X) > MOST_OF_PROCESSES:
                continue
            make = ENGINES[engine]
            told = measured(lambda make=make, X=X: make(*X.shape), X, y, X_test, y_test)
            results.append({"task": task, "seed": seed, "engine": engine, **told})
            print(results[-1], flush=True)
    if not arguments.quick:
        results += large(100_000)
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": platform.processor() or platform.machine(),
        "widemargin": widemargin.__version__,
        "scikit-learn": sklearn.__version__,
    }
    arguments.out.write_text(json.dumps({"facts": facts, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
