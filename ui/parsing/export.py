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

FormName = Literal["svg", "forest", "qtree", "tabular", "text"]

MOST_OUTLINE = 1 << 24  # characters of a tree as text


@dataclass(frozen=True, slots=True)
class ExportForm:
    """A form that charts or trees are exported in. title: for menus. suffix: of its files."""

    name: FormName
    title: str
    suffix: str


_SVG, _TEXT = ExportForm("svg", "SVG", ".svg"), ExportForm("text", "Text", ".txt")
_FOREST = ExportForm("forest", "LaTeX, with forest", ".tex")
_QTREE = ExportForm("qtree", "LaTeX, with qtree", ".tex")
TREE_FORMS = _SVG, _FOREST, _QTREE, _TEXT
CHART_FORMS = _SVG, ExportForm("tabular", "LaTeX", ".tex"), _TEXT


def drawn(what: Chart | Tree, name: FormName) -> str:
    """Return the text of a file that has a chart or tree in a form. Raises FileError for one that
    is too large for that form."""
    if isinstance(what, Chart):
        try:
            chart = ChartDrawing(what)
        except ValueError as error:
            raise FileError(f"cannot be exported: {error}") from None
        ways: dict[FormName, Callable[[], str]] = {
            "svg": chart.svg, "tabular": chart.latex, "text": chart.text,
        }  # fmt: skip
        return ways[name]() + "\n"
    tree = TreeDrawing(what)
    if name == "forest" or name == "qtree":
        return f"% \\usepackage{{{name}}}\n{tree.latex(name)}\n"
    return tree.svg() + "\n" if name == "svg" else _outline(tree)


def _outline(tree: TreeDrawing) -> str:
    """Return a tree as text. Raises FileError for one that is too deep: its lines are too long."""
    lines, size = [], 0
    for line in tree.lines():
        size += len(line) + 1
        if size > MOST_OUTLINE:
            raise FileError(
                f"an outline of more than {MOST_OUTLINE >> 20} million characters is too large for "
                "a window: see ckyparse parse --format text"
            )
        lines.append(f"{line}\n")
    return "".join(lines)


def form_of(path: str, chosen: ExportForm, forms: tuple[ExportForm, ...]) -> tuple[str, ExportForm]:
    """Return the path to export to, and the form. A suffix of one of the forms decides which; else
    it is the chosen one, whose suffix the path gets."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == chosen.suffix:
        return path, chosen
    for form in forms:
        if suffix == form.suffix:
            return path, form
    return path + chosen.suffix, chosen


def export(what: Chart | Tree, path: str, name: FormName) -> None:
    """Write a chart or tree to a file, whole or not at all. Raises FileError."""
    write(path, drawn(what, name).encode())
