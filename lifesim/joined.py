"""Universes whose edges are joined otherwise than a torus's, in engines that know only tori.

News travels one cell a generation. So a universe lies in a larger torus of an engine, with a
halo of cells around it that are copies of its own, as its edges are joined: as many generations
are exact as the halo is deep, then it is copied anew. There is a halo only beyond edges that are
shifted, twisted or joined to a neighbouring one: if the horizontal edges of a Klein bottle are
twisted, it is rows above and below, and the columns go around as those of the torus do.

Every one of these surfaces is a pattern that repeats itself on a plane. So what is too small for
a halo is repeated until it is a plain torus, or large enough.
"""

from __future__ import annotations

import math

import numpy as np

from kernels.life.contract import LifeEngine, LifeRule, LifeShape, LifeUniverse, Words
from lifesim.grid import BitGrid, Box, empty_part
from lifesim.topology import JoinedEdges, Topology
from lifesim.turned import flipped_across, flipped_down, rotated

_LEAST = 128  # cells: no halo is less deep, and no side that has one less than twice as long
_SHARE, _MOST = 16, 256  # a halo is this part of a side, and no deeper than this
_SMALL = 1 << 18  # cells of a universe of which copies cost less than a halo does


def open_joined(
    engine: LifeEngine[LifeRule], words: Words, edges: JoinedEdges, rule: LifeRule
) -> LifeUniverse:
    """Return a universe that starts as `words` (copied), with these edges. Raises MemoryError."""
    across, down = _copies(edges)
    if (across, down) == (1, 1):
        return HaloUniverse(engine, words, edges, rule)
    return RepeatedUniverse(engine, words, edges, rule, (across, down))


