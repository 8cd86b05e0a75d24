"""Bits of rows as bits of columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

# What stays where it is when squares of 2, 4, ... 64 bits are transposed by quarters.
_QUARTERS = [
    (shift, np.uint64(((1 << 64) - 1) // ((1 << shift) + 1))) for shift in (1, 2, 4, 8, 16, 32)
]
_TILE = 16, 32  # squares, down and across, that are transposed at a time: they fit in a cache


def transpose(words: Words, into: Words) -> None:
    """Write the bits of rows of words as columns: bit y of row x of `into` becomes bit x of row y.

    words: uint64 (rows, count). into: zeros, (columns, ceil(rows / 64)), where columns are at most
    64 * count; those past them must be zero in words.
    """
    down, across = _TILE
    for row in range(0, len(words), 64 * down):
        for word in range(0, words.shape[1], across):
            square = _squares(words[row : row + 64 * down, word : word + across])
            columns = square[: len(into) - 64 * word]
            first = row >> 6
            into[64 * word :][: len(columns), first : first + square.shape[1]] = columns


def _squares(words: Words) -> Words:
    """Return words of rows as words of columns, whose bits past the last row are zero; shape (64 *
    words of a row, ceil(rows / 64)).

    This goes by squares of 64 x 64 bits, in each of which quarters change places, then quarters
    of quarters (Warren, Hacker's Delight, 7-3).
    """
    height, width = words.shape
    count = -(-height // 64)
    squares = np.zeros((count, 64, width), np.uint64)
    squares.reshape(-1, width)[:height] = words
    for shift, kept in _QUARTERS:
        pairs = squares.reshape(count, 32 // shift, 2, shift, width)
        upper, lower = pairs[:, :, 0], pairs[:, :, 1]
        moved = upper >> np.uint64(shift)
        moved ^= lower
        moved &= kept
        lower ^= moved
        moved <<= np.uint64(shift)
        upper ^= moved
    return squares.transpose(2, 1, 0).reshape(64 * width, count)
