"""Training on several machines: the estimators on Dask arrays, frames and bags.

The estimators here are those of `widemargin` but for where their samples are: partitions become blocks of features
that stay on the workers that made them, and each step of the solver is a tree of sums over these blocks. What comes of
it is the ordinary estimator: `widemargin.save` writes it, and it predicts without Dask too.
"""

from __future__ import annotations

try:
    import distributed  # noqa: F401  asked for here, so that the message below is what is seen without it
except ImportError as error:
    raise ImportError("widemargin.dask needs Dask: pip install 'widemargin[dask]'") from error

from .basis_expansion import BasisExpansionSVC
from .one_class import BasisExpansionOneClass
from .power_mean import PowerMeanSVC
from .regression import BasisExpansionRegressor, ThinPlateRegressor
from .thin_plate import ThinPlateSVC

__all__ = [
    "BasisExpansionOneClass",
    "BasisExpansionRegressor",
    "BasisExpansionSVC",
    "PowerMeanSVC",
    "ThinPlateRegressor",
    "ThinPlateSVC",
]
