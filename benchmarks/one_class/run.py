"""One class of a table as normal: which detector tells the others best, and what share of new normal samples it takes
for them."""

from __future__ import annotations

import argparse
import datetime
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from widemargin import BasisExpansionOneClass

# Samples of each kind, at most.
MAX_SIZE = 2000

DETECTORS = {
    "ours": lambda: BasisExpansionOneClass(random_state=0, n_jobs=1),
    "one-class SVM": lambda: OneClassSVM(),
    "isolation forest": lambda: IsolationForest(random_state=0, n_jobs=1),
    "local outlier factor": lambda: LocalOutlierFactor(novelty=True, n_jobs=1),
}
IDA = ["banana", "breast-cancer", "diabetes", "german-numeric24", "heart"]
IDA += ["image", "ringnorm", "thyroid", "twonorm", "waveform"]


def classes(data: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, samples, and which of them are normal."""
    for name in IDA:
        arrays = np.load(data / "ida13" / f"{name}.npz")
        for side in (-1, 1):
            yield f"{name} {side:+d}", arrays["X"].astype(float), arrays["y"] == side
    arrays = np.load(data / "tabular" / "sonar.npz")
    yield "sonar", arrays["X"], arrays["y"] == 1
    arrays = np.load(data / "tabular" / "letter.npz")
    for letter in (0, 6, 14):
        yield f"letter {letter}", arrays["X"].astype(float), arrays["y"] == letter
    arrays = np.load(data / "tabular" / "shuttle.npz")
    parts = [part for part in ("", "_train", "_test") if f"X{part}" in arrays.files]
    X, y = (np.concatenate([arrays[f"{kind}{part}"] for part in parts]) for kind in "Xy")
    yield "shuttle", X.astype(float), y == np.bincount(y).argmax()
    X, y = load_digits(return_X_y=True)
    for digit in (0, 1, 8):
        yield f"digit {digit}", X, y == digit
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer of Wisconsin", X, y == 1


def split(X: np.ndarray, is_normal: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half of the normal samples, standardized; the others with all that are not, and which of these are normal."""
    rng = np.random.default_rng(0)
    normal, others = (rng.permutation(np.flatnonzero(which))[:MAX_SIZE] for which in (is_normal, ~is_normal))
    half = len(normal) // 2
    scaler = StandardScaler().fit(X[normal[:half]])
    there = np.repeat([1, 0], [len(normal) - half, len(others)])
    return scaler.transform(X[normal[:half]]), scaler.transform(X[np.concatenate([normal[half:], others])]), there


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of data sets")
    found, false, seconds = [], [], np.zeros(len(DETECTORS))
    print(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {platform.machine()}, one thread. ROC AUC:\n")
    print(f"| normal class | {' | '.join(DETECTORS)} | normal samples beyond the threshold |")
    print(f"|---|{'---|' * (len(DETECTORS) + 1)}")
    for name, X, is_normal in classes(parser.parse_args().data):
        train, test, there = split(X, is_normal)
        areas = []
        for at, make in enumerate(DETECTORS.values()):
            started = time.process_time()
            detector = make().fit(train)
            areas.append(roc_auc_score(there, detector.score_samples(test)))
            seconds[at] += time.process_time() - started
            if at == 0:
                false.append((detector.predict(test[there == 1]) == -1).mean())
        found.append(areas)
        print(f"| {name} | {' | '.join(f'{area:.3f}' for area in areas)} | {100 * false[-1]:.1f} % |")
    means, ranks = np.mean(found, axis=0), np.mean([rankdata(-np.array(areas)) for areas in found], axis=0)
    print(f"| mean | {' | '.join(f'{area:.3f}' for area in means)} | {100 * np.mean(false):.1f} % |")
    print(f"| mean rank | {' | '.join(f'{rank:.2f}' for rank in ranks)} | |")
    print(f"| CPU seconds | {' | '.join(f'{second:.2f}' for second in seconds)} | |")


if __name__ == "__main__":
    main()
