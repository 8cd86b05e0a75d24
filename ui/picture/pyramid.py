"""How densely blocks of cells live, at every scale, of a universe in memory.

Level k holds a byte for each block of 2^k x 2^k cells, from k = 3 up to one block for all: 255
times the live share, a half rounded up, but 0 only where no cell lives and 255 only where all
do, as lifesim.render draws. Blocks at the right and lower edge hold what the universe leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.cells import densities
from kernels.cells.bands import for_bands
from lifesim.grid import BitGrid
from lifesim.render import block_sizes, level_of

Levels = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]
Live = npt.NDArray[np.unsignedinteger[Any]]

FIRST = 3
_FAR = 6  # up to here levels are made band by band, while the cells are in the cache
_SIDE = 1 << _FAR


class Pyramid:
    """Reads the cells of a grid once, with all cores.

    progress: is called with the number of rows that are done, from any thread, and may raise.
    """

    def __init__(self, grid: BitGrid, progress: Callable[[int], None] | None = None) -> None:
        self.width, self.height = grid.width, grid.height
        self.top = FIRST
        while max(self.width, self.height) > 1 << self.top:
            self.top += 1
        top = max(self.top, _FAR)
        self._levels = [np.empty(self._shape(k), np.uint8) for k in range(FIRST, top + 1)]
        counts = np.empty(self._shape(_FAR), np.int64)
        bands = -(-self.height // _SIDE)

        def read(first: int, end: int) -> None:
            # for_bands() counts in rows of a pixel of the far level.
            for band in range(first, end):
                self._read_band(grid, band, counts[band])
                if progress:
                    progress(min(self.height, (band + 1) * _SIDE))

        for_bands(read, bands, grid.words.shape[1] * _SIDE)
        self.population = int(counts.sum())
        for k in range(_FAR + 1, top + 1):
            counts = _quartered(counts)
            sizes = block_sizes(self.height, k)[:, None] * block_sizes(self.width, k)
            self.level(k)[:] = level_of(counts, sizes)

    def _read_band(self, grid: BitGrid, band: int, counts: Counts) -> None:
        """Read levels FIRST to _FAR of 64 rows; their live cells by blocks of the last into
        counts."""
        words = grid.words[band * _SIDE : (band + 1) * _SIDE]
        if len(words) < _SIDE:
            words = np.concatenate(
                [words, np.zeros((_SIDE - len(words), words.shape[1]), np.uint64)]
            )
        bright = np.empty((_SIDE >> FIRST, 8 * words.shape[1]), np.uint8)
        densities(words, 0, FIRST, bright)
        # Of 64 cells, live ones are the byte + 1 over 4; the sum of four blocks fits in a byte.
        live: Live = (bright >> 2) + ((bright & 3) == 3)
        self._put(FIRST, band, live, bright)
        for k, wider in ((4, np.uint16), (5, np.uint32), (6, np.uint64)):
            pairs: Live = (live[0::2] + live[1::2]).view(np.dtype(wider))
            half = 4 * pairs.itemsize
            live = (pairs & wider((1 << half) - 1)) + (pairs >> wider(half))
            # 255 * live + 2^(2k - 1) of level 4 is below 2^16.
            bright = (live * wider(255) + wider(1 << (2 * k - 1)) >> wider(2 * k)).astype(np.uint8)
            self._put(k, band, live, bright)
        counts[:] = live[0, : counts.size]

    def _put(self, k: int, band: int, live: Live, bright: Levels) -> None:
        rows, columns = _SIDE >> k, self._shape(k)[1]
        target = self.level(k)[band * rows : (band + 1) * rows]
        live = live[: len(target), :columns]
        # Blocks neither empty nor full keep clear of both ends; of 64 cells they do.
        np.maximum(bright[: len(target), :columns], live > 0, out=target)
        np.minimum(target, 255 - (live < 1 << 2 * k).view(np.uint8), out=target)
        heights, widths = block_sizes(self.height, k), block_sizes(self.width, k)
        lines = heights[band * rows : (band + 1) * rows]
        if widths[-1] < 1 << k:
            target[:, -1] = level_of(live[:, -1].astype(np.int64), lines * widths[-1])
        if lines[-1] < 1 << k:
            target[-1] = level_of(live[-1].astype(np.int64), lines[-1] * widths)

    def _shape(self, k: int) -> tuple[int, int]:
        return -(-self.height >> k), -(-self.width >> k)

    def level(self, k: int) -> Levels:
        """Return a level, uint8 (ceil(height / 2^k), ceil(width / 2^k)), k from FIRST to top."""
        return self._levels[k - FIRST]


def _quartered(counts: Counts) -> Counts:
    """Return sums of blocks of 2 x 2; the last ones may be parts."""
    rows = np.add.reduceat(counts, np.arange(0, len(counts), 2), axis=0)
    sums: Counts = np.add.reduceat(rows, np.arange(0, rows.shape[1], 2), axis=1)
    return sums
