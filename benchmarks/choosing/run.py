"""Small tables with nothing given, beside a grid search and a random forest.

    python run.py --data DATA

Tables of scikit-learn and of the benchmark of Rätsch, Onoda and Müller (`ida13/NAME.npz` in DATA with X and y), at most
1,000 rows, 70 % to train on, two splits. `SVC` has standardised columns and a grid of 5 C × 5 gamma in 3 folds; ours
have the columns as they are and nothing given, the random forest its defaults. CPU seconds are of fits with their
search; one thread. The last columns compare what a fit expects of itself with its score.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from widemargin import AutoSVC, BasisExpansionSVC, ThinPlateSVC

HERE = Path(__file__).resolve().parent
LOADED = {"cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}
NAMES = ("heart", "thyroid", "diabetes", "german", "breast-cancer", "image", "ringnorm", "banana", "twonorm")
READ = (*NAMES, "waveform", "flare-solar", "splice")
OURS = ("ThinPlateSVC", "BasisExpansionSVC", "AutoSVC")
MOST, SPLITS = 1000, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [measured(name, *table(name, asked.data)) for name in (*LOADED, *READ)]
    engines = list(rows[0]["accuracy"])
    mean: dict[str, Any] = {
        kind: {engine: float(np.mean([row[kind][engine] for row in rows])) for engine in rows[0][kind]}
        for kind in ("accuracy", "seconds", "expected")
    }
    rows.append({"table": "mean", **mean, "chosen": []})
    head = ["table", *(f"{one}, %" for one in engines), *(f"{one}, CPU s" for one in engines)]
    head += [*(f"{one}, expects %" for one in OURS), "AutoSVC took"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (2 * len(engines) + len(OURS)) + "---|"]
    for row in rows:
        cells = [f"{row['accuracy'][engine]:.1f}" for engine in engines]
        cells += [f"{row['seconds'][engine]:.2f}" for engine in engines]
        cells += [f"{row['expected'][engine]:.1f}" for engine in OURS]
        lines.append(f"| {row['table']} | " + " | ".join([*cells, ", ".join(row["chosen"])]) + " |")
    out = HERE / "results" / f"{time.strftime('%Y-%m-%d')}_choosing"
    out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def table(name: str, data: Path) -> tuple[Any, Any]:
    if name in LOADED:
        return LOADED[name](return_X_y=True)
    file = np.load(data / "ida13" / f"{name}.npz")
    return file["X"][:MOST], file["y"][:MOST]


def measured(name: str, rows: Any, y: Any) -> dict[str, Any]:
    columns = rows.shape[1]
    grid = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-3, 1, 5) / columns}
    engines = {
        "SVC, grid": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3),
        "random forest": lambda: RandomForestClassifier(n_jobs=1, random_state=0),
        "ThinPlateSVC": lambda: ThinPlateSVC(n_jobs=1, random_state=0),
        "BasisExpansionSVC": lambda: BasisExpansionSVC(n_jobs=1, random_state=0),
        "AutoSVC": lambda: AutoSVC(n_jobs=1, random_state=0),
    }
    accuracy, seconds = ({engine: 0.0 for engine in engines} for _ in range(2))
    expected = {engine: 0.0 for engine in engines if engine in OURS}
    chosen = set()
    for seed in range(SPLITS):
        train, test, a, b = train_test_split(rows, y, test_size=0.3, stratify=y, random_state=seed)
        for engine, make in engines.items():
            started = time.process_time()
            fitted = make().fit(train, a)
            seconds[engine] += (time.process_time() - started) / SPLITS
            accuracy[engine] += 100 * fitted.score(test, b) / SPLITS
            if engine in OURS:
                expected[engine] += 100 * fitted.estimated_score_ / SPLITS
        chosen.add(fitted.method_)
    return {"table": name, "accuracy": accuracy, "seconds": seconds, "expected": expected, "chosen": sorted(chosen)}


if __name__ == "__main__":
    main()
