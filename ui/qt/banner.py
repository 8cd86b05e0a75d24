"""Messages in the window: a line that lies on the canvas, so that nothing moves for it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

_SECONDS = 6
_WIDEST = 760  # pixels


class Banner(QFrame):
    """A line over the canvas, for notes, warnings and errors.

    Notes go by themselves, warnings and errors when they are dismissed or followed by something.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        # A click on a message draws no cell.
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setMaximumWidth(_WIDEST)
        self.label = QLabel()
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.dismiss_button = QToolButton()
        self.dismiss_button.setText("✕")
        self.dismiss_button.setAccessibleName("Dismiss the message")
        self.dismiss_button.clicked.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 7, 7, 7)
        row.addWidget(self.label)
        row.addWidget(self.dismiss_button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        self.hide()

    @property
    def text(self) -> str:
        """Return what stands there, '' if nothing."""
        return "" if self.isHidden() else self.label.text()

    @property
    def is_error(self) -> bool:
        """Tell whether an error is shown."""
        return not self.isHidden() and self.property("kind") == "error"

    def note(self, text: str) -> None:
        """Show a note, which goes by itself."""
        self._say(text, "note")
        self._timer.start(_SECONDS * 1000)

    def warn(self, text: str) -> None:
        """Say what has gone well, but should be known."""
        self._timer.stop()
        self._say(text, "note")

    def error(self, text: str) -> None:
        """Show an error, until it is dismissed."""
        self._timer.stop()
        self._say(text, "error")

    def dismiss(self) -> None:
        """Show nothing any more."""
        self._timer.stop()
        self.hide()

    def _say(self, text: str, kind: str) -> None:
        self.setProperty("kind", kind)
        for widget in (self, self.label, self.dismiss_button):
            widget.style().unpolish(widget)
            widget.style().polish(widget)
        self.label.setText(text)
        self.label.setAccessibleName(text)
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self.label, QAccessible.Event.Alert))
