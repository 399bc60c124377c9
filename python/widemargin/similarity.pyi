"""Similarities as objects: what compares samples, and what describes them before."""

# Written by scripts/generate.py from the library's rows.

import numpy.typing as npt

from ._calls import Pairs, pairs
from ._descriptors import HOG
from ._specs import Chain, DescriptorMixin, Named, Resolved, Similarity, pairwise, resolve

__all__ = [
    "DTW",
    "ERP",
    "HOG",
    "LCSS",
    "MSM",
    "PHOG",
    "RBF",
    "TWE",
    "WDTW",
    "Align",
    "Canberra",
    "Chain",
    "Chi2",
    "Cityblock",
    "Colors",
    "Cosine",
    "Cubic",
    "Deformable",
    "Derivative",
    "DescriptorMixin",
    "Distance",
    "EarthMover",
    "Edit",
    "Features",
    "Gappy",
    "Hellinger",
    "Hydra",
    "Intersection",
    "InverseMultiquadric",
    "JensenShannon",
    "Jitter",
    "Laplacian",
    "Linear",
    "Log",
    "Match",
    "MeanNorm",
    "MiniRocket",
    "Mismatch",
    "Multiquadric",
    "NGram",
    "NGramCounts",
    "NGrams",
    "Pairs",
    "Pixels",
    "Polyharmonic",
    "Polynomial",
    "PowerMean",
    "Precomputed",
    "Resize",
    "Resolved",
    "Rigid",
    "Sigmoid",
    "Similarity",
    "SoftDTW",
    "Spline",
    "Subsequence",
    "Tanimoto",
    "Tfidf",
    "ThinPlate",
    "WeisfeilerLehman",
    "ZNorm",
    "ZScore",
    "pairs",
    "pairwise",
    "resolve",
]

class Linear(Named, Similarity):
    """x·y, of vectors.

    Examples
    --------
    >>> from widemargin.similarity import Linear
    >>> print(Linear()([[1.0, 2.0]], [[3.0, 4.0]]).round(4))
    [[11.]]
    """

    def __init__(self) -> None: ...

class RBF(Named, Similarity):
    """exp(−gamma ‖x − y‖²), of vectors.

    Parameters
    ----------
    gamma : float, "scale" or None, default=None
        Above 0. Without one it is learned: 1 / mean ‖y − mean‖² over the training samples; ``scale`` says the same.

    Examples
    --------
    >>> from widemargin.similarity import RBF
    >>> print(RBF(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4))
    [[0.3679]]
    """

    gamma: float | str | None
    def __init__(self, gamma: float | str | None = None) -> None: ...

class Laplacian(Named, Similarity):
    """exp(−gamma ‖x − y‖₁), of vectors.

    Parameters
    ----------
    gamma : float, "scale" or None, default=None
        Above 0. Without one it is learned: 1 / mean ‖y − mean‖₁ over the training samples; ``scale`` says the same.

    Examples
    --------
    >>> from widemargin.similarity import Laplacian
    >>> print(Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4))
    [[0.3679]]
    """

    gamma: float | str | None
    def __init__(self, gamma: float | str | None = None) -> None: ...

class Polynomial(Named, Similarity):
    """(gamma x·y + coef0)^degree, of vectors.

    Indefinite where coef0 is below 0.

    Parameters
    ----------
    degree : int, default=3
        From 1 to 16.
    gamma : float, "scale" or None, default=None
        Above 0. Without one it is learned: 1 / mean ‖y − mean‖² over the training samples; ``scale`` says the same.
    coef0 : float, default=1.0

    Examples
    --------
    >>> from widemargin.similarity import Polynomial
    >>> print(Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[3.0, 4.0]]).round(4))
    [[144.]]
    """

    degree: int
    gamma: float | str | None
    coef0: float
    def __init__(self, degree: int = 3, gamma: float | str | None = None, coef0: float = 1.0) -> None: ...

class Sigmoid(Named, Similarity):
    """tanh(gamma x·y + coef0), of vectors.

    Parameters
    ----------
    gamma : float, "scale" or None, default=None
        Above 0. Without one it is learned: 1 / mean ‖y − mean‖² over the training samples; ``scale`` says the same.
    coef0 : float, default=0.0

    Examples
    --------
    >>> from widemargin.similarity import Sigmoid
    >>> print(Sigmoid(gamma=0.1)([[1.0, 2.0]], [[3.0, 4.0]]).round(4))
    [[0.8005]]
    """

    gamma: float | str | None
    coef0: float
    def __init__(self, gamma: float | str | None = None, coef0: float = 0.0) -> None: ...

class Cosine(Named, Similarity):
    """x·y / √(x·x · y·y), of sets |x ∩ y| / √(|x| |y|), of bit sets or vectors.

    Two that are empty, or all 0, are equal.

    Examples
    --------
    >>> from widemargin.similarity import Cosine
    >>> print(Cosine()([[1.0, 0.0]], [[1.0, 1.0]]).round(4))
    [[0.7071]]
    """

    def __init__(self) -> None: ...

