"""scikit-learn's own checks, and its habits beyond them."""

import contextlib
import importlib
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from compared import on_bases
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import widemargin as wm

ALL = [
    wm.PowerMeanSVC(),
    wm.BasisExpansionSVC(),
    wm.ThinPlateSVC(),
    wm.AutoSVC(),
    wm.AutoRegressor(),
    wm.BasisExpansion(),
    wm.BasisExpansionOneClass(),
    wm.similarity.HOG(),
    wm.BasisExpansionRegressor(),
    # The first is that of the regressor above.
    *[wm.BasisExpansionRegressor("rbf", loss=loss) for loss in wm.BasisExpansionRegressor._losses[1:]],
    wm.ThinPlateRegressor(),
    wm.ThinPlateRegressor("rbf:gamma=0.1", n_basis=50),
]
CLASSIFIERS = [
    wm.PowerMeanSVC(random_state=0),
    wm.BasisExpansionSVC(n_basis=50, random_state=0),
    wm.ThinPlateSVC(random_state=0),
]


# Checks whose data have values below 0, whatever the tag `positive_only` says.
BELOW_0 = ("check_class_weight_classifiers", "check_decision_proba_consistency")


@parametrize_with_checks(ALL)
def test_scikit_learns_checks(estimator, check, monkeypatch):
    """No failure is expected, but that two checks need other data for an estimator that takes no values below 0."""
    if isinstance(estimator, wm.PowerMeanSVC) and any(name in str(check) for name in BELOW_0):
        # They do not heed the tag `positive_only`: they are given their data shifted to where they may be.
        monkeypatch.setattr(estimator_checks, "make_blobs", non_negative_blobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(estimator)


@pytest.mark.parametrize("name", BELOW_0)
def test_two_checks_do_not_heed_that_values_below_0_are_refused(name):
    # Where scikit-learn mends one, this fails: the shift above, and what the documents say of it, can then go.
    with pytest.raises(ValueError, match="Negative values"):
        getattr(estimator_checks, name)("PowerMeanSVC", wm.PowerMeanSVC())


def non_negative_blobs(*args, **kwargs):
    X, y = make_blobs(*args, **kwargs)
    return X - X.min(), y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600], X[600:1000], y[600:1000]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_float32_sparse_frames_and_lists_agree(estimator, digits):
    X, y, X_test, _ = digits
    X, y = X[:150], y[:150]
    plain = clone(estimator).fit(X, y).decision_function(X_test)
    assert plain.shape == (400, 10)
    assert plain.dtype == np.float64
    scale = np.abs(plain).max()
    for made in (np.float32, sparse.csr_array, sparse.csr_matrix, lambda a: a.tolist(), np.asfortranarray):
        other = clone(estimator).fit(made(X), y).decision_function(made(X_test))
        np.testing.assert_allclose(other, plain, atol=1e-4 * scale)
    for library in ("pandas", "polars"):
        frames = importlib.import_module(library)
        columns = [f"pixel {i}" for i in range(64)]
        fitted = clone(estimator).fit(frames.DataFrame(dict(zip(columns, X.T, strict=True))), y)
        assert list(fitted.feature_names_in_) == columns
        np.testing.assert_allclose(
            fitted.decision_function(frames.DataFrame(dict(zip(columns, X_test.T, strict=True)))),
            plain,
            atol=1e-6 * scale,
        )


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_class_weight(estimator):
    X, y = make_classification(400, 6, n_informative=4, weights=[0.9], random_state=0, class_sep=0.4)
    X = MinMaxScaler().fit_transform(X)
    share = [np.mean(clone(estimator).set_params(class_weight=w).fit(X, y).predict(X) == 1) for w in (None, "balanced")]
    assert share[0] < share[1]
    # Leave-one-out takes away a copy of a sample, and weighs it as its class does: what it decides is given here.
    others: dict[str, object] = {}
    if isinstance(estimator, wm.PowerMeanSVC):
        others = {"kernel": -1.0, "nodes": 3}
    elif isinstance(estimator, wm.BasisExpansionSVC):
        others = {"similarity": "rbf", "normalization": "mean_norm"}
    estimator = clone(estimator).set_params(C=0.1, **others)
    by_hand = clone(estimator).set_params(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    by_sample = clone(estimator).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(by_hand.decision_function(X), by_sample.decision_function(X), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"class_weight names the classes \[7\].*it has 0, 1"):
        clone(estimator).set_params(class_weight={7: 2.0}).fit(X, y)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_a_step_among_others(estimator, digits):
    X, y, X_test, y_test = digits
    X, y, X_test, y_test = X[y < 4], y[y < 4], X_test[y_test < 4], y_test[y_test < 4]
    pipe = make_pipeline(MinMaxScaler(clip=True), clone(estimator))
    name = type(estimator).__name__.lower()
    search = GridSearchCV(pipe, {f"{name}__C": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, y)
    assert search.score(X_test, y_test) > 0.85
    calibrated = CalibratedClassifierCV(clone(estimator), cv=2).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X_test).sum(axis=1), 1.0)
    assert OneVsRestClassifier(clone(estimator)).fit(X, y).score(X_test, y_test) > 0.85


