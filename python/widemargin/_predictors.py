"""Common parts of all classifiers and all regressors: their targets and predictions."""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from . import _core
from ._base import FittedModel, fitting, with_parameters
from ._kinds import by_name, names_of
from ._parameters import ClassWeight, Labels, Samples, Targets, Weights, invalid, weights_of
from ._report import Row
from ._samples import as_contiguous, count
from ._targets import is_multilabel, labels_of, restored_classes, some, target_of, type_of_classes


@with_parameters
class MarginClassifier(FittedModel, ClassifierMixin, BaseEstimator):
    """A large-margin classifier, with one decision value per class, or a single one for two classes."""

    class_weight: ClassWeight = None
    _task = "classification"
    # Whether the targets of the fit were multilabel.
    _is_multilabel = False

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : samples
            Vectors: an array, sparse array or data frame of shape (n_samples, n_features). C-contiguous float32 and
            float64 arrays and CSR matrices are not copied. Estimators with a `similarity` also take other samples that
            it compares: images of shape (n, h, w) or (n, h, w, 3) and type uint8, grids of shape (n, rows, columns,
            depth), time series, strings, sets and graphs, and for a callable any sequence; with "precomputed", the
            similarities of the samples to all bases or, if X is square, to each other.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a dense or sparse multilabel indicator matrix: 1 if the sample has the label, 0 if it does
            not, NaN if that is unknown.
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of k is equivalent to k copies of the sample, a weight of 0 to leaving it out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> _core._Target:
        """Sets `classes_`, and returns the classes or labels, those of samples, and their weights."""
        self._is_multilabel = is_multilabel(y)
        names, values, self.classes_ = target_of(y)
        check_consistent_length(range(n_samples), values)
        return names, values, weights_of(sample_weight, n_samples)

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
        elif hasattr(y, "columns"):
            labels = [str(label) for label in known]
            if set(names) == set(labels):
                values = np.ascontiguousarray(values[:, [names.index(label) for label in labels]])
            elif labels != [str(at) for at in range(len(labels))]:
                raise ValueError(f"y has the columns {some(names)}, and the model the labels {some(labels)}")
        return known, values, weights_of(sample_weight, n_samples)

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

        if header.get("multilabel"):
            self.label_names_ = np.array(header["classes"], dtype=object)
            estimate = header["report"].get("estimate") or {}
            errors = estimate.get("label_errors", [np.nan] * len(self.label_names_))
            self.estimated_label_scores_ = 1.0 - np.array(errors, dtype=np.float64)
        else:
            # A class without weight is absent.
            known = set(header["classes"])
            self.classes_ = self.classes_[[label in known for label in labels_of(self.classes_)]]
            self._type_of_classes = type_of_classes(self.classes_)
        super()._describe(header, candidates)

    def _estimate(self, path: list[Row]) -> None:
        # Without an estimate, a note of the report gives the reason.
        estimate = self.report_.get("estimate") or {"error": np.nan, "standard_error": np.nan}
        self.estimated_score_ = 1.0 - float(estimate["error"])
        self.estimated_score_std_ = float(estimate["standard_error"])

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        self._is_multilabel, labels = header.get("multilabel", False), header["classes"]
        self.classes_ = np.arange(len(labels)) if self._is_multilabel else restored_classes(labels, header)
        super()._restore(model, header)

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        weight = (header.get("training") or {}).get("class_weight")
        if isinstance(weight, list):
            labels = restored_classes([label for label, _ in weight], header).tolist()
            factors = zip(labels, weight, strict=True)
            weight = {label: factor for label, (_, factor) in factors if factor != 1.0} or None
        return super()._stored_parameters(header) | {"class_weight": weight}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def decision_function(self, X: Samples) -> npt.NDArray[np.float64]:
        """Computes the decision values of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, above 0 for ``classes_[1]``; otherwise (n_samples, n_classes),
        or, for multilabel targets, (n_samples, n_labels), above 0 for predicted labels
        """
        check_is_fitted(self)
        scores = self._model.predict(self._collected(X), self._threads())
        return scores.ravel() if len(self.classes_) == 2 and not self._is_multilabel else scores

    def predict(self, X: Samples) -> Labels:
        """Predicts the class of each sample.

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

    def score(self, X: Samples, y: Targets, sample_weight: Weights = None) -> float:
        """Computes the accuracy of predictions.

        Parameters
        ----------
        X : samples, as in ``fit``
        y : array of shape (n_samples,) or (n_samples, n_labels)
            The true classes, or a multilabel indicator matrix without unknown labels. The columns of a data frame may
            be in any order.
        sample_weight : array of shape (n_samples,) or None

        Returns
        -------
        float
            The fraction of samples whose class is correct or, for multilabel targets, whose labels are all correct.
        """
        if self._is_multilabel:
            y = self._target_to_evaluate(y, None, count(X))[1]
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Samples) -> npt.NDArray[np.float64]:
        """Predicts the probability of each class for each sample.

        Probabilities are calibrated on held-out decision values, and the most probable class is the one that
        ``predict`` returns. With ``class_weight``, they refer to the weighted classes, as predictions do.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples, n_classes), in the order of ``classes_``; for multilabel targets, the
        probability of each label

        Raises
        ------
        ValueError
            If the model has no probabilities.
        """
        return self._probabilities(X, logarithm=False)

    def predict_log_proba(self, X: Samples) -> npt.NDArray[np.float64]:
        """Computes the logarithms of the probabilities of the classes, without underflow.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples, n_classes), in the order of ``classes_``; for multilabel targets, the
        logarithm of the probability of each label

        Raises
        ------
        ValueError
            If the model has no probabilities.
        """
        return self._probabilities(X, logarithm=True)

    def _probabilities(self, X: Any, *, logarithm: bool) -> npt.NDArray[np.float64]:
        scores = self.decision_function(X)
        return self._model.probabilities(np.ascontiguousarray(scores.reshape(len(scores), -1)), logarithm=logarithm)


class FittedRegressor(FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor with one or several outputs."""

    _task = "regression"
    # The names of the outputs, if the targets of the fit were a data frame.
    _output_names: list[str] | None = None

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : samples
            Vectors: an array, sparse array or data frame of shape (n_samples, n_features). C-contiguous float32 and
            float64 arrays and CSR matrices are not copied. Estimators with a `similarity` also take other samples that
            it compares: images of shape (n, h, w) or (n, h, w, 3) and type uint8, grids of shape (n, rows, columns,
            depth), time series, strings, sets and graphs, and for a callable any sequence; with "precomputed", the
            similarities of the samples to all bases or, if X is square, to each other.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Target values; must be finite.
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of k is equivalent to k copies of the sample, a weight of 0 to leaving it out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, Any]:
        """Sets whether targets have one dimension; returns them (samples, outputs), and the weights."""
        self._output_names = names_of(y)
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        self._is_flat = y.ndim == 1
        return self._checked_target(y, sample_weight, n_samples)

    def _target_to_evaluate(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, Any]:
        targets, weights = self._checked_target(by_name(y, self._output_names), sample_weight, n_samples)
        if targets.shape[1] != (n_outputs := json.loads(self._model.header())["n_outputs"]):
            raise ValueError(f"y has {targets.shape[1]} columns, and the model {n_outputs} outputs")
        return targets, weights

    def score(self, X: Samples, y: Targets, sample_weight: Weights = None) -> float:
        """Computes the R² of predictions.

        Parameters
        ----------
        X : samples, as in ``fit``
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The true targets. The columns of a data frame may be in any order.
        sample_weight : array of shape (n_samples,) or None

        Returns
        -------
        float
            The R², averaged over the outputs.
        """
        return float(super().score(X, by_name(y, self._output_names), sample_weight))

    def _checked_target(self, y: Any, sample_weight: Any, n_samples: int) -> tuple[Any, Any]:
        targets = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if targets.ndim > 2:
            raise ValueError(f"y has {targets.ndim} dimensions, expected (n_samples,) or (n_samples, n_outputs)")
        check_consistent_length(range(n_samples), targets)
        targets = as_contiguous(targets.reshape(n_samples, -1), np.float64)
        return targets, weights_of(sample_weight, n_samples)

    def predict(self, X: Samples) -> npt.NDArray[np.float64]:
        """Predicts the targets of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs), as the targets passed to ``fit``
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