class HaloUniverse(LifeUniverse):
    """A universe in a torus of an engine, with copies of its own cells around it."""

    def __init__(
        self, engine: LifeEngine[LifeRule], words: Words, edges: JoinedEdges, rule: LifeRule
    ) -> None:
        """Copy all rows of words. Sides along which there is a halo have 256 cells or more."""
        self.width, self.height, self.generation = edges.width, edges.height, 0
        self._edges = edges
        self._depth = _depth(edges)
        rows, columns = joins(edges)
        self._top, self._left = self._depth * rows, self._depth * columns
        self._words = slice(self._left // 64, self._left // 64 + words.shape[1])
        width = -(-(self.width + 2 * self._left) // 64) * 64 if columns else self.width
        held = np.zeros((self.height + 2 * self._top, -(-width // 64)), np.uint64)
        held[self._top : self._top + self.height, self._words] = words
        self._cells = engine.universe(held, LifeShape(width, len(held), True), rule)
        self.stride = min(self._cells.stride, self._depth)
        self._renewed: int | None = None  # the generation of which the halo is

    def step(self, generations: int) -> None:
        """Move on by generations, as many at a time as the halo is deep."""
        stop = self.generation + generations
        while self.generation < stop:
            if self._renewed is None or self.generation - self._renewed >= self._depth:
                self._renew()
            assert self._renewed is not None
            made = min(stop, self._renewed + self._depth) - self.generation
            try:
                self._cells.step(made)
            finally:  # which may have been interrupted
                self.generation = self._cells.generation

    def view(self) -> Words | None:
        """Return the cells where they lie, if they do without other columns."""
        held = None if self._left else self._cells.view()
        return None if held is None else held[self._top : self._top + self.height]

    def put(self, y: int, words: Words) -> None:
        """Set rows; the halo is copied anew before the next step."""
        self.check_rows(y, words)
        self._renewed = None
        if self._left:
            band = np.zeros((len(words), -(-self._cells.width // 64)), np.uint64)
            band[:, self._words] = words
            words = band
        self._cells.put(self._top + y, words)

    def get(self, y: int, words: Words) -> None:
        """Write rows into `words`."""
        self.check_rows(y, words, written=True)
        if not self._left:
            self._cells.get(self._top + y, words)
            return
        band = np.empty((len(words), -(-self._cells.width // 64)), np.uint64)
        self._cells.get(self._top + y, band)
        words[:] = band[:, self._words]
        _clear_padding(words, self.width)

    def _renew(self) -> None:
        """Copy the halo anew. It needs only cells of the universe, so that it can be done again
        where it was interrupted."""
        if self._left:
            self._renew_all()
        else:
            self._renew_rows()
        self._renewed = self.generation

    def _renew_rows(self) -> None:
        shape = self._depth, -(-self.width // 64)
        first, last = np.empty(shape, np.uint64), np.empty(shape, np.uint64)
        self._cells.get(self._top, first)
        self._cells.get(self._top + self.height - self._depth, last)
        above = rows_beyond(BitGrid(self.width, self._depth, last), self._edges, -1)
        below = rows_beyond(BitGrid(self.width, self._depth, first), self._edges, 1)
        self._cells.put(0, above.words)
        self._cells.put(self._top + self.height, below.words)

    def _renew_all(self) -> None:
        cells = self._cells
        whole = BitGrid(cells.width, cells.height, cells.words())
        if self._edges.is_sphere:
            self._surround_sphere(whole)
        else:
            self._surround(whole)
        cells.put(0, whole.words)

    def _surround(self, whole: BitGrid) -> None:
        """Set the columns to the left and right; then, of a cross-surface, the rows above and
        below, which are copies of rows with those columns."""
        depth, top, left = self._depth, self._top, self._left
        first = whole.crop(Box(left, top, depth, self.height))
        last = whole.crop(Box(left + self.width - depth, top, depth, self.height))
        before = columns_beyond(last, self._edges, -1)
        after = columns_beyond(first, self._edges, 1)
        _clear_columns(whole, left + self.width)
        rows = slice(top, top + self.height)
        whole.words[rows, : left // 64] = before.words
        whole.paste(after, left + self.width, top)
        if not top:
            return
        wide = left + self.width + left
        for y, source in ((0, self.height), (top + self.height, top)):
            copied = rows_beyond(whole.crop(Box(0, source, wide, depth)), self._edges, 0)
            whole.words[y : y + depth] = copied.words

    def _surround_sphere(self, whole: BitGrid) -> None:
        """Set all around a sphere: each side is a neighbouring side, turned by a quarter, and each
        corner is itself, turned by a half."""
        depth, side = self._depth, self.width
        end = depth + side
        top = whole.crop(Box(depth, depth, side, depth))
        bottom = whole.crop(Box(depth, end - depth, side, depth))
        left = whole.crop(Box(depth, depth, depth, side))
        right = whole.crop(Box(end - depth, depth, depth, side))
        corners = {
            (to_x, to_y): whole.crop(Box(x, y, depth, depth))
            for x, to_x in ((depth, 0), (end - depth, end))
            for y, to_y in ((depth, 0), (end - depth, end))
        }
        _clear_columns(whole, end)
        whole.words[depth:end, : depth // 64] = 0
        whole.words[:depth] = 0
        whole.words[end:] = 0
        whole.paste(rotated(top, clockwise=True), 0, depth)
        whole.paste(rotated(bottom, clockwise=True), end, depth)
        whole.paste(flipped_across(left).transposed(), depth, 0)
        whole.paste(flipped_across(right).transposed(), depth, end)
        for (x, y), corner in corners.items():
            whole.paste(flipped_across(flipped_down(corner)), x, y)


class RepeatedUniverse(LifeUniverse):
    """A universe of which a larger one holds several copies, beside and below each other."""

    def __init__(
        self,
        engine: LifeEngine[LifeRule],
        words: Words,
        edges: JoinedEdges,
        rule: LifeRule,
        copies: tuple[int, int],
    ) -> None:
        """Copy all rows of words. copies: across and down, as _copies() returns them."""
        self.width, self.height, self.generation = edges.width, edges.height, 0
        self._edges, self._copies = edges, copies
        whole = self._repeated(words)
        meeting = _joined_copies(edges, copies)
        if isinstance(meeting, JoinedEdges):
            self._cells: LifeUniverse = HaloUniverse(engine, whole.words, meeting, rule)
        else:
            shape = LifeShape(whole.width, whole.height, True)
            self._cells = engine.universe(whole.words, shape, rule)
        self.stride = self._cells.stride

    def step(self, generations: int) -> None:
        """Move all copies on."""
        try:
            self._cells.step(generations)
        finally:  # which may have been interrupted
            self.generation = self._cells.generation

    def put(self, y: int, words: Words) -> None:
        """Set rows, in all copies."""
        self.check_rows(y, words)
        rows = self.words()
        rows[y : y + len(words)] = words
        self._cells.put(0, self._repeated(rows).words)

    def get(self, y: int, words: Words) -> None:
        """Write rows of the first copy into `words`."""
        self.check_rows(y, words, written=True)
        band = np.empty((len(words), -(-self._cells.width // 64)), np.uint64)
        self._cells.get(y, band)
        words[:] = band[:, : words.shape[1]]
        _clear_padding(words, self.width)

    def _repeated(self, words: Words) -> BitGrid:
        """Return all copies."""
        edges, (across, down) = self._edges, self._copies
        cells = BitGrid(self.width, self.height, words)
        whole = BitGrid(across * self.width, down * self.height)
        if across > 1 and down > 1:
            if edges.is_sphere:
                beside, below = rotated(cells, clockwise=True), rotated(cells, clockwise=False)
            else:
                beside, below = flipped_down(cells), flipped_across(cells)
            whole.paste(cells, 0, 0)
            whole.paste(beside, self.width, 0)
            whole.paste(below, 0, self.height)
            whole.paste(flipped_across(flipped_down(cells)), self.width, self.height)
            return whole
        for copy in range(across * down):
            whole.paste(cells, copy * self.width * (across > 1), copy * self.height * (down > 1))
            beyond = rows_beyond if down > 1 else columns_beyond
            cells = beyond(cells, edges, 1)
        return whole


def joins(edges: JoinedEdges) -> tuple[bool, bool]:
    """Tell of the horizontal edges, then of the vertical ones, whether they are joined otherwise
    than a torus's."""
    if edges.is_sphere:
        return True, True
    rows, columns = (
        bool(twist or shift) for twist, shift in zip(edges.twist, edges.shift, strict=True)
    )
    return rows, columns


def rows_beyond(rows: BitGrid, edges: JoinedEdges, side: int) -> BitGrid:
    """Return what lies beyond a horizontal edge. rows: those at the opposite edge. side: -1 above
    the top edge, 1 below the bottom edge."""
    twist, shift = edges.twist[0], edges.shift[0]
    return _rolled(flipped_across(rows) if twist else rows, -shift if twist else -side * shift)


def columns_beyond(columns: BitGrid, edges: JoinedEdges, side: int) -> BitGrid:
    """Return what lies beyond a vertical edge. columns: those at the opposite edge. side: -1 to the
    left of the left edge, 1 to the right of the right edge."""
    twist, shift = edges.twist[1], edges.shift[1]
    words = columns.words[::-1] if twist else columns.words
    rolled = np.roll(words, -shift if twist else -side * shift, axis=0)
    return BitGrid(columns.width, columns.height, rolled)


def _rolled(rows: BitGrid, shift: int) -> BitGrid:
    """Return rows whose cells are moved to the right, and in again at the left."""
    if not shift:
        return rows
    moved = empty_part(rows.width, rows.height)
    moved.paste(rows, shift, 0, wrap=True)
    return moved


def _depth(edges: JoinedEdges) -> int:
    """Return how deep a halo is: a whole number of words, and no deeper than the universe."""
    sides = [
        side for side, has in zip((edges.height, edges.width), joins(edges), strict=True) if has
    ]
    wanted = max(_LEAST, min(_MOST, min(sides) // _SHARE))
    return wanted - wanted % 64


def _copies(edges: JoinedEdges) -> tuple[int, int]:
    """Return how many copies of a universe are held, across and down; 1, 1 where it has a halo."""
    rows, columns = joins(edges)
    sides = [
        side for side, has in zip((edges.height, edges.width), (rows, columns), strict=True) if has
    ]
    thin = min(sides) < 2 * _LEAST
    if any(edges.twist) or edges.is_sphere:
        if thin or edges.width * edges.height <= _SMALL:
            return 1 + columns, 1 + rows
        return 1, 1
    shift, along = (edges.shift[0], edges.width) if rows else (edges.shift[1], edges.height)
    count = along // math.gcd(shift, along)  # of copies, after which the shift is none
    if thin:
        count = min(count, -(-2 * _LEAST // sides[0]))
    elif count > 2 or edges.width * edges.height > _SMALL:
        count = 1
    return (1, count) if rows else (count, 1)


def _joined_copies(edges: JoinedEdges, copies: tuple[int, int]) -> JoinedEdges | Topology:
    """Return how the edges of all copies together are joined."""
    if any(edges.twist) or edges.is_sphere:
        return Topology.TORUS
    count = max(copies)
    size = edges.width * copies[0], edges.height * copies[1]
    shift = edges.shift[0] * count % size[0], edges.shift[1] * count % size[1]
    return JoinedEdges(*size, shift=shift) if any(shift) else Topology.TORUS


def _clear_padding(words: Words, width: int) -> None:
    if width % 64:
        words[:, -1] &= np.uint64((1 << width % 64) - 1)


def _clear_columns(grid: BitGrid, x: int) -> None:
    """Kill all cells from a column on."""
    grid.words[:, x // 64 + 1 :] = 0
    if x // 64 < grid.words.shape[1]:
        grid.words[:, x // 64] &= np.uint64((1 << x % 64) - 1)
