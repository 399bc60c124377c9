"""Where the seconds of a fit are counted."""

from compared import candidates
from sklearn.datasets import load_digits

import widemargin as wm

X, y = load_digits(return_X_y=True)
X, y = X[:200], y[:200]


def test_the_report_has_the_search_as_a_stage():
    for estimator in (wm.BasisExpansionSVC(), wm.BasisExpansionRegressor(), wm.AutoSVC(methods=["basis_expansion"])):
        fitted = estimator.fit(X, y)
        stages = {stage["name"]: stage["seconds"] for stage in fitted.report_["stages"]}
        assert next(iter(stages)) == "search"
        assert stages["search"] >= sum(one["mean_fit_time"] for one in candidates(fitted)) / 2
    given = wm.BasisExpansionSVC("rbf", n_basis=20, normalization="none").fit(X, y)
    assert "search" not in [stage["name"] for stage in given.report_["stages"]]
