"""Progress bars on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(what: str, show: bool = True) -> Iterator[Callable[[float], None] | None]:
    """Yield a function that takes the share done, 0 to 1; None where nobody watches a terminal."""
    if not (show and sys.stderr.isatty()):
        yield None
        return
    from rich import progress
    from rich.console import Console

    with progress.Progress(
        progress.TextColumn(what),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda share: shown.update(task, completed=share)
