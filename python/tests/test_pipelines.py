"""Pipelines of scikit-learn's steps and our estimators, in files without pickle and as ONNX models."""

import zipfile

import numpy as np
import onnxruntime
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

import widemargin as wm

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
X, y = load_iris(return_X_y=True)


def frame():
    import pandas

    rng = np.random.default_rng(0)
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    table["kind"] = rng.choice(["u", "v", "w"], len(X))
    table["size"] = rng.choice(["small", "large"], len(X))
    table.loc[::7, "a"] = np.nan
    return table


def numbers():
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())


def of_columns(last):
    return make_pipeline(
        ColumnTransformer(
            [
                ("numbers", numbers(), ["a", "b", "c", "d"]),
                ("kinds", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["kind"]),
                ("sizes", OrdinalEncoder(), ["size"]),
            ]
        ),
        last,
    )


def of_kinds(last):
    select = make_column_selector(dtype_include=np.number)
    return make_pipeline(ColumnTransformer([("numbers", numbers(), select)], remainder=OneHotEncoder()), last)


ARRAYS = [
    lambda: make_pipeline(StandardScaler(), wm.BasisExpansionSVC("rbf")),
    lambda: make_pipeline(MinMaxScaler(), Normalizer(), wm.PowerMeanSVC()),
    lambda: make_pipeline(MaxAbsScaler(), "passthrough", FunctionTransformer(), wm.ThinPlateSVC()),
    lambda: make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), wm.BasisExpansionOneClass()),
]
FRAMES = [lambda: of_columns(wm.ThinPlateSVC()), lambda: of_kinds(wm.BasisExpansionSVC("laplacian"))]


@pytest.mark.parametrize("made", ARRAYS + FRAMES)
def test_a_file_gives_the_same_answers(made, tmp_path):
    samples = frame() if made in FRAMES else X
    fitted = made().fit(samples, y)
    wm.save(fitted, tmp_path / "pipeline")
    read = wm.load(tmp_path / "pipeline")
    np.testing.assert_array_equal(read.decision_function(samples), fitted.decision_function(samples))
    np.testing.assert_array_equal(read.predict(samples), fitted.predict(samples))
    assert [name for name, _ in read.steps] == [name for name, _ in fitted.steps]
    # What is read can be saved again, and is the same.
    wm.save(read, tmp_path / "again")
    assert wm.load(tmp_path / "again").predict(samples).tolist() == fitted.predict(samples).tolist()


def test_nothing_is_pickled(tmp_path):
    wm.save(FRAMES[0]().fit(frame(), y), tmp_path / "pipeline")
    with zipfile.ZipFile(tmp_path / "pipeline") as archive:
        assert set(archive.namelist()) == {"pipeline.json", "arrays.npz", "model-0"}
        for name in archive.namelist():
            assert not archive.read(name).startswith(b"\x80"), name


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (CalibratedClassifierCV(wm.ThinPlateSVC()), "predict_proba is calibrated"),
        (MultiOutputClassifier(wm.ThinPlateSVC()), "indicator matrices"),
        (OneVsRestClassifier(wm.ThinPlateSVC()), "several classes"),
    ],
)
def test_errors_of_wrappers_say_what_to_use_instead(estimator, message, tmp_path):
    for refuse in (lambda: wm.save(estimator, tmp_path / "no"), lambda: wm.to_onnx(estimator)):
        with pytest.raises(TypeError, match=message):
            refuse()


