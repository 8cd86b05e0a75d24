"""Reading the file of a tile, every byte of which is checked."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from kernels.life.bytewise import check_states
from kernels.targets.memory import available_memory
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import Box, Words, human_bytes
from lifesim.store import disk
from lifesim.store.disk import PAGE
from lifesim.store.tilefile import (
    ROW_BYTES,
    Bytes,
    Dataset,
    TileFormat,
    TileRecord,
    datasets,
    hash_of,
    rest_hash,
    table_bytes,
)

_LARGE = 1 << 28  # bytes of a chunk or a table, from which on memory is asked for them
_CHECKED = 1 << 18  # bytes of cells whose states are checked at a time, in cache


class TileReader:
    """The open file of a tile. Every chunk is checked as it is read. Several threads may read at
    once.

    Raises DamagedDataError where the file is not the one that the record is of, and
    OSError where the system refuses.
    """

    def __init__(self, folder: str, record: TileRecord, box: Box, form: TileFormat) -> None:
        self.path = os.path.join(folder, record.file)
        self._record, self._form = record, form
        self._sets = datasets(box.width, box.height, form)
        self._beyond = box.width % 64  # bits of a row's last word that are cells; 0 for all
        self._fd = -1
        try:
            self._fd, self._direct = disk.open_file(
                self.path, os.O_RDONLY, direct=form.compression == "none"
            )
            size = os.fstat(self._fd).st_size
        except (FileNotFoundError, NotADirectoryError):
            raise DamagedDataError(f"{self.path}: the file is missing") from None
        except disk.StrangerError as error:
            raise DamagedDataError(f"{self.path}: {error.strerror}") from None
        if size != record.size:
            raise DamagedDataError(f"{self.path}: {size} bytes, not {record.size} as written")
        nbytes = table_bytes(box.width, box.height, form)
        if not 0 <= record.table <= size - nbytes:
            raise DamagedDataError(f"{self.path}: damaged: it has no room for its checksums")
        for wanted in (nbytes, max(s.chunk_bytes(0) for s in self._sets)):
            if wanted > _LARGE and 2 * wanted > available_memory():
                raise LifesimError(f"{self.path}: more than memory holds: {human_bytes(wanted)}")
        self._table = np.zeros((nbytes // ROW_BYTES, 3), np.uint64)
        flat = self._table.reshape(-1).view(np.uint8)
        flat[:] = self._bytes(record.table, len(flat))
        if f"{hash_of(flat):016x}" != record.table_hash:
            raise DamagedDataError(
                f"{self.path}: damaged, or another file in its place: "
                f"its checksums are not those that were written"
            )
        self._check_table()

    def _check_table(self) -> None:
        """Raise DamagedDataError where chunks lie elsewhere than in the file, or have another
        length: the checksum of the table is right, but anybody can make one."""
        starts, counts = self._table[:, 0], self._table[:, 1]
        size = np.uint64(self._record.size)
        right = bool(((starts <= size) & (counts <= size - np.minimum(starts, size))).all())
        if self._form.compression == "none":
            for s in self._sets:
                part = counts[s.first : s.first + s.chunks]
                right &= bool((part[:-1] == s.chunk_bytes(0)).all())
                right &= bool(part[-1] == s.chunk_bytes(s.chunks - 1))
        if not right:
            raise DamagedDataError(f"{self.path}: damaged: its chunks lie where none can be")

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    @property
    def sets(self) -> tuple[Dataset, ...]:
        """Return the datasets."""
        return self._sets

    def stored_hash(self, s: Dataset, chunk: int) -> int:
        """Return the checksum of what is stored of a chunk: of its bytes, where not compressed."""
        return int(self._table[s.first + chunk, 2])

    def read(self, s: Dataset, chunk: int, buffer: Bytes | None = None) -> Bytes:
        """Return the bytes of the rows of a chunk; in `buffer`, of aligned memory, if it fits."""
        offset, count, expected = (int(value) for value in self._table[s.first + chunk])
        data = self._bytes(offset, count, buffer)
        if hash_of(data) != expected:
            where = f"rows {chunk * s.chunk_rows} and following of {s.name}"
            raise DamagedDataError(f"{self.path}: damaged: checksum of {where}")
        if self._form.compression != "none":
            data = self._expanded(s, data)[: s.chunk_bytes(chunk)]
        if s.name == "cells":
            self._check_cells(s, data)
        return data

    def _check_cells(self, s: Dataset, data: Bytes) -> None:
        """Raise DamagedDataError for cells beyond the last column, and for cells in states that the
        rule does not have: checksums are right, but anybody can make them."""
        rows = s.rows_of(data)
        if self._beyond and (rows[..., -1] >> np.uint64(self._beyond)).any():
            raise DamagedDataError(f"{self.path}: damaged: it has cells beyond its last column")
        if self._form.states == 1 << s.planes:
            return
        try:
            check_stored(rows, self._form.states)
        except ValueError as error:
            raise DamagedDataError(f"{self.path}: damaged: it has {error}") from None

    def _expanded(self, s: Dataset, data: Bytes) -> Bytes:
        """Expand a frame, which says itself how much it expands to, and may lie."""
        import zstandard

        full = min(s.chunk_rows, s.rows) * s.row_bytes
        try:
            if zstandard.frame_content_size(data.data) != full:
                raise DamagedDataError(
                    f"{self.path}: damaged: a chunk of {s.name} is of another size"
                )
            whole = zstandard.ZstdDecompressor().decompress(data.data, max_output_size=full)
        except zstandard.ZstdError as error:
            raise DamagedDataError(f"{self.path}: damaged: {s.name}: {error}") from None
        return np.frombuffer(whole, np.uint8)

    def _bytes(self, offset: int, count: int, buffer: Bytes | None = None) -> Bytes:
        """Return bytes of the file; a direct one gives whole pages, some of them not asked for."""
        skip = offset % PAGE if self._direct else 0
        need = skip + count
        room = -(-need // PAGE) * PAGE if self._direct else need
        if buffer is None or len(buffer) < room:
            buffer = disk.aligned(room)
        try:
            disk.read(self._fd, buffer[:room], offset - skip, need)
        except disk.EndOfFileError:
            raise DamagedDataError(f"{self.path}: the file is too short") from None
        return buffer[skip:need]

    def check(self) -> Iterator[int]:
        """Read everything, and yield bytes as they are found to be right."""
        for s in self._sets:
            for chunk in range(s.chunks):
                self.read(s, chunk)
                yield int(self._table[s.first + chunk, 1])
        fd, _ = disk.open_file(self.path, os.O_RDONLY, direct=False)
        try:
            rest = rest_hash(fd, self._record.size, self._table, self._record.table)
        finally:
            os.close(fd)
        if rest != self._record.rest_hash:
            raise DamagedDataError(f"{self.path}: damaged: checksum of what describes the data")


def check_stored(rows: Words, states: int) -> None:
    """Raise ValueError for cells, (rows, planes, words), in states that a rule of so many does not
    have. Rows are looked at as many at a time as fit in cache."""
    step = max(1, _CHECKED // rows[0].nbytes)
    for y in range(0, len(rows), step):
        check_states(rows[y : y + step], states)
