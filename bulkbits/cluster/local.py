"""A cluster on this machine, for as long as a command runs."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from tempfile import TemporaryDirectory
from typing import Any

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cpu import core_count

from . import tls
from .errors import ClusterError

_HOST = "127.0.0.1"
_FEW = 8  # workers, that any machine may try


@contextlib.contextmanager
def started(count: int, backend: str) -> Iterator[Any]:
    """Give a Dask cluster of `count` worker processes, each with a GPU of its own where there
    are some that may be used. Raises ClusterError where there are too few, or for too many.

    Nobody else on this machine has part in it: all connections take its one certificate, nothing
    listens for browsers, and scratch files, among which Dask looks for modules to import, are in
    a folder that no other user may enter.
    """
    from distributed import Nanny, SpecCluster

    from .quiet import QuietScheduler, QuietWorker

    most = max(_FEW, 4 * core_count())
    if not 1 <= count <= most:
        raise ClusterError(f"local:{count}: 1 to {most} workers make sense here", 2)
    gpus = _gpus(count, backend)
    security = tls.temporary()
    make: Any = SpecCluster
    with TemporaryDirectory(prefix="bulkbits-", ignore_cleanup_errors=True) as folder:
        common = {"host": _HOST, "security": security, "local_directory": folder}
        options = common | {
            "nthreads": 1,
            "memory_limit": 0,  # what tasks take is planned
            "silence_logs": logging.CRITICAL,
            "worker_class": QuietWorker,
        }
        workers = {
            i: {
                "cls": Nanny,
                "options": options | {"env": {"CUDA_VISIBLE_DEVICES": gpus[i]} if gpus else {}},
            }
            for i in range(count)
        }
        scheduler = {
            "cls": QuietScheduler,
            "options": common | {"protocol": "tls", "port": 0, "dashboard": False},
        }
        made: Any = None
        try:
            with _deaf():
                made = make(
                    scheduler=scheduler,
                    workers=workers,
                    security=security,
                    silence_logs=logging.CRITICAL,
                )
            yield made
        finally:  # Ctrl-C is heard when it is made
            if made is not None:
                made.close()
            # Once the folder is gone, anybody may make another of that name.
            sys.path[:] = [path for path in sys.path if not path.startswith(folder)]


def _gpus(count: int, backend: str) -> list[str]:
    """Return a GPU for each worker, as CUDA_VISIBLE_DEVICES has it; none where the CPU computes.

    Raises ClusterError where there are fewer GPUs than workers.
    """
    if backend not in ("auto", "cuda"):
        return []
    from kernels.targets.cuda.target import device_count

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
    """Keep Ctrl-C from threads and processes that are begun in the block, and from what they begin.

    In a terminal it reaches all processes, and is the client's to deal with. The client hears it
    after the block.
    """
    resource_tracker.ensure_running()  # which would unblock it again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
