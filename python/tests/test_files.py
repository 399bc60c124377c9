"""Model files: the same ones that the command line writes and reads."""

import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

import widemargin as wm
from widemargin._base import ExactSeed

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


NAMED = [
    wm.PowerMeanSVC(),
    wm.ThinPlateSVC(C=1.0),
    wm.BasisExpansionSVC("z-score>rbf", n_basis=30),
    wm.BasisExpansionSVC(edits, n_basis=30),
]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", NAMED, ids=lambda e: repr(e)[:40])
def test_columns_are_put_right_by_name_before_and_after_a_file(estimator, library, tmp_path):
    frames = pytest.importorskip(library)
    wine = load_wine()
    columns = dict(zip(wine.feature_names, wine.data.T, strict=True))
    names = list(columns)
    frame = frames.DataFrame(columns)
    other = frames.DataFrame({name: columns[name] for name in names[::-1]})
    if callable(getattr(estimator, "similarity", None)):
        estimator = wm.BasisExpansionSVC(rows_alike, n_basis=30)
    fitted = clone(estimator).fit(frame, wine.target)
    wm.save(fitted, tmp_path / "m")
    truth = fitted.decision_function(frame)
    for model in (fitted, wm.load(tmp_path / "m", trusted=True), pickle.loads(pickle.dumps(fitted))):
        assert list(model.feature_names_in_) == names
        np.testing.assert_array_equal(model.decision_function(other), truth)
        np.testing.assert_array_equal(model.predict(other), fitted.predict(frame))
        missing = frames.DataFrame({name: columns[name] for name in names[1:]})
        with pytest.raises(ValueError, match=f"now missing:\\n- {names[0]}"):
            model.predict(missing)
        unknown = frames.DataFrame({**columns, "age": wine.target})
        with pytest.raises(ValueError, match="unseen at fit time:\\n- age"):
            model.predict(unknown)
    wm.save(wm.load(tmp_path / "m", trusted=True), tmp_path / "again")
    assert wm.load(tmp_path / "again", trusted=True).feature_names_in_.tolist() == names


def rows_alike(A, B):
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    # One that tells columns apart by their places.
    A, B = A * np.arange(1, 1 + A.shape[1]), B * np.arange(1, 1 + B.shape[1])
    return np.exp(-1e-7 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_precomputed_similarities_and_transformers_go_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True)
    X = X[:60]
    kernel = pandas.DataFrame(X @ X.T, columns=[f"sample {i}" for i in range(60)])
    svc = wm.BasisExpansionSVC("precomputed", n_basis=10).fit(kernel, y[:60])
    truth = svc.decision_function(kernel)
    np.testing.assert_array_equal(svc.decision_function(kernel[kernel.columns[::-1]]), truth)
    to_bases = kernel[kernel.columns[svc.basis_indices_[::-1]]]
    np.testing.assert_array_equal(svc.decision_function(to_bases), truth)
    frame = pandas.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    for transformer in (wm.MeanNormScaler(), wm.BasisExpansion("z-score>rbf", n_basis=9)):
        fitted = (
            transformer.fit(frame, y[:60]) if isinstance(transformer, wm.BasisExpansion) else transformer.fit(frame)
        )
        np.testing.assert_array_equal(fitted.transform(frame[frame.columns[::-1]]), fitted.transform(frame))


