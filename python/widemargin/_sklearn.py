"""What this package uses of scikit-learn's private or recent interface, for all supported versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "check_matplotlib_support",
    "check_sample_weight",
    "with_callbacks",
]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9
    CallbackSupportMixin = object

    _Fit = TypeVar("_Fit", bound=Callable[..., Any])

    def with_callbacks(method: _Fit) -> _Fit:
        return method
