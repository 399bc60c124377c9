"""Common parts of the three classifiers."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from . import _core
from ._c_choice import estimated_label_scores, estimated_score
from ._classes import classes_of, labels_of, restored_classes
from ._columns import validated
from ._files import opened
from ._html import facts_of, report_table
from ._label_matrix import has_several, indicator, label_names
from ._progress import Progress
from ._samples import as_contiguous, from_vectors
from ._threads import threads_of
from ._warn import warn

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9
    CallbackSupportMixin = object

    _Fit = TypeVar("_Fit", bound=Callable[..., Any])

    def with_callbacks(method: _Fit) -> _Fit:
        return method


class WatchedMixin(CallbackSupportMixin):
    """Progress reporting, on the screen and to scikit-learn's callbacks."""

    @contextmanager
    def _watched(self, **tasks: Any) -> Iterator[Progress]:
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, **tasks)
        with Progress(type(self).__name__, self.verbose, context, self) as progress:
            yield progress
        if context is not None:
            context.call_on_fit_task_end(estimator=self, **tasks)

    def _threads(self) -> int:
        return threads_of(self.n_jobs)

    def _seed(self) -> int:
        if isinstance(self.random_state, ExactSeed):
            return int(self.random_state)
        if self.random_state is None:
            # The same samples give the same model.
            return 0
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


class ExactSeed(int):
    """The seed of a loaded model, passed to the library unchanged.

    A fit draws its seed from any other `random_state`. This one is the seed itself, so that fitting a clone of a loaded
    model repeats its fit.
    """

    def __repr__(self) -> str:
        return str(int(self))


# Constraints of parameters that all classifiers have.
SHARED: dict[str, list[Any]] = {
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "n_jobs": [None, Integral],
    "random_state": ["random_state", ExactSeed],
    "verbose": ["verbose"],
    "time_limit": [None, Interval(Real, 0, None, closed="left")],
}


def watched(progress: Progress) -> Progress | None:
    """The monitor to pass on: None if nobody watches."""
    return progress if progress.is_watching else None


