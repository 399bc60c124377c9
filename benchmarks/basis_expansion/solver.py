"""Times the linear solver next to LIBLINEAR -s 2 and scikit-learn's LinearSVC on the same features, one thread each.

    python solver.py --data cifar-10-batches-bin [--sizes 1000,4000] [--large]

The features are the basis expansion of CIFAR-10's first batch: hog:cell=8/rbf with 1,000 bases, or M2's four
similarities with 1,000 bases each (4,000 features); C = 1, ten classes, no intercept. `--large` adds ours alone on
50,000 x 10,000. Seconds are the peers' CPU seconds, which a loaded machine lengthens least, and the best of three wall
times of ours. Objectives are computed here, in double precision, from each program's weights. Needs numpy,
scikit-learn and liblinear-official.
"""

from __future__ import annotations

import argparse
import json
import struct
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from cifar import M2, SIMILARITIES, archive
from program import DEFAULT, Program, markdown, write

C = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--widemargin", type=Path, default=DEFAULT)
    parser.add_argument("--sizes", default="1000,4000")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--cache", type=Path, help="keep the features here")
    arguments = parser.parse_args()
    program = Program(arguments.widemargin)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        cache = arguments.cache or Path(folder)
        cache.mkdir(exist_ok=True, parents=True)
        for size in map(int, arguments.sizes.split(",")):
            features = expansion(program, archive(cache / "first.npz", arguments.data, "data_batch_1"), size, cache)
            # scikit-learn wraps LIBLINEAR: once is enough.
            rows += compared(program, features, size, cache, size <= 1000)
        if arguments.large:
            batches = [f"data_batch_{batch}" for batch in range(1, 6)]
            features = expansion(program, archive(cache / "whole.npz", arguments.data, *batches), 10_000, cache)
            rows.append(ours(Program(arguments.widemargin, 0), features, cache, 1e-3)[0])
    heads = ["", "samples x features", "seconds", "times ours", "objective above the least"]
    cells = [
        [
            row["engine"],
            f"{row['samples']:,} x {row['features']:,}",
            f"{row['seconds']:.2f}",
            f"{row.get('times_ours', 1):.0f}",
            f"{row.get('above', 0):.1e}",
        ]
        for row in rows
    ]
    write("solver", {"rows": rows}, markdown(heads, cells))


def expansion(program: Program, images: Path, size: int, cache: Path) -> Path:
    """The features as an .npz with their labels."""
    features, model = cache / f"phi_{size}.npz", cache / f"phi_{size}.model"
    if not features.is_file():
        names = ["H8R"] if size == 1000 else M2
        joined = "+".join(SIMILARITIES[name] for name in names)
        fast = Program(program.path, 0)
        bases = ["--n-basis", size // len(names), "--similarity", joined]
        fast("train", "--method=basis-expansion:max-iter=1", images, "-o", model, *bases)
        fast("transform", model, images, "-o", features)
    return features


def ours(program: Program, features: Path, cache: Path, tol: float) -> tuple[dict[str, Any], np.ndarray]:
    model = cache / "ours.model"
    flags = [
        f"--method=basis-expansion:intercept=none,tol={tol}",
        "--similarity=precomputed",
        "--normalization=none",
        "-C",
        C,
    ]
    best = None
    for _ in range(3):
        results = program.json("train", features, "-o", model, *flags)
        seconds = results["report"]["seconds"]["solve"]
        best = seconds if best is None else min(best, seconds)
    weights = tensor(model, "weights")
    row = {"engine": f"widemargin, tol {tol:g}", "seconds": best, "gap": results["report"]["gap"]}
    return {**row, "samples": results["n_samples"], "features": weights.shape[1]}, weights


def tensor(path: Path, name: str) -> np.ndarray:
    """One tensor of a safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    about = json.loads(data[8 : 8 + length])[name]
    first, last = about["data_offsets"]
    kind = {"F32": "<f4", "F64": "<f8"}[about["dtype"]]
    return np.frombuffer(data[8 + length + first : 8 + length + last], kind).reshape(about["shape"])


def objective(weights: np.ndarray, phi: np.ndarray, labels: np.ndarray) -> float:
    signs = np.where(labels[:, None] == np.unique(labels)[None, :], 1.0, -1.0)
    total = 0.0
    for w, y in zip(weights.astype(float), signs.T, strict=True):
        slack = np.maximum(0, 1 - y * (phi @ w))
        total += 0.5 * w @ w + C * slack @ slack
    return total


def compared(program: Program, features: Path, size: int, cache: Path, sklearn: bool) -> list[dict[str, Any]]:
    with np.load(features) as file:
        phi, labels = file["X"], file["y"] if "y" in file.files else file["labels"]
    wide, classes = phi.astype(float), np.unique(labels)
    runs = [ours(program, features, cache, tol) for tol in (1e-3, 1e-5)]

    from liblinear.liblinearutil import parameter, problem, train

    started = time.perf_counter()
    given = problem(labels.astype(float), wide)
    built = time.perf_counter() - started
    started = time.process_time()
    model = train(given, parameter(f"-s 2 -c {C} -B -1 -e 0.01 -q"))
    seconds = time.process_time() - started
    order = np.argsort(model.get_labels())
    weights = np.array([model.get_decfun(k)[0] for k in range(len(classes))])[order]
    row = {"engine": "LIBLINEAR -s 2 -e .01", "seconds": seconds, "seconds_to_build_its_problem": built}
    runs.append(({**row, "samples": len(phi), "features": size}, weights))
    if sklearn:
        from sklearn.svm import LinearSVC

        svc = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-2)
        started = time.process_time()
        svc.fit(wide, labels)
        row = {"engine": "scikit-learn LinearSVC, tol .01", "seconds": time.process_time() - started}
        runs.append(({**row, "samples": len(phi), "features": size}, svc.coef_))
    values = [objective(weights, wide, labels) for _, weights in runs]
    least, base = min(values), runs[0][0]["seconds"]
    rows = []
    for (row, _), value in zip(runs, values, strict=True):
        rows.append({**row, "objective": value, "above": value / least - 1, "times_ours": row["seconds"] / base})
        print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    main()
