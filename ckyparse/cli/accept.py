"""ckyparse accept: which lines are sentences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import numpy.typing as npt

from ckyparse.cli.columns import objects
from ckyparse.cli.lines import ACCEPTED, DROPPED, REJECTED, Lines
from ckyparse.cli.options import Choices, lines_option, sentence_options
from ckyparse.cli.processor import LineTask
from ckyparse.cli.stream import stream
from ckyparse.cli.tokenise import Tokenizer
from kernels.cky.batch import Mask
from kernels.cky.text import marked

if TYPE_CHECKING:
    from ckyparse.parser import CKYParser


@click.command("accept")
@sentence_options
@lines_option(
    "1 or 0, a tab, and the line",
    "the line's number, and if it is rejected, how many of its tokens begin some sentence",
)
@click.option(
    "--only",
    type=click.Choice(["accepted", "rejected"]),
    help="Print these lines only; as tsv without the digit and tab.",
)
def command(output: str, only: str | None, **options: Any) -> int:
    """Say of each line of FILES (or standard input) whether it is a sentence of a grammar.

    Results come in the order of the lines, a line each: 1 for accepted, 0 for rejected, ?
    for a line without an answer, since it is no UTF-8, no JSON or too long for the memory;
    such a one is named on standard error.

    \b
    Exit codes: 0 all accepted, 1 some rejected, 2 bad input, 3 no backend.
    """
    choices = Choices(**options)
    return stream(choices, partial(work, output, only, len(choices.files) > 1))


def work(
    output: str, only: str | None, named: bool, parser: CKYParser, tokenizer: Tokenizer
) -> LineTask[npt.NDArray[Any] | None]:
    """named: objects have the file."""

    def compute(lines: Lines) -> tuple[Mask, npt.NDArray[Any] | None]:
        accepted: Mask = parser.accepts(lines.batch)
        if output == "tsv" or only == "accepted" or accepted.all():
            return accepted, None
        rejected = np.flatnonzero(~accepted)
        prefixes = np.zeros(len(lines), np.int64)
        prefixes[rejected] = parser.prefixes(lines.batch.take(rejected))
        return accepted, prefixes

    def render(lines: Lines, prefixes: npt.NDArray[Any] | None) -> bytes:
        if only:
            wanted = ACCEPTED if only == "accepted" else REJECTED
            lines.status[lines.status != wanted] = DROPPED
        if output == "tsv":
            return marked(lines.text, lines.starts, lines.status, shown=not only)
        columns = {}
        if prefixes is not None:
            columns["prefix"] = [
                str(prefix) if status == REJECTED else None
                for prefix, status in zip(prefixes.tolist(), lines.status.tolist(), strict=True)
            ]
        return objects(lines, columns, named)

    return LineTask(compute, render)
