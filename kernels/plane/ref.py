"""The unbounded plane as a set of live cells: the oracle for every other engine of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from kernels.life.rules import NineCellRule
from kernels.plane.checks import check_places, check_rule, check_window
from kernels.plane.contract import (
    SIDE,
    Places,
    PlaneBox,
    PlaneEngine,
    PlaneUniverse,
    Words,
)

Cell = tuple[int, int]  # x, y
_CELL_BYTES = 200  # of a cell in a set, about, with what a step takes beside it
# Of the nine squares that a cell is in: where the middle is, seen from it, and its bit (MapRule).
_SQUARES = tuple((-dx, -dy, 1 << 4 - 3 * dy - dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1))


def step(cells: set[Cell], table: int) -> set[Cell]:
    """Return the next generation of a set of live cells.

    table: of a rule, as of MapRule; nine dead cells give a dead one.
    """
    squares: defaultdict[Cell, int] = defaultdict(int)
    for x, y in cells:
        for dx, dy, bit in _SQUARES:
            squares[x + dx, y + dy] |= bit
    return {cell for cell, square in squares.items() if table >> square & 1}


class ReferencePlane(PlaneUniverse):
    """A plane without an edge as a set of live cells."""

    def __init__(self, rule: NineCellRule, memory: int) -> None:
        """Make an empty plane. memory: bytes that it may take."""
        check_rule(rule)
        self.generation = 0
        self.cells: set[Cell] = set()
        self._table, self._memory = rule.table, memory

    def put(self, places: Places, squares: Words) -> None:
        """Set all cells of some squares."""
        check_places(places, squares)
        new: dict[Cell, list[Cell]] = {}
        for (i, j), rows in zip(places.tolist(), squares, strict=True):
            bits = np.unpackbits(rows.view(np.uint8).reshape(SIDE, 8), axis=1, bitorder="little")
            ys, xs = np.nonzero(bits)
            new[i, j] = list(zip((SIDE * i + xs).tolist(), (SIDE * j + ys).tolist(), strict=True))
        kept = {cell for cell in self.cells if (cell[0] // SIDE, cell[1] // SIDE) not in new}
        cells = kept.union(*new.values())
        self._check_memory(len(cells))
        self.cells = cells

    def step(self, generations: int) -> None:
        """Move on by any number of generations."""
        self.step_until(lambda: False, generations)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or by fewer where stopped() becomes true meanwhile."""
        for done in range(generations):
            if not self.cells:
                self.generation += generations - done
                return
            if stopped():
                return
            self._check_memory(len(self.cells))
            self.cells = step(self.cells, self._table)
            self.generation += 1

    def _check_memory(self, cells: int) -> None:
        if cells * _CELL_BYTES > self._memory:
            raise MemoryError(f"{cells} live cells take more than {self._memory} bytes")

    def population(self) -> int:
        """Return the number of live cells."""
        return len(self.cells)

    def box(self) -> PlaneBox | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        if not self.cells:
            return None
        xs, ys = zip(*self.cells, strict=True)
        left, top = min(xs), min(ys)
        return PlaneBox(left, top, max(xs) - left + 1, max(ys) - top + 1)

    def squares(self, box: PlaneBox | None = None) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells."""
        found: dict[Cell, Words] = {}
        for x, y in self.cells:
            at = x // SIDE, y // SIDE
            if at not in found:
                found[at] = np.zeros(SIDE, np.uint64)
            found[at][y % SIDE] |= np.uint64(1 << x % SIDE)
        for (i, j), rows in found.items():
            if box is not None and not (
                SIDE * i < box.x + box.width
                and box.x < SIDE * (i + 1)
                and SIDE * j < box.y + box.height
                and box.y < SIDE * (j + 1)
            ):
                continue
            yield np.array([[i, j]], np.int64), rows[None]

    def get(self, x: int, y: int, words: Words) -> None:
        """Write the cells of a rectangle."""
        check_window(words)
        words[:] = 0
        height, count = words.shape
        for at_x, at_y in self.cells:
            if x <= at_x < x + SIDE * count and y <= at_y < y + height:
                word, bit = divmod(at_x - x, SIDE)
                words[at_y - y, word] |= np.uint64(1 << bit)

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks."""
        found = np.zeros(shape, np.float64)
        for at_x, at_y in self.cells:
            column, row = (at_x >> level) - x, (at_y >> level) - y
            if 0 <= row < shape[0] and 0 <= column < shape[1]:
                found[row, column] += 1
        return found

    @property
    def nbytes(self) -> int:
        """Return about how many bytes it takes."""
        return _CELL_BYTES * len(self.cells)


class ReferencePlaneEngine(PlaneEngine):
    """The unbounded plane by step()."""

    def universe(self, rule: NineCellRule, memory: int) -> ReferencePlane:
        """Return an empty plane."""
        return ReferencePlane(rule, memory)
