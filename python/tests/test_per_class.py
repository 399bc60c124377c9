"""C for each class, against fits of each class against the others."""

from __future__ import annotations

import numpy as np
import pytest
from compared import path
from sklearn.datasets import load_digits, load_wine

from widemargin import BasisExpansionSVC, ThinPlateSVC
from widemargin.inspection import PathDisplay, dual_variables, margins

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "thin_plate"}, {"n_basis": 40, "basis": "index"}, {"standardize": True}]
)
def test_it_is_a_fit_of_each_class_against_the_others(options):
    model = ThinPlateSVC(C="auto_per_class", **{"kernel": "distance", "standardize": False, **options}).fit(X, y)
    assert model.C_.shape == (3,)
    decision = model.decision_function(X)
    for problem in range(3):
        alone = ThinPlateSVC(**{"kernel": "distance", "standardize": False, **options}).fit(X, y == problem)
        assert model.C_[problem] == pytest.approx(alone.C_, rel=1e-12)
        np.testing.assert_allclose(decision[:, problem], alone.decision_function(X), rtol=1e-9, atol=1e-9)
        of_class = [one["label"] == problem for one in path(model)["params"]]
        np.testing.assert_allclose(path(model)["hinge"][of_class], path(alone)["hinge"])
        assert margins(model)[problem] == pytest.approx(margins(alone)[0], rel=1e-9)
        np.testing.assert_allclose(
            dual_variables(model, X, y)[:, problem], dual_variables(alone, X, y == problem)[:, 0], atol=1e-6
        )


def test_two_classes_have_one_problem():
    one, other = (
        ThinPlateSVC(C=C, kernel="distance", standardize=False).fit(X, y > 0) for C in ("auto_per_class", "auto")
    )
    assert one.C_ == other.C_
    assert (one.decision_function(X) == other.decision_function(X)).all()


def test_it_is_as_good_on_digits():
    digits, labels = load_digits(return_X_y=True)
    train, test = slice(0, 800), slice(800, None)
    shared = ThinPlateSVC(kernel="distance", standardize=False).fit(digits[train], labels[train])
    own = ThinPlateSVC(C="auto_per_class", kernel="distance", standardize=False).fit(digits[train], labels[train])
    assert len(set(own.C_)) > 1
    assert own.score(digits[test], labels[test]) > shared.score(digits[test], labels[test]) - 0.01
    assert any("C was selected for each class" in note for note in own.report_["notes"])


def test_another_similarity_is_answered_with_what_takes_it():
    with pytest.raises(ValueError, match=r"BasisExpansionSVC\('edit', normalization='centered'\)"):
        ThinPlateSVC(kernel="edit", standardize=False).fit(X, y)
    assert ThinPlateSVC(kernel="inverse_multiquadric:gamma=0.1", standardize=False).fit(X, y).score(X, y) > 0.9


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="auto_per_class"):
        ThinPlateSVC(C="per_class", kernel="distance", standardize=False).fit(X, y)
    model = ThinPlateSVC(C="auto_per_class", kernel="distance", standardize=False).fit(X, y)
    with pytest.raises(ValueError, match="each class has its own path"):
        PathDisplay.from_estimator(model)
    shown = PathDisplay.from_estimator(model, label=1)
    assert shown.ax_.lines[1].get_xdata()[0] == model.C_[1]
    assert "class 1" in shown.title
    assert PathDisplay.from_estimator(BasisExpansionSVC(C="auto").fit(X, y)).ax_right_ is not None
