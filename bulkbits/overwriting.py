"""Where results may be written: a file that is there is replaced by its like only.

One rule for the outputs of all commands. What is empty, or of the kind that is written, is
replaced. Anything else, and whatever the same command reads, is kept unless that is forced.
Devices and pipes are written to as they are.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kernels.draft import Draft

HEAD = 1 << 16  # bytes


@dataclass(frozen=True)
class FileKind:
    """A kind of file that a command writes.

    name: as in "it is no NAME". fits: tells of the file at a path whether it is of this kind, from
    its beginning; it may raise OSError.
    """

    name: str
    fits: Callable[[str], bool]


def begins(name: str, fits: Callable[[bytes], bool]) -> FileKind:
    """Return the kind of files whose first HEAD bytes fit."""

    def look(path: str) -> bool:
        with open(path, "rb") as file:
            return fits(file.read(HEAD))

    return FileKind(name, look)


def check_target(
    path: str,
    kind: FileKind,
    *,
    inputs: Iterable[str] = (),
    force: bool = False,
    regular: bool = False,
) -> None:
    """Raise OSError, with a text of one line, where a result cannot or must not be written.

    path: "-" is standard output, which always can. inputs: paths that the same command reads,
    "-" for standard input. regular: the kind cannot go to a device or a pipe. A draft is begun
    beside the file, and dropped again.
    """
    if path == "-":
        return
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        facts = None
    if facts is not None and stat.S_ISDIR(facts.st_mode):
        raise OSError(errno.EISDIR, "this is a directory", path)
    if facts is not None and not stat.S_ISREG(facts.st_mode):
        if regular:
            raise OSError(errno.EINVAL, "this is no regular file", path)
        return  # to open it may wait for a reader
    Draft(path).drop()
    if facts is not None and not force:
        _check_there(path, facts, kind, inputs)


def check_there(path: str, kind: FileKind, *, inputs: Iterable[str] = ()) -> None:
    """Raise OSError where a file that is there must not be overwritten, unless that is forced."""
    facts = os.stat(path)
    if stat.S_ISREG(facts.st_mode):
        _check_there(path, facts, kind, inputs)


def _check_there(path: str, facts: os.stat_result, kind: FileKind, inputs: Iterable[str]) -> None:
    if any(_is_same(facts, other) for other in inputs):
        raise OSError(errno.EEXIST, "it is read, too: --force overwrites it", path)
    if facts.st_size and not kind.fits(path):
        raise OSError(errno.EEXIST, f"it is no {kind.name}: --force overwrites it", path)


def free_room(path: str) -> int | None:
    """Return how many bytes a new file at `path` may have, as far as the system says; else None."""
    try:
        facts = os.statvfs(os.path.dirname(os.path.realpath(path)))
    except OSError:
        return None
    return facts.f_bavail * facts.f_frsize if facts.f_blocks else None


def _is_same(facts: os.stat_result, other: str) -> bool:
    try:
        return os.path.samestat(facts, os.fstat(0) if other == "-" else os.stat(other))
    except (OSError, ValueError):
        return False  # it is no file, or cannot be read: others say so
