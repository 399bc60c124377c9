"""Display of the bases with the largest weights."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ._base import fitted_model, specs_of
from ._columns import names_of_features
from ._displays import HUES, INK, NEGATIVE, SOFT, axes_for, grid_in, short, wrapped
from ._samples import channels_first, count, items, pick
from ._sklearn import check_matplotlib_support
from ._spec_texts import columns_of

_Kind = Literal["images", "series", "vectors", "named"]
# Small panels per row, and the largest number of columns with names: more do not fit.
_COLUMNS, _NAMED_COLUMNS = 10, 40


@dataclass(kw_only=True, eq=False, repr=False)
class BasisDisplay:
    """The bases with the largest weights in a basis expansion.

    Parameters
    ----------
    groups : list of (str, ndarray of int, ndarray of float)
        For each row of the figure, its name, the indices of its bases in descending order of weight, and their weights.
    bases : any sequence of samples
        The bases.
    kind : {"images", "series", "vectors", "named"}
        How the bases are drawn; "named" shows their names.
    names : list of str
        The name of each basis.
    signed : bool
        Whether the weights are signed (positive in favor of a class) or norms.
    title : str
        The title of the figure.
    columns : list of str or None, default=None
        The feature names of vectors; None means that features are numbered.
    target : {"classes", "outputs"}, default="classes"
        What the weights predict.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that contain the panels.
    axes_ : list of matplotlib Axes
        The panels: one per basis, or one per group for vectors and named bases.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.inspection import BasisDisplay
    >>> names = ["Rossi", "Russo", "Bianchi", "Romano", "Smith", "Jones", "Williams", "Taylor"]
    >>> svc = BasisExpansionSVC("edit", normalization="mean_norm").fit(names, ["it"] * 4 + ["en"] * 4)
    >>> display = BasisDisplay.from_estimator(svc, 3)
    """

    groups: list[tuple[str, npt.NDArray[np.intp], npt.NDArray[np.float64]]]
    bases: object
    kind: _Kind
    names: list[str]
    signed: bool
    title: str
    columns: list[str] | None = None
    target: Literal["classes", "outputs"] = "classes"

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        n_basis: int = 10,
        *,
        part: int | None = None,
        per_class: bool = False,
        image_shape: tuple[int, ...] | None = None,
        ax: object = None,
    ) -> BasisDisplay:
        """Draws the bases with the largest weights of a fitted basis expansion.

        Parameters
        ----------
        estimator : BasisExpansionSVC, BasisExpansionRegressor or BasisExpansionOneClass, fitted
            The fitted estimator; also a Pipeline that ends in one, or `AutoSVC`. Its normalization must have one
            feature per basis: "mean_norm", "z_score" or "none".
        n_basis : int, default=10
            Number of bases to show, at least 1.
        part : int or None, default=None
            The index of the similarity in a list of similarities; None combines all of them.
        per_class : bool, default=False
            Whether to select the bases separately for each class, or output of a regressor, by absolute weight. If
            False, bases are selected by the norm of their weights over all classes or outputs.
        image_shape : tuple of int or None, default=None
            The shape (height, width) or (height, width, 3) in which vectors are shown as images.
        ax : matplotlib Axes or None, default=None
            The axes to replace by the panels; None creates a figure.

        Returns
        -------
        BasisDisplay

        Raises
        ------
        ValueError
            If the normalization does not have one feature per basis.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        what = "BasisExpansionSVC, BasisExpansionRegressor or BasisExpansionOneClass"
        estimator, _ = fitted_model(estimator, None, object, what, "_resolved", "report_")
        if not isinstance(n_basis, Integral) or n_basis < 1:
            raise ValueError(f"n_basis is {n_basis!r}: it must be an integer of at least 1")
        weights, similarities = _weights_of_bases(estimator), specs_of(estimator)
        if part is not None:
            if not isinstance(part, Integral) or not 0 <= part < len(similarities):
                raise ValueError(f"part is {part!r}: it must be a number from 0 to {len(similarities) - 1}")
            weights, similarities = weights[:, part : part + 1], similarities[part : part + 1]
        bases, kind, names = _how_to_show(estimator, weights.shape[2], image_shape)
        groups = []
        names_of_problems, target = _problems(estimator, len(weights))
        for name, signed in _rows(weights, names_of_problems, per_class):
            order = np.argsort(-np.abs(signed), kind="stable")[:n_basis]
            groups.append((name, order, signed[order]))
        display = cls(
            groups=groups,
            bases=bases,
            kind=kind,
            names=names,
            signed=per_class,
            title=f"Bases of largest weight: {' + '.join(map(short, similarities))}",
            columns=None if (columns := names_of_features(estimator)) is None else [str(name) for name in columns],
            target=target,
        )
        return display.plot(ax)

    def plot(self, ax: object = None) -> BasisDisplay:
        """Draws the bases.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to replace by the panels; None creates a figure.

        Returns
        -------
        BasisDisplay
        """
        largest = max(len(order) for _, order, _ in self.groups)
        is_small = self.kind in ("images", "series")
        n_columns = min(largest, _COLUMNS) if is_small else 1
        width, height, note = {
            "images": (0.95 * n_columns + 0.9, 1.3, "\nabove each its weight and the row of the training sample"),
            "series": (1.5 * n_columns + 0.9, 1.3, "\nabove each its weight and the row of the training sample"),
            "vectors": (6.4, 0.26 * largest + 0.9, "\nleft of each the row of the training sample and its weight"),
            "named": (6.0, 0.26 * largest + 0.9, ""),
        }[self.kind]
        rows = [
            (name if start == 0 else "", order[start : start + step], weights[start : start + step])
            for name, order, weights in self.groups
            for step in [_COLUMNS if is_small else max(len(order), 1)]
            for start in range(0, len(order), step)
        ]
        self.ax_, self.figure_ = axes_for(self, ax, (max(width, 4.5), height * len(rows) + 0.8))
        self.ax_.set_axis_off()
        extent = self.figure_.bbox if ax is None else self.ax_.get_window_extent()
        title = wrapped(self.title + note, extent.width / self.figure_.dpi - 0.2)
        ratios = [1.0] * len(rows)
        if ax is None:
            self.figure_.suptitle(title, x=0.01, ha="left", fontsize="medium")
        else:  # within the axes, since there may be no space around them
            self.ax_.text(0, 1, title, ha="left", va="top", fontsize="medium", transform=self.ax_.transAxes)
            inches = extent.height / self.figure_.dpi
            above = min(0.17 * (title.count("\n") + 1) / inches, 0.5)
            ratios = [above / (1 - above) * len(rows), *ratios]
        grid = grid_in(self.ax_, len(ratios), n_columns, hspace=0.9 if is_small else 0.4, height_ratios=ratios)
        self.axes_: list[Any] = []
        draw = {"vectors": self._plot_rows, "named": self._plot_bars}.get(self.kind, self._plot_small)
        for row, (name, order, weights) in enumerate(rows, len(ratios) - len(rows)):
            draw([grid[row, column] for column in range(n_columns)], name, order, weights)
        if is_small:
            self._scale_small(n_columns)
        elif self.kind == "named":
            self._scale_bars()
        return self

    def _panel(self, place: Any) -> Any:
        panel, _ = axes_for(self, self.figure_.add_subplot(place), (0, 0))
        panel.tick_params(labelsize="small", length=2)
        self.axes_.append(panel)
        return panel

    def _plot_small(self, places: list[Any], name: str, order: Any, weights: Any) -> None:
        """Images and series: one panel each, with the weight above it."""
        for place, at, weight in zip(places, order, weights, strict=False):
            panel = self._panel(place)
            panel.spines[:].set(visible=True, linewidth=0.6)
            if self.kind == "images":
                image = np.asarray(pick(self.bases, np.array([at]))[0]).squeeze()
                panel.imshow(image, cmap="gray" if image.ndim == 2 else None, interpolation="nearest")
            else:
                series = np.asarray(items(self.bases)[at])
                is_flat = series.ndim == 1 or series.shape[1] == 1
                panel.plot(series, linewidth=0.9, color=INK if is_flat else None)
            panel.set(xticks=[], yticks=[])
            panel.set_title(f"{self._text_of(weight)}\n{self.names[at]}", fontsize="x-small", color=INK, pad=2)
            if place is places[0]:
                panel.set_ylabel(name, rotation=0, ha="right", va="center", fontsize="small", color=INK)

    def _scale_small(self, n_columns: int) -> None:
        """One scale for all series, on both axes."""
        lines = [line for panel in self.axes_ for line in panel.lines]
        if not lines:
            return
        low, high = min(line.get_ydata().min() for line in lines), max(line.get_ydata().max() for line in lines)
        margin, last = 0.05 * (high - low or 1.0), max(len(line.get_ydata()) for line in lines) - 1
        for panel in self.axes_:
            panel.set(xlim=(0, max(last, 1)), ylim=(low - margin, high + margin))
        first = max(at for at, panel in enumerate(self.axes_) if panel.get_subplotspec().colspan.start == 0)
        self.axes_[first].set_xlabel("time step", fontsize="small", color=INK)
        self.axes_[first].set_xticks([0, last])

    def _plot_rows(self, places: list[Any], name: str, order: Any, weights: Any) -> None:
        """Vectors: one row of colors each."""
        panel = self._panel(places[0])
        block = pick(self.bases, order)
        block = np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)
        drawn = panel.imshow(block.reshape(len(order), -1), aspect="auto", interpolation="nearest", cmap="viridis")
        labels = [f"{self.names[at]}  {self._text_of(weight)}" for at, weight in zip(order, weights, strict=True)]
        panel.set_yticks(range(len(order)), labels)
        is_last = len(self.axes_) == len(self.groups)
        self._name_columns(panel, is_last)
        panel.set_title(name, fontsize="small", color=INK, loc="left", pad=3)
        if is_last:
            panel.set_xlabel("feature", color=INK)
        bar = self.figure_.colorbar(drawn, ax=panel, fraction=0.03, pad=0.02)
        bar.set_label("value", fontsize="small", color=INK)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize="x-small", colors=INK, length=2)

    def _name_columns(self, panel: Any, is_last: bool) -> None:
        """Labels the columns below the last panel; all panels have the same columns."""
        from matplotlib.ticker import MaxNLocator

        if self.columns is None or len(self.columns) > _NAMED_COLUMNS:
            n = panel.images[0].get_array().shape[1]
            ticks = MaxNLocator(integer=True).tick_values(0, max(n - 1, 1))
            panel.set_xticks([int(tick) for tick in ticks if 0 <= tick < n])
        elif is_last:
            names = [name if len(name) <= 20 else name[:19] + "…" for name in self.columns]
            # Horizontally, at 0.07 inches per letter, long names would not fit.
            width = self.ax_.get_window_extent().width / self.figure_.dpi
            rotation = 90 if 0.07 * (max(map(len, names)) + 1) * len(names) > 0.85 * width else 0
            panel.set_xticks(range(len(names)), names, rotation=rotation)
        else:
            panel.set_xticks([])

    def _plot_bars(self, places: list[Any], name: str, order: Any, weights: Any) -> None:
        """Named bases: one bar each."""
        panel = self._panel(places[0])
        hues = [HUES[0] if weight >= 0 else NEGATIVE for weight in weights]
        panel.barh(range(len(order)), weights, color=hues, height=0.6)
        panel.set_yticks(range(len(order)), [self.names[at] for at in order])
        panel.invert_yaxis()
        panel.axvline(0, color=SOFT, linewidth=0.8)
        panel.spines["left"].set_visible(False)
        panel.tick_params(axis="y", length=0)
        panel.set_title(name, fontsize="small", color=INK, loc="left", pad=3)

    def _scale_bars(self) -> None:
        weights = np.concatenate([weights for _, _, weights in self.groups])
        largest = 1.05 * (np.abs(weights).max() or 1.0)
        for panel in self.axes_:
            panel.set_xlim(-largest if weights.min() < 0 else 0, largest)
        signed = "weight, for or against the class" if self.target == "classes" else "weight"
        self.axes_[-1].set_xlabel(signed if self.signed else f"weight (norm over the {self.target})")

    def _text_of(self, weight: float) -> str:
        return f"{weight:+.2g}" if self.signed else f"{weight:.2g}"


