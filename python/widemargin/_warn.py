"""Warnings that point at the caller's code."""

from __future__ import annotations

import sys
import warnings


class KindWarning(UserWarning):
    """The samples may be of another kind than they were read as; the parameter ``kind`` of an estimator decides.

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

    How many of their frames are between depends on the estimator, on scikit-learn's version and on what calls ``fit``,
    so that a fixed ``stacklevel`` would point into one of their files.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
