"""Probabilities compared with scikit-learn's calibration by folds: log loss, Brier score, expected calibration
error.

    python run.py --data DATA

Tables of scikit-learn and of the benchmark of Rätsch, Onoda and Müller (`ida13/NAME.npz` in DATA with X and y),
letters and DNA of the UCI repository (`tabular/NAME.npz`), visual words of Scene-15 and counts of words of 20
Newsgroups (`bow/`), strings (`strings/`) and time series (`ucr/`); at most 1,500 rows, 60 % to train on; default
parameters; classes of fewer than ten of these rows are left out. *Ours* is `predict_proba`, *folds*
`CalibratedClassifierCV(cv=5)` around the same estimator: sigmoids on five fits, whose probabilities are
averaged. The expected calibration error is that of the largest probability in 15 bins of equal width. CPU seconds of
`fit`, the least of three, in one thread.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import lzma
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import widemargin
from widemargin import BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC

HERE = Path(__file__).resolve().parent
MAX_SIZE = 1500
TABLES = {"cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
IDA = ("banana", "diabetes", "flare-solar", "german", "heart", "image", "ringnorm", "splice", "thyroid", "waveform")
SERIES = ("ECG5000", "TwoPatterns", "ItalyPowerDemand", "MelbournePedestrian")
STRINGS = ("promoters", "splice_junctions", "sms_spam")
NAMES = {"thin plate": ThinPlateSVC, "basis expansion": BasisExpansionSVC, "power mean": PowerMeanSVC}
# Classes with fewer rows are left out.
FEWEST = 10
# The letters of the comparison with SVC: its usual split has 15,000.
LETTERS = 15_000
# The training and test digits of MNIST in the comparison with SVC.
DIGITS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--without-letters", action="store_true", help="leave out the 15,000 letters and MNIST")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for facts, estimator, split in cases(options.data):
        rows.append({**facts, **measured(estimator, *split)})
        print(rows[-1], flush=True)
    comparisons = [beside_svc("digits", *halves(*load_digits(return_X_y=True), most=2000))]
    if not options.without_letters:
        z = np.load(options.data / "tabular" / "letter.npz")
        X, y = z["X"].astype(float), z["y"]
        comparisons.append(beside_svc("letter", X[:LETTERS], X[LETTERS:], y[:LETTERS], y[LETTERS:]))
        with lzma.open(options.data / "mnist" / "mnist.npz.xz") as file:
            z = np.load(io.BytesIO(file.read()))
        X, X_test = (z[part][:DIGITS].reshape(DIGITS, -1) / 255.0 for part in ("X_train", "X_test"))
        comparisons.append(beside_svc("mnist", X, X_test, z["y_train"][:DIGITS], z["y_test"][:DIGITS], scaled=True))
    day = time.strftime("%Y-%m-%d")
    record = {"version": widemargin.__version__, "rows": rows, "beside_svc": comparisons}
    (options.out / f"{day}_calibration.json").write_text(json.dumps(record, indent=1) + "\n")
    (options.out / f"{day}_calibration.md").write_text(summary(rows, comparisons))


def halves(X: Any, y: Any, most: int = MAX_SIZE) -> tuple[Any, Any, Any, Any]:
    some = np.random.default_rng(0).permutation(len(y))[:most]
    # Calibration by five folds takes five samples of each class.
    classes, counts = np.unique(y[some], return_counts=True)
    some = some[np.isin(y[some], classes[counts >= FEWEST])]
    X = [X[i] for i in some] if isinstance(X, list) else X[some]
    return tuple(train_test_split(X, y[some], train_size=0.6, random_state=0, stratify=y[some]))


def cases(data: Path) -> Iterator[tuple[dict[str, str], Any, tuple[Any, Any, Any, Any]]]:
    """The description of each, the estimator, and X, X_test, y, y_test."""

    def of(kind: str, name: str, split: tuple[Any, ...], methods: tuple[str, ...]) -> Iterator[Any]:
        for method in methods:
            yield {"kind": kind, "data": name, "method": method}, NAMES[method](random_state=0, n_jobs=1), split

    both = ("thin plate", "basis expansion")
    for name, load in TABLES.items():
        yield from of("tables", name, halves(*load(return_X_y=True)), tuple(NAMES))
    for name in IDA:
        z = np.load(data / "ida13" / f"{name}.npz")
        yield from of("tables", name, halves(z["X"], z["y"]), both)
    for name in ("letter", "dna"):
        z = np.load(data / "tabular" / f"{name}.npz")
        yield from of("tables", name, halves(z["X"].astype(float), z["y"]), (*both, "power mean"))
    z = np.load(data / "bow" / "scene15_words.npz")
    words = np.stack([np.bincount(grid, minlength=400) for grid in z["words"].reshape(len(z["y"]), -1)])
    yield from of("words", "scene15", halves(words.astype(float), z["y"]), ("basis expansion", "power mean"))
    z = np.load(data / "bow" / "news20_w1000.npz")
    counts = csr_matrix((z["train_data"], z["train_indices"], z["train_indptr"]), shape=(len(z["y_train"]), 1000))
    yield from of("words", "news20", halves(counts.astype(float), z["y_train"]), ("basis expansion", "power mean"))
    for name in STRINGS:
        with gzip.open(data / "strings" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
            text = file.read()
        table = [line.split("\t") for line in text.rstrip("\n").split("\n")[1:]]
        strings, labels = [row[-1].strip() for row in table], np.array([row[0] for row in table])
        yield from of("strings", name, halves(strings, labels, 1000), ("basis expansion",))
    for name in SERIES:
        z = np.load(data / "ucr" / f"{name}.npz")
        X, y = np.concatenate([z["X_train"], z["X_test"]]), np.concatenate([z["y_train"], z["y_test"]])
        series = [one[np.isfinite(one)] for one in X]
        yield from of("series", name, halves(series, y, 1000), ("basis expansion",))


def seconds(estimator: Any, X: Any, y: Any) -> float:
    found = []
    for _ in range(3):
        start = time.process_time()
        clone(estimator).fit(X, y)
        found.append(time.process_time() - start)
    return min(found)


def scores(y: Any, P: Any, classes: Any) -> dict[str, float]:
    codes = np.searchsorted(classes, y)
    largest, right = P.max(axis=1), P.argmax(axis=1) == codes
    bins = np.minimum((15 * largest).astype(int), 14)
    gaps = [abs((largest[bins == at] - right[bins == at]).sum()) for at in range(15)]
    return {
        "log_loss": float(log_loss(codes, P, labels=np.arange(len(classes)))),
        "brier": float(np.square(P - np.eye(len(classes))[codes]).sum(axis=1).mean()),
        "ece": float(sum(gaps) / len(codes)),
        "accuracy": float(right.mean()),
    }


def measured(estimator: Any, X: Any, X_test: Any, y: Any, y_test: Any) -> dict[str, Any]:
    fitted = clone(estimator).fit(X, y)
    start = time.process_time()
    folds = CalibratedClassifierCV(clone(estimator), cv=5).fit(X, y)
    spent = time.process_time() - start
    return {
        "n": len(y),
        "classes": len(fitted.classes_),
        "ours": {**scores(y_test, fitted.predict_proba(X_test), fitted.classes_), "seconds": seconds(estimator, X, y)},
        "folds": {**scores(y_test, folds.predict_proba(X_test), folds.classes_), "seconds": spent},
    }


def beside_svc(name: str, X: Any, X_test: Any, y: Any, y_test: Any, scaled: bool = False) -> dict[str, Any]:
    """Ours and SVC with C = 10, a good value for all, calibrated by folds; columns are standardized, or *scaled*."""
    found: dict[str, Any] = {"data": name, "n": len(y)}
    scaler = "passthrough" if scaled else StandardScaler()
    svc = make_pipeline(scaler, CalibratedClassifierCV(SVC(C=10.0, cache_size=1000), cv=5))
    engines = {"SVC, folds": svc, "BasisExpansionSVC": BasisExpansionSVC(random_state=0, n_jobs=1)}
    if len(y) < 5000:
        engines["ThinPlateSVC"] = ThinPlateSVC(random_state=0, n_jobs=1)
    for engine, estimator in engines.items():
        start = time.process_time()
        estimator.fit(X, y)
        spent = time.process_time() - start
        found[engine] = {**scores(y_test, estimator.predict_proba(X_test), estimator.classes_), "seconds": spent}
        print(name, engine, found[engine], flush=True)
    return found


def summary(rows: list[dict[str, Any]], comparisons: list[dict[str, Any]]) -> str:
    lines = [
        "# Probabilities compared with calibration by folds",
        "",
        f"Widemargin {widemargin.__version__}; default parameters; CPU seconds in one thread. See run.py.",
        "",
        "| kind | data | method | n | classes | log loss | folds | Brier | folds | ECE, % | folds "
        "| CPU s of a fit | folds |",
        f"|---|---|---|{'---:|' * 10}",
    ]

    def line(facts: str, of: list[dict[str, Any]]) -> str:
        def mean(engine: str, kind: str) -> float:
            return float(np.mean([one[engine][kind] for one in of]))

        pairs = [f"{mean('ours', kind):.4f} | {mean('folds', kind):.4f}" for kind in ("log_loss", "brier")]
        ece = f"{100 * mean('ours', 'ece'):.1f} | {100 * mean('folds', 'ece'):.1f}"
        spent = f"{mean('ours', 'seconds'):.2f} | {mean('folds', 'seconds'):.2f}"
        return f"| {facts} | {' | '.join(pairs)} | {ece} | {spent} |"

    for row in rows:
        facts = " | ".join(str(row[fact]) for fact in ("kind", "data", "method", "n", "classes"))
        lines.append(line(facts, [row]))
    for kind in ("tables", "words", "strings", "series"):
        lines.append(line(f"**{kind}** | mean | | |", [row for row in rows if row["kind"] == kind]))
    for method in NAMES:
        lines.append(line(f"**all** | mean | {method} | |", [row for row in rows if row["method"] == method]))
    lines += [
        line("**all** | mean | | |", rows),
        "",
        "Compared with `SVC(C=10)`, calibrated by folds, on standardized columns (MNIST: on pixels of at most 1):",
        "",
    ]
    lines += [
        "| data | n | engine | log loss | Brier | ECE, % | accuracy, % | CPU s |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in comparisons:
        for engine in (name for name in row if isinstance(row[name], dict)):
            one = row[engine]
            lines.append(
                f"| {row['data']} | {row['n']} | {engine} | {one['log_loss']:.4f} | {one['brier']:.4f} "
                f"| {100 * one['ece']:.1f} | {100 * one['accuracy']:.2f} | {one['seconds']:.1f} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
