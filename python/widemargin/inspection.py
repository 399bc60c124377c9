"""Inspection of similarities and fitted models: spectra, what a fit tried, the bases with the largest weights, and why
a prediction is as it is.

Displays follow scikit-learn's: created by ``from_…``, drawn by ``plot``, with the axes as ``ax_``. They need
matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._basis_display import BasisDisplay
from ._explanation import Explanation, ExplanationTerm, explain, report
from ._looks import HUES, INK, NEGATIVE, SOFT, axes_for, check_has, check_matplotlib, cycle, short, wrapped
from ._path_display import PathDisplay
from ._stored_bases import specs_of
from ._types import Samples, SimilarityLike, Targets, Weights
from ._unwrapped import fitted_classifier, unwrapped
from .similarity import resolve

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


@dataclass
class Spectrum:
    """How far a similarity is from being a kernel on some samples.

    Attributes
    ----------
    similarity : str
        Its spec, with learned values.
    eigenvalues : ndarray of shape (n_samples,)
        Of the symmetric part (S + Sᵀ)/2 of the similarities between the samples, in descending order.
    raw_eigenvalues : ndarray of complex of shape (n_samples,)
        Of S itself, by descending real part.
    negative_ratio : float
        The fraction of the eigenvalues (of the symmetric part) that are negative, excluding those within `rounding`: 0
        for a kernel.
    negative_energy : float
        Σ |negative eigenvalues| / Σ positive eigenvalues, excluding those within `rounding`.
    asymmetry : float
        The largest |S_ij - S_ji| over the largest |S_ij|: 0 if symmetric.
    rounding : float
        A bound on the effect of single-precision rounding on an eigenvalue: n ε max |S_ij|. Eigenvalues up to this size
        count as zero.

    Examples
    --------
    >>> from widemargin.inspection import spectrum
    >>> spectrum("edit", ["Rossi", "Russo", "Smith"]).negative_ratio
    0.0
    """

    similarity: str
    eigenvalues: npt.NDArray[np.float64]
    raw_eigenvalues: npt.NDArray[np.complex128]
    negative_ratio: float
    negative_energy: float
    asymmetry: float
    rounding: float = 0.0

    def __str__(self) -> str:
        negative = f"{100 * self.negative_ratio:.1f} % of {len(self.eigenvalues)} eigenvalues are negative"
        energy = f"their energy is {100 * self.negative_energy:.2g} % of that of the others"
        return f"{self.similarity}: {negative}, {energy}; asymmetry {self.asymmetry:.2g}"


def spectrum(
    similarity: SimilarityLike, X: Samples, n_jobs: int | None = None, *, layout: str = "auto"
) -> Spectrum | list[Spectrum]:
    """Computes the eigenvalues of the similarities between samples.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    X : samples
        Of the kind that the similarity compares; for "precomputed" the square matrix. The matrix of all pairs is
        stored in memory and decomposed, so at most 10,000 samples are accepted.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core.
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of time series, as in `BasisExpansionSVC`.

    Returns
    -------
    Spectrum, or a list of them for a list

    Raises
    ------
    ValueError, TypeError
        For samples that the similarity cannot compare, naming them.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.inspection import spectrum
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> spectrum("rbf:gamma=1", X).negative_ratio
    0.0
    >>> spectrum("sigmoid:gamma=1,coef0=-1", X).negative_ratio
    0.52
    """
    from ._threads import threads_of

    resolved = resolve(similarity, layout)
    parts = _core.spectrum(resolved.similarities, resolved.converted(X)[0], threads_of(n_jobs))
    spectra = [Spectrum(**part) for part in resolved.in_list_order(parts)]
    return spectra if isinstance(similarity, (list, tuple)) else spectra[0]


def margins(estimator: object) -> npt.NDArray[np.float64]:
    """The margin of each two-class problem as Aghazadeh and Carlsson define it (eq. 8 to 10): 1/‖f‖².

    ‖f‖ is the norm in the space of the classifier's own features: of the normalized similarities for a basis expansion
    (their M_BE), of the kernel's approximation with a Nyström normalization or for a power mean SVM (M_N), and of the
    kernel itself for a thin plate SVM (M_K; its polynomials have no norm). Points with decision values of 1 and -1 are
    2/‖f‖ apart there. Intercepts do not count. Margins are comparable only in the same space and at the same C.

    Parameters
    ----------
    estimator : BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC or AutoSVC, or a Pipeline that ends in one, fitted

    Returns
    -------
    ndarray of shape (1,) for two classes, else (n_classes,)
        Infinite if all weights are 0.

    Raises
    ------
    ValueError
        For a power mean SVM with the polynomial approximation, which has no such space.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import margins
    >>> svc = BasisExpansionSVC("rbf", n_basis=30, C=1.0).fit(*load_iris(return_X_y=True))
    >>> margins(svc).shape
    (3,)
    """
    fitted, _ = fitted_classifier(estimator)
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(fitted._model.squared_norms(fitted._threads()))


def dual_variables(estimator: object, X: Samples, y: Targets, sample_weight: Weights = None) -> npt.NDArray[np.float64]:
    """The dual variables α of the training samples: f = Σ α_i y_i k(x_i, ·), with y_i = ±1 in each two-class problem.

    A sample is a support vector of a problem where its α is above 0. For a smooth loss α follows from the decision
    value; with the hinge loss of a basis expansion the dual problem is solved again.

    Parameters
    ----------
    estimator : BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC or AutoSVC, or a Pipeline that ends in one, fitted
    X : samples, those of the fit
    y : array-like of shape (n_samples,), those of the fit
    sample_weight : array-like of shape (n_samples,), float or None, default=None
        That of the fit.

    Returns
    -------
    ndarray of shape (n_samples, 1) for two classes, else (n_samples, n_classes)

    Raises
    ------
    ValueError
        For labels that the estimator was not trained with, and for a power mean SVM with the hinge loss.

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
    fitted, X = fitted_classifier(estimator, X)
    return fitted._dual_variables(X, y, sample_weight)