class Tanimoto(Named, Similarity):
    """x·y / (x·x + y·y − x·y), of sets |x ∩ y| / |x ∪ y|, of bit sets or vectors.

    Two that are empty, or all 0, are equal.

    Examples
    --------
    >>> from widemargin.similarity import Tanimoto
    >>> print(Tanimoto()([{1, 2, 3}], [{2, 3, 4}]).round(4))
    [[0.5]]
    """

    def __init__(self) -> None: ...

class Chi2(Named, Similarity):
    """Σ 2 x_j y_j / (x_j + y_j), of vectors.

    Of histograms: no value below 0.

    Examples
    --------
    >>> from widemargin.similarity import Chi2
    >>> print(Chi2()([[2.0, 0.0, 1.0]], [[2.0, 3.0, 3.0]]).round(4))
    [[3.5]]
    """

    def __init__(self) -> None: ...

class Hellinger(Named, Similarity):
    """Σ √(x_j y_j), of vectors.

    Of histograms: no value below 0.

    Examples
    --------
    >>> from widemargin.similarity import Hellinger
    >>> print(Hellinger()([[4.0, 0.0, 1.0]], [[1.0, 3.0, 9.0]]).round(4))
    [[5.]]
    """

    def __init__(self) -> None: ...

class Intersection(Named, Similarity):
    """Σ min(x_j, y_j), of vectors.

    Of histograms: no value below 0.

    Examples
    --------
    >>> from widemargin.similarity import Intersection
    >>> print(Intersection()([[2.0, 0.0, 1.0]], [[2.0, 3.0, 3.0]]).round(4))
    [[3.]]
    """

    def __init__(self) -> None: ...

class JensenShannon(Named, Similarity):
    """Σ x_j/2 log₂((x_j + y_j)/x_j) + y_j/2 log₂((x_j + y_j)/y_j), of vectors.

    Of histograms: no value below 0.

    Examples
    --------
    >>> from widemargin.similarity import JensenShannon
    >>> print(JensenShannon()([[2.0, 0.0]], [[2.0, 3.0]]).round(4))
    [[2.]]
    """

    def __init__(self) -> None: ...

class PowerMean(Named, Similarity):
    """Σ ((x_j^p + y_j^p)/2)^(1/p), of vectors.

    Of histograms: no value below 0. Indefinite where p is above 0.

    Parameters
    ----------
    p : float
        From -inf to inf (-1 is chi-squared, 0 Hellinger, -inf the minimum, 1 the mean, inf the maximum); a kernel
        from -inf to 0.

    Examples
    --------
    >>> from widemargin.similarity import PowerMean
    >>> print(PowerMean(p=-1)([[2.0, 0.0, 1.0]], [[2.0, 3.0, 3.0]]).round(4))
    [[3.5]]
    """

    p: float
    def __init__(self, p: float) -> None: ...

class ThinPlate(Named, Similarity):
    """(−1)^order r^(2 order − 2) log r with r = ‖x − y‖, of vectors.

    Parameters
    ----------
    order : int, default=2
        From 2 to 16. 2 is r² log r.

    Examples
    --------
    >>> from widemargin.similarity import ThinPlate
    >>> print(ThinPlate()([[0.0, 0.0]], [[0.0, 2.0]]).round(4))
    [[2.7726]]
    """

    order: int
    def __init__(self, order: int = 2) -> None: ...

class Distance(Named, Similarity):
    """−r with r = ‖x − y‖, of vectors.

    Examples
    --------
    >>> from widemargin.similarity import Distance
    >>> print(Distance()([[0.0, 0.0]], [[3.0, 4.0]]).round(4))
    [[-5.]]
    """

    def __init__(self) -> None: ...

class Cubic(Named, Similarity):
    """r³ with r = ‖x − y‖, of vectors.

    Examples
    --------
    >>> from widemargin.similarity import Cubic
    >>> print(Cubic()([[0.0, 0.0]], [[0.0, 2.0]]).round(4))
    [[8.]]
    """

    def __init__(self) -> None: ...

class Polyharmonic(Named, Similarity):
    """(−1)^⌈exponent/2⌉ r^exponent with r = ‖x − y‖, of vectors.

    Parameters
    ----------
    exponent : float
        Above 0 and at most 32, no even number.

    Examples
    --------
    >>> from widemargin.similarity import Polyharmonic
    >>> print(Polyharmonic(exponent=3)([[0.0, 0.0]], [[0.0, 2.0]]).round(4))
    [[8.]]
    """

    exponent: float
    def __init__(self, exponent: float) -> None: ...

class Spline(Named, Similarity):
    """± r^(2 order − dims) with r = ‖x − y‖, times log r where that is even, of vectors.

    Parameters
    ----------
    order : int
        From 1 to 16. Above dims / 2.
    dims : int
        From 1 to 31. The dimension of the space.

    Examples
    --------
    >>> from widemargin.similarity import Spline
    >>> print(Spline(order=2, dims=3)([[0.0, 0.0, 0.0]], [[0.0, 3.0, 4.0]]).round(4))
    [[-5.]]
    """

    order: int
    dims: int
    def __init__(self, order: int, dims: int) -> None: ...

class Cityblock(Named, Similarity):
    """−‖x − y‖₁, of vectors.

    Examples
    --------
    >>> from widemargin.similarity import Cityblock
    >>> print(Cityblock()([[0.0, 0.0]], [[3.0, 4.0]]).round(4))
    [[-7.]]
    """

    def __init__(self) -> None: ...