def test_pickles_go_through_a_fresh_process(digits, tmp_path):
    X, y, X_test, _ = digits
    fitted = [clone(one).fit(X, y) for one in CLASSIFIERS]
    (tmp_path / "models.pickle").write_bytes(pickle.dumps(fitted))
    np.save(tmp_path / "X.npy", X_test)
    code = (
        "import pickle, sys, pathlib, numpy as np; folder = pathlib.Path(sys.argv[1]);"
        "models, X = pickle.loads((folder / 'models.pickle').read_bytes()), np.load(folder / 'X.npy');"
        "np.save(folder / 'scores.npy', [model.decision_function(X) for model in models])"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), [one.decision_function(X_test) for one in fitted])


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_wrong_parameters_are_named(estimator):
    X, y = load_iris(return_X_y=True)
    for params, words in [
        ({"C": -1.0}, "'C' parameter"),
        ({"tol": 2.0}, "'tol' parameter"),
        ({"time_limit": -1.0}, "'time_limit' parameter"),
        ({"class_weight": "balance"}, "'class_weight' parameter"),
    ]:
        with pytest.raises(ValueError, match=words):
            clone(estimator).set_params(**params).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (wm.PowerMeanSVC(kernel="ch2"), "'kernel' parameter of PowerMeanSVC.*Did you mean 'chi2'"),
        (wm.PowerMeanSVC(loss="square_hinge"), "Did you mean 'squared_hinge'"),
        (wm.PowerMeanSVC(approximation="poly"), "'polynomial'"),
        (wm.PowerMeanSVC(scale="min"), "'scale' parameter"),
        (wm.PowerMeanSVC(kernel=1.0), "'kernel' parameter.*BasisExpansionSVC.*p=1.0"),
        (wm.PowerMeanSVC(kernel=np.nan), "'kernel' parameter"),
        (wm.PowerMeanSVC(approximation="polynomial", nodes=1), "n_nodes = 1"),
        (wm.PowerMeanSVC(approximation="polynomial", nodes=[0.5]), "from 2 to 16"),
        (wm.PowerMeanSVC(approximation="polynomial", nodes=[0.5, 1.5]), "nodes = 1.5.*at most 1"),
        (wm.PowerMeanSVC(approximation="polynomial", nodes=[0.5, 0.2, 0.5]), "nodes = 0.5.*repeated"),
        (wm.PowerMeanSVC(nodes=[0.5, -1.0]), "nodes = -1.*above 0"),
        (wm.PowerMeanSVC(kernel="power_mean"), "exponent of the power mean"),
        *[
            (wm.PowerMeanSVC(**{name: "best"}), f"The '{name}' parameter of PowerMeanSVC must be.*auto")
            for name in ("kernel", "C", "nodes")
        ],
        (wm.PowerMeanSVC(nodes=17), "'nodes' parameter.*from 1 to 16"),
        (wm.BasisExpansionSVC(similarity="rfb"), "rbf"),
        (wm.BasisExpansionSVC("rbf:weight=2+laplacian"), r"a list, \['rbf:weight=2', 'laplacian'\]"),
        (wm.BasisExpansionSVC(normalization="nystrom"), "Did you mean 'nystroem'"),
        (wm.BasisExpansionSVC(negative_eigenvalues="clipped"), "Did you mean 'clip'"),
        (
            wm.BasisExpansionSVC(normalization="centered", negative_eigenvalues="square"),
            "'square' is only for 'nystroem'",
        ),
        (wm.BasisExpansionSVC(basis="indexes"), "Did you mean 'index'"),
        (wm.BasisExpansionSVC(basis=[0, -1]), "'basis' parameter of BasisExpansionSVC has the row -1"),
        (wm.BasisExpansionSVC(basis=[0, 0, 1]), "twice|more than once"),
        (wm.BasisExpansionSVC(basis=[5, 100000]), "100000"),
        (wm.BasisExpansionSVC(n_basis=0), "'n_basis' parameter"),
        (wm.BasisExpansionSVC(max_basis=0), "'max_basis' parameter"),
        (wm.BasisExpansionSVC(C="best"), "'C' parameter of BasisExpansionSVC must be a float in the range .*'auto'"),
        (wm.BasisExpansionSVC(penalty="l1", C="auto"), "number above 0 with penalty l1"),
        *[(on_bases(penalty="l1", loss=loss), "squared_hinge with penalty l1") for loss in ("hinge", "squared_error")],
        (on_bases(penalty="l1", normalization="nystroem"), "where each feature belongs to a basis"),
        (on_bases(max_basis=5, normalization="nystroem"), "where each feature belongs to a basis"),
        (on_bases("rbf:bases=5", penalty="l1"), "compare with all bases"),
        (on_bases("rbf:bases=5", max_basis=5), "compare with all bases"),
        (on_bases("rbf:weight=auto", loss="logistic"), "squared_hinge where a weight is auto"),
        (on_bases("rbf:weight=-1"), "above 0, or auto"),
        (on_bases(["precomputed", "features"]), "cannot be combined"),
        (on_bases(["features", lambda x, y: 1.0]), "cannot be combined with a function"),
        (on_bases(["features:bases=2", "rbf"]), "no bases"),
        (on_bases("features", normalization="nystroem"), "no similarities between bases"),
        (wm.ThinPlateSVC(kernel="thinplate"), "Did you mean 'thin_plate'"),
        (wm.ThinPlateSVC(polynomials="fre"), "Did you mean 'free'"),
        (wm.ThinPlateSVC(C="best"), "'C' parameter.*'auto'"),
        (wm.ThinPlateSVC(basis="medoids", n_basis=3), "Did you mean 'kmedoids'"),
    ],
)
def test_names_and_their_nearest_spelling(estimator, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y)


