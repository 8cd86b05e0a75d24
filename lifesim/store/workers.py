"""Threads that share out the chunks of files, each with memory of its own to work in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from lifesim.store import disk

Bytes = npt.NDArray[np.uint8]


class Workers(ThreadPoolExecutor):
    """allocate: what makes a thread's memory; pages of the system unless told."""

    def __init__(self, count: int, allocate: Callable[[int], Bytes] = disk.aligned) -> None:
        super().__init__(count)
        self.count = count
        self._allocate = allocate
        self._own = threading.local()

    def memory(self, purpose: str, nbytes: int) -> Bytes:
        """Of the calling thread, which has one for each purpose and gets it again."""
        held: Bytes | None = getattr(self._own, purpose, None)
        if held is None or len(held) < nbytes:
            held = self._allocate(nbytes)
            setattr(self._own, purpose, held)
        return held[:nbytes]
