"""The fits of every solver, with what must not get worse besides CPU seconds: held-out score, gap, memory, model file.

Each fit is one call of `train` on a fixed subset of a real or made data set, of two to ten CPU seconds, followed by
`predict` on held-out rows.
"""

from __future__ import annotations

import functools
import io
import json
import lzma
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import alone
import data_sets
import synthetic

Array = npt.NDArray[Any]

# After / before of CPU seconds and of peak memory, and the relative change of the model's bytes.
MAX_RATIO, MAX_BYTES = 1.05, 0.05


class FailedError(Exception):
    """A call of the command that failed, with what it printed."""


@dataclass(frozen=True)
class Fit:
    """One call of `train` with these arguments on the data set of this name."""

    name: str
    data: str
    arguments: str


@dataclass(frozen=True)
class Rows:
    """Samples to train and to test on, with labels, targets, or a column of 0 and 1 for each label."""

    x: Array
    y: Array
    x_test: Array
    y_test: Array
    options: tuple[str, ...] = ()


@dataclass
class Files:
    """A data set as the command reads it, and the true answers of the test file."""

    train: str
    test: str
    truth: Array
    options: list[str] = field(default_factory=list)
    test_options: list[str] = field(default_factory=list)


BASIS, PLATE, POWER = "--method basis-expansion", "--method thin-plate", "--method power-mean"
RBF = "--similarity rbf:gamma=8"
SHAPES = "--similarity hog:cell=8/rbf+hog:cell=4/rigid:radius=2+hog:cell=4/deformable+hog:cell=8/rigid:radius=1"
SURFACE = "--similarity rbf:gamma=1 --n-basis 800 --normalization z-score"

FITS = [
    Fit("letter, C given", "letter", f"{BASIS} {RBF} --n-basis 600 -C 10"),
    Fit("letter, path over C", "letter", f"{BASIS} {RBF} --n-basis 300 -C auto"),
    Fit("letter, hinge", "letter", f"{BASIS} {RBF} --n-basis 200 -C 1 --loss hinge"),
    Fit("letter, logistic", "letter", f"{BASIS} {RBF} --n-basis 300 -C 1 --loss logistic"),
    Fit("letter, squared error", "letter", f"{BASIS} {RBF} --n-basis 800 -C 1 --loss squared-error"),
    Fit("l1 penalty", "few", f"{BASIS}:penalty=l1 --similarity rbf:gamma=0.05 --n-basis 200 -C 1"),
    Fit("letter, out of core", "letter", f"{BASIS} {RBF} --n-basis 200 -C 10 --memory-limit 60MB"),
    Fit("MNIST", "mnist", f"{BASIS} --similarity rbf:gamma=0.02 --n-basis 800 -C 10"),
    Fit("MNIST, shapes on a grid", "grid", f"{BASIS} {SHAPES} --n-basis 300 -C 1"),
    Fit("thin plate, exact", "few", f"{PLATE} --n-basis none -C 1"),
    Fit("thin plate, exact, path over C", "few", f"{PLATE} --n-basis none -C auto"),
    Fit("thin plate, bases", "made", f"{PLATE} --n-basis 500 -C 1"),
    Fit("thin plate, bases, path over C", "made", f"{PLATE} --n-basis 200 -C auto"),
    Fit("thin plate, bases, letter", "letter", f"{PLATE} --n-basis 300 -C 1"),
    Fit("thin plate, out of core", "made", f"{PLATE} --n-basis 300 -C 1 --memory-limit 120MB"),
    Fit("power mean, visual words", "words", f"{POWER} --kernel chi2 -C 1"),
    Fit("power mean, path over C", "mnist", f"{POWER} --kernel chi2 -C auto"),
    Fit("power mean, hinge", "mnist", f"{POWER} --kernel intersection -C 1 --loss hinge"),
    Fit("power mean", "mnist", f"{POWER} --kernel intersection -C 1"),
    Fit("power mean, out of core", "mnist", f"{POWER} --kernel intersection -C 1 --memory-limit 200MB"),
    Fit("sparse text, linear similarity", "text", f"{BASIS} --similarity linear --n-basis 500 -C 1"),
    Fit("sparse text, power mean", "text", f"{POWER} --kernel chi2 -C auto"),
    Fit("sparse text, out of core", "text", f"{BASIS} --similarity linear --n-basis 300 -C 1 --memory-limit 60MB"),
    Fit("multilabel", "bits", f"{BASIS} {RBF} --n-basis 800 -C 10"),
    Fit("multilabel, out of core", "bits", f"{BASIS} {RBF} --n-basis 400 -C 10 --memory-limit 60MB"),
    Fit("multilabel, thin plate", "bits", f"{PLATE} --n-basis 300 -C 1"),
    Fit("multilabel, power mean", "bits", f"{POWER} --kernel chi2 -C 1"),
    Fit("regression, squared error", "surface", f"{BASIS} {SURFACE} --loss squared-error -C 1"),
    Fit("regression, Huber", "surface", f"{BASIS} {SURFACE} --loss huber:epsilon=1 -C 1"),
    Fit("regression, tube", "surface", f"{BASIS} {SURFACE} --loss squared-epsilon-insensitive:epsilon=0.5 -C 1"),
    Fit("regression, quantile", "surface", f"{BASIS} {SURFACE} --loss quantile:quantile=0.5 -C 1"),
    Fit("regression, path over C", "surface", f"{BASIS} {SURFACE} -C auto"),
    Fit("regression, out of core", "surface", f"{BASIS} {SURFACE} --loss huber:epsilon=1 -C 1 --memory-limit 200MB"),
    Fit("regression, thin plate, exact", "curve", f"{PLATE} --n-basis none -C auto"),
    Fit("regression, thin plate, bases", "surface", f"{PLATE} --n-basis 400 -C auto"),
    Fit("one class", "zeros", f"{BASIS} --similarity rbf:gamma=0.01 --n-basis 1000"),
]


