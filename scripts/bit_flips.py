"""Flips single bits of model files and checkpoints, 10,000 in all, and looks whether any changes a score silently.

    python scripts/bit_flips.py [--program target/release/widemargin] [--flips 10000] [-o docs/bit-flips.txt]

Models of every method and several kinds of samples are trained here, with the installed package `widemargin`. A flip
ends well where loading raises `ValueError`, or where every decision value is the same to the last bit. Checkpoints are
those of the command's fits in blocks: a flip ends well where the command fails with a message, or where the model that
comes of it is the same but for the seconds in its report. Anything else is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import widemargin as wm

# A run of the command takes a hundred times as long as loading a model.
SHARE_OF_CHECKPOINTS = 0.1


def models(rng: np.random.Generator) -> Iterator[tuple[str, Any, Any]]:
    """Name, fitted classifier, samples to score."""
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 2.0 * (y[:, None] == np.arange(4))
    counts = np.abs(X)
    letters = ["".join("abcd"[one] for one in rng.integers(0, 4, rng.integers(2, 9))) for _ in range(40)]
    series = [rng.normal(size=rng.integers(5, 9)).astype(np.float32) for _ in range(24)]
    two = np.arange(60) % 2
    yield "power mean, Nystroem", wm.PowerMeanSVC(kernel="chi2", C=1.0, nodes=3).fit(counts, y), counts
    polynomial = wm.PowerMeanSVC(-8.0, approximation="polynomial", loss="hinge", C=1.0)
    yield "power mean, polynomial", polynomial.fit(counts, two), counts
    yield "basis expansion, vectors", wm.BasisExpansionSVC("rbf", n_basis=9).fit(X, y), X
    mixed = wm.BasisExpansionSVC(["mean-norm/rbf", "linear"], n_basis=6, normalization="nystroem", loss="logistic")
    yield "basis expansion, mixed", mixed.fit(X, y), X
    yield "basis expansion, strings", wm.BasisExpansionSVC("edit", n_basis=8).fit(letters, two[:40]), letters
    yield "basis expansion, series", wm.BasisExpansionSVC("dtw", n_basis=6).fit(series, two[:24]), series
    yield "basis expansion, Python code", wm.BasisExpansionSVC(rbf_kernel, n_basis=6).fit(X.tolist(), y), X.tolist()
    yield "thin plate, exact", wm.ThinPlateSVC(C=1.0).fit(X, y), X
    yield "thin plate, bases", wm.ThinPlateSVC("cubic", n_basis=9, C=1.0).fit(X, two), X


def positions(n_bits: int, n_flips: int, rng: np.random.Generator) -> list[int]:
    """Spread evenly, one drawn in each stretch."""
    edges = np.linspace(0, n_bits, n_flips + 1).astype(int)
    return [int(rng.integers(first, max(last, first + 1))) for first, last in pairwise(edges)]


def flipped(data: bytes, at: int) -> bytes:
    damaged = bytearray(data)
    damaged[at // 8] ^= 1 << at % 8
    return bytes(damaged)


def flip_model(data: bytes, X: Any, truth: Any, path: Path) -> Callable[[int], str]:
    def outcome(at: int) -> str:
        path.write_bytes(flipped(data, at))
        try:
            values = wm.load(path, trusted=True).decision_function(X)
        except ValueError:
            return "refused"
        except BaseException as error:
            return f"FAILED: bit {at}: {type(error).__name__}"
        return "same" if np.array_equal(values, truth) else f"FAILED: bit {at}: other scores"

    return outcome


def checkpoints(rng: np.random.Generator, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Name, arguments of `train` that take a moment."""
    y = np.arange(400) % 3
    X = np.abs(rng.normal(size=(400, 4)) + 2.0 * (y[:, None] == np.arange(4)))
    rows = [
        "a,b,c,d,label",
        *(",".join([*(f"{value:.4f}" for value in row), str(k)]) for row, k in zip(X, y, strict=True)),
    ]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    of = ["data.csv", "--label", "label", "--memory-limit", "512MiB", "--threads", "1", "--quiet"]
    yield "checkpoint, power mean", ["--method=power-mean", *of, "--kernel", "chi2"]
    yield (
        "checkpoint, basis expansion",
        ["--method=basis-expansion", *of, "--similarity", "rbf:gamma=0.5", "--n-basis", "12"],
    )
    yield "checkpoint, thin plate", ["--method=thin-plate", *of, "--n-basis", "12", "--basis", "index"]


