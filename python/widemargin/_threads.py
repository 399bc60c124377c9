"""How many threads ``n_jobs`` means."""

from __future__ import annotations

import warnings

from joblib import cpu_count, effective_n_jobs


def threads_of(n_jobs: int | None) -> int:
    """What joblib makes of it, but no more than there are cores, with a warning: more would only wait for each other,
    and many thousands take the machine down."""
    asked, cores = int(effective_n_jobs(n_jobs)), int(cpu_count())
    # Where n_jobs does not say, joblib may count the cores of a whole cluster.
    if n_jobs is not None and n_jobs > cores:
        warnings.warn(f"n_jobs={n_jobs} is more than the machine has cores: {cores} will work", stacklevel=3)
    return min(asked, cores)
