"""The slow backend that always works: numpy, one byte a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels.backend import Backend, LifeArena, LifeUniverse, Shape, Words
from kernels.life import ref

_STEP_COPIES = 5  # what ref.step() allocates beside the cells, a byte a cell each


class ReferenceBackend(Backend):
    name = "reference"

    def describe(self) -> str:
        return "numpy reference, one thread"

    def life_arena(
        self, shapes: Sequence[Shape], slots: int, *, birth: int, survival: int
    ) -> LifeArena:
        return ReferenceArena(shapes, slots, birth, survival)

    def arena_bytes(self, shapes: Sequence[Shape], slots: int) -> tuple[int, int]:
        return (slots + _STEP_COPIES) * _slot_cells(shapes), 0

    def free_device_memory(self) -> int | None:
        return None


def _slot_cells(shapes: Sequence[Shape]) -> int:
    return max(width * height for width, height, _ in shapes)


class ReferenceArena(LifeArena):
    def __init__(self, shapes: Sequence[Shape], slots: int, birth: int, survival: int) -> None:
        self.slots, self.birth, self.survival = slots, birth, survival
        self._slot_cells = _slot_cells(shapes)
        self.cells: list[ref.Cells] = [np.empty((0, 0), np.bool_)] * slots

    def open(self, slot: int, width: int, height: int, *, torus: bool) -> ReferenceLife:
        if not 0 <= slot < self.slots:
            raise ValueError(f"no slot {slot}: there are {self.slots}")
        if width < 1 or height < 1 or width * height > self._slot_cells:
            raise ValueError(f"{width}x{height} cells in the room of {self._slot_cells}")
        self.cells[slot] = np.zeros((height, width), np.bool_)
        return ReferenceLife(self, slot, width, height, torus)

    def close(self) -> None:
        self.cells.clear()


class ReferenceLife(LifeUniverse):
    stride = 1

    def __init__(
        self, arena: ReferenceArena, slot: int, width: int, height: int, torus: bool
    ) -> None:
        self.width, self.height, self.generation = width, height, 0
        self._arena, self._slot, self._torus = arena, slot, torus

    def step(self, generations: int) -> None:
        arena, cells, slot = self._arena, self._arena.cells, self._slot
        for _ in range(generations):
            cells[slot] = ref.step(cells[slot], arena.birth, arena.survival, self._torus)
            self.generation += 1

    def put(self, y: int, words: Words) -> None:
        self.check_rows(y, words)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self.width, bitorder="little")
        self._arena.cells[self._slot][y : y + len(words)] = bits

    def get(self, y: int, words: Words) -> None:
        self.check_rows(y, words, written=True)
        cells = self._arena.cells[self._slot][y : y + len(words)]
        packed = np.packbits(cells, axis=1, bitorder="little")
        words[:] = 0
        words.view(np.uint8)[:, : packed.shape[1]] = packed
