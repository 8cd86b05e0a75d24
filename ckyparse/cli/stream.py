"""Take lines through a tokenizer and a parser: here, on several devices, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ckyparse.cli.devices import DeviceDispatcher
from ckyparse.cli.lines import Lines, lines_of
from ckyparse.cli.options import Choices
from ckyparse.cli.pipeline import Dispatcher, Outcomes, run
from ckyparse.cli.processor import Ask, LineProcessor
from ckyparse.cli.reports import FaultReport, say
from kernels.targets.choose import why_slow


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
