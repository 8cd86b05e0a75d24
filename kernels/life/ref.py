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
    padded = np.pad(cells.astype(np.uint8), 1, mode="wrap" if torus else "constant")
    height, width = cells.shape
    count = np.zeros(cells.shape, np.uint8)
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            if (dx, dy) != (1, 1):
                count += padded[dy : dy + height, dx : dx + width]
    born = np.array([birth >> n & 1 for n in range(9)], np.bool_)
    kept = np.array([survival >> n & 1 for n in range(9)], np.bool_)
    return np.where(cells, kept[count], born[count])


def run(cells: Cells, birth: int, survival: int, torus: bool, generations: int) -> Cells:
    """`generations` times step()."""
    for _ in range(generations):
        cells = step(cells, birth, survival, torus)
    return cells
