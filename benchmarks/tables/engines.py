"""The classifiers that are compared, each with the search of its parameters that its users would make.

An engine is a function of the training rows, their labels (0, 1, …) and the CPU seconds that its search may take; it
returns a classifier. A search ends early when its time is up: the row of results says how many settings were tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

N_SETTINGS = 25
MAX_TREES = 2000
PATIENCE = 50
# Rows on which the grid of SVC is compared: five values of C and of gamma in three folds.
SVC_ROWS = 3000


def basis_expansion(X: Any, y: Any, _: float) -> Any:
    from widemargin import BasisExpansionSVC

    return BasisExpansionSVC(n_jobs=1, random_state=0).fit(X, y)


def auto(X: Any, y: Any, _: float) -> Any:
    from widemargin import AutoSVC

    return AutoSVC(n_jobs=1, random_state=0).fit(X, y)


def svc(X: Any, y: Any, _: float) -> Any:
    grid = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-3, 1, 5) / X.shape[1]}
    some = slice(None)
    if len(y) > SVC_ROWS:
        some, _ = train_test_split(np.arange(len(y)), train_size=SVC_ROWS, stratify=y, random_state=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(cache_size=1000)), grid, cv=3, refit=False)
    best = search.fit(X[some], y[some]).best_params_
    return make_pipeline(StandardScaler(), SVC(cache_size=1000)).set_params(**best).fit(X, y)


def lightgbm_default(X: Any, y: Any, _: float) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1).fit(X, y)


def lightgbm_tuned(X: Any, y: Any, seconds: float) -> Any:
    from lightgbm import LGBMClassifier, early_stopping

    def make(setting: dict[str, Any]) -> Any:
        return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1, subsample_freq=1, **setting)

    def draw(rng: np.random.Generator) -> dict[str, Any]:
        return {
            "learning_rate": 10 ** rng.uniform(-2, -0.5),
            "num_leaves": int(2 ** rng.uniform(3, 8)),
            "min_child_samples": int(2 ** rng.uniform(1, 6)),
            "subsample": rng.uniform(0.5, 1),
            "colsample_bytree": rng.uniform(0.4, 1),
            "reg_lambda": 10 ** rng.uniform(-3, 1),
        }

    def stopped(model: Any, a: Any, b: Any, held: Any, truth: Any) -> tuple[Any, int]:
        model.fit(a, b, eval_set=[(held, truth)], callbacks=[early_stopping(PATIENCE, verbose=False)])
        return model, model.best_iteration_

    return randomly(X, y, seconds, (make, draw, stopped, "n_estimators"))


def catboost_tuned(X: Any, y: Any, seconds: float) -> Any:
    from catboost import CatBoostClassifier

    def make(setting: dict[str, Any]) -> Any:
        return CatBoostClassifier(thread_count=1, random_seed=0, verbose=False, allow_writing_files=False, **setting)

    def draw(rng: np.random.Generator) -> dict[str, Any]:
        return {
            "learning_rate": 10 ** rng.uniform(-1.5, -0.5),
            "depth": int(rng.integers(4, 9)),
            "l2_leaf_reg": 10 ** rng.uniform(0, 1),
            "random_strength": rng.uniform(0, 2),
        }

    def stopped(model: Any, a: Any, b: Any, held: Any, truth: Any) -> tuple[Any, int]:
        model.fit(a, b, eval_set=(held, truth), early_stopping_rounds=PATIENCE)
        return model, model.get_best_iteration() + 1

    return randomly(X, y, seconds, (make, draw, stopped, "iterations"))


def randomly(X: Any, y: Any, seconds: float, engine: tuple[Callable[..., Any], ...]) -> Any:
    """Random settings with early stopping on a fifth of the rows; the one of least log loss is fitted to all rows."""
    make, draw, stopped, trees = engine
    a, held, b, truth = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    rng, started = np.random.default_rng(0), time.process_time()
    best, least, tried = {}, np.inf, 0
    for tried in range(1, N_SETTINGS + 1):
        # The first setting is the engine's own.
        setting = {} if tried == 1 else draw(rng)
        model, n_trees = stopped(make({**setting, trees: MAX_TREES}), a, b, held, truth)
        loss = log_loss(truth, model.predict_proba(held), labels=np.arange(y.max() + 1))
        if loss < least:
            best, least = {**setting, trees: max(1, n_trees)}, loss
        if time.process_time() - started > seconds:
            break
    model = make(best).fit(X, y)
    model.tried_ = tried
    return model


def real_mlp(X: Any, y: Any, _: float) -> Any:
    from pytabkit import RealMLP_TD_Classifier

    return RealMLP_TD_Classifier(device="cpu", n_threads=1, random_state=0, verbosity=0).fit(X, y)


def xrfm(X: Any, y: Any, _: float) -> Any:
    return Xrfm().fit(X, y)


class Xrfm:
    """xRFM at its defaults on standardized columns; a fifth of the rows stops it."""

    def fit(self, X: Any, y: Any) -> Any:
        from xrfm import xRFM

        a, held, b, truth = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
        self.scaler = StandardScaler().fit(a)
        self.model = xRFM(device="cpu", tuning_metric="accuracy", random_state=0)
        self.model.fit(self.scaled(a), b, self.scaled(held), truth)
        return self

    def scaled(self, X: Any) -> Any:
        return self.scaler.transform(X).astype(np.float32)

    def predict(self, X: Any) -> Any:
        return self.model.predict(self.scaled(X))

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.scaled(X))


ENGINES: dict[str, Callable[[Any, Any, float], Any]] = {
    "BasisExpansionSVC()": basis_expansion,
    "AutoSVC()": auto,
    "SVC, 25 points": svc,
    "LightGBM": lightgbm_default,
    "LightGBM, tuned": lightgbm_tuned,
    "CatBoost, tuned": catboost_tuned,
    "RealMLP": real_mlp,
    "xRFM": xrfm,
}
