"""Fill windows from files, and take tiles from windows."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from math import prod

import numpy as np

from kernels.life.contract import LifeUniverse
from lifesim.grid import Words, shape_of
from lifesim.store.tilefile import datasets, hash_of
from lifesim.store.tilereader import TileReader
from lifesim.store.tiling import TileBlock, TileWindow, pieces
from lifesim.store.universe import Universe
from lifesim.store.workers import TileWorkers
from lifesim.stream.bits import copy_columns

_OPEN_FILES = 64


class _Readers:
    """The files of a universe that a window is filled from, opened as they are needed."""

    def __init__(self, universe: Universe, tile_columns: int) -> None:
        self._universe = universe
        self._most = max(_OPEN_FILES, 4 * tile_columns)
        self._open: OrderedDict[int, TileReader] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tile: int) -> TileReader:
        """Return the open file of a tile."""
        with self._lock:
            reader = self._open.get(tile)
            if reader is None:
                reader = self._open[tile] = self._universe.reader(tile)
                if len(self._open) > self._most:
                    self._open.popitem(last=False)  # closed when its last user is done
            self._open.move_to_end(tile)
            return reader


def fill(
    universe: Universe,
    window: TileWindow,
    target: LifeUniverse,
    workers: TileWorkers,
    *,
    cancelled: Callable[[], bool],
    read: Callable[[int], None],
) -> None:
    """Put every row of a window, chunks of files shared out among the workers.

    read() is told of bytes as they come in. Raises DamagedDataError and LifesimError;
    cancelled, it leaves rows out.
    """
    tiling, form = universe.tiling, universe.manifest.form
    row_shape = shape_of(window.across.length, 1, form.planes)[1:]
    parts = [
        (place + at - first, c, at - tiling.columns[c], count)
        for place, first, length in pieces(tiling.width, window.across)
        for c, at, count in _cut_at(tiling.columns, first, length)
    ]
    whole_rows = tiling.across == 1 and len(parts) == 1 and parts[0][3] == tiling.width
    readers = _Readers(universe, len(parts))
    jobs: list[Future[None]] = []

    def copy(place: int, tile_row: int, chunk: int, first: int, count: int) -> None:
        """Copy rows first to first + count - 1 of a chunk of a row of tiles to row `place`."""
        if cancelled():
            return
        band: Words | None = None
        if not whole_rows:
            memory = workers.memory("band", count * prod(row_shape) * 8)
            band = memory.view(np.uint64).reshape(count, *row_shape)
            band[..., -1] = 0
        for to, c, start, columns in parts:
            reader = readers.of(tile_row * tiling.across + c)
            cells = reader.sets[0]
            buffer = workers.memory("chunk", cells.chunk_bytes(chunk) + 2 * 4096)
            data = reader.read(cells, chunk, buffer)
            read(len(data))
            rows = cells.rows_of(data)[first : first + count]
            if band is None:
                target.put(place, np.ascontiguousarray(rows))
            else:
                copy_columns(band, to, rows, start, columns)
        if band is not None:
            target.put(place, band)

    for place, first, length in pieces(tiling.height, window.down):
        for r, at, count in _cut_at(tiling.rows, first, length):
            y = at - tiling.rows[r]
            while count:
                chunk, skip = divmod(y, form.chunk_rows)
                some = min(count, form.chunk_rows - skip)
                row = place + at - first + (y - (at - tiling.rows[r]))
                jobs.append(workers.submit(copy, row, r, chunk, skip, some))
                y, count = y + some, count - some
    _await(jobs)


def _cut_at(edges: tuple[int, ...], first: int, length: int) -> list[tuple[int, int, int]]:
    """Return the parts of [first, first + length) by the interval of edges: (interval, at,
    count)."""
    found = []
    at, end = first, first + length
    while at < end:
        i = bisect_right(edges, at) - 1
        count = min(end, edges[i + 1]) - at
        found.append((i, at, count))
        at += count
    return found


def _await(jobs: list[Future[None]]) -> None:
    """Wait for all; the first error stops those not yet begun, and is raised."""
    error: BaseException | None = None
    for job in jobs:
        if error is not None:
            job.cancel()
        if not job.cancelled():
            error = error or job.exception()
    if error is not None:
        raise error


class TileView:
    """The cells of one tile in a window that has been moved on."""

    def __init__(
        self,
        universe: Universe,
        tile: int,
        block: TileBlock,
        window: TileWindow,
        source: LifeUniverse,
        workers: TileWorkers,
    ) -> None:
        tiling = universe.tiling
        self._universe, self._tile = universe, tile
        self.box = tiling.box(tile)
        self._source, self._workers = source, workers
        self._top = window.down.before + self.box.y - tiling.rows[block.top]
        left = window.across.before + self.box.x - tiling.columns[block.left]
        self._first = left // 64  # window and tile start at whole words
        self._row = shape_of(window.across.length, 1, universe.manifest.form.planes)[1:]

    def fetch(self, y: int, words: Words) -> None:
        """Copy rows y and following of the tile into words; for any of the workers."""
        if words.shape[-1] == self._row[-1]:
            self._source.get(self._top + y, words)
            return
        memory = self._workers.memory("band", len(words) * prod(self._row) * 8)
        band = memory.view(np.uint64).reshape(len(words), *self._row)
        self._source.get(self._top + y, band)
        words[:] = band[..., self._first : self._first + words.shape[-1]]
        if self.box.width % 64:
            words[..., -1] &= np.uint64((1 << self.box.width % 64) - 1)

    def is_unchanged(self) -> bool:
        """Tell whether the cells are, every one, those of the tile's present file."""
        form = self._universe.manifest.form
        cells = datasets(self.box.width, self.box.height, form)[0]
        reader = self._universe.reader(self._tile)
        plain = form.compression == "none"
        for chunk in range(cells.chunks):
            nbytes = cells.chunk_bytes(chunk)
            data = self._workers.memory("tile", nbytes)
            self.fetch(chunk * cells.chunk_rows, cells.rows_of(data))
            if plain and hash_of(data) != reader.stored_hash(cells, chunk):
                return False
            old = reader.read(cells, chunk, self._workers.memory("chunk", nbytes + 2 * 4096))
            if not np.array_equal(old, data):
                return False
        return True
