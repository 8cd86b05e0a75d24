"""Results that took long to compute: where they cannot be saved as was asked, elsewhere."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import click

from kernels.draft import Draft, refused

_STEP = 1 << 20  # bytes copied at a time
_LONGEST = 100  # characters of a name that is repeated in another folder


@dataclass(frozen=True)
class Kept:
    """The place of a result. path: None for nowhere. error: one line of why it is not where it was
    to be; "" if it is, and where a person has named another place."""

    path: str | None
    error: str = ""


def keep(
    path: str, save: Callable[[str], None], refused: type[Exception] | tuple[type[Exception], ...]
) -> Kept:
    """Save a result at `path` or, where `save` raises what it is `refused` with, elsewhere.

    At a terminal a person is asked for another file, again and again until it can be saved or
    nothing is said. Without one it goes to the folder for temporary files.
    """
    try:
        save(path)
        return Kept(path)
    except refused as failed:
        return keep_elsewhere(path, line_of(path, failed), save, refused)


def keep_elsewhere(
    path: str,
    error: str,
    save: Callable[[str], None],
    refused: type[Exception] | tuple[type[Exception], ...],
) -> Kept:
    """Save what could not be saved at `path` because of an error, as keep() does."""
    if _is_asked():
        return _asked(error, save, refused)
    name = os.path.basename(path)[-_LONGEST:]
    other = os.path.join(tempfile.gettempdir(), f"{secrets.token_hex(4)}-{name}")
    try:
        save(other)
        return Kept(other, f"{error}; it is saved in {other}")
    except refused as failed:
        return Kept(None, f"{error}; and {line_of(other, failed)}")


class MovingDraft(io.RawIOBase):
    """A draft as a stream, which goes on elsewhere where it cannot go on at `path`.

    Raises OSError of `path`, and ClickException where it cannot go on anywhere.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._draft = Draft(path)
        self._error = ""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Append all of the data, elsewhere if need be; return how many bytes they are."""
        if self._draft.is_open:
            try:
                self._draft.append(data)
            except OSError as failed:
                if not self._draft.is_regular:
                    raise
                self._move(line_of(self._draft.path, failed), data)
        return memoryview(data).nbytes

    def finish(self) -> None:
        """Put the file under its name. Raises ClickException where that is not `path`."""
        self._draft.finish()
        if self._error:
            raise click.ClickException(self._error)

    def drop(self) -> None:
        """Remove the draft, unless it has been finished."""
        self._draft.drop()

    def _move(self, error: str, data: Any) -> None:
        before = self._draft

        def save(path: str) -> None:
            draft = Draft(path, regular=True)
            try:
                with before.raw() as raw:
                    raw.seek(0)
                    while part := raw.read(_STEP):
                        draft.append(part)
                draft.append(data)
            except BaseException:
                draft.drop()
                raise
            self._draft = draft

        kept = keep_elsewhere(before.path, error, save, OSError)
        if kept.path is None:
            raise click.ClickException(kept.error)
        self._error = kept.error
        before.drop()


def _asked(
    error: str, save: Callable[[str], None], refused: type[Exception] | tuple[type[Exception], ...]
) -> Kept:
    while True:
        prompt = f"{error}\nAnother file to save it in (empty: give it up): "
        with _interruptible():  # from before somebody reads it, and may answer with Ctrl-C
            click.echo(prompt, err=True, nl=False)
            path = sys.stdin.readline().strip()
        if not path:
            return Kept(None, error)
        if os.path.exists(path):
            error = f"cannot write {path}: there is a file of that name"
            continue
        try:
            save(path)
            return Kept(path)
        except refused as failed:
            error = line_of(path, failed)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the waiting at once, also where it is a request elsewhere (see Stop)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_asked() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def line_of(path: str, error: Exception) -> str:
    """Return what a person is told of a file that cannot be written."""
    if isinstance(error, OSError):
        return refused(path, error)
    return str(error)
