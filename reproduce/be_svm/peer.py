"""The machines that the paper compares with: a kernel SVM (LIBSVM, one-vs-one) and a linear one, on HOG cells."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from cifar import INTERCEPTS, Features, Images, linear
from common import Stopwatch
from mean_norm import MeanNorm
from widemargin.similarity import HOG

C, GAMMA = 2.0, 1.0
CACHE_MB = 2000

# Test images whose answers are compared with those of LIBSVM's own, slower, prediction.
COMPARED = 200


def kernel(images: Images) -> dict[str, Any]:
    """Percent right, support vectors, and the seconds from raw images: HOG, scaling, `SVC.fit`."""
    hog, scaler, machine = HOG(8, n_jobs=1), MeanNorm(), SVC(C=C, gamma=GAMMA, cache_size=CACHE_MB)
    with Stopwatch() as watch:
        train = scaler.fit_transform(hog.transform(images.train)).astype(np.float64)
        machine.fit(train, images.train_labels)
    test = scaler.transform(hog.transform(images.test)).astype(np.float64)
    given = predict(machine, test, machine.support_vectors_)
    return {
        "right": 100 * float(np.mean(given == images.test_labels)),
        "vectors": len(machine.support_),
        "numbers": _numbers(machine, train.shape[1]),
        "as LIBSVM": bool((given[:COMPARED] == machine.predict(test[:COMPARED])).all()),
        "seconds": watch.seconds,
        "cpu_seconds": watch.cpu_seconds,
    }


def fine_kernel(images: Images) -> dict[str, Any]:
    """The same on HOG cells of 4, by a Gram matrix: LIBSVM's own kernel takes four times as long on these."""
    hog, scaler, machine = HOG(4, n_jobs=1), MeanNorm(), SVC(C=C, kernel="precomputed", cache_size=CACHE_MB)
    with Stopwatch() as watch:
        train = scaler.fit_transform(hog.transform(images.train)).astype(np.float64)
        machine.fit(gaussian(train, train), images.train_labels)
    test = scaler.transform(hog.transform(images.test)).astype(np.float64)
    given = predict(machine, test, train[machine.support_])
    few = gaussian(test[:COMPARED], train)
    return {
        "right": 100 * float(np.mean(given == images.test_labels)),
        "vectors": len(machine.support_),
        "numbers": _numbers(machine, train.shape[1]),
        "as LIBSVM": bool((given[:COMPARED] == machine.predict(few)).all()),
        "seconds": watch.seconds,
        "cpu_seconds": watch.cpu_seconds,
    }


def gaussian(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """exp(−γ ‖x − y‖²), in one array."""
    squared = rows @ columns.T
    squared *= -2
    squared += np.einsum("ij,ij->i", rows, rows)[:, None]
    squared += np.einsum("ij,ij->i", columns, columns)
    np.maximum(squared, 0, out=squared)
    squared *= -GAMMA
    return np.exp(squared, out=squared)


def _numbers(machine: SVC, columns: int) -> int:
    return len(machine.support_) * (columns + len(machine.classes_) - 1) + len(machine.intercept_)


def predict(machine: SVC, test: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """What LIBSVM answers, with matrix products: one vote a pair of classes, the first of those that are level."""
    answers = []
    for rows in np.array_split(test, -(-len(test) // 500)):
        answers.append(vote(machine, rbf_kernel(rows, vectors, gamma=GAMMA)))
    return np.concatenate(answers)


def vote(machine: SVC, similarity: np.ndarray) -> np.ndarray:
    """Of the similarities of some rows to the support vectors."""
    ends = np.cumsum(machine.n_support_)
    sums = [
        similarity[:, end - count : end] @ machine.dual_coef_[:, end - count : end].T
        for end, count in zip(ends, machine.n_support_, strict=True)
    ]
    votes = np.zeros((len(similarity), len(ends)))
    for pair, (i, j) in enumerate(combinations(range(len(ends)), 2)):
        # A support vector has one coefficient for each other class, in their order.
        first = sums[i][:, j - 1] + sums[j][:, i] + machine.intercept_[pair] > 0
        votes[:, i] += first
        votes[:, j] += ~first
    return machine.classes_[votes.argmax(1)]


def linear_svm(images: Images, cell: int = 8) -> dict[str, Any]:
    """One-vs-rest with squared hinge, C = 1, the problem that LIBLINEAR solves; without an intercept and with one."""
    watch = Stopwatch()
    with watch:
        hog, scaler = HOG(cell, n_jobs=1), MeanNorm()
        train = scaler.fit_transform(hog.transform(images.train))
    features = Features(train, scaler.transform(hog.transform(images.test)), watch)
    found: dict[str, Any] = {"numbers": (train.shape[1] + 1) * len(np.unique(images.train_labels))}
    for name in INTERCEPTS:
        found[name], solver = linear(features, images, intercept=name == "free")
    return {
        **found,
        "seconds": watch.seconds + solver.seconds,
        "cpu_seconds": watch.cpu_seconds + solver.cpu_seconds,
    }
