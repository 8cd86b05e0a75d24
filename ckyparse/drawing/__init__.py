"""Drawings of trees and charts, as pictures in notebooks and as SVG, LaTeX and text.

>>> from ckyparse import CKYParser, draw
>>> parser = CKYParser("S -> NP VP\\nNP -> 'she'\\nVP -> 'sleeps'")
>>> drawing = draw(parser.parse_one(["she", "sleeps"]))
>>> print(drawing.text())
S
├─ NP
│  └─ she
└─ VP
   └─ sleeps
>>> drawing.latex("qtree")
'\\\\Tree [.{S} [.{NP} {she} ] [.{VP} {sleeps} ] ]'
>>> drawing.svg()[:40]
'<svg xmlns="http://www.w3.org/2000/svg" '
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

from bulkbits.plurals import many

from .layout import shown

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart
    from ckyparse.forest import Forest

MOST_TOKENS = 200  # of a chart that is drawn whole: 20,000 cells, a megabyte of SVG
_SHOWN_TOKENS = 16  # of a chart in a notebook
# Of a sentence whose trees are counted for a notebook: tokens, and rules at all places where their
# parts can begin, meet and end, which takes half a second at most.
_COUNTED_TOKENS, _COUNTED_WORK = 30, 500_000
_SHOWN_NODES = 160  # of a tree in a notebook
_SHOWN_DEPTH = 24


class TreeDrawing:
    """Draws a tree. A notebook shows it as a picture, of a large tree the upper part."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def svg(self) -> str:
        """Return an SVG document, on one line."""
        from .svg import tree_svg

        return tree_svg(self.tree)

    def latex(self, package: Literal["forest", "qtree"] = "forest") -> str:
        r"""Return LaTeX on one line, for the package forest, or for qtree and tikz-qtree.

        Raises ValueError for another package. What is not in ASCII needs a font that has it, and
        so most often LuaLaTeX; qtree itself takes no node of more than five parts.
        """
        from .latex import forest, qtree

        if package not in ("forest", "qtree"):
            raise ValueError(f"trees are drawn by forest or qtree, not by {package!r}")
        return forest(self.tree) if package == "forest" else qtree(self.tree)

    def text(self) -> str:
        """Return an outline of a line for each node, without a newline at its end."""
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of text(), each made when asked for: of a deep tree they are long."""
        from .text import tree_lines

        return tree_lines(self.tree)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Drawing of a tree with the root {shown(str(self.tree.label()))}>"

    def _repr_svg_(self) -> str:
        from .svg import tree_svg

        part, caption = shown_part(self.tree)
        return tree_svg(part, caption)


class ChartDrawing:
    """Draws the chart of tokens start .. end - 1. A notebook shows it as a picture, of a large
    chart the beginning.

    Raises IndexError for tokens that are not there, ValueError for more than MOST_TOKENS.
    """

    def __init__(self, chart: Chart, start: int = 0, end: int | None = None) -> None:
        tokens = len(chart.tokens)
        end = tokens if end is None else end
        if not 0 <= start <= end <= tokens:
            raise IndexError(f"no tokens {start} .. {end} in {tokens} tokens")
        if end - start > MOST_TOKENS:
            raise ValueError(
                f"a chart of {end - start:,} tokens is too large to be drawn: a drawing "
                f"has {MOST_TOKENS} at most"
            )
        self.chart, self.start, self.end = chart, start, end

    def svg(self) -> str:
        """Return an SVG document, on one line."""
        from .svg import chart_svg

        return chart_svg(self.chart, self.start, self.end)

    def latex(self) -> str:
        """Return a tabular of LaTeX, which needs no package."""
        from .latex import chart_tabular

        return chart_tabular(self.chart, self.start, self.end)

    def text(self) -> str:
        """Return the triangle as text, without a newline at its end."""
        from .text import chart_text

        return chart_text(self.chart, self.start, self.end)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Drawing of a chart of {many(self.end - self.start, 'token')}>"

    def _repr_svg_(self) -> str:
        return notebook_chart(self.chart, self.start, self.end)


@overload
def draw(what: Chart, start: int = 0, end: int | None = None) -> ChartDrawing: ...
@overload
def draw(what: Tree) -> TreeDrawing: ...
def draw(what: Any, start: int | None = None, end: int | None = None) -> ChartDrawing | TreeDrawing:
    """Return the drawing of a tree of nltk, or of a chart: its methods are svg(), latex() and
    text(), and a notebook shows it.

    start, end: the part of a chart to draw, by tokens. Raises TypeError for anything else,
    and what ChartDrawing raises.
    """
    from ckyparse.chart import Chart

    if isinstance(what, Chart):
        return ChartDrawing(what, start or 0, end)
    if not hasattr(what, "label"):
        raise TypeError(f"a tree or a chart can be drawn, not a {type(what).__name__}")
    if start is not None or end is not None:
        raise TypeError("a tree is drawn whole; start and end are for charts")
    return TreeDrawing(what)


def notebook_chart(chart: Chart, start: int = 0, end: int | None = None) -> str:
    """Return the SVG that a notebook shows of a chart: of a large one the beginning, and above it
    how long the sentence is and whether it is accepted."""
    from .svg import chart_svg

    end = len(chart.tokens) if end is None else end
    last = min(end, start + _SHOWN_TOKENS)
    said = "accepted" if chart.accepted else "not accepted"
    caption = f"{many(len(chart.tokens), 'token')}, {said}"
    if last - start < len(chart.tokens):
        caption += f"; shown are tokens {start + 1:,} to {last:,}"
    return chart_svg(chart, start, last, caption)


def notebook_forest(forest: Forest) -> str:
    """Return the SVG that a notebook shows of a forest: the first tree, or its upper part, and
    above it how many trees there are.

    Trees are counted where that takes a moment only.
    """
    from bulkbits.svg import document

    from .svg import tree_svg

    tokens = many(len(forest.tokens), "token")
    is_small = _is_counted(forest)
    if forest.root is None:
        return document(0, 0, [], f"no trees over {tokens}")
    if forest.normal_form.cyclic and not is_small:  # to find the first takes as long as counting
        return document(0, 0, [], f"trees over {tokens}: trees() yields them")
    tree = next(forest.trees())
    count = forest.count() if is_small else None
    if count is None:
        said = "the first of the trees, which are not counted"
    elif count == 1:
        said = "the only tree"
    else:
        trees = "infinitely many" if count == math.inf else f"{count:,}"
        said = f"the first of {trees} trees"
    part, caption = shown_part(tree)
    return tree_svg(part, f"{said}; {caption}" if caption else said)


def _is_counted(forest: Forest) -> bool:
    """Tell whether the trees of a forest are counted for a notebook, as that takes a moment."""
    tokens = len(forest.tokens)
    rules = sum(map(len, forest.normal_form.derivations))
    return tokens <= _COUNTED_TOKENS and math.comb(tokens + 3, 3) * rules <= _COUNTED_WORK


def shown_part(tree: Tree) -> tuple[Tree, str]:
    """Return the upper part of a tree, where … stands for what is left out, and a text that says
    how large the tree is. Of a small tree return all of it, and an empty text."""
    from nltk.tree import Tree

    nodes = tokens = 0
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Tree):
            nodes += 1
            waiting.extend(part)
        else:
            tokens += 1
    top = Tree(tree.label(), [])
    # In order of depth: a node's whole row of children is taken, or none of it.
    rows: list[tuple[Tree, Tree]] = [(tree, top)]
    taken, depth = 1, 1
    while rows:
        below: list[tuple[Tree, Tree]] = []
        for part, copy in rows:
            is_deep = depth == _SHOWN_DEPTH and any(isinstance(child, Tree) for child in part)
            if is_deep or (len(part) and taken + len(part) > _SHOWN_NODES):
                copy.append("…")
                continue
            taken += len(part)
            for child in part:
                if isinstance(child, Tree):
                    copy.append(Tree(child.label(), []))
                    below.append((child, copy[-1]))
                else:
                    copy.append(child)
        rows, depth = below, depth + 1
    if taken == nodes + tokens:
        return top, ""
    whole = f"{many(nodes, 'node')} over {many(tokens, 'token')}"
    return top, f"{whole}; shown are the upper {taken:,} of them"
