"""What all tests share."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _seeded():
    """Every test finds NumPy's global generator, which estimators without `random_state` draw from, the same."""
    np.random.seed(0)  # noqa: NPY002  scikit-learn's `random_state=None` is this generator
