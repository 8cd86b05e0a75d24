"""Tables on a CUDA-like device: universes of a byte a cell, moved on a generation at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.life.chain import ChainedUniverse, ChainTurns, check_chain
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    Words,
    check_planes,
)
from kernels.tables.columns import columns_of
from kernels.tables.rules import TableRule
from kernels.targets.cuda.device import Buffer, Device, Slice

SOURCE = Path(__file__).with_name("tables.cu")
QUEUED = 64  # generations queued before the host waits, so that it can be interrupted
BAND_BYTES = 1 << 26  # of rows that are packed or unpacked at once
_BLOCK = 128  # threads
_MOST_ROWS = 65535  # of a grid of blocks
_RULE_BYTES = 32 << 20  # that the tables of a rule take at most


class CudaTablesEngine(LifeEngine[TableRule]):
    """Rules of tables on one CUDA-like device.

    planes: the bit planes of cells, the same for all rules that it computes.
    """

    def __init__(self, device: Device, planes: int) -> None:
        self.device, self.planes = device, planes

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: TableRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of cells in the device's memory."""
        check_planes(shapes, chain, self.planes)
        chosen = None if chain is None else self.chain(chain)
        return DeviceTablesArena(self, _most_cells(shapes, chain), slots, rule, chosen)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return 0, and the bytes of device memory that arena() would take."""
        check_planes(shapes, chain, self.planes)
        raw = max(8 * self.planes * shape.row_words * shape.height for shape in shapes)
        history = 0 if chain is None else 2 * chain.generations * chain.width
        cells = (slots + 1) * _most_cells(shapes, chain)
        return 0, cells + history + min(slots, 2) * min(raw, BAND_BYTES) + _RULE_BYTES

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return a chain whose passes are single generations."""
        check_planes((), shape, self.planes)
        check_chain(shape)
        return LifeChain(shape.width, shape.torus, (1,) * shape.generations, self.planes)


def _most_cells(shapes: Sequence[LifeShape], chain: ChainShape | None) -> int:
    """Return the cells of a slot: of the largest universe, in a chain with two rows above it."""
    sizes = [shape.width * shape.height for shape in shapes]
    if chain is not None:
        sizes = [size + 2 * chain.width for size in sizes]
        sizes.append(chain.width * (chain.height + 2))
    return max(sizes)


