"""Where Python is typed: lines with a history, which are run once they are complete."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ui.script.source import is_complete

_MOST_LINES = 8  # that are seen; more are scrolled
_KEPT = 200  # inputs
_INDENT = "    "

Complete = Callable[[str], tuple[str, list[str]]]


class ConsoleEntry(QPlainTextEdit):
    """Takes Python source. Return runs it where it is complete, else begins another line.

    entered: source to be run. stopped: Ctrl+C was pressed with nothing selected. offered: names
    that what is typed may become. history: what was entered, the last at the end.
    """

    entered = Signal(str)
    stopped = Signal()
    offered = Signal(list)

    def __init__(self, complete: Complete, parent: QWidget | None = None) -> None:
        """Be empty. complete: returns what is typed of a name at the end of a line, and all names
        that it may become."""
        super().__init__(parent)
        self._complete = complete
        self.history: list[str] = []
        self._at = 0  # of the history; its length is what is being typed
        self._typed = ""
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName("Python input")
        self.setPlaceholderText("Python: Return runs it, Shift+Return begins another line")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.textChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        lines = min(max(self.blockCount(), 1), _MOST_LINES)
        margin = 2 * (self.frameWidth() + round(self.document().documentMargin()))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margin + 2)

    def keep(self, source: str) -> None:
        """Add to the history."""
        if source.strip() and (not self.history or self.history[-1] != source):
            self.history.append(source)
            del self.history[:-_KEPT]
        self._at, self._typed = len(self.history), ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Run, go through the history, complete a name, or stop."""
        key, pressed = event.key(), event.modifiers()
        control = bool(pressed & Qt.KeyboardModifier.ControlModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._enter(bool(pressed & Qt.KeyboardModifier.ShiftModifier))
        elif key == Qt.Key.Key_Up and self.textCursor().blockNumber() == 0:
            self._go(-1)
        elif key == Qt.Key.Key_Down and self.textCursor().blockNumber() == self.blockCount() - 1:
            self._go(1)
        elif key == Qt.Key.Key_Tab and not control:
            self._go_on()
        elif key == Qt.Key.Key_C and control and not self.textCursor().hasSelection():
            self.stopped.emit()
        else:
            super().keyPressEvent(event)

    def _enter(self, more: bool) -> None:
        source = self.toPlainText()
        if not source.strip():
            return
        at_end = self.textCursor().blockNumber() == self.blockCount() - 1
        if not more and (at_end or self.blockCount() == 1) and is_complete(source):
            self.entered.emit(source)
            return
        before = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
        indent = before[: len(before) - len(before.lstrip())]
        if before.rstrip().endswith(":"):
            indent += _INDENT
        self.insertPlainText("\n" + (indent if before.strip() else ""))

    def _go(self, steps: int) -> None:
        to = min(max(self._at + steps, 0), len(self.history))
        if to == self._at:
            return
        if self._at == len(self.history):
            self._typed = self.toPlainText()
        self._at = to
        self.setPlainText(self.history[to] if to < len(self.history) else self._typed)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _go_on(self) -> None:
        """Complete the name before the cursor as far as it is clear, or indent."""
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        if not before.strip():
            self.insertPlainText(_INDENT)
            return
        begun, names = self._complete(before)
        if not names:
            return
        longest = min(names, key=len)
        while not all(name.startswith(longest) for name in names):
            longest = longest[:-1]
        if len(longest) > len(begun):
            self.insertPlainText(longest[len(begun) :])
        elif len(names) > 1:
            self.offered.emit(names)
