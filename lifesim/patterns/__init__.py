"""Pattern files: RLE, Life 1.05, Life 1.06, plaintext and macrocell, gzipped or not."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, Protocol

from lifesim.errors import LifesimError
from lifesim.patterns import cells, life105, life106, macrocell, rle
from lifesim.patterns.files import CancelledError, cancellable, load, save
from lifesim.patterns.pattern import Pattern, PatternError

__all__ = ["CancelledError", "Pattern", "PatternError", "formats", "read", "write"]

_HEAD = 1 << 16


class _Format(Protocol):
    """What a format's module has."""

    @property
    def NAME(self) -> str: ...
    @property
    def EXTENSIONS(self) -> tuple[str, ...]: ...
    def sniff(self, head: bytes) -> bool: ...
    def read(self, data: bytes, name: str) -> Pattern: ...
    def write(self, pattern: Pattern, out: BinaryIO) -> None: ...


_FORMATS: tuple[_Format, ...] = (rle, life105, life106, cells, macrocell)


def formats() -> dict[str, tuple[str, ...]]:
    """The name of each format and its file name extensions, the usual one first."""
    return {known.NAME: known.EXTENSIONS for known in _FORMATS}


def read(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    name: str | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Pattern:
    """Read a pattern from a path, a binary stream or, as "-", standard input.

    The format is found from the content; where that fits several or none, from the
    extension. `name` is what errors call the source. The grid is the live cells'
    bounding box, 1x1 and dead where there are none. Raises PatternError for content
    that cannot be read and LifesimError for a path that cannot be opened; CancelledError
    soon after is_cancelled, which is asked again and again, has said so.
    """
    with cancellable(is_cancelled):
        return _read(source, name)


def _read(source: str | os.PathLike[str] | BinaryIO, name: str | None) -> Pattern:
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path == "-":
            return _decode(load(_standard_input(), name or "<stdin>"), name or "<stdin>")
        try:
            with open(path, "rb") as stream:
                data = load(stream, name or path)
        except OSError as error:
            raise LifesimError(f"cannot read {path}: {error.strerror or error}") from None
        return _decode(data, name or path)
    if name is None:
        given = getattr(source, "name", None)
        name = given if isinstance(given, str) else "<stream>"
    return _decode(load(source, name), name)


def write(
    pattern: Pattern, target: str | os.PathLike[str] | BinaryIO, *, format: str | None = None
) -> None:
    """Write a pattern to a path, a binary stream or, as "-", standard output.

    The format is the one named or else the extension's; streams get RLE. A path that
    ends in .gz is compressed, the same way every time. A file appears whole or not at
    all. What a format has no place for is left out: see its module. Raises
    LifesimError for an unknown format or extension, and where the system refuses.
    """
    if isinstance(target, (str, os.PathLike)) and os.fspath(target) != "-":
        path = os.fspath(target)
        chosen = _named(format) if format else _by_extension(path)
        if chosen is None:
            known = ", ".join(end for known in _FORMATS for end in known.EXTENSIONS)
            raise LifesimError(f"cannot write {path}: the name must end in one of {known}")
        fill = partial(chosen.write, pattern)
        save(path, fill, compress=path.lower().endswith(".gz"))
        return
    chosen = _named(format or rle.NAME)
    if not isinstance(target, (str, os.PathLike)):
        chosen.write(pattern, target)
        return
    try:
        chosen.write(pattern, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise LifesimError(f"cannot write standard output: {error.strerror or error}") from None


def _standard_input() -> BinaryIO:
    """With a buffer of its own: Python cannot end while another thread waits for that of
    sys.stdin."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except io.UnsupportedOperation:  # it is no file
        return sys.stdin.buffer


def _decode(data: bytes, name: str) -> Pattern:
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    fitting = [known for known in _FORMATS if known.sniff(data[:_HEAD])]
    by_name = _by_extension(name)
    if by_name is not None and (by_name in fitting or not fitting):
        return by_name.read(data, name)
    if fitting:
        return fitting[0].read(data, name)
    known = ", ".join(formats())
    raise PatternError(f"the content fits none of the pattern formats ({known})", name)


def _by_extension(path: str) -> _Format | None:
    plain = path.lower().removesuffix(".gz")
    return next((known for known in _FORMATS if plain.endswith(known.EXTENSIONS)), None)


def _named(name: str) -> _Format:
    for known in _FORMATS:
        if name == known.NAME:
            return known
    raise LifesimError(f"unknown pattern format {name!r}: known are {', '.join(formats())}")
