"""Interpretation of ``n_jobs``."""

from __future__ import annotations

from joblib import cpu_count, effective_n_jobs

from ._warn import warn


def threads_of(n_jobs: int | None) -> int:
    """The number of threads as joblib determines it, limited with a warning to the number of cores: more threads would
    only wait for each other, and many thousands overload the machine."""
    requested, cores = int(effective_n_jobs(n_jobs)), int(cpu_count())
    # If n_jobs is None, joblib may count the cores of a whole cluster.
    if n_jobs is not None and n_jobs > cores:
        warn(f"n_jobs={n_jobs} exceeds the number of cores: {cores} threads are used")
    return min(requested, cores)
