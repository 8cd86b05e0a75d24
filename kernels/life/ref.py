"""Life as its definition reads, one byte a cell: the oracle for every other implementation, and
the slow engine that always works."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.life.bytewise import BytewiseEngine, States
from kernels.life.rules import LifeRule

Cells = npt.NDArray[np.bool_]


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


def run(cells: Cells, birth: int, survival: int, torus: bool, generations: int) -> Cells:
    """Return what becomes of cells in so many generations."""
    for _ in range(generations):
        cells = step(cells, birth, survival, torus)
    return cells


class ReferenceLifeEngine(BytewiseEngine[LifeRule]):
    """Life by step(), with no more than numpy."""

    def step(self, cells: States, rule: LifeRule, torus: bool) -> States:
        """Return the next generation."""
        return step(cells.view(np.bool_), rule.birth, rule.survival, torus).view(np.uint8)