def write(folder: Path, data: Path | None, scale: float) -> tuple[dict[str, Files], dict[str, str]]:
    """The files of every data set, and why some have none."""
    found, missing = {}, {}
    for name, make in SETS.items():
        try:
            rows = make(data)
        except data_sets.MissingDataError as error:
            missing[name] = str(error)
            continue
        count = max(int(scale * len(rows.y)), min(len(rows.y), 500))
        found[name] = _save(folder, name, Rows(rows.x[:count], rows.y[:count], rows.x_test, rows.y_test, rows.options))
    return found, missing


def measured(
    fit: Fit, files: Files, programs: dict[str, Path], folder: Path, pairs: int, threads: int
) -> dict[str, Any]:
    """Programs take turns as in the other rows; scores and gaps are those of the last call."""
    results: dict[str, dict[str, Any]] = {name: {"seconds": [], "peak_mib": []} for name in programs}
    order = list(programs)
    for pair in range(pairs):
        for name in order if pair % 2 else order[::-1]:
            one = _fitted(fit, files, programs[name], folder, threads)
            for key in ("seconds", "peak_mib"):
                one[key] = [*results[name][key], one[key]]
            results[name] = one
    ratios = _ratios(results, "seconds")
    row = {"group": "fits", "name": fit.name, "data": fit.data, "arguments": fit.arguments, **results}
    row |= {"ratios": ratios, "ratio": statistics.median(ratios)}
    row["memory_ratio"] = statistics.median(_ratios(results, "peak_mib"))
    return {**row, "marks": _marks(row)}


def _marks(row: dict[str, Any]) -> list[str]:
    """What is worse, or not as it was, after."""
    before, after = row["before"], row["after"]
    close = 2 * max(before["standard_error"], after["standard_error"])
    marks = {
        "CPU": row["ratio"] > MAX_RATIO,
        "memory": row["memory_ratio"] > MAX_RATIO,
        "score": abs(after["score"] - before["score"]) > close,
        "gap": _is_certified(after) != _is_certified(before),
        "bytes": abs(after["model_bytes"] / before["model_bytes"] - 1) > MAX_BYTES,
    }
    return [name for name, is_set in marks.items() if is_set]


def _is_certified(one: dict[str, Any]) -> bool:
    return one["status"] == "converged" and one["gap"] is not None


def _ratios(results: dict[str, dict[str, Any]], key: str) -> list[float]:
    return [after / before for before, after in zip(results["before"][key], results["after"][key], strict=True)]


def _fitted(fit: Fit, files: Files, program: Path, folder: Path, threads: int) -> dict[str, Any]:
    model = folder / "fit.model"
    common = ["--threads", str(threads), "--quiet"]
    words = ["train", files.train, *files.options, *fit.arguments.split(), "-o", str(model), "--json", *common]
    ran = _run([str(program), *words])
    summary = json.loads(ran.out)
    answers = _run([str(program), "predict", str(model), files.test, *files.test_options, *common]).out
    losses = _losses(np.array([line.split() for line in answers.splitlines()], dtype=float), files.truth)
    report = summary["report"]
    return {
        "seconds": ran.cpu_seconds,
        "peak_mib": ran.peak_mib,
        "score": float(1 - losses.mean()),
        "standard_error": float(losses.std(ddof=1) / np.sqrt(len(losses))),
        "gap": report["gap"],
        "status": report["status"],
        "estimate": report["estimate"],
        "C": summary.get("chosen", {}).get("C"),
        "model_bytes": model.stat().st_size,
    }