class Log(Named, Similarity):
    """−log(1 + gamma r^exponent) with r = ‖x − y‖, of vectors.

    Parameters
    ----------
    gamma : float
        Above 0.
    exponent : float, default=2.0
        Above 0 and at most 2.

    Examples
    --------
    >>> from widemargin.similarity import Log
    >>> print(Log(gamma=1.0)([[0.0]], [[2.0]]).round(4))
    [[-1.6094]]
    """

    gamma: float
    exponent: float
    def __init__(self, gamma: float, exponent: float = 2.0) -> None: ...

class Multiquadric(Named, Similarity):
    """−√(1 + gamma ‖x − y‖²), of vectors.

    Parameters
    ----------
    gamma : float
        Above 0.

    Examples
    --------
    >>> from widemargin.similarity import Multiquadric
    >>> print(Multiquadric(gamma=2.0)([[0.0]], [[2.0]]).round(4))
    [[-3.]]
    """

    gamma: float
    def __init__(self, gamma: float) -> None: ...

class InverseMultiquadric(Named, Similarity):
    """1 / √(1 + gamma ‖x − y‖²), of vectors.

    Parameters
    ----------
    gamma : float
        Above 0.

    Examples
    --------
    >>> from widemargin.similarity import InverseMultiquadric
    >>> print(InverseMultiquadric(gamma=2.0)([[0.0]], [[2.0]]).round(4))
    [[0.3333]]
    """

    gamma: float
    def __init__(self, gamma: float) -> None: ...

class Canberra(Named, Similarity):
    """exp(−gamma Σ |x_j − y_j| / (|x_j| + |y_j|)), of vectors.

    0 / 0 is 0.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0. Without one 1 / the number of features.

    Examples
    --------
    >>> from widemargin.similarity import Canberra
    >>> print(Canberra(gamma=1.0)([[1.0, 0.0]], [[3.0, 0.0]]).round(4))
    [[0.6065]]
    """

    gamma: float | None
    def __init__(self, gamma: float | None = None) -> None: ...

class EarthMover(Named, Similarity):
    """−d(x, y), with a gamma exp(−gamma d(x, y)), d the earth mover's distance of histograms: over bins in a line, or
    by another ground distance, of vectors.

    Moving all of a histogram to the next bin costs 1. Of histograms: no value below 0; each is divided by its sum.
    An empty one lies in a line one bin past the last, else as far from each bin as the two that are farthest apart.
    Indefinite unless in a line.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0. Without one it is −d.
    ground : {"line", "circle", "grid"}, default="line"
        How the bins lie; on a circle the last is beside the first.
    rows : int or None, default=None
        From 1 to 256. Those of a grid, whose bins are row by row, at most 256.
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance of cells of a grid.
    distances : array-like of shape (n, n) or None, default=None
        Each at least 0. Of each bin to each, in the place of ground: at most 256 × 256, symmetric, with a diagonal
        of 0.

    Examples
    --------
    >>> from widemargin.similarity import EarthMover
    >>> hours = [[0, 0, 0, 1], [1, 0, 0, 0]]
    >>> print(EarthMover()(hours, hours[:1]).T, EarthMover(ground="circle")(hours, hours[:1]).T)
    [[-0. -3.]] [[-0. -1.]]
    >>> D = [[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]
    >>> print(EarthMover(distances=D)([[1, 0, 1]], [[0, 2, 0]]))
    [[-1.5]]
    """

    gamma: float | None
    ground: str
    rows: int | None
    metric: str
    distances: npt.ArrayLike | None
    def __init__(
        self,
        gamma: float | None = None,
        ground: str = "line",
        rows: int | None = None,
        metric: str = "euclidean",
        distances: npt.ArrayLike | None = None,
    ) -> None: ...

class Rigid(Named, Similarity):
    """max over shifts z of Σ_c φ_c(x)·φ_{c+z}(y), of grids of cells.

    φ_c(x) is the cell c of a grid, 0 outside of it; after ``hog`` it compares images.

    Parameters
    ----------
    radius : int, default=1
        From 0 to 1024. How many cells z may go along each axis.
    penalty : float, default=0.0
        At least 0. Its product with ‖z‖² is subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.similarity import Rigid
    >>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
    >>> print(Rigid(radius=1)(diagonal, moved).round(4))
    [[2.]]
    """

    radius: int
    penalty: float
    def __init__(self, radius: int = 1, penalty: float = 0.0) -> None: ...

class Deformable(Named, Similarity):
    """max over shifts z of Σ_c max over u of φ_c(x)·φ_{c+z+u}(y), of grids of cells.

    φ_c(x) is the cell c of a grid, 0 outside of it; after ``hog`` it compares images. It is not symmetric.

    Parameters
    ----------
    rigid : int, default=1
        From 0 to 1024. How many cells z may go along each axis.
    local : int, default=1
        From 0 to 1024. How many cells u may go along each axis.
    penalty : float, default=0.0
        At least 0. Its product with ‖z‖², and with ‖u‖² for each cell, is subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.similarity import Deformable
    >>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
    >>> print(Deformable(rigid=0, local=1)(diagonal, moved).round(4))
    [[2.]]
    """

    rigid: int
    local: int
    penalty: float
    def __init__(self, rigid: int = 1, local: int = 1, penalty: float = 0.0) -> None: ...

