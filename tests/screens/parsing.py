"""The screens of the window for parsing."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from tests.screens.stage import Stage, screen
from tests.ui.parse_windows import example, settle, write
from ui.qt.parsing.window import ParseWindow

_WRONG = """\
# The arrow of the second rule lacks its head.
S -> NP VP
VP - V NP | V
NP -> 'she' | 'ducks'
V -> 'saw' | 'ducks'
"""


def _ready(window: ParseWindow) -> ParseWindow:
    window.editor.horizontalScrollBar().setValue(0)
    settle(window)
    return window


@screen("parsing", 1280, 840, theme="light")
def ambiguous(stage: Stage) -> QWidget:
    """Show an ambiguous sentence, its chart and its second tree, and a span of both."""
    window = stage.parse()
    example(window, "english.cfg")
    window.registry.run("view.sort-parses")
    settle(window)
    window.batch.table.selectRow(0)
    settle(window)
    window.registry.run("view.next")
    settle(window)
    window.chart.choose((2, 7))
    return _ready(window)


@screen("parsing-probabilities", 1280, 840)
def probabilities(stage: Stage) -> QWidget:
    """Show sentences of a grammar with probabilities, the most probable first."""
    window = stage.parse()
    example(window, "english-weighted.pcfg")
    return _ready(window)


@screen("parsing-error", 1000, 560)
def error(stage: Stage) -> QWidget:
    """Show what is said of a grammar with an error."""
    window = stage.parse()
    write(window, _WRONG, "she saw ducks", "ducks ducks")
    return _ready(window)


@screen("parsing-empty", 1000, 560, theme="light")
def empty(stage: Stage) -> QWidget:
    """Show the window as it is opened without a grammar."""
    return _ready(stage.parse())
