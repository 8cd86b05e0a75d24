"""Ageing cells as their definition reads, a byte a cell: the oracle for every other implementation,
and the slow engine that always works."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.life.bytewise import BytewiseEngine, States
from kernels.life.rules import AgeingRule

_BAND_CELLS = 1 << 14  # that look_up() looks up at once, at several bytes a cell


def step(cells: States, rule: AgeingRule, torus: bool) -> States:
    """Return the next generation of a (height, width) uint8 array of states.

    Outside is the other side on a torus and dead for ever otherwise.
    """
    found = look_up(cells == 1, rule.table, torus)
    new = found.view(np.uint8).copy()
    new[(cells == 1) & ~found] = 2
    old = cells > 1
    new[old] = cells[old] + np.uint8(1)  # 256 is 0
    new[new >= rule.states] = 0
    return new


def look_up(live: npt.NDArray[np.bool_], table: int, torus: bool) -> npt.NDArray[np.bool_]:
    """Return what a table, as of MapRule, says of the nine cells around each of a bool array."""
    ones = np.unpackbits(
        np.frombuffer(table.to_bytes(64, "little"), np.uint8), bitorder="little"
    ).view(np.bool_)
    padded = np.pad(live, 1, mode="wrap" if torus else "constant")
    height, width = live.shape
    found = np.empty(live.shape, np.bool_)
    band = max(1, _BAND_CELLS // width)
    for y in range(0, height, band):
        rows = min(band, height - y)
        squares = np.zeros((rows, width), np.intp)  # the nine cells around each, as a number
        for dy in (0, 1, 2):
            for dx in (0, 1, 2):
                squares <<= 1
                squares |= padded[y + dy : y + dy + rows, dx : dx + width]
        found[y : y + rows] = ones[squares]
    return found


class ReferenceAgeingEngine(BytewiseEngine[AgeingRule]):
    """Ageing cells by step(), with no more than numpy."""

    copies = 6

    def step(self, cells: States, rule: AgeingRule, torus: bool) -> States:
        """Return the next generation."""
        return step(cells, rule, torus)
