"""What holds for every regressor: the selected C, several outputs, bad targets, and estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compared import expected_error, path
from problems import regression_table

from widemargin import BasisExpansionRegressor, ThinPlateRegressor

Make = Callable[..., Any]


def on_rbf(C: Any = "auto", **parameters: Any) -> BasisExpansionRegressor:
    return BasisExpansionRegressor("rbf:gamma=0.3", normalization="nystroem", C=C, **parameters)


def on_distances(C: Any = "auto", **parameters: Any) -> ThinPlateRegressor:
    return ThinPlateRegressor("distance", C=C, **parameters)


each = pytest.mark.parametrize("make", [on_rbf, on_distances])


@each
def test_the_smallest_leave_one_out_error_of_the_path_is_selected(make: Make) -> None:
    X, y = regression_table()
    found = make().fit(X, y)
    best = path(found)["score"].argmax()
    assert path(found)["C"][best] == found.C_
    assert path(found)["score"][best] == found.estimated_score_
    assert found.estimated_score_ == pytest.approx(1 - expected_error(found) ** 2 / y.var())
    again = make(found.C_).fit(X, y)
    assert expected_error(again) == pytest.approx(expected_error(found))
    assert len(path(again)["C"]) == 1


@each
def test_one_of_several_outputs_may_be_constant(make: Make) -> None:
    X, y = regression_table()
    Y = np.column_stack([y, 1e6 + 5 * y**2, np.full(len(y), 3.0)])
    all_of_them = make(2.0).fit(X, Y)
    assert all_of_them.predict(X).shape == Y.shape
    assert all_of_them.coef_.shape[0] == 3
    assert (all_of_them.predict(X)[:, 2] == 3.0).all()


@pytest.mark.parametrize("make", [BasisExpansionRegressor, ThinPlateRegressor])
def test_bad_targets_raise(make: Make) -> None:
    X, y = regression_table()
    regressor = make("rbf:gamma=0.3")
    with pytest.raises(ValueError, match="NaN"):
        regressor.fit(X, np.where(np.arange(60) == 3, np.nan, y))
    with pytest.raises(ValueError, match="infinity"):
        regressor.fit(X, np.where(np.arange(60) == 3, np.inf, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        regressor.fit(X, y[:-1])
    with pytest.raises(ValueError, match="convert string"):
        regressor.fit(X, ["a"] * 60)
    with pytest.warns(UserWarning, match="same target"):
        constant = make().fit(X, np.full(60, 2.5))
    assert (constant.predict(X) == 2.5).all()
    assert expected_error(constant) == 0.0
    with pytest.raises(ValueError, match="'C'"):
        make(C="best").fit(X, y)
