"""Draft: a file that grows beside its name, and takes the name once it is whole."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any

from lifesim.errors import LifesimError


class Draft:
    """A file in the making. What is no regular file (a pipe, a device) is written directly."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises LifesimError, here and below, where the system refuses."""
        self.path = os.fspath(path)
        self._size = 0
        self._temporary: str | None = None
        self._handle: int | None = None
        with one_line_errors(self.path):
            self._target = os.path.realpath(self.path)
            if os.path.exists(self._target) and not os.path.isfile(self._target):
                self._handle = os.open(self._target, os.O_WRONLY)
                return
            folder = os.path.dirname(self._target)
            temporary = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
            self._handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            self._temporary = temporary

    @property
    def is_open(self) -> bool:
        return self._handle is not None

    def append(self, data: bytes) -> None:
        """Write all of data, or nothing: the draft can be finished after a failure."""
        assert self._handle is not None
        left = memoryview(data).cast("B")
        try:
            with one_line_errors(self.path):
                while left:
                    left = left[os.write(self._handle, left) :]
        except BaseException:
            if self._temporary is not None:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._handle, self._size)
                    os.lseek(self._handle, self._size, os.SEEK_SET)
            raise
        self._size += memoryview(data).nbytes

    def finish(self) -> None:
        """Put the file under its name; on failure there is no trace of the draft."""
        assert self._handle is not None
        try:
            with one_line_errors(self.path):
                if self._temporary is not None:
                    os.fsync(self._handle)
                    with contextlib.suppress(FileNotFoundError):
                        os.chmod(self._temporary, stat.S_IMODE(os.stat(self._target).st_mode))
                    os.replace(self._temporary, self._target)
                    self._temporary = None
                    _sync_folder(os.path.dirname(self._target))
        finally:
            self.drop()

    def drop(self) -> None:
        """Give up: a file that has the name already stays. Nothing once finished."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.close(self._handle)
            self._handle = None
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = None


class DraftStream(io.RawIOBase):
    """A draft as a binary stream, for those who write to one. Closing it finishes nothing."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._draft.append(data)
        return memoryview(data).nbytes


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def one_line_errors(path: str) -> Iterator[None]:
    """Turns what the system refuses into a LifesimError that names the path."""
    try:
        yield
    except OSError as error:
        raise LifesimError(f"cannot write {path}: {error.strerror or error}") from None
