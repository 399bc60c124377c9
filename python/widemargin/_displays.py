"""Displays of spectra and of the candidates of a fit, and common parts of all displays."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor

from . import _core
from ._base import check_has, fitted_model, specs_of, unwrapped
from ._parameters import Samples, SimilarityLike, threads_of
from ._report import Results
from ._sklearn import check_matplotlib_support
from .similarity import resolve

INK, SOFT, NEGATIVE = "#333333", "#888888", "#c0392b"
HUES = ("#1f5fa8", "#d9822b", "#2e8b57", "#7b4fa3", "#8c6d46", "#3aa0a8")


def short(spec: str) -> str:
    """A spec with learned numbers rounded to three digits, and without long lists of numbers."""
    spec = re.sub(r"=[\d.]+(;[\d.]+){3,}", "=…", spec)
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda number: f"{float(number[0]):.3g}", spec)


def wrapped(text: str, width: float) -> str:
    """A title wrapped at spaces, and at the commas and slashes of specs.

    Parameters
    ----------
    text : str
    width : float
        The available width in inches.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size="medium")

    lines = []
    for line in text.split("\n"):
        lines.append("")
        for piece in re.findall(r"[^\s,/]+[,/]?\s*", line):
            if TextPath((0, 0), (lines[-1] + piece).rstrip(), prop=font).get_extents().width > 72 * width:
                lines.append("")
            lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines if line.strip())


