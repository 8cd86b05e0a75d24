"""Density levels of a tile: s3 has a byte for each 8 x 8 cells, s4 for 16 x 16, and so on.

A byte is what lifesim.render draws of such a block: round(255 live / cells), but 0 only
where no cell lives and 255 only where all do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernels import cells
from lifesim.render import block_sizes, level_of

Levels = npt.NDArray[np.uint8]
Live = npt.NDArray[np.unsignedinteger]


def levels(counts: Levels, width: int, height: int, top: int) -> list[Levels]:
    """Return levels 3 to top of width x height cells, each of shape (rows, columns).

    counts: live cells of the blocks of 8 x 8, uint8 of at least (ceil(height / 8),
    ceil(width / 8)); what is further right is not looked at.
    """
    return climb(counts[:, : -(-width // 8)], width, height, 3, top)[0]


def climb(
    live: Live,
    width: int,
    height: int,
    bottom: int,
    top: int,
    into: Sequence[Levels] = (),
) -> tuple[list[Levels], Live]:
    """Return levels bottom to top, and the live cells of the blocks of the top one.

    live: of the blocks of level `bottom`. into: arrays for the levels, contiguous; new ones where
    there are none.
    """
    made: list[Levels] = []
    for k in range(bottom, top + 1):
        level = into[k - bottom] if into else np.empty(live.shape, np.uint8)
        above = None
        if k <= cells.HIGHEST:
            if k < top:
                shape = -(-len(live) // 2), -(-live.shape[1] // 2)
                above = np.empty(shape, cells.live_type(k + 1))
            cells.climb(live, k, level, above)
            _draw_ends(level, live, width, height, k)
        else:
            sizes = block_sizes(height, k)[:, None] * block_sizes(width, k)
            level[:] = level_of(live.astype(np.int64), sizes)
        made.append(level)
        if k < top:
            live = halved(live, k + 1) if above is None else above
    return made, live


def _draw_ends(level: Levels, live: Live, width: int, height: int, k: int) -> None:
    """Draw the blocks of the last column and row, which may have fewer cells than others."""
    side = 1 << k
    if width % side:
        sizes = block_sizes(height, k) * (width % side)
        level[:, -1] = level_of(live[:, -1].astype(np.int64), sizes)
    if height % side:
        sizes = block_sizes(width, k) * (height % side)
        level[-1] = level_of(live[-1].astype(np.int64), sizes)


def halved(live: Live, k: int) -> Live:
    """Return the live cells of the blocks of level k, from those of level k - 1.

    The result is of kernels.cells.live_type(k).
    """
    kind = cells.live_type(k)
    rows, columns = live.shape
    pairs = np.zeros((-(-rows // 2), columns), kind)
    pairs += live[0::2]
    pairs[: rows // 2] += live[1::2]
    out = np.zeros((len(pairs), -(-columns // 2)), kind)
    out += pairs[:, 0::2]
    out[:, : columns // 2] += pairs[:, 1::2]
    return out
