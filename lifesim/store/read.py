"""Looking at universes on disk: cells of any region, and densities through the pyramid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.cells import survey
from lifesim.colours import Colours, Pixels, pixels_of
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, Box, GridError, bytes_of, check_size
from lifesim.render import Levels, block_sizes, density_levels, image_size, level_of
from lifesim.states import live_words
from lifesim.store.source import StoredUniverse
from lifesim.store.state import disk_errors
from lifesim.store.tilefile import Dataset
from lifesim.store.tilereader import TileReader

_BAND_BYTES = 64 << 20
_TRIES = 5  # to read while another process moves the universe on


def region(universe: StoredUniverse, box: Box) -> BitGrid:
    """Return the cells of a region of the universe.

    Between two generations they are those of the newest file of each tile. Raises GridError
    where the region leaves it or is more than memory holds, DamagedDataError.
    """
    x, y, width, height = box
    if x < 0 or y < 0 or x + width > universe.width or y + height > universe.height:
        raise GridError(
            f"region {width}x{height} at ({x}, {y}) leaves the "
            f"{universe.width}x{universe.height} universe"
        )
    planes = universe.manifest.form.planes
    check_size(width, height, copies=2 * planes)
    first = x // 64 * 64
    wide = BitGrid(min(universe.width, -(-(x + width) // 64) * 64) - first, height, planes=planes)

    def copy(reader: TileReader, tile: Box, part: Box) -> None:
        cells = reader.sets[0]
        w0, w1 = part.x // 64 - tile.x // 64, -(-(part.x + part.width) // 64) - tile.x // 64
        to = (part.x - first) // 64
        for top, rows in _rows(reader, cells, part.y - tile.y, part.height):
            words = cells.rows_of(rows)[..., w0:w1]
            at = tile.y + top - y
            wide.words[at : at + len(words), ..., to : to + w1 - w0] = words

    _for_tiles(universe, Box(first, y, wide.width, height), copy)
    if (first, wide.width) == (x, width):
        return wide
    return wide.crop(Box(x - first, 0, width, height))


def whole(universe: StoredUniverse) -> BitGrid:
    """Return all cells, where memory holds them. Raises LifesimError between two generations."""
    universe.population()  # which needs a whole generation
    return region(universe, _held(universe))


def levels(universe: StoredUniverse, box: Box, scale_log2: int) -> Levels:
    """Return how densely the cells of a region live: as lifesim.render.density_levels.

    From scale 1:8 on the corner of the region is moved to a multiple of the scale, so
    that the levels of the pyramid serve, where there is one. Beyond its top, means of
    the top are taken, and are at most one off.
    """
    across, down = image_size(box.width, box.height, scale_log2)
    if scale_log2 < 3:
        return _from_region(universe, box, scale_log2, across, down)
    side = 1 << scale_log2
    box = Box(box.x // side * side, box.y // side * side, across * side, down * side)
    picture = np.zeros((down, across), np.uint8)
    inside = box.common(_held(universe))
    if inside is None:
        return picture
    target = picture[
        (inside.y - box.y) >> scale_log2 : -(-(inside.y + inside.height - box.y) >> scale_log2),
        (inside.x - box.x) >> scale_log2 : -(-(inside.x + inside.width - box.x) >> scale_log2),
    ]
    top = universe.manifest.form.top
    if not top:
        target[:] = _from_cells(universe, inside, scale_log2)
    elif scale_log2 <= top:
        target[:] = _from_pyramid(universe, inside, scale_log2)
    else:
        target[:] = _shrunk(_from_pyramid(universe, inside, top), inside, top, scale_log2)
    return picture


def pixels(universe: StoredUniverse, box: Box, scale_log2: int, colours: Colours) -> Pixels:
    """Return a region in colours (lifesim.colours.pixels_of), made of the cells themselves."""
    return pixels_of(_Bands(universe, box), box, scale_log2, colours)


class _Bands:
    """The cells of a universe, read in bands of the rows of a region, from the top on."""

    def __init__(self, universe: StoredUniverse, box: Box) -> None:
        self._universe = universe
        self.width, self.height = universe.width, universe.height
        self._box = box.common(_held(universe))
        self._held: tuple[Box, BitGrid] | None = None

    def crop(self, box: Box) -> BitGrid:
        """Return the cells in a part of the region."""
        assert self._box
        band = self._held[0] if self._held else Box(0, 0, 0, 0)
        if not band.y <= box.y <= box.y + box.height <= band.y + band.height:
            left, top, width, height = self._box
            row = bytes_of(width + 64, 1, self._universe.manifest.form.planes)
            rows = min(max(box.height, _BAND_BYTES // row), top + height - box.y)
            band = Box(left, box.y, width, rows)
            self._held = band, region(self._universe, band)
        assert self._held
        return self._held[1].crop(Box(box.x - band.x, box.y - band.y, box.width, box.height))


def _from_region(
    universe: StoredUniverse, box: Box, scale_log2: int, across: int, down: int
) -> Levels:
    picture = np.zeros((down, across), np.uint8)
    inside = box.common(_held(universe))
    if inside is None:
        return picture
    shift = Box(box.x - inside.x, box.y - inside.y, box.width, box.height)
    return density_levels(region(universe, inside), shift, scale_log2)


def _held(universe: StoredUniverse) -> Box:
    """Return the cells that the tiles hold, by their own coordinates."""
    return Box(0, 0, universe.width, universe.height)


def _from_pyramid(universe: StoredUniverse, box: Box, k: int) -> Levels:
    """Return level k of a region whose corner is a multiple of 2^k."""
    left, top = box.x >> k, box.y >> k
    picture = np.zeros((-(-box.height >> k), -(-box.width >> k)), np.uint8)

    def copy(reader: TileReader, tile: Box, part: Box) -> None:
        s = reader.sets[k - 2]
        x0, x1 = (part.x - tile.x) >> k, -(-(part.x + part.width - tile.x) >> k)
        y0, y1 = (part.y - tile.y) >> k, -(-(part.y + part.height - tile.y) >> k)
        for at, rows in _rows(reader, s, y0, y1 - y0):
            part_rows = s.rows_of(rows)[:, x0:x1]
            to_y, to_x = (tile.y >> k) + at - top, (part.x >> k) - left
            picture[to_y : to_y + len(part_rows), to_x : to_x + x1 - x0] = part_rows

    _for_tiles(universe, box, copy)
    return picture


def _shrunk(picture: Levels, box: Box, k: int, scale: int) -> Levels:
    """Return the means of pixels of level k, weighed by their cells, at a coarser scale."""
    heights, widths = block_sizes(box.height, k), block_sizes(box.width, k)
    weights = heights[:, None] * widths.astype(np.float64)
    group = 1 << (scale - k)
    rows, columns = (np.arange(0, n, group) for n in picture.shape)

    def summed(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        by_row: npt.NDArray[np.float64] = np.add.reduceat(values, rows, axis=0)
        total: npt.NDArray[np.float64] = np.add.reduceat(by_row, columns, axis=1)
        return total

    mean = summed(picture * weights) / summed(weights)
    inner = np.clip(np.rint(mean), mean > 0, 255 - (mean < 255))
    return np.asarray(inner, np.uint8)


def _from_cells(universe: StoredUniverse, box: Box, k: int) -> Levels:
    """Count level k from the cells, by bands, of a region whose corner is a multiple of 2^k."""
    columns, lines = block_sizes(box.width, k), block_sizes(box.height, k)
    live = np.zeros((len(lines), len(columns)), np.int64)
    first = box.x // 64 * 64
    skip, per = (box.x - first) // 8, 1 << (k - 3)
    width = min(universe.width, -(-(box.x + box.width) // 64) * 64) - first
    step = max(8, _BAND_BYTES // (width // 8 + 8) // 8 * 8)
    if per > 1:
        step = max(8, min(step, 1 << 20))
    for y in range(0, box.height, step):
        part = region(universe, Box(first, box.y + y, width, min(step, box.height - y)))
        counts = np.empty((-(-part.height // 8), 8 * part.words.shape[-1]), np.uint8)
        survey(live_words(part.words), 0, 0, counts)
        counts = counts[:, skip : skip + -(-box.width // 8)]
        sums = np.add.reduceat(counts, np.arange(0, counts.shape[1], per), axis=1, dtype=np.int64)
        np.add.at(live, (y // 8 + np.arange(len(sums))) // per, sums)
    return level_of(live, lines[:, None] * columns)


def _rows(reader: TileReader, s: Dataset, first: int, count: int) -> Iterator[tuple[int, Levels]]:
    """Yield rows of a dataset, a chunk's at a time: (first row, their bytes)."""
    at = first
    while at < first + count:
        chunk, skip = divmod(at, s.chunk_rows)
        some = min(first + count - at, s.chunk_rows - skip)
        data = reader.read(s, chunk)
        yield at, data[skip * s.row_bytes : (skip + some) * s.row_bytes]
        at += some


def _for_tiles(
    universe: StoredUniverse, box: Box, use: Callable[[TileReader, Box, Box], None]
) -> None:
    """Call use(reader, the tile's box, the part of box in it) for every tile that box touches."""
    tiling = universe.tiling
    for tile in tiling.within(box):
        cells = tiling.box(tile)
        part = cells.common(box)
        assert part
        for tries in range(_TRIES):
            record = universe.record(tile, newest=not universe.is_whole)
            try:
                reader = universe.reader(tile, newest=not universe.is_whole)
                try:
                    with disk_errors(universe.path):
                        use(reader, cells, part)
                finally:
                    reader.close()
                break
            except DamagedDataError:
                # Whoever moves the universe on has removed the file for a newer one.
                universe.refresh()
                if universe.tiling != tiling:
                    raise LifesimError(
                        f"{universe.path}: it has grown meanwhile: look again"
                    ) from None
                same = universe.record(tile, newest=not universe.is_whole) == record
                if same or tries == _TRIES - 1:
                    raise
