"""Basis expansions: a classifier, a regression, and the expansion as a transformer."""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _core
from ._base import AT_LEAST_1, CONSTRAINTS, fitting, with_parameters
from ._compares import Compares, ComparesSamples
from ._parameters import Samples, SimilarityLike, Targets, Weights, normalization_of, one_of
from ._predictors import FittedRegressor, MarginClassifier
from ._targets import codes_of


@with_parameters
class BasisExpansionSVC(Compares, MarginClassifier):
    """A large-margin classifier for any similarity, definite or not, at the cost of a linear one.

    Samples are compared with a number of bases, the similarities are normalized, and a linear SVM is trained on them
    (Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*). Only
    samples × bases similarities are evaluated in training, and one per basis and sample in prediction.

    Parameters
    ----------
    similarity : str, similarity, callable, or a list of these, default="auto"
        A spec such as ``"rbf:gamma=1"`` or ``"hog:cell=4/rigid"``, an object of `widemargin.similarity`,
        ``"precomputed"`` (a square matrix of the similarities between all samples, or those to `n_basis` bases;
        ``"precomputed:distance=negative"`` of distances), or any ``f(samples, bases)`` that returns an array (samples,
        bases). Callables receive subsets of what is passed to ``fit`` and ``predict``, of the same type; one with an
        attribute ``n_polynomials`` returns that number of further columns, the values of polynomials at the samples.
        Several similarities are normalized separately and concatenated, named ones before callables. ``"auto"``
        compares candidates that suit the kind of samples, and combines them if that lowers the loss.
    n_basis : int or "auto", default="auto"
        Number of bases; if there are fewer samples, all of them. "auto" means all rows of a table of up to 4,000 in
        memory, and otherwise a number from 1,000 to 4,000: on a tenth of the samples (2,000 to 4,000 of them) a quarter
        of these as bases is compared with a half. It is the quarter, at least 1,000; the half if that saves 10 % of the
        leave-one-out loss or 0.5 percentage points of the error, beyond two standard errors of the difference; all of
        them if it saves 2 percentage points. With callables, precomputed similarities and "kmedoids" it is 1,000;
        "features" has no bases.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        The selection of bases from the training samples: at random, in proportion to the classes ("auto") or not
        ("random"), or medoids under the similarity, all independent of the order of the rows; evenly spaced in each
        class ("index") or among all samples ("every"); or their row indices. "kmedoids" evaluates a callable on more
        pairs than samples × bases.
    normalization : str, default="auto"
        The normalization of the similarities to the bases: "mean_norm", "z_score", "covariance" (whitening), "none",
        "nystroem" (the Nyström map of a kernel), or "centered" (the Nyström map of a conditionally positive definite
        similarity such as minus a distance, which gives the thin plate SVM on it). If "auto", "mean_norm" and the
        normalization that suits the similarity are compared by leave-one-out loss; with several similarities,
        callables and precomputed similarities, it is "mean_norm".
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        The treatment, by "nystroem" and "centered", of negative eigenvalues of the similarities between the bases: set
        them to 0, change their sign, shift the whole spectrum to be non-negative, or square all eigenvalues (only
        "nystroem"). Not used by other normalizations. The symmetric part of a similarity that is not symmetric is
        used, with a warning.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖w‖² + C Σ loss, above 0. "auto" selects the C of a path with the smallest
        leave-one-out squared hinge (of 2,000 samples if there are more), from fits with the squared_error loss if that
        is `loss`, otherwise with the squared hinge; not with ``penalty="l1"``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalized only with the hinge loss.
    loss : {"auto", "squared_hinge", "hinge", "squared_error", "logistic"}, default="auto"
        "squared_error" is that of least squares support vector machines, (1 − y f)²: one matrix serves all classes, and
        the leave-one-out error is exact. "auto" is the squared hinge. If similarity="auto" selects dense features of a
        descriptor, for more than 1,000 samples in three classes or more, it is squared_error unless the squared hinge
        lowers the leave-one-out error by 0.5 percentage points, beyond two standard errors.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which sample weights are multiplied: a dictionary (classes that it does not contain
        have weight 1), or "balanced" for weights inversely proportional to the frequencies of the classes.
    tol : float, default=1e-3
        The relative duality gap at which a problem counts as solved, in (0, 1).
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are called one at a time.
    random_state : int, RandomState or None, default=None
        None means a fixed seed: the same samples give the same model.
    verbose : int, default=0
        0 is silent, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Limit in seconds. A solver that has not converged by then stops with its current solution, and a warning states
        the gap reached. If the limit does not allow a fit on all samples, the model is fitted to as many as it allows,
        and a warning states their number.
    kind : str, default="auto"
        The kind of samples: "table", "series", "strings", "sets", "images", "graphs", "grids" or "objects". "auto"
        reads a numeric 2-D array, and a list of lists of equal length, as a table (as series if the similarity compares
        series), and a list of arrays as series. "series_channels_first" is for multichannel time series of shape
        (channels, length), as in aeon, "series_channels_last" for (length, channels), as in tslearn; otherwise the
        channels are the axis that is shorter if it is the last one, and an error asks if not. `predict` selects the
        axis whose size is the number of channels of the bases.
    penalty : {"l2", "l1"}, default="l2"
        "l1" minimizes ‖w‖₁ + C Σ loss, so that most weights are 0; only bases with nonzero weights are stored. It needs
        the squared hinge, all features in memory and a normalization with a feature for each basis ("mean_norm",
        "z_score", "none"), and never penalizes the intercept.
    max_basis : int or None, default=None
        The largest number of bases of the model. Bases with the smallest weights are removed, 30 % at a time, and the
        rest is fitted again. Each feature must belong to one basis ("mean_norm", "z_score" or "none").

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; for multilabel targets the indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels: the column names of a data frame, or their indices. Only for multilabel targets.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The estimated accuracy of each label, as in `estimated_score_`. Only for multilabel targets.
    C_ : float
        The C of the model, set or selected.
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each of several, with learned values.
    normalization_ : str
        The normalization of the fit.
    negative_eigenvalues_ : str
        The treatment of negative eigenvalues, for the normalizations "nystroem" and "centered".
    loss_ : str
        The loss, set or selected.
    cv_results_ : dict of arrays
        The candidates that were compared, if anything was "auto" (``iter`` 0), and every C of the path of the selected
        one (``iter`` 1), as in scikit-learn's searches: ``params`` and ``param_…``; ``mean_test_score``, minus the mean
        leave-one-out squared hinge, with its standard error ``std_test_score``, and ``mean_test_accuracy``;
        ``rank_test_score`` among the entries of its ``iter``; ``n_resources``, the number of samples;
        ``mean_fit_time``; ``selected``, whether it became the model; ``problem``, the reason why a candidate has no
        score. With more than 1,000 samples in three classes or more, candidates are fitted with squared_error, which
        has one matrix for all classes. The first candidate whose loss is within the standard error of the difference
        from the smallest is selected; with many samples it is "features", which needs no bases, unless another saves 10
        % of the loss or 0.5 percentage points of the error.
    estimated_score_ : float
        The estimated accuracy of this model on new samples like those of its training: by leave-one-out or five folds
        at the selected C, or on samples held out of refits if C was set, or selected on a subset of many
        samples. `report_["estimate"]` has the method and the number of samples; it ignores class weights. NaN if
        there is no estimate, for which a note in `report_` gives the reason.
    estimated_score_std_ : float
        The standard error of this estimate.
    basis_indices_ : ndarray of int
        The training rows of the bases.
    basis_ : array or list
        The bases, in the form of the training samples.
    coef_ : ndarray of shape (n_problems, n_features)
        Weights on the normalized similarities, part after part.
    intercept_ : ndarray of shape (n_problems,)
        The intercept of each two-class problem.
    n_iter_ : int
        The largest number of steps of a problem.
    report_ : dict
        Status, objectives, duality gaps, seconds per stage, warnings.

    Examples
    --------
    >>> from widemargin import BasisExpansionSVC
    >>> names = ["Rossi", "Russo", "Bianchi", "Romano", "Smith", "Jones", "Williams", "Taylor"] * 2
    >>> svc = BasisExpansionSVC("edit", n_basis=8).fit(names, (["it"] * 4 + ["en"] * 4) * 2)
    >>> svc.predict(["Rosso", "Smithson"])
    array(['it', 'en'], dtype='<U2')

    A list of similarities, each with parameters that a search can vary:

    >>> from sklearn.datasets import load_wine
    >>> from widemargin.similarity import RBF, Laplacian
    >>> X, y = load_wine(return_X_y=True)
    >>> svc = BasisExpansionSVC([RBF(), Laplacian()], n_basis=50).fit(X[::2], y[::2])
    >>> svc.coef_.shape
    (3, 100)
    """

    C: float | str = "auto"
    fit_intercept: bool = True
    loss: str = "auto"
    tol: float = 1e-3
    penalty: str = "l2"
    max_basis: int | None = None
    _reads_files = True
    _losses: ClassVar[tuple[str, ...]] = ("auto", "squared_hinge", "hinge", "squared_error", "logistic")

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Trains on samples of any kind that the similarity compares.

        Parameters
        ----------
        X : samples
            Vectors (arrays, CSR, frames), images (n, h, w) or (n, h, w, 3) of uint8, grids (n, rows, columns, depth),
            series, strings, sets; for a callable any sequence. For "precomputed" the similarities of the
            samples to all bases or, if square, to each other.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Classes, or a multilabel indicator matrix, dense or sparse: 1 for labels of the sample, 0 for other labels,
            NaN for unknown ones.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        loss = one_of("loss", self.loss, self._losses, estimator=self)
        return {
            "loss": None if loss == "auto" else loss,
            "penalty": one_of("penalty", self.penalty, ("l2", "l1"), estimator=self),
            "normalization": normalization_of(self, "auto"),
            "C": self._fixed_C(),
            "intercept": "free" if self.fit_intercept else "none",
            "max_basis": None if self.max_basis is None else int(self.max_basis),
        }

    def _max_iter(self) -> int:
        if self.loss == "hinge":
            return 20_000
        return 2_000 if self.penalty == "l1" else super()._max_iter()


