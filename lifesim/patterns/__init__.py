"""Pattern files: RLE, Life 1.05, Life 1.06, plaintext, macrocell and (to read) MCell; gzipped or
not, or in a zip archive."""

from __future__ import annotations

import io
import os
import sys
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import BinaryIO, Protocol, TypeVar

from lifesim.cancelling import ReadCancelledError, cancellable
from lifesim.errors import LifesimError
from lifesim.families import nearest
from lifesim.library.names import file_called
from lifesim.library.names import meant as names_meant
from lifesim.patterns import cells, life105, life106, macrocell, mcell, rle
from lifesim.patterns.files import ZIP_MAGIC, load, save
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.rules import files as rules

__all__ = ["Pattern", "PatternError", "ReadCancelledError", "formats", "read", "readable", "write"]

_HEAD = 1 << 16
_OF_STATES = (rle, macrocell)  # formats that have room for more states than two
_SCRIPTS = (".lua", ".py")
_MOST_NAMES = 2000  # of a folder, looked at for what was meant


class _ReadFormat(Protocol):
    """A module of a format that is read."""

    @property
    def NAME(self) -> str: ...
    @property
    def EXTENSIONS(self) -> tuple[str, ...]: ...
    def sniff(self, head: bytes) -> bool: ...
    def read(self, data: bytes, name: str) -> Pattern: ...


class _WrittenFormat(_ReadFormat, Protocol):
    """A module of a format that is read and written."""

    def write(self, pattern: Pattern, out: BinaryIO) -> None: ...


_FORMATS: tuple[_WrittenFormat, ...] = (rle, life105, life106, cells, macrocell)
# MCell's before RLE, as lines that begin with # could be either's.
_READ: tuple[_ReadFormat, ...] = (mcell, *_FORMATS)


def formats() -> dict[str, tuple[str, ...]]:
    """Return the name of each format that is written, and its extensions, the usual one first."""
    return {known.NAME: known.EXTENSIONS for known in _FORMATS}


def readable() -> tuple[str, ...]:
    """Return the extensions of files that read() takes: of formats, and of zip archives."""
    ends = [end for known in _READ for end in known.EXTENSIONS]
    return (*dict.fromkeys(ends), ".zip")


def read(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    name: str | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    as_squares: bool | None = False,
) -> Pattern:
    """Read a pattern from a path, a binary stream or, as "-", standard input; or one of ours by its
    name, as "gosper-gun" (lifesim.library), where no file is called so. A path such as
    `ARCHIVE.zip/MEMBER` names a pattern of an archive that holds several.

    The format is found from the content; where that fits several or none, from the
    extension. `name` is what errors call the source. The grid is the live cells'
    bounding box, 1x1 and dead where there are none. as_squares: takes a macrocell file as it is, as
    Pattern.squares, however wide its universe; None: only one that is too wide for a grid. Either
    way also an RLE file whose cells lie so far apart that a grid of more than 128 MiB would be
    nearly empty.
    Raises PatternError for content that cannot be read and LifesimError for a path that cannot
    be opened; ReadCancelledError soon after is_cancelled, which is asked again and again, has
    said so.
    """
    with cancellable(is_cancelled):
        return _read(source, name, as_squares)


def _read(
    source: str | os.PathLike[str] | BinaryIO, name: str | None, as_squares: bool | None
) -> Pattern:
    if isinstance(source, (str, os.PathLike)):
        path, member = _archive_and_member(os.fspath(source))
        name = name or ("<stdin>" if path == "-" else path)
        path = file_called(path) or path
        return _decode(_bytes_of(path, name), name, as_squares, member)
    if name is None:
        given = getattr(source, "name", None)
        name = given if isinstance(given, str) else "<stream>"
    return _decode(load(source, name), name, as_squares)


def _bytes_of(path: str, name: str) -> bytes:
    """Return the bytes of a file or, as "-", of standard input, decompressed where they are gzip.
    name: what errors call them. Raises LifesimError and PatternError."""
    try:
        with standard_input() if path == "-" else open(path, "rb") as stream:
            return load(stream, name)
    except OSError as error:
        shown = "standard input" if path == "-" else path
        what = f"cannot read {shown}: {error.strerror or error}"
        meant = ""
        if isinstance(error, FileNotFoundError):
            meant = _meant(path) or " or ".join(names_meant(path))
        raise LifesimError(what + (f"; is {meant} meant?" if meant else "")) from None


