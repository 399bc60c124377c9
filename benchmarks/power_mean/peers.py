"""The peers: LIBLINEAR on the words, LIBLINEAR on scikit-learn's χ² feature map, an exact kernel SVM.

All get the counts as they are in the file and pay for dividing by the training maximum, as we do. What only moves
numbers into a peer's own structures is timed apart (stage "convert") and left out of its fit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem
from liblinear.liblinearutil import train as liblinear_train
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.svm import SVC

import chi_square
from sparse_files import Labels, divided, training_maximum
from timing import Clock, Row, repeated

C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
OUR_C = 0.01


@dataclass(frozen=True)
class Split:
    """Counts and labels to train on, and to score on."""

    train: sp.csr_matrix
    y_train: Labels
    test: sp.csr_matrix
    y_test: Labels

    def head(self, rows: int) -> Split:
        return Split(self.train[:rows], self.y_train[:rows], self.test, self.y_test)

    def five_to_one(self, seed: int = 0) -> Split:
        """A split of the training rows alone, for choosing C."""
        order = np.random.default_rng(seed).permutation(len(self.y_train))
        held, kept = np.sort(order[: len(order) // 6]), np.sort(order[len(order) // 6 :])
        return Split(self.train[kept], self.y_train[kept], self.train[held], self.y_train[held])


Map = Callable[[sp.csr_matrix], sp.csr_matrix]


def chi_square_map(rows: sp.csr_matrix) -> sp.csr_matrix:
    """scikit-learn's explicit feature map of the χ² kernel with 2 sample steps: 3 numbers a feature.

    In f32, as the counts are: four times as fast as the same map in f64.
    """
    return sp.csr_matrix(AdditiveChi2Sampler(sample_steps=2).fit_transform(rows))


def linear(split: Split, solver: int, c: float, feature_map: Map | None = None) -> Row:
    """One fit of LIBLINEAR at its default stopping tolerance, without a bias, and its test accuracy."""
    clock = Clock()
    with clock("scale"):
        top = training_maximum(split.train)
        rows = divided(split.train, top)
    if feature_map is not None:
        with clock("map"):
            rows = feature_map(rows)
    with clock("convert"):
        given = problem(split.y_train.astype(np.float64), rows.astype(np.float64))
    with clock("train"):
        model = liblinear_train(given, parameter(f"-s {solver} -c {c:g} -B -1 -q"))
    fit = clock.total("convert")

    weights = np.ctypeslib.as_array(model.w, (model.nr_feature * model.nr_class,)).reshape(-1, model.nr_class)
    classes = np.array(model.get_labels())
    predicting = Clock()
    with predicting("all"):
        test = divided(split.test, top)
        test = test if feature_map is None else feature_map(test)
        # LIBLINEAR's own Python predict goes row by row; a sparse product does it justice.
        predicted = classes[(test @ weights).argmax(axis=1)]
    return {
        "C": c,
        "accuracy": float((predicted == split.y_test).mean()),
        "fit_seconds": fit,
        "stages": clock.seconds,
        "cpu_stages": clock.cpu_seconds,
        "test_rows_a_second": len(predicted) / predicting.total(),
    }


def best_c(fit: Callable[[Split, float], Row], split: Split) -> tuple[float, list[Row]]:
    """The C of the grid that scores best on a held-out sixth of the training rows; ties go to the smaller."""
    inner = split.five_to_one()
    trials = []
    for c in C_GRID:
        row = fit(inner, c)
        trials.append({"C": c, "held_out_accuracy": row["accuracy"], "fit_seconds": row["fit_seconds"]})
        _say(f"  C = {c:g}: {row['accuracy']:.4f} held out, {row['fit_seconds']:.1f} s")
    return max(trials, key=lambda trial: (trial["held_out_accuracy"], -trial["C"]))["C"], trials


def run(split: Split, repeats: int, budget: float) -> list[Row]:
    """Each linear peer at its best C and at the C people would otherwise use."""
    engines: list[tuple[str, int, Map | None, float]] = [
        ("LIBLINEAR -s 1 (squared hinge)", 1, None, 1.0),
        ("LIBLINEAR -s 3 (hinge)", 3, None, 1.0),
        ("χ² feature map + LIBLINEAR -s 1", 1, chi_square_map, OUR_C),
    ]
    rows = []
    for name, solver, feature_map, customary in engines:
        _say(name)

        def fit(part: Split, c: float, solver: int = solver, feature_map: Map | None = feature_map) -> Row:
            return linear(part, solver, c, feature_map)

        best, trials = best_c(fit, split)
        for c in sorted({best, customary}):
            row = repeated(lambda fit=fit, c=c: fit(split, c), repeats, budget)
            _say(f"  C = {c:g}: {row['accuracy']:.4f} test, {row['fit_seconds']:.2f} s")
            rows.append({"engine": name, "best_C": c == best, **row, "search": trials if c == best else None})
    return rows


def run_exact(split: Split) -> list[Row]:
    """The χ² kernel itself, as a matrix, in scikit-learn's SVC (one class against one, hinge).

    The matrix grows with the square of the rows, hence the first rows only. The other peer is linear on the
    same rows.
    """
    n = len(split.y_train)
    clock = Clock()
    with clock("scale"):
        top = training_maximum(split.train)
    with clock("kernel"):
        kernel = chi_square.kernel(split.train, split.train, top)
    order = np.random.default_rng(0).permutation(n)
    held, kept = np.sort(order[: n // 6]), np.sort(order[n // 6 :])
    trials = []
    for c in C_GRID:
        machine = SVC(kernel="precomputed", C=c).fit(kernel[np.ix_(kept, kept)], split.y_train[kept])
        score = machine.score(kernel[np.ix_(held, kept)], split.y_train[held])
        trials.append({"C": c, "held_out_accuracy": float(score)})
        _say(f"  C = {c:g}: {score:.4f} held out")
    test_kernel = chi_square.kernel(split.test, split.train, top)
    best = max(trials, key=lambda trial: (trial["held_out_accuracy"], -trial["C"]))["C"]
    rows = []
    for c in sorted({best, 1.0}):
        part = Clock()
        with part("train"):
            machine = SVC(kernel="precomputed", C=c).fit(kernel, split.y_train)
        stages = {**clock.seconds, **part.seconds}
        score = float(machine.score(test_kernel, split.y_test))
        _say(f"  C = {c:g}: {score:.4f} test, {sum(stages.values()):.1f} s")
        rows.append(
            {
                "engine": "exact χ² kernel, SVC one-vs-one (hinge)",
                "rows": n,
                "best_C": c == best,
                "C": c,
                "accuracy": score,
                "fit_seconds": sum(stages.values()),
                "stages": stages,
                "cpu_stages": {**clock.cpu_seconds, **part.cpu_seconds},
                "repeats": 1,
                "search": trials if c == best else None,
            }
        )
    return rows


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
