"""Tiles of 8 x 8 pairs of symbols, and the tiles of 8 symbols that they are computed from."""

from __future__ import annotations

import numpy as np

from ..rules import Rules
from .lists import Ints

TILE = 8
WIDE = 8  # tiles


def tiles(rules: Rules) -> tuple[Ints, Ints]:
    """Return the first B and C of each tile with pairs, and which tile a place in the grid is.

    Four by four they lie side by side, so that warps share symbols; and of WIDE of them all
    that have the same symbols on the right come together, so that these are still in a cache.
    """
    n = rules.symbols
    side = -(-n // TILE)
    used = np.zeros((side, side), np.bool_)
    b, c = (rules.binary[:, 1:] // TILE).T
    used[b, c] = True
    if not used.any():
        used[0, 0] = True
    x, y = np.nonzero(used)
    order = np.lexsort((y, x, x // 4, y // 4, x // WIDE))
    x, y = x[order], y[order]
    tile_of = np.zeros((side, side), np.int64)
    tile_of[x, y] = np.arange(x.size)
    return np.stack([x, y], axis=1) * TILE, tile_of


def slots(tiles: Ints, passes: int, warps: int) -> tuple[Ints, Ints, int]:
    """Deal tiles of symbols to places in a step of the ring, and say which each warp reads.

    Returns the slots that a warp reads, left | right << 16: (passes, warps); the runs of
    tiles that follow one another in a cell and in slots, first tile | right << 7 | first
    slot << 8 | tiles << 16, or 0: (passes, runs); and the number of slots.
    """
    codes = np.zeros((passes, warps), np.int64)
    runs: list[list[int]] = []
    most = 0
    for number in range(passes):
        b, c = tiles[number * warps : (number + 1) * warps].T // TILE
        left, b_slot = np.unique(b, return_inverse=True)
        right, c_slot = np.unique(c, return_inverse=True)
        codes[number] = left.size << 16  # warps without a tile
        codes[number, : b.size] = b_slot | left.size + c_slot << 16
        tile = np.concatenate([left, right | 1 << 7])
        first = np.flatnonzero(np.diff(tile, prepend=-2) != 1)
        if left.size not in first:
            first = np.sort(np.append(first, left.size))
        size = np.diff(first, append=tile.size)
        runs.append((tile[first] | first << 8 | size << 16).tolist())
        most = max(most, tile.size)
    held = np.zeros((passes, max(map(len, runs))), np.int64)
    for number, some in enumerate(runs):
        held[number, : len(some)] = some
    return codes, held, most
