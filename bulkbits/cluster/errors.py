"""What goes wrong with a cluster, in one line for people."""

from __future__ import annotations

from bulkbits.exit_codes import ExitCode


class ClusterError(Exception):
    """exit_code: 2 where the input is at fault, 3 where the cluster cannot be used."""

    def __init__(self, message: str, exit_code: int = ExitCode.UNAVAILABLE) -> None:
        super().__init__(message, exit_code)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return str(self.args[0])


def line_of(error: object) -> str:
    """Return what an exception says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
