"""Engines with an interface of their own, given scikit-learn's."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin

RUST_PEERS = Path(__file__).resolve().parent / "rust" / "target" / "release" / "rust-peers"


class Liblinear(ClassifierMixin, BaseEstimator):
    """With a bias of 1, as for all linear engines here; the solver is LIBLINEAR's number of it.

    `divide` divides every column by its maximum; `m` is the multi-core version's number of threads.
    """

    def __init__(self, solver: int = 2, divide: bool = False, m: int = 0, C: float = 1.0) -> None:
        self.solver, self.divide, self.m, self.C = solver, divide, m, C

    def fit(self, X: Any, y: np.ndarray) -> Liblinear:
        from liblinear.liblinearutil import parameter, problem, train

        self.top_ = np.asarray(X.max(axis=0).todense()).ravel().clip(1e-30) if self.divide else None
        given = problem(y.astype(np.float64), self._rows(X), bias=1.0)
        threads = f" -m {self.m}" if self.m else ""
        model = train(given, parameter(f"-s {self.solver} -c {self.C:g} -B 1 -q{threads}"))
        weights = np.ctypeslib.as_array(
            model.w, ((model.nr_feature + 1) * (1 if model.nr_class == 2 else model.nr_class),)
        )
        weights = weights.reshape(model.nr_feature + 1, -1)
        # It knows of no column behind the last one that has a number in training.
        unknown = np.zeros((X.shape[1] - model.nr_feature, weights.shape[1]))
        self.coef_ = np.vstack([weights[:-1], unknown, weights[-1:]])
        self.classes_ = np.array(model.get_labels())
        return self

    def predict(self, X: Any) -> np.ndarray:
        # LIBLINEAR's own Python predict goes row by row; a product of matrices does it justice.
        scores = np.asarray(self._rows(X) @ self.coef_[:-1]) + self.coef_[-1]
        return self.classes_[scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] <= 0).astype(int)]

    def _rows(self, X: Any) -> Any:
        if self.top_ is not None:
            X = X @ sp.diags(1 / self.top_)
        return X.astype(np.float64)


class Libsvm(ClassifierMixin, BaseEstimator):
    def __init__(self, gamma: float = 1.0, C: float = 1.0) -> None:
        self.gamma, self.C = gamma, C

    def fit(self, X: np.ndarray, y: np.ndarray) -> Libsvm:
        from libsvm.svmutil import svm_parameter, svm_problem, svm_train

        given = svm_problem(y.astype(np.float64), X.astype(np.float64))
        self.model_ = svm_train(given, svm_parameter(f"-t 2 -g {self.gamma:g} -c {self.C:g} -m 2000 -q"))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        from libsvm.svmutil import svm_predict

        labels, _, _ = svm_predict([], X.astype(np.float64), self.model_, "-q")
        return np.array(labels).astype(int)

    def size(self) -> int:
        """Bytes of its own model file: there is nothing to pickle."""
        from libsvm.svmutil import svm_save_model

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            svm_save_model(str(path), self.model_)
            return path.stat().st_size


class Stopped(ClassifierMixin, BaseEstimator):
    """Boosted trees, as many as lower the loss on a tenth of the samples, at most 2,000; that tenth trains nothing."""

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: np.ndarray) -> Stopped:
        from sklearn.model_selection import train_test_split

        rows = np.arange(X.shape[0])
        counts = np.unique(y, return_counts=True)[1]
        train, held = train_test_split(rows, test_size=0.1, random_state=0, stratify=y if counts.min() > 1 else None)
        self.model_ = self._fitted(X[train], y[train], X[held], y[held])
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.model_.predict(X)).ravel()


class LightGBMStopped(Stopped):
    def _fitted(self, X: Any, y: np.ndarray, held: Any, held_y: np.ndarray) -> Any:
        from lightgbm import LGBMClassifier, early_stopping

        model = LGBMClassifier(n_estimators=2000, n_jobs=self.n_jobs, random_state=0, verbose=-1)
        return model.fit(X, y, eval_set=[(held, held_y)], callbacks=[early_stopping(30, verbose=False)])


class CatBoostStopped(Stopped):
    def _fitted(self, X: Any, y: np.ndarray, held: Any, held_y: np.ndarray) -> Any:
        from catboost import CatBoostClassifier

        model = CatBoostClassifier(
            iterations=2000, thread_count=self.n_jobs, random_seed=0, verbose=0, allow_writing_files=False
        )
        return model.fit(X, y, eval_set=(held, held_y), early_stopping_rounds=30)


class DlibTwoClasses(ClassifierMixin, BaseEstimator):
    """Samples in its own vectors; its Python package knows no matrix to predict for, so row by row."""

    def __init__(self, gamma: float = 1.0, C: float = 1.0) -> None:
        self.gamma, self.C = gamma, C

    def fit(self, X: np.ndarray, y: np.ndarray) -> DlibTwoClasses:
        import dlib

        self.classes_ = np.unique(y)
        trainer = dlib.svm_c_trainer_radial_basis()
        trainer.gamma, trainer.cache_size = self.gamma, 2000
        trainer.set_c(self.C)
        labels = dlib.array(np.where(y == self.classes_[-1], 1.0, -1.0).tolist())
        self.model_ = trainer.train(self._vectors(X), labels)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.model_(row) for row in self._vectors(X)])

    def _vectors(self, X: np.ndarray) -> Any:
        import dlib

        vectors = dlib.vectors()
        for row in X.tolist():
            vectors.append(dlib.vector(row))
        return vectors


def dlib(gamma: float = 1.0, C: float = 1.0) -> Any:
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(DlibTwoClasses(gamma, C))


def torchkm(n_jobs: int = 1) -> Any:
    """Two classes at a time and one gamma, its own: C is chosen inside by cross-validation along a path."""
    import torch
    from sklearn.multiclass import OneVsRestClassifier
    from torchkm.estimators import TorchKMSVC

    torch.set_num_threads(n_jobs)
    return OneVsRestClassifier(TorchKMSVC(kernel="rbf", cv=5, device="cpu"))


class Xrfm(ClassifierMixin, BaseEstimator):
    """A fifth is held out for its own stopping and tuning, as its README does."""

    def __init__(self, bandwidth: float = 10.0, n_jobs: int = 1) -> None:
        self.bandwidth, self.n_jobs = bandwidth, n_jobs

    def fit(self, X: np.ndarray, y: np.ndarray) -> Xrfm:
        import torch
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import StandardScaler
        from xrfm import xRFM

        torch.set_num_threads(self.n_jobs)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.scaler_ = StandardScaler().fit(X)
        train, held, y_train, y_held = train_test_split(X, codes, test_size=0.2, stratify=codes, random_state=0)
        parts = [torch.tensor(self.scaler_.transform(part), dtype=torch.float32) for part in (train, held)]
        labels = [torch.tensor(part) for part in (y_train, y_held)]
        results = {
            "model": {
                "kernel": "l2",
                "bandwidth": self.bandwidth,
                "exponent": 1.0,
                "diag": False,
                "bandwidth_mode": "constant",
            },
            "fit": {"reg": 1e-3, "iters": 5, "verbose": False, "early_stop_rfm": True},
        }
        self.model_ = xRFM(
            rfm_params=results,
            device=torch.device("cpu"),
            tuning_metric="accuracy",
            random_state=0,
            verbose=False,
            n_threads=self.n_jobs,
        )
        self.model_.fit(parts[0], labels[0], parts[1], labels[1])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        import torch

        found = self.model_.predict(torch.tensor(self.scaler_.transform(X), dtype=torch.float32))
        return self.classes_[np.asarray(found).reshape(len(X)).astype(int)]


class RustPeer(ClassifierMixin, BaseEstimator):
    """A crate's SVC, run by the program in `rust/`: two classes at a time, one against the rest.

    The program trains and predicts in one go, so a fit only keeps the samples; it tells its own seconds and memory.
    """

    engine = ""

    def __init__(self, gamma: float = 1.0, C: float = 1.0) -> None:
        self.gamma, self.C = gamma, C

    def fit(self, X: np.ndarray, y: np.ndarray) -> RustPeer:
        self.train_, self.labels_ = X, y
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        classes, codes = np.unique(self.labels_, return_inverse=True)
        with tempfile.TemporaryDirectory() as folder:
            names = {"train": self.train_, "labels": codes, "test": X}
            paths = {name: os.path.join(folder, f"{name}.npy") for name in names}
            for name, array in names.items():
                np.save(paths[name], np.ascontiguousarray(array, np.float64))
            command = [str(RUST_PEERS), self.engine, str(self.gamma), str(self.C), *paths.values()]
            results = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        keys = ("fit_seconds", "predict_seconds", "peak_bytes", "model_bytes")
        times = {"fit_cpu_seconds": None, "predict_cpu_seconds": results["predict_seconds"]}
        self.measured_ = {**times, **{key: results[key] for key in keys}}
        return classes[np.array(results["predicted"])]


class Linfa(RustPeer):
    engine = "linfa"


class Smartcore(RustPeer):
    engine = "smartcore"
