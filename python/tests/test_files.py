"""Model files: the same ones that the command line writes and reads."""

import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import widemargin as wm

PROGRAM = next(
    (
        path
        for profile in ("release", "debug")
        if (path := Path(__file__).parents[2] / "target" / profile / "widemargin").exists()
    ),
    None,
) or shutil.which("widemargin")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400].astype(np.float32), y[:400], X[400:500].astype(np.float32)


def edits(A, B):
    return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


@pytest.mark.parametrize(
    "estimator",
    [
        wm.PowerMeanSVC(kernel="jensen_shannon", C=0.1),
        wm.PowerMeanSVC(p=-8.0, approximation="polynomial", feature_range=None, loss="hinge"),
        wm.ThinPlateSVC(C=1.0),
        wm.ThinPlateSVC("cubic", n_basis=30, C=2.0),
        wm.BasisExpansionSVC(["rbf", "mean-norm>laplacian"], n_basis=30, normalization="z_score"),
        wm.BasisExpansionSVC(
            "rbf:gamma=0.001", n_basis=30, normalization="nystrom_clip", loss="logistic", fit_intercept=False
        ),
        wm.BasisExpansionSVC(edits, n_basis=30),
    ],
    ids=lambda e: repr(e)[:60],
)
def test_what_is_saved_is_loaded_to_the_last_bit(estimator, digits, tmp_path):
    X, y, X_test = digits
    if callable(getattr(estimator, "similarity", None)):
        X, X_test = [list(map(str, row[:5])) for row in X], [list(map(str, row[:5])) for row in X_test]
    path = tmp_path / "a.model"
    wm.save(estimator.fit(X, y), path)
    loaded = wm.load(path, trusted=True)
    np.testing.assert_array_equal(loaded.decision_function(X_test), estimator.decision_function(X_test))
    np.testing.assert_array_equal(loaded.predict(X_test), estimator.predict(X_test))
    assert type(loaded) is type(estimator)
    assert loaded.classes_.dtype == np.int64
    for name in ("C", "kernel", "p", "loss", "normalization", "fit_intercept", "n_basis", "feature_range"):
        if hasattr(estimator, name):
            assert getattr(loaded, name) == getattr(estimator, name), name
    assert [path.name for path in tmp_path.iterdir()] == ["a.model"]


@pytest.mark.skipif(PROGRAM is None, reason="the command line program was not built")
@pytest.mark.parametrize(
    ("method", "flags"),
    [
        ("power-mean", ["--kernel", "chi2"]),
        ("thin-plate", []),
        ("basis-expansion", ["--similarity", "rbf", "--n-basis", "40"]),
    ],
)
def test_a_model_of_the_command_line_decides_alike_in_python(method, flags, digits, tmp_path):
    X, y, X_test = digits
    np.savez(tmp_path / "train.npz", X=X, y=y)
    np.savez(tmp_path / "test.npz", X=X_test, y=y[:100])
    model, scores = tmp_path / "a.model", tmp_path / "scores.csv"
    subprocess.run([PROGRAM, "train", method, tmp_path / "train.npz", "-o", model, "--quiet", *flags], check=True)
    subprocess.run([PROGRAM, "predict", model, tmp_path / "test.npz", "-o", scores, "--scores", "--quiet"], check=True)
    loaded = wm.load(model)
    lines = [line.replace("\t", ",").replace(" ", ",").split(",") for line in scores.read_text().splitlines()]
    rows = [line for line in lines if line[-1].replace(".", "").replace("-", "").replace("e", "").isdigit()]
    by_program = np.array([[float(value) for value in row[-10:]] for row in rows[-100:]], dtype=np.float32)
    ours = loaded.decision_function(X_test).astype(np.float32)
    np.testing.assert_array_equal(by_program, ours)
    wm.save(loaded, tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == model.read_bytes()


def test_python_code_is_not_run_unless_trusted(tmp_path):
    X, y = ["ab", "ba", "cd", "dc"] * 5, [0, 0, 1, 1] * 5
    path = tmp_path / "code.model"
    wm.save(wm.BasisExpansionSVC(edits, n_basis=4).fit(X, y), path)
    with pytest.raises(ValueError, match=r"code\.model.*Python code.*trusted=True"):
        wm.load(path)
    assert wm.load(path, trusted=True).score(X, y) == 1.0
    if PROGRAM is not None:
        told = subprocess.run([PROGRAM, "inspect", path], capture_output=True, text=True, check=False)
        assert told.returncode == 2
        assert "error:" in told.stderr


def test_what_cannot_be_pickled_is_told_at_save(tmp_path):
    X, y = ["ab", "ba", "cd", "dc"] * 5, [0, 0, 1, 1] * 5
    svc = wm.BasisExpansionSVC(lambda A, B: edits(A, B), n_basis=4).fit(X, y)
    with pytest.raises(TypeError, match=r"similarity.*cannot be pickled.*top level"):
        wm.save(svc, tmp_path / "x.model")
    assert not list(tmp_path.iterdir())


def test_bad_files_are_named(tmp_path, digits):
    X, y, _ = digits
    good = tmp_path / "good.model"
    wm.save(wm.PowerMeanSVC().fit(X, y), good)
    data = good.read_bytes()
    for name, content in [("empty", b""), ("cut", data[: len(data) // 2]), ("text", b"hello, this is no model at all")]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=name):
            wm.load(path)
    with pytest.raises(FileNotFoundError):
        wm.load(tmp_path / "missing")
    with pytest.raises(NotFittedError):
        wm.save(wm.PowerMeanSVC(), tmp_path / "x")
    with pytest.raises(TypeError, match="PowerMeanSVC"):
        wm.save("model", tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        wm.save(wm.PowerMeanSVC().fit(X, y), tmp_path / "no" / "folder")
    assert good.read_bytes() == data


def test_bases_of_every_kind_come_back():
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    images = rng.integers(0, 255, (12, 16, 16, 3), dtype=np.uint8)
    strings = ["ab", "", "çß€", "abc"] * 3
    series = [rng.normal(size=rng.integers(3, 9)).astype(np.float32) for _ in range(12)]
    sets = rng.random((12, 70)) > 0.5
    for similarity, X in [("hog:cell=8>rbf", images), ("edit", strings), ("dtw", series), ("tanimoto", sets)]:
        svc = wm.BasisExpansionSVC(similarity, n_basis=12).fit(X, y)
        again = pickle.loads(pickle.dumps(svc))
        np.testing.assert_array_equal(again.decision_function(X), svc.decision_function(X))
        for base, row in zip(svc.bases_, svc.basis_indices_, strict=True):
            np.testing.assert_array_equal(base, X[row])
