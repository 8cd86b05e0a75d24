"""ckyparse count: how many trees lines have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ckyparse.cli.columns import numbered, objects
from ckyparse.cli.lines import Lines
from ckyparse.cli.options import Choices, lines_option, sentence_options
from ckyparse.cli.processor import LineTask
from ckyparse.cli.stream import stream
from ckyparse.cli.tokenise import Tokenizer
from kernels.cky.batch import Mask

if TYPE_CHECKING:
    from ckyparse.parser import CKYParser


@click.command("count")
@sentence_options
@lines_option("the number, a tab, and the line", "the line's number and its number of trees")
@click.option("--wrapped", is_flag=True, help="Count modulo 2^64: quicker for long numbers.")
def command(output: str, wrapped: bool, **options: Any) -> int:
    """Print how many trees each line of FILES (or standard input) has, exactly.

    They are trees of the original grammar, unit chains and all. The number is the word
    infinite where there is no end of them, 0 of a line that is rejected, and ? of one
    without an answer, which is named on standard error.

    \b
    Exit codes: 0 all accepted, 1 some rejected, 2 bad input, 3 no backend.
    """
    choices = Choices(**options)
    return stream(choices, partial(work, output, len(choices.files) > 1, wrapped))


def work(
    output: str, named: bool, wrapped: bool, parser: CKYParser, tokenizer: Tokenizer
) -> LineTask[list[str]]:
    """named: objects have the file. wrapped: as CKYParser.counts() takes it."""

    def compute(lines: Lines) -> tuple[Mask, list[str]]:
        counts = parser.counts(lines.batch, wrapped=wrapped)
        texts = counts.finite.to_lines().splitlines()
        for i in counts.infinite.nonzero()[0].tolist():
            texts[i] = "infinite"
        if wrapped:  # zero, too, may be the number of an accepted line
            return parser.accepts(lines.batch), texts
        return (counts.finite.sign() != 0) | counts.infinite, texts

    def render(lines: Lines, texts: list[str]) -> bytes:
        if output == "tsv":
            return numbered(lines, texts)
        # JSON's numbers have no bounds.
        values = ['"infinite"' if text == "infinite" else text for text in texts]
        return objects(lines, {"count": values}, named)

    return LineTask(compute, render)
