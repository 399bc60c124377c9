"""Basis expansions: a classifier, a regressor, and a transformer."""

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
from ._parameters import Samples, SimilarityLike, Targets, normalization_of, one_of
from ._predictors import FittedRegressor, MarginClassifier, codes_of


@with_parameters
class BasisExpansionSVC(Compares, MarginClassifier):
    """Large-margin classifier for any similarity, definite or indefinite, at the cost of a linear classifier.

    Each sample is represented by its normalized similarities to a set of bases, which are selected from the training
    samples, and a linear SVM is trained on these features (Aghazadeh & Carlsson, *Large Scale, Large Margin
    Classification using Indefinite Similarity Measures*). Training and prediction evaluate one similarity per sample
    and basis; no matrix of the similarities between all samples is needed.

    Parameters
    ----------
    similarity : str, similarity, callable, or a list of these, default="auto"
        The similarity: a spec such as ``"rbf:gamma=1"`` or ``"hog:cell=4/rigid"``, an object of
        `widemargin.similarity`, ``"precomputed"``, or a callable ``f(samples, bases)`` that returns an array of shape
        (n_samples, n_bases). With ``"precomputed"``, X is a square matrix of the similarities between all samples, or a
        matrix of their similarities to `n_basis` bases; with ``"precomputed:distance=negative"`` it contains distances.
        A callable receives subsets of the X passed to ``fit`` and ``predict``, of the same type; if it has an attribute
        ``n_polynomials``, it returns that number of additional columns, the values of polynomials at the samples. The
        similarities of a list are normalized separately and concatenated, built-in ones before callables. ``"auto"``
        compares candidates that suit the kind of samples, and combines several of them if that lowers the loss.
    n_basis : int or "auto", default="auto"
        Number of bases; if there are fewer samples, all of them are bases. "auto" uses all samples of an in-memory
        table of up to 4,000 rows. For other data it is 1,000 to 4,000, selected on a tenth of the samples (at least
        2,000, at most 4,000): half of this subset as bases is compared with a quarter of it. The quarter (at least
        1,000) is selected unless the half lowers the leave-one-out loss by more than two standard errors of the
        difference, and either the loss by 10 % or the error by 0.5 percentage points. If it lowers the error by 2
        percentage points, the number of bases is the size of the subset. "auto" is 1,000 with callables, precomputed
        similarities and ``basis="kmedoids"``. The similarity "features" has no bases.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        How the bases are selected from the training samples: "auto" selects a random subset stratified by class,
        "random" a random subset without stratification, "kmedoids" the medoids under the similarity, "index" evenly
        spaced samples of each class, and "every" evenly spaced samples of all. An array contains the row indices of the
        bases. The results of "auto", "random" and "kmedoids" do not depend on the order of the rows. "kmedoids"
        evaluates a callable on more pairs than samples × bases.
    normalization : str, default="auto"
        The normalization of the similarities to the bases: "mean_norm", "z_score", "covariance" (whitening), "none",
        "nystroem" (the Nyström feature map of a kernel), or "centered" (the Nyström feature map of a conditionally
        positive definite similarity, such as a negative distance; the model is then a thin plate SVM with this
        similarity). "auto" compares "mean_norm" and the normalization that suits the similarity by leave-one-out loss;
        for several similarities, callables and precomputed similarities it is "mean_norm".
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        How "nystroem" and "centered" treat negative eigenvalues of the matrix of similarities between the bases: "clip"
        sets them to 0, "flip" changes their sign, "shift" shifts the whole spectrum until no eigenvalue is negative,
        and "square" squares all eigenvalues ("nystroem" only). Other normalizations ignore this parameter. If the
        similarity is not symmetric, its symmetric part is used, with a warning.
    C : float or "auto", default="auto"
        The weight of the losses in ½‖w‖² + C Σ loss; must be above 0. "auto" selects the C with the smallest
        leave-one-out squared hinge loss on a regularization path, computed on at most 2,000 samples. The path minimizes
        the squared_error loss if that is `loss`, otherwise the squared hinge loss. With the squared hinge loss and more
        than 4,000 samples, fits without a tenth of them compare this C with larger and smaller ones. "auto" is not
        available with ``penalty="l1"``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. The intercept is penalized only with the hinge loss.
    loss : {"auto", "squared_hinge", "hinge", "squared_error", "logistic"}, default="auto"
        The loss. "squared_error" is the loss of least squares support vector machines, (1 − y f)²: all classes share
        one matrix, and the leave-one-out error is exact. "auto" is the squared hinge loss, with one exception: if
        ``similarity="auto"`` selects dense features of a descriptor, and there are more than 1,000 samples in three or
        more classes, "auto" is "squared_error" unless the squared hinge loss lowers the leave-one-out error by 0.5
        percentage points and by more than two standard errors.
    class_weight : dict, "balanced" or None, default=None
        Class weights, which multiply the sample weights: a dictionary from classes to weights (1 for classes that are
        not in it), or "balanced" for weights inversely proportional to the class frequencies.
    tol : float, default=1e-3
        Tolerance: the solver stops when the relative duality gap is below this value, in (0, 1).
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are never called
        concurrently.
    random_state : int, RandomState or None, default=None
        Seed of all random steps. If None, a fixed seed is used: the same samples give the same model.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. A solver that has not converged by then returns its current solution, with a warning that
        reports the duality gap. If the limit is too short for a fit on all samples, the model is fitted on a subset,
        with a warning that reports the size of the subset.
    kind : str, default="auto"
        The kind of samples: "table", "series" (time series), "strings", "sets", "images", "graphs", "grids" or
        "objects". "auto" treats a numeric 2-D array, or a list of lists of equal length, as a table (as time series if
        the similarity compares time series), and a list of arrays as time series. For multichannel time series,
        "series_channels_first" expects the shape (channels, length), as in aeon, and "series_channels_last" (length,
        channels), as in tslearn. Otherwise the last axis is taken as the channels if it is the shorter one; if not, an
        error asks for the order of the axes. `predict` uses the axis whose size is the number of channels of the bases.
    penalty : {"l2", "l1"}, default="l2"
        The penalty. "l1" minimizes ‖w‖₁ + C Σ loss, which sets most weights to 0; the model stores only the bases with
        nonzero weights. It requires the squared hinge loss, features that fit in memory, and a normalization with one
        feature per basis ("mean_norm", "z_score" or "none"). It never penalizes the intercept.
    max_basis : int or None, default=None
        Maximum number of bases of the model. The 30 % of the bases with the smallest weights are removed and the model
        is refitted, repeatedly, until the number is reached. This requires a normalization with one feature per basis
        ("mean_norm", "z_score" or "none").

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels; for multilabel targets, the indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels: the column names of y if it is a data frame, otherwise their indices. Only for
        multilabel targets.
    estimated_label_scores_ : ndarray of shape (n_labels,)
        The estimated accuracy for each label; see `estimated_score_`. Only for multilabel targets.
    C_ : float
        The value of C, set or selected.
    kind_ : str
        The kind of samples that was used: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each similarity of a list, including learned parameter values.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The importance of each column of a table: its share of the column weights in `similarity_`, averaged over the
        similarities that have weights. The importance of a column of categories is the sum over its categories. Only
        if a similarity has column weights.
    normalization_ : str
        The normalization, set or selected.
    negative_eigenvalues_ : str
        The treatment of negative eigenvalues. Only for the normalizations "nystroem" and "centered".
    loss_ : str
        The loss, set or selected.
    cv_results_ : dict of arrays
        The candidates that were compared if any parameter is "auto" (``iter`` 0), and all values of C on the
        regularization path of the selected candidate (``iter`` 1), in the format of scikit-learn's searches: ``params``
        and ``param_…``; ``mean_test_score``, the negative mean leave-one-out squared hinge loss, with its standard
        error ``std_test_score``, and ``mean_test_accuracy``; ``rank_test_score`` among the entries with the same
        ``iter``; ``n_resources``, the number of samples; ``mean_fit_time``; ``selected``, whether the entry became the
        model; and ``problem``, the reason why a candidate has no score. With more than 1,000 samples in three or more
        classes, candidates are fitted with the squared_error loss, for which all classes share one matrix. The first
        candidate whose loss exceeds the smallest loss by at most one standard error of the difference is selected. With
        many samples, "features", which needs no bases, is preferred unless another candidate lowers the loss by 10 % or
        the error by 0.5 percentage points.
    estimated_score_ : float
        The estimated accuracy on new samples from the same distribution as the training samples. The estimate uses
        leave-one-out or five-fold cross-validation at the selected C, or, if C was set or was selected on a subset of
        the samples, refits with held-out samples. If the similarity was selected on fewer than 150 samples, it uses
        five folds, each with a selection of its own. Class weights are ignored. `report_["estimate"]` contains the
        method and the number of samples. NaN if no estimate is available; a note in `report_` states the reason.
    estimated_score_std_ : float
        The standard error of `estimated_score_`.
    basis_indices_ : ndarray of int
        The indices of the bases among the training samples.
    basis_ : array or list
        The bases, in the same form as the training samples.
    coef_ : ndarray of shape (n_problems, n_features)
        The weights of the normalized similarities; those of several similarities are concatenated.
    intercept_ : ndarray of shape (n_problems,)
        The intercept of each binary problem.
    n_iter_ : int
        The number of solver iterations; the maximum over all problems.
    report_ : dict
        Solver status, objective values, duality gaps, seconds per stage, and warnings.

    Examples
    --------
    >>> from widemargin import BasisExpansionSVC
    >>> names = ["Rossi", "Russo", "Bianchi", "Romano", "Smith", "Jones", "Williams", "Taylor"] * 2
    >>> svc = BasisExpansionSVC("edit", n_basis=8).fit(names, (["it"] * 4 + ["en"] * 4) * 2)
    >>> svc.predict(["Rosso", "Smithson"])
    array(['it', 'en'], dtype='<U2')

    A list of similarities, whose parameters a grid search can set:

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
    """Regression for any similarity, definite or indefinite, at the cost of linear regression.

    As in `BasisExpansionSVC`, each sample is represented by its normalized similarities to a set of bases. On these
    features, ½‖w‖² + C Σ loss(y − f) is minimized, with an unpenalized intercept. With the squared error this is ridge
    regression, solved in closed form; with a positive definite kernel and all samples as bases it is kernel ridge
    regression. The Huber loss is robust to outliers, the squared ε-insensitive loss ignores small errors, and the
    quantile loss predicts quantiles. Automatic parameters are selected by an estimate of the error on new samples:
    leave-one-out, or cross-validation for the quantile loss.

    Parameters
    ----------
    similarity : str, similarity, callable, or a list of these, default="auto"
        The similarity: a spec such as ``"rbf:gamma=1"``, an object of `widemargin.similarity`, ``"precomputed"``, a
        callable ``f(samples, bases)``, or a list of these, which are normalized separately and concatenated. "auto"
        compares candidates that suit the kind of samples, on at most 400 samples, and tunes gamma for the best kernels.
        For dense vectors, it also compares column weights that maximize the likelihood of the targets under a Gaussian
        process, if that likelihood is high enough. Candidates are always compared by squared error, whatever the
        `loss`.
    n_basis : int or "auto", default="auto"
        Number of bases; if there are fewer samples, all of them are bases. "auto" is 1,000.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        How the bases are selected from the training samples, as in `BasisExpansionSVC` with all samples in one class,
        or the row indices of the bases.
    normalization : str, default="auto"
        The normalization of the similarities to the bases: "mean_norm", "z_score", "covariance", "none", "nystroem" or
        "centered"; see `BasisExpansionSVC`. "auto" selects "mean_norm" or the normalization that suits the similarity,
        whichever has the lower leave-one-out squared error.
    negative_eigenvalues : {"clip", "flip", "shift", "square"}, default="clip"
        How "nystroem" and "centered" treat negative eigenvalues of the matrix of similarities between the bases: "clip"
        sets them to 0, "flip" changes their sign, "shift" shifts the whole spectrum, and "square" squares all
        eigenvalues ("nystroem" only).
    C : float or "auto", default="auto"
        The weight of the losses in ½‖w‖² + C Σ loss(y − f); must be above 0. "auto" selects the C with the smallest
        estimated loss: by leave-one-out, or for "quantile" by five-fold cross-validation on fixed features. With
        several outputs, it selects the C with the largest mean R², or mean D² for losses other than squared_error. For
        these losses, the path ends at 100 times the best C.
    loss : {"squared_error", "huber", "squared_epsilon_insensitive", "quantile"}, default="squared_error"
        With r = y − f(x):

        - "squared_error": r².
        - "huber": r² for abs(r) ≤ ε, otherwise 2ε abs(r) − ε².
        - "squared_epsilon_insensitive": max(0, abs(r) − ε)².
        - "quantile": qr for r > 0, otherwise (q − 1)r; f(x) estimates the q-quantile of the targets at x.
    epsilon : float or "auto", default="auto"
        The ε of "huber" (above 0) and of "squared_epsilon_insensitive" (at least 0), in units of the targets; in
        contrast, the epsilon of scikit-learn's `HuberRegressor` is in units of an estimated scale. "auto" is determined
        for each output from the spread σ of the leave-one-out residuals of a preliminary fit, where σ is 1.4826 times
        their median absolute deviation. For "huber" it is 1.35 σ, and the preliminary fit uses an ε of 1.35 times the
        spread of the targets. For "squared_epsilon_insensitive" it is 3σ √(ln n / n) with n samples, and the
        preliminary fit uses ε = 0. With other losses, it must be "auto".
    quantile : float, default=0.5
        The q of "quantile", above 0 and below 1. With other losses, it must be 0.5.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is not penalized.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are never called
        concurrently.
    random_state : int, RandomState or None, default=None
        Seed of all random steps. If None, a fixed seed is used: the same samples give the same model.
    verbose : int, default=0
        Verbosity: 0 prints nothing, 1 shows progress, and 2 also shows the duality gap and the remarks of the report.
    time_limit : float or None, default=None
        Time limit in seconds. The selection of a similarity takes at most half of it. If the limit is too short for a
        fit on all samples, the model is fitted on a subset, with a warning that reports the size of the subset. With a
        loss other than squared_error, the selection of ε and C takes at most half of the remaining time, and a solver
        that has not converged returns its current solution.
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`. "auto" infers it from X and from the kinds that the similarity
        accepts.

    Attributes
    ----------
    C_ : float
        The value of C, set or selected.
    epsilon_ : float or ndarray of shape (n_outputs,)
        The value of ε, set or selected, in units of the targets. Only for losses with this parameter.
    cv_results_ : dict of arrays
        The candidates that were compared if any parameter is "auto", and all values of C on the path of the selected
        candidate, as in `BasisExpansionSVC`. ``mean_test_score`` is the R² of leave-one-out predictions, averaged over
        the outputs that are not constant, with its standard error ``std_test_score``. Entries of the path also have
        ``mean_test_neg_root_mean_squared_error``, averaged over the outputs, in units of the targets. Leave-one-out is
        exact for the fitted features, with fixed bases. For losses other than squared_error, the score on the path is
        D² = 1 − loss / loss of the best constant, averaged over the outputs that no constant fits exactly, and
        ``mean_test_neg_loss`` is the negative mean leave-one-out loss. With "huber" and "squared_epsilon_insensitive",
        each refit is approximated by one Newton step from the solution, which is exact if no other sample crosses a
        breakpoint of the loss. With "quantile", five-fold cross-validation replaces leave-one-out.
    estimated_score_ : float
        The estimated R² on new samples, or D² for losses other than squared_error, from the same predictions at `C_`.
        If the similarity was selected on fewer than 150 samples, or fewer than 400 with learned column weights, the R²
        of five-fold cross-validation that repeats the selection in each fold.
    estimated_score_std_ : float
        The standard error of `estimated_score_`. That of D² is for a fixed loss of the constant.
    kind_ : str
        The kind of samples that was used: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each similarity of a list, including learned parameter values.
    normalization_ : str
        The normalization, set or selected.
    negative_eigenvalues_ : str
        The treatment of negative eigenvalues. Only for the normalizations "nystroem" and "centered".
    loss_ : str
        The loss, set or selected.
    basis_indices_ : ndarray of int
        The indices of the bases among the training samples.
    basis_ : array or list
        The bases, in the same form as the training samples.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The weights of the normalized similarities; those of several similarities are concatenated.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept of each output.
    n_iter_ : int
        The number of iterations of the solver; the maximum over all problems.
    report_ : dict
        Seconds per stage, selected parameters, and warnings.

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
    """Transforms samples to their normalized similarities to a set of bases: the features of `BasisExpansionSVC`.

    The features can be passed to any linear model. The parameters are described in `BasisExpansionSVC`. Without y, the
    "index" and "auto" selections of bases ignore classes.

    Attributes
    ----------
    kind_ : str
        The kind of samples that was used: a value of `kind`, or "precomputed".
    similarity_ : str or list of str
        The spec of the similarity, or of each similarity of a list, including learned parameter values.
    basis_indices_ : ndarray of int
        The indices of the bases among the training samples.
    basis_ : array or list
        The bases, in the same form as the training samples.

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
    # The eigenvalue cutoff of a Nyström map: "rounding" for regression.
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
            Vectors, images, grids, time series, strings, sets or graphs; for a callable similarity, any sequence.
        y : array of shape (n_samples,) or None
            Class labels, used to select the bases.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self.fit_transform(X, y)
        return self

    @fitting
    def fit_transform(self, X: Samples, y: Targets | None = None) -> npt.NDArray[np.float32]:
        """Selects the bases, learns the normalization, and returns the features of X.

        Parameters
        ----------
        X : samples
            Vectors, images, grids, time series, strings, sets or graphs; for a callable similarity, any sequence.
        y : array of shape (n_samples,) or None

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        normalization = normalization_of(self)
        samples, n_samples, parameters = self._prepared(X, y, None)
        codes = None
        if y is not None:
            codes = codes_of(y)
            check_consistent_length(range(n_samples), codes)
        with self._watched(X=X, y=y) as progress:
            model, features, rows = _core.fit_expansion(
                samples,
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
        """Computes the features of samples.

        Parameters
        ----------
        X : samples, as in ``fit``

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self._model.transform(self._collected(X), self._threads())
