"""Warnings that point at the caller's code."""

from __future__ import annotations

import sys
import warnings


class KindWarning(UserWarning):
    """Samples may have been read as the wrong kind; the parameter ``kind`` of an estimator sets it.

    Examples
    --------
    >>> import warnings
    >>> from widemargin import KindWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", KindWarning)
    """


_PACKAGES = ("widemargin", "sklearn", "joblib")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Issues a warning at the innermost line outside of this package and scikit-learn.

    The number of frames in between depends on the estimator, the version of scikit-learn and the caller of ``fit``, so
    that a fixed ``stacklevel`` would point into one of their files.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
