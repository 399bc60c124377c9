"""What all tests share."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _seeded():
    """Every test finds NumPy's global generator, which estimators without `random_state` draw from, the same."""
    np.random.seed(0)  # noqa: NPY002  scikit-learn's `random_state=None` is this generator


@pytest.fixture(scope="module")
def client():
    """Two Dask workers in this process: threads, so that a test takes no second to begin."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
