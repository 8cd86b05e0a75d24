"""End a command at a fault of its own: with an exit code that means nothing else."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

EXIT_CODE = 70  # ExitCode.FAULT, here again so that nothing need be imported


def fail_internally(name: str, error: Exception) -> NoReturn:
    """Show where an unforeseen error comes from, ask to report it, and exit with 70.

    1 would say that something was found or rejected. No numpy is needed, nor anything else that
    may be what cannot be imported.
    """
    import traceback

    said = " ".join(traceback.format_exception_only(error)[-1].split())
    with contextlib.suppress(AttributeError, OSError, ValueError):  # a closed standard error
        sys.stderr.write("".join(traceback.format_exception(error)))
        line = f"{name}: internal error, please report it with the lines above: {said}"
        sys.stderr.write("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) + "\n")
        sys.stderr.flush()
    try:
        sys.stdout.flush()
    except (AttributeError, OSError, ValueError):  # nobody can have it: let the last flush succeed
        with contextlib.suppress(AttributeError, OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
    sys.exit(EXIT_CODE)
