"""Keep rows on the device in slots of equal size, as many as memory allows."""

from __future__ import annotations

import numpy as np

from kernels.targets.cuda.device import Buffer

from .launches import GRAPH, at, blocks, launch
from .memory import DeviceBudget, GrowingArray

_SEGMENT = 4 << 20  # bytes, about
_LEAST = 2 << 20  # bytes, taken at a time where there is so much


class RowStore:
    """Manages slots for rows of `stride` bytes, in segments of 2^shift of them.

    They are free ones of a list, `free` of them, then fresh ones up to `capacity`. The rows
    are only a cache: drop() forgets them all.
    """

    def __init__(self, memory: DeviceBudget, stride: int) -> None:
        self._memory, self._stride = memory, stride
        self._module = memory.device.module(GRAPH, {})
        rows = max(1, min(_SEGMENT, memory.limit // 256) // stride)
        self.shift = rows.bit_length() - 1
        self.segments = GrowingArray(memory, 8)
        self.free_slots = GrowingArray(memory, 4)
        self._buffers: list[Buffer] = []
        self.free = self.fresh = self.capacity = 0

    @property
    def available(self) -> int:
        """Count of the slots that can be claimed without more memory."""
        return self.free + self.capacity - self.fresh

    @property
    def nbytes(self) -> int:
        """Bytes that the segments take."""
        return sum(buffer.nbytes for buffer in self._buffers)

    def grow(self, rows: int) -> None:
        """Add slots, so that `rows` are available, as far as there is memory.

        As much as all else takes is left for that to grow.
        """
        least = min(_LEAST, self._memory.small) // self._stride
        wanted = max(rows - self.available, self.capacity // 2, least)
        others = self._memory.used - self.nbytes
        room = self._memory.limit - self._memory.used - others
        if rows <= self.available or room <= 0:
            return
        segment = self._stride << self.shift
        # With every slot come four bytes in the list of free ones, with a segment its place.
        most = room // (segment + (8 << self.shift) + 16)
        count = min(-(-wanted >> self.shift), most)
        if count < 1:
            return
        slots = self.capacity + (count << self.shift)
        try:
            self.segments.reserve(slots >> self.shift, self.capacity >> self.shift, False)
            self.free_slots.reserve(slots, self.free, False)
            buffer = self._memory.take(count * segment, spare=False)
        except MemoryError:
            return
        first = at(self.segments, self.capacity >> self.shift, 8)
        size = np.uint64(segment)
        launch(self._module, "semigroup_segments", blocks(count), count, buffer, size, first)
        self._buffers.append(buffer)
        self.capacity = slots

    def claim(self, rows: int) -> tuple[int, int, int]:
        """Take slots for at most so many rows.

        Return how many of the free ones, which are the last of them, the first of the fresh ones,
        and how many in all.
        """
        taken = min(rows, self.available)
        reused, fresh = min(taken, self.free), self.fresh
        self.free -= reused
        self.fresh += taken - reused
        return reused, fresh, taken

    def take_back(self, slots: GrowingArray, count: int) -> None:
        """Free the first `count` slots of a list."""
        free = self.free_slots.buffer
        self._memory.device.copy(free, 4 * self.free, slots.buffer, 0, 4 * count)
        self.free += count

    def drop(self) -> None:
        """Give all slots and their memory back."""
        self._buffers = []
        self.free = self.fresh = self.capacity = 0
