"""Density levels of a tile: s3 has a byte for each 8 x 8 cells, s4 for 16 x 16, and so on.

A byte is what lifesim.render draws of such a block: round(255 live / cells), but 0 only
where no cell lives and 255 only where all do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lifesim.render import block_sizes, level_of, level_table

Levels = npt.NDArray[np.uint8]


def levels(counts: Levels, width: int, height: int, top: int) -> list[Levels]:
    """Levels 3 to top of width x height cells, each of shape (rows, columns).

    counts: live cells of the blocks of 8 x 8, uint8 of at least (ceil(height / 8),
    ceil(width / 8)); what is further right is not looked at.
    """
    live: npt.NDArray[np.unsignedinteger] = counts[:, : -(-width // 8)]
    made = []
    for k in range(3, top + 1):
        if k > 3:
            live = _halved(live, k)
        made.append(_level(live, width, height, k))
    return made


def _level(live: npt.NDArray[np.unsignedinteger], width: int, height: int, k: int) -> Levels:
    columns, rows = block_sizes(width, k), block_sizes(height, k)
    if k > 6:
        return level_of(live.astype(np.int64), rows[:, None] * columns)
    side = 1 << k
    level: Levels = level_table(side)[live]
    if columns[-1] != side:
        level[:, -1] = level_of(live[:, -1].astype(np.int64), rows * columns[-1])
    if rows[-1] != side:
        level[-1] = level_of(live[-1].astype(np.int64), rows[-1] * columns)
    return level


def _halved(live: npt.NDArray[np.unsignedinteger], k: int) -> npt.NDArray[np.unsignedinteger]:
    """Sums of 2 x 2, in the narrowest type that holds 4^k."""
    kind = np.uint16 if k <= 7 else np.uint32 if k <= 15 else np.uint64
    rows, columns = live.shape
    pairs = np.zeros((-(-rows // 2), columns), kind)
    pairs += live[0::2]
    pairs[: rows // 2] += live[1::2]
    out = np.zeros((len(pairs), -(-columns // 2)), kind)
    out += pairs[:, 0::2]
    out[:, : columns // 2] += pairs[:, 1::2]
    return out
