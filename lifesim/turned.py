"""Grids turned over: mirrored, upside down, by quarter turns; and cells cleared at the right."""

from __future__ import annotations

import numpy as np

from lifesim.grid import BitGrid, Words, empty_part

_BLOCK = 1 << 14  # words that are flipped at a time
_HALVES = [
    (np.uint64(shift), np.uint64(((1 << 64) - 1) // ((1 << shift) + 1))) for shift in (4, 2, 1)
]


def flipped_down(cells: BitGrid) -> BitGrid:
    """Return the cells with the top at the bottom."""
    return BitGrid(cells.width, cells.height, cells.words[::-1].copy())


def flipped_across(cells: BitGrid) -> BitGrid:
    """Return the cells with the left at the right.

    Rows are taken at a time that fit in a cache; in each word the bytes change places, then the
    halves of bytes, then of halves (Warren, Hacker's Delight, 7-1).
    """
    result = empty_part(cells.width, cells.height, cells.planes)
    padding = np.uint64(-cells.width % 64)
    rows = max(1, _BLOCK // cells.words[0].size)
    for y in range(0, cells.height, rows):
        words = cells.words[y : y + rows, ..., ::-1].byteswap()
        for shift, kept in _HALVES:
            high = words >> shift
            high &= kept
            words &= kept
            words <<= shift
            words |= high
        target = result.words[y : y + rows]
        # What was padding at the end is now at the front.
        np.right_shift(words, padding, out=target)
        if padding:
            target[..., :-1] |= words[..., 1:] << (np.uint64(64) - padding)
    return result


def rotated(cells: BitGrid, *, clockwise: bool) -> BitGrid:
    """Return the cells after a quarter turn: a height x width grid."""
    return flipped_down(cells).transposed() if clockwise else flipped_down(cells.transposed())


def clear_padding(words: Words, width: int) -> None:
    """Clear the bits past the last column."""
    if width % 64:
        words[..., -1] &= np.uint64((1 << width % 64) - 1)


def clear_columns(grid: BitGrid, x: int) -> None:
    """Kill all cells from a column on."""
    grid.words[..., x // 64 + 1 :] = 0
    if x // 64 < grid.words.shape[-1]:
        grid.words[..., x // 64] &= np.uint64((1 << x % 64) - 1)
