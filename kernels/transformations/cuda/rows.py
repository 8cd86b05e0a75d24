"""Multiply, hash and compare rows of images on the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernels.targets.cuda.device import Buffer, Device

from ..contract import NONE, EnumerationProblem
from ..hashing import BLOCK, STEP, HashKey, row_stride
from ..maps import Maps
from .graph import DeviceGraph
from .launches import THREADS, Argument, arguments
from .memory import DeviceBudget, GrowingArray
from .store import RowStore

SOURCE = Path(__file__).with_name("rows.cu")
BLOCK_VECTORS = 4 * BLOCK // STEP
_SHARED = 48 << 10  # bytes that every kernel can have
_FEW = 24 << 10  # bytes: with more, too few blocks of THREADS run at a time


def padded(rows: Maps) -> Maps:
    """Return rows as the device has them, with zeros at their ends."""
    count, width = rows.shape
    result = np.zeros((count, row_stride(width, rows.itemsize) // rows.itemsize), rows.dtype)
    result[:, :width] = rows
    return result


class DeviceGenerators:
    """Holds the generators on the device."""

    def __init__(self, memory: DeviceBudget, problem: EnumerationProblem) -> None:
        maps = problem.generators
        self.letters, self.degree = maps.shape
        self.dtype = maps.dtype
        self.buffer = memory.put(maps)


class RowKernels:
    """Launches kernels on rows of `width` images, made from `empty`, the row of the empty word.

    Without a store all rows are made from their words.
    """

    def __init__(
        self,
        memory: DeviceBudget,
        generators: DeviceGenerators,
        empty: Maps,
        graph: DeviceGraph,
        store: RowStore | None,
    ) -> None:
        self._device, self._generators = memory.device, generators
        self._module = memory.device.module(SOURCE, {"ITEM": generators.dtype.itemsize})
        self._graph, self._store = graph, store
        self.width = empty.size
        self.stride = row_stride(self.width, empty.itemsize)
        self._empty = memory.put(padded(empty.reshape(1, -1)))
        self._vectors = self.stride // STEP
        self._lanes = 1 << min(5, (min(self._vectors, BLOCK_VECTORS) - 1).bit_length())

    def multiply(
        self, count: int, products: Argument, slots: Argument, hashes: Argument, key: DeviceHashKey
    ) -> None:
        """Write products of rows and generators into their slots, and add up their hashes.

        hashes: nought before.
        """
        images = self._generators.buffer.nbytes
        in_shared = key.nbytes + images <= _SHARED
        self._launch(
            "semigroup_multiply", count, products, slots, hashes, key.words, key.factors,
            self._generators.letters, int(in_shared), *self._rows(),
            shared=key.nbytes + (images if in_shared else 0),
        )  # fmt: skip

    def hash(self, count: int, rows: Buffer, hashes: Buffer, key: DeviceHashKey) -> None:
        """Add up the hashes of rows, which are nought before."""
        self._launch("semigroup_hash", count, rows, hashes, key.words, key.factors, self._vectors)

    def compare(
        self,
        count: int,
        others: GrowingArray,
        targets: GrowingArray,
        products: GrowingArray,
        slots: GrowingArray,
        counters: Buffer,
    ) -> None:
        """Set the counter of differences where a product that is not new differs from its equal."""
        self._launch(
            "semigroup_compare", count, others, targets, products, slots, counters, *self._rows()
        )

    def rows(self, count: int, numbers: Buffer, out: Buffer) -> None:
        """Write the rows of numbers one after the other into `out`."""
        self._launch("semigroup_rows", count, numbers, out, *self._rows())

    def same(self, count: int, numbers: Buffer, given: Buffer, same: Buffer) -> None:
        """Clear same[k] where the row of numbers[k] is not the row given[k]."""
        self._launch("semigroup_same", count, numbers, given, same, *self._rows())

    def differ(self, count: int, maps: Sequence[Buffer], least: Buffer) -> None:
        """Find the least product that differs. maps: numbers, letters, the products' numbers."""
        self._launch("semigroup_differ", count, *maps, least, *self._rows())

    def _launch(self, kernel: str, count: int, *args: Argument, shared: int = 0) -> None:
        if not count:
            return
        pieces = count * -(-self._vectors // BLOCK_VECTORS)
        needed = -(-pieces * self._lanes // 32) * 32
        threads = min(needed, THREADS if shared <= _FEW else 2 * THREADS)
        # As many as run at a time; where a block has nothing to load first, more of them.
        most = self._device.info.multiprocessors * 2048 // threads * (1 if shared else 8)
        self._module.launch(
            kernel,
            (min(-(-needed // threads), most), 1, 1),
            (threads, 1, 1),
            np.uint64(pieces),
            *arguments((self._lanes, *args)),
            shared=shared,
        )

    def _rows(self) -> tuple[Argument, ...]:
        """Return the arguments that ROWS_PARAMETERS of rows.hpp names."""
        generators, graph, store = self._generators, self._graph, self._store
        places: tuple[Argument, Argument] = self._empty, NONE
        if store is not None:
            places = store.segments, store.shift
        return (
            generators.buffer, generators.degree, self.width, self._empty, graph.heads,
            graph.slots, *places,
        )  # fmt: skip


class DeviceHashKey:
    """Holds the part of a HashKey that rows of `stride` bytes need, on the device."""

    def __init__(self, memory: DeviceBudget, key: HashKey, stride: int) -> None:
        self.nbytes = STEP * (min(stride // STEP, BLOCK_VECTORS) + 1)
        self.words = memory.put(key.words[: self.nbytes // 4])
        self.factors = memory.put(key.factors)
        self.mask = key.mask


def upload(device: Device, array: Any) -> Buffer:
    """Upload an array for a moment, beside what an enumeration has."""
    buffer = device.alloc(array.nbytes)
    device.upload(buffer, np.ascontiguousarray(array))
    return buffer
