"""Parts of tile files, in memory as far as a budget goes, read by threads of their own.

At a level, a universe is bytes in rows: of level 0, the cells, 8 to a byte; of level k, from 3
on, densities of blocks of 2^k x 2^k. A stripe is so many rows as are read at once: a chunk of a
tile's file, or, of levels that no file holds, rows of pixels as wide as the universe. A part is
SLAB columns of a stripe.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lifesim.errors import LifesimError
from lifesim.grid import Box
from lifesim.render import level_of
from lifesim.store import read
from lifesim.store.tilefile import Dataset, TileReader, TileRecord, datasets
from lifesim.store.universe import Universe, disk_errors

Levels = npt.NDArray[np.uint8]

SLAB = 2048  # bytes
BUDGET = 384 << 20
_THREADS = 2
_STRIPE_BYTES, _STRIPE_CELLS = 1 << 20, 1 << 31  # of a level that no file holds
_OVERHEAD = 400  # bytes of memory that a part takes beside its own
_FORGOTTEN = 3.0  # seconds after which nobody waits for what nobody has asked for again
_CLOSING = 1.0  # seconds that a read has to end in
_TELLING = 1 / 30  # seconds between two tellings that more has come
_NOWHERE = -1  # the tile of what no file holds


class Stripe(NamedTuple):
    """number: of the chunk in its dataset, or of the rows of pixels."""

    tile: int
    level: int
    number: int


class Wanted(NamedTuple):
    """Columns first to last of slabs."""

    first: int
    last: int


class Piece(NamedTuple):
    """Where a part lies, in rows and columns of its level."""

    stripe: Stripe
    slab: int
    top: int
    left: int
    rows: int
    columns: int


class Snapshot:
    """A universe as its directory was at one moment. Nobody changes it.

    records: of each tile, the file that is to be seen. cut: the same object while stripes and
    parts lie where they did. The one before lends what is the same still.
    """

    def __init__(self, universe: Universe, before: Snapshot | None = None) -> None:
        self.universe = universe
        self.width, self.height = universe.width, universe.height
        self.tiling, self.form = universe.tiling, universe.manifest.form
        newest = not universe.is_whole
        self.records = [universe.record(i, newest=newest) for i in range(len(self.tiling))]
        if before and len(before.records) == len(self.records):
            pairs = zip(before.records, self.records, strict=True)
            self.records = [old if old == new else new for old, new in pairs]
        same = before and (before.tiling, before.form) == (self.tiling, self.form)
        self.cut: object = before.cut if before and same else object()

    def tag(self, stripe: Stripe) -> object:
        """Is another object if the stripe's bytes may be others."""
        return self if stripe.tile == _NOWHERE else self.records[stripe.tile]

    @cached_property
    def _brightness(self) -> Levels:
        """A byte for each tile."""
        live = np.array([record.population for record in self.records], np.int64)
        sizes = np.diff(self.tiling.rows)[:, None] * np.diff(self.tiling.columns)
        return level_of(live.reshape(sizes.shape), sizes)

    def coarsest(self, box: Box, level: int) -> Levels:
        """A level of a region, as far as can be told from what whole tiles hold."""
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

    def pieces(self, box: Box, level: int) -> Iterator[tuple[TileRecord | None, Iterator[Piece]]]:
        """The parts that a region of a level touches, tile by tile; None is of no tile.

        box: in rows and columns of the level.
        """
        if level and not 3 <= level <= self.form.top:
            yield None, self._free(box, level)
            return
        down, across = shifts(level)
        cells = Box(box.x << across, box.y << down, box.width << across, box.height << down)
        right, bottom = min(cells.x + cells.width, self.width), cells.y + cells.height
        inside = Box(cells.x, cells.y, right - cells.x, min(bottom, self.height) - cells.y)
        for tile in self.tiling.within(inside):
            yield self.records[tile], self._stored(tile, box, level)

    def _stored(self, tile: int, box: Box, level: int) -> Iterator[Piece]:
        down, across = shifts(level)
        cells = self.tiling.box(tile)
        data = dataset(self, tile, level)
        x, y = cells.x >> across, cells.y >> down
        first, last = max(box.y - y, 0), min(box.y + box.height - y, data.rows) - 1
        left, right = max(box.x - x, 0), min(box.x + box.width - x, data.row_bytes) - 1
        for chunk in range(first // data.chunk_rows, last // data.chunk_rows + 1):
            top = chunk * data.chunk_rows
            rows = min(data.chunk_rows, data.rows - top)
            for slab in range(left // SLAB, right // SLAB + 1):
                columns = min(SLAB, data.row_bytes - slab * SLAB)
                yield Piece(
                    Stripe(tile, level, chunk), slab, y + top, x + slab * SLAB, rows, columns
                )

    def _free(self, box: Box, level: int) -> Iterator[Piece]:
        height, width = -(-self.height >> level), -(-self.width >> level)
        some = stripe_rows(self.width, level)
        for number in range(box.y // some, (box.y + box.height - 1) // some + 1):
            top = number * some
            rows = min(some, height - top)
            for slab in range(box.x // SLAB, (box.x + box.width - 1) // SLAB + 1):
                columns = min(SLAB, width - slab * SLAB)
                yield Piece(Stripe(_NOWHERE, level, number), slab, top, slab * SLAB, rows, columns)

    def read(self, stripe: Stripe) -> Levels:
        """All of a stripe, uint8 (rows, columns). Raises LifesimError."""
        if stripe.tile == _NOWHERE:
            return self._drawn(stripe.level, stripe.number)
        data = dataset(self, stripe.tile, stripe.level)
        record, cells = self.records[stripe.tile], self.tiling.box(stripe.tile)
        with disk_errors(self.universe.path):
            reader = TileReader(self.universe.tiles_folder, record, cells, self.form)
            try:
                return reader.read(data, stripe.number).reshape(-1, data.row_bytes)
            finally:
                reader.close()

    def _drawn(self, level: int, number: int) -> Levels:
        rows = stripe_rows(self.width, level) << level
        top = number * rows
        box = Box(0, top, self.width, min(rows, self.height - top))
        # Another one, as reading may find it moved on and look again.
        own = Universe(self.universe.path, self.universe.manifest, self.universe.phase, None)
        return read.levels(own, box, level)


def shifts(level: int) -> tuple[int, int]:
    """Binary logarithms of the cells down and across that a byte of a level stands for."""
    return (level, level) if level else (0, 3)


def dataset(view: Snapshot, tile: int, level: int) -> Dataset:
    _, _, width, height = view.tiling.box(tile)
    return datasets(width, height, view.form)[level - 2 if level else 0]


def stripe_rows(width: int, level: int) -> int:
    """Rows of pixels that are drawn at once, of a level that no file holds."""
    pixels, cells = _STRIPE_BYTES // -(-width >> level), _STRIPE_CELLS // (width << level)
    return max(1, min(64, pixels, cells))


class Parts:
    """The parts of one universe that have been read. For any thread.

    arrived() is called, from any thread, when there is more to be seen; failed(error) when
    something cannot be read, after look_again(), which may show() another view, has been.
    """

    def __init__(
        self,
        view: Snapshot,
        arrived: Callable[[], None],
        failed: Callable[[LifesimError], None],
        look_again: Callable[[], None],
        budget: int = BUDGET,
    ) -> None:
        self._view, self.budget = view, budget
        self._arrived, self._failed, self._look_again = arrived, failed, look_again
        self._changed = threading.Condition()
        self._parts: OrderedDict[tuple[Stripe, int], tuple[object, Levels]] = OrderedDict()
        self._bytes = 0
        self._wanted: OrderedDict[Stripe, tuple[float, Wanted]] = OrderedDict()  # last is next
        self._reading: set[Stripe] = set()
        self._bad: dict[Stripe, object] = {}  # and their tags
        self._told = 0.0
        self._closed = False
        self._drawing = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name="tiles", daemon=True) for _ in range(_THREADS)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def view(self) -> Snapshot:
        """The universe as it is now."""
        return self._view

    def show(self, view: Snapshot) -> None:
        with self._changed:
            if view.cut is not self._view.cut:
                self._wanted.clear()
                self._bad.clear()
                self._parts.clear()
                self._bytes = 0
            self._view = view
            self._changed.notify_all()

    @property
    def bytes(self) -> int:
        return self._bytes

    def forgive(self) -> bool:
        """Try again what could not be read, when it is asked for; False if there is nothing."""
        with self._changed:
            bad, self._bad = self._bad, {}
        return bool(bad)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_CLOSING)

    def look(
        self, view: Snapshot, pieces: list[Piece]
    ) -> tuple[list[tuple[Piece, Levels]], list[Piece]]:
        """Those that are at hand, though perhaps of an older generation, and those that would
        have to be read for an exact picture. view: whose pieces they are."""
        found: list[tuple[Piece, Levels]] = []
        missing: list[Piece] = []
        with self._changed:
            if view.cut is not self._view.cut:
                return found, pieces
            for piece in pieces:
                key = piece.stripe, piece.slab
                part = self._parts.get(key)
                if part is None or part[1].shape != (piece.rows, piece.columns):
                    missing.append(piece)
                    continue
                self._parts.move_to_end(key)
                found.append((piece, part[1]))
                if part[0] is not self._view.tag(piece.stripe):
                    missing.append(piece)
        return found, missing

    def ask(self, view: Snapshot, pieces: list[Piece]) -> set[Stripe]:
        """Have these read, the first one first; before all that was asked for earlier.

        Returns those that will be: not what could not be read, until forgive().
        """
        now = time.monotonic()
        slabs: dict[Stripe, Wanted] = {}
        for stripe, slab, *_ in pieces:
            some = slabs.get(stripe)
            first, last = some or (slab, slab)
            slabs[stripe] = Wanted(min(first, slab), max(last, slab))
        with self._changed:
            if view.cut is not self._view.cut:
                return set()
            for stripe in [*slabs]:
                if self._bad.get(stripe) is self._view.tag(stripe):
                    del slabs[stripe]
            for stripe in reversed(slabs):
                if stripe not in self._reading:
                    self._wanted[stripe] = now, slabs[stripe]
                    self._wanted.move_to_end(stripe)
            self._changed.notify_all()
        return set(slabs)

    def wait(self, stripes: set[Stripe], seconds: float) -> None:
        """Until none of them is to be read any more, or it has taken too long."""

        def done() -> bool:
            return self._closed or not any(
                stripe in self._wanted or stripe in self._reading for stripe in stripes
            )

        with self._changed:
            self._changed.wait_for(done, seconds)

    # --- threads ---------------------------------------------------------------

    def _work(self) -> None:
        while job := self._next():
            view, stripe, wanted = job
            try:
                if stripe.tile == _NOWHERE:
                    with self._drawing:  # which takes memory
                        rows = view.read(stripe)
                else:
                    rows = view.read(stripe)
            except (LifesimError, MemoryError) as error:
                self._miss(stripe, view, error)
            else:
                self._keep(view, stripe, rows, wanted)
                del rows
            self._finish(stripe)

    def _next(self) -> tuple[Snapshot, Stripe, Wanted] | None:
        with self._changed:
            while True:
                if self._closed:
                    return None
                self._forget()
                if self._wanted:
                    stripe, (_, wanted) = self._wanted.popitem()
                    self._reading.add(stripe)
                    return self._view, stripe, wanted
                self._changed.wait()

    def _forget(self) -> None:
        """Drop what is wanted by nobody any more: the last one is the one asked for last."""
        if self._wanted:
            asked, _ = self._wanted[next(reversed(self._wanted))]
            if time.monotonic() - asked > _FORGOTTEN:
                self._wanted.clear()
                self._changed.notify_all()

    def _keep(self, view: Snapshot, stripe: Stripe, rows: Levels, wanted: Wanted) -> None:
        # Of the neighbours too, as who looks here may look there next.
        first, last = max(wanted.first - 1, 0), min(wanted.last + 1, (rows.shape[1] - 1) // SLAB)
        parts = [
            (slab, rows[:, slab * SLAB : (slab + 1) * SLAB].copy())
            for slab in range(first, last + 1)
        ]
        tag = view.tag(stripe)
        with self._changed:
            if view.cut is not self._view.cut:
                return
            self._bad.pop(stripe, None)
            for slab, part in parts:
                old = self._parts.pop((stripe, slab), None)
                if old:
                    self._bytes -= old[1].nbytes + _OVERHEAD
                self._parts[stripe, slab] = tag, part
                self._bytes += part.nbytes + _OVERHEAD
            while self._bytes > self.budget:
                _, (_, part) = self._parts.popitem(last=False)
                self._bytes -= part.nbytes + _OVERHEAD

    def _miss(self, stripe: Stripe, view: Snapshot, error: Any) -> None:
        """No failure where the universe has moved on meanwhile: the next picture asks again."""
        self._look_again()
        tag = view.tag(stripe)
        with self._changed:
            same = view.cut is self._view.cut and self._view.tag(stripe) is tag
            if not same or self._closed:
                return
            self._bad[stripe] = tag
        if isinstance(error, MemoryError):
            error = LifesimError("out of memory")
        self._failed(error)

    def _finish(self, stripe: Stripe) -> None:
        with self._changed:
            self._reading.discard(stripe)
            self._forget()
            now = time.monotonic()
            tell = now > self._told + _TELLING or not (self._wanted or self._reading)
            tell = tell and not self._closed
            if tell:
                self._told = now
            self._changed.notify_all()
        if tell:
            self._arrived()
