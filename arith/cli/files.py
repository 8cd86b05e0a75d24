"""Files that a person names: input, also standard input as -, and output put under its name
when whole."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click


@contextmanager
def one_line_errors(path: str) -> Iterator[None]:
    """What the system refuses becomes a ClickException with the path."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from None


@contextmanager
def reading(path: str) -> Iterator[BinaryIO]:
    with contextlib.ExitStack() as stack:
        with one_line_errors(path):
            stream = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
        yield stream


def shown(path: str) -> str:
    return "standard input" if path == "-" else path


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """Standard output for -. A file is written beside its name, and takes it if the block
    ends well; else there is no trace of it. What is no regular file is written directly."""
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with one_line_errors(path), open(target, "wb") as stream:
            yield stream
        return
    draft = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
    try:
        with one_line_errors(path):
            with open(draft, "xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            with contextlib.suppress(FileNotFoundError):
                os.chmod(draft, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(draft, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
