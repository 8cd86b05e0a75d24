"""Find out about lines: the same on this machine's devices and on workers of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ckyparse.cli.blocks import TextBlock
from ckyparse.cli.lines import ACCEPTED, DROPPED, REJECTED, UNDECIDED, Lines, lines_in
from ckyparse.cli.options import Choices
from ckyparse.cli.reports import FaultReport, LineReports, Record, first_unknown
from ckyparse.cli.tokenise import Tokenizer
from kernels.cky import TooLongError
from kernels.cky.batch import Mask
from kernels.cky.text import Bytes

if TYPE_CHECKING:
    from ckyparse.parser import CKYParser

R = TypeVar("R")


@dataclass(frozen=True)
class LineTask(Generic[R]):
    """Says what to do with lines.

    compute: which lines are accepted, and whatever else is found; what it says of those that
        are UNDECIDED counts for nothing. It may raise TooLongError.
    render: what to write, when the status of each line is known. In another thread, perhaps.
    pieces: if there is more to be computed then, or more than memory should hold: where
        compute is called, what to give to render instead of what compute found, one after
        the other.
    longest: tokens of a chart, at most: lines of more are reported and UNDECIDED, as are those
        that memory does not suffice for. None: memory alone is the limit.
    """

    compute: Callable[[Lines], tuple[Mask, R]]
    render: Callable[[Lines, Any], bytes]
    pieces: Callable[[Lines, R, FaultReport], Iterator[Any]] | None = None
    longest: int | None = None


# A function of a module, or partial() of one: it goes to workers.
Ask = Callable[["CKYParser", Tokenizer], LineTask[Any]]


@dataclass
class LinesOutcome:
    """Says what became of lines.

    size, count: bytes and lines. rejected, failed: whether there are such among them.
    output: what makes the bytes to write, one after the other. error: after which nothing
    more is to be done. record: what to say, unless that is said already.
    """

    size: int
    count: int
    rejected: bool = False
    failed: bool = False
    output: Iterable[Callable[[], bytes | memoryview]] = ()
    error: str = ""
    record: Record = field(default_factory=Record)


class LineProcessor:
    """Settles lines with one parser. Any number of threads may use it."""

    def __init__(self, choices: Choices, parser: CKYParser, ask: Ask) -> None:
        self.tokenizer = choices.tokenizer(parser)
        self.work = ask(parser, self.tokenizer)
        self._error_if_unknown, self._skip_empty = choices.unknown == "error", choices.skip_empty
        self._computing = threading.Lock()

    def settle(self, lines: Lines, report: FaultReport | None = None) -> LinesOutcome:
        """Find out about lines. report: otherwise there is a record."""
        outcome = LinesOutcome(lines.text.size, len(lines))
        report = report or outcome.record
        reports = LineReports(self.tokenizer, report)
        if lines.trouble:
            reports.unreadable(lines)
            outcome.failed = True
        unknown = first_unknown(lines) if self._error_if_unknown else None
        if unknown is not None:
            outcome.error = reports.unknown(lines, *unknown)
            lines = lines.part(0, unknown[0])
        lines.status[reports.faults(lines)] = UNDECIDED
        if self.work.longest is not None:
            longest = self.work.longest
            self._leave_out(lines, longest, reports, f"a chart has {longest} at most")
        accepted, result = self._computed(lines, reports)
        decided = lines.status != UNDECIDED
        lines.status[decided & accepted] = ACCEPTED
        if self._skip_empty:
            lines.status[decided & (lines.batch.lengths == 0)] = DROPPED
        outcome.rejected = bool((lines.status == REJECTED).any())
        outcome.failed |= not bool(decided.all())
        pieces = iter([result])
        if self.work.pieces is not None:
            pieces = self.work.pieces(lines, result, report)
        outcome.output = (partial(self.work.render, lines, piece) for piece in pieces)
        return outcome

    def settle_all(self, block: TextBlock, first: int) -> LinesOutcome:
        """Settle a block whose first line has that number, all at once."""
        return joined(self.settle(lines) for lines in lines_in(block, first, self.tokenizer))

    def _computed(self, lines: Lines, reports: LineReports) -> tuple[Mask, Any]:
        """Compute, leaving out lines that are too long for memory."""
        while True:
            try:
                with self._computing:
                    return self.work.compute(lines)
            except TooLongError as error:
                limit = f"memory suffices for {error.longest}"
                if not self._leave_out(lines, error.longest, reports, limit):
                    raise

    @staticmethod
    def _leave_out(lines: Lines, longest: int, reports: LineReports, limit: str) -> bool:
        """Report lines that are longer, and make empty strings of them; tell whether there are
        any. limit: what to say of them."""
        longer = lines.batch.lengths > longest
        found = bool(longer.any())
        if found:
            reports.too_long(lines, longer, limit)
            lines.leave_out(longer)
        return found


def joined(outcomes: Iterable[LinesOutcome]) -> LinesOutcome:
    """Join those of lines that follow one another, up to an error. Its output has been made."""
    whole = LinesOutcome(0, 0)
    output: list[bytes | memoryview] = []
    for outcome in outcomes:
        output += [render() for render in outcome.output]
        outcome.record.make(whole.record)
        whole.size += outcome.size
        whole.count += outcome.count
        whole.rejected |= outcome.rejected
        whole.failed |= outcome.failed
        if outcome.error:
            whole.error = outcome.error
            break
    # An array is not copied on its way from process to process.
    whole.output = [partial(_bytes_of, np.frombuffer(b"".join(output), np.uint8))]
    return whole


def _bytes_of(text: Bytes) -> memoryview:
    return text.data
