"""Samples on a cluster of Dask."""

import dask.array as da


def cut(X, y, sizes):
    """Samples and their targets in partitions."""
    columns = () if y.ndim == 1 else (y.shape[1],)
    return da.from_array(X, chunks=(sizes, X.shape[1])), da.from_array(y, chunks=(sizes, *columns))
