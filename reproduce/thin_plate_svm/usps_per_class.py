"""USPS digits as in section 7 of the paper: λ for each class separately, and 1,500 random digits as bases.

    python usps_per_class.py --data DATA

r² log r without its linear functions, the constant kept. Leave-one-out in closed form chooses λ; the paper chooses it
by five folds. Needs 1 GiB of memory.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import Stopwatch, Study
from declared import say

# isort: split
import numpy as np

import data_sets
from choosing import machine

# One training digit in this many, and the draws of random bases.
QUICK_STEP, DRAWS, BASES = 7, 3, 1500


def main() -> int:
    study = Study(__file__, __doc__)
    warnings.simplefilter("ignore")
    split = data_sets.usps(study.data)
    step = QUICK_STEP if study.quick else 1
    train, labels = split.train[::step], split.train_labels[::step]
    n_basis = min(BASES, len(labels) // 3)
    variants = [("one λ", {}), ("λ for each class", {"C": "auto_per_class"})]
    draws = [{"n_basis": n_basis, "basis": "random", "random_state": seed} for seed in range(DRAWS)]
    variants += [(f"{n_basis:,} random bases, draw {at + 1}", draw) for at, draw in enumerate(draws)]
    rows, wrong = [], {}
    for name, parameters in variants:
        with Stopwatch() as watch:
            fitted = machine("thin_plate", polynomials="constant", **parameters).fit(train, labels)
        wrong[name] = int((fitted.predict(split.test) != split.test_labels).sum())
        values = " ".join(f"{C:.3g}" for C in np.ravel(fitted.C_))
        percent = f"{100 * wrong[name] / len(split.test_labels):.2f}"
        rows.append([name, wrong[name], percent, values, f"{watch.cpu_seconds:.0f}"])
        say(f"{name}: {wrong[name]} wrong in {watch.cpu_seconds:.0f} CPU s")
    for name in ("one λ", "λ for each class"):
        study.found(f"wrong: {name}", wrong[name])
    study.found("wrong: random bases, mean", float(np.mean([count for name, count in wrong.items() if "draw" in name])))
    text = f"{len(labels):,} digits to train on, {len(split.test_labels):,} to test on."
    study.table("USPS", text, ["bases and λ", "wrong", "%", "C", "CPU s"], rows)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
