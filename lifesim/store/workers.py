"""Threads that share out the chunks of files, each with memory of its own to work in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from lifesim.store import disk

_KEPT = 63

Bytes = npt.NDArray[np.uint8]


class TileWorkers(ThreadPoolExecutor):
    """Threads that make and read tiles' files, each with memory of its own. allocate: what makes a
    thread's memory; pages of the system unless told."""

    def __init__(self, count: int, allocate: Callable[[int], Bytes] = disk.aligned) -> None:
        super().__init__(count)
        self.count = count
        self._allocate = allocate
        self._own = threading.local()
        self._spare: list[Bytes] = []
        self._lock = threading.Lock()

    def lend(self, nbytes: int) -> Bytes:
        """Return memory that give_back() takes, for another of the same size: the system's own way
        of keeping what threads free would hold much more of it."""
        with self._lock:
            for i, spare in enumerate(self._spare):
                if len(spare) == nbytes:
                    return self._spare.pop(i)
        return disk.aligned(nbytes)

    def give_back(self, memory: Bytes) -> None:
        """Take memory that lend() gave."""
        with self._lock:
            self._spare = [*self._spare[-_KEPT:], memory]

    def memory(self, purpose: str, nbytes: int) -> Bytes:
        """Return memory of the calling thread, which has one for each purpose and gets it again."""
        held: Bytes | None = getattr(self._own, purpose, None)
        if held is None or len(held) < nbytes:
            held = self._allocate(nbytes)
            setattr(self._own, purpose, held)
        return held[:nbytes]