class Match(Named, Similarity):
    """max over positions z of x, z' of y of base(φ(x, z), φ(y, z')) + R(z) + R(z'), of grids of cells.

    φ(y, z') is the grid shifted by z' with zeros from outside. With ``local`` each cell has a displacement of its
    own beside that; the base must then be a sum over cells: ``linear``, ``chi2``, ``hellinger``, ``intersection``,
    ``jensen-shannon``, ``power-mean`` or ``cityblock``.

    Parameters
    ----------
    radius : int, default=1
        From 0 to 1024. How many cells y may go along each axis.
    basis_radius : int, default=0
        From 0 to 1024. How many cells x, the basis, may go along each axis.
    base : {"linear", "rbf", "laplacian", "polynomial", "sigmoid", "cosine", "tanimoto", "chi2", "hellinger",
    "intersection", "jensen-shannon", "power-mean", "canberra", "distance", "cityblock", "log", "multiquadric",
    "inverse-multiquadric"}, default="linear"
        The similarity of vectors that compares all numbers of the displaced grids; those below are its parameters.
    gamma : float, "scale" or None, default=None
        Above 0. Where the base has one; what is learned without it is learned from undisplaced grids.
    degree : int or None, default=None
        From 1 to 16. Of ``polynomial``, 3 if not given.
    coef0 : float or None, default=None
        Of ``polynomial``, 1 if not given, and ``sigmoid``, 0.
    p : float or None, default=None
        From -inf to 0. Of ``power-mean``, which needs it.
    local : int, default=0
        From 0 to 1024. How many cells each cell of y may go beside that.
    basis_local : int, default=0
        From 0 to 1024. How many cells each cell of x may go beside that.
    quadratic : float, default=0.0
        At least 0. Its product with the squared length of every shift, and of every cell's displacement, is
        subtracted.
    smooth : float, default=0.0
        At least 0. Its product with the squared difference of the displacements of any two neighbouring cells is
        subtracted; needs ``local`` or ``basis_local``.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.similarity import Match
    >>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
    >>> print(Match(radius=1, base="linear")(diagonal, moved).round(4))
    [[2.]]
    """

    radius: int
    basis_radius: int
    base: str
    gamma: float | str | None
    degree: int | None
    coef0: float | None
    p: float | None
    local: int
    basis_local: int
    quadratic: float
    smooth: float
    def __init__(
        self,
        radius: int = 1,
        basis_radius: int = 0,
        base: str = "linear",
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        p: float | None = None,
        local: int = 0,
        basis_local: int = 0,
        quadratic: float = 0.0,
        smooth: float = 0.0,
    ) -> None: ...

class Jitter(Named, Similarity):
    """base(φ(x, z), φ(y, z')) of the positions z, z' with the least base(φ(x, z), φ(x, z)) − 2 base(φ(x, z), φ(y, z'))
    + base(φ(y, z'), φ(y, z')), of grids of cells.

    φ(y, z') is the grid shifted by z' with zeros from outside. Where base(x, x) is the same for all x, as for
    ``rbf``, it is ``match``.

    Parameters
    ----------
    radius : int, default=1
        From 0 to 1024. How many cells y may go along each axis.
    basis_radius : int, default=0
        From 0 to 1024. How many cells x, the basis, may go along each axis.
    base : {"linear", "rbf", "laplacian", "polynomial", "sigmoid", "cosine", "tanimoto", "chi2", "hellinger",
    "intersection", "jensen-shannon", "power-mean", "canberra", "distance", "cityblock", "log", "multiquadric",
    "inverse-multiquadric"}, default="linear"
        The similarity of vectors that compares all numbers of the displaced grids; those below are its parameters.
    gamma : float, "scale" or None, default=None
        Above 0. Where the base has one; what is learned without it is learned from undisplaced grids.
    degree : int or None, default=None
        From 1 to 16. Of ``polynomial``, 3 if not given.
    coef0 : float or None, default=None
        Of ``polynomial``, 1 if not given, and ``sigmoid``, 0.
    p : float or None, default=None
        From -inf to 0. Of ``power-mean``, which needs it.

    Examples
    --------
    >>> import numpy as np
    >>> from widemargin.similarity import Jitter
    >>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
    >>> print(Jitter(radius=1, base="linear")(diagonal, moved).round(4))
    [[2.]]
    """

    radius: int
    basis_radius: int
    base: str
    gamma: float | str | None
    degree: int | None
    coef0: float | None
    p: float | None
    def __init__(
        self,
        radius: int = 1,
        basis_radius: int = 0,
        base: str = "linear",
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        p: float | None = None,
    ) -> None: ...

class DTW(Named, Similarity):
    """−d(x, y), with a gamma exp(−gamma d(x, y)), d the least sum of squared differences along a warping path, of time
    series.

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.
    root : bool, default=False
        Take the root of the sum.
    normalize : bool, default=False
        Divide the sum by the sum of both lengths, before its root.

    Examples
    --------
    >>> from widemargin.similarity import DTW
    >>> print(DTW()([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-0.25]]
    """

    window: float
    gamma: float | str | None
    root: bool
    normalize: bool
    def __init__(
        self,
        window: float = 1.0,
        gamma: float | str | None = None,
        root: bool = False,
        normalize: bool = False,
    ) -> None: ...

