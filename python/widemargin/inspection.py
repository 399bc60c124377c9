"""Inspection of similarities and fitted models: spectra, the path of C, and the bases with the largest weights.

Displays follow scikit-learn's: created by ``from_…``, drawn by ``plot``, with the axes as ``ax_``. They need
matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._basis_display import BasisDisplay
from ._looks import HUES, INK, NEGATIVE, SOFT, axes_for, check_has, check_matplotlib, cycle, short, wrapped
from .similarity import resolve

__all__ = ["BasisDisplay", "PathDisplay", "Spectrum", "SpectrumDisplay", "dual_variables", "margins", "spectrum"]


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


def spectrum(similarity: Any, X: Any, n_jobs: int | None = None, *, layout: str = "auto") -> Spectrum | list[Spectrum]:
    """Computes the eigenvalues of the similarities between samples.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    X : samples
        Of the kind that the similarity compares; for "precomputed" the square matrix. The matrix of all pairs is held
        in memory and decomposed, so at most 10,000 samples are accepted.
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
    """
    from ._threads import threads_of

    resolved = resolve(similarity, layout)
    parts = _core.spectrum(resolved.similarities, resolved.given(X)[0], threads_of(n_jobs))
    spectra = [Spectrum(**part) for part in resolved.in_given_order(parts)]
    return spectra if isinstance(similarity, (list, tuple)) else spectra[0]


def margins(estimator: Any) -> npt.NDArray[np.float64]:
    """The margin of each two-class problem as Aghazadeh and Carlsson define it (eq. 8 to 10): 1/‖f‖².

    ‖f‖ is the norm in the space of the classifier's own features: of the normalised similarities for a basis expansion
    (their M_BE), of the kernel's approximation with a Nyström normalization or for a power mean SVM (M_N), and of the
    kernel itself for a thin plate SVM (M_K; its polynomials have no norm). Points with decision values of 1 and -1 are
    2/‖f‖ apart there. Intercepts do not count. Margins are comparable only in the same space and at the same C.

    Parameters
    ----------
    estimator : BasisExpansionSVC, PowerMeanSVC or ThinPlateSVC, fitted

    Returns
    -------
    ndarray of shape (1,) for two classes, else (n_classes,)
        Infinite where all weights are 0.

    Raises
    ------
    ValueError
        For a power mean SVM with the polynomial approximation, which has no such space.
    """
    check_has(estimator, "a fitted classifier", "_model")
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(estimator._model.squared_norms(estimator._threads()))


def dual_variables(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> npt.NDArray[np.float64]:
    """The dual variables α of the training samples: f = Σ α_i y_i k(x_i, ·), with y_i = ±1 in each two-class problem.

    A sample is a support vector of a problem where its α is above 0. For a smooth loss α follows from the decision
    value; with the hinge loss of a basis expansion the dual problem is solved again.

    Parameters
    ----------
    estimator : BasisExpansionSVC, PowerMeanSVC or ThinPlateSVC, fitted
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
    """
    check_has(estimator, "a fitted classifier", "_model")
    return estimator._dual_variables(X, y, sample_weight)


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
    """

    def __init__(self, spectra: Spectrum | Sequence[Spectrum]) -> None:
        self.spectra = [spectra] if isinstance(spectra, Spectrum) else list(spectra)

    @classmethod
    def from_similarity(
        cls, similarity: Any, X: Any, *, ax: Any = None, n_jobs: int | None = None, layout: str = "auto", **kwargs: Any
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
        cls, estimator: Any, X: Any = None, *, ax: Any = None, n_jobs: int | None = None, **kwargs: Any
    ) -> SpectrumDisplay:
        """Draws the spectra of a fitted estimator's similarities.

        Parameters
        ----------
        estimator : BasisExpansionSVC or BasisExpansion, fitted
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
        check_has(estimator, "a fitted BasisExpansionSVC or BasisExpansion", "similarities_")
        resolved = estimator._resolved
        if resolved.is_precomputed and X is None:
            raise ValueError("X is None: with similarity='precomputed' it must be the square matrix of similarities")
        # The specs include what was learned from all training samples.
        learned = [*estimator.similarities_[: len(resolved.specs)], *(function for function, _ in resolved.calls)]
        similarity = resolved.in_given_order(learned)
        # The layout of the bases is known.
        layout = "channels_last" if X is None and estimator.layout == "auto" else estimator.layout
        samples = estimator.bases_ if X is None else X
        return cls(spectrum(similarity, samples, n_jobs, layout=layout)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> SpectrumDisplay:
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
        ax = self.ax_
        several = len(self.spectra) > 1
        self.lines_ = []
        for spectrum, hue in zip(self.spectra, cycle(HUES), strict=False):
            largest = np.abs(spectrum.eigenvalues).max() or 1.0
            values, ranks = spectrum.eigenvalues / largest, np.arange(1, len(spectrum.eigenvalues) + 1)
            style = {"color": hue if several else INK, "linewidth": 1.4, "label": self._label(spectrum)} | kwargs
            self.lines_ += ax.plot(ranks, values, **style)
            if not several:
                ax.fill_between(ranks, values, where=values < 0, color=NEGATIVE, alpha=0.35, linewidth=0)
        ax.axhline(0, color=SOFT, linewidth=0.8)
        # Single precision leaves 1e-7 of the largest: below 1e-5 there is little to see.
        ax.set_yscale("symlog", linthresh=1e-4, linscale=0.6)
        lowest = min((line.get_ydata().min() for line in self.lines_), default=0.0)
        ax.set_yticks([tick for tick in (-1, -1e-2, -1e-4, 0, 1e-4, 1e-2, 1) if tick >= min(10 * lowest, 0)])
        ax.set_ylim(min(2 * lowest, -5e-5), 1.6)
        ax.set_xlabel("rank of the eigenvalue")
        ax.set_ylabel("eigenvalue / largest")
        if several:
            ax.set_title("Spectra of the similarities", loc="left", fontsize="medium")
            ax.legend(frameon=False, fontsize="small", labelcolor=INK)
        else:
            width = self.figure_.get_figwidth() * ax.get_position().width
            title = wrapped("\n".join(self._label(self.spectra[0]).rsplit(": ", 1)), width)
            ax.set_title(title, loc="left", fontsize="medium")
        return self

    @staticmethod
    def _label(spectrum: Spectrum) -> str:
        told = f"{short(spectrum.similarity)}: {100 * spectrum.negative_ratio:.3g} % negative"
        return told + (f", energy {100 * spectrum.negative_energy:.3g} %" if spectrum.negative_ratio else "")


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """The leave-one-out losses for every C that was tried, from which C was selected.

    They assume that leaving out a sample lets no other sample cross the margin, except at the C selected by the exact
    solver, where they come from refits (``path_["loo_exact"]``).

    Parameters
    ----------
    C : ndarray of shape (n_C,)
    loo_error : ndarray of shape (n_C,)
        Fraction of the training samples that are misclassified when left out.
    loo_squared_hinge : ndarray of shape (n_C,)
        The mean squared hinge loss of the left-out samples.
    chosen_C : float
    title : str or None, default=None

    Attributes
    ----------
    ax_ : matplotlib Axes
        Of the error.
    ax_right_ : matplotlib Axes
        Of the squared hinge loss.
    figure_ : matplotlib Figure
    """

    C: npt.NDArray[np.float64]
    loo_error: npt.NDArray[np.float64]
    loo_squared_hinge: npt.NDArray[np.float64]
    chosen_C: float
    title: str | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, label: Any = None, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws the path of a fitted `ThinPlateSVC`, or of a `BasisExpansionSVC` with ``C="auto"``.

        Parameters
        ----------
        estimator : ThinPlateSVC or BasisExpansionSVC, fitted
        label : default=None
            The class whose path is drawn, where each has its own (``per_class=True``).
        ax : matplotlib Axes or None, default=None
        **kwargs : passed to ``plot``

        Returns
        -------
        PathDisplay
        """
        check_matplotlib(cls, "from_estimator")
        check_has(estimator, "a fitted ThinPlateSVC or BasisExpansionSVC", "path_")
        path, C, of = estimator.path_, estimator.C_, ""
        if isinstance(path, list):
            classes = estimator.classes_.tolist()
            if label not in classes:
                raise ValueError(f"label={label!r}: each class has its own path, give the label of one of {classes}")
            at = classes.index(label)
            path, C, of = path[at], C[at], f", class {label}"
        if not path or not len(path["C"]):
            raise ValueError("the path of the estimator is empty: fit it with C='auto'")
        display = cls(
            C=np.asarray(path["C"]),
            loo_error=np.asarray(path["loo_error"]),
            loo_squared_hinge=np.asarray(path["loo_squared_hinge"]),
            chosen_C=float(C),
            title=f"Path of C: {short(_spelled(estimator))}{of}",
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws both losses against C.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        **kwargs : passed to matplotlib's ``plot`` for both lines

        Returns
        -------
        PathDisplay
        """
        self.ax_, self.figure_ = axes_for(self, ax, (6.0, 3.8))
        self.ax_right_ = self.ax_.twinx()
        self.ax_right_.spines[["top", "left"]].set_visible(False)
        self.ax_right_.spines["right"].set(linewidth=0.8, color=SOFT)
        order = np.argsort(self.C)
        C, error_hue, loss_hue = np.asarray(self.C)[order], HUES[0], HUES[1]
        error, loss = 100 * np.asarray(self.loo_error)[order], np.asarray(self.loo_squared_hinge)[order]
        lines = ((self.ax_, error, error_hue, "o"), (self.ax_right_, loss, loss_hue, "s"))
        for axes, values, hue, marker in lines:
            style = {"color": hue, "marker": marker, "markersize": 3.5, "linewidth": 1.4} | kwargs
            axes.plot(C, values, **style)
            axes.tick_params(axis="y", colors=hue)
            if np.isfinite(values).any():
                axes.set_ylim(0, 1.15 * max(np.nanmax(values), 1e-12))
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("C")
        self.ax_.set_ylabel("leave-one-out error, to first order (%)", color=error_hue)
        self.ax_right_.set_ylabel("leave-one-out squared hinge loss", color=loss_hue)
        self.ax_.axvline(self.chosen_C, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        # On the side with more space.
        on_left = self.chosen_C > math.sqrt(C[0] * C[-1])
        self.ax_.annotate(
            f"chosen C = {self.chosen_C:.3g}",
            (self.chosen_C, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if on_left else 4, -4),
            textcoords="offset points",
            ha="right" if on_left else "left",
            va="top",
            fontsize="small",
            color=INK,
        )
        if self.title:
            self.ax_.set_title(self.title, loc="left", fontsize="medium")
        return self


def _spelled(estimator: Any) -> str:
    """The kernel or the similarities."""
    if hasattr(estimator, "similarities_"):
        return " ".join(estimator.similarities_)
    return str(getattr(estimator.kernel, "spec", estimator.kernel))
