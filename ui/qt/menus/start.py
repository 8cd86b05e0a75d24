"""The start page, and the library of patterns beside a universe."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDockWidget, QStackedWidget

from lifesim.engines import cells_for
from lifesim.grid import BitGrid
from lifesim.library import PatternEntry
from lifesim.library.library import rule_name
from ui import opening
from ui.qt import theme
from ui.qt.actions import Action
from ui.qt.focus import focus_on
from ui.qt.menus.base import Menu
from ui.qt.remembered import change_strings, strings
from ui.qt.start.browser import PatternBrowser
from ui.qt.start.page import StartPage
from ui.qt.start.thumbs import Thumbs
from ui.session import Session

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_FOLDERS = "library/folders"
_MOST_FOLDERS = 8


class StartMenu(Menu):
    """Shows the start page while no universe is open, and patterns in a dock while one is."""

    prefix, place = "library", "&View"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.thumbs = Thumbs()
        self.page: StartPage | None = None
        self._nothing: Session | None = None  # the empty universe that is there while none is open
        self._hidden: list[QDockWidget] = []  # docks that are shown again with a universe
        self.dock = QDockWidget("Patterns", window)
        self.dock.setObjectName("patterns")
        self.browser = PatternBrowser(self.thumbs)
        self.browser.setContentsMargins(8, 6, 8, 6)
        self.dock.setWidget(self.browser)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.dock)
        self.dock.hide()

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        window, act = self.window, self.act
        window.opened.connect(self._opened)
        window.changed.connect(self._changed)
        self.browser.opened.connect(self.open)
        self.browser.inserted.connect(self.insert)
        self.browser.folder.connect(self.browse)
        self.browser.current.connect(self._offer)
        return [
            act(
                "dock", "&Patterns", self._toggle, "Ctrl+B", section=6, at_start=True,
                checked=lambda: not self.dock.isHidden(), tip="Browse and insert patterns",
            ),
            act(
                "folder", "Browse a fol&der of patterns…", self.browse, "Ctrl+Shift+B", section=6,
                at_start=True, tip="Look at the pattern files of any folder",
            ),
            act(
                "insert", "Insert the &chosen pattern", self._insert_chosen, "Ctrl+I", section=6,
                enabled=lambda: self._can_insert() and self.browser.entry() is not None,
                tip="Take the pattern chosen in the dock, and put it down by a click",
            ),
        ]  # fmt: skip

    def may_leave(self) -> bool:
        """Show the docks, so that it is remembered that they are."""
        self._show_docks()
        return True

    def close(self) -> None:
        """Draw and look for nothing more."""
        self.thumbs.close()
        self.browser.close_finder()
        if self.page is not None:
            self.page.browser.close_finder()

    # --- the start page --------------------------------------------------------

    @property
    def is_shown(self) -> bool:
        """Tell whether the start page is shown: no universe is open."""
        return self._nothing is not None

    def show_page(self) -> None:
        """Close the universe, whose changes may be lost, and show the start page."""
        self.window.banner.dismiss()  # it was about what is closed
        nothing = opening.new(backend=self.window.backend)
        self._nothing = nothing
        self.window.adopt(nothing)

    def begin(self) -> None:
        """Take the empty universe that the window began with for none, and show the page."""
        self._nothing = self.window.session
        self._opened()
        self.window.refresh()

    def begin_unless_opened(self) -> None:
        """Show the page if what is being opened now cannot be, or is cancelled."""
        window, first = self.window, self.window.session

        def look() -> None:
            if self.is_shown or window.background.is_opening:
                return
            if window.session is first:
                window.background.busy.disconnect(told)
                self.begin()

        def told(_: str, can_cancel: bool) -> None:
            if window.session is not first:
                window.background.busy.disconnect(told)
            elif not can_cancel:
                QTimer.singleShot(0, window, look)  # what has been opened is shown by then

        window.background.busy.connect(told)

    def _opened(self) -> None:
        """Show the page, or the universe that is open now."""
        window = self.window
        if window.session is not self._nothing:
            self._nothing = None
        shown = self.is_shown
        if self.page is None and not shown:
            return
        page = self.page or self._make_page()
        stack = page.parentWidget()
        assert isinstance(stack, QStackedWidget)
        window.registry.is_bare = shown
        window.status_line.show_bare(shown)
        if shown:
            docks = window.findChildren(QDockWidget)
            self._hidden = self._hidden or [dock for dock in docks if not dock.isHidden()]
            for dock in self._hidden:
                dock.hide()
            page.hold(window.banner)
            stack.setCurrentWidget(page)
            self.show_recent()
            self._show_folders()
            page.first().setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            window.banner_row.addWidget(window.banner)
            stack.setCurrentWidget(window.canvas)
            window.canvas.setFocusProxy(None)  # type: ignore[arg-type]
            window.canvas.setFocus()
            self._show_docks()

    def _show_docks(self) -> None:
        hidden, self._hidden = self._hidden, []
        for dock in hidden:
            dock.show()

    def _make_page(self) -> StartPage:
        """Make the page, in one place with the canvas."""
        window = self.window
        page = self.page = StartPage(window.registry, self.thumbs)
        stack = QStackedWidget()
        window.takeCentralWidget()
        window.setCentralWidget(stack)
        stack.addWidget(window.canvas)
        stack.addWidget(page)
        page.opened.connect(window.files.open_path)
        page.removed.connect(window.files.forget_path)
        page.browser.opened.connect(self.open)
        page.browser.folder.connect(self.browse)
        self._dragging = _Dragging(window, page)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), page)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(lambda: window.registry.run("file.cancel"))
        self._changed()
        return page

    def show_recent(self) -> None:
        """Show the recent files of now."""
        if self.page is not None and self.is_shown:
            recent = self.window.files.recent
            self.thumbs.doubt(recent)
            self.page.show_recent(recent)
            self.window.canvas.setFocusProxy(self.page.first())

    def _changed(self) -> None:
        """Show what else is open, and take the colours of the theme."""
        window = self.window
        shades = theme.colours(window.theme, window.view.palette)
        self.browser.dress(window.theme)
        if self.page is not None:
            self.page.dress(window.theme, shades)
        if self.is_shown:
            window.setWindowTitle("lifesim[*]")
            window.toolbar.show_universe(None)
        self._offer()

    # --- patterns --------------------------------------------------------------

    def _browsers(self) -> list[PatternBrowser]:
        return [self.browser, *([self.page.browser] if self.page is not None else [])]

    def _toggle(self) -> None:
        """Show or hide the dock; on the start page, which has the patterns, go to its search."""
        if self.page is not None and self.is_shown:
            self.page.browser.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        self.dock.setVisible(self.dock.isHidden())
        if self.dock.isVisible():
            self._show_folders()
            self.browser.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            focus_on(self.window.canvas)

    def browse(self) -> None:
        """Ask for a folder, and show the patterns in it."""
        window = self.window
        kept = strings(window.settings, _FOLDERS)
        path = window.dialogs.pattern_folder(kept[0] if kept else os.getcwd())
        if path is not None:
            self.show_folder(path)

    def show_folder(self, path: str) -> None:
        """Show the patterns in a folder."""
        window, path = self.window, os.path.abspath(path)
        browser = self.browser
        if self.page is not None and self.is_shown:
            browser = self.page.browser
        else:
            self.dock.show()
        browser.browse(path)

        def with_it(known: list[str]) -> list[str]:
            return [path, *(other for other in known if other != path)][:_MOST_FOLDERS]

        change_strings(window.settings, _FOLDERS, with_it)
        self._show_folders()
        browser.line.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_folders(self) -> None:
        folders = strings(self.window.settings, _FOLDERS)[:_MOST_FOLDERS]
        for browser in self._browsers():
            browser.show_sources(folders)

    def open(self, entry: PatternEntry) -> None:
        """Open a pattern in place of what is open."""
        self.window.files.open_path(entry.path)

    def _can_insert(self) -> bool:
        """Tell whether cells can be put into the universe that is open."""
        return self.window.registry.is_enabled("edit.paste")

    def _offer(self) -> None:
        self.browser.show_insert(not self.is_shown, self._can_insert())
        self.window.registry.refresh()

    def _insert_chosen(self) -> None:
        entry = self.browser.entry()
        if entry is not None:
            self.insert(entry)

    def insert(self, entry: PatternEntry) -> None:
        """Let a pattern follow the pointer until it is put down."""
        rule, library = self.window.session.rule, self.browser.library

        def read() -> BitGrid:
            return cells_for(rule, library.read(entry).grid)

        self.window.edits.bring(f"Reading {entry.title}…", read)
        theirs = rule_name(entry.rule) or entry.rule
        if theirs != rule.name:
            self.window.banner.note(f"{entry.title} is of the rule {theirs}; this one is {rule}.")


class _Dragging(QObject):
    """Lets the page show that what is dragged over the window may be dropped."""

    def __init__(self, window: LifeWindow, page: StartPage) -> None:
        super().__init__(page)
        self._page = page
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look on; the window does what is to be done."""
        kinds = QEvent.Type
        if isinstance(event, QDragEnterEvent):
            self._page.show_target(event.mimeData().hasUrls())
        elif event.type() in (kinds.DragLeave, kinds.Drop):
            self._page.show_target(False)
        return super().eventFilter(watched, event)
