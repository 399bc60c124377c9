"""The peer: scikit-learn's SVC with a Gaussian kernel, its two parameters from a grid by cross-validation."""

from __future__ import annotations

import time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from data_sets import Split
from timing import Row

# 7 × 5 around scikit-learn's own choice for standardized columns, C = 1 and gamma = 1/columns.
GRID_C = [4.0**k for k in range(-1, 6)]
GAMMA_TIMES_COLUMNS = [4.0**k for k in range(-3, 2)]
FOLDS = 5


def search(split: Split) -> Row:
    """Seconds of the search with its last fit, on one thread."""
    columns = split.train.shape[1]
    grid = {"C": GRID_C, "gamma": [times / columns for times in GAMMA_TIMES_COLUMNS]}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    machine = GridSearchCV(SVC(kernel="rbf"), grid, cv=folds, n_jobs=1)
    started, cpu_started = time.perf_counter(), time.process_time()
    machine.fit(split.train, split.train_labels)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    wrong = np.mean(machine.predict(split.test) != split.test_labels)
    return {"fit_seconds": seconds, "cpu_seconds": cpu_seconds, "error": float(wrong), "best": machine.best_params_}
