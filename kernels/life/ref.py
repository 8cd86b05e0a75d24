"""Life as its definition reads: the oracle for every other implementation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.bool_]


def step(cells: Cells, birth: int, survival: int, torus: bool) -> Cells:
    """One generation of a (height, width) bool array.

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
    """How many of the eight cells around each are live."""
    padded = np.pad(cells.view(np.uint8), 1, mode="wrap" if torus else "constant")
    height, width = cells.shape
    count = np.zeros(cells.shape, np.uint8)
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            if (dx, dy) != (1, 1):
                count += padded[dy : dy + height, dx : dx + width]
    return count


def run(cells: Cells, birth: int, survival: int, torus: bool, generations: int) -> Cells:
    """`generations` times step()."""
    for _ in range(generations):
        cells = step(cells, birth, survival, torus)
    return cells
