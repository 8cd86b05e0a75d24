"""What a module of this package has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget

from ui.qt.actions import Action

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow


class Menu:
    """Actions that belong together, and what they remember.

    prefix: of their ids. place: the menu that they are in. at_start: whether they can be done while
    no universe is open, unless an action says otherwise. Made before the window is filled: what a
    menu listens to, it connects in actions().
    """

    prefix: ClassVar[str]
    place: ClassVar[str]
    at_start: ClassVar[bool] = False

    def __init__(self, window: LifeWindow) -> None:
        self.window = window
        self._sized: set[QDockWidget] = set()

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        raise NotImplementedError

    def may_leave(self) -> bool:
        """Tell whether the window may be closed, as far as this goes; may ask."""
        return True

    def remembered(self) -> dict[str, object]:
        """Return what is remembered, by the keys of window.settings."""
        return {}

    def close(self) -> None:
        """End what is under way, as the window closes."""

    def show_sized(self, dock: QDockWidget, orientation: Qt.Orientation, length: int) -> None:
        """Show a dock. When it is first shown it gets a length in pixels, but at most half of the
        window's; orientation: what that is, a width or a height."""
        dock.show()
        if dock not in self._sized:
            self._sized.add(dock)
            size = self.window.size()
            across = orientation is Qt.Orientation.Horizontal
            half = (size.width() if across else size.height()) // 2
            self.window.resizeDocks([dock], [min(length, half)], orientation)

    def act(
        self,
        id: str,
        title: str,
        run: Callable[[], None],
        *keys: str,
        under: str = "",
        section: int = 0,
        local: bool = False,
        enabled: Callable[[], bool] | None = None,
        checked: Callable[[], bool] | None = None,
        icon: str = "",
        tip: str = "",
        at_start: bool | None = None,
    ) -> Action:
        """Make an action, with an argument for each field. under: a submenu of the menu."""
        menu = f"{self.place} > {under}" if under else self.place
        id = f"{self.prefix}.{id}"
        start = self.at_start if at_start is None else at_start
        return Action(
            id, title, menu, run, keys, section, local, enabled, checked, icon, tip, start
        )