class DeviceTablesArena(LifeArena):
    """An arena of device buffers, the last of them the spare.

    A generation reads one, writes the spare, and they swap.
    """

    def __init__(
        self,
        engine: CudaTablesEngine,
        room: int,
        slots: int,
        rule: TableRule,
        chain: LifeChain | None,
    ) -> None:
        self.slots, self.chain, self.planes = slots, chain, engine.planes
        self.device, self.states, self._room = engine.device, rule.states, room
        tables = columns_of(rule)
        macros = {"PAIRS": int(bool(tables.pairs.size)), "WALK": int(bool(tables.walk.size))}
        self.module = self.device.module(SOURCE, {**macros, "PLANES": self.planes})
        walk = _linked(tables.walk, tables.counts, rule.states)
        arrays = (tables.maps, tables.columns, tables.pairs, tables.finals, walk)
        self.tables = [self._uploaded(array) for array in arrays]
        self.memory = [self.device.alloc(room) for _ in range(slots + 1)]
        if chain is not None:
            self._turns = ChainTurns(chain)
            self.history = self.device.alloc(2 * chain.generations * chain.width)
        self._staging = threading.local()

    def _uploaded(self, array: npt.NDArray[Any]) -> Buffer:
        """Return a copy of an array in device memory; no buffer is empty."""
        buffer = self.device.alloc(max(8, array.nbytes))
        if array.nbytes:
            self.device.upload(buffer, array)
            self.device.synchronize()
        return buffer

    def open(self, slot: int, shape: LifeShape) -> DeviceTables:
        """Return a universe in a slot; its cells are undefined until all are put."""
        self.check_slot(slot, shape)
        self._check_room(shape)
        return DeviceTables(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedDeviceTables:
        """Return a universe of the chain in a slot."""
        self._check_room(self.check_chained(slot, height, first=first))
        return ChainedDeviceTables(self, slot, height, self._turns, first=first)

    def _check_room(self, shape: LifeShape) -> None:
        slack = 0 if self.chain is None else 2 * self.chain.width
        room = self._room - slack if slack and shape.width == self.chain_width else self._room
        if shape.width * shape.height > room:
            raise ValueError(f"{shape.width}x{shape.height} cells in the room of {room}")

    @property
    def chain_width(self) -> int:
        """Return the width of the chain; 0 where there is none."""
        return 0 if self.chain is None else self.chain.width

    def close(self) -> None:
        """Let the buffers go."""
        self.memory.clear()
        self._staging = threading.local()

    def staging(self, nbytes: int) -> Buffer:
        """Return the calling thread's own device memory for rows that are packed or unpacked."""
        buffer: Buffer | None = getattr(self._staging, "buffer", None)
        if buffer is None or buffer.nbytes < nbytes:
            self._staging.buffer = None  # freed before more is asked for
            buffer = self._staging.buffer = self.device.alloc(nbytes)
        return buffer


def _linked(
    walk: npt.NDArray[np.uint32], counts: npt.NDArray[np.uint32], states: int
) -> npt.NDArray[np.uint32]:
    """Return levels whose entries are places in all of them, in place of numbers of nodes."""
    linked, start = walk.copy(), 0
    for count in map(int, counts[:-1]):
        end = start + count * states
        linked[start:end] = end + walk[start:end] * states
        start = end
    return linked


class DeviceTables(LifeUniverse):
    """A universe in a slot of an arena."""

    stride = 1
    base = 0  # the row of the memory at which row 0 stands

    def __init__(self, arena: DeviceTablesArena, slot: int, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.planes = shape.planes
        self._arena, self._slot, self._torus = arena, slot, shape.torus

    def step(self, generations: int) -> None:
        """Move on by generations: they are queued, and waited for at the end."""
        try:
            for i in range(generations):
                self._launch(0, self.height, 0)
                memory, slot = self._arena.memory, self._slot
                memory[slot], memory[-1] = memory[-1], memory[slot]
                self.generation += 1
                if i % QUEUED == QUEUED - 1:
                    self._arena.device.synchronize()
        finally:
            self._arena.device.synchronize()  # other threads may use the memory next

    def _launch(self, row: int, rows: int, to: int) -> None:
        """Queue a generation of rows of the slot, which the spare has from row `to` on."""
        arena, width = self._arena, self.width
        arena.module.launch(
            "tables_step",
            (-(-width // _BLOCK), min(rows, _MOST_ROWS), 1),
            (_BLOCK, 1, 1),
            Slice(arena.memory[self._slot], row * width),
            Slice(arena.memory[-1], to * width),
            np.int64(width),
            np.int64(rows),
            np.int32(self._torus),
            *arena.tables,
        )

    def put(self, y: int, words: Words) -> None:
        """Upload rows in bands, and unpack them."""
        self.check_rows(y, words)
        device = self._arena.device
        try:
            for first, band, raw in self._bands(y, words):
                self._check_states(band)
                device.upload(raw, band)
                self._move("tables_put", raw, first, len(band), self.width)
        finally:
            device.synchronize()  # `words` is the caller's again

    def get(self, y: int, words: Words) -> None:
        """Pack rows, and download them in bands."""
        self.check_rows(y, words, written=True)
        for first, band, raw in self._bands(y, words):
            self._move("tables_get", raw, first, len(band), words.shape[-1])
            self._arena.device.download(band, raw)

    def _move(self, kernel: str, raw: Buffer, first: int, rows: int, threads: int) -> None:
        """Queue the packing or unpacking of rows, with so many threads for each."""
        cells = Slice(self._arena.memory[self._slot], (self.base + first) * self.width)
        given = (raw, cells) if kernel == "tables_put" else (cells, raw)
        sizes = (np.int64(value) for value in (self.width, rows, -(-self.width // 64)))
        grid = (-(-threads // _BLOCK), min(rows, _MOST_ROWS), 1)
        self._arena.module.launch(kernel, grid, (_BLOCK, 1, 1), *given, *sizes)

    def _bands(self, y: int, words: Words) -> Iterator[tuple[int, Words, Buffer]]:
        """Yield (first row, rows, device memory for them) of the bands of `words`."""
        if not len(words):
            return
        rows = max(1, BAND_BYTES // words[0].nbytes)
        raw = self._arena.staging(words[0].nbytes * min(rows, len(words)))
        for i in range(0, len(words), rows):
            yield y + i, words[i : i + rows], raw

    def _check_states(self, words: Words) -> None:
        """Raise ValueError where a cell is in a state that the rule does not have."""
        last = self._arena.states - 1
        rows = words if words.ndim == 3 else words[:, None]
        equal = np.full_like(rows[:, 0], 2**64 - 1)
        above = np.zeros_like(equal)
        for plane in reversed(range(self.planes)):
            if last >> plane & 1:
                equal &= rows[:, plane]
            else:
                above |= equal & rows[:, plane]
                equal &= ~rows[:, plane]
        if above.any():
            raise ValueError("a cell is in a state that the rule does not have")


class ChainedDeviceTables(ChainedUniverse, DeviceTables):
    """A universe of a chain on a device; every pass is a generation."""

    def __init__(
        self, arena: DeviceTablesArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus

    def step(self, generations: int) -> None:
        """Make generations, and wait for them."""
        try:
            super().step(generations)
        finally:
            self._arena.device.synchronize()  # other threads may use the memory next

    def _make(self, i: int) -> None:
        memory, slot = self._arena.memory, self._slot
        above = 0 if self.first else 2
        start = self.base - above
        self._launch(start, self.height + above, start + above // 2)
        # Interrupted before this, the pass is made again from what it read.
        memory[slot], memory[-1] = memory[-1], memory[slot]
        self.generation += 1
        self._turns.made += 1
        if i % QUEUED == QUEUED - 1:
            self._arena.device.synchronize()

    def _take(self, i: int) -> None:
        first, end = self.entry(i)
        slot = self._arena.memory[self._slot]
        self._copy(slot, self.base - (end - first), self._arena.history, first, end - first)

    def _leave(self, i: int) -> None:
        first, end = self.left_rows(i)
        slot = self._arena.memory[self._slot]
        self._copy(self._arena.history, self.entry(i)[0], slot, self.base + first, end - first)

    def _copy(self, target: Buffer, to: int, source: Buffer, first: int, count: int) -> None:
        """Queue a copy of rows."""
        row = self.width
        self._arena.device.copy(target, to * row, source, first * row, count * row)
