"""Keys of a window's actions while one types."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from ui.qt.actions import Registry


class WindowKeys(QObject):
    """Leaves a window the keys of its actions while something that takes text has the focus.

    Qt gives keys such as Ctrl+E and Ctrl+K, which move and delete in Emacs, to what is being typed.
    """

    def __init__(self, registry: Registry, *places: QWidget) -> None:
        """Watch some places."""
        super().__init__(places[0])
        self._registry = registry
        for place in places:
            place.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the place from taking a key of an action."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() is QEvent.Type.ShortcutOverride
            and self._registry.has_key(event.keyCombination())
        ):
            event.ignore()
            return True
        return super().eventFilter(watched, event)
