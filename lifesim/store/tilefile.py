"""A sub-universe file: HDF5, whose data are read and written outside of HDF5.

Datasets: `cells`, uint64 (rows, words), bit j of word w being column 64 w + j; `s3`, `s4`,
... of a pyramid, uint8 (rows, columns), densities of blocks of 2^k x 2^k cells; `chunks`,
uint64 (chunks, 3): byte offset in the file, stored bytes and XXH3-64 of each chunk of rows
of the others, in that order. Contiguous and page-aligned, or a zstd frame a chunk (HDF5
filter 32015, of hdf5plugin). HDF5 lays the file out and closes it; then plain reads and
writes, direct where they can be, move the data, many at once.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from lifesim.errors import DamagedDataError
from lifesim.grid import Box
from lifesim.store import disk
from lifesim.store.disk import PAGE

Bytes = npt.NDArray[np.uint8]

_CHUNK, _WIDE_CHUNK = 4 << 20, 16 << 20  # bytes
_LEVEL_CHUNK = 1 << 20
_ZSTD_FILTER = 32015
_ROW = 24  # bytes of a row of the chunk table


@dataclass(frozen=True, slots=True)
class Format:
    """What all files of a universe share. top: the last level of the pyramid, 0 for none."""

    chunk_rows: int
    compression: str  # "none" or "zstd"
    top: int


@dataclass(frozen=True, slots=True)
class Dataset:
    """first: the place of its first chunk in the chunk table."""

    name: str
    dtype: str
    rows: int
    columns: int
    chunk_rows: int
    first: int

    @property
    def row_bytes(self) -> int:
        return self.columns * np.dtype(self.dtype).itemsize

    @property
    def chunks(self) -> int:
        return -(-self.rows // self.chunk_rows)

    def chunk_bytes(self, chunk: int) -> int:
        """Bytes of the rows of a chunk: the last one may have fewer."""
        rows = min(self.chunk_rows, self.rows - chunk * self.chunk_rows)
        return rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class TileRecord:
    """What the manifest knows of a file: enough to find every changed bit of it.

    rest: of all bytes but those of the chunks and their table. partial: of the digest.
    """

    file: str
    size: int
    table: int
    table_hash: str
    rest_hash: str
    population: int
    partial: int


NO_TILE = TileRecord("", 0, 0, "", "", 0, 0)


def chunk_rows(row_bytes: int) -> int:
    """Rows of a chunk of cells: whole pages where that is possible, and a multiple of 8."""
    wanted = max(1, _CHUNK // row_bytes)
    for unit in (max(8, PAGE // math.gcd(row_bytes, PAGE)), 8):
        if unit * row_bytes <= _WIDE_CHUNK or unit == 8:
            return max(unit, wanted // unit * unit)
    raise AssertionError


@lru_cache(maxsize=1024)
def datasets(width: int, height: int, form: Format) -> tuple[Dataset, ...]:
    """The datasets of a tile of so many cells: cells, s3, s4, ..."""
    found = [Dataset("cells", "<u8", height, -(-width // 64), form.chunk_rows, 0)]
    for k in range(3, form.top + 1):
        rows, columns = -(-height >> k), -(-width >> k)
        some = max(1, _LEVEL_CHUNK // columns)
        found.append(
            Dataset(f"s{k}", "|u1", rows, columns, some, found[-1].first + found[-1].chunks)
        )
    return tuple(found)


def hash_of(data: Any) -> int:
    return int(xxhash.xxh3_64_intdigest(data))


class _Sink:
    """What HDF5 takes for its file, so that disk writes it. An error is kept until it can be
    raised: HDF5 would leave a file that it cannot write open for ever."""

    def __init__(self, fd: int) -> None:
        self._fd, self._at = fd, 0
        self.error: BaseException | None = None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = (0, self._at, os.fstat(self._fd).st_size)[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, target: Any) -> int:
        count = os.preadv(self._fd, [target], self._at)
        self._at += count
        return count

    read = None  # HDF5 needs no other

    def write(self, data: Any) -> int:
        count = memoryview(data).nbytes
        self._try(lambda: disk.write(self._fd, data, self._at))
        self._at += count
        return count

    def truncate(self, size: int) -> int:
        self._try(lambda: os.ftruncate(self._fd, size))
        return size

    def flush(self) -> None:
        pass

    def _try(self, change: Callable[[], None]) -> None:
        if self.error is None:
            try:
                change()
            except BaseException as error:
                self.error = error


class TileWriter:
    """A file in the making, under a temporary name in `folder`. Chunks may come in any order,
    from several threads at once. OSError where the system refuses.

    draft: that name. Where it is given, it is also the finished file's: whoever is told of
    the file gives it its own.
    """

    def __init__(
        self,
        folder: str,
        name: str,
        box: Box,
        form: Format,
        attributes: Mapping[str, Any],
        draft: str = "",
    ) -> None:
        self._folder, self._name, self._form = folder, name, form
        self._path = os.path.join(folder, draft or name + ".tmp")
        self._renamed = not draft
        self._sets = datasets(box.width, box.height, form)
        last = self._sets[-1]
        self._table = np.zeros((last.first + last.chunks, 3), np.uint64)
        self._lock = threading.Lock()
        self._file: Any = None
        self._fds: list[int] = []
        try:
            self._open()
            self._sink = _Sink(self._fds[-1])
            with self._laid_out():
                self._lay_out(attributes)
        except BaseException:
            self.drop()
            raise

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT
        self._fds.append(disk.open_file(self._path, flags | os.O_TRUNC, direct=False)[0])
        if self._form.compression == "none":
            fd, _ = disk.open_file(self._path, flags, direct=True)
            self._fds.insert(0, fd)

    @contextlib.contextmanager
    def _laid_out(self) -> Iterator[None]:
        """Raises what the disk did, whatever HDF5 makes of it."""
        try:
            yield
        finally:
            if self._sink.error is not None:
                raise self._sink.error

    def _lay_out(self, attributes: Mapping[str, Any]) -> None:
        import h5py

        self._file = h5py.File(
            self._sink,
            "w",
            libver="earliest",
            alignment_threshold=PAGE,
            alignment_interval=PAGE,
        )
        self._file.attrs.update(attributes)
        made = [self._create(h5py, s) for s in self._sets]
        table = Dataset("chunks", "<u8", len(self._table), 3, len(self._table), 0)
        self._table_offset = self._create(h5py, table, plain=True).get_offset()
        self._h5 = dict(zip([s.name for s in self._sets], made, strict=True))
        if self._form.compression != "none":
            return
        offsets = [d.get_offset() for d in made]
        self._h5.clear()
        made.clear()
        self._close_file()
        for s, offset in zip(self._sets, offsets, strict=True):
            starts = np.arange(s.chunks, dtype=np.uint64) * np.uint64(s.chunk_rows * s.row_bytes)
            self._table[s.first : s.first + s.chunks, 0] = starts + np.uint64(offset)

    def _close_file(self) -> None:
        file, self._file = self._file, None
        file.close()

    def _create(self, h5py: Any, s: Dataset, *, plain: bool = False) -> Any:
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_obj_track_times(False)
        made.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        if plain or self._form.compression == "none":
            made.set_layout(h5py.h5d.CONTIGUOUS)
            made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        else:
            made.set_chunk((min(s.chunk_rows, s.rows), s.columns))
            # Optional, as HDF5 asks for a filter at once otherwise; no chunk goes without it.
            made.set_filter(_ZSTD_FILTER, h5py.h5z.FLAG_OPTIONAL, (1,))
        space = h5py.h5s.create_simple((s.rows, s.columns))
        kind = h5py.h5t.py_create(np.dtype(s.dtype))
        return h5py.h5d.create(self._file.id, s.name.encode(), kind, space, made)

    def write(self, s: Dataset, chunk: int, data: Bytes) -> None:
        """data: the bytes of the rows of the chunk; quickest in memory of disk.aligned()."""
        row = s.first + chunk
        if self._form.compression == "none":
            offset = int(self._table[row, 0])
            whole = (offset | len(data) | data.ctypes.data) % PAGE == 0
            disk.write(self._fds[0 if whole else -1], data, offset)
            self._table[row, 1:] = len(data), hash_of(data)
            return
        import zstandard

        full = min(s.chunk_rows, s.rows) * s.row_bytes
        if len(data) < full:  # HDF5 stores the last chunk whole
            data = np.concatenate([data, np.zeros(full - len(data), np.uint8)])
        frame = zstandard.ZstdCompressor(level=1).compress(data.data)
        self._table[row, 1:] = len(frame), hash_of(frame)
        with self._lock, self._laid_out():
            disk.write_chunk(self._h5[s.name], (chunk * s.chunk_rows, 0), frame)

    def finish(self, population: int, partial: int) -> TileRecord:
        """The file lasts, and without a draft gets its name; its folder is the caller's to sync."""
        if self._file is not None:
            for s in self._sets:
                made = self._h5[s.name]
                for chunk in range(s.chunks):
                    at = made.get_chunk_info_by_coord((chunk * s.chunk_rows, 0)).byte_offset
                    self._table[s.first + chunk, 0] = at
            self._h5.clear()
            with self._laid_out():
                self._close_file()
        disk.write(self._fds[-1], self._table, self._table_offset)
        size = os.fstat(self._fds[-1]).st_size
        rest = _rest_hash(self._fds[-1], size, self._table, self._table_offset)
        disk.sync(self._fds[-1])
        self._close()
        if self._renamed:
            disk.replace(self._path, os.path.join(self._folder, self._name))
        return TileRecord(
            self._name,
            size,
            self._table_offset,
            f"{hash_of(self._table):016x}",
            rest,
            population,
            partial,
        )

    def drop(self) -> None:
        """Give up. Nothing once the file has its name."""
        if self._file is not None:
            with contextlib.suppress(Exception):
                self._close_file()
        self._close()
        with contextlib.suppress(OSError):
            disk.remove(self._path)

    def _close(self) -> None:
        while self._fds:
            os.close(self._fds.pop())


