"""View, as far as the second view goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from ui.qt.actions import Action
from ui.qt.menus.base import Menu
from ui.qt.second import SecondView

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_WIDTH = 360  # pixels, of the second view when it is first shown


class SecondMenu(Menu):
    """Adds the second view, and actions that show and link it."""

    prefix, place = "second", "&View"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.view = SecondView(window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.view)
        self.view.hide()

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        view = self.view
        view.visibilityChanged.connect(lambda: self.window.registry.refresh())
        return [
            self.act("view", "Second &view", self.toggle, "F8", section=6,
                     checked=lambda: not view.isHidden(),
                     tip="See another place, or the same from farther away, at the same time"),
            self.act("link", "Lin&k both views", view.toggle_link, "Shift+F8", section=6,
                     enabled=lambda: not view.isHidden(), checked=lambda: view.is_linked,
                     tip="Have both views look at the same place"),
        ]  # fmt: skip

    def toggle(self) -> None:
        """Show the second view, or hide it."""
        if self.view.isHidden():
            self.show_sized(self.view, Qt.Orientation.Horizontal, _WIDTH)
        else:
            self.view.hide()

    def close(self) -> None:
        """End its thread."""
        self.view.close_worker()
