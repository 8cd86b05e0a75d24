"""Quadtrees whose equal squares are shared, from packed grids.

A square of level n has 2^n x 2^n cells. Leaves are of level 3: one uint64, bit
8 y + x is the cell in column x of row y. Four children make a node: nw, ne, sw, se.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.patterns.runs import Ints
from lifesim.states import pieces

UInts = npt.NDArray[np.uint64]

_STEP = 1 << 17  # words looked at in one step
_CELLS = 1 << 20  # cells of several states looked at in one step: about 40 bytes each
_TOP = 64


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
    top = max(4, _root_level(box, x, y))
    values, tile_x, tile_y = _tiles(grid, x & 7, y & 7)
    leaves, ids = np.unique(values, return_inverse=True)
    tile_x += (x >> 3) + (1 << top - 4)
    tile_y += (y >> 3) + (1 << top - 4)
    return leaves, _nodes(ids + 1, tile_x, tile_y, len(leaves) + 1, top - 3)


def build_states(grid: BitGrid, x: int, y: int) -> tuple[Ints, list[Ints]]:
    """Return the tree of a grid of several states as build() does, whose leaves are of level 1:
    (count, 4) states, north-west first; then come nodes of level 2 and so on."""
    box = grid.bounding_box()
    if box is None:
        return np.zeros((0, 4), np.int64), [np.zeros((1, 4), np.int64)]
    y -= 1
    top = max(2, _root_level(box, x, y))
    right, down = x & 1, y & 1
    found: list[tuple[Ints, Ints, Ints]] = []
    step = max(2, _CELLS // grid.width // 2 * 2)
    for first in range(-down, grid.height, step):
        begin, end = max(first, 0), min(first + step, grid.height)
        states = np.concatenate(list(pieces(grid.words[begin:end], grid.width)))
        wide = np.zeros((-(-(end - first) // 2) * 2, -(-(grid.width + right) // 2) * 2), np.int64)
        wide[begin - first : end - first, right : right + grid.width] = states
        four = (
            wide[::2, ::2] | wide[::2, 1::2] << 8 | wide[1::2, ::2] << 16 | wide[1::2, 1::2] << 24
        )
        row, column = np.nonzero(four)
        found.append((four[row, column], column, row + (first + down) // 2))
    values, tile_x, tile_y = (np.concatenate(part) for part in zip(*found, strict=True))
    leaves, ids = np.unique(values, return_inverse=True)
    tile_x += (x >> 1) + (1 << top - 2)
    tile_y += (y >> 1) + (1 << top - 2)
    states = np.stack([leaves >> shift & 255 for shift in (0, 8, 16, 24)], axis=1)
    return states, _nodes(ids + 1, tile_x, tile_y, len(leaves) + 1, top - 1)


def _root_level(box: Box, x: int, y: int) -> int:
    """Return the least level of a root that covers the live cells, all in a box whose grid lies at
    (x, y). Raises LifesimError for one above 64."""
    spans = [(x + box.x, box.width), (y + box.y, box.height)]
    farthest = max(max(-low, low + size) for low, size in spans)
    level = (farthest - 1).bit_length() + 1
    if level > _TOP:
        raise LifesimError(f"a macrocell file cannot hold cells {farthest} away from the origin")
    return level


def _nodes(ids: Ints, tile_x: Ints, tile_y: Ints, first: int, count: int) -> list[Ints]:
    """Return the nodes of so many levels above leaves, up to the root's.

    ids: the numbers of leaves, at column tile_x and row tile_y of leaves from the root's corner.
    first: the number of the first node.
    """
    levels: list[Ints] = []
    for _ in range(count):
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
    return levels


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
