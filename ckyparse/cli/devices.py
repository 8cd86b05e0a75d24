"""Settle lines on several devices, each of which begins once there is enough to do for it."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ckyparse.cli import STREAM
from ckyparse.cli.blocks import TextBlock
from ckyparse.cli.lines import BLOCK_BYTES, blocks_of
from ckyparse.cli.options import Choices
from ckyparse.cli.pipeline import Dispatcher, Outcomes
from ckyparse.cli.processor import Ask, LineProcessor, LinesOutcome
from ckyparse.cli.reports import FaultReport
from kernels.targets.costs import START_COSTS
from kernels.targets.cuda import early

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar

_LOOK = 0.1  # seconds; see Channel
_EACH = 2  # threads for a device: one computes while another reads or writes


class DeviceDispatcher(Dispatcher):
    """Settles lines by threads for each of several devices, whole blocks by whichever is free.

    GPUs that are named begin with the first. The others follow, in the background, as soon as
    they save more time than their start takes. With "auto" all begin with the CPU, at once.
    """

    def __init__(self, choices: Choices, grammar: Grammar, ask: Ask) -> None:
        self.paths, self._devices = choices.paths, choices.devices
        self._size = size_of(choices.paths)
        count = len(choices.devices)
        parsers = choices.parsers(grammar)
        self._coming = (LineProcessor(choices, parser, ask) for parser in parsers)
        self.free: SimpleQueue[LineProcessor] = SimpleQueue()
        self._lock = threading.Lock()
        self._spent, self._done = 0.0, 0  # seconds and bytes of the blocks that are settled
        self._left = count  # devices that have not begun
        self._is_wanted = False  # whether they are to follow
        self._begin(1 if choices.backend == "cuda" else count)
        self.room = count * (_EACH + 1)
        self.pool = ThreadPoolExecutor(count * _EACH, thread_name_prefix=STREAM)

    def items(self, hungry: Callable[[], bool]) -> Iterator[Future[LinesOutcome]]:
        """See Dispatcher.items()."""
        for block, first in blocks_of(self.paths, hungry, BLOCK_BYTES):
            yield self.pool.submit(self.settle, block, first)

    def settle(self, block: TextBlock, first: int) -> LinesOutcome:
        """Settle a block by a processor that is free."""
        processor = self.free.get()
        began = time.perf_counter()
        try:
            outcome = processor.settle_all(block, first)
        finally:
            self.free.put(processor)
        self._note(time.perf_counter() - began, outcome.size)
        return outcome

    def outcomes(self, items: Iterator[Future[LinesOutcome]], report: FaultReport) -> Outcomes:
        """See Dispatcher.outcomes(). Raises BackendUnavailableError where a GPU fails to follow."""
        for future in items:
            while not wait([future], _LOOK).done:
                self._follow()
            self._follow()
            yield future.result()

    def _follow(self) -> None:
        """Begin with the devices that are left, if that pays and their contexts are there.

        In the thread that began with the first: PyCUDA takes contexts down in it.
        """
        if self._is_wanted and self._left and early.is_done(self._devices):
            self._begin(self._left)

    def _begin(self, devices: int) -> None:
        """Have the next devices settle blocks."""
        for _ in range(devices):
            processor = next(self._coming)
            self._left -= 1
            for _ in range(_EACH):
                self.free.put(processor)

    def _note(self, seconds: float, size: int) -> None:
        """Note what a block took, and begin with the other devices where that pays."""
        with self._lock:
            self._spent += seconds / _EACH
            self._done += size
            if self._is_wanted or not self._left:
                return
            ahead = None if self._size is None else self._size - self._done
            if pays(self._spent, self._done, ahead, self._left):
                early.begin(self._devices)  # all at the same time, in threads of their own
                self._is_wanted = True

    def __enter__(self) -> DeviceDispatcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, *reason: object) -> None:
        patient = kind is not KeyboardInterrupt
        self.pool.shutdown(wait=patient, cancel_futures=True)


def pays(spent: float, done: int, ahead: int | None, others: int) -> bool:
    """Tell whether other devices save more time than their start takes.

    spent: seconds that one device took for `done` bytes. ahead: bytes that are to come; None where
    nobody knows, and then as many are expected as there have been.
    """
    if ahead is None:
        ahead = done
    saved = spent * ahead / max(1, done) * others / (others + 1)
    return saved > others * START_COSTS.seconds


def size_of(paths: tuple[str, ...]) -> int | None:
    """Return the bytes of files together; None where one is no regular file, as a pipe."""
    size = 0
    for path in paths:
        try:
            found = os.fstat(0) if path == "-" else os.stat(path)
        except OSError:  # which is said when it is read
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        size += found.st_size
    return size
