"""Keys that move in a list while what is looked for in it is typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListWidget

_DOWN: dict[int, int] = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_PAGES: dict[int, int] = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ListKeys(QObject):
    """Moves in a list by the keys up, down and those of pages while a line of text has the focus.

    Rows at the end that cannot be chosen are left out.
    """

    def __init__(
        self,
        rows: QListWidget,
        page: int,
        *lines: QLineEdit,
        chosen: Callable[[], None] | None = None,
    ) -> None:
        """Watch some lines. page: how many rows a page is. chosen: is called for Return; None
        leaves that key to others."""
        super().__init__(rows)
        self._rows, self._page, self._chosen = rows, page, chosen
        for line in lines:
            line.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys that move."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            key = event.key()
            steps = _DOWN.get(key, 0) + self._page * _PAGES.get(key, 0)
            if steps:
                self._go(steps)
                return True
            if self._chosen is not None and key in _ENTER:
                self._chosen()
                return True
        return super().eventFilter(watched, event)

    def _go(self, steps: int) -> None:
        rows = self._rows
        last = max((row for row in range(rows.count()) if rows.item(row).flags()), default=0)
        rows.setCurrentRow(min(max(rows.currentRow() + steps, 0), last))
