"""Common parts of the regression models."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ._base import FittedModel
from ._bases import same_length
from ._samples import as_contiguous


class FittedRegressor(FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A model of one or several numbers for each sample."""

    _reads_files = True
    # How scikit-learn checks the targets.
    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True, "y_numeric": True}
    # Whether the targets had one dimension.
    _is_flat: bool

    def _targets(self, y: Any, n_samples: int) -> npt.NDArray[np.float64]:
        """(samples, outputs), checked."""
        targets = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if targets.ndim > 2:
            raise ValueError(f"y has {targets.ndim} dimensions, expected (n_samples,) or (n_samples, n_outputs)")
        same_length(n_samples, len(targets))
        self._is_flat = targets.ndim == 1
        return as_contiguous(targets.reshape(len(targets), -1), np.float64)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The targets of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs), as the targets of ``fit``
        """
        check_is_fitted(self)
        values: npt.NDArray[np.float64] = self._model.predict(self._collected(X), self._threads())
        return values[:, 0] if self._is_flat else values

    def _describe(self, told: dict[str, Any]) -> None:
        """Fitted attributes from a model file's header."""
        self.report_ = told["report"]
        self.C_, points = told["C"], told["path"]
        # Of a fit with another loss.
        for name in ("loo_error_", "fold_error_", "epsilon_"):
            self.__dict__.pop(name, None)
        if told.get("loss", "squared-error") != "squared-error":
            self._describe_losses(told)
            return
        self.path_ = {name: np.array([point[name] for point in points]) for name in ("C", "loo_r2", "loo_rmse")}
        taken = [point for point in points if point["C"] == self.C_]
        errors = np.array(taken[0]["loo_rmse"] if taken else [np.nan] * told["n_outputs"])
        self.loo_error_ = float(errors[0]) if self._is_flat else errors
        self.estimated_score_ = float(taken[0]["loo_r2"]) if taken else float("nan")

    def _describe_losses(self, told: dict[str, Any]) -> None:
        """The attributes of losses that are not squared: by leave-one-out, of the quantile loss by folds."""
        by, points = "fold" if told["loss"] == "quantile" else "loo", told.get("loss_path", [])
        columns = {"C": "C", f"{by}_d2": "d2", f"{by}_loss": "loss"}
        self.path_ = {name: np.array([point[key] for point in points]) for name, key in columns.items()}
        taken = [point for point in points if point["C"] == self.C_]
        errors = np.array(taken[0]["loss"] if taken else [np.nan] * told["n_outputs"])
        setattr(self, f"{by}_error_", float(errors[0]) if self._is_flat else errors)
        self.estimated_score_ = float(taken[0]["d2"]) if taken else float("nan")

    def _facts(self) -> dict[str, str]:
        facts = super()._facts()
        measure = "R²" if "loo_rmse" in self.path_ else "D²"
        whose = "left-out folds" if "fold_d2" in self.path_ else "left-out samples"
        return {
            "C": f"{self.C_:.3g}",
            f"{measure} of {whose}": f"{self.estimated_score_:.4f}",
            **{name: facts[name] for name in ("seconds", "of these") if name in facts},
        }

    def _restore(self, model: Any, told: dict[str, Any]) -> None:
        """Parameters and attributes from a model file's header."""
        self._restore_origin(told)
        self._is_flat = told["n_outputs"] == 1
        self._model = model
        self._describe(told)
