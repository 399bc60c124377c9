"""
A user-defined similarity: sets of keypoints
============================================

A user-defined similarity in Python: sets of keypoints, compared by voting for a displacement.

A sample is a dict of points and their kinds, as from a corner detector. Two samples are similar if many points of the
same kind agree on one displacement. It does not correspond to vectors, and it is not a kernel. `@pairs` turns a
function of two samples into a similarity for `BasisExpansionSVC`; `check_similarity` validates it.

.. code-block:: sh

    python own_similarity.py                                   # constellations, moved, incomplete and with clutter
    python own_similarity.py --data keypoints.jsonl --out .    # {"points": [[x, y], ...], "kinds": [...], "label": ...}

Expect 95 %, while a linear SVM on the number of points of each kind is at chance level, 25 %. The spectrum of 200
samples has negative eigenvalues, one in seven, which the check on 20 samples does not detect.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from widemargin import BasisExpansionSVC, load, save
from widemargin.similarity import pairs
from widemargin.testing import check_similarity

N_KINDS = 4
Keypoints = dict[str, np.ndarray]


@pairs
def agreement(sample: Keypoints, basis: Keypoints) -> float:
    """The number of pairs of points of one kind that agree on a displacement, to within about a unit, per basis
    point."""
    same = sample["kinds"][:, None] == basis["kinds"]
    moves = (sample["points"][:, None] - basis["points"])[same]
    if len(moves) == 0:
        return 0.0
    # Encodes displacements as one number per square of 2 x 2 units: much faster to count than pairs of numbers.
    _, votes = np.unique(np.round(moves / 2) @ (1.0, 1000.0), return_counts=True)
    return votes.max() / len(basis["kinds"])


def make_keypoints(n: int, n_classes: int = 4, seed: int = 0) -> tuple[list[Keypoints], np.ndarray]:
    """Constellations of 12 points, after the loss of half of them, shifted as a whole, with 6 points of clutter."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(N_KINDS), 3)
    # All classes have the same kinds of points: they differ only in their positions.
    layouts = rng.uniform(0, 30, (n_classes, len(kinds), 2))
    y = rng.integers(0, n_classes, n)
    samples = []
    for label in y:
        visible = rng.random(len(kinds)) < 1 / 2
        points = layouts[label][visible] + rng.normal(0, 0.4, (visible.sum(), 2))
        points = np.concatenate([points, rng.uniform(-5, 35, (6, 2))]) + rng.uniform(-20, 20, 2)
        samples.append({"points": points, "kinds": np.concatenate([kinds[visible], rng.integers(0, N_KINDS, 6)])})
    return samples, y


def read(path: Path) -> tuple[list[Keypoints], np.ndarray]:
    """One sample per line."""
    if not path.is_file():
        raise SystemExit(f"{path} is not a file: --data needs a .jsonl")
    samples, labels = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            points, kinds = np.array(record["points"], dtype=float), np.array(record["kinds"], dtype=int)
            labels.append(record["label"])
            if points.shape != (len(kinds), 2):
                raise ValueError(f"points have shape {points.shape}, expected ({len(kinds)}, 2)")
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"{path}, line {number}: {error!r}; it needs points, kinds and label") from None
        samples.append({"points": points, "kinds": kinds})
    return samples, np.array(labels)


def histogram(samples: list[Keypoints]) -> np.ndarray:
    """The keypoints as a vector: the number of points of each kind, from 0 to 15."""
    return np.stack([np.bincount(sample["kinds"], minlength=16)[:16] for sample in samples])


def draw(samples: list[Keypoints], path: Path) -> None:
    """The eigenvalues of the similarities among samples: a kernel would have none below 0."""

    from widemargin.inspection import SpectrumDisplay

    display = SpectrumDisplay.from_similarity(agreement, samples)
    display.figure_.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a .jsonl of points, kinds and label")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    samples, y = read(args.data) if args.data else make_keypoints(300 if args.small else 1200)
    half = len(samples) // 2
    train, y_train, test, y_test = samples[:half], y[:half], samples[half:], y[half:]

    with warnings.catch_warnings():
        # It warns that the similarity is not symmetric, which the report also says.
        warnings.simplefilter("ignore", UserWarning)
        print(check_similarity(agreement, train))

    svc = BasisExpansionSVC(agreement, n_basis=60)
    linear = make_pipeline(FunctionTransformer(histogram), LinearSVC())
    for name, method in (("linear SVM on the kinds", linear), ("votes for a displacement", svc)):
        start = time.perf_counter()
        accuracy = method.fit(train, y_train).score(test, y_test)
        print(f"{name:<26} accuracy {accuracy:.3f}  seconds {time.perf_counter() - start:6.2f}")

    with tempfile.TemporaryDirectory() as folder:
        # The function is pickled into the model file by name: `trusted` allows loading it.
        save(svc, Path(folder) / "keypoints.model")
        again = load(Path(folder) / "keypoints.model", trusted=True)
    print(
        f"loaded again, it says the same: {np.array_equal(again.decision_function(test), svc.decision_function(test))}"
    )
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        draw(train[:200], args.out / "own_similarity.png")
    return accuracy


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
