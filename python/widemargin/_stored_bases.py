"""The bases stored in a model file, in the form that users gave them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ._model_file import parse
from ._samples import channels_first


def bases_of(data: bytes, layout: str = "auto") -> Any:
    """Arrays for vectors, images and grids, CSR for sparse rows, lists of arrays or strings, boolean rows for sets.
    Series are (length, channels), or (channels, length) for the layout "channels_first"."""
    told, arrays = parse(data)
    shape = told["bases"]
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
        case _:
            return arrays["bases"]
