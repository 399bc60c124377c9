"""A classifier that chooses everything by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar

from . import _core
from ._base import SHARED, MarginClassifier, fitting, watched
from ._bases import same_length
from ._collect import collect
from ._model_files import CLASSES
from ._names import one_of
from ._progress import Progress
from ._specs import any_kind

METHODS = ("basis_expansion", "thin_plate", "power_mean")
_TRIED = ("method", "chosen", "loo_squared_hinge", "problem", "error", "score", "n_samples", "seconds")
# Of scikit-learn's names.
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


class AutoSVC(MarginClassifier):
    """A large-margin classifier of any samples, with nothing to choose.

    Each method that takes the samples chooses its similarity or kernel and its other parameters by leave-one-out, on at
    most 1,000 samples; the one with the least loss is trained on all. The model is that of `BasisExpansionSVC`,
    `ThinPlateSVC` or `PowerMeanSVC`: saved and loaded as such, `best_estimator_` here.

    Parameters
    ----------
    methods : "auto" or list of {"basis_expansion", "thin_plate", "power_mean"}, default="auto"
        What is compared; "auto" is all that take the samples. The thin plate SVM is left out beside the basis expansion
        on histograms, and where there its kernels are far behind other similarities.
    scoring : str or None, default=None
        The score by which methods are compared, by scikit-learn's names: "accuracy", "balanced_accuracy", "f1_macro",
        "roc_auc" (of more than two classes "roc_auc_ovr"), "average_precision" (of the second of two classes),
        "neg_log_loss", "neg_brier_score" (of the probabilities); of several labels a sample "accuracy" (of all its
        labels), "f1_macro", "roc_auc" and "average_precision". It is computed from samples left out in five stratified
        folds. With None, methods are compared by their mean leave-one-out squared hinge, without further
        fits.
    class_weight : dict, "balanced" or None, default=None
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the samples on which methods are compared.
    verbose : int, default=0
    time_limit : float or None, default=None
        Seconds. The comparison ends with the best method so far. If the limit does not allow a fit on all samples, the
        model is fitted to as many as it allows. A warning states either. Ctrl-C ends the comparison in the same way,
        once a method has been fitted.
    kind : {"auto", "table", "series", "strings", "sets", "images", "graphs", "grids", "objects"}, default="auto"
        What the samples are, as in `BasisExpansionSVC`.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of multichannel time series, as in `BasisExpansionSVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kind_ : str
        What the samples were read as: a value of `kind`.
    method_ : str
        "basis_expansion", "thin_plate" or "power_mean".
    best_estimator_ : BasisExpansionSVC, ThinPlateSVC or PowerMeanSVC
        The fitted classifier, with all that it chose.
    estimated_score_ : float
        The accuracy that the fit expects, by samples that it did not see.
    tried_ : list of dict
        What was found of each method: what it chose, its mean leave-one-out squared hinge (or the problem with it), its
        estimated error, its score if `scoring` is given, the number of samples, seconds. Empty if only one method takes
        more than 1,000 samples.
    n_iter_ : int
    report_ : dict
        Status, objectives, duality gaps, seconds per stage, notes, warnings.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from widemargin import AutoSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> AutoSVC(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: SHARED[name] for name in ("n_jobs", "random_state", "verbose", "time_limit")},
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        *,
        methods: str | Iterable[str] = "auto",
        scoring: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        time_limit: float | None = None,
        kind: str = "auto",
        layout: str = "auto",
    ) -> None:
        self.methods = methods
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.kind = kind
        self.layout = layout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AutoSVC:
        """Trains on samples of any kind.

        Parameters
        ----------
        X : samples
            As for `BasisExpansionSVC`.
        y : array of shape (n_samples,), or (n_samples, n_labels) for several labels a sample
            An indicator matrix, dense or sparse: 1 for a label that the sample has, 0 for one that it has not, NaN
            where that is unknown.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        AutoSVC
            The fitted estimator itself.
        """
        methods, scoring = self._methods(), self._scoring()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._resolved = any_kind(X, self.layout, self.kind)
        collected = collect(self, X, self._resolved, reset=True)
        target = self._target(y, sample_weight)
        same_length(collected.n, len(target[1]))
        with self._watched(X=X, y=y) as progress:
            model, tried = _core.fit_auto(collected.given, target, methods, scoring, self._common(progress))
        self._keep(model)
        self.tried_ = [dict(zip(_TRIED, one, strict=True)) for one in tried]
        told = json.loads(model.header())
        self.method_ = told["method"].replace("-", "_")
        self.best_estimator_ = CLASSES[told["method"]]._restored(model, told)
        self.best_estimator_.classes_, self.best_estimator_._several = self.classes_, self._several
        return self

    def _methods(self) -> list[str]:
        given = [self.methods] if isinstance(self.methods, str) else list(self.methods)
        if given == ["auto"]:
            given = list(METHODS)
        return [one_of("methods", method, METHODS, estimator=self).replace("_", "-") for method in given]

    def _scoring(self) -> str | None:
        if self.scoring is None:
            return None
        return one_of("scoring", self.scoring, SCORINGS, estimator=self).removesuffix("-ovr")

    def _common(self, progress: Progress) -> _core._Common:
        return {
            "class_weight": self._class_factors(),
            # Those of each method.
            "tol": 0.0,
            "max_iter": 0,
            "seed": self._seed(),
            "threads": self._threads(),
            "time_limit": self.time_limit,
            "monitor": watched(progress),
            "features": self._features_of_model(),
        }

    def _collected(self, X: Any) -> _core._Collected:
        return collect(self, X, self._resolved, reset=False).given

    def _facts(self) -> dict[str, str]:
        return {"method": self.method_, **self.best_estimator_._facts()}
