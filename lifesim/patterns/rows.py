"""Paint rows of text into a packed grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from lifesim.grid import BitGrid, GridError
from lifesim.patterns.room import grid_for
from lifesim.patterns.text import error_at


class Row(NamedTuple):
    """A row of a pattern: x and y of the first cell, the cells (`*` is live), the row's offset in
    its file."""

    x: int
    y: int
    text: bytes
    offset: int


def grid_of_rows(
    rows: Callable[[], Iterable[Row]], name: str, data: bytes
) -> tuple[BitGrid, int, int]:
    """Return the smallest grid that holds the rows' live cells, and x and y of its top-left cell.

    `rows` is called twice, to measure and to paint, so that no list of them is ever
    held. Rows may overlap. Raises PatternError where the grid would be too large for the
    file or for memory, before anything is allocated.
    """
    first: tuple[int, int] | None = None
    left = top = right = bottom = far = far_offset = 0
    for x, y, text, offset in _live(rows()):
        if first is None:
            first = x, y
            left, top, right, bottom = x, y, x, y
        left, right = min(left, x), max(right, x + len(text))
        top, bottom = min(top, y), max(bottom, y + 1)
        away = abs(x - first[0]) + len(text) + abs(y - first[1])
        if away > far:
            far, far_offset = away, offset
    if first is None:
        return BitGrid(1, 1), 0, 0
    try:
        grid = grid_for(right - left, bottom - top, len(data))
    except GridError as error:
        raise error_at(str(error), name, data, far_offset) from None
    packed = grid.words.view(np.uint8)
    for x, y, text, _ in _live(rows()):
        byte, shift = divmod(x - left, 8)
        live = np.frombuffer(bytes(shift) + text, np.uint8) == ord("*")
        bits = np.packbits(live, bitorder="little")
        packed[y - top, byte : byte + len(bits)] |= bits
    return grid, left, top


def _live(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows that have live cells, from the first to the last of them."""
    for row in rows:
        first = row.text.find(b"*")
        if first >= 0:
            text = row.text[first : row.text.rfind(b"*") + 1]
            yield Row(row.x + first, row.y, text, row.offset)
