"""The buttons in the titles of docks, in the colours of a theme: Qt's own can hardly be seen on a
dark one."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QAbstractButton, QDockWidget, QMainWindow

from ui.qt.icons import icon
from ui.qt.theme import Colours

_BUTTONS = (  # by the names that Qt gives them
    ("qt_dockwidget_closebutton", "close", "Close"),
    ("qt_dockwidget_floatbutton", "float", "Make it a window of its own, or a dock again"),
)


class DockButtons:
    """Draws the buttons of all docks that a window has."""

    def __init__(self, window: QMainWindow) -> None:
        """Draw nothing yet."""
        self._docks = window.findChildren(QDockWidget)
        self._shades: Colours | None = None
        for dock in self._docks:  # Qt draws its own again where one is taken out or put back
            dock.topLevelChanged.connect(partial(self._draw, dock))

    def dress(self, shades: Colours) -> None:
        """Draw them in the colours of a theme."""
        self._shades = shades
        for dock in self._docks:
            self._draw(dock)

    def _draw(self, dock: QDockWidget, *_: object) -> None:
        shades = self._shades
        if shades is None:
            return
        for name, shown, tip in _BUTTONS:
            button = dock.findChild(QAbstractButton, name)
            assert isinstance(button, QAbstractButton)
            button.setIcon(icon(shown, shades.icon, shades.faint))
            button.setToolTip(tip)
