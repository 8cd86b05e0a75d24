"""Parts of tile files: where they lie, and how they are read.

At a level, a universe is bytes in rows: of level 0, the cells, 8 to a byte; of level k, from 3
on, densities of blocks of 2^k x 2^k. A stripe is so many rows as are read at once: a chunk of a
tile's file, or, of levels that no file holds, rows of pixels as wide as the universe. A part is
SLAB columns of a stripe: uint8 (rows, columns), or, of cells in several bit planes, (rows, planes,
columns). What else can be read of a universe in colours is in ui/disk/colour_parts.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lifesim.grid import Box
from lifesim.render import level_of
from lifesim.store import read
from lifesim.store.tilefile import Dataset, TileRecord, datasets
from lifesim.store.tilereader import TileReader
from lifesim.store.universe import Universe, disk_errors

Levels = npt.NDArray[np.uint8]

SLAB = 2048  # bytes
_STRIPE_BYTES, _STRIPE_CELLS = 1 << 20, 1 << 31  # of a level that no file holds
NOWHERE = -1  # the tile of what no file holds
FILE, COLOURS, SAMPLE = "file", "colours", "sample"  # kinds of stripes


class Stripe(NamedTuple):
    """A chunk of a dataset of a file, or some rows of pixels where no file holds the level.

    number: of the chunk in its dataset, or of the rows of pixels. kind: FILE is cells or densities;
    COLOURS and SAMPLE are of ui/disk/colour_parts.py.
    """

    tile: int
    level: int
    number: int
    kind: str = FILE


class Wanted(NamedTuple):
    """A part to be read: columns first to last of slabs."""

    first: int
    last: int


class TilePiece(NamedTuple):
    """The place of a part, in rows and columns of its level. depth: bytes at each place."""

    stripe: Stripe
    slab: int
    top: int
    left: int
    rows: int
    columns: int
    depth: int = 1


class Snapshot:
    """A universe as its directory was at one moment. Nobody changes it.

    records: of each tile, the file that is to be seen. cut: the same object while stripes and
    parts lie where they did. The one before lends what is the same still.
    """

    def __init__(self, universe: Universe, before: Snapshot | None = None) -> None:
        self.universe = universe
        self.width, self.height = universe.width, universe.height
        self.at = universe.manifest.corner or (0, 0)
        self.tiling, self.form = universe.tiling, universe.manifest.form
        newest = not universe.is_whole
        self.records = [universe.record(i, newest=newest) for i in range(len(self.tiling))]
        if before and len(before.records) == len(self.records):
            pairs = zip(before.records, self.records, strict=True)
            self.records = [old if old == new else new for old, new in pairs]
        same = before and (
            (before.tiling, before.form, before.universe.rule)
            == (self.tiling, self.form, universe.rule)
        )
        self.cut: object = before.cut if before and same else object()

    def tag(self, stripe: Stripe) -> object:
        """Return an object that is another one if the stripe's bytes may be others."""
        return self if stripe.tile == NOWHERE else self.records[stripe.tile]

    @cached_property
    def _brightness(self) -> Levels:
        """Return a byte for each tile."""
        live = np.array([record.population for record in self.records], np.int64)
        sizes = np.diff(self.tiling.rows)[:, None] * np.diff(self.tiling.columns)
        return level_of(live.reshape(sizes.shape), sizes)

    def coarsest(self, box: Box, level: int) -> Levels:
        """Return a level of a region, as far as can be told from what whole tiles hold."""
        picture = self._brightness
        for axis, edges, at, length in (
            (0, self.tiling.rows, box.y, box.height),
            (1, self.tiling.columns, box.x, box.width),
        ):
            starts = at + (np.arange(-(-length >> level)) << level)
            tiles = np.searchsorted(edges, starts, side="right") - 1
            last = int(np.searchsorted(edges, at + length, side="left"))
            # Of tiles smaller than pixels the brightest one, else the one that is there.
            picture = np.maximum.reduceat(picture.take(range(last), axis), tiles, axis)
        return picture

    def pieces(
        self, box: Box, level: int
    ) -> Iterator[tuple[TileRecord | None, Iterator[TilePiece]]]:
        """Yield the parts that a region of a level touches, tile by tile; None is of no tile.

        box: in rows and columns of the level.
        """
        if level and not 3 <= level <= self.form.top:
            everything = Box(0, 0, self.width, self.height)
            rows = stripe_rows(self.width, level)
            yield None, pixel_pieces(everything, box, Stripe(NOWHERE, level, 0), rows)
            return
        for tile in self.tiles(box, level):
            yield self.records[tile], self._stored(tile, box, level)

    def tiles(self, box: Box, level: int) -> list[int]:
        """Return the tiles that a region of a level touches. box: as of pieces()."""
        down, across = shifts(level)
        cells = Box(box.x << across, box.y << down, box.width << across, box.height << down)
        right, bottom = min(cells.x + cells.width, self.width), cells.y + cells.height
        inside = Box(cells.x, cells.y, right - cells.x, min(bottom, self.height) - cells.y)
        return self.tiling.within(inside)

    def _stored(self, tile: int, box: Box, level: int) -> Iterator[TilePiece]:
        down, across = shifts(level)
        cells = self.tiling.box(tile)
        data = dataset(self, tile, level)
        x, y = cells.x >> across, cells.y >> down
        first, last = max(box.y - y, 0), min(box.y + box.height - y, data.rows) - 1
        wide = data.row_bytes // data.planes
        left, right = max(box.x - x, 0), min(box.x + box.width - x, wide) - 1
        for chunk in range(first // data.chunk_rows, last // data.chunk_rows + 1):
            top = chunk * data.chunk_rows
            rows = min(data.chunk_rows, data.rows - top)
            for slab in range(left // SLAB, right // SLAB + 1):
                columns = min(SLAB, wide - slab * SLAB)
                stripe, left_end = Stripe(tile, level, chunk), x + slab * SLAB
                yield TilePiece(stripe, slab, y + top, left_end, rows, columns, data.planes)

    def read(self, stripe: Stripe) -> Levels:
        """Return all of a stripe, uint8 (rows, columns), or (rows, planes, columns) of cells in
        several bit planes. Raises LifesimError."""
        if stripe.tile == NOWHERE:
            return self._drawn(stripe.level, stripe.number)
        data = dataset(self, stripe.tile, stripe.level)
        with self.reader(stripe.tile) as reader:
            rows = reader.read(data, stripe.number).reshape(-1, data.row_bytes)
        return rows if data.planes == 1 else rows.reshape(len(rows), data.planes, -1)

    @contextmanager
    def reader(self, tile: int) -> Iterator[TileReader]:
        """Open the file of a tile. Raises LifesimError, for what happens while it is open, too."""
        record, cells = self.records[tile], self.tiling.box(tile)
        with disk_errors(self.universe.path):
            reader = TileReader(self.universe.tiles_folder, record, cells, self.form)
            try:
                yield reader
            finally:
                reader.close()

    def fresh(self) -> Universe:
        """Return the universe, for one who reads regions of it: reading may find it moved on, and
        look again, and so needs one of its own."""
        return Universe(self.universe.path, self.universe.manifest, self.universe.phase, None)

    def _drawn(self, level: int, number: int) -> Levels:
        rows = stripe_rows(self.width, level) << level
        top = number * rows
        box = Box(0, top, self.width, min(rows, self.height - top))
        return read.levels(self.fresh(), box, level)


def pixel_pieces(
    cells: Box, box: Box, first: Stripe, some: int, depth: int = 1
) -> Iterator[TilePiece]:
    """Yield the parts, of so many rows of pixels each, that lie in a rectangle of cells and touch
    a region.

    cells: begins at multiples of what a pixel shows. box: in pixels. first: the topmost stripe.
    """
    level = first.level
    x, y = cells.x >> level, cells.y >> level
    height, width = -(-cells.height >> level), -(-cells.width >> level)
    left, right = max(box.x - x, 0), min(box.x + box.width - x, width) - 1
    upper, lower = max(box.y - y, 0), min(box.y + box.height - y, height) - 1
    for number in range(upper // some, lower // some + 1):
        stripe, top = first._replace(number=number), number * some
        rows = min(some, height - top)
        for slab in range(left // SLAB, right // SLAB + 1):
            at, columns = slab * SLAB, min(SLAB, width - slab * SLAB)
            yield TilePiece(stripe, slab, y + top, x + at, rows, columns, depth)


def shifts(level: int) -> tuple[int, int]:
    """Return the binary logarithms of the cells down and across that a byte of a level stands
    for."""
    return (level, level) if level else (0, 3)


def dataset(view: Snapshot, tile: int, level: int) -> Dataset:
    """Return which dataset of its file holds a level of a tile."""
    _, _, width, height = view.tiling.box(tile)
    return datasets(width, height, view.form)[level - 2 if level else 0]


def stripe_rows(width: int, level: int) -> int:
    """Return how many rows of pixels are drawn at once, of a level that no file holds."""
    pixels, cells = _STRIPE_BYTES // -(-width >> level), _STRIPE_CELLS // (width << level)
    return max(1, min(64, pixels, cells))
