"""Time series as other libraries hold them: channels first or last, filled up with NaN."""

import functools

import matplotlib
import numpy as np
import pytest
from compared import on_bases
from sklearn.model_selection import cross_val_score

import widemargin as wm
from widemargin.inspection import BasisDisplay, SpectrumDisplay, spectrum
from widemargin.similarity import pairwise


def waves(n, channels=2, length=30):
    """Series (n, channels, length) of two classes, which differ in the frequency of the first channel."""
    random = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = random.normal(0, 0.1, (n, channels, length))
    X[:, 0] += np.sin(np.linspace(0, 6, length) * (1 + y[:, None]))
    return X, y


def test_the_order_of_the_axes_is_asked_for():
    X, y = waves(40)
    for samples in (X, list(X)):
        with pytest.raises(ValueError, match=r"2 time steps of 30 channels.*kind='series_channels_first'.*aeon"):
            on_bases("dtw:window=0.1", n_basis=10).fit(samples, y)
        with pytest.raises(ValueError, match="kind='series_channels_first'"):
            wm.BasisExpansion("dtw").fit(samples)
        with pytest.raises(ValueError, match="kind='series_channels_first'"):
            pairwise("dtw", samples)
    with pytest.raises(ValueError, match=r"'kind' parameter must be one of .* Did you mean 'series_channels_first'"):
        on_bases("dtw", kind="channels_first").fit(X, y)


def test_channels_first_are_channels_last_transposed():
    X, y = waves(40)
    first = on_bases("dtw:window=0.1", n_basis=10, kind="series_channels_first").fit(X, y)
    last = on_bases("dtw:window=0.1", n_basis=10).fit(X.swapaxes(1, 2), y)
    assert first.score(X, y) == 1.0
    scores = first.decision_function(X)
    np.testing.assert_array_equal(last.decision_function(X.swapaxes(1, 2)), scores)
    np.testing.assert_array_equal(first.decision_function(list(X)), scores)
    assert cross_val_score(first, X, y, cv=2).min() > 0.9
    # Bases are as samples are given.
    assert {one.shape for one in first.basis_} == {(2, 30)}
    assert {one.shape for one in last.basis_} == {(30, 2)}
    np.testing.assert_array_equal(first.predict(first.basis_), first.predict(X[first.basis_indices_]))
    # The other functions that take samples.
    features = wm.BasisExpansion("dtw", n_basis=5, kind="series_channels_first").fit(X)
    same = wm.BasisExpansion("dtw", n_basis=5).fit(X.swapaxes(1, 2))
    np.testing.assert_array_equal(features.transform(X), same.transform(X.swapaxes(1, 2)))
    block = pairwise("dtw", X, X[:5], kind="series_channels_first")
    np.testing.assert_array_equal(block, pairwise("dtw", X.swapaxes(1, 2), X[:5].swapaxes(1, 2)))
    found = spectrum("dtw", X, kind="series_channels_first")
    np.testing.assert_array_equal(found.eigenvalues, spectrum("dtw", X.swapaxes(1, 2)).eigenvalues)


def test_a_model_that_was_loaded_finds_the_channels(tmp_path):
    X, y = waves(40)
    first = on_bases("dtw:window=0.1", n_basis=10, kind="series_channels_first").fit(X, y)
    wm.save(first, tmp_path / "m.model")
    loaded = wm.load(tmp_path / "m.model")
    for samples in (X, list(X), X.swapaxes(1, 2), X[:, :, :1], X[:3, :, :1].swapaxes(1, 2)):
        same = samples if np.shape(samples)[1] == 2 else samples.swapaxes(1, 2)
        np.testing.assert_array_equal(loaded.decision_function(samples), first.decision_function(same))
    square = X[:, :, :2]
    with pytest.raises(ValueError, match=r"2 time steps of 2 channels.*kind='series_channels_first'"):
        loaded.predict(square)
    loaded.set_params(kind="series_channels_first")
    np.testing.assert_array_equal(loaded.decision_function(square), first.decision_function(square))
    with pytest.raises(ValueError, match="the samples have 3 channels, the bases 2"):
        loaded.predict(waves(4, channels=3)[0])


@pytest.mark.parametrize("descriptor", ["minirocket:features=500", "hydra:groups=4"])
def test_features_of_series_are_those_of_one_machine(client, descriptor):
    from dask import bag

    from widemargin.dask import BasisExpansionSVC

    X, y = waves(40)
    settings = {"n_basis": 10, "kind": "series_channels_first", "normalization": "nystroem", "C": 1.0}
    svc = wm.BasisExpansionSVC(f"{descriptor}/linear", **settings).fit(X, y)
    assert svc.score(*waves(60)) > 0.95
    scores = svc.decision_function(X)
    other = wm.BasisExpansionSVC(f"{descriptor},seed=1/linear", **settings).fit(X, y)
    assert not np.array_equal(other.decision_function(X), scores)
    parts, labels = bag.from_sequence(list(X), npartitions=2), bag.from_sequence(y.tolist(), npartitions=2)
    spread = BasisExpansionSVC(f"{descriptor}/linear", **settings).fit(parts, labels)
    assert spread.score(parts, labels) == 1.0
    np.testing.assert_array_equal(spread.predict(parts).compute(), svc.predict(X))
    X[7, 1, 20] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        wm.BasisExpansionSVC(f"{descriptor}/linear", **settings).fit(X, y)


