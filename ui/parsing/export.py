"""Charts and trees as files, in the forms that ckyparse draws. No Qt here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ckyparse.chart import Chart
from ckyparse.drawing import ChartDrawing, TreeDrawing
from ui.parsing.files import FileError, write

if TYPE_CHECKING:
    from nltk.tree import Tree

Kind = Literal["svg", "forest", "qtree", "tabular", "text"]


@dataclass(frozen=True, slots=True)
class Form:
    """A form that something is exported in. title: for menus. suffix: of its files."""

    kind: Kind
    title: str
    suffix: str


_SVG, _TEXT = Form("svg", "SVG", ".svg"), Form("text", "Text", ".txt")
_FOREST = Form("forest", "LaTeX, with forest", ".tex")
_QTREE = Form("qtree", "LaTeX, with qtree", ".tex")
TREE_FORMS = _SVG, _FOREST, _QTREE, _TEXT
CHART_FORMS = _SVG, Form("tabular", "LaTeX", ".tex"), _TEXT


def drawn(what: Chart | Tree, kind: Kind) -> str:
    """Return a chart or tree in a form, that of a file. Raises FileError for one that is too large
    to be drawn."""
    if isinstance(what, Chart):
        try:
            chart = ChartDrawing(what)
        except ValueError as error:
            raise FileError(f"cannot be exported: {error}") from None
        ways: dict[Kind, Callable[[], str]] = {
            "svg": chart.svg, "tabular": chart.latex, "text": chart.text,
        }  # fmt: skip
        return ways[kind]() + "\n"
    tree = TreeDrawing(what)
    if kind == "forest" or kind == "qtree":
        return f"% \\usepackage{{{kind}}}\n{tree.latex(kind)}\n"
    return (tree.svg() if kind == "svg" else tree.text()) + "\n"


def form_of(path: str, chosen: Form, forms: tuple[Form, ...]) -> tuple[str, Form]:
    """Return the path of a file to export to, and its form: what its name says, else what was
    chosen, whose suffix a name without one gets."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == chosen.suffix:
        return path, chosen
    for form in forms:
        if suffix == form.suffix:
            return path, form
    return path + chosen.suffix, chosen


def export(what: Chart | Tree, path: str, kind: Kind) -> None:
    """Write a chart or tree to a file, whole or not at all. Raises FileError."""
    write(path, drawn(what, kind).encode())
