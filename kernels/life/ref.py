"""Life as its definition reads, one byte a cell: the oracle for every other implementation, and
the slow engine that always works."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.life.bytewise import BytewiseEngine, States
from kernels.life.rules import LifeRule, NineCellRule

Cells = npt.NDArray[np.bool_]

_BAND_CELLS = 1 << 12  # that step_by_table() looks up at once, at several bytes a cell


def step(cells: Cells, birth: int, survival: int, torus: bool) -> Cells:
    """Return the next generation of a (height, width) bool array.

    birth, survival: bit n says that a dead cell is born, a live one survives, with n
    live neighbours. Outside is the other side on a torus and dead for ever otherwise.
    """
    count = neighbours(cells, torus)
    new = np.zeros(cells.shape, np.bool_)
    for n in range(9):
        if birth >> n & 1:
            new |= (count == n) & ~cells
        if survival >> n & 1:
            new |= (count == n) & cells
    return new


def neighbours(cells: Cells, torus: bool) -> npt.NDArray[np.uint8]:
    """Return how many of the eight cells around each are live: uint8, of the shape of cells."""
    padded = np.pad(cells.view(np.uint8), 1, mode="wrap" if torus else "constant")
    height, width = cells.shape
    count = np.zeros(cells.shape, np.uint8)
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            if (dx, dy) != (1, 1):
                count += padded[dy : dy + height, dx : dx + width]
    return count


def step_by_table(cells: Cells, table: int, torus: bool) -> Cells:
    """Return the next generation of a (height, width) bool array by a table of nine cells.

    table: as of MapRule. Outside is as of step().
    """
    next_state = np.frombuffer(table.to_bytes(64, "little"), np.uint8)
    next_state = np.unpackbits(next_state, bitorder="little").view(np.bool_)
    padded = np.pad(cells, 1, mode="wrap" if torus else "constant")
    height, width = cells.shape
    new = np.empty(cells.shape, np.bool_)
    band = max(1, _BAND_CELLS // width)
    for y in range(0, height, band):
        rows = min(band, height - y)
        squares = np.zeros((rows, width), np.intp)  # the nine cells around each, as a number
        for dy in (0, 1, 2):
            for dx in (0, 1, 2):
                squares <<= 1
                squares |= padded[y + dy : y + dy + rows, dx : dx + width]
        new[y : y + rows] = next_state[squares]
    return new


def step_by_rule(cells: Cells, rule: NineCellRule, torus: bool) -> Cells:
    """Return the next generation of a (height, width) bool array by a rule of either class."""
    if isinstance(rule, LifeRule):
        return step(cells, rule.birth, rule.survival, torus)
    return step_by_table(cells, rule.table, torus)


def run(cells: Cells, birth: int, survival: int, torus: bool, generations: int) -> Cells:
    """Return what becomes of cells in so many generations."""
    return run_by_rule(cells, LifeRule(birth, survival), torus, generations)


def run_by_rule(cells: Cells, rule: NineCellRule, torus: bool, generations: int) -> Cells:
    """Return what becomes of cells in so many generations of a rule of either class."""
    for _ in range(generations):
        cells = step_by_rule(cells, rule, torus)
    return cells


class ReferenceLifeEngine(BytewiseEngine[NineCellRule]):
    """Rules of two states and nine cells by step_by_rule(), with no more than numpy."""

    def step(self, cells: States, rule: NineCellRule, torus: bool) -> States:
        """Return the next generation."""
        return step_by_rule(cells.view(np.bool_), rule, torus).view(np.uint8)
