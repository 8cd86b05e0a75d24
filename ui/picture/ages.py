"""How long what is in view has lived, as far as pictures tell.

A block of cells (of 2^scale x 2^scale, one cell at 1:1 and nearer) in which a cell lives is as
old as the youngest: the generations since a picture first showed a cell that had not lived in
the picture before. So still lifes grow old, and what moves stays young, at every scale. Cells
are looked at in pictures only: one that died between two of them and was born again passes for
one that lived on. What comes into view has not been seen before, and so is young. At a nearer
scale cells are as old as their block was, at a farther one blocks as old as their youngest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

import kernels.cells
from lifesim.grid import BitGrid, Box
from ui.picture.coloured import as_coloured
from ui.picture.request import FrameRequest
from ui.picture.sources import Levels, MemorySource, PictureSource, corner, lacks

OLDEST = (1 << 12) - 1  # generations; what is older is taken to be this old
NEWBORN = 0.25  # how far along its palette a live cell starts
GAMMA = 2.2  # palettes lift sparse levels by its inverse

Words = npt.NDArray[np.uint64]
_Counts = npt.NDArray[np.uint16]


def _levels() -> Levels:
    along = np.log2(np.arange(1, OLDEST + 2)) / np.log2(OLDEST + 1)
    living = np.ceil(255 * (NEWBORN + (1 - NEWBORN) * along) ** GAMMA)
    return np.concatenate([[0], living]).astype(np.uint8)


LEVELS = _levels()  # of 0, dead, and of 1 + age


class Ages:
    """Remembers the last picture. For one thread, and one universe."""

    def __init__(self) -> None:
        self._last: _Seen | None = None

    def copy(self) -> Ages:
        """Return a copy, which goes on from here by itself."""
        other = Ages()
        other._last = self._last
        return other

    def seen(self, request: FrameRequest, source: PictureSource) -> PictureSource:
        """Return what to draw the request from: where it shows ages, levels are ages on a
        logarithmic scale, 0 where no cell lives.

        Ages begin anew where time went back or the universe has another size (a plane without
        bounds has none), and after
        pictures without them (of cells too far, or because nobody asked) that are of another
        generation. While cells are still being read, they are shown without ages. Cells that have
        colours are shown in these.
        """
        last, self._last = self._before(source), None
        if request.shows_ages and as_coloured(source) is None:
            return _Aged(self, source, last)
        if last is not None and last.generation == source.generation:
            self._last = last
        return source

    def levels(self, source: MemorySource, region: Box, scale: int) -> Levels:
        """Return a picture of a region, of which some may be outside of the universe; blocks begin
        at its corner. scale: 0 to FARTHEST_AGES. uint8 (ceil(region.height / 2^scale),
        ceil(region.width / 2^scale))."""
        cells = _Cells.of_grid(source.grid, region)
        return self.remember(self._before(source), source, cells, scale)

    def _before(self, source: PictureSource) -> _Seen | None:
        return self._last.going_on(source) if self._last is not None else None

    def keep(self, last: _Seen | None) -> None:
        """Take note that it was the last picture, and still is."""
        self._last = last

    def remember(
        self, last: _Seen | None, source: PictureSource, cells: _Cells, scale: int
    ) -> Levels:
        """Return the picture of some cells after another one."""
        counts, levels = _grown(last, source.generation, cells, scale)
        size = source.width, source.height
        now = source.generation
        since = now if last is None else last.since
        self._last = _Seen(cells, scale, counts, *size, now, corner(source), since)
        return levels

    @property
    def since(self) -> int | None:
        """Return the generation since which ages are counted; None where no picture is known."""
        return None if self._last is None else self._last.since


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of a box. words: its rows, as those of a grid, from the word on in which the box
    begins to the one in which it ends; what lies beside the box is dead."""

    box: Box
    words: Words

    @classmethod
    def empty(cls, box: Box) -> _Cells:
        first, end = _span(box)
        return cls(box, np.zeros((box.height, end - first), np.uint64))

    @classmethod
    def of_grid(cls, grid: BitGrid, box: Box) -> _Cells:
        """Return the cells of a box of a grid, outside of which all are dead."""
        cells = cls.empty(box)
        cells.put(cls(Box(0, 0, grid.width, grid.height), grid.words))
        first, end = box.x % 64, -(box.x + box.width) % 64
        cells.words[:, 0] &= ~np.uint64(0) << np.uint64(first)
        cells.words[:, -1] &= ~np.uint64(0) >> np.uint64(end)
        return cells

    @classmethod
    def of_levels(cls, levels: Levels, box: Box) -> _Cells:
        first, end = _span(box)
        wide = np.zeros((box.height, 64 * (end - first)), np.uint8)
        wide[:, box.x % 64 :][:, : box.width] = levels
        return cls(box, BitGrid.from_bool(wide).words)

    def put(self, other: _Cells) -> None:
        """Take over whole words, whatever lies beside the box."""
        first, end = _span(self.box)
        from_, to = _span(other.box)
        left, right = max(first, from_), min(end, to)
        top = max(self.box.y, other.box.y)
        bottom = min(self.box.y + self.box.height, other.box.y + other.box.height)
        if left < right and top < bottom:
            self.words[top - self.box.y : bottom - self.box.y, left - first : right - first] = (
                other.words[top - other.box.y : bottom - other.box.y, left - from_ : right - from_]
            )

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live in a box within."""
        grid = BitGrid(64 * self.words.shape[1], self.box.height, self.words)
        x, y = box.x - self.box.x + self.box.x % 64, box.y - self.box.y
        return MemorySource(grid).levels(box._replace(x=x, y=y), scale)


def _span(box: Box) -> tuple[int, int]:
    """Return the words of a row that hold cells of it: the first, and the one after the last."""
    return box.x >> 6, -(-(box.x + box.width) >> 6)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A picture. counts: of its blocks, the first at the corner of the cells: 0, dead, or
    1 + age. width, height, at: of the universe, from whose corner cells are counted. since: the
    generation of the first of the pictures that this one goes on from."""

    cells: _Cells
    scale: int
    counts: _Counts
    width: int
    height: int
    generation: int
    at: tuple[int, int] = (0, 0)
    since: int = 0

    def going_on(self, source: PictureSource) -> _Seen | None:
        """Return the same picture as cells are counted in a source, if that goes on from it: in the
        same universe, or a plane without bounds, of which another part is held now."""
        at = corner(source)
        same = (self.width, self.height, self.at) == (source.width, source.height, at)
        if self.generation > source.generation:
            return None
        if same:
            return self
        x, y = self.at[0] - at[0], self.at[1] - at[1]
        if x % 64 or not getattr(source, "grows", False):
            return None
        box = self.cells.box
        moved = _Cells(box._replace(x=box.x + x, y=box.y + y), self.cells.words)
        return replace(self, cells=moved, width=source.width, height=source.height, at=at)

    def of(self, box: Box, scale: int) -> tuple[_Counts, _Cells]:
        """Return counts and cells as if another box had been drawn, at another scale; 0 where
        nothing was seen, and anything where what was seen is dead."""
        old = self.cells.box
        if (box, scale) == (old, self.scale):
            return self.counts, self.cells
        cells = _Cells.empty(box)
        cells.put(self.cells)
        # In blocks that neither picture cuts.
        unit = min(scale, self.scale)
        if (box.x | box.y | old.x | old.y) % (1 << unit):
            unit = 0
        counts = np.zeros((-(-box.height >> unit), -(-box.width >> unit)), np.uint16)
        both = box._replace(x=box.x - old.x, y=box.y - old.y).common(old._replace(x=0, y=0))
        if both is not None:
            blocks = self._blocks(both, unit)
            x, y = both.x + old.x, both.y + old.y
            top, left = y - box.y >> unit, x - box.x >> unit
            target = counts[top : top + blocks.shape[0], left : left + blocks.shape[1]]
            target[:] = blocks
            if unit < scale:  # what is dead is not the youngest
                target *= self.cells.levels(both._replace(x=x, y=y), unit) > 0
        return _youngest(counts, scale - unit), cells

    def _blocks(self, part: Box, unit: int) -> _Counts:
        """Return the counts of a part, in blocks that are as large or smaller."""
        rows = range(part.y >> unit, -(-(part.y + part.height) >> unit))
        columns = range(part.x >> unit, -(-(part.x + part.width) >> unit))
        finer = self.scale - unit
        if finer == 0:
            return self.counts[rows.start : rows.stop, columns.start : columns.stop]
        at = np.array(rows)[:, None] >> finer, np.array(columns) >> finer
        return np.asarray(self.counts[at], np.uint16)


