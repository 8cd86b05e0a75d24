"""Places of the parts of a chart and of a tree in a drawing: arithmetic only.

Units are those of whoever measures labels; y grows downwards. Windows and files share this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from nltk.tree import Tree

Measure = Callable[[str], float]  # how wide a label is drawn
EMPTY = "ε"
BLANK = "␣"
_LABEL = 40  # characters


@dataclass(frozen=True, slots=True)
class NodeBox:
    """A node. x, y: its centre. start, end: the tokens under it. parent: its place in nodes,
    -1 of the root. kind: "node", "token" or "empty", the last for what stands under a node
    that derives nothing. label: whole; text: as it is shown."""

    label: str
    text: str
    x: float
    y: float
    width: float
    height: float
    start: int
    end: int
    parent: int
    kind: str


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The places of the nodes of a tree.

    nodes: a parent before its children, these from left to right.
    """

    nodes: tuple[NodeBox, ...]
    width: float
    height: float

    @property
    def spans(self) -> frozenset[tuple[int, int]]:
        """Return the spans of the nodes that are no tokens."""
        return frozenset(
            (node.start, node.end)
            for node in self.nodes
            if node.kind == "node" and node.start < node.end
        )


def printable(label: str) -> str:
    """Return a label on one line: what cannot be printed is escaped, blanks are made visible where
    there is nothing else, and an empty label is "" with its quotes."""
    label = "".join(c if c.isprintable() else repr(c)[1:-1] for c in label)
    return label if label.strip() else label.replace(" ", BLANK) or '""'


def shown(label: str) -> str:
    """Return a label as it is shown: printable, and cut off where it is long."""
    label = printable(label[: _LABEL + 1])
    return label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"


