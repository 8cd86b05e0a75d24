"""The slow backend that always works: numpy, one byte a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels.backend import (
    Backend,
    ChainedUniverse,
    ChainShape,
    ChainTurns,
    LifeArena,
    LifeChain,
    LifeUniverse,
    Shape,
    Words,
    check_chain,
    even_passes,
)
from kernels.life import ref

_STEP_COPIES = 4  # what ref.step() allocates beside the cells, a byte a cell each
_LONGEST_PASS = 8  # of a chain


class ReferenceBackend(Backend):
    name = "reference"

    def describe(self) -> str:
        return "numpy reference, one thread"

    def life_arena(
        self,
        shapes: Sequence[Shape],
        slots: int,
        *,
        birth: int,
        survival: int,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        chosen = None if chain is None else self.life_chain(chain)
        return ReferenceArena(_with_follower(shapes, chain), slots, birth, survival, chosen)

    def arena_bytes(
        self, shapes: Sequence[Shape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        beside = 0
        if chain is not None:
            width, generations, _, _ = chain
            beside = (
                2 * generations + (_STEP_COPIES + 1) * 2 * self.life_chain(chain).longest
            ) * width
        return (slots + _STEP_COPIES) * _slot_cells(_with_follower(shapes, chain)) + beside, 0

    def life_chain(self, chain: ChainShape) -> LifeChain:
        check_chain(chain)
        width, generations, torus, height = chain
        return LifeChain(width, torus, even_passes(generations, min(_LONGEST_PASS, height // 2)))

    def free_device_memory(self) -> int | None:
        return None


def _with_follower(shapes: Sequence[Shape], chain: ChainShape | None) -> list[Shape]:
    """`shapes` and the typical follower."""
    if chain is None:
        return list(shapes)
    width, _, torus, height = chain
    return [*shapes, (width, height, torus)]


def _slot_cells(shapes: Sequence[Shape]) -> int:
    return max(width * height for width, height, _ in shapes)


class ReferenceArena(LifeArena):
    def __init__(
        self,
        shapes: Sequence[Shape],
        slots: int,
        birth: int,
        survival: int,
        chain: LifeChain | None = None,
    ) -> None:
        self.slots, self.birth, self.survival, self.chain = slots, birth, survival, chain
        self._slot_cells = _slot_cells(shapes)
        self.cells: list[ref.Cells] = [np.empty((0, 0), np.bool_)] * slots
        self.history: ref.Cells = np.empty((0, 0), np.bool_)
        if chain is not None:
            self._turns = ChainTurns(chain)
            self.history = np.empty((2 * chain.generations, chain.width), np.bool_)

    def open(self, slot: int, width: int, height: int, *, torus: bool) -> ReferenceLife:
        self._make_room(slot, width, height)
        return ReferenceLife(self, slot, width, height, torus)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedReferenceLife:
        if self.chain is None:
            raise ValueError("there is no chain in this arena")
        self.chain.check_height(height, first=first)
        self._make_room(slot, self.chain.width, height)
        return ChainedReferenceLife(self, slot, height, self._turns, first=first)

    def _make_room(self, slot: int, width: int, height: int) -> None:
        if not 0 <= slot < self.slots:
            raise ValueError(f"no slot {slot}: there are {self.slots}")
        if width < 1 or height < 1 or width * height > self._slot_cells:
            raise ValueError(f"{width}x{height} cells in the room of {self._slot_cells}")
        self.cells[slot] = np.zeros((height, width), np.bool_)

    def close(self) -> None:
        self.cells.clear()
        self.history = np.empty((0, 0), np.bool_)


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


class ChainedReferenceLife(ChainedUniverse, ReferenceLife):
    def __init__(
        self, arena: ReferenceArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus
        self._above: ref.Cells = np.empty((0, self.width), np.bool_)

    def _take(self, i: int) -> None:
        self._above = self._arena.history[slice(*self.entry(i))].copy()

    def _leave(self, i: int) -> None:
        rows = slice(*self.left_rows(i))
        self._arena.history[slice(*self.entry(i))] = self._arena.cells[self._slot][rows]

    def _make(self, i: int) -> None:
        arena, cells, slot = self._arena, self._arena.cells, self._slot
        steps, top = self.chain.passes[i], 0 if self.first else self.chain.passes[i]
        made = np.concatenate((self._above, cells[slot]))
        for _ in range(steps):
            made = ref.step(made, arena.birth, arena.survival, self._torus)
        made = made[top : top + self.height].copy()
        # No call, and so no interrupt, between these.
        cells[slot] = made
        self.generation += steps
        self._turns.made += 1
