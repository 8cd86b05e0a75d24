"""File: new, open, recent files, save, leave."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from lifesim import patterns
from ui import opening
from ui.cells.session import MemorySession
from ui.qt.actions import Action
from ui.qt.background import IsCancelled
from ui.qt.menus.base import Menu
from ui.session import Session

if TYPE_CHECKING:
    from ui.qt.window import Window

_MOST_RECENT = 12


class FileMenu(Menu):
    prefix, place = "file", "&File"

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        kept = window.settings.value("recent")
        paths = [kept] if isinstance(kept, str) else kept if isinstance(kept, list) else []
        self.recent = [str(path) for path in paths][:_MOST_RECENT]

    def actions(self) -> list[Action]:
        window = self.window
        act = self.act

        window.opened.connect(self._show_recent)
        return [
            act("new", "&New…", self.new, "Ctrl+N"),
            act("open", "&Open…", self.open, "Ctrl+O", icon="open", tip="Open a pattern"),
            act("directory", "Open a &universe directory…", self.open_directory, "Ctrl+Shift+O"),
            act(
                "forget", "&Clear this list", self.forget, under="Open &recent",
                enabled=lambda: bool(self.recent), tip="Forget the recent files",
            ),
            act("cancel", "Cance&l opening", self.cancel, tip="So does Escape",
                enabled=lambda: window.background.is_opening),
            act("save", "&Save", self.save, "Ctrl+S", section=1, icon="save"),
            act("save-as", "Save &as…", self.save_as, "Ctrl+Shift+S", section=1),
            act("quit", "&Quit", self.quit, "Ctrl+Q", section=9),
        ]  # fmt: skip

    def keep(self) -> None:
        self.window.settings.setValue("recent", self.recent)

    def quit(self) -> None:
        self.window.close()

    # --- new and open ----------------------------------------------------------

    def new(self) -> None:
        window, session = self.window, self.window.session
        size = session.width, session.height
        asked = window.dialogs.new(size, session.rule, session.topology)
        if asked is None:
            return

        def make(is_cancelled: IsCancelled) -> Session:
            rest = asked.rule, asked.topology
            if asked.density is None:
                return opening.new(*asked.size, *rest, backend=window.backend)
            size, soup = asked.size, (asked.density, asked.seed)
            return opening.random(*size, *soup, *rest, backend=window.backend)

        window.open_with("Making a universe…", make)

    def open(self) -> None:
        path = self.window.dialogs.open_file(self._folder())
        if path is not None:
            self.open_path(path)

    def open_directory(self) -> None:
        path = self.window.dialogs.open_directory(self._folder())
        if path is not None:
            self.open_path(path)

    def open_path(self, path: str) -> None:
        path = os.path.abspath(path)
        name, backend = os.path.basename(path), self.window.backend

        def make(is_cancelled: IsCancelled) -> Session:
            return opening.open(path, backend=backend, is_cancelled=is_cancelled)

        self.window.open_with(f"Opening {name}…", make, path)

    def cancel(self) -> None:
        """Stay with what is open."""
        self.window.background.cancel()
        self.window.banner.note("Opening was cancelled.")

    def _folder(self) -> str:
        path = self.window.session.path or (self.recent[0] if self.recent else "")
        return os.path.dirname(path) or os.getcwd()

    # --- recent ----------------------------------------------------------------

    def remember(self, path: str) -> None:
        self.recent = [path, *(known for known in self.recent if known != path)][:_MOST_RECENT]
        self._show_recent()

    def forget(self) -> None:
        self.recent = []
        self._show_recent()

    def _show_recent(self) -> None:
        menu = self.window.registry.menu("&File > Open &recent")
        forget = self.window.registry.made("file.forget")
        menu.clear()
        for number, path in enumerate(self.recent, 1):
            shown = _short(path).replace("&", "&&")
            action = QAction(f"&{number} {shown}" if number < 10 else shown, menu)
            action.setToolTip(path)
            action.triggered.connect(lambda _=False, path=path: self.open_path(path))
            menu.addAction(action)
        if self.recent:
            menu.addSeparator()
        menu.addAction(forget)
        self.window.registry.refresh()

    # --- save ------------------------------------------------------------------

    def save(
        self,
        then: Callable[[], None] = lambda: None,
        otherwise: Callable[[], None] = lambda: None,
    ) -> None:
        """Then go on, if it could be saved."""
        path = self.window.session.path
        if path is None or not self._is_to_be_written(path):
            self.save_as(then, otherwise)
        else:
            self._write(path, then, otherwise)

    def _is_to_be_written(self, path: str) -> bool:
        """Whether what is in memory may be saved there: a directory that it once became, and a
        file whose name tells no format, stay as they are."""
        return not isinstance(self.window.session, MemorySession) or _is_pattern(path)

    def save_as(
        self,
        then: Callable[[], None] = lambda: None,
        otherwise: Callable[[], None] = lambda: None,
    ) -> None:
        session = self.window.session
        start = session.path or os.path.join(self._folder(), "untitled.rle")
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


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    short = "~" + path[len(home) :] if path.startswith(home + os.sep) else path
    return short if len(short) <= 60 else "…" + short[-59:]