def _rest_hash(fd: int, size: int, table: npt.NDArray[np.uint64], table_offset: int) -> str:
    """Of every byte of the file that is in no chunk and not in the table."""
    state = xxhash.xxh3_64()
    state.update(size.to_bytes(8, "little"))
    ranges = [(int(start), int(count)) for start, count, _ in table]
    at = 0
    for start, count in [*sorted([*ranges, (table_offset, table.nbytes)]), (size, 0)]:
        while at < start:
            piece = np.empty(min(start - at, 1 << 20), np.uint8)
            disk.read(fd, piece, at)
            state.update(piece.data)
            at += len(piece)
        at = max(at, start + count)
    return str(state.hexdigest())


class TileReader:
    """An open file. Every chunk is checked as it is read. For several threads at once.

    Raises DamagedDataError where the file is not the one that the record is of, and
    OSError where the system refuses.
    """

    def __init__(self, folder: str, record: TileRecord, box: Box, form: Format) -> None:
        self.path = os.path.join(folder, record.file)
        self._record, self._form = record, form
        self._sets = datasets(box.width, box.height, form)
        last = self._sets[-1]
        self._fd = -1
        try:
            self._fd, self._direct = disk.open_file(
                self.path, os.O_RDONLY, direct=form.compression == "none"
            )
            facts = os.fstat(self._fd)
        except (FileNotFoundError, NotADirectoryError):
            raise DamagedDataError(f"{self.path}: the file is missing") from None
        if not stat.S_ISREG(facts.st_mode):
            raise DamagedDataError(f"{self.path}: no file: something else is in its place")
        size = facts.st_size
        if size != record.size:
            raise DamagedDataError(f"{self.path}: {size} bytes, not {record.size} as written")
        self._table = np.zeros((last.first + last.chunks, 3), np.uint64)
        flat = self._table.reshape(-1).view(np.uint8)
        flat[:] = self._bytes(record.table, len(flat))
        if f"{hash_of(flat):016x}" != record.table_hash:
            raise DamagedDataError(
                f"{self.path}: damaged, or another file in its place: "
                f"its checksums are not those that were written"
            )

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    @property
    def sets(self) -> tuple[Dataset, ...]:
        return self._sets

    def stored_hash(self, s: Dataset, chunk: int) -> int:
        """The checksum of what is stored of a chunk: of its bytes, where not compressed."""
        return int(self._table[s.first + chunk, 2])

    def read(self, s: Dataset, chunk: int, buffer: Bytes | None = None) -> Bytes:
        """The bytes of the rows of a chunk; in `buffer`, of aligned memory, if it fits."""
        offset, count, expected = (int(value) for value in self._table[s.first + chunk])
        data = self._bytes(offset, count, buffer)
        if hash_of(data) != expected:
            where = f"rows {chunk * s.chunk_rows} and following of {s.name}"
            raise DamagedDataError(f"{self.path}: damaged: checksum of {where}")
        wanted = s.chunk_bytes(chunk)
        if self._form.compression == "none":
            return data
        import zstandard

        full = min(s.chunk_rows, s.rows) * s.row_bytes
        whole = zstandard.ZstdDecompressor().decompress(data.data, max_output_size=full)
        return np.frombuffer(whole, np.uint8)[:wanted]

    def _bytes(self, offset: int, count: int, buffer: Bytes | None = None) -> Bytes:
        """Bytes of the file; a direct one gives whole pages, some of them not asked for."""
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
            rest = _rest_hash(fd, self._record.size, self._table, self._record.table)
        finally:
            os.close(fd)
        if rest != self._record.rest_hash:
            raise DamagedDataError(f"{self.path}: damaged: checksum of what describes the data")