def flip_checkpoint(program: str, flags: list[str], folder: Path, rng: np.random.Generator, n: int) -> Iterator[str]:
    """The outcomes of flips in each file of the checkpoint, in proportion to its length, but some in each."""

    def train(kept: str) -> subprocess.CompletedProcess[str]:
        command = [program, "train", *flags, "-o", "model", "--checkpoint", kept]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    def scores() -> bytes:
        command = [program, "predict", "model", "data.csv", "--label", "label", "--scores", "--quiet"]
        return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout

    shutil.rmtree(folder / "whole", ignore_errors=True)
    if (first := train("whole")).returncode != 0:
        raise SystemExit(f"{program}: {first.stderr}")
    truth = scores()
    files = sorted((folder / "whole").iterdir())
    if not files:
        raise SystemExit(f"{program}: no checkpoint was left")
    for number, file in enumerate(files):
        share = n * (number + 1) // len(files) - n * number // len(files)
        data = file.read_bytes()
        for at in positions(8 * len(data), share, rng):
            shutil.rmtree(folder / "kept", ignore_errors=True)
            shutil.copytree(folder / "whole", folder / "kept")
            (folder / "kept" / file.name).write_bytes(flipped(data, at))
            (folder / "model").unlink(missing_ok=True)
            done = train("kept")
            if done.returncode == 2 and "damaged" in done.stderr:
                yield "refused"
            elif done.returncode == 0 and scores() == truth:
                yield "same"
            else:
                yield f"FAILED: {file.name}, bit {at}: exit {done.returncode} {done.stderr.strip()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/widemargin")
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    rng = np.random.default_rng(0)
    outcomes: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        n_checkpoints = int(arguments.flips * SHARE_OF_CHECKPOINTS)
        with warnings.catch_warnings(action="ignore"):
            # Some of the labels are noise.
            made = list(models(rng))
        warnings.simplefilter("error")
        n_models = arguments.flips - n_checkpoints
        for number, (name, model, X) in enumerate(made):
            path = folder / "a.model"
            wm.save(model, path)
            data, truth = path.read_bytes(), model.decision_function(X)
            outcome = flip_model(data, X, truth, path)
            share = n_models * (number + 1) // len(made) - n_models * number // len(made)
            outcomes[name] = Counter(outcome(at) for at in positions(8 * len(data), share, rng))
            print(name, dict(outcomes[name]), file=sys.stderr)
        fits = list(checkpoints(rng, folder))
        for number, (name, flags) in enumerate(fits):
            share = n_checkpoints * (number + 1) // len(fits) - n_checkpoints * number // len(fits)
            outcomes[name] = Counter(flip_checkpoint(program, flags, folder, rng, share))
            print(name, dict(outcomes[name]), file=sys.stderr)

    failures = [
        f"{name}: {what}" for name, counts in outcomes.items() for what in counts if what not in ("refused", "same")
    ]
    lines = [
        f"Single-bit flips, widemargin {wm.__version__}",
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "",
        f"{'file':<30} {'flips':>6} {'refused':>8} {'same result':>12} {'failed':>7}",
    ]
    for name, counts in outcomes.items():
        n_failed = counts.total() - counts["refused"] - counts["same"]
        lines.append(f"{name:<30} {counts.total():>6} {counts['refused']:>8} {counts['same']:>12} {n_failed:>7}")
    total = sum((counts for counts in outcomes.values()), Counter())
    n_failed = total.total() - total["refused"] - total["same"]
    lines.append(f"{'all':<30} {total.total():>6} {total['refused']:>8} {total['same']:>12} {n_failed:>7}")
    lines += ["", *failures] if failures else []
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.output is not None:
        arguments.output.write_text(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
