"""Making the file of one tile: its cells, their population, digest and pyramid."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt

from kernels.cells import survey
from lifesim.grid import Box
from lifesim.store.pyramid import levels
from lifesim.store.tilefile import Format, TileRecord, TileWriter, datasets
from lifesim.store.workers import Workers

Words = npt.NDArray[np.uint64]
Fetch = Callable[[int, Words], None]


class TileJob:
    """Under way from the start; finish() waits for it.

    fetch(y, words) is called by the workers, and writes rows y and following of the tile
    into words, uint64 (rows, words of a row), padding bits zero.
    """

    def __init__(
        self, writer: TileWriter, box: Box, form: Format, fetch: Fetch, workers: Workers
    ) -> None:
        self._writer, self._box, self._form = writer, box, form
        self._fetch, self._workers = fetch, workers
        self._sets = datasets(box.width, box.height, form)
        self._counts = None
        if form.top:
            shape = -(-box.height // 8), 8 * self._sets[0].columns
            self._counts = np.empty(shape, np.uint8)
        cells = self._sets[0]
        self._chunks: list[Future[tuple[int, int]]] = [
            workers.submit(self._chunk, chunk) for chunk in range(cells.chunks)
        ]

    def _chunk(self, chunk: int) -> tuple[int, int]:
        cells, box = self._sets[0], self._box
        y = chunk * cells.chunk_rows
        data = self._workers.memory("tile", cells.chunk_bytes(chunk))
        words = data.view(np.uint64).reshape(-1, cells.columns)
        self._fetch(y, words)
        counts = None
        if self._counts is not None:
            counts = self._counts[y // 8 : y // 8 + -(-len(words) // 8)]
        found = survey(words, box.y + y, box.x // 64, counts)
        self._writer.write(cells, chunk, data)
        return found

    def finish(self) -> TileRecord:
        """The file has its name. Raises what went wrong, after dropping the file."""
        try:
            found = [chunk.result() for chunk in self._chunks]
            if self._counts is not None:
                self._write_levels(self._counts)
            population = sum(live for live, _ in found)
            partial = sum(part for _, part in found) & ((1 << 128) - 1)
            return self._writer.finish(population, partial)
        except BaseException:
            self.drop()
            raise

    def _write_levels(self, counts: npt.NDArray[np.uint8]) -> None:
        box = self._box
        made = levels(counts, box.width, box.height, self._form.top)
        for s, level in zip(self._sets[1:], made, strict=True):
            flat = level.reshape(-1)
            step = s.chunk_rows * s.columns
            for chunk in range(s.chunks):
                self._writer.write(s, chunk, flat[chunk * step : (chunk + 1) * step])

    def drop(self) -> None:
        for chunk in self._chunks:
            chunk.cancel()
        for chunk in self._chunks:
            if not chunk.cancelled():
                chunk.exception()  # waits
        self._writer.drop()
