"""The editor of a grammar: line numbers, colours, and the place of an error."""

from __future__ import annotations

import re

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from ckyparse.grammar import GrammarError

_PARTS = re.compile(
    r"""(?P<string>'[^']*'|"[^"]*")|(?P<arrow>->|\|)|(?P<weight>\[[^\[\]]*\])""",
)
_WRONG = QColor("#e5484d")


class GrammarEditor(QPlainTextEdit):
    """Edits the text of a grammar: numbers its lines, colours it, underlines its error."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Grammar")
        self.setPlaceholderText("A grammar in nltk's syntax:\n\nS -> S S | '(' S ')' | '(' ')'")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setTabChangesFocus(True)
        self._gutter = _Gutter(self)
        self._colours = _Colours(self.document(), self)
        self.error: GrammarError | None = None
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._scrolled)
        self._make_room()

    def show_error(self, error: GrammarError | None) -> None:
        """Mark its place; what else there is to say stands elsewhere."""
        self.error = error
        marks = []
        if error is not None and error.line:
            block = self.document().findBlockByNumber(error.line - 1)
            marks.append(self._mark(block.position(), block.position(), True))
            begin = block.position() + max(0, min(error.column - 1, block.length() - 1))
            cursor = QTextCursor(self.document())
            cursor.setPosition(begin)
            cursor.movePosition(
                QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor
            )
            last = block.position() + block.length() - 1
            end = max(cursor.position(), begin + 1)
            if error.column:
                # At the end of a line there is no character to mark but the one before.
                begin, end = (begin, end) if end <= last else (max(last - 1, 0), last)
                marks.append(self._mark(begin, end, False))
        self.setExtraSelections(marks)
        self._gutter.update()

    def _mark(self, begin: int, end: int, whole_line: bool) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        if whole_line:
            tint = QColor(_WRONG)
            tint.setAlpha(45)
            look.setBackground(tint)
            look.setProperty(QTextFormat.Property.FullWidthSelection, True)
        else:
            tint = QColor(_WRONG)
            tint.setAlpha(130)
            look.setBackground(tint)
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            look.setUnderlineColor(_WRONG)
        mark.cursor, mark.format = cursor, look  # type: ignore[attr-defined]
        return mark

    def go_to(self, line: int, column: int) -> None:
        """Move the cursor to a place; lines and columns count from 1."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + max(0, min(column - 1, block.length() - 1)))
            self.setTextCursor(cursor)
        self.setFocus()

    def recolour(self) -> None:
        """Take the colours of another palette."""
        self._colours.rehighlight()

    # --- line numbers ----------------------------------------------------------

    def gutter_width(self) -> int:
        """Return the width of the line numbers."""
        digits = max(2, len(str(max(1, self.blockCount()))))
        return 14 + self.fontMetrics().horizontalAdvance("9") * (digits + 2)

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)

    def _scrolled(self, rect: QRect, by: int) -> None:
        if by:
            self._gutter.scroll(0, by)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the line numbers as high as the text."""
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.left(), inside.top(), self.gutter_width(), inside.height())

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Draw the numbers of the lines that are seen."""
        painter = QPainter(self._gutter)
        painter.setFont(self.font())
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.Window))
        dim = self.palette().color(QPalette.ColorRole.PlaceholderText)
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            wrong = self.error is not None and self.error.line == number
            painter.setPen(_WRONG if wrong else dim)
            width = self._gutter.width() - 7
            area = QRect(0, round(top), width, round(height))
            painter.drawText(area, Qt.AlignmentFlag.AlignRight, f"● {number}" if wrong else
                             str(number))  # fmt: skip
            top += height
            block = block.next()


class _Gutter(QWidget):
    def __init__(self, editor: GrammarEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)


class _Colours(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument, editor: GrammarEditor) -> None:
        super().__init__(document)
        self._editor = editor

    def highlightBlock(self, text: str) -> None:
        palette = self._editor.palette()
        dark = palette.color(QPalette.ColorRole.Base).lightness() < 128
        dim = palette.color(QPalette.ColorRole.PlaceholderText)
        stripped = text.lstrip()
        if stripped.startswith(("#", "%")):
            self.setFormat(0, len(text), dim)
            return
        shades = {
            "string": QColor("#7fd1a8" if dark else "#00703c"),
            "arrow": dim,
            "weight": QColor("#e0a860" if dark else "#8a4b00"),
        }
        for match in _PARTS.finditer(text):
            first, last = match.span()
            self.setFormat(first, last - first, shades[match.lastgroup or "arrow"])
