"""Categories, booleans, missing values and texts in data frames become features as on the command line."""

import datetime
import json
import pickle

import numpy as np
import pandas
import polars
import pytest
from command_line import run

import widemargin as wm
from widemargin.similarity import pairs


def passengers(n=120, seed=0):
    """A frame with a column of each kind, and what became of the passengers."""
    random = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "fare": random.gamma(2.0, 10.0, n).round(2),
            "sex": random.choice(["female", "male"], n),
            "alone": random.random(n) < 0.5,
            "deck": pandas.Series(random.choice([1, 2, 3], n)).astype("category"),
            "port": random.choice(["Cherbourg", "Queenstown", "Southampton"], n),
        }
    )
    y = (frame["sex"] == "female").astype(int) ^ (random.random(n) < 0.1)
    frame.loc[::9, "fare"] = np.nan
    frame.loc[::11, "port"] = None
    return frame, y.to_numpy()


def of_polars(frame):
    return polars.DataFrame({name: frame[name].tolist() for name in frame.columns}, strict=False).with_columns(
        polars.col("fare").fill_nan(None), polars.col("deck").cast(polars.String).cast(polars.Categorical)
    )


ESTIMATORS = [
    lambda: wm.BasisExpansionSVC("rbf:gamma=0.1", n_basis=30, C=1.0, normalization="mean_norm"),
    lambda: wm.ThinPlateSVC(C=1.0),
    lambda: wm.PowerMeanSVC(C=1.0),
    lambda: wm.AutoSVC(methods="thin_plate"),
]


@pytest.mark.parametrize("make", ESTIMATORS)
def test_frames_of_every_library_give_the_same_decisions(make, tmp_path):
    frame, y = passengers()
    fitted = make().fit(frame, y)
    assert fitted.score(frame, y) >= 0.8
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (5, list(frame.columns))
    scores = fitted.decision_function(frame)
    other = make().fit(of_polars(frame), y)
    np.testing.assert_array_equal(other.decision_function(of_polars(frame)), scores)
    np.testing.assert_array_equal(fitted.decision_function(of_polars(frame)), scores)
    np.testing.assert_array_equal(fitted.decision_function(frame[frame.columns[::-1]]), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(frame), scores)
    if not isinstance(fitted, wm.AutoSVC):
        wm.save(fitted, tmp_path / "model")
        loaded = wm.load(tmp_path / "model")
        assert (loaded.n_features_in_, loaded.feature_names_in_.tolist()) == (5, list(frame.columns))
        np.testing.assert_array_equal(loaded.decision_function(frame), scores)


def test_the_other_estimators_take_frames():
    frame, y = passengers()
    for regressor in (wm.BasisExpansionRegressor("rbf", n_basis=20), wm.ThinPlateRegressor()):
        assert regressor.fit(frame, y).score(frame, y) > 0.3
    assert wm.BasisExpansionOneClass(n_basis=20).fit(frame).predict(frame).shape == (120,)
    assert wm.BasisExpansion(n_basis=20).fit_transform(frame).shape == (120, 20)
    several = np.stack([y, 1 - y], axis=1)
    assert wm.ThinPlateSVC(C=1.0).fit(frame, several).predict(frame).shape == (120, 2)


def test_a_similarity_of_python_together_with_one_of_features(tmp_path):
    frame, y = passengers()
    svc = wm.BasisExpansionSVC(["rbf:gamma=0.1", same_sex], n_basis=10, C=1.0, normalization="mean_norm").fit(frame, y)
    wm.save(svc, tmp_path / "model")
    loaded = wm.load(tmp_path / "model", trusted=True)
    np.testing.assert_array_equal(loaded.decision_function(frame), svc.decision_function(frame))


def same_sex(samples, bases):
    return (samples["sex"].to_numpy()[:, None] == bases["sex"].to_numpy()).astype(float)


