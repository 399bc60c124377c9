"""Model files: the same ones that the command line writes and reads."""

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import PROGRAM, run
from compared import on_bases
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

import widemargin as wm
from widemargin._base import ExactSeed


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400].astype(np.float32), y[:400], X[400:500].astype(np.float32)


def edits(A, B):
    return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


@pytest.mark.parametrize(
    "similarity",
    [
        "pixels/mean-norm/match:base=rbf,radius=1,basis_radius=1,quadratic=0.01",
        "pixels/mean-norm/jitter:base=sigmoid,radius=1",
        "hog:cell=2/match:radius=0,local=1,smooth=0.001",
    ],
)
def test_matching_of_images_is_the_same_in_python_and_on_the_command_line(similarity, tmp_path):
    digits = load_digits()
    images, labels = (digits.images * 15).astype(np.uint8), digits.target.astype(np.uint8)
    for name, rows in [("train", slice(0, 150)), ("test", slice(300, 400))]:
        np.savez(tmp_path / f"{name}.npz", X=images[rows], y=labels[rows])
    fitted = on_bases(similarity, n_basis=20).fit(images[:150], labels[:150])
    assert fitted.score(images[300:400], labels[300:400]) > 0.5
    wm.save(fitted, tmp_path / "m")
    loaded = wm.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(images[300:400]), fitted.decision_function(images[300:400]))
    flags = ["--similarity", similarity, "--n-basis", "20", "--normalization", "mean-norm", "-C", "1", "--quiet"]
    run(tmp_path, "train", "--method=basis-expansion", "train.npz", "-o", "cli", *flags)
    np.testing.assert_array_equal(
        wm.load(tmp_path / "cli").decision_function(images[300:400]), fitted.decision_function(images[300:400])
    )
    wm.save(wm.load(tmp_path / "cli"), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "cli").read_bytes()
    for model in ("m", "cli"):
        printed = run(tmp_path, "predict", model, "test.npz", "--quiet").split()
        assert printed == [str(label) for label in loaded.predict(images[300:400])]


def test_python_code_is_not_run_unless_trusted(tmp_path):
    X, y = ["ab", "ba", "cd", "dc"] * 5, [0, 0, 1, 1] * 5
    path = tmp_path / "code.model"
    wm.save(on_bases(edits, n_basis=4).fit(X, y), path)
    with pytest.raises(ValueError, match=r"code\.model.*Python code.*trusted=True"):
        wm.load(path)
    assert wm.load(path, trusted=True).score(X, y) == 1.0
    assert "error:" in run(tmp_path, "inspect", path, exit_code=2)


def test_saving_what_cannot_be_pickled_raises(tmp_path):
    X, y = ["ab", "ba", "cd", "dc"] * 5, [0, 0, 1, 1] * 5
    svc = on_bases(lambda A, B: edits(A, B), n_basis=4).fit(X, y)
    with pytest.raises(TypeError, match=r"similarity.*cannot be pickled.*top level"):
        wm.save(svc, tmp_path / "x.model")
    assert not list(tmp_path.iterdir())


