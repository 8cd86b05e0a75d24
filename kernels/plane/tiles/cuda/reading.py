"""What is read of the tiles of a plane on a CUDA device: counted and gathered there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.plane.checks import FARTHEST, check_window
from kernels.plane.contract import SIDE, Places, PlaneBox, Words
from kernels.plane.tiles.cuda.memory import FOUND, TileMemory
from kernels.targets.cuda.device import Buffer, Slice

_FAR = 3 << 61  # cells from the origin: nothing comes as far
_FAR_SQUARES = 1 << 57  # nor so many squares
_SOME = 1024  # tiles whose squares are handed over at a time: at most four of each
_WORDS = 1 << 21  # of a rectangle, copied at a time
_THREADS = 256  # of a block
_READING = Path(__file__).with_name("reading.cu")


class Reader:
    """Reads one slot of all tiles."""

    def __init__(self, tiles: TileMemory) -> None:
        self._tiles, self._device = tiles, tiles.device
        self._module = self._device.module(_READING, {})

    def _launch(self, kernel: str, warps: int, *args: Buffer | Slice | np.integer[Any]) -> None:
        parameters = self._tiles.held.parameters
        self._module.launch(kernel, self._tiles.grid(warps), (_THREADS, 1, 1), *parameters, *args)

    def population(self, slot: int) -> int:
        """Return the number of live cells."""
        self._tiles.tell(FOUND, 0)
        self._launch("population", self._tiles.held.room, np.uint32(slot))
        return int(self._tiles.state()[FOUND])

    def box(self, slot: int) -> PlaneBox | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        most, least = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        found = np.array([most, most, least, least], np.int64)
        buffer = self._device.alloc(found.nbytes)
        self._device.upload(buffer, found)
        self._launch("box", self._tiles.held.room, np.uint32(slot), buffer)
        self._device.download(found, buffer)
        left, top, right, bottom = found.tolist()
        return PlaneBox(left, top, right - left + 1, bottom - top + 1) if left <= right else None

    def squares(
        self, slot: int, box: PlaneBox | None, first: int
    ) -> tuple[Places, Words, int | None]:
        """Return the squares of some tiles from number `first` on, and the number to go on from, or
        None. Raises OverflowError for a square too far away."""
        left, top = -_FAR_SQUARES, -_FAR_SQUARES
        right, bottom = _FAR_SQUARES - 1, _FAR_SQUARES - 1
        if box is not None:
            left, top = max(left, box.x // SIDE), max(top, box.y // SIDE)
            right = min(right, (box.x + box.width - 1) // SIDE)
            bottom = min(bottom, (box.y + box.height - 1) // SIDE)
        if left > right or top > bottom or (box and (box.width < 1 or box.height < 1)):
            return np.empty((0, 2), np.int64), np.empty((0, SIDE), np.uint64), None
        room = self._tiles.held.room
        last = min(first + _SOME, room)
        most = 4 * (last - first)
        at, words = self._device.alloc(16 * most), self._device.alloc(8 * SIDE * most)
        self._tiles.tell(FOUND, 0)
        limits = (np.int64(n) for n in (left, top, right, bottom))
        numbers = np.uint32(slot), np.uint32(first), np.uint32(last)
        self._launch("squares", last - first, *numbers, *limits, at, words)
        count = int(self._tiles.state()[FOUND])
        places, squares = np.empty((count, 2), np.int64), np.empty((count, SIDE), np.uint64)
        if count:
            self._device.download(places, at)
            self._device.download(squares, words)
            if places.min() < -FARTHEST or places.max() >= FARTHEST:
                raise OverflowError("a square lies 2^56 squares from the origin, or farther")
        return places, squares, last if last < room else None

    def get(self, slot: int, x: int, y: int, words: Words) -> None:
        """Write the cells of a rectangle."""
        check_window(words)
        if abs(x) > _FAR or abs(y) > _FAR or not words.size:
            words[:] = 0
            return
        height, stride = words.shape
        rows = min(max(1, _WORDS // stride), height)
        buffer = self._device.alloc(8 * rows * stride)
        for first in range(0, height, rows):
            part = words[first : first + rows]
            numbers = np.int64(x), np.int64(y + first), buffer
            sizes = np.uint32(len(part)), np.uint32(stride)
            self._launch("get", -(-part.size // 32), np.uint32(slot), *numbers, *sizes)
            self._device.download(part, buffer)

    def counts(
        self, slot: int, x: int, y: int, level: int, shape: tuple[int, int]
    ) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks of 2^level x 2^level cells."""
        found = np.zeros(shape, np.uint64)
        if abs(x) <= _FAR and abs(y) <= _FAR and found.size:
            buffer = self._device.alloc(found.nbytes)
            self._device.upload(buffer, found)
            at = np.int64(x), np.int64(y), np.uint32(min(level, 63))
            sizes = np.uint32(shape[0]), np.uint32(shape[1])
            self._launch("counts", self._tiles.held.room, np.uint32(slot), *at, buffer, *sizes)
            self._device.download(found, buffer)
        return found.astype(np.float64)
