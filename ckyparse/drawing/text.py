"""Trees and charts as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bulkbits.widths import cells

from .layout import EMPTY, printable

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart


def tree_lines(tree: Tree) -> Iterator[str]:
    """Yield a tree as an outline: a line for each node, below its parent and farther right.

    Lines of deep trees are long: all together grow with the square of the depth.
    """
    bars: list[str] = []  # what stands below each node above the present one, but the root
    waiting: list[tuple[Tree | str, int, bool]] = [(tree, 0, True)]  # with depth; is it the last?
    while waiting:
        part, depth, is_last = waiting.pop()
        before = ""
        if depth:
            before = "".join(bars[: depth - 1]) + ("└─ " if is_last else "├─ ")
            bars[depth - 1 :] = ["   " if is_last else "│  "]
        if not hasattr(part, "label"):
            yield before + printable(str(part))
            continue
        yield before + printable(str(part.label()))
        children = list(part) or [EMPTY]
        waiting.append((children[-1], depth + 1, True))
        waiting += [(child, depth + 1, False) for child in reversed(children[:-1])]


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
