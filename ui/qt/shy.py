"""A line of text that takes what room there is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy


class ShyLabel(QLabel):
    """Plain text that ends in an ellipsis in a narrow window, instead of keeping it from being
    narrow; its tooltip is whole."""

    def __init__(self, name: str) -> None:
        """Show nothing yet. name: what it is, for those who do not see it."""
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        """Show a text, and all of it as tooltip."""
        super().setText(text)
        self.setToolTip(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, or as much of it as there is room for."""
        where, metrics = self.contentsRect(), self.fontMetrics()
        if metrics.horizontalAdvance(self.text()) <= where.width():
            super().paintEvent(event)
            return
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, where.width())
        painter = QPainter(self)
        self.style().drawItemText(
            painter, where, self.alignment().value, self.palette(), self.isEnabled(), shown,
            self.foregroundRole(),
        )  # fmt: skip
        painter.end()
