"""Similarities as objects: what compares samples, and what describes them before.

Every object here stands for a *spec*, the text that names a similarity in the command line, in model files and in
messages; its parameters are those of the spec, so that ``similarity__gamma`` can be searched.
"""

from __future__ import annotations

from ._calls import Pairs, pairs
from ._descriptors import HOG
from ._specs import Chain, DescriptorMixin, Named, Resolved, Similarity, pairwise, resolve

__all__ = [
    "DTW",
    "HOG",
    "RBF",
    "Align",
    "Chain",
    "Chi2",
    "Cosine",
    "Cubic",
    "Deformable",
    "DescriptorMixin",
    "Distance",
    "Edit",
    "Hellinger",
    "Intersection",
    "JensenShannon",
    "Laplacian",
    "Linear",
    "MeanNorm",
    "NGram",
    "NGramCounts",
    "NGrams",
    "Pairs",
    "Polyharmonic",
    "Polynomial",
    "PowerMean",
    "Precomputed",
    "Resolved",
    "Rigid",
    "Sigmoid",
    "Similarity",
    "Spline",
    "Tanimoto",
    "ThinPlate",
    "ZNorm",
    "ZScore",
    "pairs",
    "pairwise",
    "resolve",
]


# Vectors


class Linear(Named, Similarity):
    """x·y, of vectors."""

    _name = "linear"


class RBF(Named, Similarity):
    """exp(-gamma ‖x - y‖²), of vectors.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖² from the training samples.
    """

    _name = "rbf"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma


class Laplacian(Named, Similarity):
    """exp(-gamma ‖x - y‖₁), of vectors.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖₁ from the training samples.
    """

    _name = "laplacian"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma


class Polynomial(Named, Similarity):
    """(gamma x·y + coef0)^degree, of vectors.

    Parameters
    ----------
    degree : int, default=3
        From 1 to 16.
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖² from the training samples.
    coef0 : float, default=1.0
    """

    _name = "polynomial"
    _shown = ("degree",)

    def __init__(self, degree: int = 3, gamma: float | str | None = None, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0


class Sigmoid(Named, Similarity):
    """tanh(gamma x·y + coef0), of vectors; indefinite in general.

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0; None learns 1 / mean ‖y - mean‖² from the training samples.
    coef0 : float, default=0.0
    """

    _name = "sigmoid"

    def __init__(self, gamma: float | str | None = None, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0


class Cosine(Named, Similarity):
    """x·y / √(x·x · y·y), of vectors or of bit sets."""

    _name = "cosine"


class Tanimoto(Named, Similarity):
    """|x ∩ y| / |x ∪ y| of bit sets, and x·y / (x·x + y·y - x·y) of vectors."""

    _name = "tanimoto"


class Chi2(Named, Similarity):
    """Σ 2 x_j y_j / (x_j + y_j), of histograms: no value below 0."""

    _name = "chi2"


class Hellinger(Named, Similarity):
    """Σ √(x_j y_j), of histograms: no value below 0."""

    _name = "hellinger"


class Intersection(Named, Similarity):
    """Σ min(x_j, y_j), of histograms: no value below 0."""

    _name = "intersection"


class JensenShannon(Named, Similarity):
    """Σ x_j/2 log₂((x_j + y_j)/x_j) + y_j/2 log₂((x_j + y_j)/y_j), of histograms: no value below 0."""

    _name = "jensen-shannon"


class PowerMean(Named, Similarity):
    """Σ ((x_j^p + y_j^p)/2)^(1/p), of histograms: no value below 0.

    Parameters
    ----------
    p : float
        From -inf to 0: -1 is chi2, 0 Hellinger, -inf intersection.
    """

    _name = "power-mean"

    def __init__(self, p: float) -> None:
        self.p = p


class Distance(Named, Similarity):
    """-‖x - y‖, of vectors."""

    _name = "distance"


class ThinPlate(Named, Similarity):
    """(-1)^order r^(2 order - 2) log r with r = ‖x - y‖, of vectors.

    Parameters
    ----------
    order : int, default=2
        From 2, which is r² log r, to 16.
    """

    _name = "thin-plate"

    def __init__(self, order: int = 2) -> None:
        self.order = order


class Cubic(Named, Similarity):
    """‖x - y‖³, of vectors."""

    _name = "cubic"


class Polyharmonic(Named, Similarity):
    """(-1)^⌈exponent/2⌉ ‖x - y‖^exponent, of vectors.

    Parameters
    ----------
    exponent : float
        Above 0, at most 32, and no even number.
    """

    _name = "polyharmonic"

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent


class Spline(Named, Similarity):
    """± r^(2 order - dims) with r = ‖x - y‖, times log r where that is even; of vectors.

    Parameters
    ----------
    order : int
        Above dims / 2, at most 16.
    dims : int
        At least 1.
    """

    _name = "spline"

    def __init__(self, order: int, dims: int) -> None:
        self.order = order
        self.dims = dims


class Precomputed(Named, Similarity):
    """Samples are rows of similarities, one column a basis."""

    _name = "precomputed"


# Grids of cells


class Rigid(Named, Similarity):
    """max over shifts z of Σ_c φ_c(x)·φ_{c+z}(y), of grids of cells: ``HOG() >> Rigid()`` compares images.

    Parameters
    ----------
    radius : int, default=1
        How many cells z may go along each axis.
    penalty : float, default=0.0
        Its product with ‖z‖² is subtracted.
    """

    _name = "rigid"
    _shown = ("radius",)

    def __init__(self, radius: int = 1, penalty: float = 0.0) -> None:
        self.radius = radius
        self.penalty = penalty


class Deformable(Named, Similarity):
    """max over shifts z of Σ_c max over u of φ_c(x)·φ_{c+z+u}(y), of grids of cells; not symmetric.

    Parameters
    ----------
    rigid, local : int, default=1
        How many cells z, and u, may go along each axis.
    penalty : float, default=0.0
        Its product with ‖z‖², and with ‖u‖² for each cell, is subtracted.
    """

    _name = "deformable"
    _shown = ("rigid", "local")

    def __init__(self, rigid: int = 1, local: int = 1, penalty: float = 0.0) -> None:
        self.rigid = rigid
        self.local = local
        self.penalty = penalty


# Time series


class DTW(Named, Similarity):
    """-d(x, y), or exp(-gamma d(x, y)), d the least sum of squared differences along a warping path; of time series.

    Parameters
    ----------
    window : float, default=1.0
        Half-width of the band the path stays in, as a share of the longer series; 1 is no band.
    gamma : float, "auto" or None, default=None
        None is -d; "auto" learns 1 / mean d from pairs of training series.
    root : bool, default=False
        Take the root of the sum.
    """

    _name = "dtw"

    def __init__(self, window: float = 1.0, gamma: float | str | None = None, root: bool = False) -> None:
        self.window = window
        self.gamma = gamma
        self.root = root


# Strings


class Edit(Named, Similarity):
    """1 - d(x, y) / largest d of such lengths, d the number of edits; of strings.

    Parameters
    ----------
    metric : str, default="levenshtein"
        "levenshtein", "osa", "damerau", "indel", "lcs", "jaro" or "jaro_winkler".
    gamma : float or None, default=None
        With one it is exp(-gamma (1 - s)).
    """

    _name = "edit"

    def __init__(self, metric: str = "levenshtein", gamma: float | None = None) -> None:
        self.metric = metric
        self.gamma = gamma


class Align(Named, Similarity):
    """score(x, y) / √(score(x, x) score(y, y)) of the best alignment, of strings.

    Parameters
    ----------
    mode : {"local", "global"}, default="local"
    match, mismatch : int, default=2 and -1
        What a pair of characters scores.
    matrix : {"blosum62"} or None, default=None
        In the place of these two.
    open, extend : int or None, default=None
        A gap of k characters scores open + (k - 1) extend; None is -2 (with a matrix -11), and -1.
    normalize : bool, default=True
        False is the plain score.
    """

    _name = "align"

    def __init__(
        self,
        mode: str = "local",
        match: int = 2,
        mismatch: int = -1,
        matrix: str | None = None,
        open: int | None = None,
        extend: int | None = None,
        normalize: bool = True,
    ) -> None:
        self.mode = mode
        self.match = match
        self.mismatch = mismatch
        self.matrix = matrix
        self.open = open
        self.extend = extend
        self.normalize = normalize


class NGram(Named, Similarity):
    """Cosine of how often each substring of n characters occurs, of strings.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    """

    _name = "ngram"
    _shown = ("n",)

    def __init__(self, n: int = 3) -> None:
        self.n = n


# Descriptors


class MeanNorm(Named, DescriptorMixin):
    """(y - mean) / mean ‖y - mean‖, learned from the training samples; of vectors and grids."""

    _name = "mean-norm"


class ZScore(Named, DescriptorMixin):
    """(y_j - mean_j) / standard deviation_j, learned from the training samples; of vectors and grids."""

    _name = "z-score"


class ZNorm(Named, DescriptorMixin):
    """Each channel of each time series with mean 0 and standard deviation 1."""

    _name = "znorm"


class NGrams(Named, DescriptorMixin):
    """Strings as bit sets of their substrings of n characters, hashed.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    bits : int, default=2048
        Places they are hashed to, up to 2²⁴.
    """

    _name = "ngrams"
    _shown = ("n",)

    def __init__(self, n: int = 3, bits: int = 2048) -> None:
        self.n = n
        self.bits = bits


class NGramCounts(NGrams):
    """Strings as sparse vectors: how often each of their substrings of n characters occurs, hashed.

    Parameters
    ----------
    n : int, default=3
        From 1 to 64.
    bits : int, default=2048
        Places they are hashed to, up to 2²⁴.
    """

    _name = "ngram-counts"