def _run(command: list[str]) -> alone.Ended:
    ran = alone.run(command)
    if ran.exit_code:
        raise FailedError(f"{' '.join(command)}\nexit code {ran.exit_code}: {ran.err}")
    return ran


def _losses(answers: Array, truth: Array) -> Array:
    """Of each test sample: 1 for a mistake, the share of wrong labels, or the squared error in units of the variance.

    So one minus the mean is accuracy, or R².
    """
    answers = answers.reshape(truth.shape)
    if truth.dtype.kind == "f":
        return np.square(answers - truth) / truth.var()
    return (answers != truth).reshape(len(truth), -1).mean(axis=1)


def line(row: dict[str, Any]) -> str:
    sides = row["before"], row["after"]
    seconds = " → ".join(f"{statistics.median(one['seconds']):.2f}" for one in sides)
    memory = " → ".join(f"{statistics.median(one['peak_mib']):.0f}" for one in sides)
    scores = " → ".join(f"{one['score']:.4f}" for one in sides)
    gaps = " → ".join("–" if one["gap"] is None else f"{one['gap']:.0e}" for one in sides)
    estimates = " → ".join(_estimate(one["estimate"]) for one in sides)
    sizes = " → ".join(f"{one['model_bytes']:,}" for one in sides)
    cells = [
        f"{row['name']}{' **' + ', '.join(row['marks']) + '**' if row['marks'] else ''}",
        f"{scores} ± {sides[0]['standard_error']:.4f}",
        estimates,
        gaps,
        seconds,
        f"{row['ratio']:.3f}",
        memory,
        sizes,
    ]
    return f"| {' | '.join(cells)} |"


def _estimate(results: dict[str, Any] | None) -> str:
    if results is None:
        return "–"
    return (
        f"{next(value for key, value in results.items() if key not in ('method', 'n_samples', 'standard_error')):.4f}"
    )


def page(rows: list[dict[str, Any]], missing: dict[str, str], failed: dict[str, str]) -> list[str]:
    """The lines of a section on these rows."""
    marked = [f"{row['name']} ({', '.join(row['marks'])})" for row in rows if row["marks"]]
    skipped = [f"{fit.name} ({fit.data})" for fit in FITS if fit.data in missing]
    return [
        "\n## Fits\n",
        "Score: accuracy on held-out rows, the share of right labels, or R², ± its standard error; estimate: the error "
        "that the report expects; gap: of the duality, relative; then CPU seconds, their ratio (median of pairs), peak "
        "memory in MiB and bytes of the model file, before → after.\n",
        f"Marked: {', '.join(marked) or 'none'}. Skipped, for want of data: {', '.join(skipped) or 'none'}. "
        f"Failed: {', '.join(failed) or 'none'}.\n",
        "| | score | estimate | gap | CPU s | ratio | MiB | bytes |\n|---|---|---|---|---|---:|---|---|",
        *map(line, rows),
    ]


def _letter(data: Path | None) -> Rows:
    arrays = _arrays(data, "tabular/letter.npz")
    x, y = arrays["X"] / 15, arrays["y"].astype(int)
    return Rows(x[:15_000], y[:15_000], x[15_000:], y[15_000:])


def _bits(data: Path | None) -> Rows:
    """The letters again: five labels, the binary digits of a letter's number."""
    rows, digits = _letter(data), np.arange(5)
    return Rows(rows.x, rows.y[:, None] >> digits & 1, rows.x_test, rows.y_test[:, None] >> digits & 1)


def _mnist(data: Path | None) -> Rows:
    arrays = _arrays(data, "mnist/mnist.npz.xz")
    x, x_test = (arrays[name].reshape(-1, 784) / 255 for name in ("X_train", "X_test"))
    return Rows(x[:10_000], arrays["y_train"][:10_000], x_test[:5_000], arrays["y_test"][:5_000])


def _grid(data: Path | None) -> Rows:
    """Images with a border, so that cells of 8 pixels fit."""
    arrays = _arrays(data, "mnist/mnist.npz.xz")
    x, x_test = (np.pad(arrays[name], ((0, 0), (2, 2), (2, 2))) for name in ("X_train", "X_test"))
    return Rows(x[:2_000], arrays["y_train"][:2_000], x_test[:1_000], arrays["y_test"][:1_000])


