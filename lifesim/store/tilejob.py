"""Making the file of one tile: its cells, their population, digest and pyramid."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt

from kernels.cells import live_type
from lifesim.digests import surveyed
from lifesim.grid import Box
from lifesim.store.pyramid import Live, climb, halved
from lifesim.store.tilefile import TileFormat, TileRecord, datasets
from lifesim.store.tilewriter import TileWriter
from lifesim.store.workers import TileWorkers

Words = npt.NDArray[np.uint64]
_MASK = (1 << 128) - 1


class Dropped(Exception):
    """The job was given up."""


Fetch = Callable[[int, Words], Words | None]


class TileJob:
    """The making of a tile's file. It is under way from the start; the workers do all of it, the
    last of them the end.

    make: the writer of the file. fetch(y, words) writes rows y and following of the tile
    into words, uint64 (rows, words of a row) or, of several bit planes, (rows, planes, words),
    padding bits zero; or it returns so many rows where they lie. is_unchanged: asked first,
    whether there is nothing to write.
    """

    def __init__(
        self,
        make: Callable[[], TileWriter],
        box: Box,
        form: TileFormat,
        fetch: Fetch,
        workers: TileWorkers,
        is_unchanged: Callable[[], bool] | None = None,
    ) -> None:
        self._make, self._box, self._form = make, box, form
        self._fetch, self._workers, self._is_unchanged = fetch, workers, is_unchanged
        self._sets = datasets(box.width, box.height, form)
        self._writer: TileWriter | None = None
        self._lock = threading.Lock()
        self._left = self._sets[0].chunks
        self._population, self._partials = 0, (0,) * form.planes
        self._lent: list[npt.NDArray[np.uint8]] = []
        self._error: BaseException | None = None
        self._record: Future[TileRecord | None] = Future()
        workers.submit(self._begin)

    @property
    def is_done(self) -> bool:
        """Tell whether finish() would not wait."""
        return self._record.done()

    def finish(self) -> TileRecord | None:
        """Wait until the file has its name, and return its record; None where nothing has changed.
        Raises what went wrong, after dropping the file."""
        return self._record.result()

    def drop(self) -> None:
        """Give up, if it is not too late, and wait."""
        self._fail(Dropped())
        self._record.exception()

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            self._error = self._error or error

    def _begin(self) -> None:
        try:
            if self._error:
                raise self._error
            if self._is_unchanged and self._is_unchanged():
                self._record.set_result(None)
                return
            self._make_levels()
            self._writer = self._make()
        except BaseException as error:
            self._record.set_exception(error)
            return
        for chunk in range(self._left):
            self._workers.submit(self._work, chunk)

    def _make_levels(self) -> None:
        """Make room for levels up to `near`, which are found with the cells of each chunk, and for
        the live cells that the others are found from at the end."""
        form, box = self._form, self._box
        self._near = min(form.top, (form.chunk_rows & -form.chunk_rows).bit_length() - 1)
        if not form.top:
            return
        self._lent = [
            self._workers.lend(s.rows * s.columns) for s in self._sets[1 : self._near - 1]
        ]
        self._levels = [
            memory.reshape(s.rows, s.columns)
            for memory, s in zip(self._lent, self._sets[1:], strict=False)
        ]
        shape = -(-box.height >> self._near), -(-box.width >> self._near)
        self._live: Live = np.empty(shape, live_type(self._near))

    def _work(self, chunk: int) -> None:
        try:
            if self._error is None:
                self._chunk(chunk)
        except BaseException as error:
            self._fail(error)
        with self._lock:
            self._left -= 1
            if self._left:
                return
        try:
            if self._error:
                raise self._error
            self._write_levels()
            assert self._writer
            partials = tuple(partial & _MASK for partial in self._partials)
            record = self._writer.finish(self._population, partials)
        except BaseException as error:
            if self._writer:
                self._writer.drop()
            self._record.set_exception(error)
        else:
            for memory in self._lent:
                self._workers.give_back(memory)
            self._record.set_result(record)

    def _chunk(self, chunk: int) -> None:
        cells, box = self._sets[0], self._box
        y = chunk * cells.chunk_rows
        data = self._workers.memory("tile", cells.chunk_bytes(chunk))
        words = cells.rows_of(data)
        held = self._fetch(y, words)
        if held is not None:
            words, data = held, held.reshape(-1).view(np.uint8)
        counts = None
        if self._form.top:
            memory = self._workers.memory("counts", -(-len(words) // 8) * 8 * cells.columns)
            counts = memory.reshape(-1, 8 * cells.columns)
        population, partials = surveyed(words, box.y + y, box.x // 64, counts)
        if counts is not None:
            blocks = counts[:, : -(-box.width // 8)]
            into = [
                level[y >> k : (y >> k) - (-len(words) >> k)]
                for k, level in enumerate(self._levels, 3)
            ]
            _, live = climb(blocks, box.width, len(words), 3, self._near, into)
            self._live[y >> self._near : (y >> self._near) + len(live)] = live
        with self._lock:
            self._population += population
            self._partials = tuple(map(operator.add, self._partials, partials))
        assert self._writer
        self._writer.write(cells, chunk, data)

    def _write_levels(self) -> None:
        if not self._form.top:
            return
        box, near, top = self._box, self._near, self._form.top
        made = list(self._levels)
        if top > near:
            live = halved(self._live, near + 1)
            made += climb(live, box.width, box.height, near + 1, top)[0]
        assert self._writer
        for s, level in zip(self._sets[1:], made, strict=True):
            flat = level.reshape(-1)
            step = s.chunk_rows * s.columns
            for chunk in range(s.chunks):
                self._writer.write(s, chunk, flat[chunk * step : (chunk + 1) * step])
