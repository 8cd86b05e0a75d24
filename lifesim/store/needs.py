"""Find which old files the tiles that are yet to be computed still read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lifesim.store.tiling import Tiling


class Needs:
    """The old files that a phase of so many generations still needs.

    done: tiles that have been moved on, with None where their cells stayed the same and
    so their file; linked: tiles that need not be.
    """

    def __init__(
        self, tiling: Tiling, halo: int, done: Mapping[int, object], linked: set[int]
    ) -> None:
        self._across = tiling.across
        self._sources = tiling.touched(halo)
        self._readers = np.zeros((tiling.down, tiling.across), np.int64)
        self._renewed = np.zeros((tiling.down, tiling.across), bool)
        for tile in range(len(tiling)):
            if tile not in done and tile not in linked:
                self._readers[self._read_by(tile)] += 1
            elif done.get(tile) is not None:
                self._renewed.flat[tile] = True

    def finish(self, tile: int, *, renewed: bool) -> None:
        """Note that a tile has been moved on, and has a new file if renewed."""
        self._readers[self._read_by(tile)] -= 1
        self._renewed.flat[tile] = renewed

    def free(self) -> list[int]:
        """Return the tiles whose old files nobody needs any more; each is told once."""
        tiles = [int(tile) for tile in np.flatnonzero((self._readers == 0) & self._renewed)]
        self._renewed.flat[tiles] = False
        return tiles

    def _read_by(self, tile: int) -> tuple[Any, ...]:
        """Return the index of the tiles that the window of a tile touches."""
        row, column = divmod(tile, self._across)
        columns, rows = self._sources
        return np.ix_(rows[row], columns[column])
