"""Estimators that compare samples with bases."""

from __future__ import annotations

from typing import Any

from . import _core
from ._base import FittedModel
from ._bases import BASES
from ._collect import collect
from ._nested import NestedSpecMixin
from ._precomputed import TakesPrecomputed
from ._stored_bases import WithBases, kind_of_bases
from .similarity import Resolved


class Compares(NestedSpecMixin, TakesPrecomputed, FittedModel, WithBases):
    """Samples of any kind, or their similarities, as the extension module takes them."""

    _read = _core.Model.from_bytes

    def _kept_names(self) -> list[str] | None:
        names = super()._kept_names()
        return names if names is None or self._columns is None else [names[column] for column in self._columns]

    def _restore_bases(self, told: dict[str, Any]) -> None:
        """What a model file's header says of the bases: how they are selected, and the shape of samples like them."""
        shape = told["bases"]
        self.set_params(n_basis=shape.get("n", self.n_basis))
        if shape["kind"] != "elsewhere":
            self.kind_ = "precomputed" if self._resolved.is_precomputed else kind_of_bases(shape)
        if told["basis"] in BASES:
            self.set_params(basis=told["basis"])
        if shape.get("kind") == "series":
            self._n_channels = shape["channels"]
        if "n_features" in shape:
            self._restore_width(shape["n_features"])

    def _collected(self, X: Any) -> _core._Collected:
        resolved: Resolved = self._resolved
        rows = self._precomputed_rows(X) if resolved.is_precomputed else None
        return (rows or collect(self, X, resolved, reset=False)).given
