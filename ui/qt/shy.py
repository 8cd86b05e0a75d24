"""A line of text that takes what room there is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy


class ShyLabel(QLabel):
    """Plain text that is cut off in a narrow window, instead of keeping it from being narrow; its
    tooltip is whole."""

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
