"""What tables 2 and 3 print of classes: the least and the most iterations, and the mean accuracy over the classes.

    python classes.py --data DATA

The power mean SVM at C = 0.01 alone; `tables.py` compares it with other methods, and has CIFAR-10.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import Study

# isort: split
import numpy as np
from sklearn.metrics import balanced_accuracy_score

import sets
from widemargin import PowerMeanSVC

C = 0.01

# Names as in `tables.py`.
ENGINES: dict[str, dict[str, Any]] = {
    "PmSVM-χ², the paper's": {"kernel": -1.0, "approximation": "polynomial"},
    "PmSVM-χ², hinge": {"kernel": -1.0, "approximation": "polynomial", "loss": "hinge"},
    "PmSVM-χ², Nyström": {"kernel": -1.0},
    "PmSVM-HI (p = −8), the paper's": {"kernel": -8.0, "approximation": "polynomial"},
    "PmSVM-HI (p = −8), Nyström": {"kernel": -8.0},
}


def measure(data: sets.Histograms, parameters: dict[str, Any]) -> dict[str, float]:
    machine = PowerMeanSVC(**parameters, C=C, nodes=3, random_state=0, n_jobs=1).fit(data.train, data.y_train)
    given, iterations = machine.predict(data.test), machine.report_["iterations"]
    return {
        "% right": 100 * float(np.mean(given == data.y_test)),
        "mean % a class": 100 * float(balanced_accuracy_score(data.y_test, given)),
        "least iterations": min(iterations),
        "mean iterations": float(np.mean(iterations)),
        "most iterations": max(iterations),
    }


def main() -> int:
    study = Study(__file__, __doc__)
    classes = 100 if study.quick else 1000
    loaders: dict[str, Callable[[], sets.Histograms]] = {
        "Scene-15": lambda: sets.scene15(study.data),
        "20 Newsgroups": lambda: sets.newsgroups(study.data),
        "many classes": lambda: sets.many_classes(classes=classes, a_class=4, columns=2000),
    }
    for name, load in loaders.items():
        data = load()
        rows = []
        for engine, parameters in ENGINES.items():
            found = measure(data, parameters)
            for what, value in found.items():
                study.found(f"{name}, {engine}: {what}", value)
            rows.append([engine, *(f"{value:.4g}" for value in found.values())])
        study.table(name, f"{data.shape()}.", ["", *found], rows)
    return study.finish()


if __name__ == "__main__":
    raise SystemExit(main())
