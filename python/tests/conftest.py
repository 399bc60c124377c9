"""Shared fixtures, and the check that no test is skipped unnoticed."""

import numpy as np
import pytest

# The reasons for which a test may be skipped, each with the part of pytest's message that identifies it. A test that is
# skipped for any other reason ends the run with an error, since what it should check is not checked.
ALLOWED_SKIPS = {
    "SCIPY_ARRAY_API is not set": "scikit-learn's check of array API support, which no estimator claims",
    "could not import 'sklearn.callback'": "scikit-learn has callbacks from 1.9 on",
    "could not import 'resource'": "Windows limits no address space",
    "signals are sent otherwise there": "Windows",
    "devices, links and permissions are those of Unix": "Windows",
}

_unexpected_skips: dict[str, str] = {}


def _record_skip(report):
    """Remembers a skipped test, or file of tests, whose reason is not in the list."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(allowed in reason for allowed in ALLOWED_SKIPS):
        _unexpected_skips[report.nodeid] = reason


def pytest_runtest_logreport(report):
    _record_skip(report)


def pytest_collectreport(report):
    _record_skip(report)


def pytest_sessionfinish(session):
    if _unexpected_skips and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if _unexpected_skips:
        terminalreporter.section("skipped for reasons that are not in ALLOWED_SKIPS of conftest.py", red=True)
        for test, reason in _unexpected_skips.items():
            terminalreporter.line(f"{test}: {reason}")


@pytest.fixture(autouse=True)
def _seeded():
    """Every test finds NumPy's global generator, which estimators without `random_state` draw from, the same."""
    np.random.seed(0)  # noqa: NPY002  scikit-learn's `random_state=None` is this generator


@pytest.fixture(scope="module")
def client():
    """Two Dask workers in this process: threads, so that a test takes no second to begin."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
