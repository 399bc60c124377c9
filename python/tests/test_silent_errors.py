"""Faults that once gave wrong answers without a word."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

import widemargin as wm

pd = pytest.importorskip("pandas")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["array", "list"])
def test_copies_are_left_out_together_also_by_a_callable(rng, kind):
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    callable_ = wm.similarity.pairs(lambda a, b: np.exp(-((np.asarray(a) - np.asarray(b)) ** 2).sum()))
    model = wm.BasisExpansionSVC(callable_).fit(X if kind == "array" else list(X), y)
    named = wm.BasisExpansionSVC("rbf:gamma=1", normalization=model.normalization_).fit(X, y)
    assert abs(model.estimated_score_ - named.estimated_score_) < 0.02
    assert model.estimated_score_ < 0.8


@pytest.mark.parametrize("kind", ["strings", "table"])
def test_the_best_of_many_candidates_on_few_samples_is_no_better_than_chance(kind):
    """Random labels: the estimate may be as good as the largest class."""
    excess = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = (
            ["".join(rng.choice(list("abcd"), 12)) for _ in range(60)]
            if kind == "strings"
            else rng.normal(size=(60, 6))
        )
        y = rng.permutation(np.repeat([0, 1], 30))
        model = wm.BasisExpansionSVC().fit(X, y)
        assert model.report_["estimate"]["method"] == "folds"
        excess.append((model.estimated_score_ - 0.5) / model.estimated_score_std_)
    # Of leave-one-out of the best candidate the mean is 1.
    assert np.mean(excess) < 0.5, excess


def test_folds_with_searches_take_weights_as_copies_and_classes_of_one_sample(rng):
    X, y = rng.normal(size=(70, 4)), np.array(["a", "b"] * 34 + ["c", "a"])
    y[np.argsort(X[:, 0])[:20]] = "a"
    y[68] = "c"
    weights = rng.integers(0, 3, 70)
    weights[68] = 1
    weighted = wm.BasisExpansionSVC().fit(X, y, weights)
    copies = wm.BasisExpansionSVC().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.estimated_score_ == copies.estimated_score_
    assert weighted.report_["estimate"]["method"] == "folds"
    np.testing.assert_array_equal(weighted.predict_proba(X), copies.predict_proba(X))


def test_a_short_time_limit_still_compares_several_candidates(rng):
    X = rng.normal(size=(5000, 8))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=5000) > 1
    with pytest.warns(ConvergenceWarning, match="the time limit passed"):
        model = wm.BasisExpansionSVC(time_limit=0.7, n_jobs=1).fit(X, y)
    assert (model.cv_results_["iter"] == 0).sum() > 1


@pytest.mark.parametrize("seed", range(3))
def test_methods_are_compared_on_folds_that_do_not_split_copies(seed):
    rng = np.random.default_rng(seed)
    X, counts = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    weighted = wm.AutoSVC(scoring="accuracy").fit(X, y, counts)
    copies = wm.AutoSVC(scoring="accuracy").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.decision_function(X), copies.decision_function(X))


def test_rows_without_weight_are_not_among_those_on_which_methods_are_compared(rng):
    X = rng.normal(size=(1500, 4))
    y, weights = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=1500), rng.integers(0, 3, 1500)
    weighted = wm.AutoRegressor().fit(X, y, weights)
    without = wm.AutoRegressor().fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    np.testing.assert_array_equal(weighted.predict(X[:50]), without.predict(X[:50]))


def test_warnings_are_those_of_the_method_that_was_selected(recwarn):
    for seed in (13, 14):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 5))
        model = wm.AutoRegressor().fit(X, 0.5 * X[:, 0] + rng.normal(size=60))
        assert len([one for one in recwarn if "estimated R²" in str(one.message)]) == 0 or model.estimated_score_ <= 0


@pytest.mark.parametrize("options", [{"cv": 3}, {"scoring": "r2"}])
def test_rows_without_weight_do_not_choose_the_method(rng, options):
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    weights = np.ones(120)
    weights[::3] = 0
    y[::3] = 100 * rng.normal(size=40)
    scores = wm.AutoRegressor(**options).fit(X, y, weights).cv_results_["mean_test_score"][:2]
    assert (scores > 0.9).all()


def test_an_estimate_with_groups_is_that_of_their_folds(rng):
    groups = np.repeat(np.arange(30), 8)
    X = rng.normal(size=(30, 4))[groups] + 0.01 * rng.normal(size=(240, 4))
    y = rng.integers(0, 2, 30)[groups]
    model = wm.AutoSVC().fit(X, y, groups=groups)
    assert model.estimated_score_ < 0.8
    assert model.estimated_score_ == np.nanmax(model.cv_results_["mean_test_score"][:2])
    # That of 30 independent groups, at least.
    score = model.estimated_score_
    assert model.estimated_score_std_ >= np.sqrt(score * (1 - score) / 30)
    other = wm.AutoSVC(scoring="f1").fit(X, y, groups=groups)
    assert np.isnan(other.estimated_score_)


def test_scores_that_are_no_numbers_and_folds_that_are_none_are_refused(rng):
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    with pytest.raises(ValueError, match="the score of fold 0 is not a number"):
        wm.AutoSVC(scoring=lambda model, X, y: np.nan, cv=3).fit(X, y)
    used = GroupKFold(3).split(X, y, np.arange(60))
    list(used)
    with pytest.raises(ValueError, match="cv has no folds"):
        wm.AutoSVC(cv=used).fit(X, y)


def test_attributes_of_an_earlier_fit_do_not_stay(rng):
    X = np.abs(rng.normal(size=(100, 3)))
    y = (X[:, 0] > X[:, 1]).astype(int)
    model = wm.BasisExpansionSVC("rbf").fit(X, np.column_stack([y, X[:, 2] > 0.5]).astype(int)).fit(X, y)
    assert not hasattr(model, "label_names_")
    assert not hasattr(model, "estimated_label_scores_")
    auto = wm.AutoSVC(methods="basis_expansion").fit(X, y).set_params(methods="power_mean").fit(X, y)
    assert not hasattr(auto, "normalization_")


def test_similarities_to_the_bases_are_known_by_their_names(rng):
    Z = rng.normal(size=(80, 3))
    y = (Z[:, 0] * Z[:, 1] > 0).astype(int)
    names = [f"s{i}" for i in range(80)]
    K = pd.DataFrame(np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 2), columns=names)
    model = wm.BasisExpansionSVC("precomputed", n_basis=20).fit(K, y)
    of_bases = K.iloc[:, model.basis_indices_]
    expected = model.decision_function(K)
    np.testing.assert_array_equal(model.decision_function(K[K.columns[::-1]]), expected)
    np.testing.assert_array_equal(model.decision_function(of_bases), expected)
    np.testing.assert_array_equal(model.decision_function(of_bases[of_bases.columns[::-1]]), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        model.decision_function(K.drop(columns=of_bases.columns).iloc[:, :20])


def test_chunks_of_frames_are_joined_by_the_names_of_their_columns(rng):
    X = pd.DataFrame(rng.normal(size=(600, 3)) * [1, 5, 1], columns=list("abc"))
    y = (X.a - X.c > 0).astype(int).to_numpy()
    parts = np.array_split(np.arange(600), 3)
    rolled = [X.iloc[part][list(np.roll(list("abc"), at))] for at, part in enumerate(parts)]
    model = wm.BasisExpansionSVC("rbf", n_basis=100).fit(
        iter([(one, y[p]) for one, p in zip(rolled, parts, strict=True)])
    )
    assert list(model.feature_names_in_) == list("abc")
    assert model.score(X[["c", "b", "a"]], y) > 0.95
    renamed = rolled[1].set_axis(list("xyz"), axis=1)
    with pytest.raises(ValueError, match=r"chunk 1 has the columns \['x', 'y', 'z'\], chunk 0 has \['a', 'b', 'c'\]"):
        wm.BasisExpansionSVC("rbf").fit(iter([(rolled[0], y[parts[0]]), (renamed, y[parts[1]])]))


def test_sparse_columns_far_from_0_are_refused_with_a_cure(rng):
    X = np.column_stack([1.7e9 + rng.uniform(0, 100, 200), rng.normal(size=200)])
    y = (X[:, 1] > 0).astype(int)
    with pytest.raises(
        ValueError, match=r"a sparse column 0 so far from 0 .* differences from its mean, or dense rows"
    ):
        wm.BasisExpansionSVC("rbf").fit(sparse.csr_array(X), y)
    X[:, 0] -= X[:, 0].mean()
    assert wm.BasisExpansionSVC("rbf").fit(sparse.csr_array(X), y).score(X, y) > 0.9


def loaded(model, folder):
    wm.save(model, folder / "m")
    return wm.load(folder / "m")


@pytest.mark.parametrize("n_basis", ["auto", 20])
@pytest.mark.parametrize("named", [False, True])
def test_a_loaded_model_takes_the_similarities_to_all_training_samples(rng, tmp_path, n_basis, named):
    Z = rng.normal(size=(80, 3))
    y = (Z[:, 0] > 0).astype(int)
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 2)
    train, new = K[:60, :60], K[60:, :60]
    if named:
        train, new = (pd.DataFrame(part, columns=[f"s{i}" for i in range(60)]) for part in (train, new))
    for model in (
        wm.BasisExpansionSVC("precomputed", n_basis=n_basis, C=1.0),
        wm.BasisExpansionRegressor("precomputed", n_basis=n_basis),
    ):
        fitted = model.fit(train, y[:60])
        again = loaded(loaded(fitted, tmp_path), tmp_path)
        values = getattr(fitted, "decision_function", fitted.predict)
        of_loaded = getattr(again, "decision_function", again.predict)
        np.testing.assert_array_equal(of_loaded(new), values(new))
        np.testing.assert_array_equal(again.basis_indices_, fitted.basis_indices_)
        of_bases = new.iloc[:, fitted.basis_indices_] if named else new[:, fitted.basis_indices_]
        np.testing.assert_array_equal(of_loaded(of_bases), values(new))
        # As other programs read the file: if all samples are bases, in the order of the columns.
        if n_basis == "auto":
            np.testing.assert_array_equal(fitted.basis_indices_, np.arange(60))


def test_numbers_that_are_missing_only_later_are_medians(rng, tmp_path):
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    y = (X.a + X.b > 0).astype(int)
    holes = X.copy()
    holes.iloc[7, 1] = np.nan
    filled = holes.fillna({"b": X.b.median()})
    for model in (
        wm.ThinPlateSVC(C=1.0),
        wm.BasisExpansionSVC("rbf", C=1.0),
        wm.AutoRegressor(),
        wm.PowerMeanSVC(C=1.0),
    ):
        data = [part.abs() if isinstance(model, wm.PowerMeanSVC) else part for part in (X, holes, filled)]
        data[2] = data[2].assign(b=data[2].b.where(holes.b.notna(), data[0].b.median()))
        fitted = model.fit(data[0], y)
        for one in (fitted, loaded(fitted, tmp_path)):
            values = getattr(one, "decision_function", one.predict)
            np.testing.assert_array_equal(values(data[1]), values(data[2]))
            np.testing.assert_array_equal(values(data[1][["c", "b", "a"]]), values(data[2]))
    scores = cross_val_score(wm.ThinPlateSVC(C=1.0), holes, y, cv=KFold(5))
    assert (scores > 0.7).all()
    with pytest.raises(ValueError, match="contains NaN"):
        wm.ThinPlateSVC(C=1.0).fit(X, y).predict(holes.to_numpy())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_columns_of_labels_and_outputs_are_known_by_their_names(rng, tmp_path):
    X = rng.normal(size=(90, 3))
    Y = pd.DataFrame({"p": X[:, 0] > 0, "q": X[:, 1] > 0.5}).astype(int)
    fitted = wm.ThinPlateSVC("distance", C=1.0).fit(X, Y)
    for model in (fitted, loaded(fitted, tmp_path)):
        assert model.score(X, Y[["q", "p"]]) == model.score(X, Y) == model.score(X, Y.to_numpy()) > 0.9
        with pytest.raises(ValueError, match="y has the columns 'p', 'r', and the model the labels 'p', 'q'"):
            model.score(X, Y.rename(columns={"q": "r"}))
    by_position = wm.ThinPlateSVC("distance", C=1.0).fit(X, Y.to_numpy())
    assert by_position.score(X, Y) > 0.9
    targets = pd.DataFrame({"p": X[:, 0] - X[:, 1], "q": X[:, 2]})
    fitted = wm.ThinPlateRegressor("distance", C=1.0).fit(X, targets)
    for model in (fitted, loaded(fitted, tmp_path)):
        assert model.score(X, targets[["q", "p"]]) == model.score(X, targets) > 0.9


def test_targets_of_one_column_stay_a_column(rng, tmp_path):
    X = rng.normal(size=(60, 3))
    y = X[:, :1] - X[:, 1:2]
    for regressor in (
        wm.BasisExpansionRegressor("rbf", C=1.0, loss="huber"),
        wm.ThinPlateRegressor(C=1.0),
        wm.AutoRegressor(),
    ):
        for target in (y, y[:, 0]):
            fitted = regressor.fit(X, target)
            again = loaded(fitted, tmp_path)
            np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
            for name in ("coef_", "intercept_", "epsilon_"):
                if hasattr(fitted, name):
                    assert np.shape(getattr(again, name)) == np.shape(getattr(fitted, name))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_samples_without_a_class_are_named(rng, missing):
    y = np.array(["lo", "hi"] * 30, dtype=object)
    y[[4, 7]] = missing
    for model in (wm.BasisExpansionSVC("rbf"), wm.ThinPlateSVC(), wm.AutoSVC()):
        with pytest.raises(ValueError, match=r"y has no class in row 4, 7 \(from 0\): drop these samples"):
            model.fit(rng.normal(size=(60, 2)), y)
    y[[4, 7]] = 3
    with pytest.raises(ValueError, match="y has classes of the types int and str: convert them to one type"):
        wm.ThinPlateSVC().fit(rng.normal(size=(60, 2)), y)


def test_lists_of_labels_of_samples_are_refused_with_a_cure(rng):
    with pytest.raises(ValueError, match="Y must be an indicator matrix of 0 and 1"):
        wm.ThinPlateSVC().fit(rng.normal(size=(4, 2)), [["a", "b"], ["a"], ["b"], ["a"]])


def test_bytes_and_halves_of_characters_are_refused_with_a_cure():
    strings, y = ["ab", "ba", "aab", "bba"] * 5, np.arange(20) % 2
    for X in (np.array([text.encode() for text in strings]), [text.encode() for text in strings]):
        with pytest.raises(TypeError, match=r"X has bytes, not strings: decode them"):
            wm.BasisExpansionSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"X: row 20 \(from 0\) is not text: .* at position 1"):
        wm.BasisExpansionSVC().fit([*strings, "a\ud800"], [*y, 0])
    with pytest.raises(ValueError, match=r"y: class .* is not text"):
        wm.BasisExpansionSVC().fit(strings, ["a", "\udcff"] * 10)


@pytest.mark.parametrize("dtype", [bool, np.int64])
def test_pictures_of_two_values_are_converted_to_black_and_white(rng, dtype):
    X = (rng.random((40, 16, 16)) > 0.5).astype(dtype)
    with pytest.raises(TypeError, match=r"Convert them: 255 \* X.astype\(np.uint8\)"):
        wm.BasisExpansionSVC().fit(X, np.arange(40) % 2)
    with pytest.raises(TypeError, match=r"Convert them: 255 \* X.astype\(np.uint8\)"):
        wm.BasisExpansionSVC("hog:cell=4/rbf").fit(X, np.arange(40) % 2)


def test_lazy_frames_tables_and_masked_values_are_refused_with_a_cure(rng):
    polars = pytest.importorskip("polars")
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    for model in (wm.ThinPlateSVC(C=1.0), wm.BasisExpansionSVC("rbf", C=1.0), wm.AutoSVC()):
        with pytest.raises(TypeError, match=r"X is a LazyFrame, .* pass X.collect\(\)"):
            model.fit(frame.lazy(), y)
        with pytest.raises(ValueError, match="X has masked values: impute them"):
            model.fit(np.ma.masked_greater(X, 1.0), y)
        with pytest.raises(TypeError, match=r"X is a Table, .* pass X.to_pandas\(\)"):
            model.fit(pytest.importorskip("pyarrow").Table.from_pandas(pd.DataFrame(X)), y)


@pytest.mark.parametrize("columns", [None, ["u", "v"]])
def test_integers_keep_their_digits(rng, columns):
    steps = rng.integers(0, 100, size=(90, 2))
    X, y = 1_700_000_000 + steps, (steps[:, 0] > 50).astype(int)
    if columns:
        X = pd.DataFrame(X, columns=columns)
    model = wm.BasisExpansionSVC("rbf", n_basis=30, C=1.0)
    expected = model.fit(X.astype(float), y).decision_function(X.astype(float))
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), expected)
    block = wm.similarity.pairwise("distance", 1_700_000_000 + steps)
    np.testing.assert_array_equal(block, wm.similarity.pairwise("distance", 1.7e9 + steps))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_samples_are_enough_for_a_regression(rng):
    X, y = rng.normal(size=(2, 3)), np.array([1.0, 2.0])
    for regressor in (wm.BasisExpansionRegressor(), wm.BasisExpansionRegressor("rbf"), wm.AutoRegressor()):
        assert np.isfinite(regressor.fit(X, y).predict(X)).all()
        assert np.isfinite(regressor.fit(X[[0, 1, 0, 1]], y[[0, 1, 0, 1]]).predict(X)).all()


def test_images_that_differ_in_brightness_are_told_apart(rng):
    y = np.arange(120) % 2
    X = (rng.integers(0, 20, size=(120, 16, 16)) + np.where(y, 120, 60)[:, None, None]).astype(np.uint8)
    assert wm.BasisExpansionSVC().fit(X[:80], y[:80]).score(X[80:], y[80:]) > 0.95


def test_regressions_on_few_strings_do_not_run_away():
    # Two of these had R² below -0.7 on new strings, with estimates of 0.1.
    def draw(n):
        letters, lengths = rng.integers(0, 4, (n, 12)), rng.integers(5, 13, n)
        y = [effects[np.arange(k), row[:k]].sum() for row, k in zip(letters, lengths, strict=True)]
        strings = ["".join("ACGT"[i] for i in row[:k]) for row, k in zip(letters, lengths, strict=True)]
        return strings, np.array(y) + rng.normal(size=n)

    for seed in (1, 2, 3):
        rng = np.random.default_rng(seed)
        effects = rng.normal(size=(12, 4))
        (S, y), (S_test, y_test) = draw(60), draw(1000)
        assert wm.BasisExpansionRegressor().fit(S, y).score(S_test, y_test) > 0


def test_regressions_on_few_series_do_not_run_away():
    # Flipped eigenvalues had R² of -3.2 on new series.
    def draw(n):
        amplitude, frequency, shift, warp = rng.uniform([0.5, 1, 0, 0.7], [2, 4, 1, 1.4], size=(n, 4)).T[:, :, None]
        waves = amplitude * np.sin(2 * np.pi * (frequency * np.linspace(0, 1, 60) ** warp + shift))
        return waves + 0.3 * rng.normal(size=(n, 60)), warp[:, 0] + 0.02 * rng.normal(size=n)

    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        (X, y), (X_test, y_test) = draw(60), draw(300)
        assert wm.BasisExpansionRegressor(kind="series").fit(X, y).score(X_test, y_test) > -0.3


def test_similarities_of_a_regression_are_compared_by_the_fits_that_they_get(rng):
    """Also where a kernel has information in eigenvalues that a fit drops as rounding of single precision."""
    X = rng.uniform(-1.7, 1.7, size=(120, 4)) * [1e-2, 1e-1, 1.0, 1e2]
    y = X @ [70.0, 7.0, 0.7, 0.007] + 0.3 * rng.normal(size=120)
    table = wm.BasisExpansionRegressor(random_state=0).fit(X, y).cv_results_
    candidates = [at for at in range(len(table["params"])) if table["iter"][at] == 0]
    assert len(candidates) > 5
    for at in candidates:
        again = wm.BasisExpansionRegressor(**table["params"][at], n_basis=len(X), random_state=0).fit(X, y).cv_results_
        best = max(score for score, step in zip(again["mean_test_score"], again["iter"], strict=True) if step == 0)
        assert best == pytest.approx(table["mean_test_score"][at], abs=1e-3), table["params"][at]


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_error"])
def test_centered_features_without_intercept_do_not_say_the_label_that_is_left_out(loss: str) -> None:
    # They sum to 0, as do balanced labels: the others determine what is left out.
    estimates = []
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(60, 5))
        model = wm.BasisExpansionSVC("rbf:gamma=0.3", normalization="covariance", loss=loss, fit_intercept=False)
        estimates.append(model.set_params(C="auto").fit(X, np.arange(60) % 2).estimated_score_)
    assert np.mean(estimates) < 0.6, estimates


def test_weights_are_copies_where_numbers_are_missing() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": [0.0, 1, 2, 3, 100, np.nan] * 8, "u": rng.normal(size=48), "c": ["p", "q", "p", "r"] * 12})
    X.loc[4::6, "c"] = "z"  # in rows of weight 0 only
    y, weights = rng.choice(["a", "b"], 48), np.tile([5, 1, 1, 1, 0, 1], 8)
    rows = X.index.repeat(weights)
    for Y in (X, X[["x", "u"]].fillna(1.0)):
        weighted = wm.ThinPlateSVC(C=1.0).fit(Y, y, sample_weight=weights)
        copied = wm.ThinPlateSVC(C=1.0).fit(Y.loc[rows], y[rows])
        later = X[list(Y.columns)].iloc[:12]
        np.testing.assert_allclose(weighted.decision_function(later), copied.decision_function(later), atol=1e-9)


def test_bases_that_labels_have_selected_are_selected_again_for_an_estimate() -> None:
    estimates, confidence = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 10)), rng.permutation([0, 1] * 100)
        model = wm.BasisExpansionSVC("rbf:gamma=0.1", normalization="mean_norm", max_basis=30).fit(X, y)
        estimates.append(model.estimated_score_)
        confidence.append(model.predict_proba(rng.normal(size=(500, 10))).max(axis=1).mean())
    assert np.mean(estimates) < 0.55, estimates
    assert np.mean(confidence) < 0.55, confidence
