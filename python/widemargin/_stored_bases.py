"""The bases of a model, in the form of the training samples."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._collect import NoEstimator, collect
from ._samples import channels_first
from ._specs import is_auto, is_precomputed
from .similarity import Resolved, resolve


def bases_of(model: _core.Model, layout: str = "auto") -> Any:
    """Arrays for vectors, images and grids, CSR for sparse rows, lists of arrays or strings, boolean rows for sets.
    Series are (length, channels), or (channels, length) for the layout "channels_first"."""
    shape, arrays = json.loads(model.header())["bases"], model.bases_arrays()
    match shape["kind"]:
        case "sparse":
            parts = (arrays["bases.values"], arrays["bases.columns"], arrays["bases.starts"].astype(np.int64))
            return sparse.csr_array(parts, shape=(shape["n"], shape["n_features"]))
        case "series":
            series = np.split(arrays["bases.values"], np.cumsum(arrays["bases.lengths"])[:-1].astype(np.int64))
            series = [one[:, 0] if one.shape[1] == 1 else one for one in series]
            return channels_first(series) if layout.replace("-", "_") == "channels_first" else series
        case "strings":
            ends = np.cumsum(arrays["bases.lengths"]).astype(np.int64).tolist()
            text = arrays["bases.bytes"].tobytes()
            return [text[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]
        case "bit-sets":
            bits = np.unpackbits(arrays["bases"].view(np.uint8).reshape(shape["n"], -1), axis=1, bitorder="little")
            return bits[:, : shape["n_bits"]].astype(bool)
        case "far":
            return arrays["bases"] + arrays["bases.offsets"]
        case _:
            return arrays["bases"]


def kind_of_bases(shape: dict[str, Any]) -> str:
    """The kind of samples of a model, by its header's description of the bases."""
    kinds = {"dense": "table", "sparse": "table", "far": "table", "bit-sets": "sets"}
    kind: str = shape["kind"]
    return kinds.get(kind, kind)


def specs_of(estimator: Any) -> list[str]:
    """The specs of a fitted estimator's similarities."""
    return [estimator.similarity_] if isinstance(estimator.similarity_, str) else estimator.similarity_


class WithBases(BaseEstimator):
    """For estimators whose model has bases; those of a Python similarity are stored on the estimator."""

    # Reads a model from its bytes.
    _read: ClassVar[Any]
    similarity: Any
    layout: str
    similarity_: str | list[str]
    _model: Any
    _resolved: Resolved
    _python_bases: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.similarity)
        return tags

    @property
    def basis_(self) -> Any:
        """The bases, in the form of the training samples."""
        check_is_fitted(self)
        return self._python_bases if self._resolved.calls else bases_of(self._model, self.layout)

    def _rebuild(self, data: bytes, state: Any) -> None:
        """Restores the model from its bytes and the bases, which these do not contain."""
        stand_in = NoEstimator()
        for name in ("kind_", "feature_names_in_", "_table_columns"):
            if hasattr(self, name):
                setattr(stand_in, name, getattr(self, name))
        bases = collect(stand_in, self._python_bases, self._resolved.of_bases(), reset=False)
        similarities = specs_of(self)[: len(self._resolved.specs)], self._resolved.calls
        self._model = type(self)._read(data, (similarities, bases.samples, state))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        model, resolved = state.get("_model"), state.pop("_resolved", None)
        if model is not None and resolved is not None and resolved.calls:
            state["_model"] = (model.to_bytes(), model.state())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        model = self.__dict__.get("_model")
        if model is None:
            return
        selected = getattr(self, "similarity_", None) if is_auto(self.similarity) else None
        self._resolved = resolve(self.similarity if selected is None else selected, self.layout)
        if isinstance(model, tuple):
            self._rebuild(*model)
