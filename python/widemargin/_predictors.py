"""What all classifiers and all regression models have in common: their targets and predictions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from . import _core
from ._base import FittedModel, with_parameters
from ._parameters import ClassWeight, Labels, Samples, invalid
from ._report import Row
from ._samples import as_contiguous
from ._targets import classes_of, is_multilabel, labels_of, restored_classes, target_of


@with_parameters
class MarginClassifier(FittedModel, ClassifierMixin, BaseEstimator):
    """A large-margin classifier: one decision value per class, or a single one for two classes."""

    class_weight: ClassWeight = None
    _task = "classification"
    # Whether the targets of the fit were multilabel.
    _is_multilabel = False

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> _core._Target:
        """Sets `classes_`, and returns the classes or labels, those of samples, and their weights."""
        self._is_multilabel = is_multilabel(y)
        names, values, self.classes_ = target_of(y)
        check_consistent_length(range(n_samples), values)
        return names, values, self._weights(sample_weight, n_samples)

    def _target_to_evaluate(self, y: Any, sample_weight: Any, n_samples: int) -> _core._Target:
        """The same for the fitted model; its classes or labels come first, in their order."""
        names, values, _ = target_of(y)
        known = json.loads(self._model.header())["classes"]
        check_consistent_length(range(n_samples), values)
        if not self._is_multilabel:
            if values.ndim > 1:
                raise ValueError("y should be a 1d array: the model has one class per sample")
            known += [name for name in names if name not in known]
            values = np.array([known.index(name) for name in names], dtype=np.uint32)[values]
        elif values.ndim == 1 or values.shape[1] != len(known):
            n_columns = 1 if values.ndim == 1 else values.shape[1]
            raise ValueError(f"y has {n_columns} columns, and the model {len(known)} labels")
        elif set(names) == set(known):
            values = np.ascontiguousarray(values[:, [names.index(name) for name in known]])
        return known, values, self._weights(sample_weight, n_samples)

    def _class_factors(self) -> str | list[float] | None:
        factors = self.class_weight
        if factors is None or factors == "balanced":
            return factors
        if self._is_multilabel:
            raise ValueError("class_weight must be 'balanced' or None for multilabel targets: there are no classes")
        if not isinstance(factors, dict):
            raise invalid(self, "class_weight", f"must be a dict, 'balanced' or None. Got {factors!r} instead.")
        known = self.classes_.tolist()
        if unknown := [label for label in factors if label not in known]:
            raise ValueError(f"class_weight names the classes {unknown}, which y does not have: it has {some(known)}")
        return [float(factors.get(label, 1.0)) for label in known]

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        for name in ("label_names_", "estimated_label_scores_"):
            self.__dict__.pop(name, None)
        if header.get("multilabel"):
            self.label_names_ = np.array(header["classes"], dtype=object)
            estimate = header["report"].get("estimate") or {}
            errors = estimate.get("label_errors", [np.nan] * len(self.label_names_))
            self.estimated_label_scores_ = 1.0 - np.array(errors, dtype=np.float64)
        else:
            # A class without weight is absent.
            known = set(header["classes"])
            self.classes_ = self.classes_[[label in known for label in labels_of(self.classes_)]]
        super()._describe(header, candidates)

    def _estimate(self, path: list[Row]) -> None:
        # Without an estimate, a note of the report gives the reason.
        estimate = self.report_.get("estimate") or {"error": np.nan, "standard_error": np.nan}
        self.estimated_score_ = 1.0 - float(estimate["error"])
        self.estimated_score_std_ = float(estimate["standard_error"])

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        self._is_multilabel = header.get("multilabel", False)
        self.classes_ = np.arange(len(header["classes"])) if self._is_multilabel else classes_of(header["classes"])
        super()._restore(model, header)

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        weight = (header.get("training") or {}).get("class_weight")
        if isinstance(weight, list):
            weight = {label: factor for label, factor in weight if factor != 1.0} or None
        return super()._stored_parameters(header) | {"class_weight": weight}

    def _restore_type_of_classes(self, stored: bytes) -> None:
        """Converts the classes of a model that was read to their type in the fit."""
        labels = self.classes_.tolist()
        self.classes_ = restored_classes(labels, stored)
        if isinstance(self.class_weight, dict):
            known = dict(zip(labels, self.classes_.tolist(), strict=True))
            self.set_params(class_weight={known[label]: factor for label, factor in self.class_weight.items()})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def decision_function(self, X: Samples) -> npt.NDArray[np.float64]:
        """Decision values of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, above 0 for ``classes_[1]``, else (n_samples, n_classes); for
        multilabel targets (n_samples, n_labels), above 0 for predicted labels
        """
        check_is_fitted(self)
        scores = self._model.decision_function(self._collected(X), self._threads()).astype(np.float64, copy=False)
        return scores.ravel() if len(self.classes_) == 2 and not self._is_multilabel else scores

    def predict(self, X: Samples) -> Labels:
        """The class of each sample.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,); for multilabel targets (n_samples, n_labels), 1 for predicted labels
        """
        scores = self.decision_function(X)
        if self._is_multilabel:
            return (scores > 0).astype(np.int64)
        selected = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[selected]

    def predict_proba(self, X: Samples) -> npt.NDArray[np.float64]:
        """The probability of each class for each sample.

        They are calibrated on held-out decision values, and the most probable class is the one that ``predict``
        returns. With a ``class_weight`` they are, as predictions are, those for the weighted classes.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples, n_classes), in the order of ``classes_``; for multilabel targets that of each
        label

        Raises
        ------
        ValueError
            For a model without probabilities.
        """
        return self._probabilities(X, logarithm=False)

    def predict_log_proba(self, X: Samples) -> npt.NDArray[np.float64]:
        """The logarithm of the probability of each class for each sample, without underflow.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples, n_classes), in the order of ``classes_``; for multilabel targets that of each
        label

        Raises
        ------
        ValueError
            For a model without probabilities.
        """
        return self._probabilities(X, logarithm=True)

    def _probabilities(self, X: Any, *, logarithm: bool) -> npt.NDArray[np.float64]:
        scores = self.decision_function(X)
        return self._model.probabilities(np.ascontiguousarray(scores.reshape(len(scores), -1)), logarithm=logarithm)


class FittedRegressor(FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regression model with one or several outputs."""

    _task = "regression"

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, Any]:
        """Sets whether targets have one dimension; returns them (samples, outputs), and the weights."""
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        self._is_flat = y.ndim == 1
        return self._checked_target(y, sample_weight, n_samples)

    def _target_to_evaluate(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, Any]:
        targets, weights = self._checked_target(y, sample_weight, n_samples)
        if targets.shape[1] != (n_outputs := json.loads(self._model.header())["n_outputs"]):
            raise ValueError(f"y has {targets.shape[1]} columns, and the model {n_outputs} outputs")
        return targets, weights

    def _checked_target(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, Any]:
        targets = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if targets.ndim > 2:
            raise ValueError(f"y has {targets.ndim} dimensions, expected (n_samples,) or (n_samples, n_outputs)")
        check_consistent_length(range(n_samples), targets)
        targets = as_contiguous(targets.reshape(n_samples, -1), np.float64)
        return targets, self._weights(sample_weight, n_samples)

    def predict(self, X: Samples) -> npt.NDArray[np.float64]:
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

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if "epsilon" in header:
            self.epsilon_ = self._of_problems(np.array(header["epsilon"]))

    def _estimate(self, path: list[Row]) -> None:
        selected: Row = next((row for row in path if row["selected"]), {"score": np.nan, "std": np.nan})
        self.estimated_score_, self.estimated_score_std_ = float(selected["score"]), float(selected["std"])

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        self._is_flat = header["n_outputs"] == 1
        super()._restore(model, header)


def some(values: list[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:10])
    return shown if len(values) <= 10 else f"{shown}, … ({len(values)} in all)"