class WDTW(Named, Similarity):
    """as dtw, the squared difference of the time steps i and j times 1 / (1 + exp(−g (|i − j| − M / 2))), M the length
    of the longer series, of time series.

    Weighted dynamic time warping (Jeong, Jeong and Omitaomu, 2011).

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    g : float, default=0.05
        At least 0. How steeply the weight grows with |i − j|.
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.

    Examples
    --------
    >>> from widemargin.similarity import WDTW
    >>> print(WDTW(g=0.5)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-0.0672]]
    """

    window: float
    g: float
    gamma: float | str | None
    def __init__(self, window: float = 1.0, g: float = 0.05, gamma: float | str | None = None) -> None: ...

class MSM(Named, Similarity):
    """−d(x, y), with a gamma exp(−gamma d(x, y)), d the least cost of moves, splits and merges, of time series.

    Move-split-merge (Stefan, Athitsos and Das, 2013). Without a band d is a metric of series of one channel.

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    c : float, default=1.0
        At least 0. The cost of a split or a merge.
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.

    Examples
    --------
    >>> from widemargin.similarity import MSM
    >>> print(MSM(c=0.5)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-1.5]]
    """

    window: float
    c: float
    gamma: float | str | None
    def __init__(self, window: float = 1.0, c: float = 1.0, gamma: float | str | None = None) -> None: ...

class TWE(Named, Similarity):
    """−d(x, y), with a gamma exp(−gamma d(x, y)), d the time warp edit distance, of time series.

    Steps are paired or deleted (Marteau, 2009). Without a band d is a metric.

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    nu : float, default=0.001
        At least 0. Stiffness: what a difference in time costs, per step.
    penalty : float, default=1.0
        At least 0. What a deletion costs, lambda in the paper.
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.

    Examples
    --------
    >>> from widemargin.similarity import TWE
    >>> print(TWE()([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-2.506]]
    """

    window: float
    nu: float
    penalty: float
    gamma: float | str | None
    def __init__(
        self,
        window: float = 1.0,
        nu: float = 0.001,
        penalty: float = 1.0,
        gamma: float | str | None = None,
    ) -> None: ...

class ERP(Named, Similarity):
    """−d(x, y), with a gamma exp(−gamma d(x, y)), d the edit distance with real penalty, of time series.

    Steps are paired, or left out at their distance to g (Chen and Ng, 2004). Without a band d is a metric.

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    g : float, default=0.0
        What a step that is left out is compared with.
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.

    Examples
    --------
    >>> from widemargin.similarity import ERP
    >>> print(ERP()([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-2.5]]
    """

    window: float
    g: float
    gamma: float | str | None
    def __init__(self, window: float = 1.0, g: float = 0.0, gamma: float | str | None = None) -> None: ...

class LCSS(Named, Similarity):
    """−d(x, y), with a gamma exp(−gamma d(x, y)), d = 1 − L / the length of the shorter series, L that of the longest
    common subsequence, of time series.

    Time steps are common that differ by at most epsilon (Vlachos, Kollios and Gunopulos, 2002).

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    epsilon : float, default=1.0
        At least 0. The largest Euclidean distance of two common time steps.
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.

    Examples
    --------
    >>> from widemargin.similarity import LCSS
    >>> print(LCSS(epsilon=0.1)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-0.25]]
    """

    window: float
    epsilon: float
    gamma: float | str | None
    def __init__(self, window: float = 1.0, epsilon: float = 1.0, gamma: float | str | None = None) -> None: ...

class SoftDTW(Named, Similarity):
    """as dtw, with a soft minimum over all paths: −smoothing ln Σ exp(−cost / smoothing), of time series.

    Soft dynamic time warping (Cuturi and Blondel, 2017).

    Parameters
    ----------
    window : float, default=1.0
        From 0 to 1. Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    smoothing : float, default=1.0
        Above 0. How soft the minimum is, in units of cost.
    divergence : bool, default=False
        Subtract half of d(x, x) + d(y, y).
    gamma : float, "auto" or None, default=None
        Above 0. Without one it is −d; ``auto`` learns 1 / mean d from pairs of training series.

    Examples
    --------
    >>> from widemargin.similarity import SoftDTW
    >>> print(SoftDTW(smoothing=0.1)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
    [[-0.25]]
    """

    window: float
    smoothing: float
    divergence: bool
    gamma: float | str | None
    def __init__(
        self,
        window: float = 1.0,
        smoothing: float = 1.0,
        divergence: bool = False,
        gamma: float | str | None = None,
    ) -> None: ...