def write(
    pattern: Pattern, target: str | os.PathLike[str] | BinaryIO, *, format: str | None = None
) -> None:
    """Write a pattern to a path, a binary stream or, as "-", standard output.

    The format is the one named or else the extension's; streams get RLE. A path that
    ends in .gz is compressed, the same way every time. A file appears whole or not at
    all. What a format has no place for is left out: see its module. Raises
    LifesimError for an unknown format or extension, for cells of several states in a format
    of two, and where the system refuses.
    """
    if isinstance(target, (str, os.PathLike)) and os.fspath(target) != "-":
        path = os.fspath(target)
        chosen = _named(format) if format else _by_extension(path, _FORMATS)
        if chosen is None:
            known = ", ".join(end for known in _FORMATS for end in known.EXTENSIONS)
            raise LifesimError(f"cannot write {path}: the name must end in one of {known}")
        pattern = _fitting(pattern, chosen, path)
        fill = partial(chosen.write, pattern)
        save(path, fill, compress=path.lower().endswith(".gz"))
        return
    chosen = _named(format or rle.NAME)
    pattern = _fitting(pattern, chosen, "the pattern")
    if not isinstance(target, (str, os.PathLike)):
        chosen.write(pattern, target)
        return
    try:
        chosen.write(pattern, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # ends the command as it ends others
    except OSError as error:
        raise LifesimError(f"cannot write standard output: {error.strerror or error}") from None


def _fitting(pattern: Pattern, chosen: _WrittenFormat, what: str) -> Pattern:
    """Return a pattern in as many bit planes as a format has. Raises LifesimError for states that
    it has no letters for."""
    if chosen in _OF_STATES or pattern.grid.planes == 1:
        return pattern
    if pattern.grid.largest_state() <= 1:
        return replace(pattern, grid=pattern.grid.in_planes(1))
    known = " or ".join(known.NAME for known in _OF_STATES)
    raise LifesimError(
        f"cannot write {what}: the format {chosen.NAME} has two states, the cells have more: "
        f"write {known}"
    )


def looks_like_one(path: str) -> bool:
    """Tell whether a file begins as a pattern of some format does, gzipped or not. Raises
    OSError."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(31).decompress(head, _HEAD)
        except zlib.error:
            return False
    head = head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return not head or any(known.sniff(head) for known in _FORMATS)


def standard_input() -> AbstractContextManager[BinaryIO]:
    """Open standard input, with a buffer of its own.

    Python cannot end while another thread waits for the buffer of sys.stdin.
    """
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except io.UnsupportedOperation:  # it is no file
        return nullcontext(sys.stdin.buffer)


def _meant(path: str) -> str | None:
    """Return the path of a file beside it whose name is nearly the same, if there is one."""
    folder, wanted = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, _MOST_NAMES)]
    except OSError:
        return None
    by_lower = {name.lower(): name for name in names if name.isprintable()}
    close = nearest(wanted, by_lower)
    return os.path.join(folder, by_lower[close]) if close else None


def _archive_and_member(path: str) -> tuple[str, str | None]:
    """Return the archive and the member of a path as `ARCHIVE.zip/MEMBER`; the path itself, and
    None, of any other."""
    if ".zip/" not in path.lower() or os.path.exists(path):
        return path, None
    from lifesim.patterns import archive  # with zipfile, which few files need

    return archive.split(path) or (path, None)


def _decode(data: bytes, name: str, as_squares: bool | None, member: str | None = None) -> Pattern:
    if data.startswith(ZIP_MAGIC):
        from lifesim.patterns import archive  # with zipfile, which few files need

        extensions = tuple(end for known in _READ for end in known.EXTENSIONS)
        content, its_name = archive.member_of(data, extensions, name, member)
        with rules.packed_beside(archive.rule_files(data, name)):
            return _decode_plain(content, its_name, as_squares)
    if member is not None:
        raise PatternError("this is no zip archive", name)
    return _decode_plain(data, name, as_squares)


def _decode_plain(data: bytes, name: str, as_squares: bool | None) -> Pattern:
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    fitting = [known for known in _READ if known.sniff(data[:_HEAD])]
    by_name = _by_extension(name, _READ)
    # A file that says what it is, is that.
    if mcell not in fitting and by_name is not None and (by_name in fitting or not fitting):
        return _read_as(by_name, data, name, as_squares)
    if fitting:
        return _read_as(fitting[0], data, name, as_squares)
    if name.lower().endswith(_SCRIPTS):
        raise PatternError("a script, which makes a pattern in Golly: it cannot be run here", name)
    known = ", ".join(known.NAME for known in _READ)
    raise PatternError(f"the content fits none of the pattern formats ({known})", name)


def _read_as(known: _ReadFormat, data: bytes, name: str, as_squares: bool | None) -> Pattern:
    """Read a pattern, whose grid has as many bit planes as its rule."""
    if as_squares is not False and known is macrocell:
        pattern = macrocell.read_squares(data, name, or_grid=as_squares is None)
    elif as_squares is not False and known is rle:
        pattern = rle.read_squares(data, name)
    else:
        pattern = known.read(data, name)
    if pattern.rule and pattern.squares is None and pattern.grid.planes < pattern.rule.planes:
        return replace(pattern, grid=pattern.grid.in_planes(pattern.rule.planes))
    return pattern


_Kind = TypeVar("_Kind", bound=_ReadFormat)


def _by_extension(path: str, formats: tuple[_Kind, ...]) -> _Kind | None:
    plain = path.lower().removesuffix(".gz")
    return next((known for known in formats if plain.endswith(known.EXTENSIONS)), None)


def _named(name: str) -> _WrittenFormat:
    for known in _FORMATS:
        if name == known.NAME:
            return known
    raise LifesimError(f"unknown pattern format {name!r}: known are {', '.join(formats())}")
