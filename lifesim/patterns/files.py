"""Bytes from and to paths: gzip, limits, and files that are never half written."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from typing import IO, BinaryIO, Protocol

from kernels.draft import Draft
from kernels.targets.memory import available_memory
from lifesim.cancelling import go_on
from lifesim.errors import cannot_write
from lifesim.patterns.pattern import PatternError

_GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
STEP = 1 << 20  # bytes between two looks at whether reading is cancelled
_UNPACKED = 128  # how often as large as its compressed bytes text may be
_FLOOR = 32 << 20  # bytes of text that are unpacked however few the compressed ones are
_SHARE = 16  # decoding takes a few times the text's size, so a text may fill this share


def load(stream: BinaryIO, name: str) -> bytes:
    """Return all bytes of a stream, decompressed where they are gzip.

    Raises PatternError for damaged gzip data; as soon as there is more text than a sixteenth of
    the free memory; and for compressed text of more than 32 MiB and 128 times its file, which
    nothing but a bomb is.
    """
    head = stream.read(len(_GZIP_MAGIC))
    rest = _Joined(head, stream)
    if head != _GZIP_MAGIC:
        return _all(rest, name, lambda: None)
    try:
        with gzip.GzipFile(fileobj=io.BufferedReader(rest, STEP)) as plain:
            data = _all(plain, name, lambda: rest.taken)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PatternError(f"damaged gzip data: {error}", name) from None
    if data.startswith(ZIP_MAGIC):  # unpacking twice, a bomb is bounded by nothing
        raise PatternError("a zip archive in gzip data: decompress it first", name)
    return data


def unpacked(stream: IO[bytes], name: str, packed: int) -> bytes:
    """Return all bytes of a stream that decompresses `packed` bytes, as bounded as those of
    load()."""
    return _all(stream, name, lambda: packed)


def _all(stream: _Readable, name: str, packed: Callable[[], int | None]) -> bytes:
    limit = available_memory() // _SHARE
    text = io.BytesIO()  # gives its bytes away without copying them
    while part := stream.read(STEP):
        go_on()
        text.write(part)
        if text.tell() > limit:
            raise PatternError(f"more than {limit >> 20} MiB of text: too large to read", name)
        taken = packed()
        if taken is not None and text.tell() > max(_FLOOR, _UNPACKED * taken):
            what = f"{taken} compressed bytes hold more than {_UNPACKED} times as many"
            raise PatternError(f"{what}: decompress it yourself if it is no bomb", name)
    return text.getvalue()


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class _Joined(io.RawIOBase):
    """A stream with the bytes already taken from it put back in front."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._head, self._stream = head, stream
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        part = self._head[: len(buffer)] or self._stream.read(len(buffer))
        self._head = self._head[len(part) :]
        buffer[: len(part)] = part
        self.taken += len(part)
        return len(part)


def save(path: str, write: Callable[[BinaryIO], None], *, compress: bool) -> None:
    """Have `write` fill the file at `path`; until all of it is on disk, the old one stays.

    What is no regular file (a device, a pipe) is written to directly. Compressed bytes
    depend on nothing but the content. Raises LifesimError where the system refuses.
    """
    with Draft(path, refusal=cannot_write) as draft, draft.errors():
        stream = draft.stream()
        _fill(stream, write, compress)
        stream.flush()


def _fill(stream: BinaryIO, write: Callable[[BinaryIO], None], compress: bool) -> None:
    if not compress:
        write(stream)
        return
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as packed:
        write(packed)  # type: ignore[arg-type]
