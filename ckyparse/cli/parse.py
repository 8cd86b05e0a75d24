"""ckyparse parse: the trees of lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from bulkbits.options import format_option
from ckyparse.cli.brackets import ARRAYS, BRACKETS, written
from ckyparse.cli.charts import ChartForm, work_charts
from ckyparse.cli.lines import ACCEPTED, REJECTED, Lines, charts_of
from ckyparse.cli.options import Choices, sentence_options
from ckyparse.cli.processor import LineTask
from ckyparse.cli.reports import FaultReport
from ckyparse.cli.stream import stream
from ckyparse.cli.tokenise import Tokenizer
from ckyparse.drawing import MOST_TOKENS, TreeDrawing
from kernels.cky.batch import Mask

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart
    from ckyparse.parser import CKYParser

_PIECE = 1 << 18  # characters that are written at a time, about
_LONG = 1 << 23  # of a line of output that is written in parts


@click.command("parse")
@sentence_options
@format_option(
    "trees",
    "tsv",
    "jsonl",
    "text",
    "svg",
    "forest",
    "qtree",
    help="trees: a line each, in brackets. tsv: the line's number, a tab, and a tree. jsonl: an "
    "object for each line, with trees as arrays: a label, then what is below. text: an outline "
    "and an empty line for each. svg, and forest and qtree for LaTeX: a line each.",
)
@click.option(
    "--best/--all", default=True, help="One tree, the most probable if there is such. [best]"
)
@click.option("--limit", type=click.IntRange(1), help="At most so many trees, as they come.")
@click.option(
    "--chart",
    type=click.Choice(get_args(ChartForm)),
    help="The chart of each line instead of its trees. text, latex: several lines for each, and "
    f"an empty one after them. svg: a line each. A chart has {MOST_TOKENS} tokens at most.",
)
def command(
    output: str,
    best: bool,
    limit: int | None,
    chart: ChartForm | None,
    **options: Any,
) -> int:
    """Print the trees of each line of FILES (or standard input), in the original grammar.

    With --best a line of output for each line, empty where there is no tree. With --all or
    --limit a line for each tree, and, if not as tsv, an empty one after those of each line.
    Of infinitely many trees those are printed in which no production has itself below it over
    the same tokens. In brackets tokens stand as they are, also ( and ), but newlines as \\n.

    \b
    Exit codes: 0 all accepted, 1 some rejected, 2 bad input, 3 no backend.
    """
    choices = Choices(**options)
    if chart is not None:
        source = click.get_current_context().get_parameter_source
        for name, option in (
            ("output", "--format"), ("best", "--best/--all"), ("limit", "--limit"),
        ):  # fmt: skip
            if source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"{option} is for trees, not charts")
        if choices.cluster is not None:
            raise click.UsageError(
                "--chart cannot be used with --cluster: a worker's results come in one piece"
            )
        return stream(choices, partial(work_charts, chart))
    if choices.cluster is not None and not best and limit is None:
        raise click.UsageError("--all with --cluster needs a --limit: results come in one piece")
    several = not best or limit is not None
    return stream(choices, partial(work, output, several, limit, len(choices.files) > 1))


def work(
    output: str,
    several: bool,
    limit: int | None,
    named: bool,
    parser: CKYParser,
    tokenizer: Tokenizer,
) -> LineTask[None]:
    """several: more than one tree of a line may be asked for. named: objects have the file."""
    trees = _Trees(parser, tokenizer, several, limit)
    rows = {"tsv": _as_tsv, "jsonl": _as_json}.get(output) or partial(_as_trees, _WRITTEN[output])

    def compute(lines: Lines) -> tuple[Mask, None]:
        return parser.accepts(lines.batch), None

    def pieces(lines: Lines, _: None, report: FaultReport) -> Iterator[bytes]:
        found = trees.of(lines, report)
        place = {"file": lines.path} if named else {}
        return _joined(rows(lines, found, several, place))

    return LineTask(compute, lambda lines, piece: piece, pieces)


class _Trees:
    """Finds what to print of each line."""

    def __init__(
        self, parser: CKYParser, tokenizer: Tokenizer, several: bool, limit: int | None
    ) -> None:
        from ckyparse.analysis import cycle

        self.parser, self.tokenizer = parser, tokenizer
        self.several, self.limit = several, limit
        grammar = parser.normal_form.grammar
        self.ranked = grammar.is_probabilistic
        self.cyclic = several and cycle(grammar) is not None

    def of(self, lines: Lines, report: FaultReport) -> Iterator[tuple[int, Iterable[Tree]]]:
        """Yield the lines that are not DROPPED, and of each its trees."""
        for i, chart in charts_of(lines, self.parser, self.tokenizer, ACCEPTED):
            yield i, () if chart is None else self._of(lines, i, chart, report)

    def _of(self, lines: Lines, i: int, chart: Chart, report: FaultReport) -> Iterable[Tree]:
        if not self.several:
            tree = chart.best() if self.ranked else next(chart.trees(), None)
            return () if tree is None else (tree,)
        if self.cyclic and chart.count() == math.inf:
            what = "infinitely many trees; printed are those without cycles"
            report.found(what, 1, [f"{lines.place(i)}: {what}"])
        return islice(chart.trees(), self.limit)


Found = Iterable[tuple[int, Iterable["Tree"]]]


def _outline(tree: Tree) -> Iterator[str]:
    for line in TreeDrawing(tree).lines():
        yield f"{line}\n"
    yield "\n"


# Each returns the texts of a tree, the last of which ends a line.
_WRITTEN: dict[str, Callable[[Tree], Iterable[str]]] = {
    "trees": lambda tree: [written(tree, BRACKETS) + "\n"],
    "text": _outline,
    "svg": lambda tree: [TreeDrawing(tree).svg() + "\n"],
    "forest": lambda tree: [TreeDrawing(tree).latex("forest") + "\n"],
    "qtree": lambda tree: [TreeDrawing(tree).latex("qtree") + "\n"],
}


def _as_trees(
    write: Callable[[Tree], Iterable[str]],
    lines: Lines,
    found: Found,
    several: bool,
    place: dict[str, str],
) -> Iterator[str]:
    """Yield the texts of each tree; an empty line after those of a line, or where there is none."""
    for _, trees in found:
        printed = 0
        for tree in trees:
            yield from write(tree)
            printed += 1
        if several or not printed:
            yield "\n"


def _as_tsv(lines: Lines, found: Found, several: bool, place: dict[str, str]) -> Iterator[str]:
    for i, trees in found:
        printed = 0
        for tree in trees:
            yield f"{lines.first + i}\t{written(tree, BRACKETS)}\n"
            printed += 1
        if not printed:
            yield f"{lines.first + i}\t\n"


def _as_json(lines: Lines, found: Found, several: bool, place: dict[str, str]) -> Iterator[str]:
    answers = {ACCEPTED: True, REJECTED: False}
    for i, trees in found:
        answer = answers.get(int(lines.status[i]))
        facts = place | {"line": lines.first + i, "accepted": answer}
        yield json.dumps(facts)[:-1] + ', "trees": ['
        for number, tree in enumerate(trees):
            yield (", " if number else "") + written(tree, ARRAYS)
        yield "]}\n"


def _joined(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the texts in pieces that are worth writing.

    These are of whole lines, but for a line that goes on and on.
    """
    pieces: list[str] = []
    size = 0
    for text in texts:
        pieces.append(text)
        size += len(text)
        if size >= _LONG or (size >= _PIECE and text.endswith("\n")):
            yield _encoded(pieces)
            pieces, size = [], 0
    yield _encoded(pieces)


def _encoded(pieces: list[str]) -> bytes:
    """Tokens of a JSON array can have what UTF-8 has not."""
    return "".join(pieces).encode(errors="backslashreplace")
