"""Estimators that select the method and its parameters."""

from __future__ import annotations

import inspect
import json
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import BaseCrossValidator, GroupKFold, StratifiedGroupKFold, check_cv

from . import _core
from ._base import FittedModel, fitting, with_parameters
from ._compares import ImportancesMixin, collect
from ._parameters import Samples, Targets, Weights, one_of, weights_of
from ._predictors import FittedRegressor, MarginClassifier
from ._samples import pick
from ._specs import any_kind
from .basis_expansion import BasisExpansionRegressor, BasisExpansionSVC
from .power_mean import PowerMeanSVC
from .thin_plate import ThinPlateRegressor, ThinPlateSVC

Scoring: TypeAlias = str | Callable[..., float] | None
Folds: TypeAlias = int | BaseCrossValidator | Iterable[tuple[Iterable[int], Iterable[int]]] | None

# The names of scikit-learn's scores that are computed without refits in Python.
SCORINGS = (
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "roc_auc",
    "roc_auc_ovr",
    "average_precision",
    "neg_log_loss",
    "neg_brier_score",
)
# Samples on which regression methods are compared by leave-one-out.
_COMPARED = 1000


@with_parameters
class Auto(ImportancesMixin, FittedModel):
    """Fits the best of several methods; the model of that method is the model of this estimator."""

    methods: str | Iterable[str] = "auto"
    scoring: Scoring = None
    cv: Folds = None
    kind: str = "auto"
    _method = "auto"
    _classes: ClassVar[dict[str, type[Any]]]

    def _methods(self) -> list[str]:
        methods = [self.methods] if isinstance(self.methods, str) else list(self.methods)
        methods = list(self._classes) if methods == ["auto"] else methods
        return [one_of("methods", method, self._classes, estimator=self).replace("-", "_") for method in methods]

    def _scoring(self) -> Scoring:
        """The checked scoring; ValueError for a name that scikit-learn does not know."""
        if not isinstance(self.scoring, str):
            return self.scoring
        return one_of("scoring", self.scoring, get_scorer_names(), estimator=self).replace("-", "_")

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int]:
        self._resolved = any_kind(X, self.kind)
        return collect(self, X, self._resolved, reset=True, weights=sample_weight)

    def _collected(self, X: Any) -> _core._Samples:
        return collect(self, X, self._resolved, reset=False)[0]

    def _fit_best(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        """Compares the methods by fits, and fits the best one."""
        self._require(y)
        _, n_samples = self._training(X, y, sample_weight, {})
        self._target(y, sample_weight, n_samples)
        weights = weights_of(sample_weight, n_samples)
        began, models, candidates = time.perf_counter(), {}, []
        # Those of the other methods say nothing about the model.
        warned: dict[str, list[warnings.WarningMessage]] = {}
        self._scoring()
        splits, methods = self._splits(y, n_samples, groups), self._methods()
        for at, method in enumerate(methods):
            start = time.perf_counter()
            ends = None
            if self.time_limit is not None:
                ends = start + max(began + self.time_limit / 2 - start, 0.0) / (len(methods) - at)
            row: dict[str, Any] = {"params": {"method": method}, "n_samples": n_samples}
            with warnings.catch_warnings(record=True) as warned[method]:
                warnings.simplefilter("always")
                try:
                    scores, models[method] = self._compared(method, (X, y, weights), n_samples, splits, ends)
                    row |= scores
                except (ValueError, TypeError) as error:
                    row["problem"] = str(error)
            candidates.append(row | {"seconds": time.perf_counter() - start})
        if not models:
            raise ValueError(f"none of the methods can be fitted: {candidates[0]['problem']}")
        measured = {method: row for row in candidates if (method := row["params"]["method"]) in models}
        self.method_ = max(measured, key=lambda method: np.nan_to_num(measured[method]["score"], nan=-np.inf))
        fitted = models[self.method_]
        for one in warned[self.method_] if fitted is not None else []:
            warnings.warn(one.message, one.category, stacklevel=2)
        if fitted is None:
            fitted = self._made(self.method_)
            if self.time_limit is not None:
                fitted.set_params(time_limit=max(self.time_limit - (time.perf_counter() - began), 0.0))
            fitted.fit(X, y, sample_weight)
        self._model, self.best_estimator_ = fitted._model, fitted
        self._describe(json.loads(fitted._model.header()) | {"report": fitted.report_}, candidates)
        if groups is not None:
            # Leave-one-out leaves the rest of a sample's group in the training data.
            best = measured[self.method_]
            values = (best["score"], best["std"]) if self.scoring is None else (np.nan, np.nan)
            if self.scoring is None and is_classifier(self):
                # Groups are independent of each other, the samples of one are not.
                variance = values[0] * (1.0 - values[0]) / len(np.unique(np.asarray(groups)))
                values = (values[0], max(values[1], float(np.sqrt(variance))))
            self.estimated_score_, self.estimated_score_std_ = map(float, values)
        return self

    def _made(self, method: str) -> Any:
        """An estimator of a method, with the parameters that it shares with this one."""
        cls = self._classes[method]
        shared = {*self._get_param_names()} & {*cls._get_param_names()} - {"time_limit"}
        return cls(**{name: getattr(self, name) for name in shared})

    def _splits(self, y: Any, n_samples: int, groups: Any) -> list[Any] | None:
        """Rows to fit and rows to score; None without folds."""
        if self.cv is None and self.scoring is None and groups is None:
            return None
        if self.cv is None and groups is not None:
            folds = StratifiedGroupKFold() if is_classifier(self) and np.ndim(y) == 1 else GroupKFold()
        else:
            folds = check_cv(self.cv, y, classifier=is_classifier(self))
            if self.cv is None:
                # Rows may be sorted by their targets.
                folds = type(folds)(shuffle=True, random_state=self._seed() % 2**32)
        splits = list(folds.split(np.empty(n_samples), y, groups))
        if not splits:
            raise ValueError("cv has no folds: it is empty, or an iterator that has been used before")
        return splits

    def _compared(
        self, method: str, data: tuple[Any, Any, Any], n_samples: int, splits: list[Any] | None, ends: float | None
    ) -> tuple[dict[str, Any], Any]:
        """The mean score of a method on the folds; without folds that of leave-one-out, and the fit if it is on all
        samples. The fits share the time up to `ends`, if there is a limit."""
        if self.kind_ != "table" and "kind" not in self._classes[method]._get_param_names():
            raise ValueError(f"{self._classes[method].__name__} takes tables, not {self.kind_}")

        def some(rows: Any) -> tuple[Any, ...]:
            return tuple(None if one is None else pick(one, np.asarray(rows)) for one in data)

        def timed(*samples: Any, n_left: int) -> Any:
            estimator = self._made(method)
            if ends is not None:
                estimator.set_params(time_limit=max(ends - time.perf_counter(), 0.0) / n_left)
            return estimator.fit(*samples).set_params(time_limit=None)

        if splits is None:
            present = np.arange(n_samples) if data[2] is None else np.flatnonzero(data[2])
            rows = np.sort(np.random.default_rng(self._seed()).permutation(present)[:_COMPARED])
            is_all = len(rows) == len(present)
            fitted = timed(*(data if is_all else some(rows)), n_left=1)
            score, results = fitted.estimated_score_, fitted.cv_results_
            selected = np.flatnonzero((results["iter"] == 0) & results["selected"])
            if is_regressor(fitted) and len(selected):
                # Leave-one-out for all methods; of few samples an estimate may be that of folds, which is lower.
                score = float(results["mean_test_score"][selected[0]])
            measured = {"score": score, "std": fitted.estimated_score_std_, "n_samples": len(rows)}
            return measured, fitted if is_all else None
        scores = []
        for at, (train, test) in enumerate(splits):
            fitted = timed(*some(train), n_left=len(splits) - at)
            scorer = check_scoring(fitted, self._scoring())
            test = np.asarray(test) if data[2] is None else np.asarray(test)[data[2][test] > 0]
            held_out, truth, weight = some(test)
            takes_weights = {"sample_weight", "kwargs"} & {*inspect.signature(scorer).parameters}
            weighted = {"sample_weight": weight} if weight is not None and takes_weights else {}
            scores.append(float(scorer(fitted, held_out, truth, **weighted)))
            if np.isnan(scores[-1]):
                raise ValueError(f"the score of fold {at} is not a number: the fold may have samples of one class only")
        return {
            "score": np.mean(scores),
            "std": np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan,
        }, None

    @property
    def basis_(self) -> Samples:
        """The bases of the best estimator."""
        return self.best_estimator_.basis_

    @property
    def coef_(self) -> npt.NDArray[np.floating]:
        """The weights of the best estimator."""
        return self.best_estimator_.coef_

    def _report_rows(self) -> dict[str, str]:
        return {"method": self.method_, **super()._report_rows()}


@with_parameters
class AutoSVC(Auto, MarginClassifier):
    """Large-margin classifier for samples of any kind that selects the method and its parameters.

    Each method that accepts the samples selects its similarity or kernel and its other parameters by leave-one-out on
    at most 1,000 samples. The method with the smallest loss is then fitted on all samples. The result is a fitted
    `BasisExpansionSVC`, `ThinPlateSVC` or `PowerMeanSVC`, which is available as `best_estimator_`; this estimator is
    saved and loaded as such a model.

    Parameters
    ----------
    methods : "auto" or list of {"basis_expansion", "thin_plate", "power_mean"}, default="auto"
        The methods to compare; "auto" means all methods that accept the samples. If the basis expansion is among them,
        the thin plate SVM is skipped on histograms and if its kernels perform much worse than other similarities.
    scoring : str, callable or None, default=None
        The score by which methods are compared: the name of a scikit-learn scorer, or a callable. None means the mean
        leave-one-out squared hinge loss, which needs no further fits; other scores are computed on held-out folds.
        Without `cv` and `groups`, the following scores are computed from fits on a subset of the samples: "accuracy",
        "balanced_accuracy", "f1_macro", "roc_auc" ("roc_auc_ovr" with more than two classes), "average_precision" (of
        the second of two classes), "neg_log_loss" and "neg_brier_score" (of the probabilities); for multilabel targets,
        "accuracy" (all labels of a sample must be correct), "f1_macro", "roc_auc" and "average_precision". Other scores
        need fits on all samples but one fold.
    cv : int, splitter, iterable or None, default=None
        The cross-validation folds, as in `sklearn.model_selection.cross_val_score`; None means five shuffled stratified
        folds.
        If `cv` is set and `scoring` is None, the score is the accuracy.
    class_weight : dict, "balanced" or None, default=None
        Class weights, which multiply the sample weights: a dictionary from classes to weights (1 for classes that are
        not in it), or "balanced" for weights inversely proportional to the class frequencies.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random subset on which methods are compared.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. A comparison that has not finished by then ends with the best method so far; Ctrl-C has
        the same effect once a method has been fitted. If the limit is too short for a fit on all samples, the model is
        fitted on a subset. A warning reports either. If methods are compared by other scores on folds, half of the
        limit is for the comparison, and the remaining time for the fit of the best method.
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`. "auto" infers it from X.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels; for multilabel targets, the indices of the labels.
    kind_ : str
        The kind of samples that was used: a value of `kind`.
    method_ : str
        The selected method: "basis_expansion", "thin_plate" or "power_mean".
    best_estimator_ : BasisExpansionSVC, ThinPlateSVC or PowerMeanSVC
        The fitted classifier. Its fitted attributes are also available on this estimator: ``C_``, ``similarity_``,
        ``basis_``, ``basis_indices_``, ``coef_``, ``intercept_``, ``normalization_``, ``loss_``, ``n_iter_``.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The importance of each column of a table: its share of the column weights in `similarity_`, averaged over the
        similarities that have weights. The importance of a column of categories is the sum over its categories. Only
        if a similarity has column weights.
    estimated_score_ : float
        The estimated accuracy on new samples; see `BasisExpansionSVC`. With `groups`, it is the accuracy on the folds,
        or NaN if another score was computed on them.
    estimated_score_std_ : float
        The standard error of `estimated_score_`.
    cv_results_ : dict of arrays
        An entry for each method (``iter`` 0) and for each C on the path of the best method (``iter`` 1), as in
        `BasisExpansionSVC`. There are no entries for methods if only one method accepts the samples and there are more
        than 1,000 of them.
    report_ : dict
        Solver status, objective values, duality gaps, seconds per stage, notes, and warnings.
    n_features_in_ : int
        The number of features of the training samples.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` is a data frame.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from widemargin import AutoSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> AutoSVC(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    True
    """

    _classes: ClassVar[dict[str, type[Any]]] = {
        "basis_expansion": BasisExpansionSVC,
        "thin_plate": ThinPlateSVC,
        "power_mean": PowerMeanSVC,
    }

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None, groups: npt.ArrayLike | None = None) -> Self:
        """Fits the model to samples of any kind.

        Parameters
        ----------
        X : samples
            Vectors, images, time series, strings, sets or graphs.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a dense or sparse multilabel indicator matrix: 1 if the sample has the label, 0 if it does
            not, NaN if that is unknown.
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of k is equivalent to k copies of the sample, a weight of 0 to leaving it out.
        groups : array of shape (n_samples,) or None
            Group of each sample. Methods are compared on folds that do not split groups. The selection of the
            parameters within each method ignores groups.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if self.cv is not None or groups is not None or self._scoring() not in (None, *SCORINGS):
            self._fit_best(X, y, sample_weight, groups)
        else:
            self._fit(X, y, sample_weight)
            header = json.loads(self._model.header())
            self.method_ = header["method"].replace("-", "_")
            header["python"] = self._python_state()
            self.best_estimator_ = self._classes[self.method_]._restored(self._model, header)
        self.best_estimator_.classes_, self.best_estimator_._is_multilabel = self.classes_, self._is_multilabel
        return self

    def _parameters(self) -> dict[str, Any]:
        scoring = self._scoring()
        scoring = scoring.replace("_", "-").removesuffix("-ovr") if isinstance(scoring, str) else None
        return {"methods": "+".join(method.replace("_", "-") for method in self._methods()), "scoring": scoring}


class AutoRegressor(Auto, FittedRegressor):
    """Regressor for samples of any kind that selects the method and its parameters.

    Each method that accepts the samples selects its similarity or kernel and its other parameters by leave-one-out. The
    method whose leave-one-out predictions have the largest R², on at most 1,000 samples, is then fitted on all samples.

    Parameters
    ----------
    methods : "auto" or list of {"basis_expansion", "thin_plate"}, default="auto"
        The methods to compare; "auto" means all methods that accept the samples.
    scoring : str, callable or None, default=None
        The score by which methods are compared on held-out folds: the name of a scikit-learn scorer, or a callable.
        None means R²; if `cv` is None too, it is computed by leave-one-out, without folds.
    cv : int, splitter, iterable or None, default=None
        The cross-validation folds, as in `sklearn.model_selection.cross_val_score`; None means five shuffled folds.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random subset on which methods are compared.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. Half of it is for the comparison, and the remaining time for the fit of the best method.
        If the limit is too short for a fit on all samples, the model is fitted on a subset, with a warning that reports
        the size of the subset.
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`. "auto" infers it from X.

    Attributes
    ----------
    kind_ : str
        The kind of samples that was used: a value of `kind`.
    method_ : str
        The selected method: "basis_expansion" or "thin_plate".
    best_estimator_ : BasisExpansionRegressor or ThinPlateRegressor
        The fitted regressor. Its fitted attributes are also available on this estimator: ``C_``, ``similarity_``,
        ``basis_``, ``basis_indices_``, ``coef_``, ``intercept_``, ``normalization_``, ``loss_``, ``n_iter_``.
    estimated_score_ : float
        The R² of leave-one-out predictions; see `BasisExpansionRegressor`.
    estimated_score_std_ : float
        The standard error of `estimated_score_`.
    cv_results_ : dict of arrays
        An entry for each method (``iter`` 0) and for each C on the path of the best method (``iter`` 1), as in
        `BasisExpansionSVC`.
    report_ : dict
        Seconds per stage, selected parameters, and warnings.
    n_features_in_ : int
        The number of features of the training samples.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` is a data frame.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = AutoRegressor().fit(X[:300], y[:300])
    >>> bool(abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1)
    True
    """

    _classes: ClassVar[dict[str, type[Any]]] = {
        "basis_expansion": BasisExpansionRegressor,
        "thin_plate": ThinPlateRegressor,
    }

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None, groups: npt.ArrayLike | None = None) -> Self:
        """Fits the model to samples of any kind.

        Parameters
        ----------
        X : samples
            Vectors, images, time series, strings, sets or graphs.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Target values; must be finite.
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of k is equivalent to k copies of the sample, a weight of 0 to leaving it out.
        groups : array of shape (n_samples,) or None
            Group of each sample. Methods are compared on folds that do not split groups. The selection of the
            parameters within each method ignores groups.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit_best(X, y, sample_weight, groups)
