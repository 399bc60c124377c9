"""Looking at similarities and fitted machines: spectra, the path of C, and the bases that weigh most.

Displays follow scikit-learn's: made by ``from_…``, drawn by ``plot``, with the axes as ``ax_``. They need matplotlib.
They are in one file, long as it is, because they share their looks and this is the module's name for users.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._samples import count, items, pick
from .similarity import resolve

__all__ = ["BasisDisplay", "PathDisplay", "Spectrum", "SpectrumDisplay", "spectrum"]

_INK, _SOFT, _NEGATIVE = "#333333", "#888888", "#c0392b"
_HUES = ("#1f5fa8", "#d9822b", "#2e8b57", "#7b4fa3", "#8c6d46", "#3aa0a8")


@dataclass
class Spectrum:
    """How far a similarity is from being a kernel on some samples.

    Attributes
    ----------
    similarity : str
        Its spec, with what was learned.
    eigenvalues : ndarray of shape (n_samples,)
        Of the symmetric part (S + Sᵀ)/2 of the similarities between the samples, falling.
    raw_eigenvalues : ndarray of complex of shape (n_samples,)
        Of S itself, by falling real part.
    negative_ratio : float
        The share of the eigenvalues (of the symmetric part) that are negative: 0 for a kernel.
    negative_energy : float
        Σ |negative eigenvalues| / Σ positive eigenvalues.
    asymmetry : float
        The largest |S_ij - S_ji| over the largest |S_ij|: 0 where it is symmetric.
    """

    similarity: str
    eigenvalues: npt.NDArray[np.float64]
    raw_eigenvalues: npt.NDArray[np.complex128]
    negative_ratio: float
    negative_energy: float
    asymmetry: float

    def __str__(self) -> str:
        negative = f"{100 * self.negative_ratio:.1f} % of {len(self.eigenvalues)} eigenvalues are negative"
        energy = f"their energy is {100 * self.negative_energy:.2g} % of that of the others"
        return f"{self.similarity}: {negative}, {energy}; asymmetry {self.asymmetry:.2g}"


def spectrum(similarity: Any, X: Any, n_jobs: int | None = None) -> Spectrum | list[Spectrum]:
    """The eigenvalues of the similarities between samples.

    Parameters
    ----------
    similarity : str, Similarity, callable, or a list of these
    X : samples
        Of whatever kind the similarity compares; for "precomputed" the square matrix. The matrix of all pairs is held
        and decomposed, so that 10,000 are the most.
    n_jobs : int or None, default=None
        Threads; -1 is one a core.

    Returns
    -------
    Spectrum, or a list of them for a list

    Raises
    ------
    ValueError, TypeError
        For samples that the similarity cannot compare, naming them.
    """
    from joblib import effective_n_jobs

    resolved = resolve(similarity)
    (samples, objects), _ = resolved.given(X)
    parts = _core.spectrum(resolved.specs, resolved.calls, samples, objects, int(effective_n_jobs(n_jobs)))
    spectra = [
        Spectrum(
            similarity=part["similarity"],
            eigenvalues=part["symmetric"],
            raw_eigenvalues=part["raw"],
            negative_ratio=part["negative_ratio"],
            negative_energy=part["negative_energy"],
            asymmetry=part["asymmetry"],
        )
        for part in resolved.in_given_order(parts)
    ]
    return spectra if isinstance(similarity, (list, tuple)) else spectra[0]


class SpectrumDisplay:
    """Eigenvalues of similarities, from the largest to the smallest.

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
        cls, similarity: Any, X: Any, *, ax: Any = None, n_jobs: int | None = None, **kwargs: Any
    ) -> SpectrumDisplay:
        """Computes spectra and draws them.

        Parameters
        ----------
        similarity : str, Similarity, callable, or a list of these
        X : samples, at most 10,000
        ax : matplotlib Axes or None, default=None
        n_jobs : int or None, default=None
        **kwargs : passed to ``plot``

        Returns
        -------
        SpectrumDisplay
        """
        _check_matplotlib(cls, "from_similarity")
        return cls(spectrum(similarity, X, n_jobs)).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, ax: Any = None, n_jobs: int | None = None, **kwargs: Any
    ) -> SpectrumDisplay:
        """Draws the spectra of a fitted estimator's similarities.

        Parameters
        ----------
        estimator : BasisExpansionSVC or BasisExpansion, fitted
        X : samples or None, default=None
            None is the estimator's bases.
        ax : matplotlib Axes or None, default=None
        n_jobs : int or None, default=None
        **kwargs : passed to ``plot``

        Returns
        -------
        SpectrumDisplay
        """
        _check_matplotlib(cls, "from_estimator")
        _check_has(estimator, "a fitted BasisExpansionSVC or BasisExpansion", "similarities_")
        resolved = resolve(estimator.similarity)
        if resolved.is_precomputed and X is None:
            raise ValueError("X is None: with similarity='precomputed' it must be the square matrix of similarities")
        # The specs have what was learned from all training samples.
        learned = [*estimator.similarities_[: len(resolved.specs)], *(function for function, _ in resolved.calls)]
        similarity = resolved.in_given_order(learned)
        return cls(spectrum(similarity, estimator.bases_ if X is None else X, n_jobs)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> SpectrumDisplay:
        """Draws eigenvalues, divided by the largest, by their rank.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        **kwargs : passed to matplotlib's ``plot`` for the lines

        Returns
        -------
        SpectrumDisplay
        """
        ax = self._start(ax, (6.0, 3.8))
        several = len(self.spectra) > 1
        self.lines_ = []
        for spectrum, hue in zip(self.spectra, _cycle(_HUES), strict=False):
            largest = np.abs(spectrum.eigenvalues).max() or 1.0
            values, ranks = spectrum.eigenvalues / largest, np.arange(1, len(spectrum.eigenvalues) + 1)
            style = {"color": hue if several else _INK, "linewidth": 1.4, "label": self._label(spectrum)} | kwargs
            self.lines_ += ax.plot(ranks, values, **style)
            if not several:
                ax.fill_between(ranks, values, where=values < 0, color=_NEGATIVE, alpha=0.35, linewidth=0)
        ax.axhline(0, color=_SOFT, linewidth=0.8)
        # Single precision leaves 1e-7 of the largest: below 1e-5 there is little to see.
        ax.set_yscale("symlog", linthresh=1e-4, linscale=0.6)
        lowest = min((line.get_ydata().min() for line in self.lines_), default=0.0)
        ax.set_yticks([tick for tick in (-1, -1e-2, -1e-4, 0, 1e-4, 1e-2, 1) if tick >= min(10 * lowest, 0)])
        ax.set_ylim(min(2 * lowest, -5e-5), 1.6)
        ax.set_xlabel("rank of the eigenvalue")
        ax.set_ylabel("eigenvalue / largest")
        if several:
            ax.set_title("Spectra of the similarities", loc="left", fontsize="medium")
            ax.legend(frameon=False, fontsize="small", labelcolor=_INK)
        else:
            ax.set_title("\n".join(self._label(self.spectra[0]).rsplit(": ", 1)), loc="left", fontsize="medium")
        return self

    @staticmethod
    def _label(spectrum: Spectrum) -> str:
        told = f"{_short(spectrum.similarity)}: {100 * spectrum.negative_ratio:.3g} % negative"
        return told + (f", energy {100 * spectrum.negative_energy:.3g} %" if spectrum.negative_ratio else "")

    def _start(self, ax: Any, size: tuple[float, float]) -> Any:
        self.ax_, self.figure_ = _axes(self, ax, size)
        return self.ax_


class PathDisplay:
    """The leave-one-out losses of a thin plate SVM for every C that was tried.

    Parameters
    ----------
    C : ndarray of shape (n_C,)
    loo_error : ndarray of shape (n_C,)
        Share of the training samples that get a wrong class when left out, from 0 to 1.
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

    def __init__(
        self,
        *,
        C: npt.NDArray[np.float64],
        loo_error: npt.NDArray[np.float64],
        loo_squared_hinge: npt.NDArray[np.float64],
        chosen_C: float,
        title: str | None = None,
    ) -> None:
        self.C = C
        self.loo_error = loo_error
        self.loo_squared_hinge = loo_squared_hinge
        self.chosen_C = chosen_C
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws the path of a fitted `ThinPlateSVC`.

        Parameters
        ----------
        estimator : ThinPlateSVC, fitted
        ax : matplotlib Axes or None, default=None
        **kwargs : passed to ``plot``

        Returns
        -------
        PathDisplay
        """
        _check_matplotlib(cls, "from_estimator")
        _check_has(estimator, "a fitted ThinPlateSVC", "path_")
        path = estimator.path_
        if not path or not len(path["C"]):
            raise ValueError("the path of the estimator is empty: fit it with C='auto'")
        display = cls(
            C=np.asarray(path["C"]),
            loo_error=np.asarray(path["loo_error"]),
            loo_squared_hinge=np.asarray(path["loo_squared_hinge"]),
            chosen_C=float(estimator.C_),
            title=f"Path of C: {getattr(estimator.kernel, 'spec', estimator.kernel)}",
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws both losses over C.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        **kwargs : passed to matplotlib's ``plot`` for both lines

        Returns
        -------
        PathDisplay
        """
        self.ax_, self.figure_ = _axes(self, ax, (6.0, 3.8))
        self.ax_right_ = self.ax_.twinx()
        self.ax_right_.spines[["top", "left"]].set_visible(False)
        self.ax_right_.spines["right"].set(linewidth=0.8, color=_SOFT)
        order = np.argsort(self.C)
        C, error_hue, loss_hue = np.asarray(self.C)[order], _HUES[0], _HUES[1]
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
        self.ax_.set_ylabel("leave-one-out error (%)", color=error_hue)
        self.ax_right_.set_ylabel("leave-one-out squared hinge loss", color=loss_hue)
        self.ax_.axvline(self.chosen_C, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)))
        # On the side where there is room.
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
            color=_INK,
        )
        if self.title:
            self.ax_.set_title(self.title, loc="left", fontsize="medium")
        return self


_Kind = Literal["images", "series", "vectors", "named"]


class BasisDisplay:
    """The bases that weigh most in a basis expansion SVM.

    Parameters
    ----------
    groups : list of (str, ndarray of int, ndarray of float)
        For each row of the picture its name, the numbers of its bases, the weightiest first, and their weights.
    bases : any sequence of samples
    kind : {"images", "series", "vectors", "named"}
        How a basis is shown; "named" is by its text.
    names : list of str
        The name of each basis.
    signed : bool
        Whether weights speak for a class (above 0) and against it, or are norms.
    title : str

    Attributes
    ----------
    ax_ : matplotlib Axes
        What holds the panels.
    axes_ : list of matplotlib Axes
        One a basis, or one a group for vectors and named ones.
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        *,
        groups: list[tuple[str, npt.NDArray[np.intp], npt.NDArray[np.float64]]],
        bases: Any,
        kind: _Kind,
        names: list[str],
        signed: bool,
        title: str,
    ) -> None:
        self.groups = groups
        self.bases = bases
        self.kind = kind
        self.names = names
        self.signed = signed
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        n_basis: int = 10,
        *,
        part: int | None = None,
        per_class: bool = False,
        image_shape: tuple[int, ...] | None = None,
        ax: Any = None,
    ) -> BasisDisplay:
        """Draws the bases of a fitted `BasisExpansionSVC` whose weights are largest.

        Parameters
        ----------
        estimator : BasisExpansionSVC, fitted
            Its normalization must leave a feature to each basis: not "nystrom_…".
        n_basis : int, default=10
            How many, at least 1.
        part : int or None, default=None
            Which of several similarities; None is all together.
        per_class : bool, default=False
            The weightiest of each class, by the absolute value; else by the norm over all classes.
        image_shape : tuple of int or None, default=None
            (height, width) or (height, width, 3) of vectors that are to be shown as images.
        ax : matplotlib Axes or None, default=None
            It is replaced by the panels.

        Returns
        -------
        BasisDisplay

        Raises
        ------
        ValueError
            For a normalization that mixes bases.
        """
        _check_matplotlib(cls, "from_estimator")
        _check_has(estimator, "a fitted BasisExpansionSVC", "similarities_", "coef_")
        if not isinstance(n_basis, Integral) or n_basis < 1:
            raise ValueError(f"n_basis is {n_basis!r}: it must be an integer of at least 1")
        weights, similarities = _weights_of_bases(estimator), list(estimator.similarities_)
        if part is not None:
            if not isinstance(part, Integral) or not 0 <= part < len(similarities):
                raise ValueError(f"part is {part!r}: it must be a number from 0 to {len(similarities) - 1}")
            weights, similarities = weights[:, part : part + 1], similarities[part : part + 1]
        bases, kind, names = _how_to_show(estimator, weights.shape[2], image_shape)
        groups = []
        for name, signed in _rows(weights, estimator.classes_, per_class):
            order = np.argsort(-np.abs(signed), kind="stable")[:n_basis]
            groups.append((name, order, signed[order]))
        display = cls(
            groups=groups,
            bases=bases,
            kind=kind,
            names=names,
            signed=per_class,
            title=f"Bases of largest weight: {' + '.join(map(_short, similarities))}",
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> BasisDisplay:
        """Draws the bases.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            It is replaced by the panels.

        Returns
        -------
        BasisDisplay
        """
        most = max(len(order) for _, order, _ in self.groups)
        draw, size = {
            "images": (self._plot_small, (0.95 * min(most, self._n_columns) + 0.9, 1.3)),
            "series": (self._plot_small, (1.5 * min(most, self._n_columns) + 0.9, 1.3)),
            "vectors": (self._plot_rows, (6.4, 0.26 * most + 0.9)),
            "named": (self._plot_bars, (6.0, 0.26 * most + 0.9)),
        }[self.kind]
        n_rows = sum(-(-len(order) // self._n_columns) for _, order, _ in self.groups)
        height = size[1] * (n_rows if draw == self._plot_small else len(self.groups))
        self.ax_, self.figure_ = _axes(self, ax, (max(size[0], 4.5), height + 0.5))
        self.ax_.set_axis_off()
        note = {
            "named": "",
            "vectors": "\nbeside each the row of the training sample and its weight",
        }.get(self.kind, "\nabove each its weight and the row of the training sample")
        self.ax_.set_title(self.title + note, loc="left", fontsize="medium")
        self.axes_: list[Any] = []
        draw()
        return self

    # Small pictures a row.
    _n_columns = 10

    def _cell(self, left: float, top: float, width: float, height: float) -> Any:
        """A panel, in shares of the whole from its upper left corner."""
        panel = self.ax_.inset_axes((left, 1 - top - height, width, height))
        panel.tick_params(labelsize="small", colors=_INK, length=2, width=0.6)
        panel.spines[:].set(linewidth=0.6, color=_SOFT)
        self.axes_.append(panel)
        return panel

    def _text_of(self, weight: float) -> str:
        return f"{weight:+.2g}" if self.signed else f"{weight:.2g}"

    def _plot_small(self) -> None:
        """Images and series: a panel each, its weight above it."""
        rows = [
            (
                name if start == 0 else "",
                order[start : start + self._n_columns],
                weights[start : start + self._n_columns],
            )
            for name, order, weights in self.groups
            for start in range(0, len(order), self._n_columns)
        ]
        n_columns = max(len(order) for _, order, _ in rows)
        margin = 0.1 if any(name for name, _, _ in rows) else 0.0
        width, height = (1 - margin) / n_columns, 1 / len(rows)
        series = [items(self.bases)[at] for _, order, _ in rows for at in order] if self.kind == "series" else []
        limits, longest = _limits(series), max((len(one) for one in series), default=1)
        for row, (name, order, weights) in enumerate(rows):
            for column, (at, weight) in enumerate(zip(order, weights, strict=True)):
                panel = self._cell(margin + column * width, (row + 0.2) * height, 0.9 * width, 0.74 * height)
                if self.kind == "images":
                    image = np.asarray(pick(self.bases, np.array([at]))[0]).squeeze()
                    panel.imshow(image, cmap="gray" if image.ndim == 2 else None, interpolation="nearest")
                else:
                    panel.plot(
                        np.asarray(items(self.bases)[at]), linewidth=0.9, color=_INK if _is_flat(series) else None
                    )
                    # One scale for all, in both directions.
                    panel.set(xlim=(0, longest - 1), ylim=limits)
                panel.set(xticks=[], yticks=[])
                if self.kind == "series" and (row, column) == (len(rows) - 1, 0):
                    panel.set_xlabel("time step", fontsize="small", color=_INK)
                    panel.set_xticks([0, longest - 1])
                panel.set_title(f"{self._text_of(weight)}\n{self.names[at]}", fontsize="x-small", color=_INK, pad=2)
            if name:
                self.ax_.text(0, 1 - (row + 0.57) * height, name, ha="left", va="center", fontsize="small", color=_INK)

    def _plot_rows(self) -> None:
        """Vectors: a row of colours each."""
        height = 1 / len(self.groups)
        for number, (name, order, weights) in enumerate(self.groups):
            top = 0.12 * height if name else 0.0
            panel = self._cell(0.0, number * height + top, 0.9, height - top - 0.16 * height)
            block = pick(self.bases, order)
            block = np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)
            block = block.reshape(len(order), -1)
            drawn = panel.imshow(block, aspect="auto", interpolation="nearest", cmap="viridis")
            labels = [f"{self.names[at]}  {self._text_of(w)}" for at, w in zip(order, weights, strict=True)]
            panel.set_yticks(range(len(order)), labels)
            panel.set_title(name, fontsize="small", color=_INK, loc="left", pad=3)
            if number == len(self.groups) - 1:
                panel.set_xlabel("feature", color=_INK)
            bar = self.figure_.colorbar(drawn, cax=panel.inset_axes((1.02, 0, 0.02, 1)))
            bar.set_label("value", fontsize="small", color=_INK)
            bar.outline.set_visible(False)
            bar.ax.tick_params(labelsize="x-small", colors=_INK, length=2)

    def _plot_bars(self) -> None:
        """Whatever has a text: a bar each."""
        height = 1 / len(self.groups)
        largest = max(np.abs(weights).max() for _, _, weights in self.groups) or 1.0
        for number, (name, order, weights) in enumerate(self.groups):
            top = 0.12 * height if name else 0.0
            panel = self._cell(0.0, number * height + top, 1.0, height - top - 0.12 * height)
            hues = [_HUES[0] if weight >= 0 else _NEGATIVE for weight in weights]
            panel.barh(range(len(order)), weights, color=hues, height=0.6)
            panel.set_yticks(range(len(order)), [self.names[at] for at in order])
            panel.invert_yaxis()
            panel.axvline(0, color=_SOFT, linewidth=0.8)
            panel.spines[["top", "right", "left"]].set_visible(False)
            panel.tick_params(axis="y", length=0)
            panel.set_xlim(-1.05 * largest if any(w < 0 for _, _, ws in self.groups for w in ws) else 0, 1.05 * largest)
            panel.set_title(name, fontsize="small", color=_INK, loc="left", pad=3)
            if number == len(self.groups) - 1:
                panel.set_xlabel(
                    "weight, for or against the class" if self.signed else "weight (norm over the classes)"
                )


def _weights_of_bases(estimator: Any) -> npt.NDArray[np.float64]:
    """(problems, parts, bases)."""
    weights, n_parts = np.asarray(estimator.coef_, dtype=np.float64), len(estimator.similarities_)
    if str(estimator.normalization).startswith("nystrom"):
        raise ValueError(
            f"normalization={estimator.normalization!r} mixes the bases, so that none has a weight of its own: take "
            "'mean_norm', 'z_score' or 'none'"
        )
    return weights.reshape(len(weights), n_parts, -1)


def _rows(
    weights: npt.NDArray[np.float64], classes: npt.NDArray[Any], per_class: bool
) -> list[tuple[str, npt.NDArray[np.float64]]]:
    """What is shown in a row of its own, with the weight of each basis."""
    if not per_class:
        return [("", np.linalg.norm(weights, axis=(0, 1)))]
    # Of several parts the one that weighs most.
    most = np.abs(weights).argmax(axis=1, keepdims=True)
    signed = np.take_along_axis(weights, most, axis=1)[:, 0]
    if len(classes) == 2:
        signed = np.concatenate([-signed[:1], signed[:1]])
    return [(f"class {label}", row) for label, row in zip(classes.tolist(), signed, strict=True)]


def _how_to_show(estimator: Any, n: int, image_shape: tuple[int, ...] | None) -> tuple[Any, _Kind, list[str]]:
    """The bases, what they are shown as, and their names."""
    resolved = resolve(estimator.similarity)
    rows = np.asarray(estimator.basis_indices_).tolist()
    numbers = [f"#{row}" for row in (rows if len(rows) == n else range(n))]
    if resolved.is_precomputed:
        return numbers, "named", numbers
    bases = estimator.bases_
    if count(bases, "bases_") != n:
        raise ValueError(f"the estimator has {count(bases)} bases and weights of {n}")
    if image_shape is not None:
        dense = np.asarray(bases.toarray() if hasattr(bases, "toarray") else bases, dtype=np.float64)
        try:
            shaped = dense.reshape(n, *image_shape)
        except ValueError:
            n_features = dense[0].size
            raise ValueError(f"image_shape is {image_shape}: the bases have {n_features} features") from None
        span = np.ptp(shaped) or 1.0
        return (shaped - shaped.min()) / span, "images", numbers
    first = items(pick(bases, np.array([0])))[0]
    if "time series" in resolved.takes:
        return bases, "series", numbers
    if isinstance(bases, np.ndarray) and bases.ndim == 4 and bases.dtype != np.uint8:
        return np.linalg.norm(bases, axis=3), "images", numbers  # a grid by the lengths of its cells
    if getattr(first, "dtype", None) == np.uint8 and first.ndim in (2, 3):
        return bases, "images", numbers
    if (hasattr(bases, "shape") and len(bases.shape) == 2 and not _holds_objects(bases)) or hasattr(bases, "toarray"):
        return bases, "vectors", numbers
    texts = [one if isinstance(one, str) else reprlib.repr(one) for one in items(bases)]
    return texts, "named", [text if len(text) <= 40 else text[:39] + "…" for text in texts]


def _holds_objects(X: Any) -> bool:
    return getattr(getattr(X, "dtype", None), "kind", "") == "O" or hasattr(X, "columns")


def _limits(series: list[Any]) -> tuple[float, float]:
    """The same scale for all."""
    if not series:
        return 0.0, 1.0
    low, high = min(float(np.min(x)) for x in series), max(float(np.max(x)) for x in series)
    return low - 0.05 * (high - low or 1.0), high + 0.05 * (high - low or 1.0)


def _is_flat(series: list[Any]) -> bool:
    return all(np.ndim(x) == 1 or np.shape(x)[1] == 1 for x in series)


def _short(spec: str) -> str:
    """A spec with its learned numbers to three digits."""
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda number: f"{float(number[0]):.3g}", spec)


def _cycle(hues: Sequence[str]) -> list[str]:
    return list(hues) * 20


def _axes(display: object, ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """Given axes or new ones, with thin lines."""
    _check_matplotlib(type(display), "plot")
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set(linewidth=0.8, color=_SOFT)
    ax.tick_params(colors=_INK, width=0.8)
    return ax, ax.figure


def _check_matplotlib(cls: type, method: str) -> None:
    from sklearn.utils._optional_dependencies import check_matplotlib_support

    check_matplotlib_support(f"{cls.__name__}.{method}")


def _check_has(estimator: Any, what: str, *attributes: str) -> None:
    from sklearn.utils.validation import check_is_fitted

    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"estimator is {estimator!r}: it must be {what}")
    check_is_fitted(estimator)
    if not all(hasattr(estimator, attribute) for attribute in attributes):
        raise TypeError(f"estimator is a {type(estimator).__name__}: it must be {what}")
