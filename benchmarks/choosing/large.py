"""Letters and MNIST with default parameters: from untouched samples to a model.

    python large.py --data DATA

DATA has `tabular/letter.npz` (15,000 rows to train on, 5,000 to test) and `mnist/mnist.npz.xz` (60,000 and 10,000,
pixels divided by 255). CPU seconds are of `fit`, with all that it chooses; one thread.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from widemargin import BasisExpansionSVC

HERE = Path(__file__).resolve().parent


def tasks(data: Path) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    letter = np.load(data / "tabular" / "letter.npz")
    rows, labels = letter["X"].astype(np.float32), letter["y"]
    yield "letter", rows[:15000], labels[:15000], rows[15000:], labels[15000:]
    mnist = np.load(io.BytesIO(lzma.decompress((data / "mnist" / "mnist.npz.xz").read_bytes())))
    train, test = ((mnist[name].reshape(-1, 784) / 255).astype(np.float32) for name in ("X_train", "X_test"))
    yield "MNIST", train, mnist["y_train"], test, mnist["y_test"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    rows = []
    for name, train, y, test, truth in tasks(options.data):
        started = time.process_time()
        model = BasisExpansionSVC(n_jobs=1, random_state=0).fit(train, y)
        seconds = time.process_time() - started
        stages = {stage["name"]: stage["seconds"] for stage in model.report_["stages"]}
        tried = float(np.nansum(model.cv_results_["mean_fit_time"]))
        rows.append(
            {
                "task": name,
                "accuracy": 100 * model.score(test, truth),
                "expected": 100 * model.estimated_score_,
                "seconds": seconds,
                "search": tried,
                "stages": stages,
                "similarities": np.atleast_1d(model.similarity_).tolist(),
                "n_basis": len(model.basis_indices_),
                "C": model.C_,
            }
        )
    lines = [
        "| task | accuracy, % | expects, % | CPU s in all | search | features | C | fit | held out | chosen | bases |",
        "|---|" + "---:|" * 8 + "---|---:|",
    ]
    for row in rows:
        stages = row["stages"]
        of = [row["search"], *(stages[name] for name in ("similarity", "choose C", "solve", "hold out"))]
        cells = [
            f"{row['accuracy']:.2f}",
            f"{row['expected']:.2f}",
            f"{row['seconds']:.1f}",
            *(f"{one:.1f}" for one in of),
        ]
        cells += [" + ".join(row["similarities"]), str(row["n_basis"])]
        lines.append(f"| {row['task']} | " + " | ".join(cells) + " |")
    out = HERE / "results" / f"{time.strftime('%Y-%m-%d')}_large"
    out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