class FittedModel(WatchedMixin):
    """What classifiers and regression models share: sample weights, the fitted model, its report."""

    # Whether samples may be in files, larger than memory.
    _reads_files: ClassVar[bool] = False

    # How the columns of a frame become features, as JSON, where they are more than numbers.
    _table_columns: str | None = None

    def _weights(self, sample_weight: Any, n_samples: int) -> npt.NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        if isinstance(sample_weight, Real):
            return np.full(n_samples, float(sample_weight))
        weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if weights.shape != (n_samples,):
            raise ValueError(f"sample_weight has the shape {weights.shape}, expected ({n_samples},): one a sample")
        return as_contiguous(weights, np.float64)

    def _common(self, progress: Progress) -> _core._Common:
        """What fits of all methods are told."""
        return {
            "class_weight": None,
            "tol": 1e-3,
            "max_iter": 1,
            "seed": self._seed(),
            "threads": self._threads(),
            "time_limit": getattr(self, "time_limit", None),
            "monitor": watched(progress),
            "features": self._features_of_model(),
        }

    def _features_of_model(self) -> list[str] | str | None:
        """The names of the features stored in the model, or the columns of a table that become the features."""
        return self._table_columns or self._kept_names()

    def _kept_names(self) -> list[str] | None:
        """The column names stored in the model."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _keep(self, model: Any) -> None:
        """Sets the attributes of every fitted model, and warns if the solver did not converge.

        The report's other remarks (such as a constant column) are only in `report_`, unless `verbose` asks for them.
        """
        self._model = model
        told = json.loads(model.header())
        told["report"]["stages"] = [{"name": name, "seconds": seconds} for name, seconds in model.stages()]
        self._describe(told)
        for text in self.report_["warnings"]:
            if text.startswith("not converged"):
                warn(text, ConvergenceWarning)
            elif any(part in text for part in ("no better than", " lies so far from 0 ", " is not symmetric: ")):
                warn(text)
            elif self.verbose:
                print(f"{type(self).__name__}: {text}", file=sys.stderr)

    def _restore_origin(self, told: dict[str, Any]) -> None:
        """The seed and the column names of a model file's header."""
        if (training := told.get("training")) is not None:
            self.set_params(random_state=ExactSeed(training["seed"]))
        self._restore_columns(told)

    def _restore_columns(self, told: dict[str, Any]) -> None:
        names = told.get("feature_names")
        if (columns := told.get("columns")) is not None:
            self._table_columns = json.dumps(columns)
            names = None if names is None else [column["name"] for column in columns]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _restore_width(self, n_features: int) -> None:
        """Sets the number of columns of X for a model of so many features."""
        self.n_features_in_ = n_features if self._table_columns is None else len(json.loads(self._table_columns))

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        check_is_fitted(self)
        arrays: dict[str, npt.NDArray[Any]] = self._model.arrays()
        return arrays

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _collected(self, X: Any) -> _core._Collected:
        """Samples as the extension module takes them, checked against those of the fit."""
        raise NotImplementedError

    def _facts(self) -> dict[str, str]:
        return facts_of(self.report_)

    def _with_report(self, page: str) -> str:
        return page + report_table(self._facts(), self.report_["warnings"]) if hasattr(self, "report_") else page

    def _repr_html_inner(self) -> str:
        return self._with_report(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_report(bundle["text/html"])
        return bundle


class MarginClassifier(FittedModel, ClassifierMixin, BaseEstimator):
    """A large-margin classifier: one decision value per class, or a single one for two classes."""

    def _encode(self, y: Any) -> npt.NDArray[np.uint32]:
        """Sets `classes_`, and returns the class index of each sample."""
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes.astype(np.uint32).reshape(-1)

    def _target(self, y: Any, sample_weight: Any) -> _core._Target:
        """Sets `classes_`, and returns what the extension module is told of classes and weights."""
        self._several = has_several(y)
        if self._several:
            values = indicator(y)
            self.classes_ = np.arange(values.shape[1])
            return label_names(y, values.shape[1]), values, self._weights(sample_weight, len(values))
        codes = self._encode(y)
        return labels_of(self.classes_), codes, self._weights(sample_weight, len(codes))

    def _class_factors(self) -> str | list[float] | None:
        given = self.class_weight
        if given is None or given == "balanced":
            return given
        if getattr(self, "_several", False):
            raise ValueError(
                "class_weight must be 'balanced' or None where samples have several labels: there are no classes"
            )
        if not isinstance(given, dict):
            raise ValueError(
                f"The 'class_weight' parameter of {type(self).__name__} must be a dict, 'balanced' or None. "
                f"Got {given!r} instead."
            )
        known = self.classes_.tolist()
        if unknown := [label for label in given if label not in known]:
            raise ValueError(f"class_weight names the classes {unknown}, which y does not have: it has {_some(known)}")
        return [float(given.get(label, 1.0)) for label in known]

    def _common(self, progress: Progress) -> _core._Common:
        common = super()._common(progress)
        return {
            **common,
            "class_weight": self._class_factors(),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }

    def _describe(self, told: dict[str, Any]) -> None:
        """Fitted attributes from a model file's header."""
        self.report_ = told["report"]
        self.n_iter_ = max(self.report_["iterations"], default=0)
        path = told.get("path", told.get("choice", {}).get("path", []))
        self.estimated_score_ = estimated_score(self.report_)
        if not told.get("multilabel") and hasattr(self, "classes_"):
            # A class without weight is absent.
            known = set(told["classes"])
            self.classes_ = self.classes_[[label in known for label in labels_of(self.classes_)]]
        if told.get("multilabel"):
            self.label_names_ = np.array(told["classes"], dtype=object)
            self.estimated_label_scores_ = estimated_label_scores(self.report_, len(told["classes"]))
        # A fit that starts at the solution of the selection needs no further step.
        self.n_iter_ = max([self.n_iter_, *(point.get("steps", 0) for point in path)])

    def _restore(self, model: Any, told: dict[str, Any]) -> None:
        """Parameters and attributes of a model that was read, from its header."""
        self._restore_training(told)
        self._model = model
        self._describe(told)
        self._several = told.get("multilabel", False)
        self.classes_ = np.arange(len(told["classes"])) if self._several else classes_of(told["classes"])
        if "n_features" in told:
            self._restore_width(told["n_features"])

    def _restore_type_of_classes(self, stored: bytes) -> None:
        """Gives the classes of a model that was read the type that they had in the fit."""
        labels = self.classes_.tolist()
        self.classes_ = restored_classes(labels, stored)
        if isinstance(self.class_weight, dict):
            known = dict(zip(labels, self.classes_.tolist(), strict=True))
            self.set_params(class_weight={known[label]: factor for label, factor in self.class_weight.items()})

    def _restore_training(self, told: dict[str, Any]) -> None:
        """Sets parameters and column names that models of all methods store; older files have none."""
        self._restore_columns(told)
        if (training := told.get("training")) is None:
            return
        weight = training["class_weight"]
        if isinstance(weight, list):
            weight = {label: factor for label, factor in weight if factor != 1.0} or None
        self.set_params(
            class_weight=weight,
            tol=training["tol"],
            max_iter=training["max_iter"],
            random_state=ExactSeed(training["seed"]),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _is_several(self) -> bool:
        """Whether the fit was on several labels a sample."""
        return bool(getattr(self, "_several", False))

    def _scores(self, X: Any) -> npt.NDArray[Any]:
        """(samples, problems)."""
        return self._model.decision_function(self._collected(X), self._threads())

    def _dual_variables(self, X: Any, y: Any, sample_weight: Any) -> npt.NDArray[np.float64]:
        """(samples, problems)."""
        if getattr(self, "_several", False):
            values = indicator(y)
            names = json.loads(self._model.header())["classes"]
            target = names, values, self._weights(sample_weight, len(values))
            return self._model.dual_variables(self._collected(X), target, self._threads())
        y = column_or_1d(y)
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if (unknown := self.classes_[codes] != y).any():
            raise ValueError(
                f"y has {y[unknown][0]!r}, which is not among the classes of the fit: {_some(list(self.classes_))}"
            )
        target = labels_of(self.classes_), codes.astype(np.uint32), self._weights(sample_weight, len(codes))
        return self._model.dual_variables(self._collected(X), target, self._threads())

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Decision values of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, above 0 for ``classes_[1]``, else (n_samples, n_classes); for
        several
            labels (n_samples, n_labels), above 0 for a label that the sample has
        """
        check_is_fitted(self)
        scores = self._scores(X).astype(np.float64, copy=False)
        return scores.ravel() if len(self.classes_) == 2 and not self._is_several() else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,); for several labels (n_samples, n_labels), 1 for each label that the sample has
        """
        scores = self.decision_function(X)
        if self._is_several():
            return (scores > 0).astype(np.int64)
        chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class for each sample.

        They are calibrated on decision values of samples that the fit did not see, and the most probable class is the
        one that ``predict`` returns. With a ``class_weight`` they are the probabilities in the classes as weighted, as
        predictions are.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples, n_classes), in the order of ``classes_``; for several labels the probability of
        each

        Raises
        ------
        ValueError
            For a model without probabilities.
        """
        return self._probabilities(X, logarithm=False)

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithm of the probability of each class for each sample, without underflow.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples, n_classes), in the order of ``classes_``; for several labels the probability of
        each

        Raises
        ------
        ValueError
            For a model without probabilities.
        """
        return self._probabilities(X, logarithm=True)

    def _probabilities(self, X: Any, *, logarithm: bool) -> npt.NDArray[np.float64]:
        scores = self.decision_function(X)
        is_one = len(self.classes_) == 2 and not self._is_several()
        scores = scores.reshape(-1, 1 if is_one else len(self.classes_))
        return self._model.probabilities(np.ascontiguousarray(scores), logarithm=logarithm)


class VectorClassifier(MarginClassifier):
    """A classifier of vectors."""

    _reads_files = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """X as scikit-learn validates it, with y where it is given."""
        how = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}
        if has_several(y):
            X = validated(self, X, reset=reset, **how)
            check_consistent_length(X, y)
            return X, y
        return validated(self, X, y, reset=reset, **how)

    def _fitted(self, fit: Callable[..., Any], X: Any, y: Any, sample_weight: Any, **parameters: Any) -> Any:
        """The model that `fit` of the extension module trains on these samples."""
        X, y = self._validated(X, y, reset=True)
        target = self._target(y, sample_weight)
        with self._watched(X=X, y=y) as progress:
            return fit(from_vectors(X), target, **parameters, common=self._common(progress))

    def _collected(self, X: Any) -> _core._Collected:
        return from_vectors(self._validated(X, reset=False)), None


def _some(values: list[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:10])
    return shown if len(values) <= 10 else f"{shown}, … ({len(values)} in all)"


def fitting(method: Any) -> Any:
    """Decorates ``fit``: clears the fitted state first, so that an interrupted fit leaves the estimator unfitted, and
    opens files that are passed as X."""

    @functools.wraps(method)
    def fit(self: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        self.__dict__.pop("_model", None)
        # Of a frame of an earlier fit.
        self.__dict__.pop("_table_columns", None)
        self._validate_params()
        with opened(self, X, y) as (X, y):
            return method(self, X, y, *args, **kwargs)

    return with_callbacks(fit)