@pytest.mark.parametrize(
    ("method", "flags", "estimator"),
    [
        (
            "basis-expansion",
            ["--similarity", "rbf:gamma=0.1", "--n-basis", "30", "--normalization", "mean-norm", "-C", "1"],
            ESTIMATORS[0],
        ),
        ("thin-plate", ["-C", "1"], ESTIMATORS[1]),
        ("power-mean", ["-C", "1"], ESTIMATORS[2]),
    ],
)
def test_python_and_the_command_line_read_each_others_models(method, flags, estimator, tmp_path):
    frame, y = passengers()
    # Numbers are categories where the frame says so, which a file does not.
    frame["deck"] = frame["deck"].map({1: "A", 2: "B", 3: "C"}).astype("category")
    frame.assign(label=y).to_csv(tmp_path / "train.csv", index=False)
    frame.to_csv(tmp_path / "test.csv", index=False)
    fitted = estimator().fit(frame, y)
    wm.save(fitted, tmp_path / "python")
    run(tmp_path, "train", f"--method={method}", "train.csv", "-o", "program", "--quiet", *flags)
    loaded = wm.load(tmp_path / "program")
    assert json.loads(loaded._table_columns) == json.loads(fitted._table_columns)
    for model, known in (("python", fitted), ("program", loaded)):
        lines = run(tmp_path, "predict", model, "test.csv", "--scores", "--quiet").split("\n")
        scores = [float(line.replace(",", "\t").split("\t")[-1]) for line in lines if line and line[-1].isdigit()]
        np.testing.assert_array_equal(np.float32(scores), np.float32(known.decision_function(frame)))
        read = pandas.read_csv(tmp_path / "test.csv")
        np.testing.assert_array_equal(known.decision_function(read), known.decision_function(frame))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pandas.date_range("2024-01-31", periods=120), "column 'when' contains dates or times: drop it"),
        (pandas.period_range("2024-01", periods=120, freq="D"), "column 'when' contains dates or times"),
        ([datetime.date(2024, 1, 31)] * 120, "column 'when' contains dates or times"),
        (pandas.to_timedelta(np.arange(120), "s"), "column 'when' contains dates or times"),
        (["2024-01-31"] * 120, r"column 'when', row 0 \(from 0\): '2024-01-31' is a date"),
        ([*map(str, range(119)), "many"], r"column 'when', row 119 \(from 0\): 'many' is not a number"),
        ([{"a": 1}] * 120, "column 'when' contains objects of type dict"),
        ([None] * 120, "column 'when': no value in any row"),
        ([f"passenger {k}" for k in range(120)], "column 'when': 120 different texts in 120 rows"),
    ],
)
def test_rejects_columns_that_are_no_features_by_name(column, message):
    frame, y = passengers()
    with pytest.raises(ValueError, match=message):
        wm.ThinPlateSVC().fit(frame.assign(when=column), y)


def test_later_frames_need_the_columns_and_their_kinds():
    frame, y = passengers()
    svc = wm.ThinPlateSVC(C=1.0).fit(frame, y)
    with pytest.raises(ValueError, match="port"):
        svc.predict(frame.drop(columns="port"))
    with pytest.raises(ValueError, match="age"):
        svc.predict(frame.assign(age=1))
    with pytest.raises(ValueError, match=r"column 'fare', row 0 .*'much' is not a number"):
        svc.predict(frame.assign(fare="much"))
    with pytest.warns(UserWarning, match="column 'port': 'Belfast' did not occur in training"):
        svc.predict(frame.assign(port="Belfast"))
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(svc.predict(frame.to_numpy(dtype=object)), svc.predict(frame))
    # A fit on numbers forgets the columns.
    numbers = frame[["fare"]].fillna(0.0).assign(alone=1.0)
    assert svc.fit(numbers, y).predict(numbers.to_numpy()).shape == (120,)
    assert svc._table_columns is None
    svc = wm.BasisExpansionSVC(n_basis=10, C=1.0).fit(frame, y)
    assert svc.fit(frame["sex"].tolist(), y).kind_ == "strings"


def test_frames_of_numbers_are_not_encoded():
    frame, y = passengers()
    numbers = frame[["fare"]].fillna(0.0)
    for same in (numbers, numbers.astype(np.float32), numbers.astype("Float64"), polars.DataFrame(numbers)):
        assert wm.ThinPlateSVC(C=1.0).fit(same, y)._table_columns is None
    for more in (frame[["fare"]], frame[["fare"]].convert_dtypes(), frame[["fare", "alone"]]):
        assert wm.ThinPlateSVC(C=1.0).fit(more, y)._table_columns is not None
    svc = wm.BasisExpansionSVC(pairs(lambda a, b: float(a[1] == b[1])), n_basis=5).fit(frame, y)
    assert (svc.kind_, svc._table_columns) == ("objects", None)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("kind", ["numbers", "mixed"])
def test_columns_are_matched_by_names_that_are_not_texts(make, kind):
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = (X[:, 0] > 0).astype(int)
    frame = pandas.DataFrame(np.exp(X))
    if kind == "mixed":
        frame[7] = np.where(X[:, 1] > 0, "a", "b")
    fitted = make().fit(frame, y)
    scores = fitted.decision_function(frame)
    np.testing.assert_array_equal(fitted.decision_function(frame[list(frame.columns)[::-1]]), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(frame[[*frame][::-1]]), scores)
    with pytest.raises(ValueError, match=r"X has the columns 10, 1, 2.*, and those of the fit are 0, 1, 2"):
        fitted.decision_function(frame.rename(columns={0: 10}))
