"""Common parts of all displays: colors, axes, and required packages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

INK, SOFT, NEGATIVE = "#333333", "#888888", "#c0392b"
HUES = ("#1f5fa8", "#d9822b", "#2e8b57", "#7b4fa3", "#8c6d46", "#3aa0a8")


def short(spec: str) -> str:
    """A spec with its learned numbers rounded to three digits, and without long lists of them."""
    spec = re.sub(r"=[\d.]+(;[\d.]+){3,}", "=…", spec)
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda number: f"{float(number[0]):.3g}", spec)


def wrapped(text: str, width: float) -> str:
    """A title wrapped at spaces, or at the commas and slashes of long specs.

    Parameters
    ----------
    text : str
    width : float
        The available width in inches.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size="medium")

    def fits(line: str) -> bool:
        return (
            bool(TextPath((0, 0), line.rstrip(), prop=font).get_extents().width <= 72 * width) if line.strip() else True
        )

    lines = []
    for line in text.split("\n"):
        lines.append("")
        for word in re.findall(r"\S+\s*", line):
            for piece in [word] if fits(word) else re.findall(r"[^,/]+[,/]?", word):
                if not fits(lines[-1] + piece):
                    lines.append("")
                lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines if line.strip())


def cycle(hues: Sequence[str]) -> list[str]:
    return list(hues) * 20


def axes_for(display: object, ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """The axes, or new ones if `ax` is None, with thin lines."""
    check_matplotlib(type(display), "plot")
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set(linewidth=0.8, color=SOFT)
    ax.tick_params(colors=INK, width=0.8)
    return ax, ax.figure


def check_matplotlib(cls: type, method: str) -> None:
    """Raises ImportError if matplotlib is not installed, naming the method that needs it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        message = f"{cls.__name__}.{method} requires matplotlib"
        raise ImportError(f"{message}: pip install 'widemargin[plot]'") from error


def check_has(estimator: Any, what: str, *attributes: str) -> None:
    from sklearn.utils.validation import check_is_fitted

    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"estimator is {estimator!r}: it must be {what}")
    check_is_fitted(estimator)
    if not all(hasattr(estimator, attribute) for attribute in attributes):
        raise TypeError(f"estimator is a {type(estimator).__name__}: it must be {what}")