def test_steps_that_cannot_be_saved_are_named(tmp_path):
    texts = make_pipeline(TfidfVectorizer(), wm.PowerMeanSVC()).fit(["one two", "two three"] * 5, [0, 1] * 5)
    with pytest.raises(TypeError, match=r'TfidfVectorizer.*"tfidf"'):
        wm.save(texts, tmp_path / "no")
    logs = make_pipeline(FunctionTransformer(np.log1p), wm.ThinPlateSVC()).fit(X, y)
    with pytest.raises(TypeError, match="Python function"):
        wm.save(logs, tmp_path / "no")
    with pytest.raises(TypeError, match="PCA"):
        wm.save(make_pipeline(PCA(2), wm.ThinPlateSVC()).fit(X, y), tmp_path / "no")
    with pytest.raises(NotFittedError):
        wm.save(ARRAYS[0](), tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_damaged_and_newer_files_are_refused(tmp_path):
    file = tmp_path / "pipeline"
    wm.save(ARRAYS[0]().fit(X, y), file)
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:200] + bytes(20) + whole[220:]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="pipeline"):
            wm.load(file)

    def rewritten(old, new):
        with zipfile.ZipFile(tmp_path / "other", "w") as archive, zipfile.ZipFile(tmp_path / "whole") as given:
            for name in given.namelist():
                data = given.read(name)
                archive.writestr(name, data.replace(old, new) if name == "pipeline.json" else data)
        return tmp_path / "other"

    (tmp_path / "whole").write_bytes(whole)
    with pytest.raises(ValueError, match="newer"):
        wm.load(rewritten(b'"format": 1', b'"format": 2'))
    with pytest.raises(ValueError, match="not the file of a pipeline"):
        wm.load(rewritten(b'"StandardScaler"', b'"os.system"'))
    import sklearn

    version = f'"{sklearn.__version__}"'.encode()
    with pytest.warns(InconsistentVersionWarning):
        wm.load(rewritten(version, b'"1.0.0"'))


def outputs(model, samples):
    """The outputs by name, of a model with an input for each column of a frame, or one for all."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(string)": object}
    inputs = session.get_inputs()
    values = [samples if len(inputs) == 1 else samples[[one.name]].to_numpy() for one in inputs]
    given = {one.name: np.asarray(value).astype(kinds[one.type]) for one, value in zip(inputs, values, strict=True)}
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


@pytest.mark.parametrize("made", [*ARRAYS[:3], lambda: of_columns(wm.BasisExpansionSVC("rbf"))])
def test_onnx(made):
    samples = X if made in ARRAYS else frame()
    fitted = made().fit(samples, y)
    numbers = samples if made in ARRAYS else samples.astype(dict.fromkeys("abcd", np.float32))
    found = outputs(wm.to_onnx(fitted, None if made in ARRAYS else numbers), samples)
    scale = np.abs(fitted.decision_function(samples)).max()
    np.testing.assert_allclose(found["scores"], fitted.decision_function(samples), atol=1e-5 * scale)
    # ONNX Runtime imputes and then scales in single precision, which the slope of these probabilities multiplies.
    atol = 1e-5 if made in ARRAYS else 1e-4
    np.testing.assert_allclose(found["probabilities"], fitted.predict_proba(samples), atol=atol)
    assert (found["label"] == fitted.predict(samples)).all()


def test_onnx_of_searches_and_ensembles():
    members = [("plate", wm.ThinPlateSVC(C=1.0)), ("rbf", wm.BasisExpansionSVC("rbf", n_basis=30, C=1.0))]
    scaled = make_pipeline(StandardScaler(), wm.ThinPlateSVC())
    for made in (
        GridSearchCV(scaled, {"thinplatesvc__C": [1.0, 10.0]}),
        StackingClassifier(members, LogisticRegression(max_iter=1000)),
        VotingClassifier(members, voting="soft", flatten_transform=False),
    ):
        fitted = made.fit(X, y)
        found = outputs(wm.to_onnx(fitted, X[:1].astype(np.float32)), X)
        np.testing.assert_allclose(found["probabilities"], fitted.predict_proba(X), atol=1e-4)
        assert (found["label"] == fitted.predict(X)).all()
    expanded = make_pipeline(wm.BasisExpansion("rbf", n_basis=20), LogisticRegression(max_iter=1000)).fit(X, y)
    found = outputs(wm.to_onnx(expanded, X[:1]), X)
    assert (found["label" if "label" in found else "output_label"] == expanded.predict(X)).all()
    regressor = make_pipeline(StandardScaler(), wm.ThinPlateRegressor()).fit(X, X[:, 0] + 0.1 * y)
    found = outputs(wm.to_onnx(regressor), X)
    np.testing.assert_allclose(found["targets"].ravel(), regressor.predict(X), atol=1e-6)


def test_onnx_of_one_class():
    fitted = make_pipeline(StandardScaler(), wm.BasisExpansionOneClass(n_basis=30)).fit(X)
    found = outputs(wm.to_onnx(fitted), X)
    np.testing.assert_allclose(found["scores"], fitted.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(found["label"], fitted.predict(X))
