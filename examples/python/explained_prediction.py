"""
Explanations of predictions
===========================

Explanations of predictions for vectors, histograms, images, series and strings.

A decision value is a sum, over the bases that a sample is compared with or over its columns. `explain` returns the
terms, and for the strongest ones the parts of the similarity: the columns in which two vectors differ, the cells in
which two images match, the warping path between two series, the edits from one string to another.

.. code-block:: sh

    python explained_prediction.py               # the predictions for each kind of samples
    python explained_prediction.py --out .       # a page with pictures for each, as notebooks show it

Each explanation adds up to the decision value; expect sums that agree to six digits.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from widemargin import BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC
from widemargin.inspection import Explanation, explain

SURNAMES = {
    "Italian": "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Costa Mancini",
    "Polish": "Nowak Kowalski Kowalczyk Kaminski Lewandowski Zielinski Szymanski Wozniak Dabrowski Kozlowski Mazur",
    "Swedish": "Andersson Johansson Karlsson Nilsson Eriksson Larsson Olsson Persson Svensson Gustafsson Lindberg",
}


def vectors(seed: int) -> Explanation:
    """A biopsy, by a thin plate SVM on its standardized measurements."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[:, :10], np.where(data.target == 1, "benign", "malignant")
    svc = ThinPlateSVC("distance", n_basis=40, basis="random", random_state=seed).fit(X.iloc[:300], y[:300])
    return explain(svc, X, 304)


def histograms(seed: int) -> Explanation:
    """Counts of visual words: an additive kernel says exactly what each column contributes."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.5, 4.0, size=(3, 20))
    y = np.repeat(["coast", "forest", "street"], 60)
    X = rng.poisson(np.repeat(rates, 60, axis=0))
    return explain(PowerMeanSVC(-1.0).fit(X[::2], y[::2]), X, 1)


def images(seed: int) -> Explanation:
    """A digit, by cells of gradients that may move."""
    digits = load_digits()
    pixels = np.kron(digits.images[:400], np.ones((4, 4))) * 15.9
    X = pixels.astype(np.uint8)[..., None]
    svc = BasisExpansionSVC("hog:cell=4/deformable:rigid=1,local=1", n_basis=60, C=1.0, random_state=seed)
    return explain(svc.fit(X[:300], digits.target[:300]), X, 305)


def series(seed: int) -> Explanation:
    """A bump early or late in noise, wherever exactly: dynamic time warping."""
    rng = np.random.default_rng(seed)
    y = np.array(["one bump", "two bumps"] * 40)
    t = np.linspace(0, 1, 70)
    X = rng.normal(0, 0.06, size=(80, 70))
    for row, label in zip(X, y, strict=True):
        row += np.exp(-(((t - rng.uniform(0.2, 0.4)) / 0.06) ** 2))
        if label == "two bumps":
            row += 0.8 * np.exp(-(((t - rng.uniform(0.6, 0.8)) / 0.06) ** 2))
    svc = BasisExpansionSVC("dtw:window=0.2", n_basis=12, C=1.0, random_state=seed)
    return explain(svc.fit(list(X[:60]), y[:60]), list(X), 63)


def strings(seed: int) -> Explanation:
    """A surname, by edit distance."""
    names = [name for text in SURNAMES.values() for name in text.split()]
    languages = [language for language, text in SURNAMES.items() for _ in text.split()]
    svc = BasisExpansionSVC("edit", C=1.0, normalization="mean_norm", random_state=seed).fit(names, languages)
    return explain(svc, ["Wisniewski"])


KINDS = {"vectors": vectors, "histograms": histograms, "images": images, "series": series, "strings": strings}


def explanations(kinds: list[str], seed: int) -> Iterator[tuple[str, Explanation]]:
    """The explanation of one prediction for each kind."""
    for kind in kinds:
        explanation = KINDS[kind](seed)
        sums = explanation.intercepts + explanation.contributions.sum(axis=0)
        off = np.abs(sums - explanation.decision_values).max() / np.abs(explanation.contributions).sum()
        print(f"{kind:<11} {explanation!r}: the sum of the terms is off by {off:.0e}")
        assert off < 1e-5, "the terms do not add up"
        yield kind, explanation


def main(argv: list[str] | None = None) -> list[str]:
    """Explains; returns what was predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--kind", choices=list(KINDS), action="append", help="one kind of samples only; may be repeated"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the pages there")
    parser.add_argument("--small", action="store_true", help="no effect: the example runs in seconds")
    parser.add_argument("--seed", type=int, default=0, help="of the data (default 0)")
    arguments = parser.parse_args(argv)
    predicted: list[str] = []
    for kind, explanation in explanations(arguments.kind or list(KINDS), arguments.seed):
        predicted.append(str(explanation.predicted))
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"explained_{kind}.html").write_text(explanation._repr_html_(), encoding="utf-8")
    return predicted


if __name__ == "__main__":
    main()
