"""Lines through a tokenizer and a parser to results, in order.

A thread reads and cuts lines, this one computes, another writes: so that all overlap, and
a Ctrl-C comes where a computation can be broken off. There are few blocks at any time.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import click

from ckyparse.cli import STREAM
from ckyparse.cli.channel import Channel, StoppedError
from ckyparse.cli.lines import ACCEPTED, DROPPED, REJECTED, UNDECIDED, Lines, lines_of
from ckyparse.cli.options import Choices
from ckyparse.cli.progress import progress
from ckyparse.cli.reports import LineReports, first_unknown
from ckyparse.cli.tokenise import Tokenizer
from kernels.cky import TooLongError
from kernels.cky.batch import Mask

R = TypeVar("R")

_ROOM = 2  # blocks that wait between two threads
_LAST_WORDS = 1.0  # seconds for each thread to end when interrupted


@dataclass(frozen=True)
class Work(Generic[R]):
    """What to do with lines.

    compute: in this thread: which lines are accepted, and whatever else is found; what it
        says of those that are UNDECIDED counts for nothing. It may raise TooLongError.
    render: what to write, when the status of each line is known. In another thread.
    pieces: if there is more to be computed then, or more than memory should hold: in this
        thread, what to give to render instead of what compute found, one after the other.
    """

    compute: Callable[[Lines], tuple[Mask, R]]
    render: Callable[[Lines, Any], bytes]
    pieces: Callable[[Lines, R], Iterator[Any]] | None = None


def stream(choices: Choices, tokenizer: Tokenizer, work: Work[Any]) -> int:
    """Puts out the results of all lines; returns the exit code.

    Raises ClickException at an unknown token, if that is an error, when all that comes
    before it is out.
    """
    return _Stream(choices, tokenizer, work).run()


class _Stream:
    def __init__(self, choices: Choices, tokenizer: Tokenizer, work: Work[Any]) -> None:
        self.choices, self.tokenizer, self.work = choices, tokenizer, work
        self.paths = choices.files or ("-",)
        self.read: Channel[Lines] = Channel(_ROOM)
        self.done: Channel[tuple[Lines, Any]] = Channel(_ROOM)
        self.failure: BaseException | None = None  # of the thread that writes
        self.reports = LineReports(tokenizer)
        self.rejected = self.failed = False

    def run(self) -> int:
        sys.stdout.flush()
        reader = threading.Thread(target=self._read, daemon=True, name=STREAM)
        writer = threading.Thread(target=self._write, daemon=True, name=STREAM)
        reader.start()
        writer.start()
        patience = math.inf
        try:
            with progress(self.paths) as show:
                for lines in self.read:
                    self._settle(lines)
                    show(lines.text.size, len(lines))
        except StoppedError:
            pass  # the thread that writes has failed
        except KeyboardInterrupt:
            self.done.stop()
            patience = _LAST_WORDS
            raise
        finally:
            self.read.stop()
            self.done.close()
            for thread in (reader, writer):
                _join(thread, patience)
        if self.failure is not None:
            raise self.failure
        self.reports.close()
        return 2 if self.failed else int(self.rejected)

    def _read(self) -> None:
        try:
            for lines in lines_of(self.paths, self.tokenizer, lambda: self.read.hungry):
                self.read.put(lines)
        except StoppedError:
            pass
        except BaseException as error:
            self.read.close(error)
        else:
            self.read.close()

    def _write(self) -> None:
        buffer = sys.stdout.buffer
        out: Any = getattr(buffer, "raw", buffer)
        try:
            for lines, result in self.done:
                left = memoryview(self.work.render(lines, result))
                while left:
                    left = left[out.write(left) or 0 :]
        except BaseException as error:
            self.failure = error
            self.done.stop()

    def _settle(self, lines: Lines) -> None:
        """Finds out about lines, and hands them on."""
        if lines.trouble:
            self.reports.unreadable(lines)
            self.failed = True
        error = None
        unknown = first_unknown(lines) if self.choices.unknown == "error" else None
        if unknown is not None:
            error = click.ClickException(self.reports.unknown(lines, *unknown))
            lines = lines.part(0, unknown[0])
        lines.status[self.reports.faults(lines)] = UNDECIDED
        accepted, result = self._computed(lines)
        decided = lines.status != UNDECIDED
        lines.status[decided & accepted] = ACCEPTED
        if self.choices.skip_empty:
            lines.status[decided & (lines.batch.lengths == 0)] = DROPPED
        self.rejected |= bool((lines.status == REJECTED).any())
        self.failed |= not bool(decided.all())
        pieces = [result] if self.work.pieces is None else self.work.pieces(lines, result)
        for piece in pieces:
            self.done.put((lines, piece))
        if error is not None:
            raise error

    def _computed(self, lines: Lines) -> tuple[Mask, Any]:
        """Leaves out lines that are too long for memory."""
        while True:
            try:
                return self.work.compute(lines)
            except TooLongError as error:
                longer = lines.batch.lengths > error.longest
                if not longer.any():
                    raise
                self.reports.too_long(lines, longer, error.longest)
                lines.leave_out(longer)


def _join(thread: threading.Thread, patience: float) -> None:
    """In short waits, as a channel does."""
    end = time.monotonic() + patience
    while thread.is_alive() and time.monotonic() < end:
        thread.join(0.1)
