"""Effects of writing a file: what HDF5 must not hear of, and what must not hear of HDF5."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from typing import Any


class Disk:
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
                put(self._raw, self._raw.tell(), data)
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


def put(raw: io.FileIO, place: int, data: Any) -> None:
    left = memoryview(data).cast("B")
    while left:
        written = os.pwrite(raw.fileno(), left, place)
        left, place = left[written:], place + written


@contextlib.contextmanager
def short_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Names the file, not its draft, and leaves out what HDF5 says of its functions."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == os.fspath(path):
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from None
