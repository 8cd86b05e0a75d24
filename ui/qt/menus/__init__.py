"""What can be done, a module for each menu or part of one.

A new one is a class of Menu in MENUS: it gives its actions, may put docks into the window (with
object names, so that where they are is remembered) and may listen to the window's `opened` and
`changed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.qt.menus.base import Menu
from ui.qt.menus.control import ControlMenu
from ui.qt.menus.edit import EditMenu
from ui.qt.menus.engine import EngineMenu
from ui.qt.menus.file import FileMenu
from ui.qt.menus.help import HelpMenu
from ui.qt.menus.history import HistoryMenu
from ui.qt.menus.script import ScriptMenu
from ui.qt.menus.second import SecondMenu
from ui.qt.menus.share import ShareMenu
from ui.qt.menus.start import StartMenu
from ui.qt.menus.state import StateMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.menus.view import ViewMenu

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

__all__ = ["Menu", "all_menus"]

MENUS: tuple[type[Menu], ...] = (
    FileMenu, ShareMenu, EditMenu, StateMenu, ViewMenu, StartMenu, SecondMenu, HistoryMenu,
    ControlMenu, EngineMenu, TimeMenu, ScriptMenu, HelpMenu,
)  # fmt: skip


def all_menus(window: LifeWindow) -> list[Menu]:
    """Make all menus of a window, in their order."""
    return [menu(window) for menu in MENUS]
