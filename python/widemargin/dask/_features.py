"""The basis expansion on collections of Dask: partitions become blocks of similarities to the bases."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from dask.delayed import delayed
from distributed import Future

from .. import _core
from .._bases import normalization_parameters
from .._specs import is_auto
from ..similarity import resolve
from ..transformers import BasisExpansion
from . import _tasks
from ._estimator import Clock, FitData, grouped
from ._rows import Rows

# Normalizations that are learned from all samples; the others depend only on the bases.
LEARNED = ("mean-norm", "z-score", "covariance")


def check_similarity(estimator: Any) -> None:
    if not is_auto(estimator.similarity) and resolve(estimator.similarity, estimator.layout).calls:
        raise TypeError(
            "the similarity is a Python callable: on several machines it must be a built-in one, by name or object"
        )


class Features:
    """The features of all samples: similarities to the bases, and their normalization.

    Attributes of the samples, such as their kind, are copied from the expansion to the estimator.
    """

    def __init__(
        self,
        estimator: Any,
        data: FitData,
        basis_rows: npt.NDArray[np.int64],
        similarity: Any,
        normalization: str,
        clock: Clock,
        *,
        cut: str = BasisExpansion._nystroem_cut,
    ) -> None:
        self._client = data.client
        self.raw = _expansion(data, basis_rows, similarity, (normalization, cut), (estimator.kind, estimator.layout))
        clock.end("bases")
        shared = self._client.submit(_tasks.same, self.raw, pure=False)
        parts = [delayed(_tasks.feature_part)(one.number, shared, one.samples, one.weights) for one in data.pieces]
        self._parts: list[Future] = list(self._client.compute(parts))
        self.expansion = self.raw._model
        if normalization in LEARNED:
            rows = Rows(self._client, grouped(self._client, self._parts))
            total = float(data.weighted.weights.sum())
            self.expansion = _core.normalized(self.expansion, normalization, rows, total)
        clock.end("similarity")
        self.width = self.raw._n_features_out
        _copy_attributes(estimator, self.raw)

    def called(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Future]:
        """Results of a method of the parts, with the expansion and the arguments of each part; releases the parts."""
        shared = self._client.submit(_tasks.same, self.expansion, pure=False)
        found = [
            self._client.submit(_tasks.called, part, method, shared, *own, pure=False)
            for part, own in zip(self._parts, arguments, strict=True)
        ]
        self._parts = []
        return found


def _expansion(
    data: FitData,
    basis_rows: npt.NDArray[np.int64],
    similarity: Any,
    normalized: tuple[str, str],
    read_as: tuple[str, str],
) -> BasisExpansion:
    """The expansion on the bases, not normalized (except by Nyström, which depends only on the bases)."""
    (normalization, cut), (kind, layout) = normalized, read_as
    parameters: dict[str, Any] = dict(normalization_parameters("none" if normalization in LEARNED else normalization))
    raw = BasisExpansion(
        similarity,
        n_basis=len(basis_rows),
        basis=np.arange(len(basis_rows)),
        **parameters,
        n_jobs=1,
        kind=kind,
        layout=layout,
    )
    raw._nystroem_cut = cut
    # The bases do not determine the types of the columns.
    raw._encodes = False
    raw.fit(data.picked_samples(basis_rows))
    if normalization in LEARNED:
        # The normalization is learned from the similarities.
        raw._model = _core.unnormalized(raw._model)
    return raw


def _copy_attributes(estimator: Any, expansion: BasisExpansion) -> None:
    """Copies the attributes of the samples from the expansion."""
    estimator._resolved, estimator._columns = expansion._resolved, None
    for name in ("n_features_in_", "feature_names_in_", "_n_channels", "kind_"):
        estimator.__dict__.pop(name, None)
        if hasattr(expansion, name):
            setattr(estimator, name, getattr(expansion, name))
