"""What pictures in colours are made of, beside cells and densities: means and samples.

A stripe of COLOURS has the mean colours of blocks of 2^k x 2^k cells, uint8 (rows, 3, columns). No
file holds them: they are made of the cells, exactly. Where blocks lie in tiles a stripe is of some
chunks of one tile, else of rows as wide as the universe. A SAMPLE tells in what colour the cells of
a tile live, as some of them do: four numbers, int64 (1, 4), as bytes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from lifesim.grid import BitGrid, Box, bytes_of
from lifesim.render import block_sizes
from lifesim.states import live_words
from lifesim.store import read
from lifesim.store.tilefile import Dataset, TileRecord
from lifesim.store.tilereader import TileReader
from lifesim.store.tiling import pyramid_top
from lifesim.store.universe import Universe
from ui.disk.parts import (
    COLOURS,
    NOWHERE,
    SAMPLE,
    Levels,
    Snapshot,
    Stripe,
    TilePiece,
    dataset,
    pixel_pieces,
    stripe_rows,
)
from ui.picture.coloured import block_sums, in_colours, means_of, sums_of_bands, window_colours
from ui.picture.pyramid import FIRST

# The last scale of exact colours, of a large universe that has a pyramid; and the bytes of cells
# that may be read for so many rows of pixels: rows of tiles are read as a whole.
_NEAR, _SCREEN, _SCREEN_ROWS = 4, 1 << 29, 1 << 10
_SMALL = 1 << 26  # bytes of cells of a universe that has exact colours at all scales
_SAMPLED = 4  # tiles
_SAMPLE_BYTES = 32
_ROUGH, _WIDE = 1 << 20, 1 << 24  # bytes of a level that tells where cells of a tile live; at most
_TRIES = 8  # chunks that are looked at for cells that live
_BAND_BYTES = 32 << 20


class ColouredSnapshot(Snapshot):
    """A universe whose cells have colours, as its directory was at one moment. Nobody changes it.

    colours: of the states. exact_to: the largest scale at which its colours are made of the cells;
    None where they are at any. Below FIRST they always are.
    """

    def __init__(self, universe: Universe, before: Snapshot | None = None) -> None:
        super().__init__(universe, before)
        self.colours = window_colours(universe.rule)
        self.exact_to: int | None = None
        if self.form.top and bytes_of(self.width, self.height, self.form.planes) > _SMALL:
            wide = max(b - a for a, b in pairwise(self.tiling.columns))
            most = _SCREEN // (_SCREEN_ROWS * bytes_of(wide, 1, self.form.planes))
            self.exact_to = min(_NEAR, most.bit_length() - 1)
        self._nested = pyramid_top(self.tiling)

    def is_exact(self, scale: int) -> bool:
        """Tell whether colours at a scale, FIRST or more, are made of the cells."""
        return self.exact_to is None or scale <= self.exact_to

    def colour_pieces(
        self, box: Box, level: int
    ) -> Iterator[tuple[TileRecord | None, Iterator[TilePiece]]]:
        """Yield the parts of mean colours that a region of a level touches, as pieces() does."""
        if level > self._nested:
            everything, first = (
                Box(0, 0, self.width, self.height),
                Stripe(NOWHERE, level, 0, COLOURS),
            )
            yield None, pixel_pieces(everything, box, first, self._rows(first), 3)
            return
        for tile in self.tiles(box, level):
            first = Stripe(tile, level, 0, COLOURS)
            pieces = pixel_pieces(self.tiling.box(tile), box, first, self._rows(first), 3)
            yield self.records[tile], pieces

    @cached_property
    def samples(self) -> list[TilePiece]:
        """Return the samples that tell in what colours cells live: of the tiles with the most."""
        lively = [i for i, record in enumerate(self.records) if record.population]
        tiles = heapq.nsmallest(_SAMPLED, lively, key=lambda i: -self.records[i].population)
        return [TilePiece(Stripe(i, 0, 0, SAMPLE), 0, 0, 0, 1, _SAMPLE_BYTES) for i in tiles]

    def read(self, stripe: Stripe) -> Levels:
        """Return all of a stripe, as Snapshot.read() does."""
        if stripe.kind == COLOURS:
            return self._means(stripe)
        if stripe.kind == SAMPLE:
            return self._sample(stripe.tile)
        return super().read(stripe)

    # --- means -----------------------------------------------------------------

    def _rows(self, stripe: Stripe) -> int:
        """Return how many rows of pixels a stripe has: of a tile whole chunks of cells, so that
        none is read twice."""
        if stripe.tile == NOWHERE:
            return stripe_rows(self.width, stripe.level)
        return math.lcm(self.form.chunk_rows, 1 << stripe.level) >> stripe.level

    def _means(self, stripe: Stripe) -> Levels:
        level = stripe.level
        everything = Box(0, 0, self.width, self.height)
        cells = everything if stripe.tile == NOWHERE else self.tiling.box(stripe.tile)
        rows = self._rows(stripe) << level
        top = stripe.number * rows
        part = Box(cells.x, cells.y + top, cells.width, min(rows, cells.height - top))
        bands = (
            self._wide_bands(part) if stripe.tile == NOWHERE else self._chunks(stripe, top, part)
        )
        sums = sums_of_bands(bands, part.width, part.height, level, self.colours)
        heights, widths = block_sizes(part.height, level), block_sizes(part.width, level)
        means = means_of(sums, heights, widths, level, self.colours[0])
        return np.moveaxis(means, 2, 1)

    def _wide_bands(self, part: Box) -> Iterator[BitGrid]:
        """Yield the cells of rows as wide as the universe, some at a time."""
        universe = self.fresh()
        side = 1 << FIRST
        step = max(1, _BAND_BYTES // bytes_of(part.width, side, self.form.planes)) * side
        for y in range(0, part.height, step):
            yield read.region(
                universe, part._replace(y=part.y + y, height=min(step, part.height - y))
            )

    def _chunks(self, stripe: Stripe, top: int, part: Box) -> Iterator[BitGrid]:
        """Yield the cells of some rows of a tile, from row `top` of it on, a chunk at a time."""
        cells = dataset(self, stripe.tile, 0)
        end = -(-(top + part.height) // cells.chunk_rows)
        with self.reader(stripe.tile) as reader:
            for chunk in range(top // cells.chunk_rows, end):
                yield _grid(reader, cells, chunk, part.width)

    # --- samples ---------------------------------------------------------------

    def _sample(self, tile: int) -> Levels:
        """Return, of some live cells of a tile, by how much the red, green and blue of all of them
        together are beyond those of dead cells, and how many they are."""
        found = np.zeros((1, 4), np.int64)
        width = self.tiling.box(tile).width
        with self.reader(tile) as reader:
            for chunk in self._lively(reader):
                grid = _grid(reader, reader.sets[0], chunk, width)
                live = BitGrid(grid.width, grid.height, live_words(grid.words)).population()
                if live:
                    sums = block_sums(grid, FIRST, self.colours)
                    found[0] = *sums.sum(axis=(1, 2), dtype=np.int64), live
                    break
        return found.view(np.uint8)

    def _lively(self, reader: TileReader) -> range:
        """Return the chunks of cells to be looked at: where the cells of a tile are densest."""
        cells, *levels = reader.sets
        rough = next((s for s in levels if s.rows * s.columns <= _ROUGH), cells)
        if rough is cells and levels and levels[-1].rows * levels[-1].columns <= _WIDE:
            rough = levels[-1]
        if rough is cells:
            middle = cells.chunks // 2
            return range(middle, middle + 1)
        dense = [
            rough.rows_of(reader.read(rough, chunk)).sum(axis=1, dtype=np.int64)
            for chunk in range(rough.chunks)
        ]
        row, level = int(np.concatenate(dense).argmax()), int(rough.name[1:])
        first = (row << level) // cells.chunk_rows
        last = (min((row + 1) << level, cells.rows) - 1) // cells.chunk_rows
        return range(first, min(last + 1, first + _TRIES))


def snapshot_of(universe: Universe, before: Snapshot | None = None) -> Snapshot:
    """Return a universe as its directory is now, in colours where its rule's cells are shown in
    them. before: as of Snapshot."""
    kind = ColouredSnapshot if in_colours(universe.rule) else Snapshot
    return kind(universe, before)


def _grid(reader: TileReader, cells: Dataset, chunk: int, width: int) -> BitGrid:
    """Read the cells of a chunk of a tile of so many columns."""
    words = cells.rows_of(reader.read(cells, chunk))
    return BitGrid(width, len(words), words)