def _weights_of_bases(estimator: Any) -> npt.NDArray[np.float64]:
    """Weights of shape (problems, parts, bases)."""
    weights = np.atleast_2d(np.asarray(estimator._arrays()["weights"], dtype=np.float64))
    specs = specs_of(estimator)
    normalization = getattr(estimator, "normalization_", estimator.normalization)
    if normalization not in ("mean_norm", "z_score", "none"):
        raise ValueError(
            f"normalization={normalization!r} mixes the bases, so that they have no separate weights: use "
            "'mean_norm', 'z_score' or 'none'"
        )
    resolved = estimator._resolved
    n_basis = weights.shape[1] if resolved.is_precomputed else count(estimator.basis_)
    found = np.zeros((len(weights), len(specs), n_basis))
    first = 0
    for part, spec in enumerate(specs):
        # Callables, which have no specs, come last and use all bases.
        columns = columns_of(spec, n_basis) if part < len(resolved.specs) else np.arange(n_basis)
        found[:, part, columns] = weights[:, first : first + len(columns)]
        first += len(columns)
    return found


def _rows(
    weights: npt.NDArray[np.float64], problems: list[str], per_class: bool
) -> list[tuple[str, npt.NDArray[np.float64]]]:
    """The rows of the figure, with the weight of each basis."""
    if not per_class:
        return [("", np.linalg.norm(weights, axis=(0, 1)))]
    # Of several parts the one with the largest weight.
    most = np.abs(weights).argmax(axis=1, keepdims=True)
    signed = np.take_along_axis(weights, most, axis=1)[:, 0]
    if len(problems) == 2 and len(signed) == 1:
        signed = np.concatenate([-signed, signed])
    return list(zip(problems, signed, strict=True))


