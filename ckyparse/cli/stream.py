"""Lines through a tokenizer and a parser to results, in order.

A thread reads and cuts lines, this one computes or waits for those that do, another writes: so
that all overlap, and a Ctrl-C comes where a computation can be broken off. There are few blocks
at any time.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from ckyparse.cli import STREAM
from ckyparse.cli.blocks import Block
from ckyparse.cli.channel import Channel, StoppedError
from ckyparse.cli.desk import Ask, Desk, Outcome
from ckyparse.cli.lines import BLOCK_BYTES, Lines, blocks_of, lines_of
from ckyparse.cli.options import Choices
from ckyparse.cli.progress import progress
from ckyparse.cli.reports import Report, Reporter

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar

_ROOM = 2  # blocks that wait between two threads
_LAST_WORDS = 1.0  # seconds for each thread to end when interrupted
_LOOK = 0.1  # seconds; see Channel
_EACH = 2  # threads for a device: one computes while another reads or writes

Outcomes = Generator[Outcome, None, None]


class Way(ABC):
    """How lines get settled.

    room: items that may wait before they are settled.
    """

    room = _ROOM

    @abstractmethod
    def items(self, hungry: Callable[[], bool]) -> Iterator[Any]:
        """The lines of all files, in what form it likes; hungry: see blocks(). In a thread of
        its own."""

    @abstractmethod
    def outcomes(self, items: Iterator[Any], report: Report) -> Outcomes:
        """Of each item in turn. What there is to say of it is told the report, or by the
        outcome."""


def stream(choices: Choices, ask: Ask) -> int:
    """Puts out the results of all lines; returns the exit code.

    Raises ClickException at an unknown token, if that is an error, when all that comes
    before it is out.
    """
    grammar = choices.read_grammar()
    desk = Desk(choices, choices.parser(grammar), ask)
    if choices.cluster is not None:
        from ckyparse.cli.spread import spread

        return spread(choices, grammar, ask)
    paths = choices.paths
    if len(choices.devices) == 1 or desk.work.pieces is not None:
        return run(paths, Here(paths, desk))
    with _Devices(choices, grammar, ask) as devices:
        return run(paths, devices)


class Here(Way):
    """By this thread."""

    def __init__(self, paths: tuple[str, ...], desk: Desk) -> None:
        self.paths, self.desk = paths, desk

    def items(self, hungry: Callable[[], bool]) -> Iterator[Lines]:
        return lines_of(self.paths, self.desk.tokenizer, hungry)

    def outcomes(self, items: Iterator[Lines], report: Report) -> Outcomes:
        for lines in items:
            yield self.desk.settle(lines, report)


class _Devices(Way):
    """By threads for each of several devices, whole blocks by whichever is free."""

    def __init__(self, choices: Choices, grammar: Grammar, ask: Ask) -> None:
        from kernels.choose import pick
        from kernels.several import SeveralDevices

        self.paths = choices.paths
        several = pick(choices.backend, device=choices.devices, threads=choices.jobs)
        assert isinstance(several, SeveralDevices)
        desks = [Desk(choices, choices.parser(grammar, one), ask) for one in several.backends]
        self.free: SimpleQueue[Desk] = SimpleQueue()
        for desk in desks * _EACH:
            self.free.put(desk)
        self.room = len(desks) * (_EACH + 1)
        self.pool = ThreadPoolExecutor(len(desks) * _EACH, thread_name_prefix=STREAM)

    def items(self, hungry: Callable[[], bool]) -> Iterator[Future[Outcome]]:
        for block, first in blocks_of(self.paths, hungry, BLOCK_BYTES):
            yield self.pool.submit(self.settle, block, first)

    def settle(self, block: Block, first: int) -> Outcome:
        desk = self.free.get()
        try:
            return desk.settle_all(block, first)
        finally:
            self.free.put(desk)

    def outcomes(self, items: Iterator[Future[Outcome]], report: Report) -> Outcomes:
        for future in items:
            while not wait([future], _LOOK).done:
                pass
            yield future.result()

    def __enter__(self) -> _Devices:
        return self

    def __exit__(self, kind: type[BaseException] | None, *reason: object) -> None:
        patient = kind is not KeyboardInterrupt
        self.pool.shutdown(wait=patient, cancel_futures=True)


def run(paths: tuple[str, ...], way: Way) -> int:
    """Returns the exit code."""
    return _Stream(paths, way).run()


class _Stream:
    def __init__(self, paths: tuple[str, ...], way: Way) -> None:
        self.paths, self.way = paths, way
        self.read: Channel[Any] = Channel(way.room)
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
        outcomes = self.way.outcomes(iter(self.read), self.reporter)
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
            for item in self.way.items(lambda: self.read.hungry):
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

    def _take(self, outcome: Outcome) -> None:
        outcome.record.make(self.reporter)
        self.rejected |= outcome.rejected
        self.failed |= outcome.failed
        for render in outcome.output:
            self.done.put(render)
        if outcome.error:
            raise click.ClickException(outcome.error)


def _join(thread: threading.Thread, patience: float) -> None:
    """In short waits, as a channel does."""
    end = time.monotonic() + patience
    while thread.is_alive() and time.monotonic() < end:
        thread.join(0.1)
