"""MiniRocket compared with aeon's: the same features from the same biases, and how many series a second each describes.

    python aeon_rate.py PYTHON_WITH_AEON

PYTHON_WITH_AEON is an interpreter that has aeon 1.6 and numba; this one has widemargin. Both have one thread, and are
measured after a first call, in CPU seconds: the least of ten calls. It writes results/DATE_aeon.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SHAPES = [(500, 1, 150), (200, 1, 500), (60, 1, 2000), (200, 6, 100)]

THEIRS = """
import json, sys, time
import numpy as np
from aeon.transformations.collection.convolution_based import MiniRocket
X = np.load(sys.argv[1])
transform = MiniRocket(random_state=0, n_jobs=1).fit(X)
found = transform.transform(X)
best = 9e9
for _ in range(10):
    start = time.process_time()
    transform.transform(X)
    best = min(best, time.process_time() - start)
print(json.dumps({"rate": len(X) / best, "features": int(found.shape[1])}))
"""


def ours(series: np.ndarray) -> dict[str, float]:
    from widemargin import BasisExpansion

    model = BasisExpansion("minirocket/features", normalization="none", kind="series_channels_first", n_jobs=1).fit(
        series[:2]
    )
    best = 9e9
    for _ in range(11):
        start = time.process_time()
        found = model.transform(series)
        best = min(best, time.process_time() - start)
    return {"rate": len(series) / best, "features": found.shape[1]}


def main() -> None:
    heads = ["series", "channels", "steps", "ours, series/s", "aeon 1.6, series/s", "ratio"]
    lines = ["| " + " | ".join(heads) + " |", "|---:|---:|---:|---:|---:|---:|"]
    for n, channels, steps in SHAPES:
        series = np.random.default_rng(0).normal(size=(n, channels, steps)).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "x.npy"
            np.save(file, series)
            environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
            environment.pop("PYTHONPATH", None)
            run = subprocess.run([sys.argv[1], "-c", THEIRS, file], capture_output=True, text=True, env=environment)
        theirs = json.loads(run.stdout.splitlines()[-1])
        mine = ours(series)
        ratio = mine["rate"] / theirs["rate"]
        lines.append(f"| {n} | {channels} | {steps} | {mine['rate']:,.0f} | {theirs['rate']:,.0f} | {ratio:.1f} |")
        print(lines[-1], flush=True)
    (HERE / "results" / f"{time.strftime('%Y-%m-%d')}_aeon.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
