"""Writing the file of a tile: laid out by HDF5, filled by several threads outside of it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from lifesim.grid import Box
from lifesim.store import disk
from lifesim.store.disk import PAGE
from lifesim.store.tilefile import (
    Bytes,
    Dataset,
    TileFormat,
    TileRecord,
    datasets,
    hash_of,
    rest_hash,
)

_ZSTD_FILTER = 32015


class _FileObject:
    """The file object that HDF5 takes for its file, so that disk writes it. An error is kept until
    it can be raised: HDF5 would leave a file that it cannot write open for ever."""

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
    """A file of a tile in the making, under a temporary name in `folder`. Chunks may come in any
    order, from several threads at once. Raises OSError where the system refuses.

    draft: that name. Where it is given, it is also the finished file's: whoever is told of
    the file gives it its own.
    """

    def __init__(
        self,
        folder: str,
        name: str,
        box: Box,
        form: TileFormat,
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
            self._sink = _FileObject(self._fds[-1])
            with self._laid_out():
                self._lay_out(attributes)
        except BaseException:
            self.drop()
            raise

    def _open(self) -> None:
        self._fds.append(disk.open_file(self._path, os.O_RDWR | os.O_CREAT, direct=False)[0])
        if self._form.compression == "none":
            fd, _ = disk.open_file(self._path, os.O_RDWR, direct=True)
            self._fds.insert(0, fd)

    @contextlib.contextmanager
    def _laid_out(self) -> Iterator[None]:
        """Raise what the disk did, whatever HDF5 makes of it."""
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
            made.set_chunk((min(s.chunk_rows, s.rows), *s.row_shape))
            # Optional, as HDF5 asks for a filter at once otherwise; no chunk goes without it.
            made.set_filter(_ZSTD_FILTER, h5py.h5z.FLAG_OPTIONAL, (1,))
        space = h5py.h5s.create_simple((s.rows, *s.row_shape))
        kind = h5py.h5t.py_create(np.dtype(s.dtype))
        return h5py.h5d.create(self._file.id, s.name.encode(), kind, space, made)

    def write(self, s: Dataset, chunk: int, data: Bytes) -> None:
        """Write a chunk of a dataset. data: the bytes of the rows of the chunk; quickest in memory
        of disk.aligned()."""
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
            disk.write_chunk(self._h5[s.name], _start(s, chunk), frame)

    def finish(self, population: int, partials: tuple[int, ...]) -> TileRecord:
        """Finish the file: it lasts, and without a draft gets its name; its folder is the caller's
        to sync."""
        if self._file is not None:
            for s in self._sets:
                made = self._h5[s.name]
                for chunk in range(s.chunks):
                    at = made.get_chunk_info_by_coord(_start(s, chunk)).byte_offset
                    self._table[s.first + chunk, 0] = at
            self._h5.clear()
            with self._laid_out():
                self._close_file()
        disk.write(self._fds[-1], self._table, self._table_offset)
        size = os.fstat(self._fds[-1]).st_size
        rest = rest_hash(self._fds[-1], size, self._table, self._table_offset)
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
            partials,
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


def _start(s: Dataset, chunk: int) -> tuple[int, ...]:
    """Return the place of a chunk's first value, as HDF5 has it."""
    return (chunk * s.chunk_rows, *(0 for _ in s.row_shape))
