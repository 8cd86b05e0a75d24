"""Device memory of a plane: tiles in chunks, the table to find them, and lists of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device, Slice

FIRST = 16  # tiles of the first chunk; each other one has as many as all before it
TILE_BYTES = 7808  # as tile.hpp has it
STATES = 16  # 64-bit numbers that the host and all kernels tell each other
COUNTS, NUMBER, SPARE, TAKEN, FAILED, ARRIVED, IDLE, FOUND = 0, 3, 4, 5, 6, 7, 8, 9

_LISTS = 4  # of as many numbers as there are tiles
_CHUNKS = 28  # at most: a tile's number has 32 bits
_THREADS = 256  # of a block
_BLOCKS = 8  # of them a multiprocessor, at most
_KEEPING = Path(__file__).with_name("keeping.cu")

State = npt.NDArray[np.uint64]


def entries_for(room: int) -> int:
    """Return how many places the table has for so many tiles: at least four for each."""
    return 1 << (4 * room - 1).bit_length()


def lists_bytes(room: int) -> int:
    """Return the bytes of all but the tiles themselves."""
    return 4 * _LISTS * room + 8 * entries_for(room) + 8 * STATES + 8 * 32


def bytes_of(room: int) -> int:
    """Return the bytes of room for so many tiles."""
    return TILE_BYTES * room + lists_bytes(room)


def more_room(room: int, wanted: int, memory: int) -> int:
    """Return how many tiles there can be after `room`, within some bytes: `wanted`, if they allow;
    `room` where they allow no more. While lists are copied there are two of each."""

    def fits(new: int) -> bool:
        return bytes_of(new) + (lists_bytes(room) if room else 0) <= memory

    if fits(wanted):
        return wanted
    low, high = room, wanted
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class Held:
    """The buffers of a plane.

    room: tiles, that of number 0 among them, which stands for all that are not there.
    """

    state: Buffer
    chunks: Buffer
    table: Buffer
    lists: Buffer
    tiles: tuple[Buffer, ...]
    room: int

    @property
    def parameters(self) -> tuple[Buffer | np.uint32, ...]:
        """Return what every kernel is given first."""
        log2 = entries_for(self.room).bit_length() - 1
        return (
            self.state, self.chunks, self.table, self.lists, np.uint32(self.room), np.uint32(log2),
        )  # fmt: skip


class TileMemory:
    """Room for the tiles of a plane, that grows.

    held: replaced as a whole, when it has grown: who is interrupted has the one or the other.
    """

    held: Held

    def __init__(self, device: Device, memory: int, room: int) -> None:
        """Make room for some tiles, or fewer. Raises MemoryError where `memory` bytes are too few
        for any."""
        self.device, self.memory = device, memory
        self._keeping = device.module(_KEEPING, {})
        room = more_room(0, room, memory)
        if room < 2:
            raise self._exhausted()
        state, chunks = device.alloc(8 * STATES), device.alloc(8 * 32)
        device.upload(state, np.zeros(STATES, np.uint64))
        device.upload(chunks, np.zeros(32, np.uint64))
        table, lists = device.alloc(8 * entries_for(room)), device.alloc(4 * _LISTS * room)
        empty = Held(state, chunks, table, lists, (), room)
        self.held = self._filled(empty, 0)

    def _exhausted(self) -> MemoryError:
        return MemoryError(f"tiles of the plane need more than {self.memory} bytes")

    def _filled(self, held: Held, first: int) -> Held:
        """Return the same with memory for the tiles from number `first` on, which are new. What
        `held` knows of the others must be copied already; its table is written."""
        self._clear(held.table)
        tiles, at = held.tiles, first
        while at < held.room:
            end = min(FIRST << len(tiles), held.room)
            chunk = self.device.alloc(TILE_BYTES * (end - at))
            self._clear(chunk)
            numbers = np.uint32(len(tiles)), chunk, np.uint32(at)
            self._keeping.launch("set_chunk", (1, 1, 1), (32, 1, 1), held.chunks, *numbers)
            tiles, at = (*tiles, chunk), end
        held = replace(held, tiles=tiles)
        if first:
            self.launch("enter_all", held=held)
        start = max(first, 1)
        if start < held.room:
            new = np.uint32(held.room - start)
            self.launch("add_spare", np.uint32(start), new, held=held)
        return held

    def _clear(self, buffer: Buffer) -> None:
        count = buffer.nbytes // 4
        blocks = min(-(-count // _THREADS), _BLOCKS * self.device.info.multiprocessors)
        self._keeping.launch("clear", (blocks, 1, 1), (_THREADS, 1, 1), buffer, np.uint64(count))

    def launch(
        self, kernel: str, *args: Buffer | Slice | np.integer[Any], held: Held | None = None
    ) -> None:
        """Queue a kernel that looks at all tiles."""
        held = held or self.held
        self._keeping.launch(
            kernel, self.grid(held.room), (_THREADS, 1, 1), *held.parameters, *args
        )

    def grid(self, warps: int) -> tuple[int, int, int]:
        """Return the grid of a kernel with so many warps' work."""
        blocks = -(-warps * 32 // _THREADS)
        return min(blocks, _BLOCKS * self.device.info.multiprocessors), 1, 1

    def grow(self) -> None:
        """Make room for more tiles. Raises MemoryError, and then all is as it was."""
        old = self.held
        room = more_room(old.room, 2 * old.room, self.memory)
        whole = FIRST << (len(old.tiles) - 1)  # where the last chunk ends, if it is not cut short
        if room == old.room or old.room < whole or len(old.tiles) == _CHUNKS:
            raise self._exhausted()
        self._renew(room)

    def renew(self) -> None:
        """Make the table anew, without the places of tiles that have been freed."""
        self._renew(self.held.room)

    def _renew(self, room: int) -> None:
        old, device = self.held, self.device
        state, chunks = device.alloc(8 * STATES), device.alloc(8 * 32)
        numbers = self.state()
        numbers[TAKEN] = 0
        device.upload(state, numbers)
        device.copy(chunks, 0, old.chunks, 0, chunks.nbytes)
        table, lists = device.alloc(8 * entries_for(room)), device.alloc(4 * _LISTS * room)
        for n in range(_LISTS):
            device.copy(lists, 4 * n * room, old.lists, 4 * n * old.room, 4 * old.room)
        held = Held(state, chunks, table, lists, old.tiles, room)
        self.held = self._filled(held, old.room)

    def state(self) -> State:
        """Return what kernels have told, once they have ended."""
        found = np.empty(STATES, np.uint64)
        self.device.download(found, self.held.state)
        return found

    def tell(self, first: int, *numbers: int) -> None:
        """Put numbers into the state."""
        self.device.upload(self.held.state, np.array(numbers, np.uint64), 8 * first)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all buffers."""
        return bytes_of(self.held.room)
