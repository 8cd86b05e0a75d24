"""ckyparse parse --chart: the charts of lines, drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from ckyparse.cli.lines import ACCEPTED, REJECTED, Lines, charts_of
from ckyparse.cli.processor import LineTask
from ckyparse.cli.reports import FaultReport
from ckyparse.cli.tokenise import Tokenizer
from ckyparse.drawing import MOST_TOKENS, ChartDrawing
from kernels.cky.batch import Mask

if TYPE_CHECKING:
    from ckyparse.parser import CKYParser

ChartForm = Literal["text", "svg", "latex"]

_DRAWN: dict[ChartForm, Callable[[ChartDrawing], str]] = {
    "text": lambda drawing: drawing.text() + "\n\n",
    "svg": lambda drawing: drawing.svg() + "\n",
    "latex": lambda drawing: drawing.latex() + "\n\n",
}


def work_charts(form: ChartForm, parser: CKYParser, tokenizer: Tokenizer) -> LineTask[None]:
    """Return the task of drawing the chart of each line, whether it is accepted or not. A line that
    has no chart gives an empty line."""

    def compute(lines: Lines) -> tuple[Mask, None]:
        return parser.accepts(lines.batch), None

    def pieces(lines: Lines, _: None, report: FaultReport) -> Iterator[bytes]:
        for _line, chart in charts_of(lines, parser, tokenizer, ACCEPTED, REJECTED):
            if chart is None or not chart.tokens:
                yield b"\n"
            else:
                yield _DRAWN[form](ChartDrawing(chart)).encode(errors="backslashreplace")

    return LineTask(compute, lambda lines, piece: piece, pieces, longest=MOST_TOKENS)
