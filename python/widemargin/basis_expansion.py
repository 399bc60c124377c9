"""The basis expansion SVM."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval, StrOptions

from . import _core
from ._base import SHARED, MarginClassifier, c_of, fitting
from ._bases import normalization_of
from ._compares import Compares
from ._names import one_of
from ._types import Basis, ClassWeight, RandomState, Samples, SimilarityLike, Targets, Weights

# Selections of bases for which the search also compares numbers of bases.
_COUNTED = ("index", "every", "random", "auto")
PENALTIES = ("l2", "l1")
LOSSES = ("auto", "squared_hinge", "hinge", "squared_error", "logistic")


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
        Number of bases; if there are fewer samples, all of them. "auto" is a number from 1,000 to 4,000: on a tenth of
        the samples (2,000 to 4,000 of them) a quarter of these as bases is compared with a half. It is the quarter, at
        least 1,000; the half if that saves 10 % of the leave-one-out loss or 0.5 percentage points of the error, beyond
        two standard errors of the difference; all of them if it saves 2 percentage points. With callables, precomputed
        similarities and "kmedoids" it is 1,000; "features" has no bases.
    basis : {"auto", "index", "every", "random", "kmedoids"} or array of int, default="auto"
        The selection of bases from the training samples: at random, stratified by class ("auto") or not ("random"),
        or medoids under the similarity, all independent of the order of the rows; evenly spaced in each class
        ("index") or among all samples ("every"); or their row indices.
        "kmedoids" evaluates a callable on more pairs than samples × bases.
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
    tol : float, default=1e-3
        The relative duality gap at which a problem counts as solved, in (0, 1).
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it. Callables are called one at a time.
    random_state : int, RandomState or None, default=None
        None means a fixed seed: the same samples give the same model.
    verbose : int, default=0
    time_limit : float or None, default=None
        Limit in seconds. A solver that has not converged by then stops with its current solution, and a warning states
        the gap reached. If the limit does not allow a fit on all samples, the model is fitted to as many as it allows,
        and a warning states their number.
    kind : {"auto", "table", "series", "strings", "sets", "images", "graphs", "grids", "objects"}, default="auto"
        The kind of samples. "auto" reads a numeric 2-D array, and a list of lists of equal length, as a table (as
        series if the similarity compares series), and a list of arrays as series.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of multichannel time series: (n, channels, length) as in aeon, or (n, length, channels) as
        in tslearn; in a list (channels, length) or (length, channels). "auto" means "channels_last" if that gives fewer
        channels than time steps, and otherwise raises an error that asks for `layout`; `predict` selects the axis whose
        size is the number of channels of the bases.
    penalty : {"l2", "l1"}, default="l2"
        "l1" minimizes ‖w‖₁ + C Σ loss, so that most weights are 0; only bases with nonzero weights are stored. It needs
        the squared hinge, all features in memory and a normalization with a feature for each basis ("mean_norm",
        "z_score", "none"), and never penalizes the intercept.
    max_basis : int or None, default=None
        The largest number of bases of the model. Bases with the smallest weights are removed, 30 % at a time, and the
        rest is fitted again. As for "l1" each feature must belong to a basis.

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

    _reads_files = True
    _core_fit: ClassVar[Any] = staticmethod(_core.fit_basis_expansion)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "C": [Interval(Real, 0, None, closed="neither"), str],
        "fit_intercept": ["boolean"],
        "max_basis": [None, Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        **SHARED,
        "kind": [str],
        "layout": [str],
    }

    def __init__(
        self,
        similarity: SimilarityLike = "auto",
        *,
        n_basis: int | str = "auto",
        basis: Basis = "auto",
        normalization: str = "auto",
        negative_eigenvalues: str = "clip",
        C: float | str = "auto",
        fit_intercept: bool = True,
        loss: str = "auto",
        class_weight: ClassWeight = None,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        time_limit: float | None = None,
        kind: str = "auto",
        layout: str = "auto",
        penalty: str = "l2",
        max_basis: int | None = None,
    ) -> None:
        self.similarity = similarity
        self.n_basis = n_basis
        self.basis = basis
        self.normalization = normalization
        self.negative_eigenvalues = negative_eigenvalues
        self.C = C
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.class_weight = class_weight
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.kind = kind
        self.layout = layout
        self.penalty = penalty
        self.max_basis = max_basis

    @fitting
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Trains on samples of any kind that the similarity compares.

        Parameters
        ----------
        X : samples
            Vectors (arrays, CSR, frames), images (n, h, w) or (n, h, w, 3) of uint8, grids (n, rows, columns, depth),
            series (see `layout`), strings, sets; for a callable any sequence. For "precomputed" the similarities of the
            samples to all bases or, if square, to each other.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Classes, or a multilabel indicator matrix, dense or sparse: 1 for labels of the sample, 0 for other labels,
            NaN for unknown ones.
        sample_weight : array of shape (n_samples,) or None
            Weight k is equivalent to k copies of the sample, 0 to its absence.

        Returns
        -------
        BasisExpansionSVC
            The fitted estimator itself.
        """
        return self._fit(X, y, sample_weight)

    def _parameters(self) -> dict[str, Any]:
        loss = one_of("loss", self.loss, LOSSES, estimator=self)
        return {
            "loss": None if loss == "auto" else loss,
            "penalty": one_of("penalty", self.penalty, PENALTIES, estimator=self),
            "normalization": normalization_of(self, "auto"),
            "C": c_of(self),
            "intercept": "free" if self.fit_intercept else "none",
            "max_basis": None if self.max_basis is None else int(self.max_basis),
        }

    def _max_iter(self) -> int:
        if self.loss == "hinge":
            return 20_000
        return 2_000 if self.penalty == "l1" else super()._max_iter()

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int, Any]:
        found = super()._training(X, y, sample_weight, parameters)
        self._search(parameters, isinstance(self.n_basis, str) and parameters["basis"] in _COUNTED)
        return found

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        super()._restore(model, header)
        self.set_params(loss=header["loss"].replace("-", "_"))
