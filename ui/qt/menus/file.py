"""File: new, open, recent files, save, leave."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from bulkbits.plurals import many
from lifesim import patterns
from lifesim.library import PatternLibrary
from lifesim.store.names import MANIFEST
from ui import opening
from ui.cells.edited import EditedSession
from ui.qt.actions import Action
from ui.qt.background import Opening
from ui.qt.menus.base import Menu
from ui.qt.menus.start import StartMenu
from ui.qt.remembered import change_strings, strings
from ui.session import Session
from ui.start.cards import short_path

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_MOST_RECENT = 12
_RECENT = "&File > Open &recent"


class FileMenu(Menu):
    """Adds actions that open and save universes."""

    prefix, place, at_start = "file", "&File", True

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.recent = strings(window.settings, "recent")[:_MOST_RECENT]
        self._is_listening = False

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        window = self.window
        act = self.act

        window.opened.connect(self._opened)
        return [
            act("new", "&New empty universe…", self.new, "Ctrl+N"),
            act("soup", "New soup…", lambda: self.new(soup=True), "Ctrl+Shift+N",
                tip="A new universe with random cells"),
            act("open", "&Open file…", self.open, "Ctrl+O", icon="open", tip="Open a pattern"),
            act("directory", "Open &universe on disk…", self.open_directory, "Ctrl+Shift+O",
                tip="Open a universe directory"),
            act("forget-gone", "&Remove what is gone", self.forget_gone, under="Open &recent",
                enabled=lambda: bool(self.recent), tip="Forget the files that are not there"),
            act(
                "forget", "&Clear this list", self.forget, under="Open &recent",
                enabled=lambda: bool(self.recent), tip="Forget the recent files",
            ),
            act("cancel", "Cance&l opening", self.cancel, tip="So does Escape",
                enabled=lambda: window.background.is_opening),
            act("close", "Clos&e", self.close_universe, "Ctrl+W", section=1, at_start=False,
                tip="Close the universe, and show the start page"),
            act("save", "&Save", self.save, "Ctrl+S", section=1, icon="save", at_start=False),
            act("save-as", "Save &as…", self.save_as, "Ctrl+Shift+S", section=1, at_start=False),
            act("quit", "&Quit", self.quit, "Ctrl+Q", section=9),
        ]  # fmt: skip

    def quit(self) -> None:
        """Close the window."""
        self.window.close()

    def close_universe(self) -> None:
        """Show the start page, if changes are saved or may be lost."""
        self.window.background.cancel()
        self.window.confirm(self.window.menu_of(StartMenu).show_page)

    # --- new and open ----------------------------------------------------------

    def new(self, *, soup: bool = False) -> None:
        """Ask for a new universe, and show it. soup: one with random cells is offered first."""
        window, session = self.window, self.window.session
        side = opening.SIDE
        size = (side, side) if session.is_endless else (session.width, session.height)
        asked = window.dialogs.new(size, session.rule, session.topology, soup)
        if asked is None:
            return

        def make(_: Opening) -> Session:
            rest = asked.rule, asked.topology
            if asked.density is None:
                return opening.new(*asked.size, *rest, backend=window.backend)
            size, soup = asked.size, (asked.density, asked.seed)
            return opening.random(*size, *soup, *rest, backend=window.backend)

        window.open_with("Making a universe…", make)

    def open(self) -> None:
        """Ask for a file, and open it."""
        path = self.window.dialogs.open_file(self._folder())
        if path is not None:
            self.open_path(path)

    def open_directory(self) -> None:
        """Ask for a universe directory, and open it."""
        path = self.window.dialogs.open_directory(self._folder())
        if path is not None:
            self.open_path(path)

    def open_path(self, path: str) -> None:
        """Open a file or a directory."""
        path = os.path.abspath(path)
        name, backend = os.path.basename(path), self.window.backend

        def make(asked: Opening) -> Session:
            return opening.open(path, backend=backend, is_cancelled=asked, progress=asked.tell)

        self.window.open_with(f"Opening {name}…", make, path)

    def open_dropped(self, path: str) -> None:
        """Open a file or a universe directory; show the patterns in any other folder."""
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, MANIFEST)):
            self.window.menu_of(StartMenu).show_folder(path)
        else:
            self.open_path(path)

    def cancel(self) -> None:
        """Cancel what is being opened: stay with what is open."""
        self.window.background.cancel()
        self.window.banner.note("Opening was cancelled.")

    def _folder(self) -> str:
        """Return the folder in which files are looked for: never the one of our own patterns."""
        paths = [self.window.session.path or "", *self.recent[:1]]
        path = next((path for path in paths if path and not _is_ours(path)), "")
        return os.path.dirname(path) or os.getcwd()

    # --- recent ----------------------------------------------------------------

    def remember(self, path: str) -> None:
        """Put a file first in the list, which other windows write to as well."""

        def with_it(known: list[str]) -> list[str]:
            return [path, *(other for other in known if other != path)][:_MOST_RECENT]

        self.recent = change_strings(self.window.settings, "recent", with_it)
        self._show_recent()

    def forget(self) -> None:
        """Clear the list, for all windows."""
        self.recent = change_strings(self.window.settings, "recent", lambda known: [])
        self._show_recent()

    def forget_path(self, path: str) -> None:
        """Take a file off the list, for all windows."""
        self._keep(lambda known: known != path)

    def forget_gone(self) -> None:
        """Take all files off the list that are not there any more."""
        paths = list(self.recent)

        def look() -> set[str]:
            return {path for path in paths if not os.path.lexists(path)}

        def done(gone: set[str]) -> None:
            self._keep(lambda known: known not in gone)
            removed = "No file is" if not gone else f"Removed {many(len(gone), 'file')} that were"
            self.window.banner.note(f"{removed} gone.")

        self.window.background.do("", look, done, self.window.report)

    def _keep(self, is_kept: Callable[[str], bool]) -> None:
        def those(known: list[str]) -> list[str]:
            return [path for path in known if is_kept(path)]

        self.recent = change_strings(self.window.settings, "recent", those)
        self._show_recent()

    def _opened(self) -> None:
        if not self._is_listening:
            self._is_listening = True
            self.window.registry.menu(_RECENT).aboutToShow.connect(self._look_again)
        self._show_recent()

    def _look_again(self) -> None:
        """Show what other windows have opened, too."""
        self.window.settings.sync()
        self.recent = strings(self.window.settings, "recent")[:_MOST_RECENT]
        self._show_recent()

    def _show_recent(self) -> None:
        menu = self.window.registry.menu(_RECENT)
        forget = [self.window.registry.made(f"file.{id}") for id in ("forget-gone", "forget")]
        menu.clear()
        for number, path in enumerate(self.recent, 1):
            shown = short_path(path).replace("&", "&&")
            action = QAction(f"&{number} {shown}" if number < 10 else shown, menu)
            action.setToolTip(path)
            action.triggered.connect(lambda _=False, path=path: self.open_path(path))
            menu.addAction(action)
        if self.recent:
            menu.addSeparator()
        menu.addActions(forget)
        self.window.menu_of(StartMenu).show_recent()
        self.window.registry.refresh()

    # --- save ------------------------------------------------------------------

    def save(
        self,
        then: Callable[[], None] = lambda: None,
        otherwise: Callable[[], None] = lambda: None,
    ) -> None:
        """Save; then go on, if it could be saved."""
        path = self.window.session.path
        if path is None or not self._is_to_be_written(path):
            self.save_as(then, otherwise)
        else:
            self._write(path, then, otherwise)

    def _is_to_be_written(self, path: str) -> bool:
        """Tell whether what is in memory may be saved there: a directory that it once became, a
        file whose name tells no format, and our own patterns stay as they are."""
        is_memory = isinstance(self.window.session, EditedSession)
        return not is_memory or (_is_pattern(path) and not _is_ours(path))

    def save_as(
        self,
        then: Callable[[], None] = lambda: None,
        otherwise: Callable[[], None] = lambda: None,
    ) -> None:
        """Ask for a name, and save there; then go on, if it could be saved, or do otherwise."""
        session = self.window.session
        start = session.path or os.path.join(self._folder(), "untitled.rle")
        if _is_ours(start):
            start = os.path.join(self._folder(), os.path.basename(start))
        if not self._is_to_be_written(start):
            start += ".rle"
        path = self.window.dialogs.save_file(start)
        if path is None:
            otherwise()
        else:
            self._write(os.path.abspath(path), then, otherwise)

    def _write(self, path: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        window, session = self.window, self.window.session
        name = os.path.basename(path)

        def saved(_: object) -> None:
            window.banner.note(f"Saved {name}")
            self.remember(path)
            window.refresh()
            then()

        def failed(error: Exception) -> None:
            window.report(error)
            otherwise()

        window.background.do(
            f"Saving {name}…", lambda: session.save(path), saved, failed, lasting=True
        )


def _is_pattern(path: str) -> bool:
    ends = tuple(end for ends in patterns.formats().values() for end in ends)
    return path.lower().removesuffix(".gz").endswith(ends)


def _is_ours(path: str) -> bool:
    """Tell whether a file is one of the patterns that come with this program."""
    ours = os.path.realpath(PatternLibrary.of_ours().folder)
    return os.path.realpath(path).startswith(ours + os.sep)
