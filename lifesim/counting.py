"""How many cells of a grid live in each of many blocks of a plane."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid


def add_counts(
    found: npt.NDArray[np.float64],
    cells: BitGrid,
    at: tuple[int, int],
    block: tuple[int, int],
    level: int,
) -> None:
    """Add the live cells of a grid to those of blocks of 2^level x 2^level cells.

    at: coordinates of the grid's top-left cell, the column a multiple of 64. block: of the first of
    the blocks, counted in blocks. Cells outside of all blocks do not count.
    """
    unit = min(level, 3)  # columns of which the live cells are counted at once: 1, or a byte
    octets = cells.words.view(np.uint8)
    if unit < 3:
        units, unit = np.unpackbits(octets, axis=1, bitorder="little"), 0
    else:
        units = np.bitwise_count(octets)
    shift = min(level, 63)  # no coordinate of a grid has more bits
    columns = ((np.arange(units.shape[1], dtype=np.int64) << unit) + at[0]) >> shift
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    sums = np.add.reduceat(units, starts, axis=1, dtype=np.int64)
    rows = ((np.arange(cells.height, dtype=np.int64) + at[1]) >> shift) - block[1]
    columns = columns[starts] - block[0]
    inside = (columns >= 0) & (columns < found.shape[1])
    np.add.at(found, (rows[:, None], columns[inside]), sums[:, inside])
