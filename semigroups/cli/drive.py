"""Enumerate on behalf of a person: progress, Ctrl-C, limits, and what is saved of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from bulkbits.keeping import keep
from bulkbits.overwriting import free_room
from bulkbits.stopping import Stop
from kernels.targets.choose import why_slow
from semigroups.cli.options import EnumerationChoices, say
from semigroups.files import nbytes_of
from semigroups.running import Progress
from semigroups.semigroup import Semigroup


@dataclass
class EnumerationOutcome:
    """Tells how an enumeration ended.

    found: how many elements, this time. seconds: of the enumeration. stopped: why it is not
    finished, "" if it is. interrupted: whether a person stopped it. written: where it is saved.
    error: why it is not, "" if it is or need not be.
    """

    found: int = 0
    seconds: float = 0.0
    stopped: str = ""
    interrupted: bool = False
    written: str | None = None
    error: str = ""

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0, 1 not finished, 2 not saved, 130 interrupted."""
        if self.error:
            return 2
        if self.interrupted:
            return 130
        return 1 if self.stopped else 0


def check_backend(semigroup: Semigroup, choices: EnumerationChoices) -> None:
    """Say where it begins on a slow one that nobody asked for. Raises BackendUnavailableError."""
    if semigroup.backend == "reference" and choices.backend == "auto" and not choices.quiet:
        reason = why_slow(device=choices.device, threads=choices.threads)
        say(f"running on the slow reference backend: {reason}")


def busy(what: str, quiet: bool) -> AbstractContextManager[object]:
    """Say so, on a terminal, while the block takes its time."""
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def drive(
    semigroup: Semigroup, limit: int | None, out: str | None, quiet: bool, before: int = 0
) -> EnumerationOutcome:
    """Enumerate to the end, or the limit, or until memory is full; then save what there is.

    The first Ctrl-C ends the enumeration as if the limit were reached; the next one all.
    What cannot be saved in `out` is kept elsewhere, see bulkbits.keeping. before: how many
    elements had been found. Raises MemoryError where not even the beginning fits.
    """
    outcome = EnumerationOutcome()
    room = None if out is None or quiet else _DiskSpaceWatch(out, len(semigroup.generators))
    began = time.monotonic()
    with Stop() as stop, _progress_line(quiet) as show:

        def progress(now: Progress) -> None:
            if show is not None:
                show(now)
            if room is not None:
                room.look(now)
            if stop.asked:
                semigroup.cancel()

        try:
            finished = semigroup.run(limit, progress=progress)
        except MemoryError as error:
            if not _begun(semigroup):
                raise
            outcome.stopped = str(error)
        else:
            if not finished:
                outcome.interrupted = stop.asked
                why = "interrupted" if stop.asked else "stopped by --limit"
                outcome.stopped = f"{why} at {semigroup.current_size:,} elements"
    outcome.seconds = time.monotonic() - began
    outcome.found = max(0, semigroup.progress.size - before)
    if out is not None:

        def save(path: str) -> None:
            with busy(f"writing {path}", quiet):
                semigroup.save(path)

        kept = keep(out, save, OSError)
        outcome.written, outcome.error = kept.path, kept.error
    if outcome.stopped:
        goes_on = f"`semigroups resume {outcome.written}` goes on"
        say(f"{outcome.stopped}; {goes_on if outcome.written else 'nothing is saved'}")
    if outcome.error:
        say(outcome.error)
    return outcome


class _DiskSpaceWatch:
    """Says, once, that what is found does not fit on the disk where it is to be saved.

    That is said while there is time to make room.
    """

    def __init__(self, path: str, letters: int) -> None:
        self._path, self._letters, self._told = path, letters, False

    def look(self, now: Progress) -> None:
        if self._told:
            return
        needed, free = nbytes_of(now.size, now.expanded, self._letters), free_room(self._path)
        if free is not None and needed > free:
            self._told = True
            say(f"{self._path}: {needed:,} bytes are needed so far, {free:,} are free: make room")


def _begun(semigroup: Semigroup) -> bool:
    try:
        return semigroup.current_size > 0
    except MemoryError:
        return False


def _progress_line(quiet: bool) -> AbstractContextManager[Callable[[Progress], None] | None]:
    return nullcontext() if quiet or not sys.stderr.isatty() else _ProgressLine()


class _ProgressLine:
    """Shows a line on standard error: elements, level, rate, memory."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._shown = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}"),
            progress.TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._shown.add_task("", total=None)
        self._last: tuple[float, int] | None = None

    def __enter__(self) -> Callable[[Progress], None]:
        self._shown.start()
        return self._show

    def __exit__(self, *reason: object) -> None:
        self._shown.stop()

    def _show(self, now: Progress) -> None:
        seconds, size = time.monotonic(), now.size
        if self._last is None:
            self._last = seconds, size
        rate = (size - self._last[1]) / max(seconds - self._last[0], 1e-9)
        self._shown.update(self._task, description=f"{size:,} elements, level {now.level}, "
                           f"{rate:,.0f}/s, {now.nbytes / 2**20:,.0f} MiB")  # fmt: skip
