"""Every change that a universe directory sees goes through here, one step a function.

So that a test can fail, or kill the process, at each step in turn. Errors are OSError.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lifesim.store.names import TILE_NAME, UNDO_NAME

PAGE = 4096


class EndOfFileError(OSError):
    """A file ends before what should be read from it."""


class _PathError(OSError):
    """An error with a path. A subclass says what is wrong with it, for all of its errors."""

    number: int
    what: str

    def __init__(self, path: str) -> None:
        super().__init__(self.number, self.what, path)

    def __reduce__(self) -> tuple[Any, ...]:  # OSError's own passes all three
        return type(self), (self.filename,), vars(self)


class StrangerError(_PathError):
    """Something else is where a universe has a file or folder of its own."""

    number = errno.EINVAL


class NoFileError(StrangerError):
    """Something that is no plain file is where one of a universe should be."""

    what = "no file: something else is in its place"


class NoFolderError(StrangerError):
    """A link is where the folder of a universe's tiles should be."""

    what = "no folder: a link is in its place"


class SharedFileError(_PathError):
    """A file that would be changed in place has other names."""

    number, what = errno.EMLINK, "it has another name (a hard link): copy it"


@contextlib.contextmanager
def _folder(path: str) -> Iterator[tuple[int, str]]:
    """Return a descriptor of the folder that a file is in, and the file's name there.

    Files of tiles lie in a folder of the universe's own: where that is a link, it is another's.
    The universe itself may be named by a link, as a person does. Errors name the whole path.
    """
    folder, name = os.path.split(path)
    in_tiles = TILE_NAME.fullmatch(name) or UNDO_NAME.fullmatch(name)
    own = os.O_NOFOLLOW if in_tiles else 0
    try:
        # The descriptor serves for names only: the folder need not be readable.
        flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC | own
        fd = os.open(folder or ".", flags)
    except OSError as error:
        if own and os.path.islink(folder):
            raise NoFolderError(folder) from None
        error.filename = path
        raise
    try:
        yield fd, name
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise
    finally:
        os.close(fd)


def open_plain(path: str, flags: int, *, own: bool = False) -> int:
    """Open a plain file, and nothing else of that name: no link is followed, no pipe waited for.

    own: whether it is to be changed in place, and so may have no other name. Raises NoFileError
    and SharedFileError.
    """
    with _folder(path) as (folder, name):
        with contextlib.suppress(FileNotFoundError):  # opening a device may do something
            if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise NoFileError(path)
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags, 0o666, dir_fd=folder)
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise NoFileError(path)
        if own and facts.st_nlink > 1:
            raise SharedFileError(path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _open_new(path: str, flags: int) -> int:
    """Open a draft that nobody else has: whatever has its name goes."""
    flags |= os.O_CREAT | os.O_EXCL
    try:
        return open_plain(path, flags)
    except (FileExistsError, NoFileError):
        with _folder(path) as (folder, name), contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        return open_plain(path, flags)


def open_file(path: str, flags: int, *, direct: bool) -> tuple[int, bool]:
    """Return a file descriptor, and whether it passes the system's cache by (O_DIRECT).

    Links are not followed. With O_CREAT the file is a new one.
    """
    opened = _open_new if flags & os.O_CREAT else open_plain
    if direct and (flag := getattr(os, "O_DIRECT", 0)):
        try:
            return opened(path, flags | flag), True
        except StrangerError:
            raise
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
    return opened(path, flags), False


def read_file(path: str, most: int, head: bytes) -> bytes:
    """Return all bytes of a file, and only its first ones where they are not `head` or where
    there are more than `most`. Raises NoFileError."""
    fd = open_plain(path, os.O_RDONLY)
    with open(fd, "rb") as file:
        first = file.read(len(head))
        size = os.fstat(fd).st_size
        if first != head or size > most:
            return first
        return first + file.read(max(0, size - len(head)))


def read(fd: int, target: npt.NDArray[np.uint8], offset: int, least: int | None = None) -> None:
    """Fill target (uint8, C-contiguous), or at least its first bytes. Raises EndOfFileError."""
    need, done = len(target) if least is None else least, 0
    while done < need:
        count = os.preadv(fd, [target[done:].data], offset + done)
        if not count:
            raise EndOfFileError(errno.EIO, "the file is too short")
        done += count


def write(fd: int, data: Any, offset: int) -> None:
    """Write all of the data at an offset of the file."""
    left = memoryview(data).cast("B")
    while left:
        count = os.pwrite(fd, left, offset)
        left, offset = left[count:], offset + count


def write_chunk(dataset: Any, at: tuple[int, ...], frame: bytes) -> None:
    """Write one chunk of a dataset (h5py.h5d.DatasetID) as it is stored."""
    dataset.write_direct_chunk(at, frame, 0)


def append(fd: int, data: bytes) -> None:
    """Write all of the data where the file stands, or at its end if it was opened so."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def truncate(path: str, length: int) -> None:
    """Cut a file to a length."""
    fd = open_plain(path, os.O_WRONLY, own=True)
    try:
        os.ftruncate(fd, length)
    finally:
        os.close(fd)


def sync(fd: int) -> None:
    """Have what was written to a file last."""
    os.fsync(fd)


def sync_folder(path: str) -> None:
    """Have the names in a folder last."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(path: str) -> None:
    """Make a folder."""
    os.mkdir(path)


def replace(source: str, target: str) -> None:
    """Give a file another name, in the same folder."""
    with _folder(source) as (folder, name):
        os.replace(name, os.path.basename(target), src_dir_fd=folder, dst_dir_fd=folder)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(FileNotFoundError), _folder(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def write_whole(path: str, data: bytes) -> None:
    """Write a file that appears whole or not at all, and lasts."""
    temporary = path + ".tmp"
    fd = _open_new(temporary, os.O_WRONLY)
    try:
        try:
            append(fd, data)
            sync(fd)
        finally:
            os.close(fd)
        replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            remove(temporary)
        raise
    sync_folder(os.path.dirname(path))


def aligned(nbytes: int) -> npt.NDArray[np.uint8]:
    """Return uninitialised memory that starts at a page, as O_DIRECT asks."""
    raw = np.empty(nbytes + PAGE, np.uint8)
    skip = -raw.ctypes.data % PAGE
    return raw[skip : skip + nbytes]


def free_bytes(folder: str) -> int:
    """Return the bytes that are free for this user on the disk of a path."""
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize
