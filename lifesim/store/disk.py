"""Every change that a universe directory sees goes through here, one step a function.

So that a test can fail, or kill the process, at each step in turn. Errors are OSError.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any

import numpy as np
import numpy.typing as npt

PAGE = 4096


class EndOfFileError(OSError):
    """A file ends before what should be read from it."""


def open_file(path: str, flags: int, *, direct: bool) -> tuple[int, bool]:
    """A file descriptor, and whether it passes the system's cache by (O_DIRECT)."""
    flags |= os.O_NONBLOCK  # a pipe of that name makes nobody wait
    if direct and (flag := getattr(os, "O_DIRECT", 0)):
        try:
            return os.open(path, flags | flag | os.O_CLOEXEC, 0o666), True
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
    return os.open(path, flags | os.O_CLOEXEC, 0o666), False


def read(fd: int, target: npt.NDArray[np.uint8], offset: int, least: int | None = None) -> None:
    """Fill target (uint8, C-contiguous), or at least its first bytes. Raises EndOfFileError."""
    need, done = len(target) if least is None else least, 0
    while done < need:
        count = os.preadv(fd, [target[done:].data], offset + done)
        if not count:
            raise EndOfFileError(errno.EIO, "the file is too short")
        done += count


def write(fd: int, data: Any, offset: int) -> None:
    left = memoryview(data).cast("B")
    while left:
        count = os.pwrite(fd, left, offset)
        left, offset = left[count:], offset + count


def write_chunk(dataset: Any, at: tuple[int, int], frame: bytes) -> None:
    """One chunk of a dataset (h5py.h5d.DatasetID) as it is stored."""
    dataset.write_direct_chunk(at, frame, 0)


def append(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def truncate(path: str, length: int) -> None:
    os.truncate(path, length)


def sync(fd: int) -> None:
    os.fsync(fd)


def sync_folder(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(path: str) -> None:
    os.mkdir(path)


def replace(source: str, target: str) -> None:
    os.replace(source, target)


def remove(path: str) -> None:
    """Nothing where it is gone already."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def write_whole(path: str, data: bytes) -> None:
    """The file appears whole or not at all, and lasts."""
    temporary = path + ".tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
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
    """Uninitialised memory that starts at a page, as O_DIRECT asks."""
    raw = np.empty(nbytes + PAGE, np.uint8)
    skip = -raw.ctypes.data % PAGE
    return raw[skip : skip + nbytes]


def free_bytes(folder: str) -> int:
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize
