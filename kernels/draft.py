"""Make a file appear whole, or not at all.

It is written beside its name, synced to the disk, renamed, and its folder synced. A draft is
locked by who writes it, and the system drops that lock with the process: so the next draft of
the same file finds those whose writer was killed, and removes them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import Any, BinaryIO

_LONGEST = 180  # bytes of a file's name that its drafts repeat; systems take 255
_ATTEMPTS = 100
_BOOT = "/proc/sys/kernel/random/boot_id"

Refusal = Callable[[str, OSError], Exception]


class Draft:
    """Writes a file that appears when it is whole. A pipe or a device is written directly.

    It takes its name, and the mode of the file that had it, when a `with` block ends well, or
    by finish(). A draft that nobody holds any more is given up: Ctrl-C can come before its `with`
    block begins. Raises OSError with the path that was given, never the draft's own, or what
    `refusal` makes of it.
    """

    _temporary: str | None = None
    _handle: int | None = None
    _process = 0

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        regular: bool = False,
        refusal: Refusal | None = None,
    ) -> None:
        """Begin a draft.

        regular: refuse what is no regular file, for formats that cannot go to a pipe. refusal:
        makes, of the path and what the system refused, the error that is raised in its place.
        """
        self.path = os.fspath(path)
        self._refusal = refusal
        self._size = 0
        self._process = os.getpid()
        with self.errors():
            if not is_regular(self.path):
                if regular:
                    raise OSError(errno.EINVAL, "this is no regular file")
                self._handle = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
                return
            if not os.path.basename(self.path):  # which realpath() would not tell
                code = errno.EISDIR if self.path else errno.ENOENT
                raise OSError(code, os.strerror(code))
            self._target = os.path.realpath(self.path)
            self._begin()

    def _begin(self) -> None:
        """Make the draft, locked. Those of killed writers are removed."""
        folder, name = os.path.split(self._target)
        stem, (kernel, host) = _stem(name), _here()
        _sweep(folder, stem)
        for _ in range(_ATTEMPTS):
            path = os.path.join(folder, f".{stem}.{kernel}-{host}-{secrets.token_hex(8)}.tmp")
            self._temporary = path  # first: whatever comes between, drop() knows of it
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            if _is_kept(self._handle, path):
                return
            self._temporary = None
            self.drop()
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Name the path, not the draft, in the errors of the block, or raise the refusal."""
        try:
            yield
        except OSError as error:
            if self._refusal is not None:
                raise self._refusal(self.path, error) from None
            if error.errno is None:
                raise
            why = error.strerror or os.strerror(error.errno)
            raise OSError(error.errno, why, self.path) from None

    @property
    def is_open(self) -> bool:
        """True until the draft is finished or given up."""
        return self._handle is not None

    @property
    def is_regular(self) -> bool:
        """True if the draft is beside its name until it is finished."""
        return self._temporary is not None

    @property
    def temporary(self) -> str:
        """Path of the draft itself, for programs that write into it. Only of regular files."""
        assert self._temporary is not None
        return self._temporary

    def append(self, data: Any) -> None:
        """Write all of data, or nothing: the draft can be finished after a failure."""
        assert self._handle is not None
        left = memoryview(data).cast("B")
        size = left.nbytes
        try:
            with self.errors():
                while left:
                    left = left[os.write(self._handle, left) :]
        except BaseException:
            if self._temporary is not None:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._handle, self._size)
                    os.lseek(self._handle, self._size, os.SEEK_SET)
            raise
        self._size += size

    def stream(self) -> BinaryIO:
        """Return a buffered binary stream into the draft, to be flushed before it is finished."""
        return io.BufferedWriter(_Stream(self), 1 << 20)

    def raw(self) -> io.FileIO:
        """Return the draft as an unbuffered file for reading and writing at any place.

        Closing it leaves the draft open. Only of regular files.
        """
        assert self._handle is not None
        assert self._temporary is not None
        return io.FileIO(self._handle, "r+", closefd=False)

    def finish(self) -> None:
        """Put the file under its name; on failure there is no trace of the draft."""
        assert self._handle is not None
        try:
            with self.errors():
                if self._temporary is not None:
                    with contextlib.suppress(FileNotFoundError):
                        os.fchmod(self._handle, stat.S_IMODE(os.stat(self._target).st_mode))
                    os.fsync(self._handle)
                    os.replace(self._temporary, self._target)
                    self._temporary = None
                    _sync_folder(os.path.dirname(self._target))
        finally:
            self.drop()

    def drop(self) -> None:
        """Give up: a file that has the name already stays. Nothing once finished."""
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = None
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.close(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if self._process == os.getpid():  # not in a child, which has not begun it
            self.drop()

    def __enter__(self) -> Draft:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.drop()


class _Stream(io.RawIOBase):
    """Makes a raw stream of a draft.

    Closing it finishes nothing, and what a buffer still holds when the draft was given up goes
    nowhere.
    """

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._draft.is_open:
            self._draft.append(data)
        return memoryview(data).nbytes


def refused(path: str, error: OSError) -> str:
    """Return the line that tells a person that the system refused to write a file."""
    return f"cannot write {path}: {error.strerror or error}"


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Return whether a file at `path` would be made or replaced, not a pipe written to.

    The system follows the links, as those in /proc name nothing. Raises OSError.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def _is_kept(handle: int, path: str) -> bool:
    """Return whether this process has the lock, before another took the draft for dead."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks, where nobody removes anything
    return _is_at(handle, path)


def _sweep(folder: str, stem: str) -> None:
    """Remove the drafts of killed writers.

    A lock tells of writers under the same kernel only, as file systems of several machines may
    have none between them: drafts of other machines stay. Those that this machine made before
    it was started anew have no writer.
    """
    kernel, host = _here()
    named = re.compile(rf"\.{re.escape(stem)}\.([0-9a-f]{{8}})-([0-9a-f]{{8}})-[0-9a-f]{{16}}\.tmp")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = named.fullmatch(entry.name)
            if match and (match[1] == kernel or match[2] == host):
                with contextlib.suppress(OSError):
                    _remove_dead(entry.path)


def _remove_dead(path: str) -> None:
    """Remove a draft. Raises OSError if it has a writer, or that cannot be found out."""
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, path):  # else it was finished in between
                os.unlink(path)
    finally:
        os.close(handle)


def _is_at(handle: int, path: str) -> bool:
    """Return whether a path leads to the open file."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _stem(name: str) -> str:
    """Return what the drafts of a file repeat of its name: a digest where that is too long."""
    data = os.fsencode(name)
    return name if len(data) <= _LONGEST else _tag(data)


@lru_cache(maxsize=1)
def _here() -> tuple[str, str]:
    """Return tags of the running kernel and of the machine."""
    host = os.uname().nodename.encode()
    try:
        with open(_BOOT, "rb") as file:
            return _tag(file.read()), _tag(host)
    except OSError:
        return _tag(host), _tag(host)


def _tag(data: bytes) -> str:
    """Return a short digest."""
    return hashlib.blake2b(data, digest_size=4).hexdigest()


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
