"""ckyparse parse --chart: the charts of lines, drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from ckyparse.cli.lines import ACCEPTED, DROPPED, REJECTED, Lines, TokenRows
from ckyparse.cli.processor import LineTask
from ckyparse.cli.reports import FaultReport
from ckyparse.cli.tokenise import Tokenizer
from ckyparse.drawing import ChartDrawing
from kernels.cky.batch import Mask

if TYPE_CHECKING:
    from ckyparse.parser import CKYParser

Form = Literal["text", "svg", "latex"]

_DRAWN: dict[Form, Callable[[ChartDrawing], str]] = {
    "text": lambda drawing: drawing.text() + "\n\n",
    "svg": lambda drawing: drawing.svg() + "\n",
    "latex": lambda drawing: drawing.latex() + "\n\n",
}


def work_charts(form: Form, parser: CKYParser, tokenizer: Tokenizer) -> LineTask[None]:
    """Return what draws the chart of each line, accepted or not; an empty line is for one that has
    none, or too large a one, which is reported."""

    def compute(lines: Lines) -> tuple[Mask, None]:
        return parser.accepts(lines.batch), None

    def pieces(lines: Lines, _: None, report: FaultReport) -> Iterator[bytes]:
        from ckyparse.tokens import Sentences

        chosen = np.flatnonzero((lines.status == ACCEPTED) | (lines.status == REJECTED))
        rows = TokenRows(lines, tokenizer, chosen)
        sentences = Sentences(lines.batch.take(chosen), parser.vocabulary, rows)
        charts = iter(parser.charts(sentences))
        for i, status in enumerate(lines.status.tolist()):
            drawn = "\n"
            if status in (ACCEPTED, REJECTED):
                chart = next(charts)
                try:
                    drawn = _DRAWN[form](ChartDrawing(chart)) if chart.tokens else drawn
                except ValueError as error:
                    kind = "a chart that is too large to be drawn"
                    report.found(kind, 1, [f"{lines.place(i)}: {error}"])
            if status != DROPPED:
                yield drawn.encode(errors="backslashreplace")

    return LineTask(compute, lambda lines, piece: piece, pieces)
