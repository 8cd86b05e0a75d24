"""Pictures of a universe on disk from what is at hand: they come at once, and sharpen.

Where parts of a level are not in memory yet, the next coarser ones are enlarged; in the end
the densities of whole tiles, which the manifest tells. Where no cell of a tile lives, nothing
needs to be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box
from lifesim.states import live_words
from lifesim.store.tilefile import TileRecord
from ui.disk.part_cache import PartCache
from ui.disk.parts import Snapshot, TilePiece, shifts
from ui.picture.pyramid import FIRST
from ui.picture.sources import MemorySource

Levels = npt.NDArray[np.uint8]

_AHEAD = 3  # a level that is so much coarser is asked for first
_FALLBACK = 4  # levels that are looked at for what is missing
_SHARE = 0.7  # of the budget, that one picture may take


class TileSource:
    """A universe as far as it has been read.

    patience: seconds that all pictures of this source together may wait for what they ask
    for. missing: parts that were not at hand for the last one. newest: the generation of the
    newest tiles: between two generations, the later one. population: at `generation`.
    """

    def __init__(
        self, parts: PartCache, patience: float = 0.0, view: Snapshot | None = None
    ) -> None:
        """Read nothing yet. view: the universe as it is seen; else as the parts have it now."""
        self._parts = parts
        self._view = parts.view if view is None else view
        self._patience = patience
        self.width, self.height = self._view.width, self._view.height
        universe = self._view.universe
        self.generation = self.newest = universe.generation
        if universe.phase and universe.phase.done:
            self.newest = universe.phase.stop
        self.population = universe.manifest.population
        self.at = self._view.at
        self.missing = 0

    @property
    def view(self) -> Snapshot:
        """Return the universe as its directory was when this source was made."""
        return self._view

    @property
    def is_old(self) -> bool:
        """Tell whether older or less sharp parts stand for some of the last picture."""
        return self.missing > 0

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live, as PictureSource.levels() does; what is missing is asked
        for, and is less sharp until it comes."""

        def drawn() -> tuple[Levels, Drawing]:
            drawing = Drawing(self._parts, self._view)
            return drawing.levels(box, scale), drawing

        return self._patiently(drawn)

    def _patiently(self, drawn: Callable[[], tuple[Levels, Drawing]]) -> Levels:
        """Return a picture; where something is missing, ask for it and draw once more."""
        picture, drawing = drawn()
        asked = self._parts.ask(self._view, drawing.missing)
        if asked and self._patience > 0:
            began = time.monotonic()
            self._parts.wait(asked, self._patience)
            self._patience -= time.monotonic() - began
            picture, drawing = drawn()
            self._parts.ask(self._view, drawing.missing)
        self.missing = len(drawing.missing)
        return picture


