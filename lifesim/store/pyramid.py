"""Density levels of a tile: s3 has a byte for each 8 x 8 cells, s4 for 16 x 16, and so on.

A byte is what lifesim.render draws of such a block: round(255 live / cells), but 0 only
where no cell lives and 255 only where all do.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from lifesim.render import block_sizes, level_of, level_table

Levels = npt.NDArray[np.uint8]
Live = npt.NDArray[np.unsignedinteger]

_TABLED = 6  # levels whose blocks have few enough cells for a table


def levels(counts: Levels, width: int, height: int, top: int) -> list[Levels]:
    """Return levels 3 to top of width x height cells, each of shape (rows, columns).

    counts: live cells of the blocks of 8 x 8, uint8 of at least (ceil(height / 8),
    ceil(width / 8)); what is further right is not looked at.
    """
    return climb(counts[:, : -(-width // 8)], width, height, 3, top)[0]


def climb(live: Live, width: int, height: int, bottom: int, top: int) -> tuple[list[Levels], Live]:
    """Return levels bottom to top, and the live cells of the blocks of the top one.

    live: of the blocks of level `bottom`.
    """
    made = []
    for k in range(bottom, top + 1):
        if k > bottom:
            live = halved(live, k)
        made.append(_level(live, width, height, k))
    return made, live


def _level(live: Live, width: int, height: int, k: int) -> Levels:
    side = 1 << k
    if k > _TABLED:
        return level_of(
            live.astype(np.int64), block_sizes(height, k)[:, None] * block_sizes(width, k)
        )
    level: Levels = np.take(_table(k), live)
    if width % side:
        cells = block_sizes(height, k) * (width % side)
        level[:, -1] = level_of(live[:, -1].astype(np.int64), cells)
    if height % side:
        cells = block_sizes(width, k) * (height % side)
        level[-1] = level_of(live[-1].astype(np.int64), cells)
    return level


@cache
def _table(k: int) -> Levels:
    return level_table(1 << k)


def halved(live: Live, k: int) -> Live:
    """Return the live cells of the blocks of level k, from those of level k - 1.

    The result has the narrowest type that holds 4^k.
    """
    kind = np.uint16 if k <= 7 else np.uint32 if k <= 15 else np.uint64
    rows, columns = live.shape
    pairs = np.zeros((-(-rows // 2), columns), kind)
    pairs += live[0::2]
    pairs[: rows // 2] += live[1::2]
    out = np.zeros((len(pairs), -(-columns // 2)), kind)
    out += pairs[:, 0::2]
    out[:, : columns // 2] += pairs[:, 1::2]
    return out
