"""The thin plate methods on collections of Dask: bases, and features on these."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Future
from scipy.sparse import issparse
from sklearn.utils import check_array

from .. import _core
from .._samples import from_vectors
from . import _tasks
from ._estimator import FitData, grouped
from ._rows import Rows

# The default number of bases.
DEFAULT_BASES = 1000

# The number of samples on the client for the selection of a kernel.
SELECTION_SAMPLES = 1000


def check_bases(estimator: Any) -> None:
    """Raises ValueError for parameters that are not supported on Dask."""
    name = type(estimator).__name__
    if estimator.n_basis is None:
        raise ValueError(
            f"The 'n_basis' parameter of {name} must be a number of bases on Dask: the exact solver needs the "
            "kernel of all pairs of samples on one machine"
        )
    if estimator.standardize is True:
        raise ValueError(
            f"The 'standardize' parameter of {name} must be 'auto' or False on Dask: divide the columns by their "
            "standard deviations first (dask.dataframe.DataFrame.std)"
        )


def bases_of(estimator: Any, data: FitData, basis: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Bases and their rows, which are empty if bases are means."""
    requested, seed = estimator.n_basis, estimator._seed()
    n_basis = min(DEFAULT_BASES, data.n) if isinstance(requested, str) else int(requested)
    rows = data.weighted.basis_candidates(basis, n_basis, seed)
    sample = check_array(data.picked_samples(rows), accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    weights = data.weighted.weights[rows]
    bases, selected = _core.choose_thin_plate_bases(
        from_vectors(sample), weights, basis, n_basis, seed, estimator._threads()
    )
    return bases, rows[selected]


class Features:
    """Features on bases, computed by a method of the parts of samples with the arguments of each part."""

    def __init__(self, data: FitData, method: str, arguments: list[tuple[Any, ...]]) -> None:
        self._client, self._method, self._arguments = data.client, method, arguments
        self._samples = data.samples()
        self._plan: Future | None = None
        # The samples, and their latest features.
        self.samples = self.rows = Rows(data.client, grouped(data.client, self._samples))

    def __call__(self, plan: _core.BasisPlan, lift: _core._Lift) -> Rows:
        submit = self._client.submit
        self._plan = self._plan or submit(_tasks.same, plan, pure=False)
        shared_lift = submit(_tasks.same, lift, pure=False)
        parts = [
            submit(_tasks.called, part, self._method, *own, self._plan, shared_lift, pure=False)
            for part, own in zip(self._samples, self._arguments, strict=True)
        ]
        self.rows = Rows(self._client, grouped(self._client, parts))
        if lift[-1] is not None:
            # These are the last features: workers drop results without references.
            self._samples.clear()
            self.samples.forget()
        return self.rows


def selected_kernel(estimator: Any, data: FitData) -> str:
    """The kernel that an ordinary fit on some of the samples selects."""

    def is_finite(samples: Any) -> bool:
        # Otherwise the computation of the features raises an error that names the partition.
        return bool(np.isfinite(samples.data if issparse(samples) else np.asarray(samples, float)).all())

    some = estimator._fit_on_some(data, SELECTION_SAMPLES, is_finite, n_basis=None, standardize=False)
    return "distance" if some is None else str(some.similarity_)
