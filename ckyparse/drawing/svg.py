"""Trees and charts as SVG documents without scripts, styles or references, their text as text.

Names and tokens may be any strings: what cannot be printed is escaped before XML is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bulkbits.svg import DIM, INK, document, label, number, width_of

from .layout import TreeLayout, Triangle, elided, fitted, lay_out, shown

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart

_HEIGHT = 20.0  # of a label in a tree
_CELL = 36.0  # height of a cell in a chart
_TOKEN = 28.0
_NARROW, _WIDE = 46.0, 170.0  # cells
_ACCENT, _LINE = "#00664a", "#9aa5b1"
_NOTHING, _SOMETHING, _START = "#f1f3f5", "#dbe8f6", "#c9efdf"  # what a cell has


def tree_svg(tree: Tree, caption: str = "") -> str:
    """Return a tree as SVG, on one line. caption: a line above it."""
    layout = lay_out(tree, lambda text: width_of(text) + 6, height=_HEIGHT, row=44, gap=10)
    return document(layout.width, layout.height, _tree(layout), caption)


def chart_svg(chart: Chart, start: int, end: int, caption: str = "") -> str:
    """Return the chart of tokens start .. end - 1 as SVG, on one line. caption: a line above it.

    A cell has the nonterminals that derive the tokens below it, the start symbol's in green.
    """
    names = {
        (i, j): sorted(shown(name.name) for name in chart.symbols(i, j))
        for i in range(start, end)
        for j in range(i + 1, end + 1)
    }
    tokens = [shown(token) for token in chart.tokens[start:end]]
    longest = max([width_of(", ".join(found)) for found in names.values()], default=0.0)
    parts = [width_of(name) for found in names.values() for name in found]
    # A cell's names may take two lines, which are seldom equally long.
    needed = max([0.65 * longest, *parts, *map(width_of, tokens)], default=0.0)
    width = min(max(needed + 14, _NARROW), _WIDE)
    triangle = Triangle(end - start, width, _CELL)
    start_name = shown(chart.normal_form.grammar.start.name)
    body = _chart(triangle, start, names, tokens, start_name)
    return document(triangle.width, triangle.height + _TOKEN, body, caption)


def _tree(layout: TreeLayout) -> Iterator[str]:
    nodes, lines = layout.nodes, []
    for node in nodes[1:]:
        above = nodes[node.parent]
        begin = f"M{number(above.x)} {number(above.y + above.height / 2)}"
        lines.append(f"{begin}L{number(node.x)} {number(node.y - node.height / 2)}")
    if lines:
        yield f'<path fill="none" stroke="{_LINE}" d="{"".join(lines)}"/>'
    for kind, colour in (("node", _ACCENT), ("token", INK), ("empty", DIM)):
        some = [label(node.x, node.y, node.text) for node in nodes if node.kind == kind]
        if some:
            yield "".join([f'<g fill="{colour}">', *some, "</g>"])


def _chart(
    triangle: Triangle,
    first: int,
    names: dict[tuple[int, int], list[str]],
    tokens: Sequence[str],
    start_name: str,
) -> Iterator[str]:
    boxes: dict[str, list[str]] = {_NOTHING: [], _SOMETHING: [], _START: []}
    labels = []
    width, height = triangle.cell_width, triangle.cell_height
    for (start, end), found in names.items():
        x, y = triangle.corner(start - first, end - first)
        fill = _START if start_name in found else _SOMETHING if found else _NOTHING
        size = f"h{number(width - 4)}v{number(height - 4)}h{number(4 - width)}z"
        boxes[fill].append(f"M{number(x + 2)} {number(y + 2)}{size}")
        lines = fitted(found, width_of, width - 10).split("\n") if found else []
        for place, line in enumerate(lines):
            shift = (place - (len(lines) - 1) / 2) * 14
            labels.append(label(x + width / 2, y + height / 2 + shift, line))
    for fill, paths in boxes.items():
        if paths:
            yield f'<path fill="{fill}" d="{"".join(paths)}"/>'
    yield from labels
    middle = triangle.height + _TOKEN / 2
    for place, token in enumerate(tokens):
        yield label((place + 0.5) * width, middle, elided(token, width_of, width - 6))
