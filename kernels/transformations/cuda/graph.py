"""Keep words, graphs and the hash table of an enumeration on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer

from ..contract import NONE, CayleyTables, HashCollisionError
from .launches import GRAPH, TILE, blocks, clear, launch
from .memory import DeviceBudget, GrowingArray

# As in common.hpp.
_COMPUTED, _FOUND, _FREED, _DIFFERS, _BROKEN, _COUNTERS = 1, 2, 3, 4, 5, 6
_START = 1 << 16  # numbers that there is room for in the beginning, where there is much memory

Words = npt.NDArray[np.uint32]


class DeviceCounters:
    """Counters of the kernels, as they were when they were last read."""

    def __init__(self, memory: DeviceBudget) -> None:
        self._device = memory.device
        self.buffer = memory.take(4 * _COUNTERS)
        self.reset()

    def reset(self) -> None:
        """Set all counters to 0."""
        self._values = np.zeros(_COUNTERS, np.uint32)
        self._device.upload(self.buffer, self._values)

    def read(self) -> DeviceCounters:
        """Wait for all that was launched, and fetch the counters."""
        self._device.download(self._values, self.buffer)
        return self

    def check(self) -> None:
        """Raise HashCollisionError, or ValueError if tables contradict themselves."""
        differs, broken = self._values[[_DIFFERS, _BROKEN]]
        if differs or broken:
            self.reset()
        if broken:
            raise ValueError("the tables contradict each other: no semigroup has them")
        if differs:
            raise HashCollisionError("two rows that differ have the same hash")

    @property
    def computed(self) -> int:
        """Count of the products of a batch that are computed."""
        return int(self._values[_COMPUTED])

    @property
    def found(self) -> int:
        """Count of the computed products that are new."""
        return int(self._values[_FOUND])

    @property
    def freed(self) -> int:
        """Count of the slots whose rows were there already, or were given up."""
        return int(self._values[_FREED])


class DeviceGraph:
    """Holds the arrays of all numbers; in the beginning there is number 0.

    heads: first generator and suffix. edges: prefix and last generator. right, left: the Cayley
    graphs. hashes: of rows. slots: of the rows that are stored.
    """

    def __init__(self, memory: DeviceBudget, letters: int) -> None:
        self._memory, self.letters = memory, letters
        each = 8 + 8 + 16 + 4 + 8 * letters
        start = max(16, min(_START, memory.small // each))
        self.heads, self.edges = GrowingArray(memory, 8, start), GrowingArray(memory, 8, start)
        self.right, self.left = (GrowingArray(memory, 4 * letters, start) for _ in range(2))
        self.hashes, self.slots = GrowingArray(memory, 16, start), GrowingArray(memory, 4, start)

    def reserve(self, size: int, keep: int, expanded: int) -> None:
        """Make room for `size` numbers, but not for products on the left.

        keep, expanded: entries that stay, of the products on the right and of all else.
        """
        for vector in (self.heads, self.edges, self.hashes, self.slots):
            vector.reserve(size, keep)
        self.right.reserve(size, expanded)

    def get(self, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        """Return entries start … stop - 1 of one of CayleyTables.ARRAYS."""
        count = max(0, stop - start)
        vectors = {
            "first": (self.heads, 0),
            "suffix": (self.heads, 1),
            "prefix": (self.edges, 0),
            "last": (self.edges, 1),
        }
        if name in vectors:
            vector, column = vectors[name]
            pairs = np.empty((count, 2), np.uint32)
            self._download(pairs, vector, start)
            return pairs[:, column].copy()
        if name == "hashes":
            hashes = np.empty((count, 2), np.uint64)
            self._download(hashes, self.hashes, start)
            return hashes
        products = np.empty((count, self.letters), np.uint32)
        self._download(products, {"right": self.right, "left": self.left}[name], start)
        return products

    def put(self, tables: CayleyTables) -> None:
        """Upload tables; slots stay as they are. There must be room."""
        for vector, array in (
            (self.heads, np.stack((tables.first, tables.suffix), axis=1)),
            (self.edges, np.stack((tables.prefix, tables.last), axis=1)),
            (self.right, tables.right),
            (self.left, tables.left),
            (self.hashes, tables.hashes),
        ):
            if array.size:
                self._memory.device.upload(vector.buffer, np.ascontiguousarray(array))

    def _download(self, target: npt.NDArray[Any], vector: GrowingArray, start: int) -> None:
        if target.size:
            each = target.nbytes // len(target)
            self._memory.device.download(target, vector.buffer, start * each)


class HashTable:
    """Finds numbers by hashes: open addressing, slots for twice as many numbers as there may be.

    What is in it follows from the hashes: once `valid` is made false it is filled anew before it
    is used.
    """

    def __init__(
        self, memory: DeviceBudget, graph: DeviceGraph, counters: DeviceCounters, start: int
    ) -> None:
        """start: the least number that can be found."""
        self._memory, self._graph, self._counters = memory, graph, counters
        self._module = memory.device.module(GRAPH, {})
        self._start, self.log2, self.valid = start, 4, False
        self.buffer = memory.take(8 << self.log2)

    @property
    def arguments(self) -> tuple[Buffer, np.uint32]:
        """Slots, and the logarithm of their number, as kernels take them."""
        return self.buffer, np.uint32(self.log2)

    def reserve(self, numbers: int) -> None:
        """Make room for so many numbers. Raises MemoryError."""
        log2 = max(self.log2, (2 * numbers - 1).bit_length())
        if log2 > self.log2:
            new = self._memory.take(8 << log2)
            self.buffer, self.log2, self.valid = new, log2, False

    def fill(self, size: int) -> None:
        """Put in all numbers below size. Counters say whether two had the same hash."""
        clear(self._module, self.buffer, 2 << self.log2)
        count = max(0, size - self._start)
        launch(
            self._module, "semigroup_fill", blocks(count), self._start, count, self._graph.hashes,
            *self.arguments, self._counters.buffer,
        )  # fmt: skip
        self.valid = True

    def find(self, count: int, hashes: Buffer, numbers: Buffer) -> None:
        """Write the numbers that have the hashes, NONE where there is none."""
        launch(
            self._module, "semigroup_find", blocks(count), count, hashes, self._graph.hashes,
            *self.arguments, numbers,
        )  # fmt: skip


class ProductBatch:
    """Holds what is known of the products that are computed of one batch."""

    def __init__(self, memory: DeviceBudget) -> None:
        start = max(1, min(_START, memory.small // 64))
        self.flags, self.sums = (
            GrowingArray(memory, 4 * TILE // 32),
            GrowingArray(memory, 4, start // TILE),
        )
        self.products, self.hashes = GrowingArray(memory, 8, start), GrowingArray(memory, 16, start)
        self.slots, self.places = GrowingArray(memory, 4, start), GrowingArray(memory, 8, start)
        self.owners, self.numbers = GrowingArray(memory, 4, start), GrowingArray(memory, 4, start)
        self.others, self.targets = GrowingArray(memory, 4, start), GrowingArray(memory, 4, start)
        self.freed = GrowingArray(memory, 4, start)

    def reserve_pairs(self, pairs: int) -> None:
        """Make room for the flags of so many pairs of a number and a generator."""
        self.flags.reserve(-(-pairs // TILE), 0)
        self.sums.reserve(-(-pairs // TILE), 0)

    def reserve(self, count: int) -> None:
        """Make room for so many computed products."""
        for vector in (
            self.products, self.hashes, self.slots, self.places, self.owners, self.numbers,
        ):  # fmt: skip
            vector.reserve(count, 0)

    def reserve_others(self, count: int) -> None:
        """Make room for so many products that are not new."""
        for vector in (self.others, self.targets, self.freed):
            vector.reserve(count, 0)


def empty_word(hashes: npt.NDArray[np.uint64]) -> CayleyTables:
    """Return the tables of number 0 alone."""
    none = np.full(1, NONE, np.uint32)
    nothing = np.empty((0, 0), np.uint32)
    return CayleyTables([0, 1], none, none, none, none, nothing, nothing, hashes)
