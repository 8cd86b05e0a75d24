"""Errors that a person caused or can mend, and the exit codes they end a command with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bulkbits.exit_codes import ExitCode


class LifesimError(Exception):
    """Input or usage is wrong: one line says what and where. Exit code 2."""

    exit_code = ExitCode.BAD_INPUT


class DamagedDataError(LifesimError):
    """A file is not what it was when it was written. Exit code 4."""

    exit_code = ExitCode.DAMAGED


def cannot_write(path: str, error: OSError) -> LifesimError:
    """Make the error that says that the system refused to write a file (`refusal` of a draft)."""
    from kernels.draft import refused  # only where it fails, as every command imports this module

    return LifesimError(refused(path, error))


@contextlib.contextmanager
def writing_to(path: str) -> Iterator[None]:
    """Turn what the system refuses, in the block, into a LifesimError that names the path."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None
