"""Bytes from and to paths: gzip, limits, reading that can be cancelled, and files that are never
half written."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import BinaryIO

from kernels.memory import available_memory
from lifesim.draft import Draft, DraftStream, one_line_errors
from lifesim.errors import LifesimError
from lifesim.patterns.pattern import PatternError

_GZIP_MAGIC = b"\x1f\x8b"
STEP = 1 << 20  # bytes between two looks at whether reading is cancelled
_SHARE = 16  # decoding takes a few times the text's size, so a text may fill this share

_is_cancelled: ContextVar[Callable[[], bool]] = ContextVar("is_cancelled", default=lambda: False)


class CancelledError(LifesimError):
    """Nobody wants what is being read any more."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """What this thread reads within is given up when is_cancelled says so."""
    token = _is_cancelled.set(is_cancelled)
    try:
        yield
    finally:
        _is_cancelled.reset(token)


def go_on() -> None:
    """For who reads, between two steps. Raises CancelledError."""
    if _is_cancelled.get()():
        raise CancelledError("cancelled")


def load(stream: BinaryIO, name: str) -> bytes:
    """All bytes of a stream, decompressed where they are gzip.

    Raises PatternError for damaged gzip data, and as soon as there is more text than
    a sixteenth of the free memory.
    """
    limit = available_memory() // _SHARE
    head = stream.read(len(_GZIP_MAGIC))
    rest = _Joined(head, stream)
    if head != _GZIP_MAGIC:
        return _all(rest, name, limit)
    try:
        with gzip.GzipFile(fileobj=io.BufferedReader(rest, STEP)) as plain:
            return _all(plain, name, limit)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PatternError(f"damaged gzip data: {error}", name) from None


def _all(stream: io.RawIOBase | gzip.GzipFile, name: str, limit: int) -> bytes:
    text = io.BytesIO()  # gives its bytes away without copying them
    while part := stream.read(STEP):
        go_on()
        text.write(part)
        if text.tell() > limit:
            raise PatternError(f"more than {limit >> 20} MiB of text: too large to read", name)
    return text.getvalue()


class _Joined(io.RawIOBase):
    """A stream with the bytes already taken from it put back in front."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        part = self._head[: len(buffer)] or self._stream.read(len(buffer))
        self._head = self._head[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def save(path: str, write: Callable[[BinaryIO], None], *, compress: bool) -> None:
    """Have `write` fill the file at `path`; until all of it is on disk, the old one stays.

    What is no regular file (a device, a pipe) is written to directly. Compressed bytes
    depend on nothing but the content. Raises LifesimError where the system refuses.
    """
    draft = Draft(path)
    try:
        with one_line_errors(path):
            stream = io.BufferedWriter(DraftStream(draft), 1 << 20)
            _fill(stream, write, compress)
            stream.flush()
        draft.finish()
    finally:
        draft.drop()


def _fill(stream: BinaryIO, write: Callable[[BinaryIO], None], compress: bool) -> None:
    if not compress:
        write(stream)
        return
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as packed:
        write(packed)  # type: ignore[arg-type]
