"""Take lines through a tokenizer and a parser: here, on several devices, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import TYPE_CHECKING

from ckyparse.cli import STREAM
from ckyparse.cli.blocks import TextBlock
from ckyparse.cli.lines import BLOCK_BYTES, Lines, blocks_of, lines_of
from ckyparse.cli.options import Choices
from ckyparse.cli.pipeline import Dispatcher, Outcomes, run
from ckyparse.cli.processor import Ask, LineProcessor, LinesOutcome
from ckyparse.cli.reports import FaultReport, say
from kernels.targets.choose import why_slow

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar

_LOOK = 0.1  # seconds; see Channel
_EACH = 2  # threads for a device: one computes while another reads or writes


def stream(choices: Choices, ask: Ask) -> int:
    """Put out the results of all lines; return the exit code.

    Raises ClickException at an unknown token, if that is an error, when all that comes
    before it is out.
    """
    grammar = choices.read_grammar()
    processor = LineProcessor(choices, choices.parser(grammar), ask)
    if choices.cluster is not None:
        from ckyparse.cli.spread import spread

        return spread(choices, grammar, ask)
    if choices.backend == "auto" and (reason := why_slow(threads=choices.threads)):
        say(f"running on the slow reference backend: {reason}")
    paths = choices.paths
    if len(choices.devices) == 1 or processor.work.pieces is not None:
        return run(paths, LocalDispatcher(paths, processor))
    with DeviceDispatcher(choices, grammar, ask) as devices:
        return run(paths, devices)


class LocalDispatcher(Dispatcher):
    """Settles lines by this thread."""

    def __init__(self, paths: tuple[str, ...], processor: LineProcessor) -> None:
        self.paths, self.processor = paths, processor

    def items(self, hungry: Callable[[], bool]) -> Iterator[Lines]:
        """See Dispatcher.items()."""
        return lines_of(self.paths, self.processor.tokenizer, hungry)

    def outcomes(self, items: Iterator[Lines], report: FaultReport) -> Outcomes:
        """See Dispatcher.outcomes()."""
        for lines in items:
            yield self.processor.settle(lines, report)


class DeviceDispatcher(Dispatcher):
    """Settles lines by threads for each of several devices, whole blocks by whichever is free."""

    def __init__(self, choices: Choices, grammar: Grammar, ask: Ask) -> None:
        self.paths = choices.paths
        processors = [LineProcessor(choices, parser, ask) for parser in choices.parsers(grammar)]
        self.free: SimpleQueue[LineProcessor] = SimpleQueue()
        for processor in processors * _EACH:
            self.free.put(processor)
        self.room = len(processors) * (_EACH + 1)
        self.pool = ThreadPoolExecutor(len(processors) * _EACH, thread_name_prefix=STREAM)

    def items(self, hungry: Callable[[], bool]) -> Iterator[Future[LinesOutcome]]:
        """See Dispatcher.items()."""
        for block, first in blocks_of(self.paths, hungry, BLOCK_BYTES):
            yield self.pool.submit(self.settle, block, first)

    def settle(self, block: TextBlock, first: int) -> LinesOutcome:
        """Settle a block by a processor that is free."""
        processor = self.free.get()
        try:
            return processor.settle_all(block, first)
        finally:
            self.free.put(processor)

    def outcomes(self, items: Iterator[Future[LinesOutcome]], report: FaultReport) -> Outcomes:
        """See Dispatcher.outcomes()."""
        for future in items:
            while not wait([future], _LOOK).done:
                pass
            yield future.result()

    def __enter__(self) -> DeviceDispatcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, *reason: object) -> None:
        patient = kind is not KeyboardInterrupt
        self.pool.shutdown(wait=patient, cancel_futures=True)
