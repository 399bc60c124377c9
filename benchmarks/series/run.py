"""Time series: MiniRocket with three classifiers, compared with what the basis expansion SVM chooses, and aeon's.

    python run.py --data DATA [--only NAME ...] [--engines ENGINE ...]

Each `ucr/NAME.npz` in DATA has X_train, y_train, X_test, y_test as published; where lengths differ also len_train and
len_test. All training series are bases, at most 4,000. CPU seconds are of the fit with all that it chooses, and of the
prediction of the test series; one thread. A run adds to the results of the day.

Where aeon is installed, there are also its MiniRocket with its ridge classifier, and the nearest neighbor by DTW
without a window (where that takes at most 2 · 10^10 steps), both compiled beforehand on other series. MiniRocket takes
no unequal lengths: there it has zeros at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from widemargin import BasisExpansionSVC

try:
    from aeon.classification.convolution_based import MiniRocketClassifier
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier
except ModuleNotFoundError:
    MiniRocketClassifier = None

HERE = Path(__file__).resolve().parent
MAX_BASES = 4000
MAX_STEPS = 2e10


def expansion(similarity: str | list[str], normalization: str) -> Callable[[], BasisExpansionSVC]:
    given = {"n_basis": MAX_BASES, "normalization": normalization, "n_jobs": 1, "random_state": 0}
    return lambda: BasisExpansionSVC(similarity, **given)


ENGINES = {
    "minirocket/linear": expansion("minirocket/linear", "nystroem"),
    "minirocket/distance": expansion("minirocket/distance", "centered"),
    "minirocket/features": expansion("minirocket/features", "z_score"),
    "minirocket and hydra/features": expansion(["minirocket/features", "hydra/features"], "z_score"),
    "a fourth of both/features": expansion(
        ["minirocket:features=2500/features", "hydra:groups=16/features"], "z_score"
    ),
    "default parameters": lambda: BasisExpansionSVC(n_jobs=1, random_state=0),
}
NEIGHBOR = "aeon, nearest by DTW"
if MiniRocketClassifier is not None:
    ENGINES["aeon, MiniRocket and ridge"] = lambda: MiniRocketClassifier(random_state=0)
    ENGINES[NEIGHBOR] = lambda: KNeighborsTimeSeriesClassifier(distance="dtw", n_neighbors=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if MiniRocketClassifier is not None:
        compiled()
    out = HERE / "results" / f"{time.strftime('%Y-%m-%d')}_series"
    kept = out.with_suffix(".json")
    rows: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    files = sorted((options.data / "ucr").glob("*.npz"), key=lambda file: file.stat().st_size)
    for file in files:
        if options.only and file.stem not in options.only:
            continue
        with np.load(file) as arrays:
            sets = [(series(arrays, part), arrays[f"y_{part}"]) for part in ("train", "test")]
        row = rows.setdefault(file.stem, {"n_train": len(sets[0][1]), "n_test": len(sets[1][1])})
        for engine in options.engines:
            if engine == NEIGHBOR and len(sets[0][1]) * len(sets[1][1]) * len(sets[0][0][0]) ** 2 > MAX_STEPS:
                continue
            row[engine] = measured(ENGINES[engine](), *sets)
            print(file.stem, engine, row[engine], flush=True)
            kept.write_text(json.dumps(rows, indent=1) + "\n")
            out.with_suffix(".md").write_text(table(rows))


def series(arrays: Any, part: str) -> Any:
    """Series (n, time, 1), or a list of (time, channels)."""
    values = arrays[f"X_{part}"]
    if f"len_{part}" in arrays:
        return np.split(values, np.cumsum(arrays[f"len_{part}"])[:-1])
    return np.stack([interpolated(one) for one in values])[:, :, None]


def interpolated(one: Any) -> Any:
    """With missing values between their neighbors, as the archive recommends."""
    missing, steps = np.isnan(one), np.arange(len(one))
    return np.where(missing, np.interp(steps, steps[~missing], one[~missing]), one).astype(np.float32)


def compiled() -> None:
    """Lets numba compile aeon's engines."""
    random = np.random.default_rng(0)
    for channels in (1, 2):
        rows = random.normal(size=(20, 30, channels)).astype(np.float32)
        for engine in ENGINES:
            if engine.startswith("aeon"):
                ENGINES[engine]().fit(theirs(rows), np.arange(20) % 2).predict(theirs(rows))


def theirs(values: Any) -> Any:
    """(n, channels, time), with zeros behind the shorter series."""
    longest = max(len(one) for one in values)
    padded = [np.pad(one, ((0, longest - len(one)), (0, 0))) for one in values]
    return np.stack(padded).transpose(0, 2, 1)


def measured(model: Any, train: Any, test: Any) -> dict[str, Any]:
    if not isinstance(model, BasisExpansionSVC):
        every = theirs([*train[0], *test[0]])
        train, test = (every[: len(train[1])], train[1]), (every[len(train[1]) :], test[1])
    start = time.process_time()
    model.fit(*train)
    fitted = time.process_time()
    found = model.predict(test[0])
    return {
        "accuracy": 100 * float(np.mean(found == test[1])),
        "fit": fitted - start,
        "predict": time.process_time() - fitted,
        "expected": None if (expected := getattr(model, "estimated_score_", None)) is None else 100 * float(expected),
        "similarity": str(getattr(model, "similarity_", "")),
    }


def table(rows: dict[str, dict[str, Any]]) -> str:
    """The sets, and the mean of each column over those with all engines that were run."""
    engines = [engine for engine in ENGINES if any(engine in row for row in rows.values())]
    whole = {name: row for name, row in rows.items() if all(engine in row for engine in engines)}
    shown = {**dict(sorted(rows.items())), f"mean of {len(whole)}": None}
    kinds = [("accuracy", "%", 1), ("fit", "fit s", 2), ("predict", "predict s", 2)]
    heads = ["set", "train", "test", *(f"{engine}, {unit}" for _, unit, _ in kinds for engine in engines), "chose"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 2) + "---|"]
    for name, row in shown.items():
        cells = [name, *((str(row["n_train"]), str(row["n_test"])) if row else ("", ""))]
        for kind, _, digits in kinds:
            for engine in engines:
                values = [one[engine][kind] for one in ([row] if row else whole.values()) if engine in one]
                cells.append(f"{np.mean(values):.{digits}f}" if values else "")
        chosen = row.get("default parameters", {}).get("similarity", "") if row else ""
        lines.append("| " + " | ".join([*cells, chosen]) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
