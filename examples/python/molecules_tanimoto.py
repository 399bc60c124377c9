"""
Molecules by the Tanimoto similarity
====================================

Molecules: the Tanimoto similarity of fingerprints (shared bits over all bits), compared with a linear SVM on bits.

Fingerprints encode the substructures of a molecule. The table may contain them as columns of 0 and 1 or as one column
of hexadecimal digits; from SMILES strings, widemargin computes its own: n-grams of characters, hashed to bits.

.. code-block:: sh

    python molecules_tanimoto.py                                        # fingerprints with planted substructures
    python molecules_tanimoto.py --data bbbp.csv --label p_np --out .   # a column `smiles`, `fingerprint`, or bits

Expect 82 % for Tanimoto and 69 % for the linear SVM, because the planted substructures interact. On BBBP of
MoleculeNet, 2,039 SMILES: 90.2 % against 89.8 %, and an area under the ROC curve of 0.962 against 0.940.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from widemargin import BasisExpansionSVC


def make_fingerprints(n: int, n_bits: int = 1024, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Molecules with a few of 24 groups; one makes them active, a second reverses its effect."""
    rng = np.random.default_rng(seed)
    groups = np.stack([np.isin(np.arange(n_bits), rng.choice(n_bits, 24, replace=False)) for _ in range(24)])
    has = rng.random((n, 24)) < 0.15
    has[:, :2] = rng.random((n, 2)) < (0.5, 0.3)
    bits = (has.astype(int) @ groups.astype(int)) > 0
    # Not every molecule has every bit of a group, and all have some random bits.
    bits &= rng.random((n, n_bits)) < 0.8
    bits |= rng.random((n, n_bits)) < rng.beta(0.3, 8, n_bits)
    return bits, (has[:, 0] != has[:, 1]).astype(int)


def load(path: Path, label: str | None) -> tuple[Any, np.ndarray]:
    """Bits, or SMILES, and labels; the label column is the last unless specified."""
    if not path.is_file():
        raise SystemExit(f"{path} is not a file: --data needs a .csv or .csv.gz with a header")
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        header, *rows = csv.reader(file)
    label = label or header[-1]
    if label not in header:
        raise SystemExit(f"{path} has no column {label!r}, but {', '.join(header[:20])}: name one by --label")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    y = np.array(columns.pop(label))
    if "smiles" in columns:
        return list(columns["smiles"]), y
    try:
        if "fingerprint" in columns:
            packed = np.array([list(bytes.fromhex(one)) for one in columns["fingerprint"]], dtype=np.uint8)
            return np.unpackbits(packed, axis=1).astype(bool), y
        return np.array(list(columns.values()), dtype=np.uint8).T.astype(bool), y
    except ValueError as error:
        raise SystemExit(f"{path} has neither a column 'smiles' nor 'fingerprint' nor bits alone: {error}") from None


def draw(truth: np.ndarray, scores: dict[str, np.ndarray], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.6, 4.6), layout="constrained")
    for (name, values), color, style in zip(scores.items(), ("#D55E00", "#0072B2"), ("--", "-"), strict=True):
        false, true, _ = roc_curve(truth, values)
        area = roc_auc_score(truth, values)
        axes.plot(100 * false, 100 * true, style, color=color, label=f"{name} (area {area:.3f})")
    axes.plot([0, 100], [0, 100], ":", color="0.6", label="chance")
    axes.set(xlabel="false positive rate (%)", ylabel="true positive rate (%)", aspect="equal")
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a table with a header: .csv or .csv.gz")
    parser.add_argument("--label", help="the column of the labels (default: the last)")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    X, y = load(args.data, args.label) if args.data else make_fingerprints(500 if args.small else 3000)
    if len(set(y)) != 2:
        parser.error(f"this example is of two classes, the labels have {len(set(y))}: name another column by --label")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)

    are_strings = isinstance(X[0], str)
    spec = "ngrams:n=4,bits=4096/tanimoto" if are_strings else "tanimoto"
    # The linear SVM uses the best C of four.
    linear = GridSearchCV(LinearSVC(class_weight="balanced"), {"C": [0.001, 0.01, 0.1, 1.0]})
    if are_strings:
        counts = CountVectorizer(analyzer="char", ngram_range=(4, 4), lowercase=False, binary=True)
        linear = make_pipeline(counts, linear)
    tanimoto = BasisExpansionSVC(spec, n_basis=1000, C=1.0, class_weight="balanced")
    print(f"{len(X)} molecules to train on, {len(X_test)} to test; {np.mean(y == np.unique(y)[1]):.3f} of class 1")

    truth, scores = y_test == np.unique(y)[1], {}
    for name, method in (("linear", linear), ("Tanimoto", tanimoto)):
        start = time.perf_counter()
        accuracy = method.fit(X, y).score(X_test, y_test)
        scores[name] = method.decision_function(X_test)
        area, seconds = roc_auc_score(truth, scores[name]), time.perf_counter() - start
        print(f"{name:<10} accuracy {accuracy:.3f}  seconds {seconds:6.2f}  area under the ROC curve {area:.3f}")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        draw(truth, scores, args.out / "molecules_tanimoto.png")
    return accuracy


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
