"""Estimators read their samples block by block from files, and from iterators of chunks."""

import numpy as np
import pandas
import pytest
from command_line import run
from scipy import sparse
from sklearn.datasets import load_wine

import widemargin as wm

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
X, y = load_wine(return_X_y=True)
X, y = X.astype(np.float32), np.array(["a", "b", "c"])[y]
SETTINGS = {"n_basis": 30, "normalization": "mean_norm", "C": 1.0}

CLASSIFIERS = [
    lambda: wm.BasisExpansionSVC("z-score/rbf", **SETTINGS),
    lambda: wm.ThinPlateSVC(kernel="distance", n_basis=30, C=1.0, standardize=True),
    lambda: wm.PowerMeanSVC(-1.0, C=1.0, nodes=3, tol=1e-4, max_iter=10_000),
]
REGRESSORS = [
    lambda: wm.BasisExpansionRegressor("z-score/rbf", **SETTINGS),
    lambda: wm.ThinPlateRegressor(kernel="distance", n_basis=30, C=1.0, standardize=True),
]


@pytest.fixture
def shards(tmp_path):
    """A folder of tables with a column of labels."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(X)), 4)):
        table = pandas.DataFrame(X[rows], columns=[f"x{k}" for k in range(13)]).assign(label=y[rows])
        table.to_csv(folder / f"part-{number}.csv", index=False)
    return folder


def chunks(X, y, n=4):
    parts = np.array_split(np.arange(X.shape[0]), n)
    return ((X[rows], y[rows]) for rows in parts)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_files_and_chunks_give_the_model_of_an_array(make, shards):
    whole = make().fit(X, y).decision_function(X)
    scale = np.abs(whole).max()
    of_files = make().fit(wm.files(shards, memory_limit=2**30))
    assert of_files.classes_.tolist() == ["a", "b", "c"]
    assert (of_files.n_features_in_, of_files.feature_names_in_[1]) == (13, "x1")
    assert of_files.score(pandas.DataFrame(X, columns=of_files.feature_names_in_), y) > 0.9
    of_chunks = make().fit(chunks(X, y))
    np.testing.assert_allclose(of_chunks.decision_function(X), of_files._model.predict(X, 1), rtol=1e-5)
    # In blocks the bases of a thin plate spline are others.
    if not isinstance(of_files, wm.ThinPlateSVC):
        np.testing.assert_allclose(of_chunks.decision_function(X), whole, atol=0.02 * scale)


@pytest.mark.parametrize("make", REGRESSORS)
def test_regression(make, tmp_path):
    target = X[:, 0] + 0.1 * X[:, 1]
    of_chunks = make().fit(chunks(X, target))
    assert of_chunks.score(X, target) > make().fit(X, target).score(X, target) - 0.05
    pandas.DataFrame(X).assign(label=target).to_csv(tmp_path / "table.csv", index=False)
    of_files = make().fit(wm.files(tmp_path / "table.csv", label="label"))
    np.testing.assert_allclose(of_files._model.predict(X, 1)[:, 0], of_chunks.predict(X), rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "n_classes", "n_columns", "memory"),
    [
        (lambda **options: wm.PowerMeanSVC("chi2", C=0.1, n_jobs=1, **options), 50, 200, 8_000_000),
        (
            lambda **options: wm.BasisExpansionSVC(
                "chi2", n_basis=300, normalization="mean_norm", C=0.001, n_jobs=1, **options
            ),
            30,
            60,
            10**9,
        ),
    ],
    ids=["power mean", "basis expansion"],
)
def test_rows_held_out_of_many_classes_are_unknown_to_the_model(make, n_classes, n_columns, memory, tmp_path):
    n, differences, errors = 6000, [], []
    for seed in range(5):
        random = np.random.default_rng(seed)
        of_class = random.dirichlet(np.full(n_columns, 0.5), n_classes)
        labels = random.integers(0, n_classes, n + 4000)
        counts = np.array([random.multinomial(6, of_class[label]) for label in labels], dtype=np.float32)
        np.save(tmp_path / "counts.npy", np.column_stack([counts, labels])[:n].astype(np.float32))
        fitted = make(random_state=seed).fit(wm.files(tmp_path / "counts.npy", label=-1, memory_limit=memory))
        score = np.mean(fitted.predict(counts[n:]).astype(float) == labels[n:])
        differences.append(fitted.estimated_score_ - score)
        errors.append(np.hypot(fitted.estimated_score_std_, 0.5 / np.sqrt(4000)))
    assert np.max(np.abs(differences) / errors) < 3.5
    assert np.abs(np.mean(differences)) < 2.5 * np.mean(errors) / np.sqrt(5), differences


def test_what_is_left_to_auto_is_chosen(shards):
    for estimator in (wm.BasisExpansionSVC(), wm.ThinPlateSVC(), wm.PowerMeanSVC(), wm.ThinPlateRegressor()):
        if isinstance(estimator, wm.ThinPlateRegressor):
            assert estimator.fit(chunks(X, X[:, 0])).score(X, X[:, 0]) > 0.9
            continue
        assert estimator.fit(wm.files(shards, memory_limit=2**30)).report_["status"] is not None


def test_labels_and_weights_that_are_passed(tmp_path):
    np.save(tmp_path / "X.npy", X)
    svc, weights = wm.PowerMeanSVC(-1.0, C=1.0, nodes=3, tol=1e-4, max_iter=10_000), np.arange(len(y)) % 3
    found = svc.fit(wm.files(tmp_path / "X.npy", label=None), y, sample_weight=weights).decision_function(X)
    np.testing.assert_allclose(found, svc.fit(X, y, sample_weight=weights).decision_function(X), atol=0.05)
    several = np.stack([y == "a", y == "b"], axis=1).astype(int)
    assert svc.fit(chunks(X, several)).predict(X).shape == (len(y), 2)


def test_sparse_chunks():
    svc, rows = (
        wm.PowerMeanSVC(-1.0, C=1.0, nodes=3, tol=1e-4, max_iter=10_000),
        sparse.csr_array(np.where(np.median(X, axis=0) < X, X, 0)),
    )
    rows[:, [12]] = 0
    whole = svc.fit(rows, y).decision_function(rows)
    again = svc.fit(chunks(rows, y))
    assert again.n_features_in_ == 13
    np.testing.assert_allclose(again.decision_function(rows), whole, atol=0.02 * np.abs(whole).max())


def test_the_model_is_that_of_the_command_line(shards, tmp_path):
    flags = ["--similarity", "z-score/rbf", "--n-basis", "30", "--normalization", "mean-norm", "-C", "1", "--quiet"]
    run(tmp_path, "train", "--method=basis-expansion", shards, "-o", "m", "--memory-limit=1GiB", *flags)
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(13)])
    by_program = wm.load(tmp_path / "m").decision_function(frame)
    svc = CLASSIFIERS[0]().fit(wm.files(shards, memory_limit=2**30))
    np.testing.assert_allclose(svc.decision_function(frame), by_program, rtol=1e-5, atol=1e-6)


def test_a_checkpoint_is_resumed(shards, tmp_path):
    data = wm.files(shards, memory_limit=2**30, checkpoint=tmp_path / "checkpoint", scratch=tmp_path)
    scores = [CLASSIFIERS[0]().fit(data)._model.predict(X, 1) for _ in range(2)]
    np.testing.assert_array_equal(*scores)
    with pytest.raises(ValueError, match="checkpoint"):
        CLASSIFIERS[0]().set_params(C=2.0).fit(data)


def test_rejects_what_cannot_be_read_in_blocks(shards, tmp_path):
    data = wm.files(shards)
    for estimator in (wm.AutoSVC(), wm.BasisExpansionOneClass(), wm.BasisExpansion()):
        with pytest.raises(TypeError, match="needs all samples in memory"):
            estimator.fit(data)
    with pytest.raises(TypeError, match="samples in files are vectors"):
        wm.BasisExpansionSVC("edit").fit(data)
    with pytest.raises(ValueError, match="n_basis"):
        wm.ThinPlateSVC(n_basis=None).fit(data)
    with pytest.raises((OSError, ValueError), match="nothing"):
        wm.ThinPlateSVC().fit(wm.files(tmp_path / "nothing.csv"))
    with pytest.raises(ValueError, match="color"):
        wm.ThinPlateSVC().fit(wm.files(shards, label="color"))
    with pytest.raises(ValueError, match="no chunks"):
        wm.PowerMeanSVC().fit(iter([]))
    with pytest.raises(TypeError, match=r"chunk 1 is a int, not a pair \(X, y\)"):
        wm.PowerMeanSVC().fit(iter([(X, y), 3]))
    with pytest.raises(ValueError, match="chunk 1 has 12 columns and is dense, chunk 0 has 13"):
        wm.PowerMeanSVC().fit(iter([(X, y), (X[:, 1:], y)]))
    with pytest.raises(ValueError, match="y must be None"):
        wm.PowerMeanSVC().fit(chunks(X, y), y)