def _made(rows: int) -> Callable[[Path | None], Rows]:
    def make(_: Path | None) -> Rows:
        split = data_sets.made(rows)
        return Rows(split.train, split.train_labels, split.test[:10_000], split.test_labels[:10_000])

    return make


def _words(data: Path | None) -> Rows:
    """Histograms of the visual words of photographs."""
    arrays = _arrays(data, "bow/scene15_words.npz")
    counts = np.stack([np.bincount(image, minlength=400) for image in arrays["words"].reshape(-1, 24 * 24)])
    y, first = arrays["y"].astype(int), int(arrays["n_train"])
    return Rows(counts[:first], y[:first], counts[first:], y[first:])


def _text(data: Path | None) -> Rows:
    arrays = _arrays(data, "bow/news20_w1000.npz")
    dense = {}
    for part in ("train", "test"):
        ends, columns, counts = (arrays[f"{part}_{name}"] for name in ("indptr", "indices", "data"))
        dense[part] = np.zeros((len(ends) - 1, 1000))
        dense[part][np.repeat(np.arange(len(ends) - 1), np.diff(ends)), columns] = np.log1p(counts)
    pick = np.random.default_rng(7).permutation(len(dense["train"]))
    y, y_test = arrays["y_train"].astype(int)[pick], arrays["y_test"].astype(int)
    return Rows(dense["train"][pick], y, dense["test"], y_test, ("--format", "libsvm"))


def _friedman(rows: int) -> Callable[[Path | None], Rows]:
    """Friedman's first function of ten columns; test targets are without noise."""

    def make(_: Path | None) -> Rows:
        random = np.random.default_rng(7)
        x = random.random((rows + 5_000, 10))
        y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
        return Rows(x[:rows], y[:rows] + random.standard_normal(rows), x[rows:], y[rows:])

    return make


def _zeros(data: Path | None) -> Rows:
    """The zeros among handwritten digits; the test rows are half zeros and half other digits."""
    arrays = _arrays(data, "usps/usps.npz")
    x, x_test = arrays["X_train"] / 1000, arrays["X_test"] / 1000
    usual, is_zero = x[arrays["y_train"] == 0], arrays["y_test"] == 0
    return Rows(usual, np.ones(len(usual), int), x_test, np.where(is_zero, 1, -1), ("--task", "outlier-detection"))


SETS: dict[str, Callable[[Path | None], Rows]] = {
    "letter": _letter,
    "bits": _bits,
    "mnist": _mnist,
    "grid": _grid,
    "few": _made(2_500),
    "made": _made(30_000),
    "words": _words,
    "text": _text,
    "surface": _friedman(30_000),
    "curve": _friedman(1_500),
    "zeros": _zeros,
}


@functools.cache
def _arrays(data: Path | None, name: str) -> dict[str, Array]:
    path = data / name if data else None
    if path is None or not path.is_file():
        raise data_sets.MissingDataError(f"{name}: not in the folder of --data")
    stored = io.BytesIO(lzma.decompress(path.read_bytes())) if path.suffix == ".xz" else path
    with np.load(stored) as file:
        return {key: file[key] for key in file.files}


def _save(folder: Path, name: str, rows: Rows) -> Files:
    stem, test = folder / f"{name}", folder / f"{name}-test"
    if "libsvm" in rows.options:
        for path, x, y in ((stem, rows.x, rows.y), (test, rows.x_test, rows.y_test)):
            path.with_suffix(".svm").write_text(synthetic.libsvm(x, y))
        return Files(f"{stem}.svm", f"{test}.svm", rows.y_test)
    if rows.x.ndim == 3:
        for path, x, y in ((stem, rows.x, rows.y), (test, rows.x_test, rows.y_test)):
            np.savez(path, X=x, y=y)
        return Files(f"{stem}.npz", f"{test}.npz", rows.y_test)
    np.save(stem, rows.x.astype(np.float32))
    np.save(test, rows.x_test.astype(np.float32))
    options = list(rows.options)
    if "outlier-detection" not in options:
        np.save(f"{stem}-labels", rows.y)
        options += ["--label-file", f"{stem}-labels.npy"]
    if rows.y.dtype.kind == "f":
        options += ["--task", "regression"]
    return Files(f"{stem}.npy", f"{test}.npy", rows.y_test, options)