def elided(text: str, measure: Measure, width: float) -> str:
    """Return a text, or as much of its beginning as fits in a width, with … at the end."""
    if measure(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(text[:middle] + "…") <= width else (low, middle - 1)
    return text[:low] + "…"


def fitted(names: Sequence[str], measure: Measure, width: float) -> str:
    """Return the names of a cell on two lines at most; +3 says that three more had no room."""
    lines = [""]
    for index, name in enumerate(names):
        rest = len(names) - index
        joined = f"{lines[-1]}, {name}" if lines[-1] else name
        more = f" +{rest - 1}" if rest > 1 and len(lines) == 2 else ""
        if measure(joined + more) <= width:
            lines[-1] = joined
        elif len(lines) == 1 and lines[0]:
            lines[-1] += ","
            lines.append(elided(name, measure, width))
        elif not lines[-1]:
            lines[-1] = elided(name, measure, width)
        else:
            lines[-1] += f" +{rest}"
            break
    return "\n".join(lines)


class _Part:
    """A part of a tree: what lies below gets an interval of its own, as wide as it needs."""

    __slots__ = ("depth", "end", "kind", "label", "left", "own", "parent", "start", "text", "width",
                 "x")  # fmt: skip

    def __init__(self, label: str, kind: str, parent: int, depth: int) -> None:
        self.label, self.kind, self.parent, self.depth = label, kind, parent, depth
        self.text = shown(label)
        self.own = self.width = self.left = self.x = 0.0
        self.start = self.end = 0


def lay_out(
    tree: Tree,
    measure: Measure,
    *,
    height: float = 24,
    row: float = 46,
    gap: float = 14,
) -> TreeLayout:
    """Lay out a tree of nltk. measure: how wide a label is drawn. gap: between neighbours.

    Tokens stand side by side on the lowest row. No two boxes overlap, and no lines cross;
    each node is above what is below it.
    """
    parts, children = _parts(tree)
    for index in range(len(parts) - 1, -1, -1):  # what is below before what is above
        part, below = parts[index], children[index]
        part.own = measure(part.text)
        inner = sum(parts[child].width for child in below) + gap * max(0, len(below) - 1)
        part.width = max(part.own, inner)
    for part, below in zip(parts, children, strict=True):
        inner = sum(parts[child].width for child in below) + gap * max(0, len(below) - 1)
        left = part.left + (part.width - inner) / 2
        for child in below:
            parts[child].left = left
            left += parts[child].width + gap
    for index in range(len(parts) - 1, -1, -1):
        part, below = parts[index], children[index]
        middle = part.left + part.width / 2
        if below:
            middle = (parts[below[0]].x + parts[below[-1]].x) / 2
        low = part.left + part.own / 2
        part.x = min(max(middle, low), part.left + part.width - part.own / 2)
    lowest = max(part.depth for part in parts)
    nodes = tuple(
        NodeBox(
            part.label, part.text, part.x,
            height / 2 + row * (lowest if part.kind == "token" else part.depth),
            part.own, height, part.start, part.end, part.parent, part.kind,
        )
        for part in parts
    )  # fmt: skip
    return TreeLayout(nodes, parts[0].width, height + row * lowest)


def _parts(tree: Tree) -> tuple[list[_Part], list[list[int]]]:
    """Return the parts in order from the root down and from left to right; trees may be deeper than
    recursion."""
    parts: list[_Part] = []
    children: list[list[int]] = []
    waiting: list[tuple[Tree | str | None, int]] = [(tree, -1)]
    tokens = 0
    while waiting:
        node, parent = waiting.pop()
        depth = parts[parent].depth + 1 if parent >= 0 else 0
        index = len(parts)
        if parent >= 0:
            children[parent].append(index)
        children.append([])
        if node is None:
            parts.append(_Part(EMPTY, "empty", parent, depth))
        elif not hasattr(node, "label"):
            parts.append(_Part(str(node), "token", parent, depth))
        else:
            parts.append(_Part(str(node.label()), "node", parent, depth))
            below: list[Tree | str | None] = list(node) or [None]
            waiting.extend((child, index) for child in reversed(below))
        parts[-1].start = tokens
        tokens += parts[-1].kind == "token"
    for index in range(len(parts) - 1, -1, -1):
        part, below_ = parts[index], children[index]
        if below_:
            part.end = parts[below_[-1]].end
        else:
            part.end = part.start + (part.kind == "token")
    return parts, children


@dataclass(frozen=True, slots=True)
class Triangle:
    """The cells of a chart of so many tokens: rows of spans, the longest at the top, each
    cell above the middle of its tokens, which stand below the lowest row."""

    tokens: int
    cell_width: float
    cell_height: float

    @property
    def width(self) -> float:
        """Return the width of the lowest row."""
        return self.tokens * self.cell_width

    @property
    def height(self) -> float:
        """Return the height without the tokens."""
        return self.tokens * self.cell_height

    def corner(self, start: int, end: int) -> tuple[float, float]:
        """Return left and top of the cell of tokens start .. end - 1."""
        length = end - start
        x = (start + (length - 1) / 2) * self.cell_width
        return x, (self.tokens - length) * self.cell_height

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the span of the cell at a point; of the token, below the triangle."""
        row = math.floor(y / self.cell_height)
        if row < 0:
            return None
        length = max(1, self.tokens - row)
        start = math.floor(x / self.cell_width - (length - 1) / 2)
        inside = self.tokens and 0 <= start <= self.tokens - length
        return (start, start + length) if inside else None

    def visible(
        self, left: float, top: float, right: float, bottom: float
    ) -> Iterator[tuple[int, int]]:
        """Yield the spans of cells that a rectangle touches."""
        rows = range(
            max(0, math.floor(top / self.cell_height)),
            min(self.tokens, math.ceil(bottom / self.cell_height)),
        )
        for row in rows:
            length = self.tokens - row
            shift = (length - 1) / 2
            first = max(0, math.floor(left / self.cell_width - shift))
            last = min(self.tokens - length, math.ceil(right / self.cell_width - shift) - 1)
            for start in range(first, last + 1):
                yield start, start + length

    def picture(
        self,
        values: npt.NDArray[np.uint8],
        left: float,
        top: float,
        step: float,
        width: int,
        height: int,
    ) -> npt.NDArray[np.uint8]:
        """Return the values of cells as pixels, each step wide: uint8 (height, width), 255 outside.

        values: in the order of kernels.cky.cell().
        """
        x = left + step * (np.arange(width) + 0.5)
        y = top + step * (np.arange(height) + 0.5)
        length = self.tokens - np.floor(y / self.cell_height).astype(np.int64)[:, None]
        start = np.floor(x / self.cell_width - (length - 1) / 2).astype(np.int64)
        inside = (start >= 0) & (start + length <= self.tokens) & (length >= 1)
        inside &= length <= self.tokens
        end = np.where(inside, start + length, 1)
        start = np.where(inside, start, 0)
        return np.where(inside, values[end * (end - 1) // 2 + start], np.uint8(255))
