"""HDF5 files as drafts: HDF5 lays them out, and what is in datasets is written past it.

So HDF5 never hears of a full disk, of which it would print many lines of its own functions, no
signal interrupts it, and the same contents make the same file.
"""

from __future__ import annotations

import errno
import io
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bulkbits.overwriting import free_room
from kernels.draft import Draft
from kernels.signals import undisturbed

_SLICE = 1 << 24  # bytes written at a time


@dataclass(frozen=True)
class Group:
    """The layout of a group: its attributes, and its datasets as shapes and dtypes."""

    attributes: Mapping[str, Any]
    datasets: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]] = field(default_factory=dict)


class Writer:
    """A file whose groups and datasets are there, for the contents to be written.

    groups: by name, "" for the root. Raises OSError.
    """

    def __init__(self, raw: io.FileIO, groups: Mapping[str, Group]) -> None:
        self._raw = raw
        with undisturbed():
            self._places = _lay_out(raw, groups)

    def write(self, name: str, array: npt.NDArray[Any], offset: int = 0) -> None:
        """Write elements of the dataset `name`, "GROUP/NAME" but for the root's.

        array: of the dataset's dtype. offset: bytes of the dataset before it.
        """
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        place = self._places[name] + offset
        for start in range(0, data.nbytes, _SLICE):
            _put(self._raw, place + start, data[start : start + _SLICE])


@contextmanager
def writing(path: str | os.PathLike[str], groups: Mapping[str, Group]) -> Iterator[Writer]:
    """A Writer of the file that takes the name `path` when the block ends well.

    Raises OSError with that path, also for what is no regular file.
    """
    with Draft(path, regular=True) as draft, draft.errors(), draft.raw() as raw:
        _check_room(draft.path, groups)
        yield Writer(raw, groups)


def _check_room(path: str, groups: Mapping[str, Group]) -> None:
    """Raise OSError before much is written that would not fit."""
    kinds = [kind for group in groups.values() for kind in group.datasets.values()]
    needed = sum(math.prod(shape) * dtype.itemsize for shape, dtype in kinds)
    free = free_room(path)
    if free is not None and needed > free:
        told = f"{needed:,} bytes are needed, {free:,} are free"
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {told}")


def is_of(path: str | os.PathLike[str], type_: str) -> bool:
    """Tell whether a file is one of HDF5 whose root has an attribute `type` of that value."""
    try:
        with undisturbed(), h5py.File(path, "r") as file:
            # Strings of variable length lie in a heap, where HDF5 can loop for ever.
            if "type" not in file.attrs or file.attrs.get_id("type").dtype.kind != "S":
                return False
            return bool(file.attrs["type"] == type_.encode())
    except (ValueError, KeyError, OSError, RuntimeError, TypeError):
        return False


class _Disk:
    """A file as HDF5 writes it, which never hears of a failure.

    Where the disk is full, HDF5 tries again and again as it closes what it has, with many lines
    on standard error. So what goes wrong is kept, nothing more written, and check() raises it.
    """

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self._trouble: OSError | None = None
        self.read, self.readinto, self.seek, self.tell = raw.read, raw.readinto, raw.seek, raw.tell

    def write(self, data: Any) -> int:
        written = memoryview(data).nbytes
        try:
            if self._trouble is None:
                _put(self._raw, self._raw.tell(), data)
                self._raw.seek(written, os.SEEK_CUR)
        except OSError as error:
            self._trouble = error
        return written

    def truncate(self, size: int) -> int:
        try:
            if self._trouble is None:
                self._raw.truncate(size)
        except OSError as error:
            self._trouble = error
        return size

    def flush(self) -> None:
        """There is no buffer."""

    def check(self) -> None:
        if self._trouble is not None:
            raise self._trouble


def _lay_out(raw: io.FileIO, groups: Mapping[str, Group]) -> dict[str, int]:
    """Write all but what is in the datasets; return where that belongs in the file."""
    disk, places = _Disk(raw), {}
    with h5py.File(disk, "w") as file:
        for name, group in groups.items():
            made = file.require_group(name) if name else file
            for key, value in group.attributes.items():
                made.attrs[key] = value
            for key, (shape, dtype) in group.datasets.items():
                place = _make_dataset(made, key, shape, dtype)
                places[f"{name}/{key}" if name else key] = place
    disk.check()
    return places


def _make_dataset(group: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_layout(h5py.h5d.CONTIGUOUS)
    made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    made.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    made.set_obj_track_times(False)  # equal contents make equal files
    space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype)
    dataset = h5py.h5d.create(group.id, name.encode(), kind, space, made)
    return dataset.get_offset() or 0  # None of empty ones


def _put(raw: io.FileIO, place: int, data: Any) -> None:
    left = memoryview(data).cast("B")
    while left:
        written = os.pwrite(raw.fileno(), left, place)
        left, place = left[written:], place + written
