"""
Text: additive kernels on word counts
=====================================

Text: additive kernels on word counts, compared with a linear SVM on the same counts.

Words are bursty: a document that has used a word is likely to use it again. A linear SVM counts the tenth occurrence as
much as the first; histogram intersection and chi-squared do not, at the cost of three numbers per feature instead of
one.

.. code-block:: sh

    python text_intersection.py                                   # documents made from topics
    python text_intersection.py --data news20.train.npz --out .   # files of bags_of_words.py, or any in SciPy's layout

Expect 97 % for intersection, 98 % for chi-squared and 91 % for the linear SVM, each at its best C. On 20 Newsgroups (by
date, 1,000 words) 72.8, 74.0 and 69.6 %.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from widemargin import PowerMeanSVC

CS = (0.001, 0.01, 0.1, 1.0, 10.0)
# The same scaling that PowerMeanSVC does internally.
METHODS: dict[str, Callable[[float], Any]] = {
    "intersection": lambda c: PowerMeanSVC(kernel="intersection", C=c, nodes=3, random_state=0),
    "chi-squared": lambda c: PowerMeanSVC(kernel="chi2", C=c, nodes=3, random_state=0),
    "linear": lambda c: make_pipeline(MaxAbsScaler(), LinearSVC(C=c, random_state=0)),
}


def make_documents(
    n: int, n_topics: int = 8, n_words: int = 2000, seed: int = 0
) -> tuple[sparse.csr_array, np.ndarray]:
    """Documents of topics that share most of their words."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(n_words, 0.2))
    topics = 0.7 * common + 0.3 * rng.dirichlet(np.full(n_words, 0.2), n_topics)
    y = rng.integers(0, n_topics, n)
    rows = np.empty((n, n_words), dtype=np.float32)
    for row, topic in zip(rows, topics[y], strict=True):
        # Each document draws its own distribution around its topic's: this causes the bursts.
        own = rng.dirichlet(40 * topic + 1e-6)
        row[:] = rng.multinomial(rng.integers(40, 300), own)
    return sparse.csr_array(rows), y


def read(path: Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """A matrix of counts and its labels."""
    arrays = np.load(path)
    if missing := {"indptr", "indices", "data", "shape", "labels"} - set(arrays.files):
        raise SystemExit(
            f"{path} lacks the arrays {sorted(missing)}: expected scipy.sparse.save_npz's and 'labels', as "
            "bags_of_words.py writes them"
        )
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return sparse.csr_matrix(parts, shape=tuple(arrays["shape"])), arrays["labels"]


def load(path: Path) -> tuple[sparse.csr_matrix, sparse.csr_matrix, np.ndarray, np.ndarray]:
    """NAME.train.npz with its NAME.test.npz, or a single file, a quarter for testing."""
    if not path.is_file():
        raise SystemExit(f"{path} is not a file: --data needs a .npz of counts, as bags_of_words.py writes them")
    X, y = read(path)
    test = path.with_name(path.name.replace(".train.", ".test."))
    if test == path or not test.is_file():
        return train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    X_test, y_test = read(test)
    return X, X_test, y, y_test


def draw(accuracies: dict[str, list[float]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    styles = zip(("#0072B2", "#009E73", "#D55E00"), ("o-", "s--", "^:"), strict=True)
    for (name, values), (color, style) in zip(accuracies.items(), styles, strict=True):
        axes.semilogx(CS, 100 * np.array(values), style, color=color, label=name)
    axes.set(xlabel="C", ylabel="test accuracy (%)", title="Additive kernels and a linear SVM on word counts")
    axes.grid(alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="NAME.train.npz with NAME.test.npz, or one .npz")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    parser.add_argument("--small", action="store_true", help="a size of seconds")
    args = parser.parse_args(argv)
    if args.data:
        X, X_test, y, y_test = load(args.data)
    else:
        X, y = make_documents(800 if args.small else 4000)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    print(f"{X.shape[0]} documents to train on, {X_test.shape[0]} to test, {X.shape[1]} words, {len(set(y))} classes")

    accuracies: dict[str, list[float]] = {}
    for name, make in METHODS.items():
        accuracies[name], start = [], time.perf_counter()
        for c in CS:
            with warnings.catch_warnings():
                # LinearSVC's convergence warnings at large C are irrelevant here.
                warnings.simplefilter("ignore", ConvergenceWarning)
                accuracies[name].append(make(c).fit(X, y).score(X_test, y_test))
        seconds = time.perf_counter() - start
        shown = "  ".join(f"C={c:g}: {a:.3f}" for c, a in zip(CS, accuracies[name], strict=True))
        print(f"{name:<14} accuracy {max(accuracies[name]):.3f}  seconds {seconds:6.2f}   {shown}")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        draw(accuracies, args.out / "text_intersection.png")
    return max(accuracies["intersection"])


# %%
# With the built-in data this prints and draws:
if __name__ == "__main__":
    main()
