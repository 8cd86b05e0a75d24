"""Pictures of cells that have colours: near by their states, from afar means of their colours.

Dead cells are dark here, whatever the window's palette is: the colours that rules name, and ours,
are made to be seen on that. A mean is that of lifesim.colours.pixels_of(), of blocks that begin at
the corner of the universe. It follows from a sum: of how far the colours of a block's cells are
from that of dead cells, so that only other cells have to be looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from kernels.cells import densities
from kernels.cells.bands import for_bands
from lifesim.colours import Colours, Pixels, pixels_of, state_colours
from lifesim.grid import BitGrid, Box, Words
from lifesim.render import block_sizes, level_table
from lifesim.rule import Rule
from lifesim.states import as_planes, live_words
from ui.picture.pyramid import FIRST
from ui.picture.sources import Levels, MemorySource, PictureSource

Sums = npt.NDArray[np.int32] | npt.NDArray[np.int64]  # (3, rows, columns)

_NARROW = 6  # the largest scale of sums that have 32 bits
_FAR = 48  # from blocks of 2^(FIRST + _FAR) cells a side on, one holds any universe
_MANY = 32  # states: cells of more are sooner looked at one by one than state by state


def in_colours(rule: Rule) -> bool:
    """Tell whether cells of a rule are shown in colours: it has more than two states, or names
    their colours."""
    return rule.states > 2 or bool(rule.colours)


def window_colours(rule: Rule) -> Colours:
    """Return the colours of a rule's states, uint8 (states, 3). Raises ValueError for a rule whose
    cells have none."""
    colours = state_colours(rule)
    if colours is None:
        raise ValueError(f"cells of {rule} have no colours")
    return colours


class ColouredSource(Protocol):
    """A source of cells that have colours; as a PictureSource it tells which are not of state 0.
    No other source has an attribute `colours`.

    colours: of the states, uint8 (states, 3).
    """

    colours: Colours

    def coloured(self, box: Box, scale: int) -> Levels | Pixels:
        """Return the states of cells at scale 0, uint8 (box.height, box.width); else the mean
        colours of blocks, uint8 (rows, columns, 3), and colours at scale 0, too, where some of the
        states have not been read yet. box, scale: as of PictureSource.levels()."""


def as_coloured(source: PictureSource) -> ColouredSource | None:
    """Return a source as one of cells that have colours; None where it is none."""
    # Far quicker than to ask whether it fulfils a protocol.
    return cast(ColouredSource, source) if hasattr(source, "colours") else None


class ColourSums:
    """The sums of blocks of 2^FIRST cells a side and larger ones, of all of a grid.

    Any thread may ask.
    """

    def __init__(
        self, grid: BitGrid, colours: Colours, progress: Callable[[int], None] | None = None
    ) -> None:
        """Read the cells of a grid once, with all cores.

        colours: of the states. progress: is called with the number of rows that are done, from any
        thread, and may raise.
        """
        self.width, self.height = grid.width, grid.height
        self._dead = colours[0]
        self._levels = [block_sums(grid, FIRST, colours, progress)]
        self._making = threading.Lock()

    def means(self, box: Box, scale: int) -> Pixels:
        """Return the mean colours of blocks of a box, as ColouredSource.coloured() does. scale:
        FIRST or more."""
        y, x = box.y >> scale, box.x >> scale
        heights = block_sizes(self.height, scale)[y : y + -(-box.height >> scale)]
        widths = block_sizes(self.width, scale)[x : x + -(-box.width >> scale)]
        part = self._level(scale)[:, y : y + len(heights), x : x + len(widths)]
        return means_of(part, heights, widths, scale, self._dead)

    def _level(self, scale: int) -> Sums:
        """Return the sums of a scale; of one where all is a single block, those of that block."""
        with self._making:
            levels = self._levels
            while len(levels) <= scale - FIRST and levels[-1].size > 3:
                wide = len(levels) + FIRST > _NARROW
                levels.append(_quartered(levels[-1], np.int64 if wide else np.int32))
            return levels[min(scale - FIRST, len(levels) - 1)]


class StatesSource(MemorySource):
    """A source of a grid of cells that have colours, which nobody changes any more.

    cells: the grid, of all bit planes; as MemorySource.grid it has one, of which cells are not of
    state 0. rule: in whose states the cells are.
    """

    def __init__(
        self,
        cells: BitGrid,
        rule: Rule,
        generation: int = 0,
        *,
        at: tuple[int, int] = (0, 0),
        grows: bool = False,
    ) -> None:
        live = BitGrid(cells.width, cells.height, live_words(cells.words))
        super().__init__(live, generation, at=at, grows=grows)
        self.cells, self.rule, self.colours = cells, rule, window_colours(rule)
        self._sums: ColourSums | None = None

    def coloured(self, box: Box, scale: int) -> Levels | Pixels:
        """Return states, or mean colours, as ColouredSource.coloured() does."""
        if scale >= FIRST:
            with self._making:
                self._sums = self._sums or ColourSums(self.cells, self.colours)
            return self._sums.means(box, scale)
        if scale and self.rule.states > _MANY:
            return pixels_of(self.cells, box, scale, self.colours)
        # Whole words are copied sooner than cells.
        first, end = box.x >> 6, -(-(box.x + box.width) // 64)
        words = self.cells.words[box.y : box.y + box.height, ..., first:end]
        part = BitGrid(64 * (end - first), box.height, words)
        skip = box.x - 64 * first
        if scale == 0:
            return part.states()[:, skip : skip + box.width]
        heights, widths = block_sizes(box.height, scale), block_sizes(box.width, scale)
        sums = block_sums(part, scale, self.colours)[..., skip >> scale :][..., : len(widths)]
        return means_of(sums, heights, widths, scale, self.colours[0])


def source_of(
    cells: BitGrid,
    rule: Rule,
    generation: int = 0,
    *,
    at: tuple[int, int] = (0, 0),
    grows: bool = False,
) -> MemorySource:
    """Return the source of a grid that nobody changes any more, in colours where its rule's cells
    are shown in them. at, grows: as of MemorySource."""
    if in_colours(rule):
        return StatesSource(cells, rule, generation, at=at, grows=grows)
    return MemorySource(cells, generation, at=at, grows=grows)


def state_of(source: PictureSource, x: int, y: int) -> int | None:
    """Return the state of a cell of a source, which counts it; None where cells have no colours, or
    it has not been read yet."""
    coloured = as_coloured(source)
    seen = None if coloured is None else coloured.coloured(Box(x, y, 1, 1), 0)
    return None if seen is None or seen.ndim == 3 else int(seen[0, 0])


# --- sums ----------------------------------------------------------------------


@lru_cache(maxsize=FIRST)
def _count_table(scale: int) -> npt.NDArray[np.int32]:
    """Return how many cells live in a whole block of 2^scale cells a side, by its level."""
    counts = np.zeros(256, np.int32)
    levels = level_table(1 << scale)
    counts[levels] = np.arange(len(levels))
    return counts


def block_sums(
    grid: BitGrid, scale: int, colours: Colours, progress: Callable[[int], None] | None = None
) -> Sums:
    """Return the sums of blocks of 2^scale cells a side, 1 to FIRST, from a grid's corner on."""
    beyond = colours.astype(np.int32) - colours[0].astype(np.int32)
    words = as_planes(grid.words)
    side = 1 << scale
    down, across = -(-grid.height // side), -(-grid.width // side)
    sums = np.zeros((3, down, across), np.int32)

    def read(first: int, end: int) -> None:
        rows = words[first * side : end * side]
        missing = (end - first) * side - len(rows)
        if missing:
            rows = np.concatenate([rows, np.zeros((missing, *rows.shape[1:]), np.uint64)])
        _add(rows, scale, beyond, sums[:, first:end])
        if progress:
            progress(min(grid.height, end * side))

    for_bands(read, down, words.shape[1] * words.shape[2] * side)
    return sums


def sums_of_bands(
    bands: Iterable[BitGrid], width: int, height: int, scale: int, colours: Colours
) -> Sums:
    """Return the sums of blocks of 2^scale cells a side, FIRST or more, of rows of which not all
    are in memory at once. bands: some rows each, from the top on; of all but the last a multiple
    of 2^FIRST."""
    sums = np.zeros((3, -(-height >> scale), -(-width >> scale)), np.int64)
    per = 1 << min(scale - FIRST, _FAR)
    first = 0  # row of small blocks
    for band in bands:
        part = block_sums(band, FIRST, colours)
        end = first + part.shape[1]
        if per > 1:
            part = np.add.reduceat(part, np.arange(0, part.shape[2], per), axis=2, dtype=np.int64)
            starts = np.maximum(np.arange(first // per * per, end, per) - first, 0)
            part = np.add.reduceat(part, starts, axis=1)
        sums[:, first // per : -(-end // per)] += part
        first = end
    return sums


def _add(words: Words, scale: int, beyond: npt.NDArray[np.int32], sums: Sums) -> None:
    """Add the cells of some rows to the sums of their blocks.

    words: (rows, planes, words). beyond: what a cell of each state adds to the three sums.
    """
    across = sums.shape[2]
    levels = np.empty((len(words) >> scale, 64 * words.shape[2] >> scale), np.uint8)
    known = _count_table(scale)

    def visit(plane: int, state: int, held: Words | None) -> None:
        """Add the cells, of those that are held, whose digits from `plane` on are those of a
        state. held: None is all."""
        if held is not None and not held.any():
            return
        if plane:
            bits = words[:, plane - 1]
            visit(plane - 1, state | 1 << plane - 1, bits if held is None else held & bits)
            visit(plane - 1, state, ~bits if held is None else held & ~bits)
        elif 0 < state < len(beyond) and held is not None:
            densities(held, 0, scale, levels)
            counted = known[levels[:, :across]]
            for into, weight in zip(sums, beyond[state].tolist(), strict=True):
                if weight:
                    into += counted * weight

    if words.any():
        visit(words.shape[1], 0, None)


def _quartered(sums: Sums, kind: type[np.int32] | type[np.int64]) -> Sums:
    """Return sums of blocks of 2 x 2; the last ones may be parts."""
    rows = np.add.reduceat(sums, np.arange(0, sums.shape[1], 2), axis=1, dtype=kind)
    made: Sums = np.add.reduceat(rows, np.arange(0, sums.shape[2], 2), axis=2, dtype=kind)
    return made


def means_of(
    sums: Sums,
    heights: npt.NDArray[np.int64],
    widths: npt.NDArray[np.int64],
    scale: int,
    dead: Colours,
) -> Pixels:
    """Return the mean colours of blocks, whose sums and sizes are given; a half is rounded up.
    dead: the colour of cells of state 0."""
    pixels = np.empty((*sums.shape[1:], 3), np.uint8)
    side = 1 << scale
    # Only the last row and column may be of parts of blocks.
    rows, columns = len(heights) - (heights[-1] != side), len(widths) - (widths[-1] != side)
    whole = slice(0, rows), slice(0, columns), side * side
    low = slice(rows, None), slice(0, None), heights[rows:, None] * widths
    right = slice(0, rows), slice(columns, None), heights[:rows, None] * widths[columns:]
    for down, across, cells in (whole, low, right):
        part = sums[:, down, across]
        if part.size:
            for channel, background in enumerate(dead.tolist()):
                total = part[channel] + cells * background
                pixels[down, across, channel] = (2 * total + cells) // (2 * cells)
    return pixels
