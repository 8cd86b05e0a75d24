"""The unbounded plane on the CPU by HashLife: a tree of squares that is kept in compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.life.cpu.compiled import compiled_rule
from kernels.life.rules import NineCellRule
from kernels.plane.checks import FARTHEST, check_places, check_rule, check_window
from kernels.plane.contract import SIDE, Places, PlaneBox, PlaneEngine, PlaneUniverse, Words
from kernels.plane.hashlife.listing import SquareList
from kernels.targets.cpu import CpuTarget

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]

LEAF_LEVEL, LEAF_SIDE = 5, 32  # a square of level n has 2^n x 2^n cells
BYTE_LEVEL = 3  # a byte of a leaf has a row of such a square
LONGEST = 244  # bits of a number of generations, at most
LEAST_MEMORY = 16 << 20  # bytes that any tree takes
_SMALL = 60  # a level of which coordinates within a square fit 64 bits
_CHUNK = 1 << 12  # squares that are handed over at once
_QUADRANTS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.int64)  # x and y of children


class _Square(NamedTuple):
    """A square of the tree that holds live cells: its name, level, and top-left cell."""

    id: int
    level: int
    x: int
    y: int

    def meets(self, box: PlaneBox | None) -> bool:
        """Tell whether it shares a cell with a box; with None, always."""
        side = 1 << self.level
        return box is None or (
            self.x < box.x + box.width
            and box.x < self.x + side
            and self.y < box.y + box.height
            and box.y < self.y + side
        )


class HashPlane(PlaneUniverse):
    """A plane without an edge as a tree of squares, of which equal ones are kept once.

    A step of any number of generations is made at once, and what squares became is remembered.
    """

    def __init__(self, target: CpuTarget, rule: NineCellRule, memory: int) -> None:
        """Make an empty plane. memory: bytes that the tree may take, 16 MiB at least."""
        check_rule(rule)
        if memory < LEAST_MEMORY:
            raise MemoryError(f"{memory} bytes are too little for a tree of squares")
        self.generation = 0
        counts, circuit = compiled_rule(rule)
        self._tree = _cpu.HashTree(
            target.level, counts.birth, counts.survival, memory, target.threads, circuit
        )

    def put(self, places: Places, squares: Words) -> None:
        """Set all cells of some squares."""
        check_places(places, squares)
        self._tree.put(places, squares, None)

    def put_list(self, squares: SquareList) -> None:
        """Replace all cells by those of a list of squares, whose root's middle is put at the corner
        of cell (0, 0). Raises ValueError for a list that is no tree, and MemoryError."""
        self._tree.build(squares.levels, squares.children, squares.leaves, None)

    def move_a_row(self, *, down: bool) -> None:
        """Move all cells by a row."""
        self._tree.move_a_row(down, None)

    def step(self, generations: int) -> None:
        """Move on by any number of generations below 2^244, at once."""
        self._step(generations, None)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or by none where stopped() becomes true meanwhile."""
        self._step(generations, stopped)

    def _step(self, generations: int, stopped: Callable[[], bool] | None) -> None:
        if generations < 0:
            raise ValueError(f"a universe cannot go back {-generations} generations")
        if generations.bit_length() > LONGEST:
            raise OverflowError(f"a step has less than 2^{LONGEST} generations")
        if self._tree.step(generations.to_bytes(LONGEST // 8 + 1, "little"), stopped):
            self.generation += generations

    def population(self) -> int:
        """Return the number of live cells."""
        return self._tree.population()

    def box(self) -> PlaneBox | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        margins = self._tree.margins()
        if margins is None:
            return None
        west, east, north, south = margins
        side = 1 << self._tree.root_level()
        return PlaneBox(
            west - side // 2, north - side // 2, side - west - east, side - north - south
        )

    def squares(self, box: PlaneBox | None = None) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells, some thousands at a time."""
        for top in self._tops(box):
            for ids, x, y in self._below(top, box, LEAF_LEVEL + 1):
                corner = top.x // SIDE, top.y // SIDE
                if min(corner) < -FARTHEST or max(corner) + (1 << _SMALL - 6) > FARTHEST:
                    raise OverflowError("cells live farther away than squares are handed over from")
                places = np.stack([x, y], axis=1) // SIDE + np.array(corner, np.int64)
                leaves = self._rows(self._children(ids).reshape(-1)).reshape(-1, 2, 2, LEAF_SIDE)
                # Rows of 64 cells are two leaves side by side, the western one below.
                pairs = np.ascontiguousarray(leaves.swapaxes(2, 3).reshape(-1, SIDE, 2))
                yield places, pairs.view(np.uint64).reshape(-1, SIDE)

    def get(self, x: int, y: int, words: Words) -> None:
        """Write the cells of a rectangle."""
        check_window(words)
        words[:] = 0
        height, count = words.shape
        if not words.size:
            return
        box = PlaneBox(x, y, SIDE * count, height)
        halves = words.view(np.uint32)
        for top in self._tops(box):
            for ids, at_x, at_y in self._below(top, box, LEAF_LEVEL):
                _paint(halves, self._rows(ids), at_x + (top.x - x), at_y + (top.y - y))

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks."""
        if level < BYTE_LEVEL:
            return self._fine_counts(x, y, level, shape)
        if level < LEAF_LEVEL:
            return self._counts_in_leaves(x, y, level, shape)
        found = np.zeros(shape, np.float64)
        box = PlaneBox(x << level, y << level, shape[1] << level, shape[0] << level)
        # Squares of at most a block, whose corners are a block's where they are of its size.
        size = min(level, self._tree.root_level() - 1)
        for top in self._tops(box, at_most=size + _SMALL):
            if top.level <= size:
                column, row = (top.x >> level) - x, (top.y >> level) - y
                found[row, column] += self._populations(np.array([top.id], np.uint32))[0]
                continue
            # Only where blocks are smaller than the root: then they are of level `size`.
            corner = (top.x >> level) - x, (top.y >> level) - y
            for ids, columns, rows in self._below(top, box, size, size):
                where = rows + corner[1], columns + corner[0]
                np.add.at(found, where, self._populations(ids))
        return found

    def _counts_in_leaves(
        self, x: int, y: int, level: int, shape: tuple[int, int]
    ) -> npt.NDArray[np.float64]:
        """Count as counts() does, in blocks of 8 x 8 or 16 x 16 cells."""
        found = np.zeros(shape, np.float64)
        box = PlaneBox(x << level, y << level, shape[1] << level, shape[0] << level)
        group = 1 << level - BYTE_LEVEL
        inner = np.arange(LEAF_SIDE >> level)
        for top in self._tops(box):
            corner = (top.x >> level) - x, (top.y >> level) - y
            for ids, at_x, at_y in self._below(top, box, LEAF_LEVEL):
                octets = np.bitwise_count(self._rows(ids).view(np.uint8))
                tall = octets.reshape(-1, LEAF_SIDE >> level, 8 * group, 4 // group, group)
                columns = ((at_x >> level) + corner[0])[:, None, None] + inner
                rows = ((at_y >> level) + corner[1])[:, None, None] + inner[:, None]
                # Of leaves at the rim, some blocks lie outside.
                seen = (columns >= 0) & (columns < shape[1]) & (rows >= 0) & (rows < shape[0])
                rows, columns = np.broadcast_arrays(rows, columns)
                live = tall.sum(axis=(2, 4), dtype=np.float64)
                found[rows[seen], columns[seen]] = live[seen]
        return found

    def _fine_counts(
        self, x: int, y: int, level: int, shape: tuple[int, int]
    ) -> npt.NDArray[np.float64]:
        side = 1 << level
        rows, columns = shape
        words = np.zeros((rows * side, -(-columns * side // SIDE)), np.uint64)
        self.get(x * side, y * side, words)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        blocks = bits[:, : columns * side].reshape(rows, side, columns, side)
        found: npt.NDArray[np.float64] = blocks.sum(axis=(1, 3), dtype=np.float64)
        return found

    def list(self, *, lifted: bool = False) -> SquareList:
        """Return the tree as a list of squares, as put_list() takes them. lifted: with all cells a
        row further up."""
        return SquareList.of_tree(*self._tree.listing(lifted))

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that the tree takes just now."""
        return self._tree.nbytes()

    def statistics(self) -> dict[str, int]:
        """Return how much has been done: `leaf_steps` of squares of 64 x 64 cells, `results` of
        larger ones, `collections` of garbage, how many of them were `abandoned` before they gave
        anything up, whether one is `unfinished`, how many `squares` there are, and how many parts
        of lists of squares were `shared` with another thread."""
        return self._tree.statistics()

    def _tops(self, box: PlaneBox | None, at_most: int = _SMALL) -> Iterator[_Square]:
        """Yield squares of at most such a level that together hold all live cells of a box."""
        level = self._tree.root_level()
        todo = [_Square(self._tree.root(), level, -1 << level - 1, -1 << level - 1)]
        while todo:
            square = todo.pop()
            if not square.meets(box):
                continue
            if square.level <= at_most and square.level < level:
                yield square
                continue
            children = self._children(np.array([square.id], np.uint32))[0].tolist()
            half = 1 << square.level - 1
            for child, (right, down) in zip(children, _QUADRANTS.tolist(), strict=True):
                if child:
                    at = square.x + right * half, square.y + down * half
                    todo.append(_Square(child, square.level - 1, *at))

    def _below(
        self, top: _Square, box: PlaneBox | None, level: int, unit: int = 0
    ) -> Iterator[tuple[Ids, Ints, Ints]]:
        """Yield squares of a level below `top` with live cells, some thousands at a time, and the
        columns and rows of their corners, counted from its own. Only those that meet the box.

        unit: coordinates count blocks of 2^unit cells; at most the level, and 60 below that of
        `top` at most, as they have 64 bits.
        """
        side = 1 << top.level - unit
        spans = [(0, side), (0, side)]
        if box is not None:
            for axis, (low, size) in enumerate(
                [(box.x - top.x, box.width), (box.y - top.y, box.height)]
            ):
                first, end = low >> unit, -(-(low + size) >> unit)
                spans[axis] = min(max(first, 0), side), min(max(end, 0), side)
        (left, right), (upper, lower) = spans
        zero = np.zeros(1, np.int64)
        todo = [(np.array([top.id], np.uint32), zero, zero, top.level)]
        while todo:
            ids, x, y, now = todo.pop()
            if now == level:
                yield ids, x, y
                continue
            half = 1 << now - 1 - unit
            children = self._children(ids).reshape(-1)
            x = (x[:, None] + half * _QUADRANTS[:, 0]).reshape(-1)
            y = (y[:, None] + half * _QUADRANTS[:, 1]).reshape(-1)
            near = (
                (children != 0) & (x < right) & (x + half > left) & (y < lower) & (y + half > upper)
            )
            children, x, y = children[near], x[near], y[near]
            for first in reversed(range(0, len(children), _CHUNK)):
                part = slice(first, first + _CHUNK)
                todo.append((children[part], x[part], y[part], now - 1))

    def _children(self, ids: Ids) -> Ids:
        children = np.empty((len(ids), 4), np.uint32)
        self._tree.children(np.ascontiguousarray(ids), children)
        return children

    def _rows(self, ids: Ids) -> Ids:
        rows = np.empty((len(ids), LEAF_SIDE), np.uint32)
        self._tree.rows(np.ascontiguousarray(ids), rows)
        return rows

    def _populations(self, ids: Ids) -> npt.NDArray[np.float64]:
        found = np.empty(len(ids), np.float64)
        self._tree.populations(np.ascontiguousarray(ids), found)
        return found


def _paint(halves: Ids, leaves: Ids, x: Ints, y: Ints) -> None:
    """Set the cells of leaves with their corners at (x, y), as far as they lie within.

    halves: uint32 (rows, words), bit b of word w the column 32 w + b.
    """
    height, count = halves.shape
    word, shift = x >> 5, (x & 31).astype(np.uint64)
    for row in range(LEAF_SIDE):
        bits = leaves[:, row].astype(np.uint64) << shift
        at = y + row
        inside = (at >= 0) & (at < height)
        # Leaves lie 32 columns apart: no two have the same lower half, or upper half, in a word.
        for half in range(2):
            part = (bits >> np.uint64(32 * half)).astype(np.uint32)
            live = np.flatnonzero(inside & (part != 0) & (word + half >= 0) & (word + half < count))
            halves[at[live], word[live] + half] |= part[live]


class HashPlaneEngine(PlaneEngine):
    """The unbounded plane by HashLife, at the level of a CpuTarget and on its threads.

    Threads help with a step that takes longer than some milliseconds, one for each 4 MiB of memory
    that the tree may take at most. What comes of it is the same for any number of them.
    """

    def __init__(self, target: CpuTarget) -> None:
        """Take the target whose compiled code is used."""
        self.target = target

    def universe(self, rule: NineCellRule, memory: int) -> HashPlane:
        """Return an empty plane."""
        return HashPlane(self.target, rule, memory)
