"""What was, and can be again: undo and redo without limit, within a memory budget.

An entry holds one side of a change only: what undoing it puts back. Undoing takes the other
side, so that the entry can then be redone, and the other way round. Cells are compressed;
what exceeds the budget goes to temporary files, the oldest first.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import zstandard

from kernels.memory import available_memory
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, Words, bytes_of
from ui.cells.machine import Setting

_BUDGET, _SHARE = 256 << 20, 8  # bytes in memory at least; of free memory
_CHUNK = 1 << 22  # bytes of cells that are compressed at once
_LARGE = 1 << 24  # bytes of cells that are too many to compress what hardly can be
_LEVEL = -1  # as fast as a copy where there is nothing to gain
_SAMPLE = 1 << 16
_SWEEP = 1024


class HistoryError(LifesimError):
    """Old cells that are no longer there."""


class Kept:
    """Cells of a region, compressed, in memory or in a file of their own; made by a vault."""

    def __init__(self, vault: Vault, number: int, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.nbytes = 0  # in memory
        self._vault, self._number = vault, number
        self._rows: list[int] = []  # of each chunk
        self._chunks: list[bytes | int] = []  # as they are, or how long they are in the file
        self._written = 0  # chunks, and
        self._file_bytes = 0

    def add(self, words: Words) -> None:
        """The next rows."""
        data = np.ascontiguousarray(words).view(np.uint8).reshape(-1).data
        compress = zstandard.ZstdCompressor(level=_LEVEL).compress
        large = bytes_of(self.width, self.height) > _LARGE
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
        """Rows that have been added."""
        return sum(self._rows)

    def rows(self) -> Iterator[tuple[int, Words]]:
        """First row and words, a chunk at a time. Raises HistoryError."""
        y = start = 0
        for count, chunk in zip(self._rows, self._chunks, strict=True):
            if isinstance(chunk, int):
                start, chunk = start + chunk, self._read(start, chunk)
            size = bytes_of(self.width, count)
            data = chunk
            if len(chunk) < size:
                try:
                    data = zstandard.ZstdDecompressor().decompress(chunk, max_output_size=size)
                except zstandard.ZstdError:
                    data = b""
            if len(data) != size:
                raise HistoryError(f"{self._vault.place(self._number)}: old cells are damaged")
            yield y, np.frombuffer(data, np.uint64).reshape(count, -1)
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
        """All of them. Raises HistoryError and GridError."""
        grid = BitGrid(self.width, self.height)
        for y, words in self.rows():
            grid.words[y : y + len(words)] = words
        return grid

    def __del__(self) -> None:
        self._count(-self.nbytes)
        if self._written:
            with contextlib.suppress(OSError):
                self._vault.place(self._number).unlink(missing_ok=True)


class Vault:
    """Where cells are kept: makes Kept ones, and sees to the budget. For one thread.

    nbytes: of what is kept in memory.
    """

    def __init__(self, budget: int | None = None) -> None:
        """budget: a share of the memory that is free, unless told."""
        if budget is None:
            budget = max(_BUDGET, available_memory() // _SHARE)
        self.budget, self.nbytes = budget, 0
        self._in_memory: deque[weakref.ref[Kept]] = deque()  # the oldest first
        self._counting = threading.RLock()
        self._count = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self, width: int, height: int) -> Kept:
        """One that add() fills."""
        self._count += 1
        kept = Kept(self, self._count, width, height)
        self._in_memory.append(weakref.ref(kept))
        if self._count % _SWEEP == 0:
            self._in_memory = deque(ref for ref in self._in_memory if ref())
        return kept

    def keep(self, cells: BitGrid) -> Kept:
        kept = self.start(cells.width, cells.height)
        step = chunk_rows(cells.width)
        for y in range(0, cells.height, step):
            kept.add(cells.words[y : y + step])
        return kept

    def count(self, more: int) -> None:
        """Of bytes in memory; from any thread, as what nobody needs may go in any."""
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
        """The file of a Kept one."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="lifesim-undo-")
        return Path(self._folder.name, str(number))

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            self._folder.cleanup()


def chunk_rows(width: int) -> int:
    """Rows that are kept as one chunk."""
    return max(1, _CHUNK // bytes_of(width, 1))


@dataclass(frozen=True, slots=True)
class Route:
    """All cells of a moment: those kept, of this generation, and what was written over them,
    with the generation of each, on the way to it."""

    kept: Kept
    generation: int
    written: tuple[tuple[int, Box, Kept], ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """A generation and what it takes to be in it again.

    whole: all cells, or patches: of what was changed since, the last to be put back first.
    start: where reset() goes from it; edited: says which edits have been made, so that equal
    numbers are equal cells, but for generations.
    """

    generation: int
    setting: Setting
    edited: int
    start: Moment | None = None
    whole: Route | None = None
    patches: tuple[tuple[Box, Kept], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A change that can be undone, or redone: going to `moment` does it.

    number: strokes of one number are one change; 0 is none.
    """

    title: str
    moment: Moment
    number: int = 0


@dataclass(slots=True)
class History:
    """Two stacks; the last entries are next."""

    undo: list[Entry] = field(default_factory=list)
    redo: list[Entry] = field(default_factory=list)

    def push(self, entry: Entry) -> None:
        """Something has been done; what had been undone cannot be redone any more."""
        self.redo.clear()
        last = self.undo[-1] if self.undo else None
        if last and entry.number and last.number == entry.number:
            patches = (*last.moment.patches, *entry.moment.patches)
            moment = replace(last.moment, patches=patches)
            self.undo[-1] = Entry(entry.title, moment, entry.number)
        else:
            self.undo.append(entry)

    def forget(self) -> None:
        """Everything."""
        self.undo.clear()
        self.redo.clear()

    def nearest(self, generation: int, now: int, start: Moment | None) -> Moment | None:
        """The latest whole moment on the way to now that is not after a generation."""
        known = [entry.moment for entry in reversed(self.undo) if entry.moment.whole]
        for moment in (*known, *([start] if start else [])):
            # Whoever went back in time has left the way at what was later than that.
            if moment.generation <= now:
                if moment.generation <= generation:
                    return moment
                now = moment.generation
        return None

    def first(self, now: int, start: Moment | None) -> int:
        """The least generation that nearest() finds something for, or now."""
        known = [entry.moment for entry in reversed(self.undo) if entry.moment.whole]
        return min([now, *(m.generation for m in known), *([start.generation] if start else [])])
