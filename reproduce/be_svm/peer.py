"""The machines that the paper compares with: a kernel SVM (LIBSVM, one-vs-one) and a linear one, on HOG cells of 8."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from cifar import INTERCEPTS, Features, Images, linear
from common import Stopwatch
from widemargin import HOG, MeanNormScaler

C, GAMMA = 2.0, 1.0
CACHE_MB = 2000

# Test images whose answers are compared with those of LIBSVM's own, slower, prediction.
COMPARED = 200


def kernel(images: Images) -> dict[str, Any]:
    """Percent right, support vectors, and the seconds from raw images: HOG, scaling, `SVC.fit`."""
    hog, scaler, machine = HOG(8, n_jobs=1), MeanNormScaler(), SVC(C=C, gamma=GAMMA, cache_size=CACHE_MB)
    with Stopwatch() as watch:
        train = scaler.fit_transform(hog.transform(images.train)).astype(np.float64)
        machine.fit(train, images.train_labels)
    test = scaler.transform(hog.transform(images.test)).astype(np.float64)
    given = predict(machine, test)
    right = 100 * float(np.mean(given == images.test_labels))
    vectors = len(machine.support_)
    n_classes = len(machine.classes_)
    return {
        "right": right,
        "vectors": vectors,
        "numbers": vectors * (train.shape[1] + n_classes - 1) + len(machine.intercept_),
        "as LIBSVM": bool((given[:COMPARED] == machine.predict(test[:COMPARED])).all()),
        "seconds": watch.seconds,
        "cpu_seconds": watch.cpu_seconds,
    }


def predict(machine: SVC, test: np.ndarray) -> np.ndarray:
    """What LIBSVM answers, with matrix products: one vote a pair of classes, the first of those that are level."""
    ends = np.cumsum(machine.n_support_)
    answers = []
    for rows in np.array_split(test, -(-len(test) // 500)):
        similarity = rbf_kernel(rows, machine.support_vectors_, gamma=GAMMA)
        sums = [
            similarity[:, end - count : end] @ machine.dual_coef_[:, end - count : end].T
            for end, count in zip(ends, machine.n_support_, strict=True)
        ]
        votes = np.zeros((len(rows), len(ends)))
        for pair, (i, j) in enumerate(combinations(range(len(ends)), 2)):
            # A support vector has one coefficient for each other class, in their order.
            first = sums[i][:, j - 1] + sums[j][:, i] + machine.intercept_[pair] > 0
            votes[:, i] += first
            votes[:, j] += ~first
        answers.append(machine.classes_[votes.argmax(1)])
    return np.concatenate(answers)


def linear_svm(images: Images) -> dict[str, Any]:
    """One-vs-rest with squared hinge, C = 1, the problem that LIBLINEAR solves; without an intercept and with one."""
    watch = Stopwatch()
    with watch:
        hog, scaler = HOG(8, n_jobs=1), MeanNormScaler()
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
