"""How good a few bases are: evenly spaced ones, those with the largest weights, and those that an L1 penalty keeps.

    python run.py --data DATA

On scikit-learn's digits, the letters of the UCI repository (`tabular/letter.npz` in DATA, with X and y) and the digits
of USPS (`usps/usps.npz`, with X_train, y_train, X_test and y_test), at most 5,000 training and 5,000 test rows: RBF,
the gamma that it learns, C = 1.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import widemargin as wm

HERE = Path(__file__).resolve().parent
MAX_SIZE, ALL, SIZES = 5000, 1000, (30, 100, 300)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parsed = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [row for name in ("digits", "letter", "usps") for row in measured(name, *read(name, parsed.data))]
    text = "\n".join(
        ["| data | bases | how | accuracy % |", "| --- | ---: | --- | ---: |"]
        + [f"| {r['data']} | {r['bases']} | {r['how']} | {r['accuracy']:.2f} |" for r in rows]
    )
    out = HERE / "results" / f"{time.strftime('%Y-%m-%d')}_sparse_bases"
    out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    out.with_suffix(".md").write_text(text + "\n")
    print(text)


def measured(name: str, train: Any, y: Any, test: Any, z: Any) -> list[dict[str, Any]]:
    n_basis = min(ALL, len(train))
    rows = []

    def fit(how: str, **options: Any) -> wm.BasisExpansionSVC:
        model = wm.BasisExpansionSVC(similarity, **options).fit(train, y)
        accuracy = 100 * model.score(test, z)
        rows.append({"data": name, "bases": len(model.basis_indices_), "how": how, "accuracy": accuracy})
        return model

    similarity = "rbf"
    similarity = fit("evenly spaced", n_basis=n_basis).similarity_
    for size in SIZES:
        fit("evenly spaced", n_basis=size)
        fit(f"max_basis, of {n_basis}", n_basis=n_basis, max_basis=size)
    for c in (0.03, 0.1, 0.3):
        model = fit(f"penalty l1 at C = {c}, of {n_basis}", n_basis=n_basis, penalty="l1", C=c, tol=1e-2)
        kept = model.basis_indices_
        fit("these, fitted again", basis=kept)
        fit("as many, evenly spaced", n_basis=len(kept))
    return rows


def read(name: str, data: Path) -> tuple[Any, Any, Any, Any]:
    if name == "digits":
        digits, y = load_digits(return_X_y=True)
        return digits[:1000], y[:1000], digits[1000:], y[1000:]
    if name == "letter":
        file = np.load(data / "tabular/letter.npz")
        values, y = file["X"].astype(np.float64), file["y"]
        return values[:MAX_SIZE], y[:MAX_SIZE], values[-MAX_SIZE:], y[-MAX_SIZE:]
    file = np.load(data / "usps/usps.npz")
    parts = [file[part] for part in ("X_train", "y_train", "X_test", "y_test")]
    return (
        parts[0][:MAX_SIZE].astype(np.float64),
        parts[1][:MAX_SIZE],
        parts[2][:MAX_SIZE].astype(np.float64),
        parts[3][:MAX_SIZE],
    )


if __name__ == "__main__":
    main()
