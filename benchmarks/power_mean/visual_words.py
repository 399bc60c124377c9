"""A bag of visual words of CIFAR-10: 50,000 + 10,000 rows of 5,000 word counts.

The recipe is the usual one for images before deep features: 8x8 color patches every 2 pixels, each normalized
in contrast and whitened; a dictionary by k-means on patches of training images; every patch votes for its two
nearest words. It was chosen so that rows are as sparse (some 220 words each) and as hard for a linear classifier
as the histograms the power mean SVM was made for, and small enough to build in minutes on one core.

    python visual_words.py --data cifar-10-batches-bin --cache CACHE
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import cifar10
import clusters
import sparse_files

Floats = npt.NDArray[np.float32]
Images = npt.NDArray[np.uint8]

MANIFEST = "visual_words.json"
MANY_CLASSES = (96, 1000)


@dataclass(frozen=True)
class Design:
    """Everything that decides what is in the files."""

    words: int = 5000
    patch: int = 8
    stride: int = 2
    dimensions: int = 48
    votes: int = 2
    dictionary_patches: int = 100_000
    dictionary_images: int = 5000
    kmeans_iterations: int = 10
    contrast_floor: float = 10.0
    whitening_floor: float = 0.1
    seed: int = 0


@dataclass(frozen=True)
class Dictionary:
    """Whitening (mean, projection) and the words in the whitened space."""

    mean: Floats
    projection: Floats
    words: Floats

    def nearest(self, patches: Floats, votes: int) -> npt.NDArray[np.int32]:
        """The `votes` nearest words of each patch, nearest first."""
        closeness = clusters.closeness((patches - self.mean) @ self.projection, self.words)
        found = np.empty((len(patches), votes), np.int32)
        each = np.arange(len(patches))
        for k in range(votes):
            found[:, k] = closeness.argmax(axis=1)
            closeness[each, found[:, k]] = -np.inf
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds CIFAR-10")
    parser.add_argument("--cache", type=Path, required=True, help="folder to write the sets to")
    parser.add_argument("--force", action="store_true", help="build again what is there")
    arguments = parser.parse_args()
    try:
        ensure(arguments.data, arguments.cache, force=arguments.force)
    except cifar10.MissingDataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def ensure(data: Path | None, cache: Path, design: Design | None = None, force: bool = False) -> dict:
    """Build the sets unless `cache` holds them already by the same design; returns the manifest."""
    design = design or Design()
    manifest_path = cache / MANIFEST
    if manifest_path.is_file() and not force:
        manifest = json.loads(manifest_path.read_text())
        if manifest["design"] == asdict(design):
            return manifest
    if data is None:
        raise cifar10.MissingDataError(f"'{cache}' does not hold the sets yet, so --data is needed to build them")
    return build(data, cache, design)


@threadpool_limits.wrap(limits=1)
def build(data: Path, cache: Path, design: Design) -> dict:
    started = time.perf_counter()
    images = cifar10.load(data)
    cache.mkdir(parents=True, exist_ok=True)
    _say(started, "images read")
    rng = np.random.default_rng(design.seed)
    dictionary = learn_dictionary(images.x_train, design, rng)
    _say(started, f"{design.words} words learned")
    train = count_words(images.x_train, dictionary, design)
    test = count_words(images.x_test, dictionary, design)
    _say(started, f"words counted, {train.nnz / train.shape[0]:.1f} a row")

    save_pair(cache, "", train, images.y_train, test, images.y_test)
    sparse_files.save_libsvm(cache / "train.svm", train, images.y_train)
    sparse_files.save_libsvm(cache / "test.svm", test, images.y_test)
    _say(started, "files written")
    sizes = {}
    for k in MANY_CLASSES:
        y_train, y_test = clusters.class_labels(train, test, k, rng)
        save_pair(cache, str(k), train, y_train, test, y_test)
        sizes[str(k)] = _size_summary(y_train)
        _say(started, f"{k} classes by clustering")

    manifest = {"design": asdict(design), "set": describe(train, test), "class_sizes": sizes}
    (cache / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    return manifest


def learn_dictionary(images: Images, design: Design, rng: np.random.Generator) -> Dictionary:
    """Whitening and words from a random sample of the training images' patches."""
    chosen = images[np.sort(rng.choice(len(images), design.dictionary_images, replace=False))]
    per_image = -(-design.dictionary_patches // len(chosen))
    sample = []
    for image in chosen:
        patches = normalized_patches(image[None], design)
        sample.append(patches[rng.choice(len(patches), per_image, replace=False)])
    patches = np.concatenate(sample)
    mean = patches.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov((patches - mean).T))
    largest = np.argsort(variances)[::-1][: design.dimensions]
    projection = (axes[:, largest] / np.sqrt(variances[largest] + design.whitening_floor)).astype(np.float32)
    words = clusters.kmeans((patches - mean) @ projection, design.words, design.kmeans_iterations, rng)
    return Dictionary(mean, projection, words)