def axes_for(display: object, ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """The axes, or new ones if `ax` is None, with thin lines."""
    check_matplotlib_support(f"{type(display).__name__}.plot")
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set(linewidth=0.8, color=SOFT)
    ax.tick_params(colors=INK, width=0.8)
    return ax, ax.figure


def grid_in(ax: Any, n_rows: int, n_columns: int, *, hspace: float, **shape: Any) -> Any:
    """A grid of panels in place of an axes. A figure with a layout reserves space for titles and labels."""
    shape["hspace"] = hspace if ax.figure.get_layout_engine() is None else None
    if (spec := ax.get_subplotspec()) is not None:
        return spec.subgridspec(n_rows, n_columns, **shape)
    box = ax.get_position()
    edges = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
    return ax.figure.add_gridspec(n_rows, n_columns, **shape, **edges)


@dataclass
class Spectrum:
    """The eigenvalues of a similarity on a set of samples, which measure how far it is from being a kernel.

    Attributes
    ----------
    similarity : str
        The spec of the similarity, including learned parameter values.
    eigenvalues : ndarray of shape (n_samples,)
        The eigenvalues of the symmetric part (S + Sᵀ)/2 of the matrix S of similarities between the samples, in
        descending order.
    raw_eigenvalues : ndarray of complex of shape (n_samples,)
        The eigenvalues of S, in descending order of their real parts.
    negative_ratio : float
        The fraction of `eigenvalues` that are below -`rounding`; 0 for a kernel.
    negative_energy : float
        Σ |negative eigenvalues| / Σ positive eigenvalues, without eigenvalues of absolute value up to `rounding`.
    asymmetry : float
        The largest |S_ij - S_ji| divided by the largest |S_ij|; 0 if the similarity is symmetric.
    rounding : float
        A bound on the effect of single-precision rounding on an eigenvalue: n ε max |S_ij|. Eigenvalues of absolute
        value up to this bound count as zero.

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
    similarity: SimilarityLike, X: Samples, n_jobs: int | None = None, *, kind: str = "auto"
) -> Spectrum | list[Spectrum]:
    """Computes the eigenvalues of the matrix of similarities between samples.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    X : samples
        Samples of a kind that the similarity compares; for "precomputed", the square matrix of similarities. At most
        10,000 samples are accepted, because the matrix of all pairs is stored in memory and decomposed.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core.
    kind : str, default="auto"
        The kind of samples; see `BasisExpansionSVC`.

    Returns
    -------
    Spectrum, or a list of them for a list

    Raises
    ------
    ValueError, TypeError
        For samples that the similarity cannot compare. The message names them.

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
    resolved = resolve(similarity, kind)
    parts = _core.spectrum(resolved.similarities, resolved.converted(X), threads_of(n_jobs))
    spectra = [Spectrum(**part) for part in resolved.in_list_order(parts)]
    return spectra if isinstance(similarity, (list, tuple)) else spectra[0]


class SpectrumDisplay:
    """Plot of the eigenvalues of similarities in descending order.

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
        kind: str = "auto",
        **kwargs: object,
    ) -> SpectrumDisplay:
        """Computes spectra and draws them.

        Parameters
        ----------
        similarity : str, Similarity, callable, or a list of these
        X : samples, at most 10,000
        ax : matplotlib Axes or None, default=None
        n_jobs : int or None, default=None
        kind : str, default="auto"
            The kind of samples; see `BasisExpansionSVC`.
        **kwargs : passed to ``plot``

        Returns
        -------
        SpectrumDisplay
        """
        check_matplotlib_support(f"{cls.__name__}.from_similarity")
        return cls(spectrum(similarity, X, n_jobs, kind=kind)).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls, estimator: object, X: Samples = None, *, ax: object = None, n_jobs: int | None = None, **kwargs: object
    ) -> SpectrumDisplay:
        """Draws the spectra of a fitted estimator's similarities.

        Parameters
        ----------
        estimator : BasisExpansionSVC or another estimator with bases, or a Pipeline that ends in one, fitted
        X : samples or None, default=None
            The samples to compare; None means the bases of the estimator.
        ax : matplotlib Axes or None, default=None
        n_jobs : int or None, default=None
        **kwargs : passed to ``plot``

        Returns
        -------
        SpectrumDisplay
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        fitted: Any
        fitted, X = fitted_model(estimator, X, object, "BasisExpansionSVC or BasisExpansion", "_resolved")
        resolved = fitted._resolved
        if resolved.is_precomputed and X is None:
            raise ValueError("X is None: with similarity='precomputed' it must be the square matrix of similarities")
        # The specs include what was learned from all training samples.
        learned = [*specs_of(fitted)[: len(resolved.specs)], *(function for function, _ in resolved.calls)]
        similarity = resolved.in_list_order(learned)
        is_last = X is None and fitted.kind_ == "series" and fitted.kind in ("auto", "series")
        kind = "series_channels_last" if is_last else fitted.kind
        samples = fitted.basis_ if X is None else X
        return cls(spectrum(similarity, samples, n_jobs, kind=kind)).plot(ax, **kwargs)

    def plot(self, ax: object = None, **kwargs: object) -> SpectrumDisplay:
        """Draws the eigenvalues, divided by the largest one, against their rank.

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
        for spectrum, hue in zip(self.spectra, itertools.cycle(HUES), strict=False):
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


#: Candidates that are drawn.
_DRAWN = 20

#: Characters on a line of a candidate's name, or of the problem with one; there are at most two.
_LENGTH = 44

_OF_CLASSES = ("leave-one-out error (%)", "leave-one-out squared hinge loss")


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """Plot of the scores of the candidates of a fit, and of the losses along the regularization path.

    On the path of a thin plate SVM or a basis expansion, the leave-one-out losses assume that no other sample crosses
    the margin when one is removed. The exception is the C selected by the exact solver, where they come from refits
    (``cv_results_["loo_exact"]``).

    Parameters
    ----------
    cv_results : dict of arrays
        The ``cv_results_`` of a fitted estimator.
    measures : tuple of str, default=("leave-one-out error (%)", "leave-one-out squared hinge loss")
        The measures on the left and the right axis of the path.
    title : str or None, default=None
    label : default=None
        The class whose path is drawn, if each class has its own path.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the error on the path, or of the candidates if there is no path.
    ax_right_ : matplotlib Axes or None
        The axes of the loss on the path.
    ax_candidates_ : matplotlib Axes or None
        The axes of the candidates.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import ThinPlateSVC
    >>> from widemargin.inspection import PathDisplay
    >>> display = PathDisplay.from_estimator(ThinPlateSVC().fit(*load_iris(return_X_y=True)))
    """

    cv_results: Results
    measures: tuple[str, str] = _OF_CLASSES
    title: str | None = None
    label: object = None

    @classmethod
    def from_estimator(
        cls, estimator: object, *, label: object = None, ax: object = None, **kwargs: object
    ) -> PathDisplay:
        """Draws the candidates of ``cv_results_``, if there are several, and the regularization path.

        Parameters
        ----------
        estimator : classifier or regressor of widemargin, fitted
            The fitted estimator; also a Pipeline that ends in one. For `AutoSVC` and `AutoRegressor`, the candidates
            are the methods that were compared, and the path is that of the best method.
        label : default=None
            The class whose path is drawn, if each class has its own path (``C="auto_per_class"``).
        ax : matplotlib Axes or None, default=None
            The axes in which to draw; replaced by panels if there are both candidates and a path. None creates a
            figure.
        **kwargs : passed to ``plot``

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            If there are no candidates.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        fitted: Any = unwrapped(estimator)[0]
        check_has(fitted, "a fitted classifier or regressor of widemargin", "estimated_score_")
        of_class = ""
        if np.ndim(fitted.C_):
            classes = fitted.classes_.tolist()
            if label not in classes:
                raise ValueError(f"label={label!r}: each class has its own path, pass one of {classes}")
            of_class = f", class {label}"
        display = cls(
            cv_results=fitted.cv_results_,
            measures=_measures(fitted),
            title=f"Path of C: {short(' '.join(specs_of(fitted)))}{of_class}",
            label=label,
        )
        if len(display._candidates()) < 2 and not len(display._path()):
            raise ValueError(
                "the path of the estimator is empty, and there are no other candidates: fit it with C='auto'"
            )
        return display.plot(ax, **kwargs)

    def _candidates(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero([not _is_of_path(one) for one in self.cv_results["params"]])

    def _path(self) -> npt.NDArray[np.intp]:
        """The entries of the path, by ascending C."""
        params = self.cv_results["params"]
        rows = [at for at, one in enumerate(params) if _is_of_path(one) and one.get("label", self.label) == self.label]
        return np.array(sorted(rows, key=lambda at: params[at]["C"]), dtype=np.intp)

    def plot(self, ax: object = None, **kwargs: object) -> PathDisplay:
        """Draws the candidates, the best first, and both measures against C.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes in which to draw; replaced by panels if there are both candidates and a path. None creates a
            figure.
        **kwargs : passed to matplotlib's ``plot`` for the lines of the path and the dots of the candidates

        Returns
        -------
        PathDisplay
        """
        candidates, path = self._candidates(), self._path()
        rows = min(len(candidates), _DRAWN) if len(candidates) > 1 else 0
        heights = [0.26 * rows + 0.9] * bool(rows) + [3.8] * bool(len(path))
        axes, self.figure_ = axes_for(self, ax, (7.0 if rows else 6.0, sum(heights)))
        panels = [axes]
        if len(heights) == 2:
            grid = grid_in(axes, 2, 1, height_ratios=heights, hspace=0.45)
            axes.remove()
            panels = [axes_for(self, self.figure_.add_subplot(grid[row]), (0, 0))[0] for row in range(2)]
        self.ax_ = panels[-1]
        self.ax_right_: Any = None
        self.ax_candidates_: Any = None
        if rows:
            self.ax_candidates_ = panels[0]
            self._plot_candidates(panels[0], candidates, kwargs)
        if len(path):
            self._plot_path(panels[-1], path, kwargs)
        return self

    def _plot_candidates(self, ax: Any, candidates: npt.NDArray[np.intp], kwargs: dict[str, Any]) -> None:
        found = {name: np.asarray(self.cv_results[name])[candidates] for name in ("mean_test_score", "std_test_score")}
        score, names = found["mean_test_score"], _names([self.cv_results["params"][at] for at in candidates])
        for at, name in enumerate(list(names)):
            if names.count(name) > 1:
                names[at] = f"{name}, {self.cv_results['n_resources'][candidates[at]]} samples"
        is_loss = bool(np.nanmax(score, initial=-np.inf) <= 0)
        values, accuracy = -score if is_loss else score, self.cv_results.get("mean_test_accuracy")
        ordered = np.argsort(np.where(np.isnan(score), np.inf, -score), kind="stable")
        is_selected = np.asarray(self.cv_results["selected"])[candidates]
        shown = [*ordered[:_DRAWN], *(at for at in ordered[_DRAWN:] if is_selected[at])]
        margin = ("axes fraction", "data")
        for row, at in enumerate(shown):
            hue = HUES[1] if is_selected[at] else HUES[0]
            if np.isnan(values[at]):
                problem = self.cv_results["problem"][candidates[at]]
                note = _cut(f"failed: {problem}" if problem else "no estimate")
                ax.annotate(note, (0.02, row), xycoords=margin, va="center", fontsize="x-small", color=SOFT)
                continue
            if not np.isnan(std := found["std_test_score"][at]):
                ax.errorbar(values[at], row, xerr=std, color=hue, elinewidth=1.1, capsize=2)
            marker = "D" if is_selected[at] else "o"
            style = {"color": hue, "marker": marker, "markersize": 5, "linestyle": "none"} | kwargs
            ax.plot([values[at]], [row], **style)
            if accuracy is not None and not np.isnan(accuracy[candidates[at]]):
                error = f"{100 * (1 - accuracy[candidates[at]]):.1f} %"
                ax.annotate(error, (1.01, row), xycoords=margin, va="center", fontsize="small", color=INK)
                ax.set_title("estimated error", loc="right", fontsize="small", color=INK)
        texts = [_cut(names[at]) + (" (selected)" if is_selected[at] else "") for at in shown]
        ax.set_yticks(range(len(shown)), texts)
        for text, at in zip(ax.get_yticklabels(), shown, strict=True):
            text.set(fontsize="small", color=HUES[1] if is_selected[at] else INK)
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_xlim(left=0 if is_loss else None)
        ax.grid(axis="x", color=SOFT, alpha=0.25, linewidth=0.6)
        bars = not np.isnan(found["std_test_score"][shown]).all()
        ax.set_xlabel(("loss" if is_loss else "score") + ", leave-one-out" + (" ± standard error" if bars else ""))
        more = f" (the best {_DRAWN} of {len(candidates)})" if len(candidates) > _DRAWN else ""
        ax.set_title(f"Candidates{more}", loc="left", fontsize="medium")

    def _lines(self, path: npt.NDArray[np.intp]) -> list[npt.NDArray[np.float64]]:
        """The values on the left and on the right axis."""
        score = self.cv_results["mean_test_score"][path]
        if "mean_test_accuracy" in self.cv_results:
            return [100 * (1 - self.cv_results["mean_test_accuracy"][path]), -score]
        residual = "neg_loss" if "mean_test_neg_loss" in self.cv_results else "neg_root_mean_squared_error"
        return [score, -self.cv_results[f"mean_test_{residual}"][path]]

    def _plot_path(self, ax: Any, path: npt.NDArray[np.intp], kwargs: dict[str, Any]) -> None:
        right = self.ax_right_ = ax.twinx()
        right.spines[["top", "left"]].set_visible(False)
        right.spines["right"].set(linewidth=0.8, color=SOFT)
        C = np.array([self.cv_results["params"][at]["C"] for at in path])
        for axes, name, values, hue, marker in zip(
            (ax, right), self.measures, self._lines(path), HUES, "os", strict=False
        ):
            style = {"color": hue, "marker": marker, "markersize": 3.5, "linewidth": 1.4} | kwargs
            axes.plot(C, values, **style)
            axes.tick_params(axis="y", colors=hue)
            axes.set_ylabel(name, color=hue)
            if np.isfinite(values).any():
                # R² and D² may be below 0.
                axes.set_ylim(min(0, 1.15 * np.nanmin(values)), 1.15 * max(np.nanmax(values), 1e-12))
        ax.set_xscale("log")
        ax.set_xlabel("C")
        for selected in C[self.cv_results["selected"][path]]:
            label = f"selected C = {selected:.3g}"
            ax.axvline(selected, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), label=label)
            ax.legend(loc="upper center", fontsize="small", labelcolor=INK, frameon=False)
        ax.set_title(self.title or "", loc="left", fontsize="medium")


def _is_of_path(params: Mapping[str, Any]) -> bool:
    return params.keys() <= {"C", "label"}


def _measures(estimator: Any) -> tuple[str, str]:
    """The measures of a path to draw."""
    if not is_regressor(estimator):
        is_first_order = "lambda" in estimator.cv_results_
        return ("leave-one-out error, to first order (%)", _OF_CLASSES[1]) if is_first_order else _OF_CLASSES
    if "mean_test_neg_loss" not in estimator.cv_results_:
        return "leave-one-out R²", "leave-one-out RMSE"
    way = "five-fold" if estimator.loss_ == "quantile" else "leave-one-out"
    return f"{way} D²", f"{way} loss"


def _names(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of candidates: the parameters in which they differ."""
    first, *others = [name for name in params[0] if name != "C"]
    named = [first, *(name for name in others if any(one.get(name) != params[0].get(name) for one in params))]
    return [", ".join(filter(None, (_text(name, one.get(name)) for name in named))) for one in params]


def _text(name: str, value: Any) -> str:
    match name, value:
        case "nodes", _:
            return "exact" if value is None else f"{value} nodes"
        case "n_basis", _:
            return f"{value} bases"
        case "standardize", _:
            return "standardized columns" if value else ""
        case _, list():
            return " + ".join(map(short, value))
    return short(str(value))


def _cut(text: str) -> str:
    """A long text cut to two lines."""
    return "\n".join(textwrap.wrap(text, _LENGTH, max_lines=2, placeholder="…"))
