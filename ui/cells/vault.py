"""Compressed cells in memory, within a budget: what exceeds it goes to temporary files.

The oldest cells go to files first.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import zstandard

from kernels.targets.memory import available_memory
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Words, bytes_of, shape_of

_BUDGET, _SHARE = 256 << 20, 8  # bytes in memory at least; of free memory
_CHUNK = 1 << 22  # bytes of cells that are compressed at once
_LARGE = 1 << 24  # bytes of cells that are too many to compress what hardly can be
_LEVEL = -1  # as fast as a copy where there is nothing to gain
_SAMPLE = 1 << 16
_SWEEP = 1024


class HistoryError(LifesimError):
    """Raised where old cells cannot be read any more."""


class StoredCells:
    """The compressed cells of a region, in memory or in a file of their own; a vault makes them.

    The thread of the vault fills and reads them; they may be dropped in any thread.
    """

    def __init__(self, vault: Vault, number: int, width: int, height: int, planes: int) -> None:
        self.width, self.height, self.planes = width, height, planes
        self.nbytes = 0  # in memory
        self._vault, self._number = vault, number
        self._rows: list[int] = []  # of each chunk
        self._chunks: list[bytes | int] = []  # as they are, or how long they are in the file
        self._written = 0  # chunks, and
        self._file_bytes = 0

    def add(self, words: Words) -> None:
        """Append the next rows: words, uint64, as those of a grid."""
        data = np.ascontiguousarray(words).view(np.uint8).reshape(-1).data
        compress = zstandard.ZstdCompressor(level=_LEVEL).compress
        large = bytes_of(self.width, self.height, self.planes) > _LARGE
        if large and 4 * len(compress(data[:_SAMPLE])) > min(len(data), _SAMPLE):
            chunk = bytes(data)
        else:
            chunk = compress(data)
            # What is as long as the cells is the cells.
            chunk = chunk if len(chunk) < len(data) else bytes(data)
        self._chunks.append(chunk)
        self._rows.append(len(words))
        self._count(len(chunk))

    def _count(self, more: int) -> None:
        self.nbytes += more
        self._vault.count(more)

    def spill(self) -> None:
        """Move a chunk that is in memory to the file. Raises OSError."""
        chunk = self._chunks[self._written]
        assert isinstance(chunk, bytes)
        with open(self._vault.place(self._number), "ab") as file:
            file.truncate(self._file_bytes)
            file.write(chunk)
        self._chunks[self._written] = len(chunk)
        self._written += 1
        self._file_bytes += len(chunk)
        self._count(-len(chunk))

    @property
    def height_kept(self) -> int:
        """Count the rows that have been added."""
        return sum(self._rows)

    def rows(self) -> Iterator[tuple[int, Words]]:
        """Yield the first row and the words of each chunk. Raises HistoryError."""
        y = start = 0
        for count, chunk in zip(self._rows, self._chunks, strict=True):
            if isinstance(chunk, int):
                start, chunk = start + chunk, self._read(start, chunk)
            size = bytes_of(self.width, count, self.planes)
            data = chunk
            if len(chunk) < size:
                try:
                    data = zstandard.ZstdDecompressor().decompress(chunk, max_output_size=size)
                except zstandard.ZstdError:
                    data = b""
            if len(data) != size:
                raise HistoryError(f"{self._vault.place(self._number)}: old cells are damaged")
            shape = shape_of(self.width, count, self.planes)
            yield y, np.frombuffer(data, np.uint64).reshape(shape)
            y += count

    def _read(self, start: int, size: int) -> bytes:
        path = self._vault.place(self._number)
        try:
            with open(path, "rb") as file:
                file.seek(start)
                return file.read(size)
        except OSError as error:
            what = f"cannot read old cells from {path}: {error.strerror or error}"
            raise HistoryError(what) from None

    def grid(self) -> BitGrid:
        """Return all the cells. Raises HistoryError and GridError."""
        grid = BitGrid(self.width, self.height, planes=self.planes)
        for y, words in self.rows():
            grid.words[y : y + len(words)] = words
        return grid

    def __del__(self) -> None:
        self._count(-self.nbytes)
        if self._written:
            with contextlib.suppress(OSError):
                self._vault.place(self._number).unlink(missing_ok=True)


class Vault:
    """Stores cells, and moves the oldest to files where they exceed a budget.

    One thread uses it; only count() may be called from any.
    nbytes: bytes of the cells that are stored in memory.
    """

    def __init__(self, budget: int | None = None) -> None:
        """Make an empty vault. budget: bytes in memory; None is a share of what is free."""
        if budget is None:
            budget = max(_BUDGET, available_memory() // _SHARE)
        self.budget, self.nbytes = budget, 0
        self._in_memory: deque[weakref.ref[StoredCells]] = deque()  # the oldest first
        self._counting = threading.RLock()
        self._count = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self, width: int, height: int, planes: int = 1) -> StoredCells:
        """Return stored cells without rows, which add() fills."""
        self._count += 1
        kept = StoredCells(self, self._count, width, height, planes)
        self._in_memory.append(weakref.ref(kept))
        if self._count % _SWEEP == 0:
            self._in_memory = deque(ref for ref in self._in_memory if ref())
        return kept

    def keep(self, cells: BitGrid) -> StoredCells:
        """Store cells."""
        kept = self.start(cells.width, cells.height, cells.planes)
        step = chunk_rows(cells.width, cells.planes)
        for y in range(0, cells.height, step):
            kept.add(cells.words[y : y + step])
        return kept

    def count(self, more: int) -> None:
        """Count bytes that are added to memory; any thread may, as it may drop stored cells."""
        with self._counting:
            self.nbytes += more

    def relieve(self) -> None:
        """Write what exceeds the budget. Raises OSError."""
        while self._in_memory and self.nbytes > self.budget:
            kept = self._in_memory[0]()
            while kept and kept.nbytes and self.nbytes > self.budget:
                kept.spill()
            # The last one may still grow.
            if kept and (kept.nbytes or len(self._in_memory) == 1):
                return
            self._in_memory.popleft()

    def place(self, number: int) -> Path:
        """Return the file of the stored cells of a number."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="lifesim-undo-")
        return Path(self._folder.name, str(number))

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            self._folder.cleanup()


def chunk_rows(width: int, planes: int = 1) -> int:
    """Return how many rows are stored as one chunk."""
    return max(1, _CHUNK // bytes_of(width, 1, planes))
