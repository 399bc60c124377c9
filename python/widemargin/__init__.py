"""Large-margin classifiers for any similarity, at linear cost, with scikit-learn's API.

- `AutoSVC`: any samples, with automatic choice of method and parameters;
- `BasisExpansionSVC`: any similarity, definite or not, on a set of bases;
- `BasisExpansionRegressor`: regression on the same bases;
- `PowerMeanSVC`: additive kernels on histograms;
- `ThinPlateSVC`: kernels without a parameter to tune;
- `ThinPlateRegressor`: the smoothing spline;
- `BasisExpansionOneClass`: outlier detection.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import graphs, inspection, similarity, testing
    from ._files import files
    from ._model_files import load, save
    from ._onnx import to_onnx
    from ._parameters import KindWarning
    from .auto import AutoRegressor, AutoSVC
    from .basis_expansion import BasisExpansion, BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSVC
    from .power_mean import PowerMeanSVC
    from .thin_plate import ThinPlateRegressor, ThinPlateSVC

__version__: str

# The module of each public name; it is imported on first access, so that `import widemargin` is fast.
_MODULES = {
    "AutoRegressor": "auto",
    "AutoSVC": "auto",
    "BasisExpansionSVC": "basis_expansion",
    "BasisExpansionRegressor": "basis_expansion",
    "PowerMeanSVC": "power_mean",
    "ThinPlateRegressor": "thin_plate",
    "ThinPlateSVC": "thin_plate",
    "KindWarning": "_parameters",
    "BasisExpansion": "basis_expansion",
    "BasisExpansionOneClass": "basis_expansion",
    "files": "_files",
    "load": "_model_files",
    "save": "_model_files",
    "to_onnx": "_onnx",
}
_SUBMODULES = ("graphs", "inspection", "similarity", "testing")

__all__ = [
    "AutoRegressor",
    "AutoSVC",
    "BasisExpansion",
    "BasisExpansionOneClass",
    "BasisExpansionRegressor",
    "BasisExpansionSVC",
    "KindWarning",
    "PowerMeanSVC",
    "ThinPlateRegressor",
    "ThinPlateSVC",
    "files",
    "graphs",
    "inspection",
    "load",
    "save",
    "similarity",
    "testing",
    "to_onnx",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        found = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    elif name in _SUBMODULES:
        found = importlib.import_module(f".{name}", __name__)
    elif name == "__version__":
        found = importlib.import_module("._core", __name__).version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