@with_parameters
class BasisExpansionRegressor(Compares, FittedRegressor):
    """Regression for any similarity, definite or not, at the cost of a linear one.

    Samples are compared with a number of bases, the similarities are normalized, as for `BasisExpansionSVC`, and on
    these features ½‖w‖² + C Σ loss(y − f) is minimized, with an intercept that is not penalized. With the squared loss
    this is ridge regression, in closed form; with a positive definite kernel and all samples as bases it is kernel
    ridge regression. Huber's loss resists outliers, the squared ε-insensitive loss ignores small errors, and the
    quantile loss predicts quantiles. Automatic parameters are selected by an estimate of the error on new samples: by
    leave-one-out, or by folds for the quantile loss.

    Parameters
    ----------
    similarity : str, similarity, callable, or a list of these, default="auto"
        A spec such as ``"rbf:gamma=1"``, an object of `widemargin.similarity`, ``"precomputed"``, a callable
        ``f(samples, bases)``, or a list of these, which are normalized separately and concatenated. "auto" compares
        candidates that suit the kind of samples on at most 400 of them, with the gamma of the best kernels; of dense
        vectors also weights of columns, those under which a Gaussian process makes the targets most likely, if they are
        likely. Candidates are always compared by squared_error, independent of `loss`.
    n_basis : int or "auto", default="auto"
        Number of bases; if there are fewer samples, all of them. "auto" is 1,000.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        The selection of bases from the training samples, as for `BasisExpansionSVC` with all samples in one class; or
        their row indices.
    normalization : str, default="auto"
        The normalization of the similarities to the bases: "mean_norm", "z_score", "covariance", "none", "nystroem" or
        "centered". "auto" is the better of "mean_norm" and the normalization that suits the similarity, by
        leave-one-out with squared_error.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        The treatment, by "nystroem" and "centered", of negative eigenvalues of the similarities between the bases: set
        them to 0, change their sign, shift the whole spectrum, or square all eigenvalues (only "nystroem").
    C : float or "auto", default="auto"
        The weight of the losses in ½‖w‖² + C Σ loss(y − f), above 0. "auto" is the C with the smallest estimated loss:
        by leave-one-out, or for "quantile" by five folds, which share the features. For several outputs, it is the C
        with the largest mean R², or D² for other losses. The path of losses other than squared_error ends at 100 times
        the best C.
    loss : {"squared_error", "huber", "squared_epsilon_insensitive", "quantile"}, default="squared_error"
        With r = y − f(x):

        - "squared_error": r².
        - "huber": r² from −ε to ε, beyond it 2ε abs(r) − ε².
        - "squared_epsilon_insensitive": max(0, abs(r) − ε)².
        - "quantile": qr for r > 0, (q − 1)r below: f is the quantile q of the targets at x.
    epsilon : float or "auto", default="auto"
        ε of "huber", above 0, and of "squared_epsilon_insensitive", at least 0, in the unit of the targets (in
        scikit-learn's `HuberRegressor` it is in units of a scale that is estimated with the coefficients). "auto" is
        selected for each output, by the spread of the leave-one-out residuals of a first fit, 1.4826 times their median
        absolute deviation: for "huber" 1.35 times the spread, after a fit whose own ε is 1.35 times the spread of the
        targets; for the other 3σ √(ln n / n), with n samples and σ the spread after a fit with ε = 0. Other losses
        accept no number.
    quantile : float, default=0.5
        q of "quantile", above 0 and below 1. Other losses accept no other value.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalized.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are called one at a time.
    random_state : int, RandomState or None, default=None
        None means a fixed seed: the same samples give the same model.
    verbose : int, default=0
        0 is silent, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Limit in seconds; the search for a similarity uses at most half of it. If the limit does not allow a fit on all
        samples, the model is fitted to as many as it allows, and a warning states their number. With a loss other than
        squared_error the selection of ε and C uses at most half of the remaining time, and the solver stops with its
        current solution.
    kind : str, default="auto"
        The kind of samples, one of those of `BasisExpansionSVC`. "auto" infers it from the collection and from what the
        similarity compares.

    Attributes
    ----------
    C_ : float
        The C of the model, set or selected.
    epsilon_ : float or ndarray of shape (n_outputs,)
        ε, set or selected, in the unit of the targets, if the loss has one.
    cv_results_ : dict of arrays
        The candidates that were compared, if anything was "auto", and every C of the path of the selected one, as in
        `BasisExpansionSVC`: ``mean_test_score`` is R² of leave-one-out predictions, the mean over the outputs that are
        not constant, with its standard error ``std_test_score``; paths also have
        ``mean_test_neg_root_mean_squared_error``, the mean over the outputs, in the unit of the targets. Leave-one-out
        is exact for the features of the fit, with fixed bases. For losses other than squared_error the score of a path
        is D², 1 − loss / loss of the best constant, the mean over the outputs that a constant does not fit, and
        ``mean_test_neg_loss`` minus the mean leave-one-out loss: with "huber" and "squared_epsilon_insensitive" each
        refit is approximated by one Newton step from the solution, which is exact if it moves no other sample over a
        corner of the loss; for "quantile" a fit leaves out one of five folds.
    estimated_score_ : float
        R², or D² for losses other than squared_error, of the same predictions at `C_`. Where the similarity was
        selected on fewer than 150 samples, R² of five folds, each with a selection of its own.
    estimated_score_std_ : float
        The standard error of this estimate, for a fixed spread of the targets.
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each of several, with learned values.
    normalization_ : str
        The normalization of the fit.
    negative_eigenvalues_ : str
        The treatment of negative eigenvalues, for the normalizations "nystroem" and "centered".
    loss_ : str
        The loss of the model, set or selected.
    basis_indices_ : ndarray of int
        The training rows of the bases.
    basis_ : array or list
        The bases, in the form of the training samples.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights on the normalized similarities, part after part.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept of each output.
    n_iter_ : int
        The number of iterations of the solver, the largest over all problems.
    report_ : dict
        Seconds per stage, selected parameters, warnings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin import BasisExpansionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = BasisExpansionRegressor("z-score/rbf").fit(X[:300], y[:300])
    >>> bool(abs(regressor.estimated_score_ - regressor.score(X[300:], y[300:])) < 0.1)
    True
    >>> upper = BasisExpansionRegressor("z-score/rbf", loss="quantile", quantile=0.9).fit(X[:300], y[:300])
    >>> bool(0.8 < (y[300:] <= upper.predict(X[300:])).mean() < 1.0)
    True
    """

    C: float | str = "auto"
    loss: str = "squared_error"
    epsilon: float | str = "auto"
    quantile: float = 0.5
    fit_intercept: bool = True
    _reads_files = True
    _losses: ClassVar[tuple[str, ...]] = ("squared_error", "huber", "squared_epsilon_insensitive", "quantile")

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Trains on samples of any kind that the similarity compares.

        Parameters
        ----------
        X : samples
            Vectors, images, grids, series, strings, sets or graphs; any sequence if the similarity is a callable.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Finite numbers.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        return {
            "normalization": normalization_of(self, "auto"),
            "C": self._fixed_C(),
            "loss": self._loss(),
            "intercept": "free" if self.fit_intercept else "none",
        }

    def _loss(self) -> str:
        """The loss with its parameters in the library's notation."""
        loss = one_of("loss", self.loss, self._losses, estimator=self)
        epsilon = [] if isinstance(self.epsilon, str) else [f"epsilon={float(self.epsilon)!r}"]
        # The default belongs to every loss.
        quantile = [] if self.quantile == 0.5 else [f"quantile={float(self.quantile)!r}"]
        return ":".join([loss, *filter(None, [",".join(epsilon + quantile)])])

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        # Outputs with different values are fitted again with selected ones.
        epsilon = set(header.get("epsilon", []))
        return super()._stored_parameters(header) | {"epsilon": epsilon.pop() if len(epsilon) == 1 else "auto"}