def _problems(estimator: Any, n: int) -> tuple[list[str], Literal["classes", "outputs"]]:
    """What is predicted: the names of the classes or labels, or of the outputs of other models."""
    if hasattr(estimator, "classes_"):
        kind, names = ("label", estimator.label_names_) if estimator._is_multilabel else ("class", estimator.classes_)
        return [f"{kind} {name}" for name in names.tolist()], "classes"
    return ([""] if n == 1 else [f"output {at}" for at in range(n)]), "outputs"


def _how_to_show(estimator: Any, n: int, image_shape: tuple[int, ...] | None) -> tuple[Any, _Kind, list[str]]:
    """The bases, how they are shown, and their names."""
    resolved = estimator._resolved
    rows = np.asarray(estimator.basis_indices_).tolist()
    numbers = [f"#{row}" for row in (rows if len(rows) == n else range(n))]
    if resolved.is_precomputed:
        return numbers, "named", numbers
    bases = estimator.basis_
    if count(bases, "basis_") != n:
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
    if "series" in resolved.takes:
        return (channels_first(items(bases)) if resolved.layout == "channels_first" else bases), "series", numbers
    if isinstance(bases, np.ndarray) and bases.ndim == 4 and bases.dtype != np.uint8:
        return np.linalg.norm(bases, axis=3), "images", numbers  # a grid is shown by the norms of its cells
    if getattr(first, "dtype", None) == np.uint8 and first.ndim in (2, 3):
        return bases, "images", numbers
    is_numeric = getattr(getattr(bases, "dtype", None), "kind", "O") != "O"
    if (is_numeric and bases.ndim == 2) or hasattr(bases, "toarray"):
        return bases, "vectors", numbers
    texts = [one if isinstance(one, str) else reprlib.repr(one) for one in items(bases)]
    return texts, "named", [text if len(text) <= 40 else text[:39] + "…" for text in texts]
