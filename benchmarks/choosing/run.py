"""Small tables with default parameters, compared with a grid search, a random forest and LightGBM.

    python run.py --data DATA

Tables of scikit-learn, of the benchmark of Rätsch, Onoda and Müller (`ida13/NAME.npz` in DATA with X and y) and of the
UCI repository (`tabular/NAME.npz`), at most 150, 400 and 1,000 rows, 70 % to train on, five splits. `SVC` has
standardized columns, and a grid of 5 C × 5 gamma in 3 folds; ours have raw columns and default parameters, the
random forest and LightGBM (if it is installed) their defaults. CPU seconds are of fits with their search; one thread.
The last columns compare what a fit expects of itself with its score: a split is *within* if they differ by at most two
standard errors of the score.
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
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from widemargin import AutoSVC, BasisExpansionSVC, ThinPlateSVC

try:
    from lightgbm import LGBMClassifier
except ModuleNotFoundError:
    LGBMClassifier = None

HERE = Path(__file__).resolve().parent
LOADED = {"cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris, "digits": load_digits}
NAMES = ("heart", "thyroid", "diabetes", "german", "breast-cancer", "image", "ringnorm", "banana", "twonorm")
IDA = (*NAMES, "waveform", "flare-solar", "splice", "titanic")
UCI = ("sonar", "dna", "letter", "shuttle")
OURS = ("ThinPlateSVC", "BasisExpansionSVC", "AutoSVC")
SIZES, SPLITS = (150, 400, 1000), 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found, results = {}, []
    for most in SIZES:
        rows = [measured(name, *table(name, options.data, most)) for name in (*LOADED, *IDA, *UCI)]
        engines = list(rows[0]["accuracy"])
        found[most] = {"mean": means(rows, engines), "tables": rows}
        results += [
            f"## At most {most} rows",
            "",
            summary(found[most]["mean"], engines),
            "",
            *by_table(rows, engines),
            "",
        ]
    every = [row for of_size in found.values() for row in of_size["tables"]]
    results = ["## All sizes", "", summary(means(every, engines), engines), "", *results[:-1]]
    out = HERE / "results" / f"{time.strftime('%Y-%m-%d')}_choosing"
    out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    out.with_suffix(".md").write_text("\n".join(results) + "\n")
    print("\n".join(results))


def means(rows: list[dict[str, Any]], engines: list[str]) -> dict[str, Any]:
    ranks = [rankdata([-row["accuracy"][engine] for engine in engines]) for row in rows]
    mean: dict[str, Any] = {
        kind: {engine: float(np.mean([row[kind][engine] for row in rows])) for engine in rows[0][kind]}
        for kind in ("accuracy", "seconds", "expected", "within")
    }
    return {**mean, "rank": dict(zip(engines, np.mean(ranks, axis=0).tolist(), strict=True))}


def summary(mean: dict[str, Any], engines: list[str]) -> str:
    lines = [
        "| mean | accuracy, % | rank | CPU s | expects, % | within 2 standard errors, % |",
        "|---" + "|---:" * 5 + "|",
    ]
    for one in engines:
        cells = [f"{mean['accuracy'][one]:.2f}", f"{mean['rank'][one]:.2f}", f"{mean['seconds'][one]:.2f}"]
        ours = one in mean["expected"]
        cells += [f"{mean['expected'][one]:.2f}", f"{mean['within'][one]:.0f}"] if ours else ["", ""]
        lines.append(f"| {one} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_table(rows: list[dict[str, Any]], engines: list[str]) -> list[str]:
    head = ["table", *(f"{one}, %" for one in engines), *(f"{one}, CPU s" for one in engines)]
    head += [*(f"{one}, expects %" for one in OURS), "AutoSVC took"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (2 * len(engines) + len(OURS)) + "---|"]
    for row in rows:
        cells = [f"{row['accuracy'][engine]:.1f}" for engine in engines]
        cells += [f"{row['seconds'][engine]:.2f}" for engine in engines]
        cells += [f"{row['expected'][engine]:.1f}" for engine in OURS]
        lines.append(f"| {row['table']} | " + " | ".join([*cells, ", ".join(row["chosen"])]) + " |")
    return lines


def table(name: str, data: Path, most: int) -> tuple[Any, Any]:
    """At most this number of rows in an order of their own, without classes that are too small for the splits."""
    if name in LOADED:
        rows, y = LOADED[name](return_X_y=True)
    else:
        with np.load(data / ("tabular" if name in UCI else "ida13") / f"{name}.npz") as file:
            rows, y = file["X"], file["y"]
    kept = np.random.default_rng(0).permutation(len(y))[:most]
    rows, y = rows[kept], y[kept]
    names, counts = np.unique(y, return_counts=True)
    usual = np.isin(y, names[counts >= 10])
    return rows[usual], y[usual]


def measured(name: str, rows: Any, y: Any) -> dict[str, Any]:
    columns = rows.shape[1]
    grid = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-3, 1, 5) / columns}
    engines = {
        "SVC, grid": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3),
        "random forest": lambda: RandomForestClassifier(n_jobs=1, random_state=0),
        **({"LightGBM": lambda: LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)} if LGBMClassifier else {}),
        "ThinPlateSVC": lambda: ThinPlateSVC(n_jobs=1, random_state=0),
        "BasisExpansionSVC": lambda: BasisExpansionSVC(n_jobs=1, random_state=0),
        "AutoSVC": lambda: AutoSVC(n_jobs=1, random_state=0),
    }
    accuracy, seconds = (dict.fromkeys(engines, 0.0) for _ in range(2))
    expected, within = (dict.fromkeys(OURS, 0.0) for _ in range(2))
    chosen = set()
    for seed in range(SPLITS):
        train, test, a, b = train_test_split(rows, y, test_size=0.3, stratify=y, random_state=seed)
        for engine, make in engines.items():
            started = time.process_time()
            fitted = make().fit(train, a)
            seconds[engine] += (time.process_time() - started) / SPLITS
            score = fitted.score(test, b)
            accuracy[engine] += 100 * score / SPLITS
            if engine in OURS:
                expected[engine] += 100 * fitted.estimated_score_ / SPLITS
                # With two samples more on either side, so that no error at all has a standard error too.
                share = (score * len(b) + 2) / (len(b) + 4)
                error = np.sqrt(share * (1 - share) / (len(b) + 4))
                within[engine] += 100 * float(abs(fitted.estimated_score_ - score) <= 2 * error) / SPLITS
        chosen.add(fitted.method_)
    measures = {"accuracy": accuracy, "seconds": seconds, "expected": expected, "within": within}
    return {"table": name, **measures, "chosen": sorted(chosen)}


if __name__ == "__main__":
    main()
