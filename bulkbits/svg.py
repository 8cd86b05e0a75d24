"""Small SVG documents: without scripts, styles or references, their text as text.

>>> from bulkbits.svg import document, label
>>> picture = document(20, 20, [label(10, 10, "a<b")], caption="two letters")
>>> picture[:40], "a&lt;b" in picture
('<svg xmlns="http://www.w3.org/2000/svg" ', True)
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from bulkbits.widths import ems

INK, DIM = "#1c2733", "#66717c"
_FONT = 13.0
_MARGIN = 10.0
_CAPTION = 24.0  # height of a line above the drawing


def document(width: float, height: float, body: Iterable[str], caption: str = "") -> str:
    """Return a document of a size, in pixels, on white, on one line; what body draws begins at
    0, 0. caption: a line above it, which must be printable, as must all text. Blanks are drawn as
    they are."""
    above = _CAPTION if caption else 0.0
    inner = max(width, width_of(caption))
    whole = inner + 2 * _MARGIN, height + above + 2 * _MARGIN
    size = f'width="{number(whole[0])}" height="{number(whole[1])}"'
    place = f"translate({number(_MARGIN + (inner - width) / 2)} {number(_MARGIN + above)})"
    font = f'font-family="sans-serif" font-size="{number(_FONT)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {number(whole[0])} {number(whole[1])}" xml:space="preserve">',
        f'<rect {size} fill="#fff"/>',
        f'<g {font} fill="{INK}" text-anchor="middle" transform="{place}">',
        *body,
        "</g>",
    ]
    if caption:
        corner = f'x="{number(_MARGIN)}" y="{number(_MARGIN + _FONT)}"'
        parts.append(f'<text {corner} {font} fill="{DIM}">{escape(caption)}</text>')
    return "".join([*parts, "</svg>"])


def label(x: float, y: float, text: str, more: str = "") -> str:
    """Return a text with its middle at a point. more: attributes, each after a blank."""
    return f'<text x="{number(x)}" y="{number(y + 0.36 * _FONT)}"{more}>{escape(text)}</text>'


def number(value: float) -> str:
    """Return a number as short as it can be, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def width_of(text: str) -> float:
    """Return about how many pixels wide a text is."""
    return ems(text) * _FONT
