"""Trees and charts as SVG: a document without scripts, styles or references, whose text is text.

Names and tokens may be any strings: what cannot be printed is escaped before XML is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from .layout import TreeLayout, Triangle, elided, fitted, lay_out, shown
from .widths import ems

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart

_FONT = 13.0
_MARGIN = 10.0
_CAPTION = 24.0  # height of a line above the drawing
_HEIGHT = 20.0  # of a label in a tree
_CELL = 36.0  # height of a cell in a chart
_TOKEN = 28.0
_NARROW, _WIDE = 46.0, 170.0  # cells
_INK, _ACCENT, _LINE = "#1c2733", "#00664a", "#9aa5b1"
_NOTHING, _SOMETHING, _START = "#f1f3f5", "#dbe8f6", "#c9efdf"  # what a cell has
_DIM = "#66717c"


def tree_svg(tree: Tree, caption: str = "") -> str:
    """Return a tree as SVG, on one line. caption: a line above it."""
    layout = lay_out(tree, lambda text: _wide(text) + 6, height=_HEIGHT, row=44, gap=10)
    return svg(layout.width, layout.height, _tree(layout), caption)


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
    longest = max([_wide(", ".join(found)) for found in names.values()], default=0.0)
    parts = [_wide(name) for found in names.values() for name in found]
    # A cell's names may take two lines, which are seldom equally long.
    needed = max([0.65 * longest, *parts, *map(_wide, tokens)], default=0.0)
    width = min(max(needed + 14, _NARROW), _WIDE)
    triangle = Triangle(end - start, width, _CELL)
    start_name = shown(chart.normal_form.grammar.start.name)
    body = _chart(triangle, start, names, tokens, start_name)
    return svg(triangle.width, triangle.height + _TOKEN, body, caption)


def svg(width: float, height: float, body: Iterable[str], caption: str = "") -> str:
    """Return a document of a size, in pixels, on white; what body draws begins at 0, 0."""
    above = _CAPTION if caption else 0.0
    inner = max(width, _wide(caption))
    whole = inner + 2 * _MARGIN, height + above + 2 * _MARGIN
    size = f'width="{_n(whole[0])}" height="{_n(whole[1])}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {_n(whole[0])} {_n(whole[1])}">',
        f'<rect {size} fill="#fff"/>',
        f'<g font-family="sans-serif" font-size="{_n(_FONT)}" fill="{_INK}" text-anchor="middle" '
        f'transform="translate({_n(_MARGIN + (inner - width) / 2)} {_n(_MARGIN + above)})">',
        *body,
        "</g>",
    ]
    if caption:
        place = f'x="{_n(_MARGIN)}" y="{_n(_MARGIN + _FONT)}"'
        look = f'font-family="sans-serif" font-size="{_n(_FONT)}" fill="{_DIM}"'
        parts.append(f"<text {place} {look}>{escape(caption)}</text>")
    return "".join([*parts, "</svg>"])


def text(x: float, y: float, label: str, more: str = "") -> str:
    """Return a label with its middle at a point. more: attributes, each after a blank."""
    return f'<text x="{_n(x)}" y="{_n(y + 0.36 * _FONT)}"{more}>{escape(label)}</text>'


def _tree(layout: TreeLayout) -> Iterator[str]:
    nodes, lines = layout.nodes, []
    for node in nodes[1:]:
        above = nodes[node.parent]
        begin = f"M{_n(above.x)} {_n(above.y + above.height / 2)}"
        lines.append(f"{begin}L{_n(node.x)} {_n(node.y - node.height / 2)}")
    if lines:
        yield f'<path fill="none" stroke="{_LINE}" d="{"".join(lines)}"/>'
    for kind, colour in (("node", _ACCENT), ("token", _INK), ("empty", _DIM)):
        some = [text(node.x, node.y, node.text) for node in nodes if node.kind == kind]
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
        size = f"h{_n(width - 4)}v{_n(height - 4)}h{_n(4 - width)}z"
        boxes[fill].append(f"M{_n(x + 2)} {_n(y + 2)}{size}")
        lines = fitted(found, _wide, width - 10).split("\n") if found else []
        for number, line in enumerate(lines):
            shift = (number - (len(lines) - 1) / 2) * 14
            labels.append(text(x + width / 2, y + height / 2 + shift, line))
    for fill, paths in boxes.items():
        if paths:
            yield f'<path fill="{fill}" d="{"".join(paths)}"/>'
    yield from labels
    middle = triangle.height + _TOKEN / 2
    for place, token in enumerate(tokens):
        yield text((place + 0.5) * width, middle, elided(token, _wide, width - 6))


def _wide(label: str) -> float:
    return ems(label) * _FONT


def _n(number: float) -> str:
    """Return a number as short as it can be, to a tenth of a pixel."""
    short = f"{number:.1f}"
    return short.removesuffix(".0")
