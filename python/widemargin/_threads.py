"""Interpretation of ``n_jobs``."""

from __future__ import annotations

from joblib import cpu_count, effective_n_jobs

from ._warn import warn


def threads_of(n_jobs: int | None) -> int:
    """The number of threads as joblib determines it, but with a warning at most the number of cores: more would only
    wait for each other, and many thousands overload the machine."""
    asked, cores = int(effective_n_jobs(n_jobs)), int(cpu_count())
    # If n_jobs is None, joblib may count the cores of a whole cluster.
    if n_jobs is not None and n_jobs > cores:
        warn(f"n_jobs={n_jobs} is more than the machine has cores: {cores} will work")
    return min(asked, cores)
