"""A list of squares as a tree that is gone down from its root, without ever unfolding all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.plane.hashlife.listing import LEAF, SquareList
from lifesim.cancelling import go_on
from lifesim.grid import BitGrid, Box

Ints = npt.NDArray[np.int64]
Ranks = npt.NDArray[np.integer]  # numbers of squares among those of their level, 0 for an empty one
UInts = npt.NDArray[np.uint64]

_STEP = 1 << 16  # squares that are gone down from at once
_ACROSS, _DOWN = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])  # places of children
_SMALL = 31  # the highest level at which numbers of cells fit 64 bits, signed


class Quadtree:
    """The cells of a macrocell file, whose root of level n covers the columns -2^(n-1) to
    2^(n-1) - 1 and the rows -2^(n-1) + 1 to 2^(n-1).

    top: the level of the root. x, y: its top-left cell. root: its number, 0 where nothing lives.
    leaves: the cells of squares of level 3, bit 8 y + x, that of number 0 empty. children: of each
    level above that, (squares, 4), the numbers of north-west, north-east, south-west and south-east
    quarters, 0 for one in which nothing lives; row 0 is all 0.
    """

    def __init__(self, squares: SquareList) -> None:
        """Number the squares of each level anew, and leave out what is dead."""
        levels = squares.levels
        self.top = max(int(levels[-1]), LEAF)
        self.x, self.y = -1 << self.top - 1, (-1 << self.top - 1) + 1
        order = np.argsort(levels, kind="stable")
        ends = np.searchsorted(levels[order], np.arange(LEAF, self.top + 2))
        rank = np.zeros(len(levels), np.int32 if len(levels) < 1 << 31 else np.int64)
        self.leaves = np.zeros(1, np.uint64)
        self.children: dict[int, Ranks] = {}
        live: npt.NDArray[Any] = np.zeros(1, np.bool_)
        for level, first, end in zip(range(LEAF, self.top + 1), ends, ends[1:], strict=False):
            which = order[first:end]
            rank[which] = np.arange(1, len(which) + 1)
            if level == LEAF:
                self.leaves = np.concatenate([self.leaves, squares.leaves[which]])
                live = self.leaves != 0
                continue
            children = np.zeros((len(which) + 1, 4), rank.dtype)
            children[1:] = rank[squares.children[which]]
            children[~live[children]] = 0
            self.children[level] = children
            live = (children != 0).any(axis=1)
        root = int(rank[-1])
        self.root = root if live[root] else 0

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        if not self.root:
            return None
        west, east = self._margin(0, False), self._margin(0, True)
        north, south = self._margin(1, False), self._margin(1, True)
        side = 1 << self.top
        return Box(self.x + west, self.y + north, side - west - east, side - north - south)

    def _margin(self, axis: int, backwards: bool) -> int:
        """Return how many columns (axis 0) or rows (1) are dead at a side of the root."""
        near = (_ACROSS if axis == 0 else _DOWN) == int(backwards)
        margin, at = 0, np.array([self.root])
        for level in range(self.top, LEAF, -1):
            children = self.children[level][at]
            below = np.unique(children[:, near])
            below = below[below > 0]
            if not len(below):
                margin += 1 << level - 1
                below = np.unique(children[:, ~near])
                below = below[below > 0]
            at = below
        lines = cells_of(np.bitwise_or.reduce(self.leaves[at])[None])[0].any(axis=axis)
        return margin + int((lines[::-1] if backwards else lines).argmax())

    def population(self) -> int:
        """Return the number of live cells."""
        counts: npt.NDArray[Any] = np.bitwise_count(self.leaves).astype(np.int64)
        for level in range(LEAF + 1, self.top + 1):
            counts = exact(counts, level)[self.children[level]].sum(axis=1)
        return int(counts[self.root])

    def meeting(self, box: Box, level: int) -> Iterator[tuple[Ranks, Ints, Ints]]:
        """Yield the live squares of a level that share a cell with a box, some thousands at a time:
        their numbers, and their columns and rows of squares, counted from that in which the box's
        top-left cell lies.

        box: lies within the root, and is less than 2^60 squares of that level wide and high.
        """
        low = box.x - self.x, box.y - self.y
        high = low[0] + box.width - 1, low[1] + box.height - 1
        if not self.root:
            return
        zero = np.zeros(1, np.int64)
        todo = [(np.array([self.root]), zero, zero, self.top)]
        while todo:
            go_on()
            at, column, row, now = todo.pop()
            if now == level:
                yield at, column, row
                continue
            below = now - 1
            moved = [2 * (start >> now) - (start >> below) for start in low]
            # Squares that meet the box are not further away than it reaches.
            last = [
                min((end >> below) - (start >> below), 1 << 60)
                for start, end in zip(low, high, strict=True)
            ]
            at = self.children[now][at].reshape(-1)
            column = (2 * column[:, None] + (_ACROSS + moved[0])).reshape(-1)
            row = (2 * row[:, None] + (_DOWN + moved[1])).reshape(-1)
            met = (at != 0) & (column >= 0) & (column <= last[0]) & (row >= 0) & (row <= last[1])
            at, column, row = at[met], column[met], row[met]
            for first in reversed(range(0, len(at), _STEP)):
                part = slice(first, first + _STEP)
                todo.append((at[part], column[part], row[part], below))

    def held(self, box: Box) -> Box | None:
        """Return what of a box lies within the root, None for nothing."""
        side = 1 << self.top
        return box.common(Box(self.x, self.y, side, side))

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle. Raises GridError for one too large for memory."""
        grid = BitGrid(box.width, box.height)
        self.paint(grid, box)
        return grid

    def paint(self, grid: BitGrid, box: Box) -> None:
        """Set the live cells of a box in an empty grid of its size."""
        held = self.held(box)
        if held is None:
            return
        side = 1 << LEAF
        # The corner of the square that the first cell lies in, from the corner of the box.
        x = held.x - (held.x - self.x) % side - box.x
        y = held.y - (held.y - self.y) % side - box.y
        for at, column, row in self.meeting(held, LEAF):
            _paint(grid, self.leaves[at], side * column + x, side * row + y)
        if grid.width % 64:
            grid.words[:, -1] &= np.uint64((1 << grid.width % 64) - 1)