class Edit(Named, Similarity):
    """1 − d(x, y) / largest d of such lengths, d the number of edits; with a gamma exp(−gamma (1 − that)), of strings.

    ``levenshtein`` inserts, deletes and replaces, ``osa`` and ``damerau`` also swap neighbours, ``indel`` inserts
    and deletes, ``lcs`` is what the longest common subsequence leaves; ``jaro`` and ``jaro-winkler`` are the
    similarity themselves, and not symmetric. Costs that insert and delete at different prices are not symmetric
    either.

    Parameters
    ----------
    metric : {"levenshtein", "osa", "damerau", "indel", "lcs", "jaro", "jaro-winkler"}, default="levenshtein"
    gamma : float or None, default=None
        Above 0. Without one it is the share itself.
    insert : int, default=1
        From 1 to 1000. What levenshtein takes for a character that the sample has more.
    delete : int, default=1
        From 1 to 1000. For a character that the basis has more.
    substitute : int, default=1
        From 1 to 1000. For a character in the place of another.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Edit
    >>> print(Edit()(["Rossi"], ["Russo"]).round(4))
    [[0.6]]
    """

    metric: str
    gamma: float | None
    insert: int
    delete: int
    substitute: int
    unit: str
    def __init__(
        self,
        metric: str = "levenshtein",
        gamma: float | None = None,
        insert: int = 1,
        delete: int = 1,
        substitute: int = 1,
        unit: str = "character",
    ) -> None: ...

class Align(Named, Similarity):
    """score(x, y) / √(score(x, x) score(y, y)) of the best alignment, of strings.

    A gap of k characters scores open + (k − 1) extend.

    Parameters
    ----------
    mode : {"local", "global", "semiglobal"}, default="local"
        Semiglobal: gaps at the ends of either string are free.
    match : int, default=2
        From 1 to 1000. What a pair of equal characters scores.
    mismatch : int, default=-1
        From -1000 to 0. What a pair of others scores.
    matrix : {"blosum45", "blosum62", "blosum80", "pam250", "nuc44"} or None, default=None
        Scores pairs in the place of these two, of amino acids or, by nuc44, of nucleotides; small letters are
        capitals, gaps, stops and letters that it lacks are X, or N.
    open : int or None, default=None
        From -1000 to 0. Without one −2, with a matrix −11.
    extend : int or None, default=None
        From -1000 to 0. Not below open; without one −1.
    normalize : bool, default=True
        false is the plain score.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Align
    >>> print(Align()(["GATTACA"], ["GCATGCA"]).round(4))
    [[0.3571]]
    """

    mode: str
    match: int
    mismatch: int
    matrix: str | None
    open: int | None
    extend: int | None
    normalize: bool
    unit: str
    def __init__(
        self,
        mode: str = "local",
        match: int = 2,
        mismatch: int = -1,
        matrix: str | None = None,
        open: int | None = None,
        extend: int | None = None,
        normalize: bool = True,
        unit: str = "character",
    ) -> None: ...

class NGram(Named, Similarity):
    """cosine of how often each substring of n characters occurs, of strings.

    A shorter string counts as one such substring.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import NGram
    >>> print(NGram(n=2)(["banana"], ["ananas"]).round(4))
    [[0.8889]]
    """

    n: int
    unit: str
    def __init__(self, n: int = 3, unit: str = "character") -> None: ...

class Mismatch(Named, Similarity):
    """cosine of how often each string of k letters occurs, but for m of its letters, of strings.

    A string of fewer than k characters is like its equals alone. Mismatch kernel of Leslie et al. (2004).

    Parameters
    ----------
    k : int, default=5
        From 1 to 64.
    m : int, default=1
        From 0 to 8. At most k.
    alphabet : int or None, default=None
        From 2 to 1048576. How many letters there are, or those of the training strings if these are more; without
        one these.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Similarity
    >>> Similarity('mismatch:k=3,m=1').spec
    'mismatch:k=3,m=1'
    """

    k: int
    m: int
    alphabet: int | None
    unit: str
    def __init__(self, k: int = 5, m: int = 1, alphabet: int | None = None, unit: str = "character") -> None: ...

class Gappy(Named, Similarity):
    """cosine of how many windows of g characters have each subsequence of k of them, of strings.

    A shorter string is one window. Gappy k-mers of Leslie and Kuang (2004).

    Parameters
    ----------
    k : int, default=3
        From 1 to 12. Characters of a subsequence.
    g : int, default=5
        From 1 to 16. Characters of a window, at least k: g − k gaps.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Similarity
    >>> Similarity('gappy').spec
    'gappy'
    """

    k: int
    g: int
    unit: str
    def __init__(self, k: int = 3, g: int = 5, unit: str = "character") -> None: ...

class Subsequence(Named, Similarity):
    """cosine of how often each string of n characters occurs, perhaps with gaps, one that spans l characters counting
    decay^l, of strings.

    A string of fewer than n characters is like its equals alone.

    Parameters
    ----------
    n : int, default=3
        From 1 to 16.
    decay : float, default=0.5
        From 0.01 to 1. What each character that is spanned counts.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Subsequence
    >>> print(Subsequence(n=2)(["cat"], ["cart"]).round(4))
    [[0.574]]
    """

    n: int
    decay: float
    unit: str
    def __init__(self, n: int = 3, decay: float = 0.5, unit: str = "character") -> None: ...

