"""How densely the cells of a tree live under each pixel, as lifesim.render has it of a grid.

The blocks of 2^k x 2^k cells begin at the corner of a picture, wherever that is, so that they lie
across the squares of the tree, each of which meets up to four. But all squares of one level are cut
at the same place by the borders of blocks. So it is counted once for each square, from those of its
quarters, how many of its cells live to the left of and above a cut. Where the picture ends within a
block there is a second cut along that axis. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.plane.hashlife.listing import LEAF
from lifesim.grid import Box
from lifesim.render import Levels, block_sizes, density_levels, image_size, levels_of
from lifesim.tree.quadtree import Ints, Quadtree, Ranks, exact

Counts = npt.NDArray[Any]  # int64, or Python ints

_BAND = 1 << 20  # pixels that are made at once
_INTS = 26  # the largest scale of which numbers are int64
_FIRST, _SECOND, _ALL = range(3)  # cuts: of blocks, of the picture, and one behind the whole square


@dataclass(frozen=True, slots=True)
class _Segment:
    """The cells of a square, along an axis, that lie in one block: those before the cut `end`, but
    not those before `start` (None: the square's own beginning).

    back: by how many blocks its block lies before that which begins within the square.
    """

    start: int | None
    end: int
    back: int


class _Axis:
    """The way in which blocks and squares lie to each other along an axis.

    cuts: where a square of this level is cut, in cells from its beginning: by the border of two
    blocks, by the end of the picture, and 2^level. inner, last: the segments of a square, in any
    block, and in the last one, in which the picture ends.
    """

    def __init__(self, start: int, length: int, scale: int, level: int) -> None:
        """Compare. start: of the picture, in cells from the root's beginning. Blocks have 2^scale
        cells, squares 2^level, which is no more, and as much unless the square is the root."""
        side, whole = 1 << scale, 1 << level
        self.blocks = -(-length >> scale)
        self.first = start >> scale  # so many squares lie before that in which the picture begins
        border = start % side
        left = length - ((self.blocks - 1) << scale)  # cells of the last block
        within = border + left < side  # the picture ends in the square in which its last block does
        end = border + left - (0 if within else side)
        self.cuts = min(border, whole), min(end, whole), whole
        before, after = _Segment(None, _FIRST, 1), _Segment(_FIRST, _ALL, 0)
        self.inner = [before, after]
        if within:
            self.last = [_Segment(_FIRST, _SECOND, 0)]
        else:
            self.last = [_Segment(None, _SECOND, 1), after]


class _Sums:
    """The live cells of each square of a level that lie before a cut across and one down."""

    def __init__(self, tree: Quadtree, level: int, across: Sequence[int], down: Sequence[int]):
        """Count, from the smallest squares up. across, down: cuts, as of _Axis."""
        steps = []
        for now in range(level, LEAF, -1):
            x, across = _sources(across, now)
            y, down = _sources(down, now)
            steps.append((now, x, y))
        masks = [[_mask(a, b) for b in down] for a in across]
        sums: list[list[Counts]] = [
            [np.bitwise_count(tree.leaves & mask).astype(np.int64) for mask in each]
            for each in masks
        ]
        for now, x, y in reversed(steps):
            sums = [[exact(each, now) for each in line] for line in sums]
            sums = [[_added(sums, tree.children[now], a, b) for b in y] for a in x]
        self._sums = sums

    def of(self, at: Ranks, x: _Segment, y: _Segment) -> Counts:
        """Return the live cells of squares that lie in a segment across and in one down."""
        found = self._sums[x.end][y.end][at]
        if x.start is not None:
            found = found - self._sums[x.start][y.end][at]
        if y.start is not None:
            found = found - self._sums[x.end][y.start][at]
        if x.start is not None and y.start is not None:
            found = found + self._sums[x.start][y.start][at]
        return found


_Sources = tuple[int | None, int | None]  # cuts of the first child and of the second; None: at 0


def _sources(cuts: Sequence[int], level: int) -> tuple[list[_Sources], list[int]]:
    """Return by which cuts of its children each cut of a square is made, and where those are."""
    half = 1 << level - 1
    made: list[_Sources] = []
    below = []
    for index, cut in enumerate(cuts):
        if index == _ALL:
            made.append((_ALL, _ALL))
        else:
            made.append((index, None) if cut <= half else (_ALL, index))
        below.append(half if index == _ALL else cut if cut <= half else cut - half)
    return made, below


def _mask(columns: int, rows: int) -> np.uint64:
    """Return the cells of a square of level 3 in its first columns and rows."""
    return np.uint64(sum(((1 << columns) - 1) << 8 * row for row in range(rows)))


def _added(sums: list[list[Counts]], children: Ranks, x: _Sources, y: _Sources) -> Counts:
    """Return the sums of four children, whose numbers are given, of the cuts that x and y name."""
    parts = [
        sums[across][down][children[:, quadrant]]
        for quadrant in range(4)
        if (across := x[quadrant & 1]) is not None and (down := y[quadrant >> 1]) is not None
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def levels(tree: Quadtree, box: Box, scale_log2: int) -> Levels:
    """Return how densely the cells under each pixel live, exactly as
    lifesim.render.density_levels() of a grid of all cells would.

    box: by the coordinates of the tree; of any size, as far as the picture is not too large. Raises
    RenderError for one that is.
    """
    across, down = image_size(box.width, box.height, scale_log2, far=True)
    if scale_log2 < LEAF:
        return density_levels(tree.part(box), None, scale_log2)
    picture = np.zeros((down, across), np.uint8)
    widths, heights = block_sizes(box.width, scale_log2), block_sizes(box.height, scale_log2)
    for top, counts in _counts(tree, box, scale_log2):
        rows = slice(top, top + len(counts))
        picture[rows] = levels_of(counts, heights[rows], widths, scale_log2)
    return picture


def _counts(tree: Quadtree, box: Box, scale: int) -> Iterator[tuple[int, Counts]]:
    """Yield the live cells of the blocks of a picture, some rows of blocks at a time: the first of
    the rows, and the numbers. Rows in which nothing lives may be left out."""
    level = min(scale, tree.top)
    x = _Axis(box.x - tree.x, box.width, scale, level)
    y = _Axis(box.y - tree.y, box.height, scale, level)
    if tree.held(box) is None:
        return
    sums = _Sums(tree, level, x.cuts, y.cuts)
    step = max(1, _BAND // x.blocks)
    for top in range(0, y.blocks, step):
        bottom = min(top + step, y.blocks)
        first, end = top << scale, min(bottom << scale, box.height)
        held = tree.held(Box(box.x, box.y + first, box.width, end - first))
        if held is None:
            continue
        found = np.zeros((bottom - top, x.blocks), np.int64 if scale <= _INTS else object)
        # From squares, counted from where they are found, to the blocks that begin within them.
        right = ((held.x - tree.x) >> level) * (level == scale) - x.first
        below = ((held.y - tree.y) >> level) * (level == scale) - y.first - top
        for at, column, row in tree.meeting(held, level):
            _add(found, sums, at, _parts(x, column + right, 0), _parts(y, row + below, top))
        yield top, found


_Part = tuple[_Segment, Ints, npt.NDArray[np.bool_]]


def _parts(axis: _Axis, blocks: Ints, skipped: int) -> list[_Part]:
    """Return the segments of squares along an axis, each with the blocks that they lie in, counted
    from those that are skipped, and for which squares these are blocks of the picture.

    blocks: those that begin within the squares.
    """
    last = axis.blocks - 1 - skipped
    inner = [(each, blocks - each.back, blocks - each.back < last) for each in axis.inner]
    ended = [(each, blocks - each.back, blocks - each.back == last) for each in axis.last]
    return [(each, at, of & (at >= 0)) for each, at, of in inner + ended]


def _add(found: Counts, sums: _Sums, at: Ranks, x: Sequence[_Part], y: Sequence[_Part]) -> None:
    """Add the live cells of squares to those of the blocks that they lie in."""
    for across, columns, of_x in x:
        for down, rows, of_y in y:
            which = np.flatnonzero(of_x & of_y & (rows < len(found)))
            if len(which):
                live = sums.of(at[which], across, down)
                np.add.at(found, (rows[which], columns[which]), live)
