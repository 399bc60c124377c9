"""Scores and curves have scikit-learn's values, on random cases with ties and weights."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics

from widemargin import _core

FEW = settings(max_examples=60, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)


def problem(seed, n_classes):
    """Classes, decision values with many ties, and weights with some zeros."""
    random = np.random.default_rng(seed)
    n = int(random.integers(n_classes, 40))
    codes = random.permutation(np.concatenate([np.arange(n_classes), random.integers(0, n_classes, n - n_classes)]))
    n_columns = 1 if n_classes == 2 else n_classes
    values = (random.integers(-4, 5, (n, n_columns)) / 4).astype(np.float32)
    weights = random.integers(0, 4, n) / 2 if random.integers(2) else None
    if weights is not None:
        # A class must weigh something.
        assume(all(weights[codes == code].sum() > 0 for code in range(n_classes)))
    return codes, values, weights


def decided(values):
    return (values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)


@FEW
@given(SEEDS, st.integers(2, 4))
def test_scores_of_decision_values(seed, n_classes):
    codes, values, weights = problem(seed, n_classes)
    predicted, given_weights = decided(values), {"sample_weight": weights}

    def ours(name):
        return _core.class_score(name, codes.tolist(), n_classes, values.ravel(), weights)

    columns = [values[:, 0]] if n_classes == 2 else list(values.T)
    sides = [codes == 1] if n_classes == 2 else [codes == code for code in range(n_classes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        areas = [metrics.roc_auc_score(s, v, **given_weights) for s, v in zip(sides, columns, strict=True)]
        expected = {
            "accuracy": metrics.accuracy_score(codes, predicted, **given_weights),
            "balanced-accuracy": metrics.balanced_accuracy_score(codes, predicted, **given_weights),
            "f1-macro": metrics.f1_score(codes, predicted, average="macro", **given_weights),
            "roc-auc": np.mean(areas),
        }
        if n_classes == 2:
            expected["average-precision"] = metrics.average_precision_score(codes, values[:, 0], **given_weights)
    for name, score in expected.items():
        assert ours(name) == pytest.approx(score, abs=1e-12), name


@FEW
@given(SEEDS)
def test_curves(seed):
    codes, values, weights = problem(seed, 2)
    values, weights = values[:, 0], np.ones(len(codes)) if weights is None else weights
    roc, precision_recall = _core.curves(values, (codes == 1).tolist(), weights)
    false, true, _ = metrics.roc_curve(codes, values, sample_weight=weights, drop_intermediate=False)
    np.testing.assert_allclose(roc, np.column_stack([false, true]), atol=1e-12)
    # scikit-learn has ascending thresholds, one for samples without weight too.
    kept = weights > 0
    precision, recall, _ = metrics.precision_recall_curve(codes[kept], values[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(precision_recall, np.column_stack([recall, precision])[::-1], atol=1e-12)


@FEW
@given(SEEDS, st.integers(2, 4))
def test_scores_of_probabilities(seed, n_classes):
    random = np.random.default_rng(seed)
    codes, _, weights = problem(seed, n_classes)
    p = random.dirichlet(np.full(n_classes, 0.3), len(codes))
    p[0] = np.eye(n_classes)[(codes[0] + 1) % n_classes]  # sure, and wrong
    log_loss, brier = _core.probability_scores(codes.tolist(), n_classes, p.ravel(), weights)
    labels = np.arange(n_classes)
    assert log_loss == pytest.approx(metrics.log_loss(codes, p, sample_weight=weights, labels=labels), rel=1e-12)
    given_p = p[:, 1] if n_classes == 2 else p
    expected = metrics.brier_score_loss(
        codes, given_p, sample_weight=weights, **({"labels": labels} if n_classes > 2 else {})
    )
    assert brier == pytest.approx(expected, rel=1e-12)


@FEW
@given(SEEDS, st.booleans(), st.booleans())
def test_scores_of_numbers(seed, is_constant, is_met):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    y = np.full(n, 0.5) if is_constant else random.normal(size=n)
    f = y.copy() if is_met else y + random.normal(size=n)
    weights = random.integers(1, 4, n) / 2 if random.integers(2) else None
    found = _core.regression_scores(y, f, weights)
    assert found == pytest.approx(
        {
            "r2": metrics.r2_score(y, f, sample_weight=weights),
            "neg-mean-absolute-error": -metrics.mean_absolute_error(y, f, sample_weight=weights),
            "neg-root-mean-squared-error": -metrics.root_mean_squared_error(y, f, sample_weight=weights),
            "neg-mean-pinball-loss": -metrics.mean_pinball_loss(y, f, sample_weight=weights),
        },
        abs=1e-10,
    )


def test_what_is_undefined_is_refused():
    with pytest.raises(ValueError, match=r"sum to 0\.5"):
        _core.probability_scores([0], 2, np.array([0.25, 0.25]))
    with pytest.raises(ValueError, match="two samples"):
        _core.regression_scores(np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match="no sample of class '1'"):
        _core.class_score("roc-auc", [0, 0], 2, np.zeros(2, np.float32))
