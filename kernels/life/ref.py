"""Life as its definition reads, one byte a cell: the oracle for every other implementation.

Below it is the slow engine that always works, by the same step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernels.life.chain import ChainedUniverse, ChainTurns, check_chain, even_passes
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
from kernels.life.rules import LifeRule, NineCellRule

Cells = npt.NDArray[np.bool_]

_STEP_COPIES = 4  # what step() allocates beside the cells, at most, a byte a cell each
_LONGEST_PASS = 8  # of a chain
_BAND_CELLS = 1 << 12  # that step_by_table() looks up at once, at several bytes a cell


def step(cells: Cells, birth: int, survival: int, torus: bool) -> Cells:
    """Return the next generation of a (height, width) bool array.

    birth, survival: bit n says that a dead cell is born, a live one survives, with n
    live neighbours. Outside is the other side on a torus and dead for ever otherwise.
    """
    count = neighbours(cells, torus)
    new = np.zeros(cells.shape, np.bool_)
    for n in range(9):
        if birth >> n & 1:
            new |= (count == n) & ~cells
        if survival >> n & 1:
            new |= (count == n) & cells
    return new


def neighbours(cells: Cells, torus: bool) -> npt.NDArray[np.uint8]:
    """Return how many of the eight cells around each are live: uint8, of the shape of cells."""
    padded = np.pad(cells.view(np.uint8), 1, mode="wrap" if torus else "constant")
    height, width = cells.shape
    count = np.zeros(cells.shape, np.uint8)
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            if (dx, dy) != (1, 1):
                count += padded[dy : dy + height, dx : dx + width]
    return count


def step_by_table(cells: Cells, table: int, torus: bool) -> Cells:
    """Return the next generation of a (height, width) bool array by a table of nine cells.

    table: as of MapRule. Outside is as of step().
    """
    next_state = np.frombuffer(table.to_bytes(64, "little"), np.uint8)
    next_state = np.unpackbits(next_state, bitorder="little").view(np.bool_)
    padded = np.pad(cells, 1, mode="wrap" if torus else "constant")
    height, width = cells.shape
    new = np.empty(cells.shape, np.bool_)
    band = max(1, _BAND_CELLS // width)
    for y in range(0, height, band):
        rows = min(band, height - y)
        squares = np.zeros((rows, width), np.intp)  # the nine cells around each, as a number
        for dy in (0, 1, 2):
            for dx in (0, 1, 2):
                squares <<= 1
                squares |= padded[y + dy : y + dy + rows, dx : dx + width]
        new[y : y + rows] = next_state[squares]
    return new


def step_by_rule(cells: Cells, rule: NineCellRule, torus: bool) -> Cells:
    """Return the next generation of a (height, width) bool array by a rule of either class."""
    if isinstance(rule, LifeRule):
        return step(cells, rule.birth, rule.survival, torus)
    return step_by_table(cells, rule.table, torus)


def run(cells: Cells, birth: int, survival: int, torus: bool, generations: int) -> Cells:
    """Return what becomes of cells in so many generations."""
    return run_by_rule(cells, LifeRule(birth, survival), torus, generations)


def run_by_rule(cells: Cells, rule: NineCellRule, torus: bool, generations: int) -> Cells:
    """Return what becomes of cells in so many generations of a rule of either class."""
    for _ in range(generations):
        cells = step_by_rule(cells, rule, torus)
    return cells


class ReferenceLifeEngine(LifeEngine[NineCellRule]):
    """Rules of two states and nine cells by step_by_rule(), with no more than numpy."""

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: NineCellRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of bool arrays."""
        check_planes(shapes, chain)
        chosen = None if chain is None else self.chain(chain)
        return ReferenceArena(_with_follower(shapes, chain), slots, rule, chosen)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return the bytes of host memory that arena() and its steps would take, and 0."""
        check_planes(shapes, chain)
        beside = 0
        if chain is not None:
            longest = self.chain(chain).longest
            beside = (2 * chain.generations + (_STEP_COPIES + 1) * 2 * longest) * chain.width
        return (slots + _STEP_COPIES) * _slot_cells(_with_follower(shapes, chain)) + beside, 0

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return a chain of passes of at most 8 generations."""
        check_planes((), shape)
        check_chain(shape)
        passes = even_passes(shape.generations, min(_LONGEST_PASS, shape.height // 2))
        return LifeChain(shape.width, shape.torus, passes)


def _with_follower(shapes: Sequence[LifeShape], chain: ChainShape | None) -> list[LifeShape]:
    """Return `shapes` and the typical follower."""
    if chain is None:
        return list(shapes)
    return [*shapes, LifeShape(chain.width, chain.height, chain.torus)]


def _slot_cells(shapes: Sequence[LifeShape]) -> int:
    return max(shape.width * shape.height for shape in shapes)


class ReferenceArena(LifeArena):
    """An arena of bool arrays, one for each slot; every step makes a new one."""

    def __init__(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: NineCellRule,
        chain: LifeChain | None = None,
    ) -> None:
        self.slots, self.rule, self.chain = slots, rule, chain
        self._slot_cells = _slot_cells(shapes)
        self.cells: list[Cells] = [np.empty((0, 0), np.bool_)] * slots
        self.history: Cells = np.empty((0, 0), np.bool_)
        if chain is not None:
            self._turns = ChainTurns(chain)
            self.history = np.empty((2 * chain.generations, chain.width), np.bool_)

    def open(self, slot: int, shape: LifeShape) -> ReferenceLife:
        """Return a universe in a slot, of dead cells."""
        self.check_slot(slot, shape)
        self._make_room(slot, shape)
        return ReferenceLife(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedReferenceLife:
        """Return a universe of the chain in a slot."""
        self._make_room(slot, self.check_chained(slot, height, first=first))
        return ChainedReferenceLife(self, slot, height, self._turns, first=first)

    def _make_room(self, slot: int, shape: LifeShape) -> None:
        if shape.width * shape.height > self._slot_cells:
            raise ValueError(
                f"{shape.width}x{shape.height} cells in the room of {self._slot_cells}"
            )
        self.cells[slot] = np.zeros((shape.height, shape.width), np.bool_)

    def close(self) -> None:
        """Let the arrays go."""
        self.cells.clear()
        self.history = np.empty((0, 0), np.bool_)


class ReferenceLife(LifeUniverse):
    """A universe of a byte a cell."""

    stride = 1

    def __init__(self, arena: ReferenceArena, slot: int, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self._arena, self._slot, self._torus = arena, slot, shape.torus

    def step(self, generations: int) -> None:
        """Move on by generations, each by step()."""
        cells, slot, rule = self._arena.cells, self._slot, self._arena.rule
        for _ in range(generations):
            cells[slot] = step_by_rule(cells[slot], rule, self._torus)
            self.generation += 1

    def put(self, y: int, words: Words) -> None:
        """Unpack rows into the array."""
        self.check_rows(y, words)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self.width, bitorder="little")
        self._arena.cells[self._slot][y : y + len(words)] = bits

    def get(self, y: int, words: Words) -> None:
        """Pack rows of the array."""
        self.check_rows(y, words, written=True)
        cells = self._arena.cells[self._slot][y : y + len(words)]
        packed = np.packbits(cells, axis=1, bitorder="little")
        words[:] = 0
        words.view(np.uint8)[:, : packed.shape[1]] = packed


class ChainedReferenceLife(ChainedUniverse, ReferenceLife):
    """A universe of a chain, of a byte a cell."""

    def __init__(
        self, arena: ReferenceArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus
        self._above: Cells = np.empty((0, self.width), np.bool_)

    def _take(self, i: int) -> None:
        self._above = self._arena.history[slice(*self.entry(i))].copy()

    def _leave(self, i: int) -> None:
        rows = slice(*self.left_rows(i))
        self._arena.history[slice(*self.entry(i))] = self._arena.cells[self._slot][rows]

    def _make(self, i: int) -> None:
        cells, slot, rule = self._arena.cells, self._slot, self._arena.rule
        steps, top = self.chain.passes[i], 0 if self.first else self.chain.passes[i]
        made = np.concatenate((self._above, cells[slot]))
        for _ in range(steps):
            made = step_by_rule(made, rule, self._torus)
        made = made[top : top + self.height].copy()
        # No call, and so no interrupt, between these.
        cells[slot] = made
        self.generation += steps
        self._turns.made += 1
