"""Files that a person names: input, also standard input as -, and output put under its name
when whole."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from bulkbits.keeping import MovingDraft
from bulkbits.overwriting import FileKind, check_target
from kernels.draft import refused


@contextmanager
def one_line_errors(path: str) -> Iterator[None]:
    """Turn what the system refuses into a ClickException that names the path."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from None


@contextmanager
def reading(path: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for -. Raises ClickException."""
    with contextlib.ExitStack() as stack:
        with one_line_errors(path):
            stream = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
        yield stream


def shown(path: str) -> str:
    """Return how messages name an input."""
    return "standard input" if path == "-" else path


def check_out(
    path: str | None,
    kind: FileKind,
    inputs: Iterable[str | None] = (),
    force: bool = False,
    *,
    regular: bool = False,
) -> None:
    """Raise ClickException where overwriting.check_target() says that path cannot be written.

    None, also among the inputs, is what was not given.
    """
    if path is None:
        return
    given = [each for each in inputs if each is not None]
    try:
        check_target(path, kind, inputs=given, force=force, regular=regular)
    except OSError as error:
        raise click.ClickException(refused(path, error)) from None


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """Give a stream to standard output for -, or to a file.

    A file is written beside its name, and takes it if the block ends well; else there is no
    trace of it. Where the disk gets full, what is written is kept and gone on with elsewhere, see
    bulkbits.keeping. What is no regular file is written directly. See check_out() for what may be
    overwritten.
    """
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with one_line_errors(path):
        draft = MovingDraft(path)
        try:
            stream = io.BufferedWriter(draft, 1 << 20)
            yield stream
            stream.flush()
            draft.finish()
        finally:
            draft.drop()