@pytest.mark.skipif(PROGRAM is None, reason="the command line program was not built")
@pytest.mark.parametrize(
    ("method", "flags", "parameters"),
    [
        ("thin-plate", [], {"standardize": True, "n_basis": None}),
        ("thin-plate", ["--standardize", "no", "-C", "0.5", "--null-space", "constant"], {"standardize": False}),
        (
            "thin-plate",
            ["--n-basis", "40", "--basis", "random", "--seed", "7", "--kernel", "cubic", "--standardize", "yes"],
            {"n_basis": 40, "basis": "random", "standardize": True, "random_state": 7, "kernel": "cubic"},
        ),
        (
            "thin-plate",
            ["--n-basis", "40", "--class-weight", "0:3", "--tol", "1e-8", "--max-iter", "70"],
            {"tol": 1e-8},
        ),
        (
            "power-mean",
            ["--p", "-8", "-C", "0.5", "--nodes", "4", "--no-scale", "--class-weight", "balanced", "--tol", "0.001"],
            {"p": -8.0, "C": 0.5, "n_nodes": 4, "feature_range": None, "class_weight": "balanced", "tol": 0.001},
        ),
        (
            "power-mean",
            ["--kernel", "jensen-shannon", "--loss", "hinge", "--approximation", "polynomial", "--no-shrinking"],
            {"kernel": "jensen_shannon", "loss": "hinge", "approximation": "polynomial", "shrinking": False},
        ),
        (
            "basis-expansion",
            ["--similarity", "z-score>rbf", "--n-basis", "30", "--basis", "random", "--seed", "5", "-C", "3"],
            {"n_basis": 30, "basis": "random", "C": 3.0, "random_state": 5},
        ),
        (
            "basis-expansion",
            ["--n-basis", "30", "--loss", "logistic", "--intercept", "penalised", "--class-weight", "1:2,2:0.5"],
            {"loss": "logistic", "fit_intercept": "penalised", "class_weight": {1: 2.0, 2: 0.5}},
        ),
        (
            "basis-expansion",
            ["--n-basis", "30", "--loss", "hinge", "--normalization", "nystrom-clip", "--tol", "0.01"],
            {"loss": "hinge", "fit_intercept": True, "normalization": "nystrom_clip", "max_iter": 1000, "tol": 0.01},
        ),
    ],
)
def test_a_clone_of_a_model_of_the_command_line_is_fitted_as_it_was(method, flags, parameters, tmp_path):
    wine = load_wine()
    lines = [",".join([*wine.feature_names, "label"])]
    lines += [",".join([*map(str, row), str(label)]) for row, label in zip(wine.data, wine.target, strict=True)]
    (tmp_path / "wine.csv").write_text("\n".join(lines))
    command = [PROGRAM, "train", method, tmp_path / "wine.csv", "-o", tmp_path / "m", "--quiet", *flags]
    subprocess.run(command, check=True)
    loaded = wm.load(tmp_path / "m")
    for name, value in parameters.items():
        assert loaded.get_params()[name] == value, name
    assert isinstance(loaded.random_state, ExactSeed)
    assert loaded.feature_names_in_.tolist() == list(wine.feature_names)
    again = clone(loaded).fit(wine.data, wine.target)
    truth = loaded.decision_function(_framed(wine))
    if method == "thin-plate":
        np.testing.assert_allclose(again.decision_function(wine.data), truth, rtol=1e-6, atol=1e-8)
    else:
        np.testing.assert_allclose(again.decision_function(wine.data), truth, rtol=1e-5, atol=1e-6)
    wm.save(again, tmp_path / "again")
    twice = clone(wm.load(tmp_path / "again"))
    assert {k: str(v) for k, v in twice.get_params().items()} == {k: str(v) for k, v in loaded.get_params().items()}


def _framed(data):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(data.data, columns=data.feature_names)[list(data.feature_names)[::-1]]


def test_parameters_of_python_survive_a_file(digits, tmp_path):
    X, y, _ = digits
    for estimator in (
        wm.PowerMeanSVC(class_weight={0: 2.0}, tol=0.02, max_iter=77, random_state=3, shrinking=False),
        wm.ThinPlateSVC(
            C=1.0, n_basis=30, basis="kmedoids", standardize=True, class_weight="balanced", tol=1e-9, random_state=3
        ),
        wm.BasisExpansionSVC("rbf:gamma=0.00001", n_basis=30, basis="random", tol=1e-4, max_iter=55, random_state=3),
    ):
        wm.save(estimator.fit(X, y), tmp_path / "m")
        again = clone(wm.load(tmp_path / "m"))
        for name, value in estimator.get_params(deep=False).items():
            if name not in ("random_state", "null_space"):  # what "auto" became is kept
                assert again.get_params()[name] == value, name
        np.testing.assert_array_equal(again.fit(X, y).decision_function(X), estimator.decision_function(X))