def test_a_fit_that_is_cut_short_says_what_gap_it_reached(digits):
    X, y, *_ = digits
    estimator = next(one for one in CLASSIFIERS if isinstance(one, wm.PowerMeanSVC))
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        clone(estimator).set_params(max_iter=0).fit(X, y)
    cut = clone(estimator).set_params(C=100.0, max_iter=1, tol=1e-6)
    with pytest.warns(ConvergenceWarning, match="not converged.*gap is"):
        cut.fit(X, y)
    assert cut.report_["status"] == "iteration_limit"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(estimator).fit(X, y)
    assert fitted.report_["status"] == "converged"


def test_a_time_limit_ends_the_fit():
    rng = np.random.default_rng(0)
    X, y = rng.random((20000, 40)), rng.integers(0, 10, 20000)

    def fitted_within(limit):
        try:
            return wm.PowerMeanSVC(C=100.0, tol=1e-5, time_limit=limit).fit(X, y)
        except ValueError as error:
            # A busy machine does not get to a first fit in so little time.
            if "time limit is too short" not in str(error):
                raise
            return fitted_within(4 * limit)

    with pytest.warns(ConvergenceWarning, match="time limit"):
        fitted = fitted_within(0.2)
    assert fitted.report_["status"] == "time_limit"
    assert fitted.predict(X[:3]).shape == (3,)


