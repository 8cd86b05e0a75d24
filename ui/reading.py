"""Files that say how much of them has been read. No Qt here."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import BinaryIO

Progress = Callable[[float], None]

_STEP = 1 << 20  # bytes read at once


def in_silence(share: float) -> None:
    """Tell nobody."""


class CountedReader:
    """A stream in the place of a file that is open: it tells progress the share, 0 to 1, of the
    file that has been read, each percent once. Of what is no regular file no size is known, and
    nothing told."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        self._file, self._progress = file, progress
        facts = os.fstat(file.fileno())
        self._size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
        self._read, self._told = 0, -1

    def read(self, size: int = -1) -> bytes:
        """Read as a file does, but perhaps fewer bytes, though none at the end only."""
        data = self._file.read(_STEP if size < 0 else min(size, _STEP))
        self._read += len(data)
        if self._size:
            percent = min(100 * self._read // self._size, 100)
            if percent != self._told:
                self._told = percent
                self._progress(percent / 100)
        return data
