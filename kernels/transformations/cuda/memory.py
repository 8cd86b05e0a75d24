"""Take device memory within a limit, and keep arrays in it that grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device


class DeviceBudget:
    """Hands out the device memory of one enumeration: at most `limit` bytes.

    spare: gives back what can be done without; False where there is nothing.
    """

    def __init__(self, device: Device, limit: int) -> None:
        self.device, self.limit = device, limit
        self.small = min(limit, device.info.memory) // 1024  # bytes that do not matter
        self.spare: Callable[[], bool] = lambda: False
        self._taken: WeakSet[Buffer] = WeakSet()

    @property
    def used(self) -> int:
        """Bytes of all that is still referred to, so that none are lost by an interrupt."""
        return sum(buffer.nbytes for buffer in self._taken)

    def take(self, nbytes: int, spare: bool = True) -> Buffer:
        """Allocate memory; before MemoryError is raised, others spare what they can, if told so."""
        while True:
            try:
                if self.used + nbytes > self.limit:
                    raise MemoryError(f"{nbytes:,} bytes more do not fit in {self.limit:,}")
                buffer = self.device.alloc(nbytes)
            except MemoryError:
                if not (spare and self.spare()):
                    raise
            else:
                self._taken.add(buffer)
                return buffer

    def put(self, array: npt.NDArray[Any]) -> Buffer:
        """Upload an array into memory of its own."""
        buffer = self.take(array.nbytes)
        self.device.upload(buffer, np.ascontiguousarray(array))
        return buffer


class GrowingArray:
    """Holds entries of `each` bytes on the device, with room for `capacity` of them."""

    def __init__(self, memory: DeviceBudget, each: int, capacity: int = 1) -> None:
        self._memory, self._each = memory, each
        self.capacity = max(1, capacity)
        self.buffer = memory.take(self.capacity * each)

    def reserve(self, count: int, keep: int, spare: bool = True) -> None:
        """Make room for `count` entries or more; the first `keep` stay. Raises MemoryError."""
        if count <= self.capacity:
            return
        wanted = max(count, 2 * self.capacity)
        try:
            new, capacity = self._memory.take(wanted * self._each, False), wanted
        except MemoryError:
            if not keep:
                # Nothing to copy: the old memory may serve for the new one.
                self.buffer, self.capacity = self._memory.take(self._each), 1
            new, capacity = self._less(count, spare)
        if keep:
            self._memory.device.copy(new, 0, self.buffer, 0, keep * self._each)
        self.buffer, self.capacity = new, capacity

    def _less(self, count: int, spare: bool) -> tuple[Buffer, int]:
        """Allocate somewhat more than is needed, or just that, even if others must spare memory."""
        more = max(count, self.capacity * 5 // 4)
        tries = [(more, False), (count, False)]
        if spare:
            tries += [(more, True), (count, True)]
        for capacity, give in tries:
            try:
                return self._memory.take(capacity * self._each, give), capacity
            except MemoryError as error:
                failed = error
        raise failed
