"""Columns by their names on Dask."""

import dask.dataframe as dd
import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

import widemargin as wm
from widemargin.dask import BasisExpansionSVC, PowerMeanSVC, ThinPlateSVC

CLASSIFIERS = [
    PowerMeanSVC(-1.0, C=0.01, nodes=3, class_weight="balanced", tol=0.02, max_iter=90, random_state=1),
    BasisExpansionSVC(
        "z-score/rbf", n_basis=20, basis="random", fit_intercept=False, random_state=1, normalization="mean_norm", C=1.0
    ),
    ThinPlateSVC(n_basis=20, basis="kmedoids", C=1.0, class_weight={"a": 2.0}, random_state=1),
    PowerMeanSVC(random_state=0),
    ThinPlateSVC(n_basis=15, random_state=0),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_columns_are_put_right_by_name_and_parameters_survive_a_file(client, estimator, tmp_path):
    data = load_wine(as_frame=True)
    frame = data.data.set_axis([f"x{i}" for i in range(13)], axis=1)
    other = frame[frame.columns[::-1]]
    X, y = dd.from_pandas(frame, npartitions=3), dd.from_pandas(data.target.map("abc".__getitem__), npartitions=3)
    fitted = clone(estimator).fit(X, y)
    assert type(fitted.estimator_) is estimator.plain
    np.testing.assert_array_equal(fitted.predict(X).compute(), fitted.predict(frame))
    truth = fitted.decision_function(frame)
    lazily = fitted.decision_function(dd.from_pandas(other, npartitions=2))
    np.testing.assert_array_equal(np.asarray(lazily.compute()), truth)
    wm.save(fitted, tmp_path / "m")
    loaded = wm.load(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(loaded.decision_function(other), truth)
    with pytest.raises(ValueError, match="now missing:\n- x0"):
        loaded.predict(frame[frame.columns[1:]])
    asked = estimator.get_params(deep=False)
    for name in ("class_weight", "tol", "max_iter", "basis", "n_basis", "fit_intercept", "C"):
        assert asked.get(name, "auto") in ("auto", loaded.get_params().get(name)), name


def test_partitions_whose_columns_differ_are_refused(client):
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    X = dd.from_map(lambda part: part, [frame, frame[["b", "a"]]], meta=frame.iloc[:0], enforce_metadata=False)
    y = dd.from_map(pandas.Series, [[0, 1, 0], [1, 0, 1]], meta=pandas.Series([], dtype=int))
    with pytest.raises(ValueError, match=r"partition 1 of X has the columns \['b', 'a'\]"):
        PowerMeanSVC().fit(X, y)
