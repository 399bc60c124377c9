"""Large-margin classifiers for any similarity, at linear cost, with scikit-learn's API.

- `AutoSVC`: automatic selection of the method and its parameters, for samples of any kind;
- `BasisExpansionSVC`: classification with any similarity, definite or indefinite, to a set of bases;
- `BasisExpansionRegressor`: regression with any similarity to a set of bases;
- `PowerMeanSVC`: classification of histograms with additive kernels;
- `ThinPlateSVC`: nonlinear classification without a parameter to tune;
- `ThinPlateRegressor`: the smoothing spline;
- `BasisExpansionOneClass`: outlier detection.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import graphs as graphs
    from . import inspection as inspection
    from . import similarity as similarity
    from . import testing as testing
    from ._files import files as files
    from ._model_files import load as load
    from ._model_files import save as save
    from ._onnx import to_onnx as to_onnx
    from ._parameters import KindWarning as KindWarning
    from .auto import AutoRegressor as AutoRegressor
    from .auto import AutoSVC as AutoSVC
    from .basis_expansion import BasisExpansion as BasisExpansion
    from .basis_expansion import BasisExpansionRegressor as BasisExpansionRegressor
    from .basis_expansion import BasisExpansionSVC as BasisExpansionSVC
    from .one_class import BasisExpansionOneClass as BasisExpansionOneClass
    from .power_mean import PowerMeanSVC as PowerMeanSVC
    from .thin_plate import ThinPlateRegressor as ThinPlateRegressor
    from .thin_plate import ThinPlateSVC as ThinPlateSVC

__version__: str

# The public names of each module; it is imported on first access, so that `import widemargin` is fast.
_NAMES = {
    "_files": ["files"],
    "_model_files": ["load", "save"],
    "_onnx": ["to_onnx"],
    "_parameters": ["KindWarning"],
    "auto": ["AutoRegressor", "AutoSVC"],
    "basis_expansion": ["BasisExpansion", "BasisExpansionRegressor", "BasisExpansionSVC"],
    "one_class": ["BasisExpansionOneClass"],
    "power_mean": ["PowerMeanSVC"],
    "thin_plate": ["ThinPlateRegressor", "ThinPlateSVC"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
_SUBMODULES = ("graphs", "inspection", "similarity", "testing")

__all__ = sorted([*_MODULES, *_SUBMODULES])


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
