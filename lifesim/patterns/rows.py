"""From rows of text to a packed grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lifesim.grid import BitGrid, GridError
from lifesim.patterns.text import error_at


class Row(NamedTuple):
    """x and y of the first cell, the cells (`*` is live), the row's offset in its file."""

    x: int
    y: int
    text: bytes
    offset: int


def grid_of_rows(rows: list[Row], name: str, data: bytes) -> tuple[BitGrid, int, int]:
    """The smallest grid that holds the rows' live cells, and x and y of its top-left cell.

    Rows may overlap. Raises PatternError where the grid would not fit in memory, before
    anything is allocated.
    """
    spans = []
    for row in rows:
        first = row.text.find(b"*")
        if first >= 0:
            text = row.text[first : row.text.rfind(b"*") + 1]
            spans.append(Row(row.x + first, row.y, text, row.offset))
    if not spans:
        return BitGrid(1, 1), 0, 0
    left, top = min(span.x for span in spans), min(span.y for span in spans)
    right, bottom = max(span.x + len(span.text) for span in spans), max(span.y for span in spans)
    try:
        grid = BitGrid(right - left, bottom - top + 1)
    except GridError as error:
        first_x, first_y = spans[0].x, spans[0].y
        far = max(spans, key=lambda span: abs(span.x - first_x) + abs(span.y - first_y))
        raise error_at(str(error), name, data, far.offset) from None
    packed = grid.words.view(np.uint8)
    for x, y, text, _ in spans:
        byte, shift = divmod(x - left, 8)
        live = np.frombuffer(bytes(shift) + text, np.uint8) == ord("*")
        bits = np.packbits(live, bitorder="little")
        packed[y - top, byte : byte + len(bits)] |= bits
    return grid, left, top
