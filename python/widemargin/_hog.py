"""Histograms of oriented gradients, as a descriptor of similarities and as a transformer."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from . import _core
from ._parameters import Samples, threads_of
from ._samples import from_other
from ._sklearn import Interval
from ._specs import DescriptorMixin


class HOG(DescriptorMixin, TransformerMixin, BaseEstimator):
    """Histograms of oriented gradients of images, with 31 values per cell.

    The transformer is stateless. As a descriptor, it can be combined with a similarity: ``HOG(4) >> Rigid(1)`` is a
    similarity of images.

    Parameters
    ----------
    cell_size : int, default=8
        Side length of a cell in pixels. The height and width of the images must be multiples of it.
    flatten : bool, default=True
        Whether the result has one row per image, of shape (n, rows · columns · 31). If False, its shape is (n, rows,
        columns, 31), for similarities of grids.
    n_jobs : int or None, default=None

    References
    ----------
    .. [1] N. Dalal and B. Triggs, *Histograms of oriented gradients for human detection*, CVPR 2005.
    .. [2] P. F. Felzenszwalb, R. B. Girshick, D. McAllester and D. Ramanan, *Object detection with discriminatively
           trained part-based models*, IEEE Transactions on Pattern Analysis and Machine Intelligence 32(9), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.similarity import HOG
    >>> images = np.zeros((2, 32, 32), dtype=np.uint8)
    >>> HOG(cell_size=8).fit_transform(images).shape
    (2, 496)
    >>> (HOG(8) >> "rigid").spec
    'hog:cell=8/rigid'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cell_size": [Interval(Integral, 1, None, closed="left")],
        "flatten": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, cell_size: int = 8, flatten: bool = True, *, n_jobs: int | None = None) -> None:
        self.cell_size = cell_size
        self.flatten = flatten
        self.n_jobs = n_jobs

    @property
    def spec(self) -> str:
        """The spec of this descriptor, as a step of a similarity."""
        return f"hog:cell={self.cell_size}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def fit(self, X: Samples, y: object = None) -> Self:
        """Checks the parameters.

        Parameters
        ----------
        X : ignored
        y : ignored

        Returns
        -------
        HOG
            Itself.
        """
        self._validate_params()
        return self

    def transform(self, X: Samples) -> npt.NDArray[np.float32]:
        """Computes the histograms of images.

        Parameters
        ----------
        X : array of uint8 of shape (n, height, width) or (n, height, width, 3)

        Returns
        -------
        ndarray of float32 of shape (n, rows · columns · 31) or (n, rows, columns, 31)
        """
        self._validate_params()
        (_, pixels), _ = from_other(X, ["images"])
        cells = _core.hog(pixels, int(self.cell_size), threads_of(self.n_jobs))
        if self.flatten:
            return cells
        rows, columns = (side // self.cell_size for side in pixels.shape[1:3])
        return cells.reshape(len(pixels), rows, columns, -1)
