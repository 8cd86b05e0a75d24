"""Quadtrees whose equal squares are shared, from and to packed grids.

A square of level n has 2^n x 2^n cells. Leaves are of level 3: one uint64, bit
8 y + x is the cell in column x of row y. Four children make a node: nw, ne, sw, se.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, GridError
from lifesim.patterns.files import go_on
from lifesim.patterns.room import grid_for
from lifesim.patterns.runs import Ints

UInts = npt.NDArray[np.uint64]

_STEP = 1 << 17  # squares expanded, or words looked at, in one step
_TOP = 64
_FAR = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Quadtree:
    """A tree of squares 1 to n, children before parents, root last; square 0 is empty at any level.

    levels: level of each square. children: four squares for each, all 0 for a leaf.
    leaves: the cells of each, 0 for a node.
    """

    def __init__(self, levels: bytearray, children: array[int], leaves: array[int]) -> None:
        self._levels = np.frombuffer(levels, np.uint8)
        self._children = np.frombuffer(children, np.int64).reshape(-1, 4)
        self._leaves = np.frombuffer(leaves, np.uint64)
        self._boxes = self._bounding_boxes()

    def _bounding_boxes(self) -> UInts:
        """Return first column, first row, last column, last row of the live cells of each square,
        from its top-left cell; shape (4, squares). Empty squares: first above last."""
        boxes = np.zeros((4, len(self._levels)), np.uint64)
        boxes[:2] = _FAR
        leaf = np.flatnonzero(self._leaves)
        if len(leaf):
            rows = self._leaves[leaf].view(np.uint8).reshape(-1, 8)
            columns = np.bitwise_or.reduce(rows, axis=1)
            for axis, bits in ((0, columns), (1, np.packbits(rows != 0, 1, "little")[:, 0])):
                cells = np.unpackbits(bits[:, None], axis=1, bitorder="little")
                boxes[axis, leaf] = cells.argmax(axis=1)
                boxes[axis + 2, leaf] = 7 - cells[:, ::-1].argmax(axis=1)
        for level in range(4, int(self._levels.max()) + 1):
            nodes = np.flatnonzero(self._levels == level)
            half = np.uint64(1 << level - 1)
            for quadrant in range(4):
                child = self._children[nodes, quadrant]
                live = boxes[0, child] <= boxes[2, child]
                node, child = nodes[live], child[live]
                for axis, moved in ((0, quadrant & 1), (1, quadrant >> 1)):
                    shift = half if moved else np.uint64(0)
                    low, high = boxes[axis], boxes[axis + 2]
                    low[node] = np.minimum(low[node], low[child] + shift)
                    high[node] = np.maximum(high[node], high[child] + shift)
        return boxes

    def cells(self, size: int, most: int | None = None) -> tuple[BitGrid, int, int]:
        """Return the root's cells in the smallest grid, and its top-left cell's x and y.

        size: bytes of the text that the tree was read from. Raises GridError, before anything
        is allocated, for a grid too large for that or for memory, or of more than `most` cells.
        """
        left, top, right, bottom = (int(edge) for edge in self._boxes[:, -1])
        if left > right:
            return BitGrid(1, 1), 0, 0
        width, height = right - left + 1, bottom - top + 1
        if most is not None and width * height > most:
            raise GridError(f"{width}x{height} cells are more than {most}")
        grid = grid_for(width, height, size, tree=True)
        for value, x, y in self._live_leaves(left, top):
            _paint(grid, value, x, y)
        half = 1 << int(self._levels[-1]) - 1
        return grid, left - half, top - half + 1

    def _live_leaves(self, left: int, top: int) -> Iterator[tuple[UInts, Ints, Ints]]:
        """Yield every leaf with live cells, and where it stands from (left, top) on.

        Places are taken modulo 2^64: those of the leaves are small, whatever lies between.
        """
        root = np.array([len(self._levels) - 1])
        at_x, at_y = (np.array([-edge & int(_FAR)], np.uint64) for edge in (left, top))
        todo = [(root, at_x, at_y)]
        while todo:
            go_on()
            squares, x, y = todo.pop()
            if len(squares) > _STEP:
                middle = len(squares) // 2
                todo.append((squares[middle:], x[middle:], y[middle:]))
                todo.append((squares[:middle], x[:middle], y[:middle]))
                continue
            level = int(self._levels[squares[0]])
            if level == 3:
                yield self._leaves[squares], x.view(np.int64), y.view(np.int64)
                continue
            half = np.uint64(1 << level - 1)
            steps = np.array([0, half], np.uint64)
            child = self._children[squares].reshape(-1)
            below_x = (x[:, None] + steps[[0, 1, 0, 1]]).reshape(-1)
            below_y = (y[:, None] + steps[[0, 0, 1, 1]]).reshape(-1)
            live = self._boxes[0, child] <= self._boxes[2, child]
            todo.append((child[live], below_x[live], below_y[live]))


def _paint(grid: BitGrid, leaves: UInts, x: Ints, y: Ints) -> None:
    """Set the cells of 8x8 leaves at (x, y): none of their live cells is outside."""
    stride = 8 * grid.words.shape[1]
    flat = grid.words.view(np.uint8).reshape(-1)
    byte, shift = x >> 3, (x & 7).astype(np.uint16)
    for row in range(8):
        bits = (leaves >> np.uint64(8 * row)).astype(np.uint8).astype(np.uint16) << shift
        at = (y + row) * stride + byte
        # Leaves do not overlap, so all low halves lie in different bytes, as do all high ones.
        for half in range(2):
            part = (bits >> np.uint16(8 * half)).astype(np.uint8)
            live = np.flatnonzero(part)
            flat[at[live] + half] |= part[live]


def build(grid: BitGrid, x: int, y: int) -> tuple[UInts, list[Ints]]:
    """Return the tree of a grid whose top-left cell is (x, y): its leaves, then the nodes of level
    4, 5 and so on up to the root's, as (count, 4) squares, numbered on from the leaves, which begin
    at 1. The last level has one node, the root.

    Raises LifesimError for a pattern that no root of level 64 covers.
    """
    box = grid.bounding_box()
    if box is None:
        return np.zeros(0, np.uint64), [np.zeros((1, 4), np.int64)]
    y -= 1  # rows run from -2^(n-1) + 1
    spans = [(x + box.x, box.width), (y + box.y, box.height)]
    farthest = max(max(-low, low + size) for low, size in spans)
    top = max(4, (farthest - 1).bit_length() + 1)
    if top > _TOP:
        raise LifesimError(f"a macrocell file cannot hold cells {farthest} away from the origin")
    values, tile_x, tile_y = _tiles(grid, x & 7, y & 7)
    leaves, ids = np.unique(values, return_inverse=True)
    ids = ids + 1
    tile_x += (x >> 3) + (1 << top - 4)
    tile_y += (y >> 3) + (1 << top - 4)
    levels: list[Ints] = []
    first = len(leaves) + 1
    for _ in range(4, top + 1):
        quadrant = (tile_y & 1) * 2 + (tile_x & 1)
        tile_x, tile_y = tile_x >> 1, tile_y >> 1
        low_x, low_y = tile_x.min(), tile_y.min()
        across = int(tile_x.max() - low_x) + 1
        parents, parent = np.unique(
            (tile_y - low_y) * across + (tile_x - low_x), return_inverse=True
        )
        four = np.zeros((len(parents), 4), np.int64)
        four[parent, quadrant] = ids
        upper, lower = (_numbered(half[:, 0] * first + half[:, 1]) for half in np.hsplit(four, 2))
        _, where, ids = np.unique(
            upper * (int(lower.max()) + 1) + lower, return_index=True, return_inverse=True
        )
        levels.append(four[where])
        ids = ids + first
        first += len(where)
        tile_x, tile_y = parents % across + low_x, parents // across + low_y
    return leaves, levels


def _numbered(keys: Ints) -> Ints:
    """Number keys from 0 on, equal ones equally."""
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _tiles(grid: BitGrid, right: int, down: int) -> tuple[UInts, Ints, Ints]:
    """Return every 8x8 tile with live cells, its column and its row, once the grid has been moved
    right and down by less than 8 cells."""
    count = grid.words.shape[1]
    across = min(count + 1, _STEP)
    step = max(1, _STEP // (8 * across)) * 8
    found: list[tuple[UInts, Ints, Ints]] = []
    for top in range(-down, grid.height, step):
        for left in range(0, count + 1, across):
            words = grid.words[max(top, 0) : top + step, left : left + across]
            begin = max(-top, 0)
            moved = np.zeros((-(-(begin + len(words)) // 8) * 8, across), np.uint64)
            block = moved[begin : begin + len(words)]
            block[:, : words.shape[1]] = words << np.uint64(right)
            if right:
                before = grid.words[max(top, 0) : top + step, max(left - 1, 0) : left + across - 1]
                first = 0 if left else 1
                block[:, first : first + before.shape[1]] |= before >> np.uint64(64 - right)
            tiles = moved.view(np.uint8).reshape(-1, 8, 8 * across).swapaxes(1, 2)
            values = np.ascontiguousarray(tiles).view(np.uint64)[:, :, 0]
            row, column = np.nonzero(values)
            found.append((values[row, column], column + 8 * left, row + (top + down) // 8))
    values, columns, rows = (np.concatenate(part) for part in zip(*found, strict=True))
    return values, columns, rows
