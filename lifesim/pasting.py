"""Putting cells over others: in one of three modes, or as they are."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from lifesim.engines import cells_for
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.states import as_planes, live_words

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Mode(StrEnum):
    """Names what a paste does where there are cells.

    OR: cells that live are put there. COPY: all are, the dead ones too. XOR: cells that live are
    put there, but kill cells of their own state.
    """

    OR = "or"
    COPY = "copy"
    XOR = "xor"


def pasted(cells: BitGrid, over: BitGrid, mode: Mode, rule: Rule) -> BitGrid:
    """Return what becomes of cells when others of the same size are put over them, in a grid of its
    own. Raises GridError for states that the rule does not have."""
    new = cells_for(rule, over.copy())
    if mode is Mode.COPY:
        return new
    if rule.states == 2:
        if mode is Mode.OR:
            new.words |= cells.words
        else:
            new.words ^= cells.words
        return new
    old, put = as_planes(cells.words), as_planes(new.words)
    dead = ~live_words(new.words)[:, None]
    if mode is Mode.XOR:
        same = ~np.bitwise_or.reduce(old ^ put, axis=1)[:, None]
        put &= ~same
    put |= old & dead
    return new


def clear(grid: BitGrid, box: Box) -> None:
    """Kill the cells of a region within grid."""
    first, last = box.x >> 6, (box.x + box.width - 1) >> 6
    head = _ALL << np.uint64(box.x & 63)
    tail = _ALL >> np.uint64(63 - (box.x + box.width - 1 & 63))
    rows = grid.words[box.y : box.y + box.height]
    if first == last:
        rows[..., first] &= ~(head & tail)
        return
    rows[..., first] &= ~head
    rows[..., first + 1 : last] = 0
    rows[..., last] &= ~tail


def overwrite(grid: BitGrid, part: BitGrid, x: int, y: int) -> None:
    """Replace the cells of grid from x, y on; part does not leave it."""
    clear(grid, Box(x, y, part.width, part.height))
    grid.paste(part, x, y)
