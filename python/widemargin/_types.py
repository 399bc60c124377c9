"""Types of the arguments and results of public functions and methods."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

# Vectors, images, series, strings, graphs, sets or other objects that the similarity compares.
Samples: TypeAlias = object
# Classes, a multilabel indicator matrix, or the targets of a regression.
Targets: TypeAlias = npt.ArrayLike | sparse.sparray | sparse.spmatrix
Weights: TypeAlias = npt.ArrayLike | None
ClassWeight: TypeAlias = Mapping[str, float] | Mapping[int, float] | str | None
RandomState: TypeAlias = int | np.random.RandomState | None
Block: TypeAlias = Callable[..., npt.ArrayLike]
# A spec or an object of `widemargin.similarity`, a function of blocks, or several of these.
SimilarityLike: TypeAlias = object
Path: TypeAlias = str | os.PathLike[str]
Basis: TypeAlias = str | Sequence[int] | npt.NDArray[np.integer]
# The labels of samples, whose type is that of the labels in ``fit``.
Labels: TypeAlias = npt.NDArray[np.generic]