def normalized_patches(images: Images, design: Design) -> Floats:
    """All patches of all images, one a row, each with mean 0 and contrast near 1."""
    windows = np.lib.stride_tricks.sliding_window_view(images, (design.patch, design.patch), axis=(1, 2))
    windows = windows[:, :: design.stride, :: design.stride]
    rows = windows.reshape(-1, 3 * design.patch**2).astype(np.float32)
    rows -= rows.mean(axis=1, keepdims=True)
    # The floor keeps the noise of flat patches (sky, walls) from being blown up to full contrast.
    rows /= np.sqrt((rows * rows).mean(axis=1, keepdims=True) + np.float32(design.contrast_floor))
    return rows


def count_words(images: Images, dictionary: Dictionary, design: Design, block: int = 4) -> sp.csr_matrix:
    """One row of word counts an image; a few images at a time so that a block of similarities stays in cache."""
    per_image = len(normalized_patches(images[:1], design)) * design.votes
    found = np.empty((len(images), per_image), np.int32)
    for start in range(0, len(images), block):
        part = images[start : start + block]
        words = dictionary.nearest(normalized_patches(part, design), design.votes)
        found[start : start + len(part)] = words.reshape(len(part), per_image)
    ones = np.ones(found.size, np.float32)
    indptr = np.arange(0, found.size + 1, per_image)
    rows = sp.csr_matrix((ones, found.ravel(), indptr), shape=(len(images), design.words))
    rows.sum_duplicates()
    return rows


def save_pair(
    cache: Path,
    suffix: str,
    train: sp.csr_matrix,
    y_train: sparse_files.Labels,
    test: sp.csr_matrix,
    y_test: sparse_files.Labels,
) -> None:
    sparse_files.save_npz(cache / f"train{suffix}.npz", train, y_train)
    sparse_files.save_npz(cache / f"test{suffix}.npz", test, y_test)


def describe(train: sp.csr_matrix, test: sp.csr_matrix) -> dict:
    """What a reader needs to compare this set with another."""
    scaled = sparse_files.divided(train, sparse_files.training_maximum(train))
    per_row = np.diff(train.indptr)
    return {
        "train_rows": train.shape[0],
        "test_rows": test.shape[0],
        "columns": train.shape[1],
        "train_nonzeros": int(train.nnz),
        "nonzeros_a_row": float(per_row.mean()),
        "nonzeros_a_row_min_max": [int(per_row.min()), int(per_row.max())],
        "mean_count": float(train.data.mean()),
        "max_count": int(train.data.max()),
        "empty_columns": int((train.getnnz(axis=0) == 0).sum()),
        "distinct_values_after_scaling": len(np.unique(scaled.data)),
        "mean_scaled_row_sum": float(scaled.sum() / train.shape[0]),
        "counts_sha256": fingerprint(train, test),
    }


def fingerprint(*parts: sp.csr_matrix) -> str:
    """Tells whether two machines built the same counts: ties between words may fall otherwise on another BLAS."""
    digest = hashlib.sha256()
    for rows in parts:
        for array in (rows.indptr.astype("<i8"), rows.indices.astype("<i4"), rows.data.astype("<f4")):
            digest.update(array.tobytes())
    return digest.hexdigest()


def _size_summary(labels: sparse_files.Labels) -> dict:
    sizes = np.bincount(labels)
    return {"min": int(sizes.min()), "median": float(np.median(sizes)), "max": int(sizes.max())}


def _say(started: float, text: str) -> None:
    print(f"{time.perf_counter() - started:7.1f} s  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
