"""Training on several machines: estimators for Dask arrays, data frames and bags.

These are the estimators of `widemargin` for samples on a cluster. Partitions become blocks of features, which stay on
their workers, and each step of the solver is a tree of sums over these blocks. The fitted estimator can be saved with
`widemargin.save`, and it can also predict without Dask.
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
