"""Universes whose edges are joined otherwise than a torus's, in engines that know only tori.

News travels as far in a generation as the rule reaches, one cell by most rules. So a universe lies
in a larger torus of an engine, with a halo of cells around it that are copies of its own, as its
edges are joined: as many generations are exact as that goes into its depth, then it is copied
anew. Where only the horizontal edges are shifted
or twisted, it is rows above and below, and the columns go around as those of the torus do. Where
only the vertical ones are, the universe is held with its rows for columns. Of a cross-surface and
a sphere the halo is all around.

Every one of these surfaces is a pattern that repeats itself on a plane. So what is too small for
a halo is repeated until it is a plain torus, or large enough.

The copies are mirrored, or turned: what they become is what the cells become, mirrored, only by
rules that make no difference between left and right, up and down, or rows and columns. Others have
no such universes here, but tori whose horizontal edges are shifted.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from kernels.life.contract import LifeEngine, LifeShape, LifeUniverse, Words
from kernels.life.rules import CellRule
from kernels.targets.contract import Target
from lifesim.engines import engine_of
from lifesim.grid import BitGrid, Box, empty_part, shape_of
from lifesim.mirrors import is_symmetric
from lifesim.rule import Rule
from lifesim.topology import Edges, JoinedEdges, Topology, TopologyError, joined
from lifesim.turned import clear_columns, clear_padding, flipped_across, flipped_down, rotated

_LEAST = 128  # cells: no halo is less deep, and no side that has one less than twice as long,
# unless a rule reaches farther
# A halo is this part of a side, and no deeper than this. To copy cells to a device and back costs
# more: there it is done less often.
_SHARE, _MOST = 16, 256
_DEVICE_SHARE, _DEVICE_MOST = 8, 1024
_SMALL = 1 << 18  # cells of a universe of which copies cost less than a halo does


def open_bounded(backend: Target, grid: BitGrid, edges: Edges, rule: Rule) -> LifeUniverse:
    """Return a universe with bounds that starts as a grid. Raises TopologyError for several devices
    where edges are joined otherwise than a torus's, and for rules that mirrors change there."""
    if isinstance(edges, JoinedEdges):
        if len(backend.members) > 1:
            raise TopologyError(f"a {edges.name} is computed by one device, not by several")
        if _mirrors(edges) and not is_symmetric(rule.cells):
            raise TopologyError(
                f"rule {rule} is not the same in a mirror, or not known to be: "
                f"no {edges.name} is computed by it"
            )
        on_device = backend.free_device_memory() is not None
        return open_joined(
            engine_of(rule, backend), grid.words, edges, rule.cells, on_device=on_device
        )
    shape = LifeShape(grid.width, grid.height, edges is Topology.TORUS, rule.planes)
    universe = engine_of(rule, backend).universe(grid.words, shape, rule.cells)
    if backend.is_reference:
        return universe
    from kernels.life.settling.universe import settling

    return settling(universe, backend, rule.cells, torus=shape.torus)


def open_joined(
    engine: LifeEngine[Any],
    words: Words,
    edges: JoinedEdges,
    rule: CellRule,
    *,
    on_device: bool = False,
) -> LifeUniverse:
    """Return a universe that starts as `words` (copied), with these edges. on_device: whether the
    engine keeps cells in memory of its own. Raises MemoryError."""
    if not _is_all_around(edges) and (edges.twist[1] or edges.shift[1]):
        return TurnedUniverse(engine, words, edges, rule, on_device)
    copies = _copies(edges, _least(rule))
    if copies == (1, 1):
        return HaloUniverse(engine, words, edges, rule, on_device)
    return RepeatedUniverse(engine, words, edges, rule, copies)


class TurnedUniverse(LifeUniverse):
    """A universe that is held with its rows for columns."""

    def __init__(
        self,
        engine: LifeEngine[Any],
        words: Words,
        edges: JoinedEdges,
        rule: CellRule,
        on_device: bool,
    ) -> None:
        """Copy all rows of words. The arguments are those of open_joined()."""
        self.width, self.height, self.generation = edges.width, edges.height, 0
        self.planes = rule.planes
        turned = BitGrid(self.width, self.height, words).transposed()
        turned_edges = edges.transposed()
        self._cells = open_joined(engine, turned.words, turned_edges, rule, on_device=on_device)
        self.stride = self._cells.stride
        self._rows: BitGrid | None = None  # of this generation, once somebody has asked
        self._turning = threading.Lock()  # several threads may put and get at once

    def step(self, generations: int) -> None:
        """Move on by generations."""
        self._rows = None
        try:
            self._cells.step(generations)
        finally:  # which may have been interrupted
            self.generation = self._cells.generation

    def put(self, y: int, words: Words) -> None:
        """Set rows."""
        self.check_rows(y, words)
        with self._turning:
            whole = self._whole()
            whole.words[y : y + len(words)] = words
            self._cells.put(0, whole.transposed().words)

    def get(self, y: int, words: Words) -> None:
        """Write rows into `words`."""
        self.check_rows(y, words, written=True)
        with self._turning:
            words[:] = self._whole().words[y : y + len(words)]

    def _whole(self) -> BitGrid:
        """Return all rows."""
        if self._rows is None:
            held = self._cells
            self._rows = BitGrid(held.width, held.height, held.words()).transposed()
        return self._rows


class HaloUniverse(LifeUniverse):
    """A universe in a torus of an engine, with copies of its own cells around it."""

    def __init__(
        self,
        engine: LifeEngine[Any],
        words: Words,
        edges: JoinedEdges,
        rule: CellRule,
        on_device: bool = False,
    ) -> None:
        """Copy all rows of words. A side across which there is a halo has 256 cells or more. The
        arguments are those of open_joined()."""
        self.width, self.height, self.generation = edges.width, edges.height, 0
        self._edges, self.planes = edges, rule.planes
        self._depth = _depth(edges, on_device, _least(rule))
        self._exact = (
            self._depth // rule.reach
        )  # generations, from one copy of the halo to the next
        around = _is_all_around(edges)
        self._top, self._left = self._depth, self._depth if around else 0
        self._words = slice(self._left // 64, self._left // 64 + words.shape[-1])
        width = -(-(self.width + 2 * self._left) // 64) * 64 if around else self.width
        held = np.zeros(shape_of(width, self.height + 2 * self._top, self.planes), np.uint64)
        held[self._top : self._top + self.height, ..., self._words] = words
        self._cells = engine.universe(held, LifeShape(width, len(held), True, self.planes), rule)
        self.stride = min(self._cells.stride, self._exact)
        self._renewed: int | None = None  # the generation of which the halo is

    def step(self, generations: int) -> None:
        """Move on by generations, as many at a time as the halo makes exact."""
        stop = self.generation + generations
        while self.generation < stop:
            if self._renewed is None or self.generation - self._renewed >= self._exact:
                self._renew()
            assert self._renewed is not None
            made = min(stop, self._renewed + self._exact) - self.generation
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
            band = np.zeros(shape_of(self._cells.width, len(words), self.planes), np.uint64)
            band[..., self._words] = words
            words = band
        self._cells.put(self._top + y, words)

    def get(self, y: int, words: Words) -> None:
        """Write rows into `words`."""
        self.check_rows(y, words, written=True)
        if not self._left:
            self._cells.get(self._top + y, words)
            return
        band = np.empty(shape_of(self._cells.width, len(words), self.planes), np.uint64)
        self._cells.get(self._top + y, band)
        words[:] = band[..., self._words]
        clear_padding(words, self.width)

    def _renew(self) -> None:
        """Copy the halo anew. It needs only cells of the universe, so that it can be done again
        where it was interrupted."""
        if self._left:
            self._renew_all()
        else:
            self._renew_rows()
        self._renewed = self.generation

    def _renew_rows(self) -> None:
        shape = shape_of(self.width, self._depth, self.planes)
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
        """Set the columns to the left and right of a cross-surface; then the rows above and below,
        which are copies of rows with those columns."""
        depth, end = self._depth, self._depth + self.width
        before = flipped_down(whole.crop(Box(end - depth, depth, depth, self.height)))
        after = flipped_down(whole.crop(Box(depth, depth, depth, self.height)))
        clear_columns(whole, end)
        whole.words[depth : depth + self.height, ..., : depth // 64] = before.words
        whole.paste(after, end, depth)
        for y, source in ((0, self.height), (depth + self.height, depth)):
            copied = whole.crop(Box(0, source, end + depth, depth))
            whole.words[y : y + depth] = flipped_across(copied).words

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
        clear_columns(whole, end)
        whole.words[depth:end, ..., : depth // 64] = 0
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
        engine: LifeEngine[Any],
        words: Words,
        edges: JoinedEdges,
        rule: CellRule,
        copies: tuple[int, int],
    ) -> None:
        """Copy all rows of words. copies: across and down, as _copies() returns them."""
        self.width, self.height, self.generation = edges.width, edges.height, 0
        self._edges, self._copies, self.planes = edges, copies, rule.planes
        whole = self._repeated(words)
        meeting = _joined_copies(edges, copies)
        if isinstance(meeting, JoinedEdges):
            self._cells: LifeUniverse = HaloUniverse(engine, whole.words, meeting, rule)
        else:
            shape = LifeShape(whole.width, whole.height, True, self.planes)
            self._cells = engine.universe(whole.words, shape, rule)
        self.stride = self._cells.stride
        self._putting = threading.Lock()  # several threads may put different rows at once

    def step(self, generations: int) -> None:
        """Move all copies on."""
        try:
            self._cells.step(generations)
        finally:  # which may have been interrupted
            self.generation = self._cells.generation

    def put(self, y: int, words: Words) -> None:
        """Set rows, in all copies."""
        self.check_rows(y, words)
        with self._putting:
            rows = self.words()
            rows[y : y + len(words)] = words
            self._cells.put(0, self._repeated(rows).words)

    def get(self, y: int, words: Words) -> None:
        """Write rows of the first copy into `words`."""
        self.check_rows(y, words, written=True)
        band = np.empty(shape_of(self._cells.width, len(words), self.planes), np.uint64)
        self._cells.get(y, band)
        words[:] = band[..., : words.shape[-1]]
        clear_padding(words, self.width)

    def _repeated(self, words: Words) -> BitGrid:
        """Return all copies."""
        edges, (across, down) = self._edges, self._copies
        cells = BitGrid(self.width, self.height, words)
        whole = BitGrid(across * self.width, down * self.height, planes=self.planes)
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
        for copy in range(down):
            whole.paste(cells, 0, copy * self.height)
            cells = rows_beyond(cells, edges, 1)
        return whole


def rows_beyond(rows: BitGrid, edges: JoinedEdges, side: int) -> BitGrid:
    """Return what lies beyond a horizontal edge. rows: those at the opposite edge. side: -1 above
    the top edge, 1 below the bottom edge."""
    if edges.twist[0]:
        return _rolled(flipped_across(rows), -edges.shift[0])
    return _rolled(rows, -side * edges.shift[0])


def _rolled(rows: BitGrid, shift: int) -> BitGrid:
    """Return rows whose cells are moved to the right, and in again at the left."""
    if not shift:
        return rows
    moved = empty_part(rows.width, rows.height, rows.planes)
    moved.paste(rows, shift, 0, wrap=True)
    return moved


def _mirrors(edges: JoinedEdges) -> bool:
    """Tell whether copies of cells are mirrored or turned, or rows are held as columns."""
    return edges.is_sphere or any(edges.twist) or bool(edges.shift[1])


def _is_all_around(edges: JoinedEdges) -> bool:
    """Tell whether all edges are joined otherwise than a torus's."""
    return edges.is_sphere or all(edges.twist)


def _least(rule: CellRule) -> int:
    """Return the least depth of a halo: a whole number of words, in which a generation is exact."""
    return max(_LEAST, -(-rule.reach // 64) * 64)


def _depth(edges: JoinedEdges, on_device: bool, least: int) -> int:
    """Return how deep a halo is: a whole number of words, and no deeper than the universe."""
    side = min(edges.width, edges.height) if _is_all_around(edges) else edges.height
    share, most = (_DEVICE_SHARE, _DEVICE_MOST) if on_device else (_SHARE, _MOST)
    wanted = max(least, min(most, side // share))
    return wanted - wanted % 64


def _copies(edges: JoinedEdges, least: int) -> tuple[int, int]:
    """Return how many copies of a universe are held, across and down; 1, 1 where it has a halo."""
    small = edges.width * edges.height <= _SMALL
    if _is_all_around(edges):
        return (2, 2) if small or min(edges.width, edges.height) < 2 * least else (1, 1)
    thin = edges.height < 2 * least
    if edges.twist[0]:
        return (1, 2) if small or thin else (1, 1)
    count = edges.width // math.gcd(edges.shift[0], edges.width)  # after which the shift is none
    if thin:
        return 1, min(count, -(-2 * least // edges.height))
    return (1, count) if small and count == 2 else (1, 1)


def _joined_copies(edges: JoinedEdges, copies: tuple[int, int]) -> Edges:
    """Return how the edges of all copies together are joined."""
    if any(edges.twist) or edges.is_sphere:
        return Topology.TORUS
    width, height = edges.width, edges.height * copies[1]
    return joined(JoinedEdges(width, height, shift=(edges.shift[0] * copies[1], 0)))
