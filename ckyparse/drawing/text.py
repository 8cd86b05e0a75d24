"""Trees and charts as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bulkbits.widths import cells

from .layout import EMPTY, printable

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart


def tree_text(tree: Tree) -> str:
    """Return a tree as an outline: a line for each node, below its parent and farther right."""
    lines: list[str] = []
    # What is to be written, what stands before it, and before what is below it.
    waiting: list[tuple[Tree | str, str, str]] = [(tree, "", "")]
    while waiting:
        part, before, below = waiting.pop()
        if not hasattr(part, "label"):
            lines.append(before + printable(str(part)))
            continue
        lines.append(before + printable(str(part.label())))
        children = list(part) or [EMPTY]
        for place in range(len(children) - 1, -1, -1):
            is_last = place == len(children) - 1
            edge, rest = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            waiting.append((children[place], below + edge, below + rest))
    return "\n".join(lines)


def chart_text(chart: Chart, start: int, end: int) -> str:
    """Return the chart of tokens start .. end - 1: a row for each length, the longest at the top,
    and below them the tokens. A column has the spans that begin at its token; . is nothing."""
    return aligned(*chart_rows(chart, start, end))


def chart_rows(chart: Chart, start: int, end: int) -> tuple[list[list[str]], list[int]]:
    """Return the rows of chart_text(), and how wide each column is, in columns of a terminal."""
    rows = [
        [
            ", ".join(sorted(printable(s.name) for s in chart.symbols(i, i + length))) or "."
            for i in range(start, end - length + 1)
        ]
        for length in range(end - start, 0, -1)
    ]
    rows.append([printable(token) or "." for token in chart.tokens[start:end]])
    widths = [max(cells(row[i]) for row in rows if i < len(row)) for i in range(end - start)]
    return rows, widths


def aligned(rows: list[list[str]], widths: list[int]) -> str:
    """Return rows as lines, whose columns stand below each other."""
    return "\n".join(
        "  ".join(
            part + " " * (width - cells(part)) for part, width in zip(row, widths, strict=False)
        ).rstrip()
        for row in rows
    )