def cells_of(leaves: UInts) -> npt.NDArray[np.uint8]:
    """Return the cells of squares of level 3, 0 or 1, of shape (squares, 8 rows, 8 columns)."""
    rows = leaves.astype("<u8").view(np.uint8).reshape(-1, 8, 1)
    return np.unpackbits(rows, axis=2, bitorder="little")


def exact(counts: npt.NDArray[Any], level: int) -> npt.NDArray[Any]:
    """Return numbers of cells as what holds those of four such squares, of this level: int64, or
    Python ints."""
    return counts if level <= _SMALL else counts.astype(object)


def _paint(grid: BitGrid, leaves: UInts, x: Ints, y: Ints) -> None:
    """Set the cells of 8x8 leaves with their corners at (x, y), as far as they lie within."""
    stride = 8 * grid.words.shape[1]
    flat = grid.words.view(np.uint8).reshape(-1)
    byte, shift = x >> 3, (x & 7).astype(np.uint16)
    for row in range(8):
        bits = (leaves >> np.uint64(8 * row)).astype(np.uint8).astype(np.uint16) << shift
        line = y + row
        inside = (line >= 0) & (line < grid.height)
        # Leaves do not overlap, so all low halves lie in different bytes, as do all high ones.
        for half in range(2):
            part = (bits >> np.uint16(8 * half)).astype(np.uint8)
            at = byte + half
            live = np.flatnonzero(inside & (part != 0) & (at >= 0) & (at < stride))
            flat[line[live] * stride + at[live]] |= part[live]
