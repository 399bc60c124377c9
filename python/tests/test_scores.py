"""The scores of the command line are scikit-learn's."""

import json

import numpy as np
import pytest
from command_line import run
from sklearn import metrics

import widemargin as wm
from widemargin._model_files import save

NAMES = ["accuracy", "balanced-accuracy", "f1-macro", "roc-auc", "neg-log-loss", "neg-brier-score", "average-precision"]


def table(n_classes, n, seed):
    """Few distinct rows, so that decision values tie, and classes of different sizes."""
    random = np.random.default_rng(seed)
    y = np.minimum(random.integers(0, n_classes + 1, n), n_classes - 1)
    X = random.integers(0, 3, (n, 2)) + (y[:, None] == np.arange(1, 3))
    return X, y


def evaluated(folder, *options):
    return json.loads(run(folder, "evaluate", "model", "test.csv", "--json", *options))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_scikit_learn(tmp_path, n_classes):
    (X, y), (A, b) = table(n_classes, 90, 0), table(n_classes, 80, 1)
    svc = wm.ThinPlateSVC(C=1.0, kernel="distance", standardize=False).fit(X, y)
    save(svc, tmp_path / "model")
    np.savetxt(tmp_path / "test.csv", np.column_stack([b, A]), fmt="%d", delimiter=",", header="label,a,b", comments="")
    names = NAMES if n_classes == 2 else NAMES[:-1]
    evaluation = evaluated(tmp_path, "--metrics", ",".join(names))

    values, predicted = svc.decision_function(A).astype(np.float32), svc.predict(A)
    assert len(np.unique(values)) < values.size  # there are ties
    probabilities = svc.predict_proba(A)
    expected = {
        "accuracy": metrics.accuracy_score(b, predicted),
        "balanced-accuracy": metrics.balanced_accuracy_score(b, predicted),
        "f1-macro": metrics.f1_score(b, predicted, average="macro"),
        "roc-auc": metrics.roc_auc_score(b, values if n_classes == 2 else probabilities, multi_class="ovr"),
        "average-precision": None if n_classes > 2 else metrics.average_precision_score(b, values),
        "neg-log-loss": -metrics.log_loss(b, probabilities),
        "neg-brier-score": -metrics.brier_score_loss(b, probabilities if n_classes > 2 else probabilities[:, 1]),
    }
    # The command line calibrates decision values in single precision.
    assert evaluation["scores"] == pytest.approx({name: expected[name] for name in names}, abs=1e-6)
    exact = [name for name in names if not name.startswith("neg-")]
    assert {name: evaluation["scores"][name] for name in exact} == pytest.approx(
        {name: expected[name] for name in exact}, abs=1e-12
    )
    assert evaluation["log_loss"] == -evaluation["scores"]["neg-log-loss"]
    assert evaluation["brier_score"] == -evaluation["scores"]["neg-brier-score"]
    assert evaluation["roc_auc"] == pytest.approx(expected["roc-auc"], abs=1e-12)
    assert evaluation["average_precision"] == (evaluation["scores"]["average-precision"] if n_classes == 2 else None)
    confusion = evaluation["confusion_matrix"]
    assert confusion["labels"] == sorted({*b.tolist(), *predicted.tolist()})
    np.testing.assert_array_equal(confusion["counts"], metrics.confusion_matrix(b, predicted))
    of_classes = metrics.precision_recall_fscore_support(b, predicted, zero_division=0)
    for name, values_of in zip(["precision", "recall", "f1", "support"], of_classes, strict=True):
        assert [one[name] or 0 for one in evaluation["classes"]] == pytest.approx(values_of.tolist(), abs=1e-12)
    assert evaluation["balanced_accuracy"] == evaluation["scores"]["balanced-accuracy"]
    assert evaluation["f1_macro"] == evaluation["scores"]["f1-macro"]
    assert 0.5 < evaluation["accuracy"] < 1.0


def test_weighted_scores_of_classes_agree_with_the_confusion_matrix(tmp_path):
    (X, y), (A, b) = table(3, 90, 0), table(3, 80, 1)
    weights = np.random.default_rng(2).integers(0, 8, 80) / 4
    svc = wm.ThinPlateSVC(C=1.0, kernel="distance", standardize=False).fit(X, y)
    save(svc, tmp_path / "model")
    columns = np.column_stack([b, weights, A])
    np.savetxt(tmp_path / "test.csv", columns, delimiter=",", header="label,w,a,b", comments="")
    evaluation = evaluated(tmp_path, "--weight-column", "w")
    predicted, probabilities = svc.predict(A), svc.predict_proba(A)
    confusion = metrics.confusion_matrix(b, predicted, sample_weight=weights)
    np.testing.assert_allclose(evaluation["confusion_matrix"]["counts"], confusion)
    support = [one["support"] for one in evaluation["classes"]]
    assert support == pytest.approx(confusion.sum(axis=1).tolist())
    expected = [metrics.roc_auc_score(b == k, probabilities[:, k], sample_weight=weights) for k in range(3)]
    assert evaluation["roc_auc"] == pytest.approx(np.mean(expected), abs=1e-12)
    log_loss = metrics.log_loss(b, probabilities, sample_weight=weights)
    brier = metrics.brier_score_loss(b, probabilities, sample_weight=weights)
    assert (evaluation["log_loss"], evaluation["brier_score"]) == pytest.approx((log_loss, brier), abs=1e-6)


def test_weighted_scores_of_targets_are_those_of_scikit_learn(tmp_path):
    random = np.random.default_rng(3)
    A, y, weights = random.normal(size=(80, 3)), random.normal(size=80), random.integers(0, 4, 80) / 2
    regressor = wm.ThinPlateRegressor(C=1.0, kernel="distance").fit(A[:40], y[:40])
    save(regressor, tmp_path / "model")
    columns = np.column_stack([y, weights, A])
    np.savetxt(tmp_path / "test.csv", columns, delimiter=",", header="y,w,a,b,c", comments="", fmt="%.17g")
    names = ["r2", "neg-mean-absolute-error", "neg-root-mean-squared-error", "neg-mean-pinball-loss"]
    scores = evaluated(tmp_path, "--label", "y", "--weight-column", "w", "--metrics", ",".join(names))["scores"]
    predicted = regressor.predict(A)
    expected = {
        "r2": metrics.r2_score(y, predicted, sample_weight=weights),
        "neg-mean-absolute-error": -metrics.mean_absolute_error(y, predicted, sample_weight=weights),
        "neg-root-mean-squared-error": -metrics.root_mean_squared_error(y, predicted, sample_weight=weights),
        "neg-mean-pinball-loss": -metrics.mean_pinball_loss(y, predicted, sample_weight=weights),
    }
    assert scores == pytest.approx(expected, abs=1e-6)
