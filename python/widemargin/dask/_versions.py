"""Checks that all workers have this package in this version."""

from __future__ import annotations

from distributed import Client

from .. import _core


def check(client: Client) -> None:
    """Checks the workers of a cluster before a fit.

    Raises
    ------
    RuntimeError
        If there are no workers, or one has no widemargin or another version of it.
    """
    versions = client.run(_version)
    if not versions:
        raise RuntimeError("the cluster has no workers: start some, or wait for them with client.wait_for_workers(1)")
    own = _core.version()
    for worker, found in versions.items():
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
