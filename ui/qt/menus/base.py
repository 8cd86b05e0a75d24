"""What a module of this package has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ui.qt.actions import Action

if TYPE_CHECKING:
    from ui.qt.window import Window


class Menu:
    """Actions that belong together, and what they remember.

    prefix: of their ids. place: the menu that they are in. Made before the window is filled:
    what a menu listens to, it connects in actions().
    """

    prefix: ClassVar[str]
    place: ClassVar[str]

    def __init__(self, window: Window) -> None:
        self.window = window

    def actions(self) -> list[Action]:
        raise NotImplementedError

    def may_leave(self) -> bool:
        """Whether the window may be closed, as far as this goes; may ask."""
        return True

    def keep(self) -> None:
        """Write what is remembered to window.settings."""

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
    ) -> Action:
        """under: a submenu of the menu."""
        menu = f"{self.place} > {under}" if under else self.place
        id = f"{self.prefix}.{id}"
        return Action(id, title, menu, run, keys, section, local, enabled, checked, icon, tip)
