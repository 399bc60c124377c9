"""The most memory that a call takes beyond what there was before, in a process of its own.

A process keeps what it once had, so that a second call in it would look smaller than it is.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import timing

MEBIBYTE = 2**20


def most_memory(call: Callable[..., Any], first: tuple[Any, ...], arguments: tuple[Any, ...]) -> float | None:
    """MiB of `call(*arguments)`, after `call(*first)`, whose libraries and pools are not counted; Linux alone tells."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    # Forked by a server that has loaded the libraries once and has done nothing else.
    context = get_context("forkserver")
    context.set_forkserver_preload(["__main__"])
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(_measure, call, first, arguments).result() / MEBIBYTE


def _measure(call: Callable[..., Any], first: tuple[Any, ...], arguments: tuple[Any, ...]) -> int:
    call(*first)
    before = timing.resident("VmRSS")
    timing.forget_peak()
    call(*arguments)
    return timing.resident("VmHWM") - before