def _youngest(counts: _Counts, coarser: int) -> _Counts:
    """Return, of blocks of 2^coarser x 2^coarser, the smallest count that is not 0."""
    for _ in range(coarser):
        counts = np.pad(counts, [(0, length % 2) for length in counts.shape])
        # 0 becomes the largest, and 0 again.
        counts = np.minimum(counts[0::2] - np.uint16(1), counts[1::2] - np.uint16(1))
        counts = np.minimum(counts[:, 0::2], counts[:, 1::2]) + np.uint16(1)
    return counts


def _grown(
    last: _Seen | None, generation: int, cells: _Cells, scale: int
) -> tuple[_Counts, Levels]:
    """Return the counts after another picture, and how bright they are."""
    box = cells.box
    shape = -(-box.height >> scale), -(-box.width >> scale)
    counts, levels = np.empty(shape, np.uint16), np.empty(shape, np.uint8)
    ages = partial(kernels.cells.ages, cells.words, box.x % 64, scale, counts, levels, LEVELS)
    if last is None:
        ages()
    else:
        before, known = last.of(box, scale)
        passed = min(generation - last.generation, OLDEST)
        ages(before=before, known=known.words, passed=passed)
    return counts, levels


class _Aged:
    """A source whose live cells are as bright as they are old."""

    def __init__(self, ages: Ages, source: PictureSource, last: _Seen | None) -> None:
        self._ages, self._source, self._last = ages, source, last
        self.width, self.height = source.width, source.height
        self.generation, self.at = source.generation, corner(source)
        self.aged_since: int | None = None  # once it has drawn ages

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how bright the pixels are. scale: 0 to FARTHEST_AGES."""
        source = self._source
        if isinstance(source, MemorySource):
            cells = _Cells.of_grid(source.grid, box)
        else:
            cells = _Cells.of_levels(source.levels(box, 0), box)
        if lacks(source):
            self._ages.keep(self._last)
            return source.levels(box, scale)
        levels = self._ages.remember(self._last, source, cells, scale)
        self.aged_since = self._ages.since
        return levels
