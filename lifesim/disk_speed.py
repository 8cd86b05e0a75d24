"""Measure how fast a disk is, past the system's cache where that can be."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_DISK_BYTES = 64 << 20
_DISK_CHUNK = 8 << 20
_DISK_SECONDS = 2.0  # each way, however slow the disk


class DiskSpeedError(Exception):
    """The speed of a disk cannot be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """The speed of a disk: bytes per second of one file in `folder`; direct: past the cache of the
    system."""

    folder: str
    write: float
    read: float
    free: int
    direct: bool


def _never() -> bool:
    return False


def disk_facts(folder: Path, stopped: Callable[[], bool] = _never) -> DiskFacts:
    """Measure the disk of a folder. Raises DiskSpeedError, and OSError where it cannot be asked.

    stopped: asked every few megabytes whether nobody wants to know any more; then whatever was
    measured by then is returned, or DiskSpeedError raised where nothing was.
    """
    free = _free_bytes(folder)
    if free < 2 * _DISK_BYTES:  # to fill a disk up, however briefly, may break what runs
        raise DiskSpeedError(f"not measured: {free / 1e6:.0f} MB are free in {folder}")
    try:
        descriptor, path = tempfile.mkstemp(prefix=".lifesim-doctor-", dir=folder)
    except OSError as error:
        raise DiskSpeedError(f"cannot write in {folder}: {error.strerror}") from None
    try:
        os.unlink(path)  # now, so that nothing stays behind if this is killed
        direct = _past_the_cache(descriptor)
        with mmap.mmap(-1, _DISK_CHUNK) as chunk:  # page-aligned, as direct access asks
            chunk.write(os.urandom(1 << 20) * (_DISK_CHUNK >> 20))
            write, size = _rate(descriptor, chunk, stopped, writing=True)
            if not direct and hasattr(os, "posix_fadvise"):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            read, _ = _rate(descriptor, chunk, stopped, writing=False, size=size)
    except OSError as error:
        raise DiskSpeedError(f"cannot write in {folder}: {error.strerror}") from None
    finally:
        os.close(descriptor)
    return DiskFacts(str(folder), write, read, free, direct)


def disk_rates(folder: str, stopped: Callable[[], bool] = _never) -> tuple[float, float] | None:
    """Measure how many bytes per second the disk of a folder reads and writes; None: not to be
    had. stopped: as of disk_facts()."""
    try:
        disk = disk_facts(Path(folder), stopped)
    except (DiskSpeedError, OSError):
        return None
    return disk.read, disk.write


def _free_bytes(folder: Path) -> int:
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize


def _past_the_cache(descriptor: int) -> bool:
    """Tell whether O_DIRECT could be set: some file systems, and some systems, lack it."""
    flag = getattr(os, "O_DIRECT", 0)
    try:
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | flag)
    except (ImportError, OSError):
        return False
    return bool(flag)


def _rate(
    descriptor: int,
    chunk: mmap.mmap,
    stopped: Callable[[], bool],
    *,
    writing: bool,
    size: int = _DISK_BYTES,
) -> tuple[float, int]:
    """Return bytes per second, and how many there were before the time was up."""
    start, done = time.perf_counter(), 0
    while done < size and (not done or time.perf_counter() - start < _DISK_SECONDS):
        if stopped():
            break
        if writing:
            count = os.pwrite(descriptor, chunk, done)
        else:
            count = os.preadv(descriptor, [chunk], done)
        done += count
        if count < len(chunk):  # full, or the end: a direct one could not go on from here
            break
    if writing:
        os.fsync(descriptor)
    if not done:
        raise OSError(0, "nothing was written" if writing else "nothing could be read back")
    return done / (time.perf_counter() - start), done