class Drawing:
    """One picture. missing: what it has to do without, the first ones to be read first."""

    def __init__(self, parts: PartCache, view: Snapshot) -> None:
        self._parts, self._view = parts, view
        self._room = int(_SHARE * parts.budget)
        self.missing: list[TilePiece] = []

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely the cells of a region live, as TileSource.levels() does."""
        if scale >= FIRST:
            return self._far(box, scale)
        cells, at, holes = self._near(box)
        live = BitGrid(cells.width, cells.height, live_words(cells.words))
        picture = MemorySource(live).levels(at, scale)
        if holes:
            self._fill(picture, holes, 0, box, scale, FIRST)
        return picture

    def _near(self, box: Box) -> tuple[BitGrid, Box, list[Box]]:
        """Return cells around a region, where in them it is, and where they are not at hand."""
        first = box.x >> 6
        right = min(-(-(box.x + box.width) >> 6) << 6, self._view.width)
        units = Box(first * 8, box.y, (-(-right >> 6) - first) * 8, box.height)
        bits, holes = self._gather(units, 0)
        cells = BitGrid(right - 64 * first, box.height, bits.view(np.uint64))
        return cells, box._replace(x=box.x - 64 * first, y=0), holes

    def _far(self, box: Box, k: int, asked: int | None = None, depth: int = 0) -> Levels:
        """Draw a region at a level; what is not at hand comes from other levels.

        asked: a level whose parts are asked for, beside the level itself where depth is 0.
        """
        units = Box(box.x >> k, box.y >> k, -(-box.width >> k), -(-box.height >> k))
        wanted = depth == 0 or asked == k
        picture, holes = self._gather(units, k, wanted)
        if holes:
            self._fill(picture, holes, k, box, k, k + 1, asked, depth)
        return picture

    def _fill(
        self,
        picture: Levels,
        holes: list[Box],
        level: int,
        box: Box,
        scale: int,
        coarser: int,
        asked: int | None = None,
        depth: int = 0,
    ) -> None:
        """Draw the holes of a picture of box at a scale from a coarser level.

        holes: in rows and columns of the level that is missing. The rest is where the search for
        something coarser stands, which is as many numbers.
        """
        down, across = shifts(level)
        width, height = self._view.width, self._view.height
        side = 1 << coarser
        # In cells, where blocks of the coarser level begin and end.
        left = min(hole.x for hole in holes) << across
        right = max(hole.x + hole.width for hole in holes) << across
        top = min(hole.y for hole in holes) << down
        bottom = max(hole.y + hole.height for hole in holes) << down
        left, right = max(left, box.x), min(right, box.x + box.width)
        top, bottom = max(top, box.y), min(bottom, box.y + box.height)
        left, top = left // side * side, top // side * side
        right, bottom = min(-(-right // side) * side, width), min(-(-bottom // side) * side, height)
        around = Box(left, top, right - left, bottom - top)
        if depth == 0:
            asked = self._first(max(scale, FIRST) if level else scale)
        if depth < _FALLBACK and coarser <= self._view.form.top:
            blurred = self._far(around, coarser, asked, depth + 1)
        else:
            blurred = self._view.coarsest(around, coarser)
        blurred = self._as_in(picture, blurred)
        step = coarser - scale
        for hole in holes:
            x0 = max((hole.x << across) - box.x, 0) >> scale
            y0 = max((hole.y << down) - box.y, 0) >> scale
            x1 = min(-(-(((hole.x + hole.width) << across) - box.x) >> scale), picture.shape[1])
            y1 = min(-(-(((hole.y + hole.height) << down) - box.y) >> scale), picture.shape[0])
            if x0 >= x1 or y0 >= y1:
                continue
            rows = (np.arange(y0, y1) + (box.y >> scale) >> step) - (top >> coarser)
            columns = (np.arange(x0, x1) + (box.x >> scale) >> step) - (left >> coarser)
            picture[y0:y1, x0:x1] = blurred[rows[0] : rows[-1] + 1].take(columns, 1)[rows - rows[0]]

    def _as_in(self, picture: Levels, levels: Levels) -> Levels:
        """Return levels as they are shown in a picture."""
        return levels

    def _first(self, scale: int) -> int | None:
        """Return the level that is asked for before the one that is wanted: it has less to read."""
        top = self._view.form.top
        level = max(scale + _AHEAD, FIRST)
        return min(level, top) if top and min(level, top) > scale else None

    def _gather(self, box: Box, level: int, wanted: bool = True) -> tuple[Levels, list[Box]]:
        """Return what is at hand of a region of a level, and where something is not. wanted:
        ask."""
        planes = self._view.form.planes
        depth = (planes,) if level == 0 and planes > 1 else ()
        picture = np.zeros((box.height, *depth, box.width), np.uint8)
        return picture, self._put(picture, box, self._view.pieces(box, level), wanted)

    def _put(
        self,
        picture: Levels,
        box: Box,
        tiles: Iterable[tuple[TileRecord | None, Iterable[TilePiece]]],
        wanted: bool = True,
    ) -> list[Box]:
        """Put what is at hand of some parts into a picture of a box; return where something is
        not. tiles: the parts, as of Snapshot.pieces(). wanted: ask for what is not."""
        pieces: list[TilePiece] = []
        for record, some in tiles:
            # Of a tile where nothing lives all is known.
            if record is None or record.population:
                pieces += some
        found, missing = self._parts.look(self._view, pieces)
        for piece, part in found:
            _paste(picture, box, piece, part)
        at_hand = {(piece.stripe, piece.slab) for piece, _ in found}
        if wanted:
            # All of one picture must find room, or what comes would drive out what is there.
            self._room -= sum(part.nbytes for _, part in found)
            asked = []
            for piece in missing:
                if (piece.stripe, piece.slab) not in at_hand:
                    self._room -= piece.rows * piece.columns * piece.depth
                if self._room >= 0:
                    asked.append(piece)
            # Coarser ones, which come later, are wanted first.
            self.missing = asked + self.missing
        return _joined([p for p in missing if (p.stripe, p.slab) not in at_hand])


def _joined(pieces: list[TilePiece]) -> list[Box]:
    """Return where pieces lie; those below each other as one."""
    holes: list[Box] = []
    last: dict[tuple[int, int], int] = {}  # by columns: of the holes, the one to go on with
    for piece in pieces:
        columns = piece.left, piece.columns
        at = last.get(columns)
        if at is not None and holes[at].y + holes[at].height == piece.top:
            holes[at] = holes[at]._replace(height=holes[at].height + piece.rows)
        else:
            last[columns] = len(holes)
            holes.append(Box(piece.left, piece.top, piece.columns, piece.rows))
    return holes


def _paste(picture: Levels, box: Box, piece: TilePiece, part: Levels) -> None:
    x, y = piece.left - box.x, piece.top - box.y
    x0, y0 = max(x, 0), max(y, 0)
    x1, y1 = min(x + piece.columns, box.width), min(y + piece.rows, box.height)
    picture[y0:y1, ..., x0:x1] = part[y0 - y : y1 - y, ..., x0 - x : x1 - x]
