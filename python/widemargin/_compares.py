"""Estimators that compare samples with bases."""

from __future__ import annotations

from typing import Any, Self

from . import _core
from ._base import FittedModel
from ._bases import BASES, basis_of, normalization_parameters
from ._collect import Collected, collect
from ._nested import NestedSpecMixin
from ._precomputed import TakesPrecomputed
from ._results import Row
from ._samples import pick
from ._specs import any_kind, is_auto, n_polynomials_of
from ._stored_bases import WithBases, kind_of_bases
from .similarity import Resolved, resolve


class ComparesSamples(NestedSpecMixin, TakesPrecomputed, WithBases):
    """Samples of any kind, or their similarities, in the form of the extension module."""

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[Collected, Any, dict[str, Any]]:
        """The samples of a fit, y, and the arguments of training functions for the similarity and the bases."""
        basis, rows = basis_of(self.basis, self)
        n_basis = None if isinstance(self.n_basis, str) else int(self.n_basis)
        self._resolved = (
            any_kind(X, self.layout, self.kind) if is_auto(self.similarity) else resolve(self.similarity, self.layout)
        )
        self._columns = None
        if self._resolved.is_precomputed:
            n_polynomials = n_polynomials_of(self._resolved.specs[0])
            collected, y = self._precomputed(X, y, sample_weight, n_polynomials)
            if self._columns is not None:
                basis, rows, n_basis = "index", self._base_rows, len(self._base_rows)
        else:
            collected = collect(self, X, self._resolved, reset=True)
        return (
            collected,
            y,
            {
                "similarity": self._resolved.similarities,
                "n_basis": None if n_basis is None else min(n_basis, max(collected.n, 1)),
                "basis": basis,
                "basis_rows": rows,
            },
        )

    def _fitted_on(self, X: Any) -> None:
        """Stores the data of the training samples that predictions need."""
        if is_auto(self.similarity):
            self._resolved = resolve(self.similarity_, self.layout)
        if self._resolved.calls:
            self._python_bases = pick(X, self.basis_indices_)

    def _collected(self, X: Any) -> _core._Collected:
        resolved: Resolved = self._resolved
        rows = self._precomputed_rows(X) if resolved.is_precomputed else None
        return (rows or collect(self, X, resolved, reset=False)).samples


class Compares(FittedModel, ComparesSamples):
    """An estimator whose model compares samples with bases."""

    _read = _core.Model.from_bytes

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        super()._fit(X, y, sample_weight)
        self._fitted_on(X)
        return self

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int, Any]:
        collected, y, found = self._prepared(X, y, sample_weight)
        parameters |= found
        return collected.samples, collected.n, y

    def _search(self, parameters: dict[str, Any], *counts: bool) -> None:
        """Sets which of the similarity, the normalization and (with `counts`) the number of bases are compared."""
        searches, is_auto_normalization = is_auto(self.similarity), parameters["normalization"] == "auto"
        normalization = None if is_auto_normalization else parameters["normalization"]
        parameters |= {"normalization": normalization or "mean-norm", "search": None}
        is_ours = not (self._resolved.calls or self._resolved.is_precomputed)
        if searches or (is_ours and (is_auto_normalization or any(counts))):
            parameters["search"] = [] if searches else self._resolved.specs, normalization, *counts

    def _stored_names(self) -> list[str] | None:
        names = super()._stored_names()
        return names if names is None or self._columns is None else [names[column] for column in self._columns]

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if getattr(self, "_columns", None) is not None:
            self.basis_indices_ = self._base_rows

    @classmethod
    def _restored(cls, model: _core.Model, header: dict[str, Any]) -> Self:
        specs = header["similarity"]
        fitted = cls(specs[0] if len(specs) == 1 else specs)
        fitted._resolved = resolve(fitted.similarity)
        fitted._restore(model, header)
        return fitted

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        shape, own = header["bases"], self.get_params(deep=False)
        stored: dict[str, Any] = {
            "n_basis": shape.get("n", self.n_basis),
            **normalization_parameters(header["normalization"]),
            **{name: header[name] for name in ("C", "penalty", "quantile", "shrinkage") if name in header},
        }
        if header["basis"] in BASES:
            stored["basis"] = header["basis"]
        if "intercept" in header:
            stored["fit_intercept"] = header["intercept"] != "none"
        self.set_params(**{name: value for name, value in stored.items() if name in own})
        if shape["kind"] != "elsewhere":
            self.kind_ = "precomputed" if self._resolved.is_precomputed else kind_of_bases(shape)
        if shape.get("kind") == "series":
            self._n_channels = shape["channels"]
        super()._restore(model, header)
        if "n_features" in shape:
            self._restore_width(shape["n_features"])
