"""Classes keep their type in files, and are compared with the labels of files."""

import json

import numpy as np
import pytest
from command_line import run
from compared import onnx_outputs
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import widemargin as wm
from widemargin.inspection import explain, report
from widemargin.similarity import pairs

X, y = load_iris(return_X_y=True)
X, y = X[::3], y[::3]

CLASSES = {
    "bool": np.array([False, True, True]),
    "float": np.array([1.0, 2.0, 3.0]),
    "float32": np.array([0.0, 1.0, 2.0], dtype=np.float32),
    "int8": np.array([-1, 0, 1], dtype=np.int8),
    "large": np.array([1, 2**63 + 1, 2**64 - 1], dtype=np.uint64),
    "digits": np.array(["1", "2", "10"]),
    "zeros": np.array(["01", "1", "-0"]),
    "negative": np.array(["-1", "+1", "1.0"]),
    "long": np.array(["9" * 30, "1", "2"]),
    "objects": np.array(["a", "b", "c"], dtype=object),
    "days": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]"),
    "nanoseconds": np.array(["2020-01-01T00:00:00.5", "2021-01-01", "2022-01-01"], dtype="datetime64[ns]"),
    "digits as objects": np.array(["1", "2", "c"], dtype=object),
}


@pytest.mark.parametrize("name", CLASSES)
def test_files_keep_the_type_of_the_classes(name, tmp_path):
    labels = CLASSES[name][y]
    weights = dict.fromkeys(np.unique(labels).tolist(), 2.0)
    for estimator in (
        wm.BasisExpansionSVC("rbf", n_basis=10, C=1.0, class_weight=weights),
        wm.BasisExpansionSVC(negative_distance, n_basis=10, C=1.0),
        wm.PowerMeanSVC(C=1.0),
        make_pipeline(StandardScaler(), wm.ThinPlateSVC("distance", C=1.0)),
    ):
        fitted = estimator.fit(X, labels)
        wm.save(fitted, tmp_path / "model")
        loaded = wm.load(tmp_path / "model", trusted=True)
        assert loaded.classes_.dtype == fitted.classes_.dtype == CLASSES[name].dtype
        assert loaded.classes_.tolist() == fitted.classes_.tolist()
        assert list(map(type, loaded.classes_.tolist())) == list(map(type, fitted.classes_.tolist()))
        predicted = loaded.predict(X)
        assert predicted.dtype == fitted.predict(X).dtype
        assert predicted.tolist() == fitted.predict(X).tolist()
        assert loaded.score(X, labels) == fitted.score(X, labels)
        if not hasattr(loaded, "steps"):
            again = clone(loaded).fit(X, labels)
            np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


@pairs
def negative_distance(a, b):
    return -float(np.linalg.norm(a - b))


def test_classes_that_spell_integers_are_those_of_files(tmp_path):
    series = [np.sin(np.linspace(0, 6, 30) * (1 + k % 2)) + 0.01 * k for k in range(40)]
    labels = ["1", "2"] * 20
    svc = wm.BasisExpansionSVC("dtw", n_basis=10, C=1.0, normalization="mean_norm").fit(series, labels)
    assert svc.score(series, labels) == 1.0
    wm.save(svc, tmp_path / "model")
    rows = [",".join(map(str, x)) + f":{label}" for x, label in zip(series, labels, strict=True)]
    head = ["@problemName waves", "@univariate true", "@classLabel true 1 2", "@data"]
    (tmp_path / "waves.ts").write_text("\n".join([*head, *rows]) + "\n")
    assert json.loads(run(tmp_path, "evaluate", "model", "waves.ts", "--json"))["accuracy"] == 1.0


def test_classes_that_spell_integers_are_strings_elsewhere():
    labels = np.array(["1", "2", "10"])[y]
    svc = wm.BasisExpansionSVC("rbf", n_basis=10, C=1.0).fit(X, labels)
    np.testing.assert_array_equal(onnx_outputs(svc, X)["label"], svc.predict(X))
    assert explain(svc, X, 0, label="2").explained == "2"
    assert f"{100 * svc.score(X, labels):.2f} %" in report(svc, X, labels)