def test_bad_files_are_named(tmp_path, digits):
    X, y, _ = digits
    good = tmp_path / "good.model"
    wm.save(wm.PowerMeanSVC().fit(X, y), good)
    data = good.read_bytes()
    with pytest.raises(FileNotFoundError):
        wm.load(tmp_path / "missing")
    with pytest.raises(NotFittedError):
        wm.save(wm.PowerMeanSVC(), tmp_path / "x")
    with pytest.raises(TypeError, match="PowerMeanSVC"):
        wm.save("model", tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        wm.save(wm.PowerMeanSVC().fit(X, y), tmp_path / "no" / "folder")
    assert good.read_bytes() == data


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "damaged.model"
    for similarity in ("edit", edits):
        wm.save(on_bases(similarity, n_basis=4).fit(["ab", "ba", "cd", "dc"] * 5, np.arange(20) % 2), path)
        data = path.read_bytes()
        flipped = [data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :] for at in range(0, len(data), len(data) // 20)]
        for damaged in [*flipped, data[:-20], data[:9], b"", b"hello, this is no model at all"]:
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"damaged\.model"):
                wm.load(path, trusted=True)


@pytest.mark.parametrize("trusted", ["no", "yes", 1, None])
def test_trusted_is_true_or_false(trusted, tmp_path):
    wm.save(on_bases(edits, n_basis=4).fit(["ab", "ba", "cd", "dc"], [0, 0, 1, 1]), tmp_path / "a.model")
    with pytest.raises(TypeError, match="trusted must be True or False"):
        wm.load(tmp_path / "a.model", trusted=trusted)
    assert wm.load(tmp_path / "a.model", trusted=np.True_).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    "estimator",
    [
        wm.PowerMeanSVC(),
        wm.PowerMeanSVC(loss="hinge"),
        wm.ThinPlateSVC(C=1.0, kernel="distance", standardize=False),
        wm.ThinPlateSVC(C=1.0, n_basis=8, kernel="distance", standardize=False),
        on_bases(n_basis=8),
        on_bases(n_basis=8, loss="hinge"),
        on_bases(n_basis=8, loss="logistic"),
    ],
    ids=lambda e: repr(e)[:60],
)
@pytest.mark.parametrize(
    ("C", "class_weight", "weight"),
    [
        (1e300, {0: 1e10}, 1.0),
        (1.0, {0: 1e200}, 1e200),
        (1.0, "balanced", 1e308),
        (1e300, None, 1e10),
        (1e154, None, 1e154),
        (1.0, None, 1e200),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_costs_beyond_the_range_of_numbers_are_refused(estimator, C, class_weight, weight):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.abs(rng.normal(size=(60, 4))) + 2.0 * (y[:, None] == np.arange(4))
    weights = np.where(np.arange(60) < 2, weight, 1.0)
    fitted = clone(estimator).set_params(C=C, class_weight=class_weight)
    try:
        fitted.fit(X, y, sample_weight=weights)
    except ValueError:
        return
    assert weight == 1e200
    assert class_weight is None
    # Large costs that can be borne give a model that can be kept, with a gap that is a number.
    assert np.isfinite([fitted.report_["objective"], *fitted.report_["gaps"]]).all()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


@pytest.mark.skipif(os.name != "posix", reason="pipes and /dev are those of Unix")
def test_only_regular_files_are_replaced(tmp_path, digits):
    X, y, _ = digits
    svc = wm.PowerMeanSVC().fit(X, y)
    os.mkfifo(tmp_path / "pipe")
    for target in ("/dev/null", tmp_path / "pipe"):
        with pytest.raises(OSError, match="not a regular file"):
            wm.save(svc, target)
    with pytest.raises(IsADirectoryError):
        wm.save(svc, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


NAMED = [
    wm.PowerMeanSVC(),
    wm.ThinPlateSVC(C=1.0, kernel="distance", standardize=False),
    on_bases("z-score/rbf", n_basis=30),
    on_bases(edits, n_basis=30),
]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", NAMED, ids=lambda e: repr(e)[:40])
def test_columns_are_put_right_by_name_before_and_after_a_file(estimator, library, tmp_path):
    frames = importlib.import_module(library)
    wine = load_wine()
    columns = dict(zip(wine.feature_names, wine.data.T, strict=True))
    names = list(columns)
    frame = frames.DataFrame(columns)
    other = frames.DataFrame({name: columns[name] for name in names[::-1]})
    if callable(getattr(estimator, "similarity", None)):
        estimator = on_bases(rows_alike, n_basis=30)
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


def test_columns_of_transformers_go_by_name():
    frame, y = load_wine(return_X_y=True, as_frame=True)
    fitted = wm.BasisExpansion("z-score/rbf", n_basis=9).fit(frame, y)
    np.testing.assert_array_equal(fitted.transform(frame[frame.columns[::-1]]), fitted.transform(frame))


@pytest.mark.parametrize(
    ("method", "flags", "parameters"),
    [
        ("thin-plate", [], {"standardize": True, "n_basis": "auto"}),
        ("thin-plate:standardize=no,polynomials=constant", ["-C", "0.5"], {"standardize": False}),
        (
            "thin-plate:standardize=yes",
            ["--n-basis", "40", "--basis", "random", "--seed", "7", "--kernel", "cubic"],
            {"n_basis": 40, "basis": "random", "standardize": True, "random_state": 7, "kernel": "cubic"},
        ),
        ("thin-plate:tol=1e-8,max-iter=70", ["--n-basis", "40", "--class-weight", "0:3"], {"tol": 1e-8}),
        (
            "power-mean:nodes=4,scale=no,tol=0.001",
            ["--kernel", "-8", "-C", "0.5", "--class-weight", "balanced"],
            {"kernel": -8.0, "C": 0.5, "nodes": 4, "scale": False, "class_weight": "balanced", "tol": 0.001},
        ),
        (
            "power-mean:approximation=polynomial",
            ["--kernel", "jensen-shannon", "--loss", "hinge"],
            {"kernel": "jensen_shannon", "loss": "hinge", "approximation": "polynomial"},
        ),
        (
            "basis-expansion",
            ["--similarity", "z-score/rbf", "--n-basis", "30", "--basis", "random", "--seed", "5", "-C", "3"],
            {"n_basis": 30, "basis": "random", "C": 3.0, "random_state": 5},
        ),
        (
            "basis-expansion:intercept=none",
            # A C that is chosen brings a start, from which the solver ends elsewhere within the gap.
            ["-C", "1", "--loss", "logistic", "--class-weight", "1:2,2:0.5"],
            {"loss": "logistic", "fit_intercept": False, "class_weight": {1: 2.0, 2: 0.5}},
        ),
        (
            "basis-expansion:tol=0.01",
            ["--n-basis", "30", "--loss", "hinge", "--normalization", "nystroem"],
            {"loss": "hinge", "fit_intercept": True, "normalization": "nystroem", "tol": 0.01},
        ),
    ],
)
def test_a_clone_of_a_model_of_the_command_line_is_fitted_as_it_was(method, flags, parameters, tmp_path):
    wine = load_wine()
    lines = [",".join([*wine.feature_names, "label"])]
    lines += [",".join([*map(str, row), str(label)]) for row, label in zip(wine.data, wine.target, strict=True)]
    (tmp_path / "wine.csv").write_text("\n".join(lines))
    run(tmp_path, "train", "--method", method, "wine.csv", "-o", "m", "--quiet", *flags)
    loaded = wm.load(tmp_path / "m")
    for name, value in parameters.items():
        assert loaded.get_params()[name] == value, name
    assert isinstance(loaded.random_state, ExactSeed)
    assert loaded.feature_names_in_.tolist() == list(wine.feature_names)
    again = clone(loaded).fit(wine.data, wine.target)
    truth = loaded.decision_function(_framed(wine))
    rtol, atol = (1e-6, 1e-8) if method.startswith("thin-plate") else (1e-5, 1e-6)
    np.testing.assert_allclose(again.decision_function(wine.data), truth, rtol=rtol, atol=atol)
    wm.save(again, tmp_path / "again")
    twice = clone(wm.load(tmp_path / "again"))
    assert {k: str(v) for k, v in twice.get_params().items()} == {k: str(v) for k, v in loaded.get_params().items()}


def _framed(data):
    import pandas

    return pandas.DataFrame(data.data, columns=data.feature_names)[list(data.feature_names)[::-1]]


def test_the_script_that_flips_bits_runs():
    script = Path(__file__).parents[2] / "scripts" / "bit_flips.py"
    command = [sys.executable, script, "--program", str(PROGRAM), "--flips", "60"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "\nall                                60 " in ended.stdout
