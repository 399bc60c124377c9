"""The mean-norm scaling of vectors, equations 3 and 4 of the paper."""

from __future__ import annotations

import numpy as np


class MeanNorm:
    """Subtracts the mean of the training vectors and divides by the mean norm of what is left."""

    def fit(self, X: np.ndarray) -> MeanNorm:
        self.mean = X.mean(axis=0, dtype=np.float64)
        self.norm = float(np.linalg.norm(X - self.mean, axis=1).mean()) or 1.0
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return ((X - self.mean) / self.norm).astype(X.dtype)

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        return self.fit(X).transform(X)
