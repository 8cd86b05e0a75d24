"""Pictures in colours of a universe on disk.

Near by a pixel is the mean of the colours of its cells, as of a universe in memory, and so it is at
all scales of a universe that is small or has no pyramid. From afar the cells would take too long to
be read: the pyramid tells how densely they live, and a sample of them in what colours they do on
average over the universe. A pixel is that far from the colour of dead cells to that average as its
cells are dense. So pictures keep brightness and hue where cells near by give way to the pyramid,
unless states are mixed otherwise there than on average.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lifesim.colours import Colours, Pixels
from lifesim.grid import Box
from ui.disk.colour_parts import ColouredSnapshot
from ui.disk.part_cache import PartCache
from ui.disk.tiles import Drawing, Levels, TileSource
from ui.picture.coloured import StatesSource
from ui.picture.pyramid import FIRST


class ColouredTiles(TileSource):
    """A universe whose cells have colours, as far as it has been read; a ColouredSource."""

    def __init__(self, parts: PartCache, patience: float, view: ColouredSnapshot) -> None:
        """Read nothing yet. patience, view: as of TileSource."""
        super().__init__(parts, patience, view)
        self._coloured, self.colours = view, view.colours

    def coloured(self, box: Box, scale: int) -> Levels | Pixels:
        """Return states or colours, as ColouredSource.coloured() does; what is missing is asked
        for, and is less sharp until it comes."""

        def drawn() -> tuple[Levels, Drawing]:
            drawing = _ColouredDrawing(self._parts, self._coloured)
            return drawing.coloured(box, scale), drawing

        return self._patiently(drawn)


class _ColouredDrawing(Drawing):
    """One picture in colours."""

    def __init__(self, parts: PartCache, view: ColouredSnapshot) -> None:
        super().__init__(parts, view)
        self._seen = view

    def coloured(self, box: Box, scale: int) -> Levels | Pixels:
        """Return states or colours, as ColouredSource.coloured() does."""
        if scale < FIRST:
            cells, at, holes = self._near(box)
            picture = StatesSource(cells, self._seen.universe.rule).coloured(at, scale)
            if holes:
                picture = self._seen.colours[picture] if scale == 0 else picture
                self._fill(picture, holes, 0, box, scale, FIRST)
            return picture
        if not self._seen.is_exact(scale):
            return self._shades()[self._far(box, scale)]
        units = Box(box.x >> scale, box.y >> scale, -(-box.width >> scale), -(-box.height >> scale))
        rows = np.empty((units.height, 3, units.width), np.uint8)
        rows[:] = self._seen.colours[0][:, None]
        holes = self._put(rows, units, self._seen.colour_pieces(units, scale))
        picture = np.ascontiguousarray(np.moveaxis(rows, 1, 2))
        if holes:
            self._fill(picture, holes, scale, box, scale, scale)
        return picture

    def _as_in(self, picture: Levels, levels: Levels) -> Levels:
        """Return levels as they are shown in a picture: in one in colours, as shades."""
        return levels if picture.ndim == 2 else self._shades()[levels]

    def _shades(self) -> Colours:
        """Return the colours of levels, uint8 (256, 3). Samples that are not at hand are asked
        for."""
        found, missing = self._parts.look(self._seen, self._seen.samples)
        self.missing = missing + self.missing
        totals = sum((part.view(np.int64)[0] for _, part in found), np.zeros(4, np.int64))
        return shades(self._seen.colours, totals)


def shades(colours: Colours, totals: npt.NDArray[np.int64]) -> Colours:
    """Return the colours of blocks by how densely their cells live, 0 to 255: uint8 (256, 3).

    colours: of the states. totals: by how much the red, green and blue of some live cells together
    are beyond those of dead cells, and how many they are; where there are none, cells live in
    state 1.
    """
    dead = colours[0].astype(np.float64)
    beyond = totals[:3] / totals[3] if totals[3] else colours[1] - dead
    mixed = dead + np.arange(256)[:, None] / 255 * beyond
    return np.asarray(np.clip(np.floor(mixed + 0.5), 0, 255), np.uint8)


def tile_source(parts: PartCache, patience: float = 0.0) -> TileSource:
    """Return what pictures of a universe on disk are drawn from, in colours where its cells have
    some. patience: as of TileSource."""
    view = parts.view
    if isinstance(view, ColouredSnapshot):
        return ColouredTiles(parts, patience, view)
    return TileSource(parts, patience, view)
