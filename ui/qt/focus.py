"""Ways back to the canvas for those who work without a mouse, or with one and the keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget


def focus_on(canvas: QWidget) -> None:
    """Let keys go to the canvas, from a dock too that is a window of its own."""
    canvas.activateWindow()
    canvas.setFocus(Qt.FocusReason.OtherFocusReason)


def lead_back(place: QWidget, canvas: QWidget) -> None:
    """Let Escape lead from a place beside the canvas, and all that is in it, to the canvas."""
    shortcut = QShortcut(QKeySequence(Qt.Key.Key_Escape), place)
    shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    shortcut.activated.connect(lambda: focus_on(canvas))
