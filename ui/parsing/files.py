"""Grammars and sentences as files, for the window. No Qt here."""

from __future__ import annotations

import os
import stat

from kernels.draft import Draft

MOST_GRAMMAR = 1 << 21  # bytes


class FileError(ValueError):
    """Raised for a file that cannot be read, written or shown; the message is one line."""


def read_grammar(path: str | os.PathLike[str]) -> str:
    """Return the text of a grammar, right or wrong. Raises FileError."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_GRAMMAR + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: cannot be read: {reason}") from None
    if len(data) > MOST_GRAMMAR:
        raise FileError(f"{path}: more than {MOST_GRAMMAR >> 20} MiB are no grammar for a window")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}:{line}: no grammar: not UTF-8") from None
    if "\0" in text:
        raise FileError(f"{path}: no grammar: not a text")
    return text


def check_source(path: str | os.PathLike[str]) -> None:
    """Raise FileError for a named pipe: nobody may ever write to it."""
    try:
        is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return  # said by whoever reads it
    if is_pipe:
        raise FileError(f"{path}: cannot be read: it is a pipe, not a file")


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file in place of what is there, whole or not at all. Raises FileError."""
    try:
        with Draft(path, regular=True) as draft:
            draft.append(data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: cannot be written: {reason}") from None
