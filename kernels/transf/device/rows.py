"""What is done with rows of images on the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernels.device import Buffer, Device

from ..engine import NONE, Problem
from ..hashing import BLOCK, STEP, HashKey, row_stride
from ..maps import Maps
from .graph import Graph
from .launches import THREADS, Argument, arguments
from .memory import Memory, Vector
from .store import RowStore

SOURCE = Path(__file__).with_name("rows.cu")
BLOCK_VECTORS = 4 * BLOCK // STEP
_SHARED = 48 << 10  # bytes that every kernel can have
_FEW = 24 << 10  # bytes: with more, too few blocks of THREADS run at a time


def padded(rows: Maps) -> Maps:
    """Rows as the device has them, zeros at their ends."""
    count, width = rows.shape
    result = np.zeros((count, row_stride(width, rows.itemsize) // rows.itemsize), rows.dtype)
    result[:, :width] = rows
    return result


class Generators:
    """The generators, on the device."""

    def __init__(self, memory: Memory, problem: Problem) -> None:
        maps = problem.generators
        self.letters, self.degree = maps.shape
        self.dtype = maps.dtype
        self.buffer = memory.put(maps)


class RowKernels:
    """Launches on rows of `width` images, which begin as `empty`, the row of the empty word.

    Without a store all rows are made from their words.
    """

    def __init__(
        self,
        memory: Memory,
        generators: Generators,
        empty: Maps,
        graph: Graph,
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
        self, count: int, products: Argument, slots: Argument, hashes: Argument, key: DeviceKey
    ) -> None:
        """Products of rows and generators into their slots; their hashes, which are nought
        before."""
        images = self._generators.buffer.nbytes
        in_shared = key.nbytes + images <= _SHARED
        self._launch(
            "transf_multiply", count, products, slots, hashes, key.words, key.factors,
            self._generators.letters, int(in_shared), *self._rows(),
            shared=key.nbytes + (images if in_shared else 0),
        )  # fmt: skip

    def hash(self, count: int, rows: Buffer, hashes: Buffer, key: DeviceKey) -> None:
        """The hashes of rows, which are nought before."""
        self._launch("transf_hash", count, rows, hashes, key.words, key.factors, self._vectors)

    def compare(
        self,
        count: int,
        others: Vector,
        targets: Vector,
        products: Vector,
        slots: Vector,
        counters: Buffer,
    ) -> None:
        self._launch(
            "transf_compare", count, others, targets, products, slots, counters, *self._rows()
        )

    def rows(self, count: int, numbers: Buffer, out: Buffer) -> None:
        self._launch("transf_rows", count, numbers, out, *self._rows())

    def same(self, count: int, numbers: Buffer, given: Buffer, same: Buffer) -> None:
        self._launch("transf_same", count, numbers, given, same, *self._rows())

    def differ(self, count: int, maps: Sequence[Buffer], least: Buffer) -> None:
        """maps: numbers, letters, and the numbers of their products."""
        self._launch("transf_differ", count, *maps, least, *self._rows())

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
        """What ROWS_PARAMETERS of rows.hpp are."""
        generators, graph, store = self._generators, self._graph, self._store
        places: tuple[Argument, Argument] = self._empty, NONE
        if store is not None:
            places = store.segments, store.shift
        return (
            generators.buffer, generators.degree, self.width, self._empty, graph.heads,
            graph.slots, *places,
        )  # fmt: skip


class DeviceKey:
    """What of a HashKey is needed for rows of `stride` bytes, on the device."""

    def __init__(self, memory: Memory, key: HashKey, stride: int) -> None:
        self.nbytes = STEP * (min(stride // STEP, BLOCK_VECTORS) + 1)
        self.words = memory.put(key.words[: self.nbytes // 4])
        self.factors = memory.put(key.factors)
        self.mask = key.mask


def upload(device: Device, array: Any) -> Buffer:
    """For a moment, beside what an enumeration has."""
    buffer = device.alloc(array.nbytes)
    device.upload(buffer, np.ascontiguousarray(array))
    return buffer
