"""What all tests share."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _seeded():
    """An estimator without `random_state` draws from NumPy's global generator: every test finds it in the same state."""
    np.random.seed(0)
