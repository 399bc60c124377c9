"""Training on several machines: the estimators on Dask arrays, frames and bags.

The estimators are those of `widemargin` for samples on a cluster: partitions become blocks of features, which stay on
their workers, and each step of the solver is a tree of sums over these blocks. The result is the ordinary estimator:
`widemargin.save` writes it, and it also predicts without Dask.
"""

from __future__ import annotations

try:
    import distributed  # noqa: F401  imported first, for the message below if it is missing
except ImportError as error:
    raise ImportError("widemargin.dask needs Dask: pip install 'widemargin[dask]'") from error

from .estimators import (
    BasisExpansionOneClass,
    BasisExpansionRegressor,
    BasisExpansionSVC,
    PowerMeanSVC,
    ThinPlateRegressor,
    ThinPlateSVC,
)

__all__ = [
    "BasisExpansionOneClass",
    "BasisExpansionRegressor",
    "BasisExpansionSVC",
    "PowerMeanSVC",
    "ThinPlateRegressor",
    "ThinPlateSVC",
]
