"""View, as far as the history goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from ui.qt.actions import Action
from ui.qt.focus import focus_on
from ui.qt.history import HistoryDock
from ui.qt.menus.base import Menu

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_WIDTH = 280  # pixels, of the history when it is first shown


class HistoryMenu(Menu):
    """Adds the history."""

    prefix, place = "history", "&View"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.dock = HistoryDock(lambda: window.session, window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.dock.hide()

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        window, dock = self.window, self.dock
        window.changed.connect(dock.refresh)
        dock.visibilityChanged.connect(lambda: window.registry.refresh())
        dock.acted.connect(lambda: focus_on(window.canvas))
        return [
            self.act("show", "Show histor&y", self.toggle, "Ctrl+H", section=6,
                     checked=lambda: not dock.isHidden(),
                     tip="List changes and runs, and go to before or after any of them"),
        ]  # fmt: skip

    def toggle(self) -> None:
        """Show the history, or hide it."""
        if self.dock.isHidden():
            self.show_sized(self.dock, Qt.Orientation.Horizontal, _WIDTH)
        else:
            self.dock.hide()
