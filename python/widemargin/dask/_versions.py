"""Whether all workers have this package in this version."""

from __future__ import annotations

from distributed import Client

from .. import _core


def check(client: Client) -> None:
    """Raises RuntimeError before a fit where a worker has not what the fit needs, naming it.

    Raises
    ------
    RuntimeError
        Where there are no workers, one has no widemargin, or another version of it.
    """
    told = client.run(_version)
    if not told:
        raise RuntimeError("the cluster has no workers: start some, or wait for them with client.wait_for_workers(1)")
    own = _core.version()
    for worker, found in told.items():
        if found is None:
            raise RuntimeError(f"worker {worker} has no widemargin: install widemargin {own} there")
        if found != own:
            raise RuntimeError(f"worker {worker} has widemargin {found}, here is {own}: they must be the same")


def _version() -> str | None:
    try:
        from widemargin import _core
    except ImportError:
        return None
    return _core.version()
