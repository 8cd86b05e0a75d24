"""The history as a dock: each change and each run, and a click goes to after it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHeaderView,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ui.numbers import shortened
from ui.session import EditableSession, HistoryLines, Session

_BEGINNING = "the beginning"
_EMPTY = "Nothing has been changed yet."


class HistoryDock(QDockWidget):
    """Lists what can be undone and, faint, what can be redone; the state of now is selected.

    acted: something has been done, and keys may go to the canvas again.
    """

    acted = Signal()

    def __init__(self, session: Callable[[], Session], parent: QWidget | None = None) -> None:
        """List nothing yet. session: returns the one that is shown."""
        super().__init__("History", parent)
        self.setObjectName("history")
        self._session = session
        self._shown: HistoryLines | None = None
        self.list = QTreeWidget()
        self.list.setAccessibleName("History")
        self.list.setHeaderLabels(["Change", "Generation"])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemClicked.connect(self._go)
        self.list.itemActivated.connect(self._go)
        self.empty = QLabel(_EMPTY)
        self.empty.setProperty("dim", True)
        self.empty.setWordWrap(True)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(8, 6, 8, 6)
        column.addWidget(self.empty)
        column.addWidget(self.list, 1)
        self.setWidget(body)

    def showEvent(self, event: QShowEvent) -> None:
        """List what there is."""
        super().showEvent(event)
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Take other colours with another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._shown = None
            self.refresh()

    def refresh(self) -> None:
        """List what there is now, where somebody sees it."""
        session = self._session()
        if not self.isVisible() or not isinstance(session, EditableSession):
            return
        lines = session.history
        if lines == self._shown:
            return
        before, self._shown = self._shown, lines
        rows = [(_BEGINNING, lines.first), *lines.done, *lines.undone]
        if before is None or _titles(before) != _titles(lines):
            self._fill([title for title, _ in rows], len(lines.done))
        for number, (_, generation) in enumerate(rows):  # of a run it changes all the time
            item = self.list.topLevelItem(number)
            assert item is not None
            item.setText(1, shortened(generation))

    def _fill(self, titles: list[str], now: int) -> None:
        """List titles; `now` is the number of the one that led to what there is now."""
        self.list.clear()
        for number, title in enumerate(titles):
            item = QTreeWidgetItem([title[:1].upper() + title[1:]])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
            if number > now:
                for column in range(2):
                    item.setForeground(column, self.palette().placeholderText())
            self.list.addTopLevelItem(item)
        current = self.list.topLevelItem(now)
        assert current is not None
        self.list.setCurrentItem(current)
        self.list.scrollToItem(current)
        self.empty.setVisible(len(titles) == 1)

    def _go(self, item: QTreeWidgetItem) -> None:
        """Go to after the change of a row; not where another has been made that is not listed."""
        session, lines = self._session(), self._shown
        if isinstance(session, EditableSession) and lines is not None:
            if _titles(session.history) == _titles(lines):
                session.travel(self.list.indexOfTopLevelItem(item) - len(lines.done))
            self.acted.emit()


def _titles(lines: HistoryLines) -> tuple[list[str], list[str]]:
    done, undone = ([title for title, _ in some] for some in lines[1:])
    return done, undone
