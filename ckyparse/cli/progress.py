"""Show on a terminal how far a stream of lines has come."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def progress(paths: Sequence[str]) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes the bytes and lines done since its last call.

    It shows something only where standard error is a terminal and standard output is none:
    lines of results and a bar would overwrite each other.
    """
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda size, lines: None
        return
    from rich import progress as bars
    from rich.console import Console

    lines_done, began = 0, time.monotonic()
    with bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        task = shown.add_task("", total=_size(paths))

        def show(size: int, lines: int) -> None:
            nonlocal lines_done
            lines_done += lines
            rate = lines_done / max(time.monotonic() - began, 1e-9)
            shown.update(task, advance=size, description=f"{lines_done:,} lines, {rate:,.0f}/s")

        yield show


def _size(paths: Sequence[str]) -> int | None:
    """Return bytes of all files, None where that is not known."""
    total = 0
    for path in paths:
        try:
            found = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        total += found.st_size
    return total
