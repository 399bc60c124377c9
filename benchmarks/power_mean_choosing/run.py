"""The power mean SVM with p, C and the number of nodes chosen automatically, with fixed values and a grid search.

    python run.py --data DATA

Histograms are those of `reproduce/power_mean_svm` (of CIFAR-10's visual words the first 10,000 rows, made in minutes
where the cache has them not yet) and USPS; tables (`ida13/NAME.npz`, `tabular/letter.npz` in DATA) have their columns
scaled to [0, 1], and at most 2,000 rows, 60 % of them to train on. The grid search has 7 C × 3 p × 2 numbers of nodes,
by accuracy in 3 folds. CPU seconds are of fits with their search; one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import MinMaxScaler

from widemargin import PowerMeanSVC

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "reproduce" / "power_mean_svm"), str(ROOT / "benchmarks" / "power_mean")]

# isort: split
import sets

TABLES = ("diabetes", "german", "image", "ringnorm", "waveform", "splice", "letter")
MAX_SIZE = 2000
GRID = {"C": [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3], "kernel": [-8.0, -1.0, 0.0], "nodes": [3, 8]}
ENGINES = {
    "p −1, C 0.01, 3 nodes": lambda: PowerMeanSVC(kernel=-1, C=0.01, nodes=3, n_jobs=1),
    "C auto": lambda: PowerMeanSVC(kernel=-1, C="auto", nodes=3, n_jobs=1),
    "C, nodes auto": lambda: PowerMeanSVC(kernel=-1, C="auto", nodes="auto", n_jobs=1),
    "all auto": lambda: PowerMeanSVC(kernel="auto", C="auto", nodes="auto", n_jobs=1),
    "grid search": lambda: GridSearchCV(PowerMeanSVC(n_jobs=1), GRID, cv=3),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    makers = {
        "digits": lambda: of_counts(sets.digits()),
        "USPS": lambda: usps(options.data),
        "Scene-15": lambda: of_counts(sets.scene15(options.data)),
        "20 Newsgroups": lambda: of_counts(sets.newsgroups(options.data)),
        "CIFAR-10 words": lambda: of_counts(sets.cifar_words(options.data).head(10_000)),
        **{name: lambda name=name: table(name, options.data) for name in TABLES},
    }
    rows = []
    for name, make in makers.items():
        rows.append({"data": name, **measured(*make())})
        print(rows[-1], flush=True)
    kinds = ("accuracy", "seconds")
    mean = {kind: {engine: float(np.mean([row[kind][engine] for row in rows])) for engine in ENGINES} for kind in kinds}
    rows.append({"data": "mean", "rows": "", **mean, "chosen": ""})
    columns = [f"{engine}, {unit}" for unit in ("%", "s") for engine in ENGINES]
    head = ["data", "rows", *columns, "all auto"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (2 * len(ENGINES) + 1) + "---|"]
    for row in rows:
        cells = [f"{row['accuracy'][engine]:.1f}" for engine in ENGINES]
        cells += [f"{row['seconds'][engine]:.2f}" for engine in ENGINES]
        lines.append("| " + " | ".join([row["data"], str(row["rows"]), *cells, row["chosen"]]) + " |")
    out = HERE / "results" / f"{time.strftime('%Y-%m-%d')}_power_mean_choosing"
    out.with_suffix(".json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def of_counts(histograms: sets.Histograms) -> tuple[Any, Any, Any, Any]:
    return histograms.train, histograms.y_train, histograms.test, histograms.y_test


def usps(data: Path) -> tuple[Any, Any, Any, Any]:
    file = np.load(data / "usps" / "usps.npz")
    train, test = (file[name].reshape(len(file[name]), -1).astype(np.float32) for name in ("X_train", "X_test"))
    least = min(train.min(), test.min())
    return train - least, file["y_train"], test - least, file["y_test"]


def table(name: str, data: Path) -> tuple[Any, Any, Any, Any]:
    file = np.load(data / ("tabular/letter.npz" if name == "letter" else f"ida13/{name}.npz"))
    rows, y = (file[array][:MAX_SIZE] for array in ("X", "y"))
    train, test, a, b = train_test_split(rows, y, test_size=0.4, stratify=y, random_state=0)
    scaler = MinMaxScaler(clip=True).fit(train)
    return scaler.transform(train), a, scaler.transform(test), b


def measured(train: Any, a: Any, test: Any, b: Any) -> dict[str, Any]:
    accuracy, seconds, chosen = {}, {}, ""
    for engine, make in ENGINES.items():
        started = time.process_time()
        fitted = make().fit(train, a)
        seconds[engine] = time.process_time() - started
        accuracy[engine] = 100 * fitted.score(test, b)
        if engine == "all auto":
            chosen = f"kernel {fitted.similarity_}, C {fitted.C_:.2g}, {len(fitted.nodes_)} nodes"
    return {"rows": train.shape[0], "accuracy": accuracy, "seconds": seconds, "chosen": chosen}


if __name__ == "__main__":
    main()