class Precomputed(Named, Similarity):
    """column x of row y; of a distance d there −d, −d² or exp(−gamma d), of vectors.

    Samples are rows of similarities, or of distances, one column a basis.

    Parameters
    ----------
    distance : {"none", "negative", "squared", "exp"}, default="none"
        What is made of distances: −d, −d² or exp(−gamma d); none where the values are similarities.
    gamma : float or None, default=None
        Above 0. Of exp; without one 1 / the mean distance.
    polynomials : int, default=0
        From 0 to 10000. So many of the last columns are the values of polynomials, for the centred normalizations.

    Examples
    --------
    >>> from widemargin.similarity import Precomputed
    >>> print(Precomputed(distance="negative")([[0.0, 2.0], [2.0, 0.0]]).round(4))
    [[-0. -2.]
     [-2. -0.]]
    """

    distance: str
    gamma: float | None
    polynomials: int
    def __init__(self, distance: str = "none", gamma: float | None = None, polynomials: int = 0) -> None: ...

class Features(Named, Similarity):
    """y itself: its features, on which the machine is linear, of vectors.

    It needs no bases; normalise it by mean-norm, z-score, covariance or none. Columns far from 0 beside their range
    count from their middle.

    Examples
    --------
    >>> from widemargin.similarity import Features, Tfidf
    >>> (Tfidf() >> Features()).spec
    'tfidf:n=1-3/features'
    """

    def __init__(self) -> None: ...

class Pixels(Named, DescriptorMixin):
    """grids of cells: a cell a pixel, a number from 0 to 1 a channel, of images.

    Examples
    --------
    >>> from widemargin.similarity import Pixels, Rigid
    >>> (Pixels() >> Rigid(radius=1)).spec
    'pixels/rigid:radius=1'
    """

    def __init__(self) -> None: ...

class PHOG(Named, DescriptorMixin):
    """vectors: histograms of gradient directions in the whole image, its quarters, its sixteenths …, 1 in all, of
    images.

    Parameters
    ----------
    levels : int, default=3
        From 0 to 6. How often an image of any size is cut into quarters.
    signed : bool, default=False
        Whether opposite directions are two: 18 of them instead of 9.

    Examples
    --------
    >>> from widemargin.similarity import PHOG, Chi2
    >>> (PHOG(levels=2) >> Chi2()).spec
    'phog:levels=2/chi2'
    """

    levels: int
    signed: bool
    def __init__(self, levels: int = 3, signed: bool = False) -> None: ...

class Colors(Named, DescriptorMixin):
    """vectors: histograms of colours in cells × cells parts, 1 in all, of images.

    Parameters
    ----------
    cells : int, default=2
        From 1 to 64. Parts along each side of an image of any size.
    bins : int, default=4
        From 1 to 256. Intervals of each channel; bins³ colours.

    Examples
    --------
    >>> from widemargin.similarity import Colors, Intersection
    >>> (Colors(cells=1) >> Intersection()).spec
    'colors:cells=1/intersection'
    """

    cells: int
    bins: int
    def __init__(self, cells: int = 2, bins: int = 4) -> None: ...

class Resize(Named, DescriptorMixin):
    """images of height × width pixels, interpolated linearly, with antialiasing where they shrink, of images.

    Parameters
    ----------
    height : int, default=32
        From 1 to 4096. Rows of pixels.
    width : int, default=32
        From 1 to 4096. Columns of pixels.

    Examples
    --------
    >>> from widemargin.similarity import HOG, Resize
    >>> (Resize(height=16, width=16) >> HOG(8) >> "rbf").spec
    'resize:height=16,width=16/hog:cell=8/rbf'
    """

    height: int
    width: int
    def __init__(self, height: int = 32, width: int = 32) -> None: ...

class MeanNorm(Named, DescriptorMixin):
    """(y − mean) / mean ‖y − mean‖, of vectors or grids of cells.

    Learned from the training samples.

    Examples
    --------
    >>> from widemargin.similarity import RBF, MeanNorm
    >>> (MeanNorm() >> RBF(gamma=1.0)).spec
    'mean-norm/rbf:gamma=1'
    """

    def __init__(self) -> None: ...

class ZScore(Named, DescriptorMixin):
    """(y_j − mean_j) / standard deviation_j, of vectors or grids of cells.

    Learned from the training samples; 0 where a feature is constant.

    Parameters
    ----------
    weights : list[float] or None, default=None
        Each at least 0. What each standardised feature is multiplied by, one number per feature.

    Examples
    --------
    >>> from widemargin.similarity import RBF, ZScore
    >>> (ZScore() >> RBF(gamma=1.0)).spec
    'z-score/rbf:gamma=1'
    """

    weights: list[float] | None
    def __init__(self, weights: list[float] | None = None) -> None: ...

class ZNorm(Named, DescriptorMixin):
    """each channel of each series with mean 0 and standard deviation 1, of time series.

    Examples
    --------
    >>> from widemargin.similarity import DTW, ZNorm
    >>> print((ZNorm() >> DTW())([[0.0, 1.0, 2.0]], [[0.0, 10.0, 20.0]]).round(4))
    [[-0.]]
    """

    def __init__(self) -> None: ...

