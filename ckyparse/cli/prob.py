"""ckyparse prob: the probabilities of lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ckyparse.cli.columns import numbered, objects
from ckyparse.cli.lines import Lines
from ckyparse.cli.options import Choices, lines_option, sentence_options
from ckyparse.cli.processor import LineTask
from ckyparse.cli.stream import stream
from ckyparse.cli.tokenise import Tokenizer
from kernels.cky.batch import Mask

if TYPE_CHECKING:
    from ckyparse.parser import CKYParser


@dataclass(frozen=True)
class _Found:
    logs: list[str]
    exact: list[str] | None


@click.command("prob")
@sentence_options
@lines_option(
    "the logarithm (with --exact the fraction), a tab, and the line",
    "the line's number and logarithm, null for that of zero (with --exact the fraction, too)",
)
@click.option("--best", is_flag=True, help="Of the most probable tree, not of all together.")
@click.option("--exact", is_flag=True, help="Fractions.")
def command(output: str, best: bool, exact: bool, **options: Any) -> int:
    """Print the natural logarithm of the probability of each line of FILES (or standard input).

    The grammar has probabilities. The logarithm is -inf for a line that is rejected, and ?
    for one without an answer, which is named on standard error.

    \b
    Exit codes: 0 all accepted, 1 some rejected, 2 bad input, 3 no backend.
    """
    if best and exact:
        raise click.UsageError("--exact goes with the probability of all trees, not with --best")
    choices = Choices(**options)
    ask = partial(work, choices.grammar, output, best, exact, len(choices.files) > 1)
    return stream(choices, ask)


def work(
    grammar: str,
    output: str,
    best: bool,
    exact: bool,
    named: bool,
    parser: CKYParser,
    tokenizer: Tokenizer,
) -> LineTask[_Found]:
    """named: objects have the file."""
    if not parser.normal_form.grammar.is_probabilistic:
        raise click.ClickException(f"{grammar}: the grammar has no probabilities")

    def compute(lines: Lines) -> tuple[Mask, _Found]:
        find = parser.best_log_probabilities if best else parser.log_probabilities
        logs = _refusable(lambda: find(lines.batch))
        texts = [repr(x) for x in logs.tolist()]
        if not exact:
            return logs > -np.inf, _Found(texts, None)
        values = _refusable(lambda: parser.probabilities(lines.batch))
        above = values.numerator.to_lines().splitlines()
        below = values.denominator.to_lines().splitlines()
        fractions = [a if b == "1" else f"{a}/{b}" for a, b in zip(above, below, strict=True)]
        return values.sign() != 0, _Found(texts, fractions)

    def render(lines: Lines, found: _Found) -> bytes:
        if output == "tsv":
            return numbered(lines, found.exact or found.logs)
        columns: dict[str, list[str]] = {
            "log": ["null" if text == "-inf" else text for text in found.logs]
        }
        if found.exact is not None:
            columns["probability"] = [f'"{text}"' for text in found.exact]
        return objects(lines, columns, named)

    return LineTask(compute, render)


def _refusable(compute: Any) -> Any:
    """Compute; what the grammar's weights do not allow becomes a ClickException."""
    try:
        return compute()
    except ValueError as error:
        raise click.ClickException(str(error)) from None
