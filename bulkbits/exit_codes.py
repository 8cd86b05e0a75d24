"""The exit codes of all commands."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The number that a command ends with, for the shell.

    An exception whose message is meant for people has its code as the attribute `exit_code`.
    """

    DONE = 0
    NO = 1  # the command's own answer: something was rejected, or found, or is not finished
    BAD_INPUT = 2  # or usage; also an output that cannot be written, and want of memory
    UNAVAILABLE = 3  # the backend or the cluster that was asked for
    DAMAGED = 4  # a file is not what it was when it was written
    FAULT = 70  # of the command itself: EX_SOFTWARE of sysexits.h
    INTERRUPTED = 130  # as a shell says of what Ctrl-C ended
    BROKEN_PIPE = 141  # as a shell says of SIGPIPE: nobody reads the output any more


class DamagedFileError(ValueError):
    """Raised where a file is not what it was when it was written: a digest is another."""

    exit_code = ExitCode.DAMAGED


def exit_code_of(error: BaseException) -> ExitCode | None:
    """Return the code that an exception ends a command with; None for a fault of its own."""
    code = getattr(error, "exit_code", None)
    if code is not None:
        return ExitCode(code)
    from kernels.targets.contract import BackendUnavailableError

    return ExitCode.UNAVAILABLE if isinstance(error, BackendUnavailableError) else None
