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
from ._estimator import Clock, Given, grouped
from ._rows import Rows

# Normalizations that are learned of all samples; the others are a matter of the bases.
LEARNED = ("mean-norm", "z-score", "covariance")


def check_similarity(estimator: Any) -> None:
    if not is_auto(estimator.similarity) and resolve(estimator.similarity, estimator.layout).calls:
        raise TypeError(
            "the similarity is a Python callable: on several machines it must be one of the library's, by name or "
            "object"
        )


class Features:
    """The features of all samples: similarities to those that were chosen, and what normalizes them.

    What is known of the samples is set on the estimator, from the expansion that compared them.
    """

    def __init__(
        self,
        estimator: Any,
        given: Given,
        chosen: npt.NDArray[np.int64],
        similarity: Any,
        normalization: str,
        clock: Clock,
        *,
        cut: str = BasisExpansion._nystroem_cut,
    ) -> None:
        self._client, self._given = given.client, given
        self.raw = _expansion(given, chosen, similarity, (normalization, cut), (estimator.kind, estimator.layout))
        clock.end("bases")
        there = self._client.submit(_tasks.same, self.raw, pure=False)
        made = [delayed(_tasks.feature_part)(one.number, there, one.samples, one.weights) for one in given.pieces]
        self._parts: list[Future] = list(self._client.compute(made))
        self.expansion = self.raw._model
        if normalization in LEARNED:
            rows = Rows(self._client, grouped(self._client, self._parts))
            total = float(given.weighted.weights.sum())
            self.expansion = _core.normalized(self.expansion, normalization, rows, total)
        clock.end("similarity")
        self.width = self.raw._n_features_out
        _take_columns(estimator, self.raw)

    def made(self, method: str, known: list[tuple[Any, ...]]) -> list[Future]:
        """What a method of the parts makes of them, normalized, and of what is known of each; they are let go of."""
        there = self._client.submit(_tasks.same, self.expansion, pure=False)
        found = [
            self._client.submit(_tasks.made, part, method, there, *facts, pure=False)
            for part, facts in zip(self._parts, known, strict=True)
        ]
        self._parts = []
        return found


def _expansion(
    given: Given, chosen: npt.NDArray[np.int64], similarity: Any, normalized: tuple[str, str], read_as: tuple[str, str]
) -> BasisExpansion:
    """The expansion on the bases, not normalized (but a Nyström one, which is a matter of the bases alone)."""
    (normalization, cut), (kind, layout) = normalized, read_as
    parameters: dict[str, Any] = dict(normalization_parameters("none" if normalization in LEARNED else normalization))
    raw = BasisExpansion(
        similarity,
        n_basis=len(chosen),
        basis=np.arange(len(chosen)),
        **parameters,
        n_jobs=1,
        kind=kind,
        layout=layout,
    )
    raw._nystroem_cut = cut
    # These samples alone do not say what the columns hold.
    raw._encodes = False
    raw.fit(given.picked_samples(chosen))
    if normalization in LEARNED:
        # It is learned from similarities as they are.
        raw._model = _core.unnormalized(raw._model)
    return raw


def _take_columns(estimator: Any, expansion: BasisExpansion) -> None:
    """Sets what is known of the samples from the expansion that compared them."""
    estimator._resolved, estimator._columns = expansion._resolved, None
    for name in ("n_features_in_", "feature_names_in_", "_n_channels", "kind_"):
        estimator.__dict__.pop(name, None)
        if hasattr(expansion, name):
            setattr(estimator, name, getattr(expansion, name))