def test_decisions_follow_from_the_published_arrays(digits):
    X, y, X_test, _ = digits
    svc = wm.BasisExpansionSVC("rbf:gamma=0.001", n_basis=100, normalization="none").fit(X, y)
    squared = ((X_test[:, None, :] - svc.basis_[None, :, :]) ** 2).sum(-1)
    by_hand = np.exp(-0.001 * squared) @ svc.coef_.T + svc.intercept_
    np.testing.assert_allclose(svc.decision_function(X_test), by_hand, atol=2e-4 * np.abs(by_hand).max())
    np.testing.assert_array_equal(svc.basis_, X[svc.basis_indices_].astype(np.float32))


def test_metadata_routing_hands_weights_on(digits):
    import sklearn

    X, y, *_ = digits
    with sklearn.config_context(enable_metadata_routing=True):
        svc = wm.PowerMeanSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(svc, X, y, params={"sample_weight": np.ones(len(y))}, cv=2)
    assert scores.mean() > 0.8


def test_transformers_name_their_features(digits):
    import pandas

    X, y, *_ = digits
    frame = wm.BasisExpansion(n_basis=20).set_output(transform="pandas").fit_transform(X, y)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns)[:2] == ["basisexpansion0", "basisexpansion1"]
    same = make_pipeline(wm.BasisExpansion(n_basis=20), StandardScaler(), wm.ThinPlateSVC(n_basis=30)).fit(X, y)
    assert same.score(X, y) > 0.6  # by chance is 0.1; twelve seeds gave 0.68 to 0.82


def test_importing_brings_no_more_than_scikit_learn_needs():
    heavy = "{'matplotlib', 'onnx', 'tqdm', 'dask', 'IPython', 'polars'}"
    names = "widemargin.PowerMeanSVC, widemargin.similarity, widemargin.testing, widemargin.inspection"
    code = f"import widemargin, sys; {names}; assert not {heavy} & set(sys.modules), sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_report_is_shown_in_notebooks(digits):
    X, y, *_ = digits
    svc = wm.ThinPlateSVC(n_basis=30).fit(X, y)
    for page in (svc._repr_html_(), svc._repr_mimebundle_()["text/html"]):
        assert "widemargin-report" in page
        assert "relative duality gap" in page
    assert "widemargin-report" not in wm.ThinPlateSVC()._repr_html_()


def test_n_jobs_is_at_most_the_machine_s_cores():
    X = np.random.default_rng(0).random((60, 4))
    y = np.arange(60) % 2
    plain = wm.PowerMeanSVC(random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="n_jobs=100000 exceeds the number of cores"):
        many = wm.PowerMeanSVC(n_jobs=100000, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="n_jobs=100000"):
        np.testing.assert_array_equal(many.decision_function(X), plain.decision_function(X))


def test_columns_beyond_memory_are_a_memory_error():
    shape = (4, 2**31 - 1)
    X = sparse.csr_matrix((np.ones(4), np.array([0, 1, shape[1] - 1, 0]), np.arange(5)), shape=shape)
    for estimator in (wm.PowerMeanSVC(), wm.ThinPlateSVC(), wm.BasisExpansionSVC()):
        with limited_addresses(4 << 30), pytest.raises(MemoryError, match="features"):
            estimator.fit(X, [0, 1, 0, 1])


@contextlib.contextmanager
def limited_addresses(size):
    """A limit on the address space: 2^31 columns do not fit."""
    resource = pytest.importorskip("resource")
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