class Derivative(Named, DescriptorMixin):
    """the derivative of each channel of each series, of time series.

    ``slope`` is Keogh and Pazzani's estimate (2001), ((x_i − x_{i−1}) + (x_{i+1} − x_{i−1}) / 2) / 2, of all time
    steps but the first and the last; ``difference`` is x_i − x_{i−1}.

    Parameters
    ----------
    estimate : {"slope", "difference"}, default="slope"

    Examples
    --------
    >>> from widemargin.similarity import DTW, Derivative
    >>> print((Derivative() >> DTW())([[0.0, 1.0, 3.0]], [[5.0, 6.0, 8.0]]).round(4))
    [[-0.]]
    """

    estimate: str
    def __init__(self, estimate: str = "slope") -> None: ...

class MiniRocket(Named, DescriptorMixin):
    """vectors: shares of a series's convolutions with 84 dilated kernels that are above biases (MiniRocket), of time
    series.

    The biases are learned from the training samples.

    Parameters
    ----------
    features : int, default=10000
        From 84 to 1000000. Rounded down to a multiple of 84.
    seed : int, default=0
        From 0 to 9007199254740992. Draws the training series that a bias is taken from, and of several channels the
        sets that are summed.

    Examples
    --------
    >>> from widemargin.similarity import Linear, MiniRocket
    >>> (MiniRocket(features=1000) >> Linear()).spec
    'minirocket:features=1000/linear'
    """

    features: int
    seed: int
    def __init__(self, features: int = 10000, seed: int = 0) -> None: ...

class Hydra(Named, DescriptorMixin):
    """vectors: of groups of eight random dilated kernels, how strongly each is the largest and how often the least
    (Hydra), of time series.

    Half of the groups see the series, half its differences.

    Parameters
    ----------
    groups : int, default=64
        From 2 to 1024. Groups a dilation, an even number.
    seed : int, default=0
        From 0 to 9007199254740992. Draws the kernels, and of several channels the sets that are summed.

    Examples
    --------
    >>> from widemargin.similarity import Features, Hydra
    >>> (Hydra(groups=16) >> Features()).spec
    'hydra:groups=16/features'
    """

    groups: int
    seed: int
    def __init__(self, groups: int = 64, seed: int = 0) -> None: ...

class NGrams(Named, DescriptorMixin):
    """sets of their substrings of n characters, hashed, of strings.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    bits : int, default=2048
        From 1 to 16777216. Places they are hashed to.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import NGrams, Tanimoto
    >>> print((NGrams(n=2) >> Tanimoto())(["banana"], ["ananas"]).round(4))
    [[0.5]]
    """

    n: int
    bits: int
    unit: str
    def __init__(self, n: int = 3, bits: int = 2048, unit: str = "character") -> None: ...

class NGramCounts(Named, DescriptorMixin):
    """vectors: how often each of their substrings of n characters occurs, hashed, of strings.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    bits : int, default=2048
        From 1 to 16777216. Places they are hashed to.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Cosine, NGramCounts
    >>> print((NGramCounts(n=2) >> Cosine())(["banana"], ["ananas"]).round(4))
    [[0.8889]]
    """

    n: int
    bits: int
    unit: str
    def __init__(self, n: int = 3, bits: int = 2048, unit: str = "character") -> None: ...

class Tfidf(Named, DescriptorMixin):
    """sparse vectors of norm 1: how often their n-grams occur, times ln((1 + N) / (1 + df)) + 1 for those that df of
    the N training samples have, of strings.

    N-grams that no training sample has are left out.

    Parameters
    ----------
    n : str, default="1-3"
        From 1 to 64. Characters or words of an n-gram.
    by : {"characters", "words-padded", "words"}, default="characters"
        What n-grams are cut from: the string, each word with a space before and after it, or the words.
    sublinear : bool, default=False
        Take 1 + ln t for an n-gram that occurs t times.
    min_df : int, default=1
        From 1 to 16777216. Leave out what fewer training samples have.
    unit : {"character", "grapheme"}, default="character"
        Compare code points, or grapheme clusters such as a letter with its accents.

    Examples
    --------
    >>> from widemargin.similarity import Features, Tfidf
    >>> (Tfidf(n="1-2", by="words") >> Features()).spec
    'tfidf:n=1-2,by=words/features'
    """

    n: str
    by: str
    sublinear: bool
    min_df: int
    unit: str
    def __init__(
        self,
        n: str = "1-3",
        by: str = "characters",
        sublinear: bool = False,
        min_df: int = 1,
        unit: str = "character",
    ) -> None: ...

class WeisfeilerLehman(Named, DescriptorMixin):
    """sparse vectors of graphs: how many vertices have each label, and each pattern of labels as far as so many edges
    from them, of strings.

    Weisfeiler-Lehman subtree counts (Shervashidze et al. 2011). A graph is a string of JSON, its nodes' labels and
    its edges: {"nodes": ["C", "O"], "edges": [[0, 1]]}, an edge perhaps with a label as its third. Patterns that no
    training graph has share a last column, the norm of their counts.

    Parameters
    ----------
    iterations : int, default=3
        From 0 to 20. Edges from a vertex; 0 counts the labels alone.
    directed : bool, default=False
        Tell the ends of an edge apart.

    Examples
    --------
    >>> from widemargin.similarity import Similarity
    >>> Similarity('wl/cosine').spec
    'wl/cosine'
    """

    iterations: int
    directed: bool
    def __init__(self, iterations: int = 3, directed: bool = False) -> None: ...