@with_parameters
class BasisExpansion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ComparesSamples):
    """Similarities to a number of bases, normalized: the features of `BasisExpansionSVC`, for any linear model.

    The parameters are those of `BasisExpansionSVC`. Without y, "index" and "auto" bases ignore classes.

    Attributes
    ----------
    kind_ : str
        The kind as which samples were read: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each of several, with learned values.
    basis_indices_ : ndarray of int
        The training rows of the bases.
    basis_ : array or list
        The bases, in the form of the training samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from widemargin import BasisExpansion
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(BasisExpansion("rbf", n_basis=30), LogisticRegression()).fit(X, y)
    >>> model[0].transform(X).shape
    (150, 30)
    """

    similarity: SimilarityLike = field(default="rbf", kw_only=False)
    n_basis: int = 1000
    normalization: str = "mean_norm"
    _read = _core.Model.expansion_from_bytes
    # Where the features of a Nyström map end: "rounding" for regression.
    _nystroem_cut = "millionth"
    _parameter_constraints = CONSTRAINTS | {"n_basis": [AT_LEAST_1]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def fit(self, X: Samples, y: Targets | None = None) -> Self:
        """Selects the bases and learns the normalization.

        Parameters
        ----------
        X : samples
            Vectors, images, grids, series, strings, sets or graphs; any sequence if the similarity is a callable.
        y : array of shape (n_samples,) or None
            Classes for selecting the bases.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self.fit_transform(X, y)
        return self

    @fitting
    def fit_transform(self, X: Samples, y: Targets | None = None) -> npt.NDArray[np.float32]:
        """Selects the bases, learns the normalization, and returns the features of the samples.

        Parameters
        ----------
        X : samples
            Vectors, images, grids, series, strings, sets or graphs; any sequence if the similarity is a callable.
        y : array of shape (n_samples,) or None

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        normalization = normalization_of(self)
        collected, parameters = self._prepared(X, y, None)
        codes = None
        if y is not None:
            codes = codes_of(y)
            check_consistent_length(range(collected.n), codes)
        with self._watched(X=X, y=y) as progress:
            model, features, rows = _core.fit_expansion(
                collected.samples,
                codes,
                1 if codes is None else int(codes.max()) + 1,
                **parameters,
                normalization=normalization,
                cut=self._nystroem_cut,
                seed=self._seed(),
                threads=self._threads(),
                monitor=progress.monitor,
            )
        self._model = model
        specs = json.loads(model.header())["similarity"]
        self.similarity_ = specs[0] if len(specs) == 1 else specs
        self.basis_indices_ = np.array(rows if self._columns is None else self._base_rows, dtype=np.int64)
        self._fitted_on(X)
        self._n_features_out = features.shape[1]
        return features

    def transform(self, X: Samples) -> npt.NDArray[np.float32]:
        """The features of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self._model.transform(self._collected(X), self._threads())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")
