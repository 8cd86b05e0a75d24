"""Three threads that hand lines on: one reads, one has them settled, one writes results, in order.

The second is the calling one, so that a Ctrl-C comes where a computation can be broken off.
There are few blocks at any time.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import click

from ckyparse.cli import STREAM
from ckyparse.cli.channel import Channel, StoppedError
from ckyparse.cli.processor import LinesOutcome
from ckyparse.cli.progress import progress
from ckyparse.cli.reports import FaultReport, Reporter

_ROOM = 2  # blocks that wait between two threads
_LAST_WORDS = 1.0  # seconds for each thread to end when interrupted

Outcomes = Generator[LinesOutcome, None, None]


class Dispatcher(ABC):
    """Gets lines settled.

    room: items that may wait before they are settled.
    """

    room = _ROOM

    @abstractmethod
    def items(self, hungry: Callable[[], bool]) -> Iterator[Any]:
        """Yield the lines of all files, in what form it likes. In a thread of its own.

        hungry: see blocks().
        """

    @abstractmethod
    def outcomes(self, items: Iterator[Any], report: FaultReport) -> Outcomes:
        """Yield the outcome of each item in turn.

        What there is to say of it is told the report, or by the outcome.
        """


def run(paths: tuple[str, ...], dispatcher: Dispatcher) -> int:
    """Have all lines settled and results written; return the exit code."""
    return _LineStream(paths, dispatcher).run()


class _LineStream:
    def __init__(self, paths: tuple[str, ...], dispatcher: Dispatcher) -> None:
        self.paths, self.dispatcher = paths, dispatcher
        self.read: Channel[Any] = Channel(dispatcher.room)
        self.done: Channel[Callable[[], bytes | memoryview]] = Channel(_ROOM)
        self.failure: BaseException | None = None  # of the thread that writes
        self.reporter = Reporter()
        self.rejected = self.failed = False

    def run(self) -> int:
        sys.stdout.flush()
        reader = threading.Thread(target=self._read, daemon=True, name=STREAM)
        writer = threading.Thread(target=self._write, daemon=True, name=STREAM)
        reader.start()
        writer.start()
        patience = math.inf
        outcomes = self.dispatcher.outcomes(iter(self.read), self.reporter)
        try:
            with progress(self.paths) as show, closing(outcomes):
                for outcome in outcomes:
                    self._take(outcome)
                    show(outcome.size, outcome.count)
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
        self.reporter.close()
        return 2 if self.failed else int(self.rejected)

    def _read(self) -> None:
        try:
            for item in self.dispatcher.items(lambda: self.read.hungry):
                self.read.put(item)
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
            for render in self.done:
                left = memoryview(render())
                while left:
                    left = left[out.write(left) or 0 :]
        except BaseException as error:
            self.failure = error
            self.done.stop()

    def _take(self, outcome: LinesOutcome) -> None:
        outcome.record.make(self.reporter)
        self.rejected |= outcome.rejected
        self.failed |= outcome.failed
        for render in outcome.output:
            self.done.put(render)
        if outcome.error:
            raise click.ClickException(outcome.error)


def _join(thread: threading.Thread, patience: float) -> None:
    """Wait for a thread to end, in short waits, as a channel does."""
    end = time.monotonic() + patience
    while thread.is_alive() and time.monotonic() < end:
        thread.join(0.1)