def test_a_linear_model_on_features_has_no_bases():
    X, y = waves(40)
    names = wm.BasisExpansionSVC("ngram-counts:n=2/features", normalization="z_score", C=1.0)
    words = ["".join("abcd"[int(4 * x)] for x in row) for row in np.random.default_rng(0).random((40, 9))]
    has_ab = ["ab" in word for word in words]
    assert names.fit(words, has_ab).score(words, has_ab) > 0.9
    svc = wm.BasisExpansionSVC(
        "minirocket:features=500/features", normalization="z_score", kind="series_channels_first"
    )
    svc.fit(X, y)
    assert svc.score(*waves(60)) > 0.95
    found = wm.BasisExpansion(
        "minirocket:features=500/features", normalization="none", kind="series_channels_first"
    ).fit(X)
    shares = found.transform(X)
    assert shares.shape == (40, 420)
    assert 0 <= shares.min() < shares.max() <= 1


def mean_product(samples, bases):
    return np.array([[float(np.mean(a) * np.mean(b)) for b in bases] for a in samples])


def test_channels_first_together_with_a_callable(tmp_path):
    X, y = waves(30)
    svc = on_bases(["dtw", mean_product], n_basis=5, kind="series_channels_first").fit(X, y)
    wm.save(svc, tmp_path / "m.model")
    loaded = wm.load(tmp_path / "m.model", trusted=True)
    assert loaded.kind == "series_channels_first"
    np.testing.assert_array_equal(loaded.decision_function(X), svc.decision_function(X))


def test_lengths_that_differ_tell_the_axes_of_few_bases_too():
    # Fewer time steps than channels: of all samples the lengths tell it, of a single basis they would not.
    series = [np.random.default_rng(n).random((n, 6)) for n in (3, 4, 5, 4, 3, 5)]
    y = [0, 1, 0, 1, 0, 1]
    svc = on_bases(["dtw", mean_product], n_basis=2).fit(series, y)
    assert svc.decision_function(series[:1]).shape == (1,)


def test_pictures_of_channels_first():
    matplotlib.use("Agg")
    X, y = waves(30)
    svc = on_bases("dtw", n_basis=5, kind="series_channels_first").fit(X, y)
    display = BasisDisplay.from_estimator(svc, 3)
    assert {len(panel.lines) for panel in display.axes_} == {2}
    assert {len(line.get_xdata()) for panel in display.axes_ for line in panel.lines} == {30}
    assert len(SpectrumDisplay.from_estimator(svc).spectra[0].eigenvalues) == 5
    assert len(SpectrumDisplay.from_estimator(svc, X).spectra[0].eigenvalues) == 30
    assert len(SpectrumDisplay.from_similarity("dtw", X, kind="series_channels_first").spectra[0].eigenvalues) == 30


def test_missing_values_at_the_end_are_not_part_of_a_series():
    X, y = waves(40, channels=1)
    X = X[:, 0]
    lengths = np.random.default_rng(0).integers(20, 31, 40)
    cut = [row[:n] for row, n in zip(X, lengths, strict=True)]
    padded = np.where(np.arange(30) < lengths[:, None], X, np.nan)
    svc = on_bases("dtw:window=0.1", n_basis=10).fit(padded, y)
    np.testing.assert_array_equal(svc.decision_function(padded[:1]), svc.decision_function(cut[:1]))
    # Rows of one length are vectors as well: such a model reads both.
    whole = on_bases("dtw:window=0.1", n_basis=10).fit(X, y)
    np.testing.assert_array_equal(whole.decision_function(padded), whole.decision_function(cut))
    # Where series are not compared, a missing value is refused as ever.
    with pytest.raises(ValueError, match="NaN"):
        on_bases(n_basis=10).fit(padded, y)


def test_channels_first_on_dask(client):
    import dask.array as da
    from dask import bag

    from widemargin.dask import BasisExpansionSVC

    X, y = waves(40)
    svc = BasisExpansionSVC(
        "dtw:window=0.1", n_basis=10, kind="series_channels_first", normalization="mean_norm", C=1.0
    )
    alone = svc.plain(**svc.get_params()).fit(X, y)
    for samples in (bag.from_sequence(list(X), npartitions=2), da.from_array(X, chunks=(20, 2, 30))):
        labels = bag.from_sequence(y.tolist(), npartitions=2)
        assert svc.fit(samples, labels).score(samples, labels) == 1.0
        assert (svc.predict(samples).compute() == alone.predict(X)).all()


@pytest.mark.parametrize("offset", [1e7, 1e9])
def test_series_whose_shape_single_precision_loses_are_refused_with_a_cure(offset):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=60)
    X = np.sin(np.linspace(0, 6, 40)[None] * (1 + 0.5 * y[:, None])) + 0.1 * rng.normal(size=(60, 40))
    make = functools.partial(wm.BasisExpansionSVC, "dtw", n_basis=20)
    with pytest.raises(ValueError, match="too far from 0 for single precision: subtract the same number") as refused:
        make().fit(list(X + offset), y)
    cure = float(str(refused.value).rsplit(" ", 1)[1])
    cured = list(X + offset - cure)
    assert make().fit(cured, y).score(cured, y) > 0.9
    # Equal series have no shape to lose.
    make().fit([np.full(40, offset)] * 60, y)
