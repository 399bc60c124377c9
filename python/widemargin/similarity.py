"""Similarities as objects: what compares samples, and what describes them before.

Every object here stands for a *spec*, the text that names a similarity in the command line, in model files and in
messages; its parameters are those of the spec, so that ``similarity__gamma`` can be searched. The classes are made from
the library's rows, and `similarity.pyi` shows them.
"""

from __future__ import annotations

from ._calls import Pairs, pairs
from ._descriptors import HOG
from ._rows import DESCRIPTORS, SIMILARITIES, make_class
from ._specs import Chain, DescriptorMixin, Named, Resolved, Similarity, pairwise, resolve

__all__ = ["HOG", "Chain", "DescriptorMixin", "Pairs", "Resolved", "Similarity", "pairs", "pairwise", "resolve"]

for _row in (*SIMILARITIES.values(), *DESCRIPTORS.values()):
    if _row["class"] != HOG.__name__:  # a transformer, which has parameters of its own
        _base = Similarity if _row["name"] in SIMILARITIES else DescriptorMixin
        globals()[_row["class"]] = make_class(_row, (Named, _base), __name__)
        __all__ += [_row["class"]]
