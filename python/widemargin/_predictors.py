"""Common parts of all classifiers and all regressors: their targets and predictions, and the labels of model files."""

from __future__ import annotations

import json
import re
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from . import _core
from ._base import FittedModel, fitting, with_parameters
from ._kinds import by_name, check_text, is_missing, names_of
from ._parameters import ClassWeight, Labels, Samples, Targets, Weights, invalid, weights_of
from ._report import Row
from ._samples import as_contiguous, count


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


# The conversion of a model file's label to a class, for each kind of array; objects are strings.
_READERS: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str, "M": lambda label: label}


def labels_of(classes: npt.NDArray[Any]) -> list[int | str]:
    """Class labels as stored in a model file: signed 64-bit integers, or otherwise strings.

    Strings of an integer are stored as integers, as labels in files are read.
    """
    return [_label(label) for label in classes.tolist()]


def classes_of(labels: list[int | str]) -> npt.NDArray[Any]:
    """Class labels of a model file as an array."""
    if all(isinstance(label, int) for label in labels):
        return np.array(labels, dtype=np.int64)
    if all(isinstance(label, str) for label in labels):
        return np.array(labels)
    return np.array(labels, dtype=object)


def type_of_classes(classes: npt.NDArray[Any]) -> str | None:
    """The type of an array of classes, for `restored_classes`; None if a model file's labels are enough."""
    plain = classes_of(labels_of(classes))
    is_plain = plain.dtype == classes.dtype and plain.tolist() == classes.tolist()
    return None if is_plain or classes.dtype.kind not in _READERS else classes.dtype.str


def restored_classes(labels: list[int | str], header: dict[str, Any]) -> npt.NDArray[Any]:
    """The array of classes from labels, and the result of `type_of_classes` in the header.

    Raises
    ------
    ValueError
        If the labels do not have this type.
    """
    if "_type_of_classes" not in header["python"]:
        return classes_of(labels)
    dtype = np.dtype(header["python"]["_type_of_classes"])
    return np.array([_READERS[dtype.kind](label) for label in labels], dtype=dtype)


def _label(label: Any) -> int | str:
    if isinstance(label, int) and -(2**63) <= label < 2**63:
        return int(label)
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    text = str(label)
    check_text(text, f"y: class {text!r}")
    return int(text) if isinstance(label, str) and re.fullmatch(r"0|-?[1-9]\d{0,17}", text, re.ASCII) else text


def is_multilabel(y: Any) -> bool:
    """Whether y is a multilabel indicator matrix and not one class per sample.

    A matrix of one column has classes, as in scikit-learn.
    """
    if sp.issparse(y):
        return True
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple, np.ndarray)):
        shape = len(y), *np.shape(y[0])
    return shape is not None and len(shape) == 2 and shape[1] > 1


def indicator(y: Any) -> npt.NDArray[np.float64]:
    """The matrix in the library's form: 1, 0, and NaN for unknown labels.

    Raises
    ------
    ValueError
        For a matrix with other values.
    """
    if sp.issparse(y):
        y = y.toarray()
    try:
        values = check_array(y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="Y", order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"Y must be an indicator matrix of 0 and 1, with NaN for unknown labels: {error}") from error
    wrong = ~(np.isnan(values) | (values == 0) | (values == 1))
    if wrong.any():
        row, column = (int(at[0]) for at in np.nonzero(wrong))
        raise ValueError(
            f"Unknown label type: Y has {values[row, column]:g} at row {row}, column {column} (from 0). With "
            "several columns it is an indicator matrix: 1 for labels of the sample, 0 for other labels, NaN for "
            "unknown ones"
        )
    return np.ascontiguousarray(values)


def label_names(y: Any, n_labels: int) -> list[int | str]:
    """The names of the labels: the column names of a frame, otherwise numbers from 0."""
    columns = getattr(y, "columns", None)
    return list(range(n_labels)) if columns is None else [str(name) for name in columns]


def target_of(y: Any) -> tuple[list[int | str], npt.NDArray[Any], npt.NDArray[Any]]:
    """The classes or labels as stored in a model file, their code for each sample or the indicators, and `classes_`."""
    if is_multilabel(y):
        values = indicator(y)
        return label_names(y, values.shape[1]), values, np.arange(values.shape[1])
    y = column_or_1d(y, warn=True)
    classes, codes = distinct_classes(y)
    check_classification_targets(y)
    return labels_of(classes), codes, classes


def distinct_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint32]]:
    """The classes in ascending order, and the number of each sample's class.

    Raises
    ------
    ValueError
        For missing classes, naming the samples, and for classes of several types.
    """
    missing = ~np.isfinite(y) if y.dtype.kind == "f" else [is_missing(label) for label in y.tolist()]
    if rows := np.flatnonzero(missing).tolist():
        raise ValueError(f"y has no class in row {some(rows)} (from 0): drop these samples, or name a class for them")
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:  # they have no order
        types = sorted({type(label).__name__ for label in y})
        raise ValueError(f"y has classes of the types {' and '.join(types)}: convert them to one type") from None
    return classes, codes.astype(np.uint32).reshape(-1)


def codes_of(y: Any) -> npt.NDArray[np.uint32]:
    """A code for each sample, equal for samples of one class or of the same labels."""
    if is_multilabel(y):
        # Unknown entries are equal to each other.
        codes = np.unique(np.nan_to_num(indicator(y), nan=2.0), axis=0, return_inverse=True)[1]
        return codes.astype(np.uint32).reshape(-1)
    return target_of(y)[1]


def some(values: list[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:10])
    return shown if len(values) <= 10 else f"{shown}, … ({len(values)} in all)"
