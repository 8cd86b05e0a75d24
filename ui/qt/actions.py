"""The registry of actions: all that the window can do, each said once.

Menus, the toolbar, the command palette and the page of shortcuts are made from it. Whoever
brings something new to the window adds actions, and shows nothing else in a menu.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from lifesim.errors import LifesimError

MENUS = ("&File", "&Edit", "&View", "&Control", "&Help")  # others come before Help


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done in a window.

    id: "view.fit". menu: its title, with " > " before that of a submenu. section: those of a menu's
    sections are parted by lines. keys: as Qt writes them, the first one is shown in menus; keys
    that widgets need themselves, as Space, do it on the canvas only (`local`). enabled: when; None
    is always. checked: for what is on or off. icon: of ui.qt.icons. at_start: it can be done while
    no universe is open, too.
    """

    id: str
    title: str
    menu: str
    run: Callable[[], None]
    keys: tuple[str, ...] = ()
    section: int = 0
    local: bool = False
    enabled: Callable[[], bool] | None = None
    checked: Callable[[], bool] | None = None
    icon: str = ""
    tip: str = ""
    at_start: bool = False

    @property
    def name(self) -> str:
        """Return its title, without what only menus need."""
        return self.title.replace("&&", "\0").replace("&", "").replace("\0", "&")

    @property
    def place(self) -> str:
        """Return the menu's title, without the marks of its keys."""
        return self.menu.replace("&", "")


class Registry:
    """The actions of a window, in the order of menus.

    report: is told of what went wrong. is_bare: whether no universe is open; only actions that are
    for the start page, too, can be done then.
    """

    is_bare = False

    def __init__(self, window: QWidget, canvas: QWidget, report: Callable[[Exception], None]):
        self._window, self._canvas, self._report = window, canvas, report
        self._actions: dict[str, Action] = {}
        self._made: dict[str, QAction] = {}
        self._keys: dict[str, str] = {}
        self._menus: dict[str, QMenu] = {}

    def add(self, *actions: Action) -> None:
        """Add actions. Raises ValueError for an id or a key that is taken."""
        for action in actions:
            if action.id in self._actions:
                raise ValueError(f"two actions {action.id}")
            for key in action.keys:
                plain = QKeySequence(key).toString()
                if not plain or plain in self._keys:
                    raise ValueError(f"{action.id}: {key} is {self._keys.get(plain, 'no key')}")
                self._keys[plain] = action.id
            self._actions[action.id] = action
            self._made[action.id] = self._make(action)

    def _make(self, action: Action) -> QAction:
        made = QAction(action.title, self._window)
        made.setObjectName(action.id)
        made.setShortcuts([QKeySequence(key) for key in action.keys])
        made.setShortcutContext(
            Qt.ShortcutContext.WidgetShortcut if action.local else Qt.ShortcutContext.WindowShortcut
        )
        made.setCheckable(action.checked is not None)
        made.setMenuRole(QAction.MenuRole.NoRole)
        keys = f" ({made.shortcut().toString(_NATIVE)})" if action.keys else ""
        made.setToolTip((action.tip or action.name.removesuffix("…")) + keys)
        made.setStatusTip(action.tip)
        made.triggered.connect(lambda: self.run(action.id))
        (self._canvas if action.local else self._window).addAction(made)
        return made

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def __getitem__(self, id: str) -> Action:
        return self._actions[id]

    def made(self, id: str) -> QAction:
        """Return the QAction of an id."""
        return self._made[id]

    def has_key(self, keys: QKeyCombination) -> bool:
        """Tell whether keys are those of an action, wherever in the window they are pressed."""
        id = self._keys.get(QKeySequence(keys).toString())
        return id is not None and not self._actions[id].local

    def run(self, id: str) -> None:
        """Do it, if it can be done now; what goes wrong is reported."""
        if self.is_enabled(id):
            try:
                self._actions[id].run()
            except Exception as error:
                self._report(error)
        self.refresh()

    def do(self, id: str) -> None:
        """Do it, and raise what goes wrong. Raises LifesimError where it cannot be done now."""
        if not self.is_enabled(id):
            raise LifesimError(f"{self._actions[id].name.removesuffix('…')}: not now")
        try:
            self._actions[id].run()
        finally:
            self.refresh()

    def is_enabled(self, id: str) -> bool:
        """Tell whether an action can be done now."""
        action = self._actions[id]
        if self.is_bare and not action.at_start:
            return False
        return action.enabled is None or action.enabled()

    def refresh(self) -> None:
        """Show anew what is enabled and what is checked."""
        for id, action in self._actions.items():
            made = self._made[id]
            made.setEnabled(self.is_enabled(id))
            if action.checked is not None:
                made.setChecked(action.checked())

    def retitle(self, id: str, title: str, icon: QIcon | None = None) -> None:
        """Give an action another title and icon."""
        made = self._made[id]
        made.setText(title)
        if icon is not None:
            made.setIcon(icon)

    def menu(self, title: str) -> QMenu:
        """Return a menu or submenu that has been filled, to put more than actions in."""
        return self._menus[title]

    def fill(self, bar: QMenuBar) -> None:
        """Make the menus."""
        bar.clear()
        self._menus.clear()
        tops = dict.fromkeys(action.menu.split(" > ")[0] for action in self)
        order = [menu for menu in MENUS[:-1] if menu in tops]
        order += [menu for menu in tops if menu not in MENUS]
        order += [menu for menu in MENUS[-1:] if menu in tops]
        for top in order:
            menu = bar.addMenu(top)
            self._menus[top] = menu
            self._fill(menu, [action for action in self if action.menu.split(" > ")[0] == top])

    def _fill(self, menu: QMenu, actions: list[Action]) -> None:
        section = None
        for action in sorted(actions, key=lambda action: action.section):
            if section is not None and action.section != section:
                menu.addSeparator()
            section = action.section
            target, path = menu, action.menu.split(" > ")
            for depth in range(1, len(path)):
                title = " > ".join(path[: depth + 1])
                if title not in self._menus:
                    self._menus[title] = target.addMenu(path[depth])
                target = self._menus[title]
            target.addAction(self._made[action.id])


_NATIVE = QKeySequence.SequenceFormat.NativeText
