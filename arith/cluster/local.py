"""A cluster on this machine, for as long as a command runs."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

from kernels.backend import BackendUnavailableError
from kernels.cpu import core_count

from .errors import ClusterError

_FEW = 8  # workers, that any machine may try


def start(count: int, backend: str) -> Any:
    """A Dask cluster of `count` worker processes, each with a GPU of its own where there are
    some that may be used. Raises ClusterError where there are too few, or for too many."""
    from distributed import Nanny, Scheduler, SpecCluster

    most = max(_FEW, 4 * core_count())
    if not 1 <= count <= most:
        raise ClusterError(f"local:{count}: 1 to {most} workers make sense here", 2)
    gpus = _gpus(count, backend)
    options = {
        "nthreads": 1,
        "memory_limit": 0,  # what tasks take is planned
        "silence_logs": logging.CRITICAL,
        "host": "127.0.0.1",
    }
    workers = {
        i: {
            "cls": Nanny,
            "options": options | {"env": {"CUDA_VISIBLE_DEVICES": gpus[i]} if gpus else {}},
        }
        for i in range(count)
    }
    scheduler = {
        "cls": Scheduler,
        "options": {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0"},
    }
    cluster: Any = SpecCluster
    made: Any = None
    try:
        with _deaf():
            made = cluster(scheduler=scheduler, workers=workers, silence_logs=logging.CRITICAL)
    except BaseException:  # Ctrl-C is heard when it is made
        if made is not None:
            made.close()
        raise
    return made


def _gpus(count: int, backend: str) -> list[str]:
    """As CUDA_VISIBLE_DEVICES has them, one for each worker; none where the CPU computes."""
    if backend not in ("auto", "cuda"):
        return []
    from kernels.cuda import device_count

    try:
        there = device_count()
    except BackendUnavailableError:
        if backend == "cuda":
            raise
        return []
    if not there and backend == "auto":
        return []
    if count > there:
        raise ClusterError(
            f"local:{count}: each worker has a GPU of its own, and there are {there} "
            f"(--backend cpu needs none)"
        )
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(i) for i in range(there)]
    return [name.strip() for name in names[:count]]


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Threads and processes that are begun here, and whatever they begin, never hear Ctrl-C: in
    a terminal it reaches all, and is the client's to deal with. The client hears it afterwards."""
    resource_tracker.ensure_running()  # which would unblock it again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
