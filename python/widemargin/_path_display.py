"""Display of what a fit tried: similarities, kernels or methods, and the path of C."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor

from ._looks import HUES, INK, SOFT, axes_for, check_has, check_matplotlib, short
from ._unwrapped import unwrapped

#: Candidates that are drawn.
_DRAWN = 20

#: Characters on a line of a candidate's name, or of the problem with one; there are at most two.
_LENGTH = 44


def _none() -> npt.NDArray[np.float64]:
    return np.empty(0)


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a fit found of one candidate.

    Attributes
    ----------
    name : str
    loss : float
        The mean leave-one-out squared hinge, of regression 1 − R² of left-out predictions, by which candidates are
        compared; NaN if there is none.
    standard_error : float
        That of the loss; NaN where it was not estimated.
    error : float
        The estimated error of prediction.
    problem : str or None
        Why there is no loss.
    chosen : bool
        Whether the model is of this candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import ThinPlateSVC
    >>> from widemargin.inspection import PathDisplay
    >>> display = PathDisplay.from_estimator(ThinPlateSVC().fit(*load_iris(return_X_y=True)))
    >>> sorted(one.name for one in display.tried)
    ['cityblock', 'distance']
    """

    name: str
    loss: float
    standard_error: float = math.nan
    error: float = math.nan
    problem: str | None = None
    chosen: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """What a fit tried before it chose: the candidates with their losses, and the losses for every C.

    On the path of a thin plate SVM or a basis expansion the leave-one-out losses assume that leaving out a sample lets
    no other sample cross the margin, except at the C selected by the exact solver, where they come from refits
    (``path_["loo_exact"]``).

    Parameters
    ----------
    C : ndarray of shape (n_C,)
        Empty if C was given.
    loo_error : ndarray of shape (n_C,)
        Fraction of the training samples that are misclassified when left out.
    loo_squared_hinge : ndarray of shape (n_C,)
        The mean squared hinge loss of the left-out samples.
    score : ndarray of shape (n_C,)
        Of regression R² of left-out predictions, or D² of another loss than the squared one.
    residual : ndarray of shape (n_C, n_outputs)
        Of regression the root mean squared error of left-out predictions, or their mean loss.
    measures : tuple of str, default=("leave-one-out R²", "leave-one-out RMSE")
        What `score` and `residual` are.
    chosen_C : float
    tried : list of Tried
        The candidates; empty if there was nothing to choose but C.
    title : str or None, default=None
    to_first_order : bool, default=True
        Whether the leave-one-out errors of the path are estimates to first order.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Of the error on the path, or of the candidates if there is no path.
    ax_right_ : matplotlib Axes or None
        Of the squared hinge loss on the path.
    ax_tried_ : matplotlib Axes or None
        Of the candidates.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import ThinPlateSVC
    >>> from widemargin.inspection import PathDisplay
    >>> display = PathDisplay.from_estimator(ThinPlateSVC().fit(*load_iris(return_X_y=True)))
    """

    C: npt.NDArray[np.float64] = field(default_factory=_none)
    loo_error: npt.NDArray[np.float64] = field(default_factory=_none)
    loo_squared_hinge: npt.NDArray[np.float64] = field(default_factory=_none)
    score: npt.NDArray[np.float64] = field(default_factory=_none)
    residual: npt.NDArray[np.float64] = field(default_factory=_none)
    measures: tuple[str, str] = ("leave-one-out R²", "leave-one-out RMSE")
    chosen_C: float = math.nan
    tried: Sequence[Tried] = ()
    title: str | None = None
    to_first_order: bool = True

    @classmethod
    def from_estimator(cls, estimator: Any, *, label: Any = None, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws what a fit tried: ``tried_``, if several candidates were compared, and ``path_``.

        Parameters
        ----------
        estimator : classifier or regressor of widemargin, fitted
            Or a Pipeline that ends in one. Of `AutoSVC` the methods that were compared, and the path of the best.
        label : default=None
            The class whose path is drawn, where each has its own (``C="auto_per_class"``).
        ax : matplotlib Axes or None, default=None
            Replaced by the panels if there are both candidates and a path.
        **kwargs : passed to ``plot``

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            If nothing was left open to the fit.
        """
        check_matplotlib(cls, "from_estimator")
        estimator, _ = unwrapped(estimator)
        check_has(estimator, "a fitted classifier or regressor of widemargin", "estimated_score_")
        best = getattr(estimator, "best_estimator_", estimator)
        path, C, of = best.path_, best.C_, ""
        if isinstance(path, list):
            classes = estimator.classes_.tolist()
            if label not in classes:
                raise ValueError(f"label={label!r}: each class has its own path, give the label of one of {classes}")
            at = classes.index(label)
            path, C, of = path[at], C[at], f", class {label}"
        # A loaded model does not tell.
        rows = getattr(estimator, "tried_", [])
        tried = _tried(estimator) if len(rows) > 1 else []
        has_path = bool(path) and len(path["C"]) > 0
        if not has_path and not tried:
            raise ValueError("the path of the estimator is empty, and nothing else was tried: fit it with C='auto'")
        told = _curves(path) if has_path else {}
        display = cls(
            **told,
            chosen_C=float(C),
            tried=tried,
            title=f"Path of C: {_spelled(best)}{of}",
            to_first_order=has_path and "lambda" in path,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws the candidates in ascending order of their losses, and both losses against C.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Replaced by the panels if there are both candidates and a path.
        **kwargs : passed to matplotlib's ``plot`` for the lines of the path and the dots of the candidates

        Returns
        -------
        PathDisplay
        """
        rows = min(len(self.tried), _DRAWN)
        heights = [0.26 * rows + 0.9] * bool(rows) + [3.8] * bool(len(self.C))
        ax, self.figure_ = axes_for(self, ax, (7.0 if rows else 6.0, sum(heights)))
        panels = [ax]
        if len(heights) == 2:
            spec = ax.get_subplotspec()
            # A layout makes place for titles and labels.
            shape = {"height_ratios": heights, "hspace": 0.45 if self.figure_.get_layout_engine() is None else None}
            if spec is None:
                box = ax.get_position()
                edges = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
                grid = self.figure_.add_gridspec(2, 1, **shape, **edges)
            else:
                grid = spec.subgridspec(2, 1, **shape)
            ax.remove()
            panels = [axes_for(self, self.figure_.add_subplot(grid[row]), (0, 0))[0] for row in range(2)]
        self.ax_ = panels[-1]
        self.ax_right_: Any = None
        self.ax_tried_: Any = None
        if rows:
            self.ax_tried_ = panels[0]
            self._plot_tried(panels[0], kwargs)
        if len(self.C):
            self._plot_path(panels[-1], kwargs)
        return self

    def _plot_tried(self, ax: Any, kwargs: dict[str, Any]) -> None:
        ordered = sorted(self.tried, key=lambda one: math.inf if math.isnan(one.loss) else one.loss)
        shown = ordered[:_DRAWN]
        shown += [one for one in ordered[_DRAWN:] if one.chosen]
        beside = ("axes fraction", "data")
        for row, one in enumerate(shown):
            hue = HUES[1] if one.chosen else HUES[0]
            if math.isnan(one.loss):
                note = _cut(f"failed: {one.problem}" if one.problem else "no estimate")
                ax.annotate(note, (0.02, row), xycoords=beside, va="center", fontsize="x-small", color=SOFT)
                continue
            if not math.isnan(one.standard_error):
                ax.errorbar(one.loss, row, xerr=one.standard_error, color=hue, elinewidth=1.1, capsize=2)
            style = {"color": hue, "marker": "D" if one.chosen else "o", "markersize": 5, "linestyle": "none"} | kwargs
            ax.plot([one.loss], [row], **style)
            if not math.isnan(one.error):
                error = f"{100 * one.error:.1f} %"
                ax.annotate(error, (1.01, row), xycoords=beside, va="center", fontsize="small", color=INK)
        ax.set_yticks(range(len(shown)), [_cut(one.name) + (" (chosen)" if one.chosen else "") for one in shown])
        for text, one in zip(ax.get_yticklabels(), shown, strict=True):
            text.set(fontsize="small", color=HUES[1] if one.chosen else INK)
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.grid(axis="x", color=SOFT, alpha=0.25, linewidth=0.6)
        bars = any(not math.isnan(one.standard_error) for one in shown)
        loss = "1 − R² of left-out predictions" if len(self.score) else "leave-one-out loss"
        ax.set_xlabel(loss + (" ± standard error" if bars else ""))
        more = f" (the best {_DRAWN} of {len(self.tried)})" if len(self.tried) > _DRAWN else ""
        ax.set_title(f"Tried{more}", loc="left", fontsize="medium")
        if any(not math.isnan(one.error) for one in shown):
            ax.set_title("estimated error", loc="right", fontsize="small", color=INK)

    def _lines(self) -> tuple[tuple[str, npt.NDArray[np.float64]], tuple[str, npt.NDArray[np.float64]]]:
        """What is drawn on the left and on the right axis, with its name."""
        if len(self.score):
            return (self.measures[0], np.asarray(self.score)), (self.measures[1], np.asarray(self.residual))
        first_order = ", to first order" if self.to_first_order else ""
        error = f"leave-one-out error{first_order} (%)", 100 * np.asarray(self.loo_error)
        return error, ("leave-one-out squared hinge loss", np.asarray(self.loo_squared_hinge))

    def _plot_path(self, ax: Any, kwargs: dict[str, Any]) -> None:
        right = self.ax_right_ = ax.twinx()
        right.spines[["top", "left"]].set_visible(False)
        right.spines["right"].set(linewidth=0.8, color=SOFT)
        order = np.argsort(self.C)
        C = np.asarray(self.C)[order]
        (name, values), (right_name, right_values) = self._lines()
        lines = ((ax, name, values, HUES[0], "o"), (right, right_name, right_values, HUES[1], "s"))
        for axes, name, values, hue, marker in lines:
            style = {"color": hue, "marker": marker, "markersize": 3.5, "linewidth": 1.4} | kwargs
            axes.plot(C, values[order], **style)
            axes.tick_params(axis="y", colors=hue)
            axes.set_ylabel(name, color=hue)
            if np.isfinite(values).any():
                # R² and D² may be below 0.
                axes.set_ylim(min(0, 1.15 * np.nanmin(values)), 1.15 * max(np.nanmax(values), 1e-12))
        ax.set_xscale("log")
        ax.set_xlabel("C")
        ax.axvline(self.chosen_C, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        # On the side with more space.
        on_left = self.chosen_C > math.sqrt(C[0] * C[-1])
        ax.annotate(
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
            ax.set_title(self.title, loc="left", fontsize="medium")


def _tried(estimator: Any) -> list[Tried]:
    """The rows of ``tried_``, whatever the method."""
    chosen, names = _chosen(estimator), [_name(one) for one in estimator.tried_]
    rows = []
    for at, one in enumerate(estimator.tried_):
        # Of regression neither.
        error = one.get("error", one.get("loo_error"))
        loss = one["loo_squared_hinge"] if "loo_squared_hinge" in one else _unexplained(one["loo_r2"])
        rows.append(
            Tried(
                name=names[at] + (_numbers(one) if names.count(names[at]) > 1 else ""),
                loss=_number(loss),
                standard_error=_number(one.get("standard_error")),
                error=_number(error),
                problem=one["problem"],
                chosen=at == chosen,
            )
        )
    return rows


def _curves(path: dict[str, npt.NDArray[np.float64]]) -> dict[str, Any]:
    """The parameters of the display that are columns of a path."""
    if "loo_squared_hinge" in path:
        return {name: np.asarray(path[name]) for name in ("C", "loo_error", "loo_squared_hinge")}
    by = "fold" if "fold_d2" in path else "loo"
    score, residual = ("loo_r2", "loo_rmse") if "loo_r2" in path else (f"{by}_d2", f"{by}_loss")
    spelled = {"loo": "leave-one-out", "fold": "five-fold", "r2": "R²", "d2": "D²", "rmse": "RMSE", "loss": "loss"}
    measures = tuple(" ".join(spelled[word] for word in name.split("_")) for name in (score, residual))
    values = [np.asarray(path[name], dtype=np.float64) for name in ("C", score, residual)]
    return dict(zip(("C", "score", "residual"), values, strict=True)) | {"measures": measures}


def _unexplained(r2: float | None) -> float | None:
    return None if r2 is None else 1.0 - r2


def _chosen(estimator: Any) -> int | None:
    """Which of the rows became the model."""
    rows: list[dict[str, Any]] = estimator.tried_
    if hasattr(estimator, "best_estimator_"):
        wanted = [one["method"].replace("-", "_") == estimator.method_ for one in rows]
    elif is_regressor(estimator):
        # The least error on the most samples: candidates that are far behind on some are not tried on more.
        most = max(one["n_samples"] for one in rows)
        scores = [-math.inf if one["loo_r2"] is None or one["n_samples"] < most else one["loo_r2"] for one in rows]
        wanted = [score == max(scores) for score in scores]
    elif hasattr(estimator, "similarities_"):
        found = (list(estimator.similarities_), estimator.normalization_.replace("_", "-"))
        of_spec = [(list(one["similarity"]), one["normalization"]) == found for one in rows]
        # Numbers of bases are compared at the end, on samples of their own.
        wanted = [spec and one["n_basis"] == estimator.n_basis_ for spec, one in zip(of_spec, rows, strict=True)]
        wanted = wanted if any(wanted) else of_spec
    else:
        of_kernel = [one["kernel"] == estimator.kernel_ for one in rows]
        # Without the number of nodes: that of the exact kernel.
        wanted = [
            is_it and one.get("n_nodes") == getattr(estimator, "n_nodes_", None)
            for is_it, one in zip(of_kernel, rows, strict=True)
        ]
        wanted = wanted if any(wanted) else of_kernel
    return next((at for at, is_it in enumerate(wanted) if is_it), None)


def _kernel_name(kernel: str | float) -> str:
    """A kernel, of which a number is the exponent of a power mean."""
    return short(kernel) if isinstance(kernel, str) else f"power mean {kernel:g}"


def _name(one: dict[str, Any]) -> str:
    if "method" in one:
        return f"{one['method']}: {short(one['chosen'])}" if one["chosen"] else str(one["method"])
    if "similarity" in one:
        return f"{' + '.join(map(short, one['similarity']))}, {one['normalization']}"
    if "n_nodes" in one:
        nodes = "exact" if one["n_nodes"] is None else f"{one['n_nodes']} nodes"
        return f"{_kernel_name(one['kernel'])}, {nodes}"
    scaled = ", standardized columns" if one.get("standardized") else ""
    return short(one["kernel"]) + scaled


def _numbers(one: dict[str, Any]) -> str:
    """What tells apart two trials of one candidate."""
    numbers = (("n_basis", "bases"), ("n_samples", "samples"))
    return "".join(f", {one[name]} {what}" for name, what in numbers if name in one)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _cut(text: str) -> str:
    """A long text on two lines, without the rest."""
    first, *rest = textwrap.wrap(text, _LENGTH) or [text]
    if len(rest) > 1:
        rest = [f"{rest[0][: _LENGTH - 1]}…"]
    return "\n".join([first, *rest])


def _spelled(estimator: Any) -> str:
    """The kernel or the similarities."""
    if hasattr(estimator, "similarities_"):
        return short(" ".join(estimator.similarities_))
    nodes = f", {estimator.n_nodes_} nodes" if hasattr(estimator, "n_nodes_") else ""
    return _kernel_name(estimator.kernel_) + nodes
