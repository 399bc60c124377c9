"""Plain k-means, for the dictionary of words and for labels of many classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]

BLOCK = 1024


def closeness(points: Floats, centers: Floats) -> Floats:
    """x·c − ½‖c‖², largest for the nearest center: the squared distance without its constant part."""
    scores = points @ centers.T
    scores -= np.float32(0.5) * np.einsum("ij,ij->i", centers, centers)
    return scores


def assign(points: Floats, centers: Floats) -> Labels:
    """The nearest center of each point, block by block."""
    blocks = (points[start : start + BLOCK] for start in range(0, len(points), BLOCK))
    return np.concatenate([closeness(block, centers).argmax(axis=1) for block in blocks])


def kmeans(points: Floats, k: int, iterations: int, rng: np.random.Generator) -> Floats:
    """Lloyd's iterations from random points; an empty center is put on a random point."""
    centers = points[rng.choice(len(points), k, replace=False)].copy()
    for _ in range(iterations):
        nearest = assign(points, centers)
        sizes = np.bincount(nearest, minlength=k)
        member = sp.csr_matrix((np.ones(len(points), np.float32), nearest, np.arange(len(points) + 1)))
        member.resize((len(points), k))
        centers = (member.T @ points) / np.maximum(sizes, 1)[:, None].astype(np.float32)
        empty = np.flatnonzero(sizes == 0)
        centers[empty] = points[rng.choice(len(points), len(empty), replace=False)]
    return centers


def class_labels(
    train: sp.csr_matrix, test: sp.csr_matrix, k: int, rng: np.random.Generator, min_size: int = 5
) -> tuple[Labels, Labels]:
    """Labels of `k` classes: clusters of the training rows in a random projection; test rows join the nearest.

    Only the number of classes matters to the timings they are for; clusters make the classes learnable and,
    like real ones, of unequal size.
    """
    projection = rng.standard_normal((train.shape[1], 64), np.float32) / np.float32(8)
    points, test_points = _project(train, projection), _project(test, projection)
    centers = kmeans(points, k, 10, rng)
    return _fill_small(assign(points, centers), points, centers, min_size), assign(test_points, centers)


def _project(rows: sp.csr_matrix, projection: Floats) -> Floats:
    """Square-rooted word frequencies have length 1, so no row weighs more than another."""
    total = np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1)
    roots = sp.csr_matrix((np.sqrt(rows.data), rows.indices, rows.indptr), shape=rows.shape)
    return (roots @ projection) / np.sqrt(total)[:, None].astype(np.float32)


def _fill_small(labels: Labels, points: Floats, centers: Floats, min_size: int) -> Labels:
    """Bring every class to `min_size` members by handing it the nearest rows of classes that can spare them."""
    labels = labels.copy()
    sizes = np.bincount(labels, minlength=len(centers))
    for small in np.flatnonzero(sizes < min_size):
        order = np.argsort(-closeness(points, centers[small : small + 1]).ravel(), kind="stable")
        for i in order:
            if sizes[small] >= min_size:
                break
            if labels[i] != small and sizes[labels[i]] > min_size:
                sizes[labels[i]] -= 1
                sizes[small] += 1
                labels[i] = small
    return labels
