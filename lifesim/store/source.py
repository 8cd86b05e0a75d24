"""The part of a universe on disk that reading its tiles needs."""

from __future__ import annotations

from typing import Protocol

from lifesim.grid import Box
from lifesim.store.manifest import Manifest
from lifesim.store.tilefile import TileRecord
from lifesim.store.tilereader import TileReader
from lifesim.store.tiling import Tiling


class StoredUniverse(Protocol):
    """A universe on disk, as those see it who read its tiles (lifesim.store.universe.Universe)."""

    @property
    def path(self) -> str:
        """Return the path of the directory."""

    @property
    def manifest(self) -> Manifest:
        """Return the facts of the last generation that was whole."""

    @property
    def tiling(self) -> Tiling:
        """Return how it is cut into tiles."""

    @property
    def width(self) -> int:
        """Return the number of columns that the tiles hold."""

    @property
    def height(self) -> int:
        """Return the number of rows that the tiles hold."""

    @property
    def is_whole(self) -> bool:
        """Tell whether all of the manifest's generation is there to be read."""

    def population(self) -> int:
        """Return the number of live cells. Raises LifesimError between two generations."""

    def frame(self) -> Box:
        """Return the rectangle of its cells (Universe.frame)."""

    def record(self, tile: int, *, newest: bool = False) -> TileRecord:
        """Return the facts of a tile's file, or of its newest."""

    def reader(self, tile: int, *, newest: bool = False) -> TileReader:
        """Open the file of record()."""

    def refresh(self) -> None:
        """Look again at what is on disk."""
