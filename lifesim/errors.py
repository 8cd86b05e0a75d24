"""Errors that a person caused or can mend, and the exit codes they end a command with."""

from __future__ import annotations


class LifesimError(Exception):
    """Bad input or usage: one line that says what and where. Exit code 2."""

    exit_code = 2


class DamagedDataError(LifesimError):
    """A file is not what it was when it was written. Exit code 4."""

    exit_code = 4
