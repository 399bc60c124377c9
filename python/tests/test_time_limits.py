"""A time limit is shared between the search and the fit that it is for."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import widemargin as wm


@pytest.mark.parametrize("estimator", [wm.BasisExpansionSVC, wm.BasisExpansionRegressor])
def test_a_search_leaves_time_for_the_fit(estimator):
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcd"), 60)) for _ in range(2000)]
    targets = np.array([text.count("a") > 15 for text in strings]) + 0
    started = time.perf_counter()
    wm.similarity.pairwise("subsequence", strings[:250], strings[:250])
    # Whatever the speed of the machine: the first look at 250 samples takes a tenth of it, one at 1,000 the whole.
    limit = 5 * (time.perf_counter() - started)
    with pytest.warns(ConvergenceWarning, match="trained on"):
        fitted = estimator("subsequence", time_limit=limit, random_state=0).fit(strings, targets)
    [n_samples] = re.findall(r"trained on (\d+) of 2000 samples", " ".join(fitted.report_["warnings"]))
    assert int(n_samples) >= 150