class SpectrumDisplay:
    """Eigenvalues of similarities in descending order.

    Parameters
    ----------
    spectra : Spectrum or list of Spectrum

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.inspection import SpectrumDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> display = SpectrumDisplay.from_similarity(["rbf", "sigmoid"], X)
    >>> len(display.lines_)
    2
    """

    def __init__(self, spectra: Spectrum | Sequence[Spectrum]) -> None:
        self.spectra = [spectra] if isinstance(spectra, Spectrum) else list(spectra)

    @classmethod
    def from_similarity(
        cls,
        similarity: SimilarityLike,
        X: Samples,
        *,
        ax: object = None,
        n_jobs: int | None = None,
        layout: str = "auto",
        **kwargs: object,
    ) -> SpectrumDisplay:
        """Computes spectra and draws them.

        Parameters
        ----------
        similarity : str, Similarity, callable, or a list of these
        X : samples, at most 10,000
        ax : matplotlib Axes or None, default=None
        n_jobs : int or None, default=None
        layout : {"auto", "channels_first", "channels_last"}, default="auto"
            As in `spectrum`.
        **kwargs : passed to ``plot``

        Returns
        -------
        SpectrumDisplay
        """
        check_matplotlib(cls, "from_similarity")
        return cls(spectrum(similarity, X, n_jobs, layout=layout)).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: Samples = None,
        *,
        ax: object = None,
        n_jobs: int | None = None,
        **kwargs: object,
    ) -> SpectrumDisplay:
        """Draws the spectra of a fitted estimator's similarities.

        Parameters
        ----------
        estimator : BasisExpansionSVC or another estimator with bases, or a Pipeline that ends in one, fitted
        X : samples or None, default=None
            None means the estimator's bases.
        ax : matplotlib Axes or None, default=None
        n_jobs : int or None, default=None
        **kwargs : passed to ``plot``

        Returns
        -------
        SpectrumDisplay
        """
        check_matplotlib(cls, "from_estimator")
        fitted: Any
        fitted, X = unwrapped(estimator, X)
        fitted = getattr(fitted, "best_estimator_", fitted)
        check_has(fitted, "a fitted BasisExpansionSVC or BasisExpansion", "_resolved")
        resolved = fitted._resolved
        if resolved.is_precomputed and X is None:
            raise ValueError("X is None: with similarity='precomputed' it must be the square matrix of similarities")
        # The specs include what was learned from all training samples.
        learned = [*specs_of(fitted)[: len(resolved.specs)], *(function for function, _ in resolved.calls)]
        similarity = resolved.in_list_order(learned)
        # The layout of the bases is known.
        layout = "channels_last" if X is None and fitted.layout == "auto" else fitted.layout
        samples = fitted.basis_ if X is None else X
        return cls(spectrum(similarity, samples, n_jobs, layout=layout)).plot(ax, **kwargs)

    def plot(self, ax: object = None, **kwargs: object) -> SpectrumDisplay:
        """Draws eigenvalues, divided by the largest, against their rank.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        **kwargs : passed to matplotlib's ``plot`` for the lines

        Returns
        -------
        SpectrumDisplay
        """
        self.ax_, self.figure_ = axes_for(self, ax, (6.0, 3.8))
        axes = self.ax_
        several = len(self.spectra) > 1
        self.lines_ = []
        for spectrum, hue in zip(self.spectra, cycle(HUES), strict=False):
            largest = np.abs(spectrum.eigenvalues).max() or 1.0
            values, ranks = spectrum.eigenvalues / largest, np.arange(1, len(spectrum.eigenvalues) + 1)
            style = {"color": hue if several else INK, "linewidth": 1.4, "label": self._label(spectrum)} | kwargs
            self.lines_ += axes.plot(ranks, values, **style)
            if not several:
                axes.fill_between(ranks, values, where=values < 0, color=NEGATIVE, alpha=0.35, linewidth=0)
        axes.axhline(0, color=SOFT, linewidth=0.8)
        # Single precision leaves 1e-7 of the largest: below 1e-5 there is little to see.
        axes.set_yscale("symlog", linthresh=1e-4, linscale=0.6)
        lowest = min((line.get_ydata().min() for line in self.lines_), default=0.0)
        axes.set_yticks([tick for tick in (-1, -1e-2, -1e-4, 0, 1e-4, 1e-2, 1) if tick >= min(10 * lowest, 0)])
        axes.set_ylim(min(2 * lowest, -5e-5), 1.6)
        axes.set_xlabel("rank of the eigenvalue")
        axes.set_ylabel("eigenvalue / largest")
        if several:
            axes.set_title("Spectra of the similarities", loc="left", fontsize="medium")
            axes.legend(frameon=False, fontsize="small", labelcolor=INK)
        else:
            width = self.figure_.get_figwidth() * axes.get_position().width
            title = wrapped("\n".join(self._label(self.spectra[0]).rsplit(": ", 1)), width)
            axes.set_title(title, loc="left", fontsize="medium")
        return self

    @staticmethod
    def _label(spectrum: Spectrum) -> str:
        label = f"{short(spectrum.similarity)}: {100 * spectrum.negative_ratio:.3g} % negative"
        return label + (f", energy {100 * spectrum.negative_energy:.3g} %" if spectrum.negative_ratio else "")
