"""Precomputed similarities: selecting bases among the columns of a square matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import validate_data

from . import _core
from ._bases import basis_of
from ._calls import Checked
from ._collect import Collected, NoEstimator, tell_kind
from ._columns import by_name
from ._label_matrix import codes_of, is_multilabel
from ._samples import from_vectors, pick
from ._warn import warn
from .similarity import pairwise

# The default number of bases, as in the library.
DEFAULT_BASES = 1000


class TakesPrecomputed(BaseEstimator):
    """For estimators whose samples may be rows of similarities to bases."""

    # How scikit-learn checks the targets.
    _target_checks: ClassVar[dict[str, Any]] = {}
    similarity: Any
    n_basis: Any
    basis: Any
    # The selected columns of a square matrix; None if all are used.
    _columns: npt.NDArray[np.int64] | None
    _base_rows: npt.NDArray[np.int64]

    def _strata(self, y: Any) -> npt.NDArray[np.uint32]:
        """The class of each sample: all classes are represented among the bases."""
        return codes_of(y)

    def _n_basis_of(self, n_samples: int) -> int:
        """The number of bases for `n_samples` samples of weight above 0."""
        return min(DEFAULT_BASES if isinstance(self.n_basis, str) else int(self.n_basis), max(n_samples, 1))

    def _precomputed(self, X: Any, y: Any, sample_weight: Any, n_polynomials: int) -> tuple[Collected, Any]:
        """Similarities to the bases, which are selected if X has the similarities of the samples to each other.

        Columns of polynomials follow those of the bases.

        Warns
        -----
        UserWarning
            If X is not square and `n_basis` is not the number of its bases: it may be a table of features.
        """
        how: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float32, np.float64], "order": "C"}
        if y is None or (is_classifier(self) and is_multilabel(y)):
            X = validate_data(self, X, **how)
        else:
            X, y = validate_data(self, X, y, **self._target_checks, **how)
        n = X.shape[0]
        tell_kind(self, "precomputed", n)
        if n == X.shape[1] - n_polynomials:
            rows = self._rows_of_bases(X, y, sample_weight)
            self._base_rows = rows
            self._columns = np.concatenate([rows, np.arange(n, n + n_polynomials)])
            X = X[:, self._columns]
        else:
            self._check_bases(n, X.shape[1] - n_polynomials)
        return Collected((from_vectors(X), None), n), y

    def _rows_of_bases(self, X: Any, y: Any, sample_weight: Any) -> npt.NDArray[np.int64]:
        """The rows of a square matrix that become bases."""
        n = X.shape[0]
        codes = np.zeros(n, dtype=np.uint32) if y is None else self._strata(y)
        present = np.arange(n)
        if sample_weight is not None:
            present = np.flatnonzero(self._weights(sample_weight, n) > 0)
        basis, rows = basis_of(self.basis, self)
        n_basis = self._n_basis_of(len(present))
        if basis == "kmedoids":
            return self._medoids(X, codes, present, n_basis)
        return self._selected(codes, present, basis, rows, n_basis)

    def _check_bases(self, n_samples: int, n_bases: int) -> None:
        """Checks the number of bases of a matrix that is not square."""
        requested = None if isinstance(self.n_basis, str) else int(self.n_basis)
        if requested == n_bases:
            return
        shape = f"X has {n_samples} rows and {n_bases} columns of similarities"
        if requested is not None and requested < n_bases:
            raise ValueError(
                f"{shape}, but n_basis={requested}: bases are selected from a square matrix only; pass the columns of "
                f"{requested} bases, or n_basis={n_bases}"
            )
        warn(
            f"{shape}: with similarity='precomputed' they are read as similarities to {n_bases} bases, not as a table "
            f"of features. If they are similarities, pass n_basis={n_bases}"
        )

    def _medoids(
        self, X: Any, codes: npt.NDArray[np.uint32], present: npt.NDArray[np.int64], n_basis: int
    ) -> npt.NDArray[np.int64]:
        """Medoids of each class among the rows of weight above 0, by the similarities between them."""
        values = pairwise(self.similarity, X)

        def between(samples: Any, bases: Any) -> npt.NDArray[np.float32]:
            block: npt.NDArray[np.float32] = values[np.ix_(samples, bases)]
            return block

        codes = codes[present]
        _, _, rows = _core.fit_expansion(
            (None, (present.tolist(), len(present), pick)),
            np.unique(codes, return_inverse=True)[1].astype(np.uint32).reshape(-1),
            len(np.unique(codes)),
            similarity=([], [(Checked(between, "precomputed"), "precomputed")]),
            n_basis=n_basis,
            basis="kmedoids",
            basis_rows=None,
            normalization="none",
            cut="millionth",
            seed=self._seed(),
            threads=1,
            monitor=None,
        )
        return present[np.array(rows, dtype=np.int64)]

    def _selected(
        self,
        codes: npt.NDArray[np.uint32],
        present: npt.NDArray[np.int64],
        basis: str,
        rows: npt.NDArray[np.int64] | None,
        n_basis: int,
    ) -> npt.NDArray[np.int64]:
        """The rows that become bases: `rows`, or `n_basis` rows selected from those present."""
        if rows is None:
            n_basis = min(n_basis, max(len(present), 1))
            selected = _core.choose_bases(codes[present], n_basis, basis, self._seed())
            return present[selected].astype(np.int64)
        if rows.min() < 0 or rows.max() >= len(codes):
            raise ValueError(f"The 'basis' parameter has rows that X does not have: it has {len(codes)}")
        return rows

    def _precomputed_rows(self, X: Any) -> Collected:
        """Similarities of new samples to the bases."""
        columns = getattr(self, "_columns", None)
        wide = getattr(X, "shape", (0, 0))
        names = getattr(self, "feature_names_in_", None)
        if columns is not None and len(wide) == 2 and wide[1] == len(columns) != self.n_features_in_:
            X = by_name(X, None if names is None else names[columns])
            # The similarities to the bases are enough.
            X = validate_data(NoEstimator(), X, accept_sparse="csr", dtype=[np.float32, np.float64], order="C")
        else:
            X = by_name(X, names)
            X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float32, np.float64], order="C")
            X = X if columns is None else X[:, columns]
        return Collected((from_vectors(X), None), X.shape[0])
