"""Engines that keep a byte a cell, its state, in the memory of a CUDA-like device.

What such an engine says is how to queue one generation; the rest is here: memory, packing, chains.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.life.bytewise import check_reach, check_rule, check_states
from kernels.life.chain import ChainedUniverse, ChainTurns, check_chain, even_passes, with_slack
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    RuleT,
    Words,
    check_planes,
)
from kernels.targets.cuda.device import Buffer, Device, Slice

SOURCE = Path(__file__).with_name("bytewise.cu")
QUEUED = 64  # generations queued before the host waits, so that it can be interrupted
_BAND_BYTES = 1 << 26  # of rows that are packed or unpacked at once
_BLOCK = 256
_LONGEST_PASS = 32  # of a chain


class DeviceBytewiseEngine(LifeEngine[RuleT]):
    """Computes rules on one device by what stepper() returns, a generation at a time.

    planes: the bit planes of cells, the same for all rules that it computes.
    """

    def __init__(self, device: Device, planes: int) -> None:
        self.device, self.planes = device, planes

    @abstractmethod
    def stepper(self, rule: RuleT) -> Stepper:
        """Return what queues generations of a rule."""

    @abstractmethod
    def beside_bytes(self, shapes: Sequence[LifeShape]) -> int:
        """Return the bytes of device memory that a stepper takes, at most."""

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: RuleT,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of buffers of states."""
        check_planes(shapes, chain, self.planes)
        check_rule(rule, self.planes)
        check_reach(rule, chain)
        chosen = None if chain is None else self.chain(chain)
        cells = _most_cells(_with_slack(shapes, chain, chosen))
        return DeviceBytewiseArena(self, cells, slots, rule, chosen)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return 0, and the bytes of device memory that arena() would take."""
        check_planes(shapes, chain, self.planes)
        chosen = None if chain is None else self.chain(chain)
        sized = _with_slack(shapes, chain, chosen)
        rows = max(min(_packed_bytes(one) * one.height, _BAND_BYTES) for one in sized)
        buffers, history = slots + 1, 0
        if chosen is not None:
            buffers, history = slots + 2, 2 * chosen.generations * chosen.width
        held = buffers * _most_cells(sized) + history + min(slots, 2) * rows
        return 0, held + self.beside_bytes(sized)

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return a chain of passes of at most 32 generations."""
        check_planes((), shape, self.planes)
        check_chain(shape)
        passes = even_passes(shape.generations, min(_LONGEST_PASS, shape.height // 2))
        return LifeChain(shape.width, shape.torus, passes, self.planes)


class Stepper(ABC):
    """Queues generations of one rule on a device."""

    @abstractmethod
    def queue(
        self, source: Buffer | Slice, target: Buffer | Slice, width: int, height: int, torus: bool
    ) -> None:
        """Queue one generation of height rows of width bytes, from one place to another, apart."""


def uploaded(device: Device, array: npt.NDArray[Any]) -> Buffer:
    """Return a copy of an array in a device's memory; no buffer is empty."""
    buffer = device.alloc(max(8, array.nbytes))
    if array.nbytes:
        device.upload(buffer, array)
        device.synchronize()
    return buffer


def _with_slack(
    shapes: Sequence[LifeShape], chain: ChainShape | None, chosen: LifeChain | None
) -> list[LifeShape]:
    if chain is None or chosen is None:
        return list(shapes)
    return with_slack(shapes, chain, chosen)


def _most_cells(shapes: Sequence[LifeShape]) -> int:
    return max(shape.width * shape.height for shape in shapes)


def _packed_bytes(shape: LifeShape) -> int:
    """Return the bytes of a packed row of all planes."""
    return 8 * shape.row_words * shape.planes


class DeviceBytewiseArena(LifeArena):
    """An arena of device buffers, the last of them the spare: a generation reads one, writes the
    spare, and they swap."""

    def __init__(
        self,
        engine: DeviceBytewiseEngine[RuleT],
        room: int,
        slots: int,
        rule: RuleT,
        chain: LifeChain | None = None,
    ) -> None:
        self.slots, self.chain, self.planes = slots, chain, engine.planes
        self.device, self.states, self._room = engine.device, rule.states, room
        self.module = engine.device.module(SOURCE, {})
        self.stepper = engine.stepper(rule)
        self.memory = [self.device.alloc(room) for _ in range(slots + 1)]
        self.history: list[Buffer] = []
        self.third: list[Buffer] = []  # the passes of a chain go to and fro beside what they read
        if chain is not None:
            self._turns = ChainTurns(chain)
            self.history.append(self.device.alloc(2 * chain.generations * chain.width))
            self.third.append(self.device.alloc(room))
        self._staging = threading.local()

    def open(self, slot: int, shape: LifeShape) -> DeviceBytewiseLife:
        """Return a universe in a slot; its cells are undefined until all are put."""
        self.check_slot(slot, shape)
        self._check_room(shape)
        return DeviceBytewiseLife(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedDeviceBytewiseLife:
        """Return a universe of the chain in a slot."""
        shape = self.check_chained(slot, height, first=first)
        self._check_room(shape, 0 if first else self._turns.chain.slack)
        return ChainedDeviceBytewiseLife(self, slot, height, self._turns, first=first)

    def _check_room(self, shape: LifeShape, slack: int = 0) -> None:
        if shape.width * (shape.height + slack) > self._room:
            raise ValueError(f"{shape.width}x{shape.height} cells in the room of {self._room}")

    def close(self) -> None:
        """Let the buffers go."""
        self.memory.clear()
        self.history.clear()
        self.third.clear()
        self._staging = threading.local()

    def staging(self, nbytes: int) -> Buffer:
        """Return the calling thread's own device memory for rows that are packed or unpacked."""
        buffer: Buffer | None = getattr(self._staging, "buffer", None)
        if buffer is None or buffer.nbytes < nbytes:
            self._staging.buffer = None  # freed before more is asked for
            buffer = self._staging.buffer = self.device.alloc(nbytes)
        return buffer


class DeviceBytewiseLife(LifeUniverse):
    """A universe of a byte a cell, in a slot of an arena."""

    stride = 1
    base = 0  # the row of the memory at which row 0 stands

    def __init__(self, arena: DeviceBytewiseArena, slot: int, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.planes = arena.planes
        self._arena, self._slot, self._torus = arena, slot, shape.torus

    def step(self, generations: int) -> None:
        """Move on by generations: they are queued, and waited for at the end."""
        memory, slot, device = self._arena.memory, self._slot, self._arena.device
        try:
            for made in range(1, generations + 1):
                self._queue(self.height, 0, 0)
                # Interrupted before this, the generation is made again from what it read.
                memory[slot], memory[-1] = memory[-1], memory[slot]
                self.generation += 1
                if made % QUEUED == 0:
                    device.synchronize()
        finally:
            device.synchronize()  # other threads may use the memory next

    def _queue(self, height: int, source_row: int, target_row: int) -> None:
        """Queue a generation of rows from source_row of the slot on, to target_row of the spare."""
        memory = self._arena.memory
        self._arena.stepper.queue(
            Slice(memory[self._slot], source_row * self.width),
            Slice(memory[-1], target_row * self.width),
            self.width,
            height,
            self._torus,
        )

    def put(self, y: int, words: Words) -> None:
        """Upload rows in bands, if the rule has all their states, and unpack them into bytes."""
        self.check_rows(y, words)
        check_states(words, self._arena.states)
        device = self._arena.device
        try:
            for first, band, raw in self._bands(y, words):
                device.upload(raw, band)
                self._launch("unpack_cells", (raw, self._cells(first)), len(band))
        finally:
            device.synchronize()  # `words` is the caller's again

    def get(self, y: int, words: Words) -> None:
        """Pack rows of bytes, and download them in bands."""
        self.check_rows(y, words, written=True)
        for first, band, raw in self._bands(y, words):
            self._launch("pack_cells", (self._cells(first), raw), len(band))
            self._arena.device.download(band, raw)

    def _cells(self, y: int) -> Slice:
        return Slice(self._arena.memory[self._slot], (self.base + y) * self.width)

    def _launch(
        self, kernel: str, places: tuple[Buffer | Slice, Buffer | Slice], rows: int
    ) -> None:
        stride = 2 * -(-self.width // 64)
        grid = -(-rows * stride // _BLOCK), 1, 1
        sizes = (self.width, rows, stride, self.planes)
        self._arena.module.launch(
            kernel, grid, (_BLOCK, 1, 1), *places, *(np.int32(size) for size in sizes)
        )

    def _bands(self, y: int, words: Words) -> Iterator[tuple[int, Words, Buffer]]:
        """Yield (first row, rows, device memory for them) of the bands of `words`."""
        if not len(words):
            return
        row = words[0].nbytes
        rows = max(1, _BAND_BYTES // row)
        raw = self._arena.staging(row * min(rows, len(words)))
        for i in range(0, len(words), rows):
            yield y + i, words[i : i + rows], raw


class ChainedDeviceBytewiseLife(ChainedUniverse, DeviceBytewiseLife):
    """A universe of a chain on a device.

    Its rows stand at the same place of every buffer; what it takes, right in front of them.
    """

    def __init__(
        self,
        arena: DeviceBytewiseArena,
        slot: int,
        height: int,
        turns: ChainTurns,
        *,
        first: bool,
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus

    def step(self, generations: int) -> None:
        """Make whole passes, and wait for them."""
        try:
            super().step(generations)
        finally:
            self._arena.device.synchronize()  # other threads may use the memory next

    def _make(self, i: int) -> None:
        """Make the generations of a pass, one by one.

        Rows beyond those that are held come in as dead, or from the other end, and spoil one row
        more in each generation, at both ends: these are outside of the rows that count.
        """
        arena, steps = self._arena, self.chain.passes[i]
        above = 0 if self.first else 2 * steps
        start, count = self.base - above, self.height + above
        # What the pass begins with stays: an interrupted pass is made again.
        begun = source = arena.memory[self._slot]
        target, other = arena.memory[-1], arena.third[0]
        for left in range(steps, 0, -1):
            arena.stepper.queue(
                Slice(source, start * self.width),
                Slice(target, (start + above // 2 if left == 1 else start) * self.width),
                self.width,
                count,
                self._torus,
            )
            if left > 1:
                source, target, other = target, other, target
        # No call, and so no interrupt, between these.
        arena.memory[self._slot], arena.memory[-1], arena.third[0] = target, begun, other
        self.generation += steps
        self._turns.made += 1

    def _take(self, i: int) -> None:
        first, end = self.entry(i)
        slot = self._arena.memory[self._slot]
        self._copy(slot, self.base - (end - first), self._arena.history[0], first, end - first)

    def _leave(self, i: int) -> None:
        first, end = self.left_rows(i)
        slot = self._arena.memory[self._slot]
        self._copy(self._arena.history[0], self.entry(i)[0], slot, self.base + first, end - first)

    def _copy(self, target: Buffer, to: int, source: Buffer, first: int, count: int) -> None:
        """Queue a copy of rows."""
        width = self.width
        self._arena.device.copy(target, to * width, source, first * width, count * width)
