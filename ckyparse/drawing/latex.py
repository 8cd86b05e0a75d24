"""Trees and charts as LaTeX: trees for the packages forest and qtree, charts as a tabular.

Names and tokens may be any strings: TeX's special characters are escaped, marks that fonts would
join or turn, as -- and ', are kept apart, and " is a typewriter's, as most fonts have none that is
straight. Letters outside ASCII stay as they are in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .layout import BLANK, printable

if TYPE_CHECKING:
    from nltk.tree import Tree

    from ckyparse.chart import Chart

_NOTHING = r"$\varepsilon$"
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\texttt{\char34}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "-": "{-}", ",": "{,}", "!": "{!}",
    "?": "{?}", BLANK: r"\textvisiblespace{}",
}  # fmt: skip
_LOST_BLANK = re.compile(r"^ | $|(?<= ) ")  # LaTeX drops these: at an end, or after another one


def escaped(label: str) -> str:
    """Return a label that LaTeX prints as it is."""
    text = "".join(_ESCAPES.get(character, character) for character in printable(label))
    return _LOST_BLANK.sub(r"\\ ", text)


def forest(tree: Tree) -> str:
    """Return a tree for the package forest, on one line."""
    inner = _written(tree, lambda label: f"[{{{label}}}", lambda label: f"[{{{label}}}]", "]")
    return rf"\begin{{forest}} {inner} \end{{forest}}"


def qtree(tree: Tree) -> str:
    """Return a tree for the packages qtree and tikz-qtree, on one line; of these qtree takes
    no more than five parts of a node."""
    node, token = "[.{%s} ", "{%s} "
    return r"\Tree " + _written(tree, node.__mod__, token.__mod__, "] ").rstrip()


def chart_tabular(chart: Chart, start: int, end: int) -> str:
    """Return the chart of tokens start .. end - 1 as a tabular, the longest span at the top."""
    tokens = end - start
    rows = []
    for length in range(tokens, 0, -1):
        margin = rf"\multicolumn{{{length - 1}}}{{c}}{{}} & " if length > 1 else ""
        found = [
            sorted(name.name for name in chart.symbols(i, i + length))
            for i in range(start, end - length + 1)
        ]
        cells = [r"{,} ".join(map(escaped, names)) or r"$\cdot$" for names in found]
        rows.append(margin + " & ".join(map(_two_columns, cells)))
    rows.append(" & ".join(_two_columns(escaped(token)) for token in chart.tokens[start:end]))
    lines = [rf"\begin{{tabular}}{{*{{{2 * tokens}}}{{c}}}}", *(rf"{row} \\" for row in rows)]
    return "\n".join([*lines, r"\end{tabular}"])


def _two_columns(content: str) -> str:
    return rf"\multicolumn{{2}}{{c}}{{{content}}}"


def _written(
    tree: Tree, opened: Callable[[str], str], leaf: Callable[[str], str], closed: str
) -> str:
    """Write a tree, however deep: a node opened, what is below it, and closed."""
    pieces: list[str] = []
    waiting: list[tuple[bool, Any]] = [(True, tree)]  # what is a part of the tree, and what is text
    while waiting:
        is_part, item = waiting.pop()
        if not is_part:
            pieces.append(item)
        elif not hasattr(item, "label"):
            pieces.append(leaf(escaped(str(item))))
        else:
            pieces.append(opened(escaped(str(item.label()))))
            waiting.append((False, closed))
            below = [(True, child) for child in reversed(item)]
            waiting += below or [(False, leaf(_NOTHING))]
    return "".join(pieces)
