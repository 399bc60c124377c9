"""Estimators that compare samples with bases."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from . import _core
from ._base import FittedModel
from ._bases import BASES, basis_of
from ._collect import Collected, NoEstimator, collect
from ._columns import by_name
from ._label_matrix import codes_of, has_several
from ._nested import NestedSpecMixin
from ._samples import from_vectors
from ._stored_bases import WithBases
from .similarity import Resolved, pairwise
from .transformers import BasisExpansion

# The number of bases where nothing tells of more; the same as in the library.
USUAL_BASES = 1000


class Compares(NestedSpecMixin, FittedModel, WithBases):
    """Samples of any kind, or their similarities, as the extension module takes them."""

    _read = _core.Model.from_bytes
    # How scikit-learn checks the targets.
    _target_checks: ClassVar[dict[str, Any]] = {}
    n_basis: Any
    basis: Any
    # Of similarities that are given, the columns that were taken.
    _columns: npt.NDArray[np.int64] | None

    def _strata(self, y: Any) -> npt.NDArray[np.uint32]:
        """The class of each sample, of which each is represented among the bases."""
        return codes_of(y)

    def _n_basis(self) -> int:
        return USUAL_BASES if isinstance(self.n_basis, str) else int(self.n_basis)

    def _kept_names(self) -> list[str] | None:
        names = super()._kept_names()
        return names if names is None or self._columns is None else [names[column] for column in self._columns]

    def _precomputed(self, X: Any, y: Any, sample_weight: Any, n_polynomials: int) -> tuple[Collected, Any]:
        """Similarities to all bases; if X has the similarities of the samples to each other, selects the bases.

        Columns of polynomials follow those of the bases.
        """
        how: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float32, np.float64], "order": "C"}
        if is_classifier(self) and has_several(y):
            X = validate_data(self, X, **how)
        else:
            X, y = validate_data(self, X, y, **self._target_checks, **how)
        n = X.shape[0]
        if n == X.shape[1] - n_polynomials:
            codes = self._strata(y)
            weights = self._weights(sample_weight, n)
            present = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
            basis, given = basis_of(self.basis, self)
            rows = (
                self._medoids(X, codes, present)
                if basis == "kmedoids"
                else self._drawn(codes, present, basis, given, self._n_basis())
            )
            self._base_rows = rows
            self._columns = np.concatenate([rows, np.arange(n, n + n_polynomials)])
            X = X[:, self._columns]
        return Collected((from_vectors(X), None), n), y

    def _medoids(self, X: Any, codes: npt.NDArray[np.uint32], present: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Medoids of each class among the rows present, by the similarities between them."""
        values = pairwise(self.similarity, X)

        def between(samples: Any, bases: Any) -> npt.NDArray[np.float32]:
            block: npt.NDArray[np.float32] = values[np.ix_(samples, bases)]
            return block

        n_basis = min(self._n_basis(), len(present))
        chosen = BasisExpansion(
            between, n_basis=n_basis, basis="kmedoids", normalization="none", random_state=self._seed()
        ).fit(present.tolist(), codes[present])
        return present[chosen.basis_indices_]

    def _drawn(
        self,
        codes: npt.NDArray[np.uint32],
        present: npt.NDArray[np.int64],
        basis: str,
        given: npt.NDArray[np.int64] | None,
        n_basis: int,
    ) -> npt.NDArray[np.int64]:
        """The rows that become bases: those given, or else so many selected from those present."""
        if given is None:
            n_basis = min(n_basis, max(len(present), 1))
            return present[_core.choose_bases(codes[present], n_basis, basis, self._seed())].astype(np.int64)
        if given.min() < 0 or given.max() >= len(codes):
            raise ValueError(f"The 'basis' parameter names rows that X does not have: it has {len(codes)}")
        return given

    def _restore_bases(self, told: dict[str, Any]) -> None:
        """What a model file's header says of the bases: how they are selected, and the shape of samples like them."""
        shape = told["bases"]
        self.set_params(n_basis=shape.get("n", self.n_basis))
        if told["basis"] in BASES:
            self.set_params(basis=told["basis"])
        if shape.get("kind") == "series":
            self._n_channels = shape["channels"]
        if "n_features" in shape:
            self.n_features_in_ = shape["n_features"]

    def _collected(self, X: Any) -> _core._Collected:
        resolved: Resolved = self._resolved
        rows = self._precomputed_rows(X) if resolved.is_precomputed else None
        return (rows or collect(self, X, resolved, reset=False)).given

    def _precomputed_rows(self, X: Any) -> Collected:
        columns = getattr(self, "_columns", None)
        wide = getattr(X, "shape", (0, 0))
        names = getattr(self, "feature_names_in_", None)
        if columns is not None and len(wide) == 2 and wide[1] == len(columns) != self.n_features_in_:
            X = by_name(X, None if names is None else names[columns])
            # The similarities to the bases alone suffice.
            X = validate_data(NoEstimator(), X, accept_sparse="csr", dtype=[np.float32, np.float64], order="C")
        else:
            X = by_name(X, names)
            X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float32, np.float64], order="C")
            X = X if columns is None else X[:, columns]
        return Collected((from_vectors(X), None), X.shape[0])
