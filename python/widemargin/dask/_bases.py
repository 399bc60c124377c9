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
from ._estimator import Given, grouped
from ._rows import Rows

# Where their number is not given.
DEFAULT_BASES = 1000

# Samples that are brought here to select a kernel on.
FEW_TO_CHOOSE = 1000


def check_bases(estimator: Any) -> None:
    """Raises ValueError for what a fit on bases on Dask cannot do."""
    name = type(estimator).__name__
    if estimator.n_basis is None:
        raise ValueError(
            f"The 'n_basis' parameter of {name} must be a number of bases on Dask: the exact solver holds the "
            "kernel of all pairs of samples on one machine"
        )
    if estimator.standardize is True:
        raise ValueError(
            f"The 'standardize' parameter of {name} must be 'auto' or False on Dask: divide the columns by their "
            "standard deviations first (dask.dataframe.DataFrame.std)"
        )


def bases_of(estimator: Any, given: Given, basis: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Bases and the rows that they are, none where they are means."""
    asked, seed = estimator.n_basis, estimator._seed()
    n_basis = min(DEFAULT_BASES, given.n) if isinstance(asked, str) else int(asked)
    rows = given.weighted.basis_candidates(basis, n_basis, seed)
    sample = check_array(given.picked_samples(rows), accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    weights = given.weighted.weights[rows]
    bases, chosen = _core.choose_thin_plate_bases(
        from_vectors(sample), weights, basis, n_basis, seed, estimator._threads()
    )
    return bases, rows[chosen]


class Features:
    """Features on bases, made of the samples by a method of their parts and what is known of each part."""

    def __init__(self, given: Given, method: str, known: list[tuple[Any, ...]]) -> None:
        self._client, self._method, self._known = given.client, method, known
        self._samples = given.samples()
        self._plan: Future | None = None
        # The samples, and what was made of them last.
        self.looked_at = self.rows = Rows(given.client, grouped(given.client, self._samples))

    def __call__(self, plan: _core.BasisPlan, lift: _core._Lift) -> Rows:
        submit = self._client.submit
        self._plan = self._plan or submit(_tasks.same, plan, pure=False)
        given_lift = submit(_tasks.same, lift, pure=False)
        parts = [
            submit(_tasks.made, part, self._method, *facts, self._plan, given_lift, pure=False)
            for part, facts in zip(self._samples, self._known, strict=True)
        ]
        self.rows = Rows(self._client, grouped(self._client, parts))
        if lift[-1] is not None:
            # These are the last features: what nobody holds is dropped by the workers.
            self._samples.clear()
            self.looked_at.forget()
        return self.rows


def chosen_kernel(estimator: Any, given: Given) -> str:
    """The kernel that an ordinary fit on some of the samples selects."""

    def is_finite(samples: Any) -> bool:
        # Where they are not, the pass that makes the features says which partition it is.
        return bool(np.isfinite(samples.data if issparse(samples) else np.asarray(samples, float)).all())

    some = estimator._fit_on_some(given, FEW_TO_CHOOSE, is_finite, n_basis=None, standardize=False)
    return "distance" if some is None else str(some.similarity_)
