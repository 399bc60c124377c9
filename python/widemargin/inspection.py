"""Inspection of similarities and fitted models: spectra, candidates of a fit, bases, and explanations of predictions.

Displays follow the conventions of scikit-learn: the methods ``from_…`` create them, ``plot`` draws them, and ``ax_``
contains the axes. They require matplotlib.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._base import fitted_model, names_of_columns, unwrapped
from ._basis_display import BasisDisplay
from ._displays import PathDisplay, Spectrum, SpectrumDisplay, spectrum
from ._parameters import Labels, Path, Samples, Targets, Weights
from ._predictors import FittedRegressor, MarginClassifier, some
from ._samples import count, pick

__all__ = [
    "BasisDisplay",
    "Explanation",
    "ExplanationTerm",
    "PathDisplay",
    "Spectrum",
    "SpectrumDisplay",
    "dual_variables",
    "explain",
    "margins",
    "report",
    "spectrum",
]


@dataclass(frozen=True)
class ExplanationTerm:
    """A term of the decision values of a sample.

    Attributes
    ----------
    kind : {"basis", "column", "polynomial"}
        What the term depends on: the similarity to a basis, a column of the sample, or a polynomial in the columns.
    similarity : str
        The spec of the similarity or kernel.
    index : int or None
        The position of the basis in ``basis_``, or of the column.
    row : int or None
        The index of the basis among the training samples, if known.
    name : str
        The name of the term.
    value, reference : float
        The similarity or the value of the column, and its reference value: the mean over the training samples if the
        normalization subtracts it, otherwise 0.
    weights : ndarray of shape (n_problems,), or empty
        The weight in each decision value; empty if the contributions are not linear in the value.
    contributions : ndarray of shape (n_problems,)
        The contribution to each decision value: weights * (value - reference).
    comparison : dict or None
        A breakdown of the similarity, for the strongest terms and for similarities that support it: ``quantity``,
        ``total``, ``kind`` ("columns", "terms", "cells", "time-steps", "characters" or "bits"), and the components of
        this kind with the contribution of each.

    Examples
    --------
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import explain
    >>> names = ["Rossi", "Russo", "Bianchi", "Romano", "Smith", "Jones", "Williams", "Taylor"]
    >>> svc = BasisExpansionSVC("edit", normalization="mean_norm").fit(names, ["it"] * 4 + ["en"] * 4)
    >>> term = explain(svc, ["Rosso"]).terms[0]
    >>> term.kind, term.similarity
    ('basis', 'edit')
    """

    kind: str
    similarity: str
    index: int | None
    row: int | None
    name: str
    value: float
    reference: float
    weights: npt.NDArray[np.float64]
    contributions: npt.NDArray[np.float64]
    comparison: dict[str, object] | None


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explanation of one prediction: each decision value as a sum of an intercept and contributions of terms.

    For every method, ``intercepts + contributions.sum(axis=0)`` equals ``decision_values`` up to rounding. Notebooks
    display the explanation as HTML.

    Attributes
    ----------
    method : str
        The method of the model.
    classes : ndarray of shape (n_classes,)
        The classes. With two classes, positive contributions are in favor of the second one. For multilabel targets,
        the names of the labels; for a regressor, the names of its outputs; for an outlier detector, "score".
    multilabel : bool
        Whether the targets are multilabel.
    predicted : label, list of labels, float or ndarray
        The predicted class; for multilabel targets, all predicted labels; for a regressor, the predicted value; for an
        outlier detector, 1 or -1.
    explained : label
        The class or label that is explained.
    decision_values : ndarray of shape (n_problems,)
        The decision values: one for two classes, otherwise one per class or label. For a regressor, its predictions;
        for an outlier detector, the score minus the threshold.
    probabilities : ndarray of shape (n_classes,), or None
        The predicted probabilities; None for models without probabilities.
    intercepts : ndarray of shape (n_problems,)
        The intercept of each decision value.
    similarities : list of str
        The specs of the similarities.
    terms : list of ExplanationTerm
        The terms of the sums.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import explain
    >>> X, y = load_iris(return_X_y=True)
    >>> svc = BasisExpansionSVC("rbf", n_basis=20, C=1.0).fit(X, y)
    >>> explanation = explain(svc, X, 60)
    >>> explanation.contributions.shape
    (20, 3)
    >>> sums = explanation.intercepts + explanation.contributions.sum(axis=0)
    >>> bool(abs(sums - svc.decision_function(X[60:61])[0]).max() < 1e-4)
    True
    """

    method: str
    classes: Labels
    multilabel: bool
    predicted: object
    explained: object
    decision_values: npt.NDArray[np.float64]
    probabilities: npt.NDArray[np.float64] | None
    intercepts: npt.NDArray[np.float64]
    similarities: list[str]
    terms: list[ExplanationTerm]
    _page: str

    @property
    def contributions(self) -> npt.NDArray[np.float64]:
        """The contributions of all terms, of shape (n_terms, n_problems)."""
        n_problems = len(self.decision_values)
        return np.array([term.contributions for term in self.terms]).reshape(len(self.terms), n_problems)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The values of all terms."""
        return np.array([term.value for term in self.terms])

    def for_class(self, label: object = None) -> npt.NDArray[np.float64]:
        """Returns the contribution of each term to a class; for the first of two classes, the sign is reversed.

        Parameters
        ----------
        label : a class or label, or None for ``explained``

        Returns
        -------
        ndarray of shape (n_terms,)
        """
        return self.contributions @ self._direction(label)

    def strongest(self, n_terms: int = 10, label: object = None) -> list[ExplanationTerm]:
        """Returns the terms with the largest contributions for or against a class, in descending order.

        Parameters
        ----------
        n_terms : int, default=10
        label : a class or label, or None for ``explained``

        Returns
        -------
        list of ExplanationTerm
        """
        order = np.argsort(-np.abs(self.for_class(label)), kind="stable")[:n_terms]
        return [self.terms[at] for at in order]

    def _direction(self, label: Any) -> npt.NDArray[np.float64]:
        at = _position(self.explained if label is None else label, self.classes)
        if len(self.decision_values) < len(self.classes):  # two classes
            return np.array([1.0 if at == 1 else -1.0])
        return np.eye(len(self.classes))[at]

    def _repr_html_(self) -> str:
        return self._page

    def __repr__(self) -> str:
        explained = ""
        if self.multilabel or (len(self.classes) > 1 and np.any(self.explained != self.predicted)):
            explained = f", explained={self.explained!r}"
        if self.probabilities is not None:
            explained += f", probability {self.probabilities[_position(self.explained, self.classes)]:.3g}"
        return f"Explanation(predicted={self.predicted!r}{explained}, {len(self.terms)} terms)"


def _position(label: Any, classes: npt.NDArray[Any]) -> int:
    """The position of a class among those of a model.

    Raises
    ------
    ValueError
        For an unknown class.
    """
    found = [at for at, known in enumerate(classes.tolist()) if known == label]
    if not found:
        raise ValueError(f"label is {label!r}: it must be one of {classes.tolist()}")
    return found[0]


def explain(estimator: object, X: Samples, index: int = 0, *, label: object = None, n_terms: int = 10) -> Explanation:
    """Explains the prediction for one sample by contributions to each class or to the predicted value.

    A decision value, or the prediction of a regressor, is a sum over the similarities to the bases
    (``BasisExpansionSVC``, ``BasisExpansionRegressor``, ``BasisExpansionOneClass``), over the kernel values at the
    bases and the polynomials (``ThinPlateSVC``, ``ThinPlateRegressor``), or over the columns (``PowerMeanSVC``, whose
    kernel is additive). The normalization is included in the weights. If it subtracts the mean similarity,
    contributions are those of the difference from the mean.

    Parameters
    ----------
    estimator : estimator, fitted
        Any estimator of widemargin that predicts, or a Pipeline or a search that contains one.
    X : samples
        Samples, as for ``predict``.
    index : int, default=0
        The index of the sample.
    label : a class or label, or None, default=None
        The class to explain. None means the predicted class or, for multilabel targets, the label with the largest
        decision value. Labels are identified by the column names of the data frame passed to ``fit``, or by their
        index. For a regressor, the index of an output; None means the first one.
    n_terms : int, default=10
        Number of the strongest similarities for which a breakdown is computed, if the similarity supports it: by
        columns, cells, the warping path of time series, or the alignment or common terms of strings. All terms are
        returned.

    Returns
    -------
    Explanation

    Raises
    ------
    IndexError
        If `index` is out of range.
    ValueError
        If the class is unknown.
    TypeError
        If the object is not an estimator of widemargin.

    Examples
    --------
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import explain
    >>> names = ["Rossi", "Russo", "Bianchi", "Romano", "Smith", "Jones", "Williams", "Taylor"]
    >>> svc = BasisExpansionSVC("edit", normalization="mean_norm").fit(names, ["it"] * 4 + ["en"] * 4)
    >>> explanation = explain(svc, ["Rosso"])
    >>> explanation.predicted
    'it'
    >>> explanation.strongest(1)[0].comparison["quantity"]
    'cost of the edits'
    """
    names = names_of_columns(estimator)
    n = count(X)
    if not -n <= index < n:
        raise IndexError(f"index is {index}: there are {n} samples")
    fitted, one = fitted_model(estimator, pick(X, np.array([index % n])))
    at = None if label is None else _position(label, _names(fitted))
    content, page = _core.explain(fitted._model, fitted._collected(one), at, n_terms)
    return _explanation(fitted, json.loads(content), page, names)


def _names(estimator: Any) -> npt.NDArray[Any]:
    """The classes or the names of the labels; for other models, the names of the outputs."""
    if isinstance(estimator, FittedRegressor):
        return np.arange(len(np.atleast_2d(estimator.coef_)))
    if not isinstance(estimator, MarginClassifier):
        return np.array(["score"], dtype=object)
    return estimator.label_names_ if estimator._is_multilabel else estimator.classes_


def _explanation(estimator: Any, content: dict[str, Any], page: str, names: Any) -> Explanation:
    parts = content["parts"]
    classes, multilabel = _names(estimator), content["multilabel"]

    def name(term: dict[str, Any]) -> str:
        if term["kind"] == "basis":
            row = "" if term["row"] is None else f", training row {term['row']}"
            return f"basis {term['index']}{row}"
        if term["kind"] == "column" and term["name"] is None:
            at: int = term["index"]
            return str(names[at]) if names is not None and len(names) > at else f"column {at}"
        return str(term["name"])

    terms = [
        ExplanationTerm(
            **{field: term.get(field) for field in ("kind", "index", "row", "value", "reference", "comparison")},
            similarity=parts[term["part"]],
            name=name(term),
            weights=np.array(term["weights"], dtype=np.float64),
            contributions=np.array(term["contributions"], dtype=np.float64),
        )
        for term in content["terms"]
    ]
    known, probabilities = classes.tolist(), content["probabilities"]
    values = np.array(content["decision_values"], dtype=np.float64)
    predicted: Any = known[content["predicted"]]
    if multilabel:
        predicted = [label for label, value in zip(known, values, strict=True) if value > 0]
    elif isinstance(estimator, FittedRegressor):
        predicted = float(values[0]) if estimator._is_flat else values
    elif content["is_of_values"]:
        predicted = -1 if values[0] < 0 else 1
    return Explanation(
        method=content["method"],
        classes=classes,
        multilabel=multilabel,
        predicted=predicted,
        explained=known[content["explained"]],
        decision_values=values,
        probabilities=None if probabilities is None else np.array(probabilities),
        intercepts=np.array(content["intercepts"], dtype=np.float64),
        similarities=list(parts),
        terms=terms,
        _page=page,
    )


def report(
    estimator: object,
    X: Samples = None,
    y: Targets | None = None,
    file: Path | None = None,
    *,
    title: str | None = None,
    data_name: str = "the samples in X",
    sample_weight: Weights = None,
) -> str:
    """Returns an HTML report on a model: parameters, model selection, scores, and explanations of wrong predictions.

    The report is a self-contained HTML page, including styles and figures. The command ``widemargin report`` writes the
    same page.

    Parameters
    ----------
    estimator : estimator, fitted
        Any estimator of widemargin that predicts, or a Pipeline or a search that contains one. Its similarities must be
        built-in.
    X : samples or None, default=None
        Samples on which the scores are computed; they should not be training samples.
    y : array-like of shape (n_samples,) or (n_samples, n_labels), or None, default=None
        The true classes, labels or target values of X; required with `X`, except for an outlier detector.
    file : path or None, default=None
        The file to which the page is written, atomically.
    title : str or None, default=None
        The title of the page; None means the class name of the estimator.
    data_name : str, default="the samples in X"
        The name of the samples on the page.
    sample_weight : array-like of shape (n_samples,) or None, default=None

    Returns
    -------
    str
        The page.

    Raises
    ------
    ValueError
        If the samples are not of the kind that the model accepts.
    TypeError
        If a similarity is a Python callable, or the object is not an estimator of widemargin.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import report
    >>> X, y = load_iris(return_X_y=True)
    >>> svc = BasisExpansionSVC("rbf", n_basis=20, C=1.0).fit(X[::2], y[::2])
    >>> page = report(svc, X[1::2], y[1::2])
    >>> "Confusion matrix" in page
    True
    """
    named = type(unwrapped(estimator)[0]).__name__ if title is None else title
    fitted, X = fitted_model(estimator, X)
    has_answers = isinstance(fitted, FittedRegressor | MarginClassifier)
    if has_answers and (X is None) != (y is None):
        raise ValueError("X and y: both are needed for scores, or neither")
    data = None
    if X is not None:
        target = fitted._target_to_evaluate(y, sample_weight, count(X)) if has_answers else None
        data = fitted._collected(X), target, data_name
    page = _core.report(fitted._model, named, data, fitted._threads())
    if file is not None:
        _core.write_file(file, page.encode())
    return page


def margins(estimator: object) -> npt.NDArray[np.float64]:
    """Computes the margin 1/‖f‖² of each binary problem, as defined by Aghazadeh and Carlsson (eq. 8 to 10).

    ‖f‖ is the norm in the feature space of the classifier: the space of the normalized similarities for a basis
    expansion (their M_BE), of the approximated kernel for a Nyström normalization or a power mean SVM (M_N), and of the
    kernel itself for a thin plate SVM (M_K; the polynomials are not included in the norm). In this space, points with
    decision values of 1 and -1 are 2/‖f‖ apart. Intercepts are ignored. Margins are only comparable in the same space
    and at the same C.

    Parameters
    ----------
    estimator : BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC or AutoSVC, or a Pipeline that ends in one, fitted

    Returns
    -------
    ndarray of shape (1,) for two classes, else (n_classes,)
        The margins; infinite if all weights are 0.

    Raises
    ------
    ValueError
        For a power mean SVM with the polynomial approximation, which has no such feature space.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import margins
    >>> svc = BasisExpansionSVC("rbf", n_basis=30, C=1.0).fit(*load_iris(return_X_y=True))
    >>> margins(svc).shape
    (3,)
    """
    fitted, _ = fitted_model(estimator, None, MarginClassifier, "classifier")
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(fitted._model.squared_norms(fitted._threads()))


def dual_variables(estimator: object, X: Samples, y: Targets, sample_weight: Weights = None) -> npt.NDArray[np.float64]:
    """Computes the dual variables α of the training samples, where f = Σ α_i y_i k(x_i, ·) and y_i = ±1.

    There is one column for each binary problem. A sample is a support vector of a problem if its α is above 0. For a
    smooth loss, α follows from the decision value; for a basis expansion with the hinge loss, the dual problem is
    solved again.

    Parameters
    ----------
    estimator : BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC or AutoSVC, or a Pipeline that ends in one, fitted
    X : samples
        The samples passed to ``fit``.
    y : array-like of shape (n_samples,)
        The targets passed to ``fit``.
    sample_weight : array-like of shape (n_samples,), float or None, default=None
        The sample weights passed to ``fit``.

    Returns
    -------
    ndarray of shape (n_samples, 1) for two classes, else (n_samples, n_classes)

    Raises
    ------
    ValueError
        For labels that were not in the training data, and for a power mean SVM with the hinge loss.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import dual_variables
    >>> X, y = load_iris(return_X_y=True)
    >>> svc = BasisExpansionSVC("rbf", n_basis=30, C=1.0).fit(X, y)
    >>> dual_variables(svc, X, y).shape
    (150, 3)
    """
    fitted, X = fitted_model(estimator, X, MarginClassifier, "classifier")
    target = fitted._target_to_evaluate(y, sample_weight, count(X))
    known = len(fitted.classes_)
    if unknown := target[0][known:]:
        raise ValueError(f"y has {unknown[0]!r}, which is not among the classes of the fit: {some(target[0][:known])}")
    return fitted._model.dual_variables(fitted._collected(X), target, fitted._threads())
