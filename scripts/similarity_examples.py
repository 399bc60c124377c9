"""An example of each similarity and descriptor, for its class's documentation: run as doctests, and checked by hand."""

from __future__ import annotations

# By the name in a spec. A similarity that is not listed has its own spec as its example.
EXAMPLES: dict[str, str] = {
    "linear": """
>>> from widemargin.similarity import Linear
>>> print(Linear()([[1.0, 2.0]], [[3.0, 4.0]]).round(4))
[[11.]]
""",
    "rbf": """
>>> from widemargin.similarity import RBF
>>> print(RBF(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4))
[[0.3679]]
""",
    "laplacian": """
>>> from widemargin.similarity import Laplacian
>>> print(Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4))
[[0.3679]]
""",
    "polynomial": """
>>> from widemargin.similarity import Polynomial
>>> print(Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[3.0, 4.0]]).round(4))
[[144.]]
""",
    "sigmoid": """
>>> from widemargin.similarity import Sigmoid
>>> print(Sigmoid(gamma=0.1)([[1.0, 2.0]], [[3.0, 4.0]]).round(4))
[[0.8005]]
""",
    "cosine": """
>>> from widemargin.similarity import Cosine
>>> print(Cosine()([[1.0, 0.0]], [[1.0, 1.0]]).round(4))
[[0.7071]]
""",
    "tanimoto": """
>>> from widemargin.similarity import Tanimoto
>>> print(Tanimoto()([{1, 2, 3}], [{2, 3, 4}]).round(4))
[[0.5]]
""",
    "chi2": """
>>> from widemargin.similarity import Chi2
>>> print(Chi2()([[2.0, 0.0, 1.0]], [[2.0, 3.0, 3.0]]).round(4))
[[3.5]]
""",
    "hellinger": """
>>> from widemargin.similarity import Hellinger
>>> print(Hellinger()([[4.0, 0.0, 1.0]], [[1.0, 3.0, 9.0]]).round(4))
[[5.]]
""",
    "intersection": """
>>> from widemargin.similarity import Intersection
>>> print(Intersection()([[2.0, 0.0, 1.0]], [[2.0, 3.0, 3.0]]).round(4))
[[3.]]
""",
    "jensen-shannon": """
>>> from widemargin.similarity import JensenShannon
>>> print(JensenShannon()([[2.0, 0.0]], [[2.0, 3.0]]).round(4))
[[2.]]
""",
    "power-mean": """
>>> from widemargin.similarity import PowerMean
>>> print(PowerMean(p=-1)([[2.0, 0.0, 1.0]], [[2.0, 3.0, 3.0]]).round(4))
[[3.5]]
""",
    "thin-plate": """
>>> from widemargin.similarity import ThinPlate
>>> print(ThinPlate()([[0.0, 0.0]], [[0.0, 2.0]]).round(4))
[[2.7726]]
""",
    "distance": """
>>> from widemargin.similarity import Distance
>>> print(Distance()([[0.0, 0.0]], [[3.0, 4.0]]).round(4))
[[-5.]]
""",
    "cubic": """
>>> from widemargin.similarity import Cubic
>>> print(Cubic()([[0.0, 0.0]], [[0.0, 2.0]]).round(4))
[[8.]]
""",
    "polyharmonic": """
>>> from widemargin.similarity import Polyharmonic
>>> print(Polyharmonic(exponent=3)([[0.0, 0.0]], [[0.0, 2.0]]).round(4))
[[8.]]
""",
    "spline": """
>>> from widemargin.similarity import Spline
>>> print(Spline(order=2, dims=3)([[0.0, 0.0, 0.0]], [[0.0, 3.0, 4.0]]).round(4))
[[-5.]]
""",
    "cityblock": """
>>> from widemargin.similarity import Cityblock
>>> print(Cityblock()([[0.0, 0.0]], [[3.0, 4.0]]).round(4))
[[-7.]]
""",
    "log": """
>>> from widemargin.similarity import Log
>>> print(Log(gamma=1.0)([[0.0]], [[2.0]]).round(4))
[[-1.6094]]
""",
    "multiquadric": """
>>> from widemargin.similarity import Multiquadric
>>> print(Multiquadric(gamma=2.0)([[0.0]], [[2.0]]).round(4))
[[-3.]]
""",
    "inverse-multiquadric": """
>>> from widemargin.similarity import InverseMultiquadric
>>> print(InverseMultiquadric(gamma=2.0)([[0.0]], [[2.0]]).round(4))
[[0.3333]]
""",
    "canberra": """
>>> from widemargin.similarity import Canberra
>>> print(Canberra(gamma=1.0)([[1.0, 0.0]], [[3.0, 0.0]]).round(4))
[[0.6065]]
""",
    "emd": """
>>> from widemargin.similarity import EarthMover
>>> hours = [[0, 0, 0, 1], [1, 0, 0, 0]]
>>> print(EarthMover()(hours, hours[:1]).T, EarthMover(ground="circle")(hours, hours[:1]).T)
[[-0. -3.]] [[-0. -1.]]
""",
    "rigid": """
>>> import numpy as np
>>> from widemargin.similarity import Rigid
>>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
>>> print(Rigid(radius=1)(diagonal, moved).round(4))
[[2.]]
""",
    "deformable": """
>>> import numpy as np
>>> from widemargin.similarity import Deformable
>>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
>>> print(Deformable(rigid=0, local=1)(diagonal, moved).round(4))
[[2.]]
""",
    "match": """
>>> import numpy as np
>>> from widemargin.similarity import Match
>>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
>>> print(Match(radius=1, base="linear")(diagonal, moved).round(4))
[[2.]]
""",
    "jitter": """
>>> import numpy as np
>>> from widemargin.similarity import Jitter
>>> diagonal, moved = np.eye(3).reshape(1, 3, 3, 1), np.eye(3, k=1).reshape(1, 3, 3, 1)
>>> print(Jitter(radius=1, base="linear")(diagonal, moved).round(4))
[[2.]]
""",
    "dtw": """
>>> from widemargin.similarity import DTW
>>> print(DTW()([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-0.25]]
""",
    "wdtw": """
>>> from widemargin.similarity import WDTW
>>> print(WDTW(g=0.5)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-0.0672]]
""",
    "msm": """
>>> from widemargin.similarity import MSM
>>> print(MSM(c=0.5)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-1.5]]
""",
    "twe": """
>>> from widemargin.similarity import TWE
>>> print(TWE()([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-2.506]]
""",
    "erp": """
>>> from widemargin.similarity import ERP
>>> print(ERP()([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-2.5]]
""",
    "lcss": """
>>> from widemargin.similarity import LCSS
>>> print(LCSS(epsilon=0.1)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-0.25]]
""",
    "soft-dtw": """
>>> from widemargin.similarity import SoftDTW
>>> print(SoftDTW(smoothing=0.1)([[0.0, 0.0, 1.0, 2.0]], [[0.0, 1.0, 2.0, 2.5]]).round(4))
[[-0.25]]
""",
    "edit": """
>>> from widemargin.similarity import Edit
>>> print(Edit()(["Rossi"], ["Russo"]).round(4))
[[0.6]]
""",
    "align": """
>>> from widemargin.similarity import Align
>>> print(Align()(["GATTACA"], ["GCATGCA"]).round(4))
[[0.3571]]
""",
    "ngram": """
>>> from widemargin.similarity import NGram
>>> print(NGram(n=2)(["banana"], ["ananas"]).round(4))
[[0.8889]]
""",
    "subsequence": """
>>> from widemargin.similarity import Subsequence
>>> print(Subsequence(n=2)(["cat"], ["cart"]).round(4))
[[0.574]]
""",
    "precomputed": """
>>> from widemargin.similarity import Precomputed
>>> print(Precomputed(distance="negative")([[0.0, 2.0], [2.0, 0.0]]).round(4))
[[-0. -2.]
 [-2. -0.]]
""",
    "features": """
>>> from widemargin.similarity import Features, Tfidf
>>> (Tfidf() >> Features()).spec
'tfidf:n=1-3/features'
""",
    "pixels": """
>>> from widemargin.similarity import Pixels, Rigid
>>> (Pixels() >> Rigid(radius=1)).spec
'pixels/rigid:radius=1'
""",
    "phog": """
>>> from widemargin.similarity import PHOG, Chi2
>>> (PHOG(levels=2) >> Chi2()).spec
'phog:levels=2/chi2'
""",
    "colors": """
>>> from widemargin.similarity import Colors, Intersection
>>> (Colors(cells=1) >> Intersection()).spec
'colors:cells=1/intersection'
""",
    "resize": """
>>> from widemargin.similarity import HOG, Resize
>>> (Resize(height=16, width=16) >> HOG(8) >> "rbf").spec
'resize:height=16,width=16/hog:cell=8/rbf'
""",
    "mean-norm": """
>>> from widemargin.similarity import RBF, MeanNorm
>>> (MeanNorm() >> RBF(gamma=1.0)).spec
'mean-norm/rbf:gamma=1'
""",
    "z-score": """
>>> from widemargin.similarity import RBF, ZScore
>>> (ZScore() >> RBF(gamma=1.0)).spec
'z-score/rbf:gamma=1'
""",
    "normal-scores": """
>>> from widemargin.similarity import Laplacian, NormalScores
>>> from widemargin import BasisExpansionSVC
>>> X, y = [[1.0], [2.0], [3.0], [1e6]], [0, 0, 1, 1]
>>> model = BasisExpansionSVC(NormalScores() >> Laplacian(), C=1).fit(X, y)
>>> model.predict([[-5.0], [1e9]])
array([0, 1])
""",
    "znorm": """
>>> from widemargin.similarity import DTW, ZNorm
>>> print((ZNorm() >> DTW())([[0.0, 1.0, 2.0]], [[0.0, 10.0, 20.0]]).round(4))
[[-0.]]
""",
    "derivative": """
>>> from widemargin.similarity import DTW, Derivative
>>> print((Derivative() >> DTW())([[0.0, 1.0, 3.0]], [[5.0, 6.0, 8.0]]).round(4))
[[-0.]]
""",
    "minirocket": """
>>> from widemargin.similarity import Linear, MiniRocket
>>> (MiniRocket(features=1000) >> Linear()).spec
'minirocket:features=1000/linear'
""",
    "hydra": """
>>> from widemargin.similarity import Features, Hydra
>>> (Hydra(groups=16) >> Features()).spec
'hydra:groups=16/features'
""",
    "ngrams": """
>>> from widemargin.similarity import NGrams, Tanimoto
>>> print((NGrams(n=2) >> Tanimoto())(["banana"], ["ananas"]).round(4))
[[0.5]]
""",
    "ngram-counts": """
>>> from widemargin.similarity import Cosine, NGramCounts
>>> print((NGramCounts(n=2) >> Cosine())(["banana"], ["ananas"]).round(4))
[[0.8889]]
""",
    "tfidf": """
>>> from widemargin.similarity import Features, Tfidf
>>> (Tfidf(n="1-2", by="words") >> Features()).spec
'tfidf:n=1-2,by=words/features'
""",
}
