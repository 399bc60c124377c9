"""Regression compared with scikit-learn's tuned kernel methods: error and CPU seconds of tuning and training.

    python run.py --data DATA [--engines NAMES] [--tasks NAMES] [--seeds SEEDS] [--out results/DATE.json]

Data: diabetes (random splits, 300 samples of 442 train), Friedman's three functions with 400 and 1,000 training
samples (10 columns, 4 and 4; noise of a tenth or so of the signal; the test targets are without noise), Friedman's
first with 100,000 rows, where the peer is `Nystroem` with `Ridge`, and molecules: the SMILES of
DATA/strings/mol_bbbp.csv.gz (MoleculeNet), whose logarithm of the Wiener index (the sum of all distances in
the graph of the heavy atoms) is predicted from the text.

Peers search these grids by five folds on standardized columns and targets: `KernelRidge` 7 gamma × 7 alpha, `SVR` 5
gamma × 5 C × 3 epsilon; `GaussianProcessRegressor` maximizes its likelihood over an anisotropic length scale, an
amplitude and the noise (up to 400 samples). Of molecules they get the Tanimoto kernel of character n-grams, in place
of gamma n up to 2, 3 or 4.

Results of earlier runs in the same file are kept, but those of the tasks and engines that are run again.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import gzip
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
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import widemargin
from molecules import Tanimoto, log_wiener_index
from widemargin import BasisExpansionRegressor, ThinPlateRegressor

# Standard deviations of the noise: the functions have deviations of about 5, 380 and 0.3.
FUNCTIONS = {
    "friedman1": (lambda n, noise, seed: make_friedman1(n, n_features=10, noise=noise, random_state=seed), 1.0),
    "friedman2": (lambda n, noise, seed: make_friedman2(n, noise=noise, random_state=seed), 40.0),
    "friedman3": (lambda n, noise, seed: make_friedman3(n, noise=noise, random_state=seed), 0.03),
}
N_TEST = 2000
N_LARGE = 100_000
LARGE_PEER = "Nystroem + Ridge"
MAX_PROCESS_SAMPLES = 400


def tasks(data: Path | None, seed: int) -> Iterator[tuple[str, int, Any, Any, Any, Any]]:
    """Name, seed, training samples and targets, test samples and targets."""
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=seed)
    yield "diabetes", seed, X_train, y_train, X_test, y_test
    for name, (make, noise) in FUNCTIONS.items():
        for n in (400, 1000):
            yield f"{name}-{n}", seed, *make(n, noise, seed), *make(N_TEST, 0.0, 1000 + seed)
    if data is not None:
        with gzip.open(data / "strings" / "mol_bbbp.csv.gz", "rt", newline="") as file:
            smiles = [row["smiles"] for row in csv.DictReader(file)]
        values = np.array([log_wiener_index(text) for text in smiles])
        known = np.flatnonzero(np.isfinite(values))
        train, test = train_test_split(known, train_size=1000, random_state=seed)
        strings = [[smiles[row] for row in rows] for rows in (train, test)]
        yield "molecules", seed, strings[0], values[train], strings[1], values[test]
    make, noise = FUNCTIONS["friedman1"]
    if seed == 0:
        yield f"friedman1-{N_LARGE}", seed, *make(N_LARGE, noise, seed), *make(20_000, 0.0, 1000 + seed)


def standardized(model: Any) -> Any:
    return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())


def searched(model: Any, grid: dict[str, Any]) -> Any:
    return GridSearchCV(model, grid, cv=5, scoring="neg_mean_squared_error", n_jobs=1)


def of_strings(model: Any, grid: dict[str, Any]) -> Any:
    counts = CountVectorizer(analyzer="char", lowercase=False, binary=True)
    name = type(model).__name__.lower()
    inner = {f"{name}__{key}": values for key, values in grid.items()}
    inner["countvectorizer__ngram_range"] = [(1, n) for n in (2, 3, 4)]
    pipe = make_pipeline(counts, Tanimoto(), model)
    return TransformedTargetRegressor(searched(pipe, inner), transformer=StandardScaler())


def kernel_ridge(X: Any) -> Any:
    alphas = {"alpha": np.geomspace(1e-5, 10, 7)}
    if isinstance(X, list):
        return of_strings(KernelRidge(kernel="precomputed"), alphas)
    return standardized(
        searched(KernelRidge(kernel="rbf"), {"gamma": np.geomspace(1e-3, 1, 7) * 4 / X.shape[1], **alphas})
    )


def support_vectors(X: Any) -> Any:
    grid = {"C": np.geomspace(0.1, 1000, 5), "epsilon": [0.01, 0.05, 0.2]}
    if isinstance(X, list):
        return of_strings(SVR(kernel="precomputed"), grid)
    return standardized(searched(SVR(), {"gamma": np.geomspace(1e-2, 1, 5) * 2 / X.shape[1], **grid}))


def process(X: Any) -> Any:
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.ones(X.shape[1]), (1e-2, 1e3)) + WhiteKernel(0.1, (1e-6, 10))
    return standardized(GaussianProcessRegressor(kernel, random_state=0))


OURS: dict[str, Callable[[], Any]] = {
    "BasisExpansionRegressor": lambda: BasisExpansionRegressor(random_state=0, n_jobs=1),
    "ThinPlateRegressor": lambda: ThinPlateRegressor(random_state=0, n_jobs=1),
}
ENGINES: dict[str, Callable[[Any], Any]] = {
    **{name: lambda X, make=make: make() for name, make in OURS.items()},
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
    record = {"rmse": rmse, "cpu_seconds": seconds}
    if isinstance(model, BasisExpansionRegressor | ThinPlateRegressor):
        results = model.cv_results_
        left_out = results["mean_test_neg_root_mean_squared_error"][results["param_C"] == model.C_]
        record |= {"loo_rmse": -float(left_out[0]), "chosen": model.similarity_}
    return record


def nystroem() -> Any:
    """1,000 bases, with gamma and alpha chosen on 4,000 rows."""
    grid = {"nystroem__gamma": np.geomspace(1e-3, 1, 7) * 0.4, "ridge__alpha": np.geomspace(1e-5, 10, 7)}
    return Chosen(searched(make_pipeline(StandardScaler(), Nystroem(n_components=1000, random_state=0), Ridge()), grid))


class Chosen:
    """A search on 4,000 rows, refitted on all."""

    def __init__(self, search: GridSearchCV) -> None:
        self.search = search

    def fit(self, X: Any, y: Any) -> Any:
        return self.search.fit(X[:4000], y[:4000]).best_estimator_.fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of data sets, with strings/mol_bbbp.csv.gz")
    usual = Path(__file__).parent / "results" / f"{datetime.now(UTC).date().isoformat()}.json"
    parser.add_argument("--out", type=Path, default=usual)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--tasks", nargs="*", help="those whose names begin so")
    parser.add_argument("--engines", nargs="*", default=[*ENGINES, LARGE_PEER])
    parser.add_argument("--untimed", action="store_true", help="keep no seconds: the machine does other work")
    arguments = parser.parse_args()
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": platform.processor() or platform.machine(),
        "widemargin": widemargin.__version__,
        "scikit-learn": sklearn.__version__,
    }
    kept = json.loads(arguments.out.read_text())["results"] if arguments.out.exists() else []
    results = {(one["task"], one["seed"], one["engine"]): one for one in kept}
    all_tasks = (task for seed in arguments.seeds for task in tasks(arguments.data, seed))
    for task, seed, X, y, X_test, y_test in all_tasks:
        if arguments.tasks and not task.startswith(tuple(arguments.tasks)):
            continue
        for engine in arguments.engines:
            is_large = len(y) == N_LARGE
            is_vectors = not isinstance(X, list)
            if engine == LARGE_PEER and not is_large:
                continue
            if is_large and engine not in (*OURS, LARGE_PEER):
                continue
            if engine == "GaussianProcessRegressor" and not (is_vectors and len(y) <= MAX_PROCESS_SAMPLES):
                continue
            if engine == "ThinPlateRegressor" and not is_vectors:
                continue
            make = nystroem if engine == LARGE_PEER else lambda engine=engine, X=X: ENGINES[engine](X)
            record = measured(make, X, y, X_test, y_test)
            if arguments.untimed:
                del record["cpu_seconds"]
            results[task, seed, engine] = {"task": task, "seed": seed, "engine": engine, **record}
            print(results[task, seed, engine], flush=True)
            arguments.out.parent.mkdir(exist_ok=True)
            text = json.dumps({"facts": facts, "results": list(results.values())}, indent=1)
            arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
