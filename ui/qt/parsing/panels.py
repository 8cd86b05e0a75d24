"""How the window for parsing is laid out: its panels, with splitters between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from ui.qt.banner import Banner

if TYPE_CHECKING:
    from ui.qt.parsing.window import ParseWindow


class Panels(QWidget):
    """The panels of a window: grammar and sentences on the left, chart and trees on the right.

    splits: the splitters, of which the last is between left and right.
    """

    def __init__(self, window: ParseWindow) -> None:
        """Lay out the panels that a window has made."""
        super().__init__()
        for label in (window.cell_note, window.verdict):
            label.setContentsMargins(6, 2, 6, 2)
        window.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        window.facts.setProperty("dim", True)
        window.cell_note.setProperty("dim", True)
        self.splits = [QSplitter(Qt.Orientation.Vertical) for _ in range(2)]
        left, right = self.splits
        left.addWidget(window.grammar)
        left.addWidget(window.batch)
        right.addWidget(_column(window.verdict, window.chart, window.cell_note))
        right.addWidget(window.trees)
        across = QSplitter(Qt.Orientation.Horizontal)
        across.addWidget(left)
        across.addWidget(right)
        across.setSizes([580, 700])
        across.setStretchFactor(1, 1)
        right.setSizes([400, 400])
        self.splits.append(across)
        for split in self.splits:
            split.setChildrenCollapsible(False)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 6, 8, 4)
        box.addWidget(across)
        window.banner.setParent(self)

    def place(self, banner: Banner) -> None:
        """Put the banner over the panels, in the middle of the top."""
        banner.setFixedWidth(min(720, self.width() - 40))
        banner.adjustSize()
        banner.move((self.width() - banner.width()) // 2, 12)
        banner.raise_()


def fill_status_bar(window: ParseWindow) -> None:
    """Show the summary of all sentences, what lasts, and facts of the grammar at the bottom."""
    bar = window.statusBar()
    bar.setSizeGripEnabled(False)
    bar.addWidget(window.summary, 1)
    bar.addPermanentWidget(window.busy)
    bar.addPermanentWidget(window.facts)


def plain_label(name: str) -> QLabel:
    """Return a label of plain text; name: for who cannot see it."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleName(name)
    return label


def _column(*widgets: QWidget) -> QWidget:
    """Return widgets one below the other."""
    column = QWidget()
    box = QVBoxLayout(column)
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(5)
    for widget in widgets:
        box.addWidget(widget)
    return column
