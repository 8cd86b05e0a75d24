"""A sub-universe file: HDF5, whose data are read and written outside of HDF5.

Datasets: `cells`, uint64 (rows, words), bit j of word w being column 64 w + j, or, of cells of
several states, (rows, planes, words), plane p having the binary digit p of each state; `s3`, `s4`,
... of a pyramid, uint8 (rows, columns), densities of live cells in blocks of 2^k x 2^k; `chunks`,
uint64 (chunks, 3): byte offset in the file, stored bytes and XXH3-64 of each chunk of rows
of the others, in that order. Contiguous and page-aligned, or a zstd frame a chunk (HDF5
filter 32015, of hdf5plugin). HDF5 lays the file out and closes it; then plain reads and
writes, direct where they can be, move the data, many at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from lifesim.store import disk
from lifesim.store.disk import PAGE

Bytes = npt.NDArray[np.uint8]

COMPRESSIONS = ("none", "zstd")

_CHUNK, _WIDE_CHUNK = 4 << 20, 16 << 20  # bytes
_LEVEL_CHUNK = 1 << 20
ROW_BYTES = 24  # bytes of a row of the chunk table


@dataclass(frozen=True, slots=True)
class TileFormat:
    """The format that all files of a universe share. top: the last level of the pyramid, 0 for
    none. states: that a cell can be in."""

    chunk_rows: int
    compression: str  # "none" or "zstd"
    top: int
    states: int = 2

    @property
    def planes(self) -> int:
        """Return the number of bit planes that hold the states."""
        return (self.states - 1).bit_length()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of a tile's file, which is stored in chunks of rows. first: the place of its first
    chunk in the chunk table. planes: of a row, each of so many columns."""

    name: str
    dtype: str
    rows: int
    columns: int
    chunk_rows: int
    first: int
    planes: int = 1

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Return the shape of a row: (columns,), or (planes, columns) of several planes."""
        return (self.columns,) if self.planes == 1 else (self.planes, self.columns)

    @property
    def row_bytes(self) -> int:
        """Return the bytes of a row."""
        return self.planes * self.columns * np.dtype(self.dtype).itemsize

    def rows_of(self, data: Bytes) -> npt.NDArray[Any]:
        """Return the bytes of some rows as those rows."""
        return data.view(self.dtype).reshape(-1, *self.row_shape)

    @property
    def chunks(self) -> int:
        """Return the number of chunks."""
        return -(-self.rows // self.chunk_rows)

    def chunk_bytes(self, chunk: int) -> int:
        """Return the bytes of the rows of a chunk: the last one may have fewer."""
        rows = min(self.chunk_rows, self.rows - chunk * self.chunk_rows)
        return rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class TileRecord:
    """The manifest's knowledge of a file: enough to find every changed bit of it.

    rest: of all bytes but those of the chunks and their table. population: live cells, those not
    in state 0. partials: of the digest, of each bit plane, the lowest first.
    """

    file: str
    size: int
    table: int
    table_hash: str
    rest_hash: str
    population: int
    partials: tuple[int, ...]


NO_TILE = TileRecord("", 0, 0, "", "", 0, ())


def chunk_rows(row_bytes: int) -> int:
    """Return the rows of a chunk of cells: whole pages where that is possible, and a multiple of
    8."""
    wanted = max(1, _CHUNK // row_bytes)
    for unit in (max(8, PAGE // math.gcd(row_bytes, PAGE)), 8):
        if unit * row_bytes <= _WIDE_CHUNK or unit == 8:
            return max(unit, wanted // unit * unit)
    raise AssertionError


def widest_chunk(row_bytes: int) -> int:
    """Return the most bytes that a chunk of rows so long has."""
    return max(_WIDE_CHUNK, 8 * row_bytes)


@lru_cache(maxsize=1024)
def datasets(width: int, height: int, form: TileFormat) -> tuple[Dataset, ...]:
    """Return the datasets of a tile of so many cells: cells, s3, s4, ..."""
    found = [Dataset("cells", "<u8", height, -(-width // 64), form.chunk_rows, 0, form.planes)]
    for k in range(3, form.top + 1):
        rows, columns = -(-height >> k), -(-width >> k)
        some = max(1, _LEVEL_CHUNK // columns)
        found.append(
            Dataset(f"s{k}", "|u1", rows, columns, some, found[-1].first + found[-1].chunks)
        )
    return tuple(found)


def table_bytes(width: int, height: int, form: TileFormat) -> int:
    """Return the bytes of the chunk table of a tile of so many cells."""
    last = datasets(width, height, form)[-1]
    return ROW_BYTES * (last.first + last.chunks)


def hash_of(data: Any) -> int:
    """Return the XXH3-64 of some bytes."""
    return int(xxhash.xxh3_64_intdigest(data))


def rest_hash(fd: int, size: int, table: npt.NDArray[np.uint64], table_offset: int) -> str:
    """Return the hash of every byte of the file that is in no chunk and not in the table."""
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
