"""Planes without bounds on disk: where their cells live.

The tiles of such a universe hold what lives and some dead room around it. Coordinates are
those of the pattern that it began as; the manifest's corner is where the first tile begins.
"""

from __future__ import annotations

import numpy as np

from lifesim.colours import Pixels, colours_of
from lifesim.digests import finish, partial
from lifesim.grid import BitGrid, Box, bytes_of
from lifesim.render import Levels
from lifesim.states import as_planes
from lifesim.store import read
from lifesim.store.source import StoredUniverse

_PIXELS = 1 << 24  # of a density level that is looked at in one piece
_BAND_BYTES = 32 << 20


def live_box(universe: StoredUniverse) -> Box | None:
    """Return the smallest rectangle that holds every live cell, by the tiles' coordinates;
    None where none lives. Raises LifesimError between two generations."""
    if not universe.population():
        return None
    whole, scale = _some(universe), 3
    while whole.width * whole.height >> 2 * scale > _PIXELS:
        if scale == universe.manifest.form.top:
            break
        scale += 1
    rough = _rough(universe, whole, scale)
    side = 1 << scale
    high, wide = min(side, rough.height), min(side, rough.width)
    top = _box(universe, Box(rough.x, rough.y, rough.width, high))
    low = rough.y + rough.height - high
    bottom = _box(universe, Box(rough.x, low, rough.width, high))
    left = _box(universe, Box(rough.x, rough.y, wide, rough.height))
    end = rough.x + rough.width - wide
    right = _box(universe, Box(end, rough.y, wide, rough.height))
    x, y = left.x, top.y
    return Box(x, y, right.x + right.width - x, bottom.y + bottom.height - y)


def _some(universe: StoredUniverse) -> Box:
    """Return the tiles in which something lives, and those between."""
    tiles, across = universe.manifest.tiles, universe.tiling.across
    live = [i for i, record in enumerate(tiles) if record.population]
    rows, columns = universe.tiling.rows, universe.tiling.columns
    x, y = columns[min(i % across for i in live)], rows[live[0] // across]
    right, bottom = columns[max(i % across for i in live) + 1], rows[live[-1] // across + 1]
    return Box(x, y, right - x, bottom - y)


def _rough(universe: StoredUniverse, whole: Box, scale: int) -> Box:
    """Return a rectangle of whole blocks around what lives, each side of which touches some of
    it."""
    side = 1 << scale
    x0, y0 = whole.x // side * side, whole.y // side * side
    width, height = whole.x + whole.width - x0, whole.y + whole.height - y0
    rows = max(1, _PIXELS * side // width) * side
    columns = np.zeros(-(-width // side), np.bool_)
    found: list[int] = []
    for y in range(0, height, rows):
        band = Box(x0, y0 + y, width, min(rows, height - y))
        live = read.levels(universe, band, scale) > 0
        columns |= live.any(axis=0)
        found += (y // side + np.flatnonzero(live.any(axis=1))).tolist()
    across = np.flatnonzero(columns)
    x, y = x0 + int(across[0]) * side, y0 + found[0] * side
    right = min(universe.width, x0 + (int(across[-1]) + 1) * side)
    bottom = min(universe.height, y0 + (found[-1] + 1) * side)
    return Box(x, y, right - x, bottom - y)


def _box(universe: StoredUniverse, box: Box) -> Box:
    """Return the box of live cells in a rectangle that has some."""
    live = read.region(universe, box).bounding_box()
    assert live
    return Box(box.x + live.x, box.y + live.y, live.width, live.height)


def frame(universe: StoredUniverse) -> Box:
    """Return the smallest rectangle that holds every live cell, by the plane's coordinates;
    1x1 where none lives."""
    live, corner = live_box(universe), universe.manifest.corner
    assert corner
    if live is None:
        return Box(0, 0, 1, 1)
    return Box(live.x + corner[0], live.y + corner[1], live.width, live.height)


class PlanePicture:
    """A universe to be drawn, by the coordinates of a plane without bounds."""

    def __init__(self, universe: StoredUniverse) -> None:
        self._universe = universe

    def frame(self) -> Box:
        """Return the rectangle that holds it: between two generations all of its tiles."""
        universe = self._universe
        if universe.manifest.corner and not universe.is_whole:
            return Box(*universe.manifest.corner, universe.width, universe.height)
        return universe.frame()

    def levels(self, box: Box, scale_log2: int) -> Levels:
        """Return how densely the cells of a region live (levels() of this module)."""
        return levels(self._universe, box, scale_log2)

    def pixels(self, box: Box, scale_log2: int, palette: str) -> Pixels:
        """Return a region in colours (pixels() of this module)."""
        return pixels(self._universe, box, scale_log2, palette)


def levels(universe: StoredUniverse, box: Box, scale_log2: int) -> Levels:
    """Tell how densely the cells of a region live (lifesim.store.read.levels), which is given
    by the plane's coordinates where the universe is one without bounds."""
    return read.levels(universe, inner(universe, box), scale_log2)


def pixels(universe: StoredUniverse, box: Box, scale_log2: int, palette: str) -> Pixels:
    """Return a region in the colours of its rule's states, by coordinates as of levels(). Raises
    RenderError for an unknown palette, and as lifesim.colours.colours_of()."""
    colours = colours_of(universe.manifest.rule, palette)
    return read.pixels(universe, inner(universe, box), scale_log2, colours)


def inner(universe: StoredUniverse, box: Box) -> Box:
    """Return a region by the tiles' coordinates, which is given by the plane's where the universe
    is one without bounds."""
    x, y = universe.manifest.corner or (0, 0)
    return Box(box.x - x, box.y - y, box.width, box.height)


def grid(universe: StoredUniverse) -> BitGrid:
    """Return the cells of frame(). Raises GridError where memory does not hold them."""
    live, planes = live_box(universe), universe.manifest.form.planes
    return BitGrid(1, 1, planes=planes) if live is None else read.region(universe, live)


def digest(universe: StoredUniverse) -> str:
    """Return the digest of the cells of frame(), as of a universe that is no larger."""
    live = live_box(universe)
    if live is None:
        return finish(1, 1, 0)
    planes = universe.manifest.form.planes
    rows = max(1, _BAND_BYTES // bytes_of(live.width + 64, 1, planes))
    totals = [0] * planes
    for y in range(0, live.height, rows):
        count = min(rows, live.height - y)
        part = read.region(universe, Box(live.x, live.y + y, live.width, count))
        words = as_planes(part.words)
        totals = [total + partial(words[:, i], y, 0) for i, total in enumerate(totals)]
    return finish(live.width, live.height, *totals)
