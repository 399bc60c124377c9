"""What Dask cannot fit is refused with the partition, the row and a cure."""

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from on_dask import cut
from sklearn.base import clone
from sklearn.datasets import load_digits

from widemargin.dask import (
    BasisExpansionRegressor,
    BasisExpansionSVC,
    PowerMeanSVC,
    ThinPlateRegressor,
    ThinPlateSVC,
)

X, y = load_digits(return_X_y=True)
X, y = X[:100], y[:100]
SIZES = (60, 40)
SVC = BasisExpansionSVC("rbf", n_basis=20, basis="index", normalization="mean_norm", C=1.0)


def at(values, row, value):
    """A copy of the values with one of them replaced."""
    values = values.astype(float)
    values[row] = value
    return values


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (BasisExpansionSVC, {"C": "best"}, "'C' parameter"),
        (BasisExpansionSVC, {"basis": "kmedoids"}, "'index', 'every', 'random', 'auto'"),
        (BasisExpansionSVC, {"loss": "hinge"}, "'squared_hinge', 'squared_error', 'logistic'"),
        (BasisExpansionSVC, {"similarity": "rbf:weight=auto", "C": 1.0}, "only a classifier"),
        (BasisExpansionSVC, {"penalty": "l1"}, "not supported on Dask"),
        (BasisExpansionSVC, {"similarity": lambda a, b: np.zeros((len(a), len(b)))}, "Python callable"),
        (PowerMeanSVC, {"loss": "hinge"}, r"'loss' .* must be one of 'squared_hinge'\. Got 'hinge'"),
        (PowerMeanSVC, {"approximation": "polynomial"}, r"'approximation' .* 'nystroem'\. Got 'polynomial'"),
        (PowerMeanSVC, {"scale": "mean"}, "'scale' parameter"),
        (ThinPlateSVC, {"n_basis": None}, "'n_basis' parameter of ThinPlateSVC must be a number of bases on Dask"),
        (ThinPlateSVC, {"C": "best"}, "'C' parameter"),
        (ThinPlateSVC, {"polynomials": "some"}, "'polynomials' parameter"),
        (ThinPlateRegressor, {"n_basis": None}, "must be a number of bases on Dask"),
        (BasisExpansionRegressor, {"loss": "huber", "epsilon": 0}, "epsilon = 0 is not allowed"),
    ],
)
def test_parameters(client, make, parameters, message):
    given = parameters if make in (PowerMeanSVC, BasisExpansionRegressor) else {"n_basis": 10, **parameters}
    with pytest.raises((TypeError, ValueError), match=message):
        make(**given).fit(*cut(X, y, SIZES))


@pytest.mark.parametrize(
    ("estimator", "labels", "message"),
    [
        (SVC, y[:90], "X has 100 rows, y has 90"),
        (SVC, at(y, 67, np.nan), r"partition 1: y has no class in row 7 \(from 0\)"),
        (SVC, np.zeros(100), "at least two classes"),
        (SVC, at(np.column_stack([y > 4, y > 2]), (60, 1), 2), "partition 1: .* Y has 2 at row 0, column 1"),
        (BasisExpansionRegressor("rbf"), at(y, 79, np.inf), r"partition 1: a target of its row 19 \(from 0\) is not"),
        (BasisExpansionRegressor("rbf"), np.array(["word"] * 100), r"partition \d: could not convert string to float"),
    ],
)
def test_answers(client, estimator, labels, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(cut(X, y, SIZES)[0], da.from_array(labels, chunks=(60, *labels.shape[1:])))


def test_weights_and_samples(client):
    dX, dy = cut(X, y, SIZES)
    with pytest.raises(ValueError, match=r"partition 1: the weight of its row 2 \(from 0\) is -1"):
        SVC.fit(dX, dy, sample_weight=at(np.ones(100), 62, -1))
    with pytest.raises(ValueError, match=r"split along its columns .* pass X.rechunk\(\{1: -1\}\)"):
        SVC.fit(da.from_array(X, chunks=(50, 32)), dy)
    with pytest.raises(ValueError, match="no samples"):
        SVC.fit(dX[:0], dy[:0])
    with pytest.raises(ValueError, match="requires y to be passed"):
        ThinPlateRegressor().fit(dX, None)
    for scale in (True, False):
        with pytest.raises(ValueError, match=r"partition 1: row 3, column 5 \(from 0\): -1 is negative"):
            PowerMeanSVC(scale=scale).fit(cut(at(X, (63, 5), -1), y, SIZES)[0], dy)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC,
        PowerMeanSVC(),
        PowerMeanSVC(scale=False),
        ThinPlateSVC(n_basis=10, basis="index"),
        ThinPlateRegressor(n_basis=10, basis="index"),
    ],
    ids=str,
)
def test_samples_that_do_not_fit_together_and_costs_beyond_the_range_of_numbers(client, estimator):
    dX, dy = cut(X, y, SIZES)
    name = type(estimator).__name__
    with pytest.raises(TypeError, match=rf"not a collection of Dask: widemargin\.{name} trains in memory"):
        estimator.fit(X, y)
    pieces = zip([X[:60], X[60:, :9]], SIZES, strict=True)
    ragged = da.concatenate([da.from_delayed(delayed(one), (n, 64), float) for one, n in pieces])
    with pytest.raises(ValueError, match="partition 1 of X has 9 columns, partition 0 has 64"):
        estimator.fit(ragged, dy)
    with pytest.raises(ValueError, match=r"partition 1: .*NaN"):
        estimator.fit(cut(at(X, (80, 3), np.nan), y, SIZES)[0], dy)
    if hasattr(estimator, "class_weight"):
        with pytest.raises(ValueError, match="C times the sum of the weights"):
            clone(estimator).set_params(C=1e300, class_weight={0: 1e10}).fit(dX, dy)
