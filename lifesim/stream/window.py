"""Fill windows from files, and take tiles from windows."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from math import prod

import numpy as np

from kernels.life.contract import LifeUniverse
from lifesim.grid import Words, shape_of
from lifesim.store import disk
from lifesim.store.tilefile import Bytes, datasets, hash_of
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


@dataclass(frozen=True, slots=True)
class _Rows:
    """Some rows of a window: `count` of them from row `place` on, which are rows `first` and
    following of a chunk of the files in a row of tiles."""

    place: int
    tile_row: int
    chunk: int
    first: int
    count: int


class _Filling:
    """The filling of a window. cancelled: whether it is given up. read: told of bytes as they come
    in."""

    def __init__(
        self,
        universe: Universe,
        window: TileWindow,
        target: LifeUniverse,
        workers: TileWorkers,
        cancelled: Callable[[], bool],
        read: Callable[[int], None],
    ) -> None:
        self._tiling, self._form = universe.tiling, universe.manifest.form
        self._window, self._target, self._workers = window, target, workers
        self._cancelled, self._read = cancelled, read
        columns = self._tiling.columns
        # Columns of the window: (first one, column of tiles, first one of those, how many).
        self._parts = [
            (place + at - first, c, at - columns[c], count)
            for place, first, length in pieces(self._tiling.width, window.across)
            for c, at, count in _cut_at(columns, first, length)
        ]
        whole = len(self._parts) == 1 and self._parts[0][3] == self._tiling.width
        self._put = self._put_rows if whole else self._put_columns
        self._readers = _Readers(universe, len(self._parts))

    def rows(self) -> Iterator[_Rows]:
        """Yield all rows of the window, by chunks of files."""
        tiling, chunk_rows = self._tiling, self._form.chunk_rows
        for place, first, length in pieces(tiling.height, self._window.down):
            for r, at, count in _cut_at(tiling.rows, first, length):
                y, row = at - tiling.rows[r], place + at - first
                while count:
                    chunk, skip = divmod(y, chunk_rows)
                    some = min(count, chunk_rows - skip)
                    yield _Rows(row, r, chunk, skip, some)
                    y, row, count = y + some, row + some, count - some

    def copy(self, rows: _Rows) -> None:
        """Put rows of a chunk where they belong; for any of the workers."""
        if not self._cancelled():
            self._put(rows)

    def _put_rows(self, rows: _Rows) -> None:
        """Put rows as long as the window's: those of whole pages straight from the disk."""
        reader = self._readers.of(rows.tile_row)
        cells = reader.sets[0]
        room: Words | None = None
        if rows.count * cells.row_bytes == cells.chunk_bytes(rows.chunk):
            room = self._target.room(rows.place, rows.count)
        if room is not None and room.ctypes.data % disk.PAGE == room.nbytes % disk.PAGE == 0:
            data = self._chunk(reader, rows.chunk, room.reshape(-1).view(np.uint8))
            if data.ctypes.data == room.ctypes.data:
                return
        else:
            data = self._chunk(reader, rows.chunk)
        found = cells.rows_of(data)[rows.first : rows.first + rows.count]
        self._target.put(rows.place, np.ascontiguousarray(found))

    def _put_columns(self, rows: _Rows) -> None:
        """Put rows together of those of several tiles, or of parts of them."""
        row_shape = shape_of(self._window.across.length, 1, self._form.planes)[1:]
        memory = self._workers.memory("band", rows.count * prod(row_shape) * 8)
        band = memory.view(np.uint64).reshape(rows.count, *row_shape)
        band[..., -1] = 0
        for to, c, start, columns in self._parts:
            reader = self._readers.of(rows.tile_row * self._tiling.across + c)
            found = reader.sets[0].rows_of(self._chunk(reader, rows.chunk))
            copy_columns(band, to, found[rows.first : rows.first + rows.count], start, columns)
        self._target.put(rows.place, band)

    def _chunk(self, reader: TileReader, chunk: int, buffer: Bytes | None = None) -> Bytes:
        """Return the bytes of a chunk of cells: in `buffer`, if the file is as usual."""
        cells = reader.sets[0]
        if buffer is None:
            buffer = self._workers.memory("chunk", cells.chunk_bytes(chunk) + 2 * disk.PAGE)
        data = reader.read(cells, chunk, buffer)
        self._read(len(data))
        return data


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
    filling = _Filling(universe, window, target, workers, cancelled, read)
    _await([workers.submit(filling.copy, rows) for rows in filling.rows()])


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

    def fetch(self, y: int, words: Words) -> Words | None:
        """Copy rows y and following of the tile into words, or return as many where they lie, if
        they can be written to disk from there; for any of the workers."""
        if words.shape[-1] == self._row[-1]:
            held, top = self._source.view(), self._top + y
            if held is not None and held[top:].ctypes.data % disk.PAGE == 0:
                return held[top : top + len(words)]
            self._source.get(top, words)
            return None
        memory = self._workers.memory("band", len(words) * prod(self._row) * 8)
        band = memory.view(np.uint64).reshape(len(words), *self._row)
        self._source.get(self._top + y, band)
        words[:] = band[..., self._first : self._first + words.shape[-1]]
        if self.box.width % 64:
            words[..., -1] &= np.uint64((1 << self.box.width % 64) - 1)
        return None

    def is_unchanged(self) -> bool:
        """Tell whether the cells are, every one, those of the tile's present file."""
        form = self._universe.manifest.form
        cells = datasets(self.box.width, self.box.height, form)[0]
        reader = self._universe.reader(self._tile)
        plain = form.compression == "none"
        for chunk in range(cells.chunks):
            nbytes = cells.chunk_bytes(chunk)
            data = self._workers.memory("tile", nbytes)
            held = self.fetch(chunk * cells.chunk_rows, cells.rows_of(data))
            if held is not None:
                data = held.reshape(-1).view(np.uint8)
            if plain and hash_of(data) != reader.stored_hash(cells, chunk):
                return False
            old = reader.read(cells, chunk, self._workers.memory("chunk", nbytes + 2 * disk.PAGE))
            if not np.array_equal(old, data):
                return False
        return True
