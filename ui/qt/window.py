"""The window: a session, the view of it, and what becomes of events. What can be done is said
by the modules of ui.qt.menus, each of which adds actions to the registry."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QSettings, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QVBoxLayout,
)

from kernels.targets.contract import Target
from lifesim.errors import LifesimError
from lifesim.grid import Box
from ui.model import CanvasView
from ui.picture.live import Aim
from ui.picture.viewport import FAR, FARTHEST, Viewport
from ui.qt import remembered, theme
from ui.qt.actions import Registry
from ui.qt.background import Background, Opening
from ui.qt.banner import Banner
from ui.qt.canvas import Canvas
from ui.qt.dialogs import Dialogs, UnsavedAnswer
from ui.qt.docks import DockButtons
from ui.qt.dropped import files_of, lead_files
from ui.qt.focus import lead_back
from ui.qt.icons import icon
from ui.qt.menus import Menu, all_menus
from ui.qt.menus.control import ControlMenu
from ui.qt.menus.edit import EditMenu
from ui.qt.menus.file import FileMenu
from ui.qt.menus.state import StateMenu
from ui.qt.overlays import Overlays
from ui.qt.pointer import Pointer
from ui.qt.remembered import SettingsMemory
from ui.qt.status import StatusLine
from ui.qt.toolbar import UniverseToolbar
from ui.qt.worker import FrameWorker, Landed
from ui.session import Event, Session

M = TypeVar("M", bound=Menu)


class LifeWindow(QMainWindow):
    """The window for universes.

    changed: something that menus show may be otherwise. opened: there is another session.
    """

    opened = Signal()
    changed = Signal()
    _told = Signal(object)

    def __init__(self, session: Session, backend: Target, settings: QSettings) -> None:
        super().__init__()
        self.settings, self.backend = settings, backend
        self.session = session
        self.setAcceptDrops(True)
        self.setWindowIcon(icon("lifesim", theme.colours("dark", "dark").ghost))
        self.banner = Banner()
        self.canvas = Canvas()
        over = QVBoxLayout(self.canvas)
        over.setContentsMargins(12, 12, 12, 12)
        self.banner_row = QHBoxLayout()
        self.banner_row.addWidget(self.banner)
        over.addLayout(self.banner_row)
        over.addStretch(1)
        self.setCentralWidget(self.canvas)
        self.status_line = StatusLine()
        self.setStatusBar(self.status_line)
        self.dialogs = Dialogs(self)
        self.worker = FrameWorker()
        self.background = Background()
        self.theme = "dark"
        self._serial = 0
        self._aim: Aim | None = None
        self._landed: Landed | None = None  # the picture that is seen
        self._leaving = self._closing = False
        self._edge: int | None = None  # that has been told of

        self.registry = Registry(self, self.canvas, self.report)
        self.menus = all_menus(self)
        for menu in self.menus:
            self.registry.add(*menu.actions())
        self.files = self.menu_of(FileMenu)
        self.edits = self.menu_of(EditMenu)
        self.registry.fill(self.menuBar())
        self.toolbar = UniverseToolbar(self.registry)
        self.toolbar.states.chosen.connect(self.menu_of(StateMenu).choose)
        self.toolbar.speed.chosen.connect(self.menu_of(ControlMenu).set_exponent)
        self.addToolBar(self.toolbar)
        for place in (
            self.toolbar, self.status_line, self.banner, *self.findChildren(QDockWidget)
        ):  # fmt: skip
            lead_back(place, self.canvas)
        lead_files(self)
        self._dock_buttons = DockButtons(self)

        queued = Qt.ConnectionType.QueuedConnection
        self.worker.landed.connect(self._land)
        self.worker.failed.connect(self.report, queued)
        self.background.busy.connect(self._show_busy)
        self.status_line.busy.cancelled.connect(self.files.cancel)
        self._told.connect(self._hear, queued)
        self.canvas.viewed.connect(self._view_moved)
        self._pointer = Pointer(self)
        self.overlays = Overlays(self)
        self._memory = SettingsMemory(settings, lambda: remembered.of_window(self))
        remembered.restore(self)
        self._memory.begin()
        self.canvas.setFocus()
        self.adopt(session)

    def menu_of(self, kind: type[M]) -> M:
        """Return the menu of a class."""
        return next(menu for menu in self.menus if isinstance(menu, kind))

    # --- the session -----------------------------------------------------------

    def adopt(self, session: Session, *, stay: bool = False) -> None:
        """Show another universe; the one before is closed, when it has been saved if it is
        being saved. stay: it has the same cells, so look where one looked."""
        self.worker.serve(None)
        if session is not self.session:
            old = self.session
            self.background.do("", old.close, lambda _: None, self.report, lasting=True)
        self.session = session
        self._landed = None
        self.canvas.show_frame(None)
        self.canvas.universe = session.space
        self.canvas.farthest = FARTHEST if session.is_endless else FAR
        self.canvas.show_view(replace(self.view, follow=False))
        self.edits.select(None)
        self._pointer.forget()
        session.listen(self._listen(session))
        self.worker.serve(session)
        self.opened.emit()
        if stay and self.view.viewport.scale <= self.canvas.farthest:
            self.aim(None)
        else:
            self.fit()
        self.refresh()

    def _listen(self, session: Session) -> Callable[[Event], None]:
        def listener(event: Event) -> None:
            # From any thread.
            if session is not self.session:
                return
            if event is Event.CELLS:
                self.worker.again()
            self._told.emit(event)

        return listener

    def _hear(self, event: Event) -> None:
        if event is Event.FAILED:
            self.banner.error(self.session.status().problem or "the run has failed")
        elif event is Event.FOUND and (found := self.session.status().found):
            self.banner.warn(str(found).capitalize())
        if event is not Event.CELLS:
            self.refresh()

    def _show_busy(self, what: str, can_cancel: bool) -> None:
        self.status_line.busy.show_busy(what, can_cancel)
        self.status_line.fit()
        self.registry.refresh()

    def refresh(self) -> None:
        """Show what the session says of itself."""
        session = self.session
        universe = session.space
        if universe != self.canvas.universe:
            self.canvas.universe = universe
            self.canvas.update()
            self.look()
        status = session.status()
        if status.edge != self._edge:
            self._edge = status.edge
            if status.edge:  # what was there from the start, as of a soup in a file, is plain
                self.banner.warn(
                    f"Cells met the edge at generation {status.edge:,}: from there on this is not "
                    f"what becomes of them on a plane without bounds."
                )
        self.status_line.show_status(session, status, self._landed)
        name = os.path.basename(session.path) if session.path else "untitled"
        self.setWindowTitle(f"{name}[*] — {session.rule} — lifesim")
        self.setWindowModified(status.modified)
        self.toolbar.show_universe(session)
        self.changed.emit()
        self.registry.refresh()

    # --- the view --------------------------------------------------------------

    @property
    def view(self) -> CanvasView:
        """Return what is seen, and how."""
        return self.canvas.view

    @property
    def shows_past(self) -> bool:
        """Tell whether the picture that is seen is of a recording."""
        return self._landed is not None and self._landed.is_recorded

    def set_view(self, view: CanvasView) -> None:
        """Show it so."""
        self.canvas.show_view(view)
        self.look()
        self.registry.refresh()

    def look(self) -> None:
        """Ask for a picture of what the view is now."""
        self._serial += 1
        self.worker.ask(self.view.request(self._serial), self._aim)
        self.status_line.show_scale(self.view)

    def aim(self, aim: Aim | None) -> None:
        """Let the view go to where cells live."""
        self._aim = aim
        self.look()

    def fit(self) -> None:
        """Show all live cells, as near as they fit."""
        self.aim(Aim(fit=True))

    def show_box(self, box: Box) -> None:
        """Show a box of cells as near as it fits."""
        viewport = Viewport.fitting(box, self.view.viewport.width, self.view.viewport.height)
        self._aim = None
        self.set_view(self.view.at(viewport))

    def _view_moved(self, by_hand: bool) -> None:
        if by_hand:
            self._aim = None
        self.look()
        self.registry.refresh()

    def _land(self) -> None:
        landed = self.worker.take()
        if landed is None:
            return
        self._landed = landed
        frame, view = landed.frame, self.view
        self.canvas.show_frame(frame)
        self.status_line.show_status(self.session, self.session.status(), landed)
        if frame.request.serial == self._serial:
            self._aim, moved = landed.aim, frame.request.viewport
            if moved != view.viewport:
                self.canvas.show_view(replace(view, viewport=moved))
                self.status_line.show_scale(self.view)
                if moved.scale != view.viewport.scale:
                    self.registry.refresh()
        self._pointer.look_again()

    # --- messages --------------------------------------------------------------

    def report(self, error: BaseException) -> None:
        """Say what went wrong. What nobody foresaw is also written to standard error."""
        text = " ".join(str(error).split())
        if isinstance(error, MemoryError):
            text = f"out of memory: {text}" if text else "out of memory"
        elif not isinstance(error, (LifesimError, OSError)):
            traceback.print_exception(error, file=sys.stderr)
            text = f"unexpected {type(error).__name__}: {text}"
        self.banner.error(text)

    # --- opening and leaving ---------------------------------------------------

    def open_with(self, title: str, make: Callable[[Opening], Session], shown: str = "") -> None:
        """Make a session off the main thread and show it, if changes may go. The one that is
        there stands still from now on."""

        def agreed() -> None:
            self.session.stop()
            asked = self.session.status().modified
            done = partial(landed, asked=asked)
            self.background.open(title, make, done, self.report, lambda made: made.close())

        def landed(made: Session, asked: bool) -> None:
            def go() -> None:
                self.banner.dismiss()
                self.adopt(made)
                if made.oddities:
                    name = os.path.basename(made.path or "") or "standard input"
                    self.banner.warn(f"{name}: {'; '.join(made.oddities)}")
                if shown:
                    self.files.remember(shown)

            # While it was read, more may have been changed.
            self.confirm(go, made.close) if not asked else go()

        self.confirm(agreed)

    def confirm(
        self, then: Callable[[], None], otherwise: Callable[[], None] = lambda: None
    ) -> None:
        """Go on when changes are saved, or may be lost."""
        if not self.session.status().modified:
            then()
            return
        name = os.path.basename(self.session.path) if self.session.path else "the universe"
        answer = self.dialogs.unsaved(name)
        if answer is UnsavedAnswer.SAVE:
            # What is changed while it is being saved is asked about again.
            self.files.save(lambda: self.confirm(then, otherwise), otherwise)
        elif answer is UnsavedAnswer.DISCARD:
            then()
        else:
            otherwise()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close when changes are saved, or may be lost."""
        if not self._leaving:
            self._closing = True
            if all(menu.may_leave() for menu in self.menus):
                self.confirm(self._leave)
            self._closing = False
        if not self._leaving:
            event.ignore()
            return
        self._memory.write()
        for menu in self.menus:
            menu.close()
        self.worker.serve(None)
        self.worker.close()
        self.background.close()
        self.session.close()
        event.accept()

    def _leave(self) -> None:
        self._leaving = True
        if not self._closing:
            self.close()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files."""
        files_of(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Accept files."""
        files_of(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first of the files."""
        paths = files_of(event)
        if paths:
            # The other program waits for the end of this.
            QTimer.singleShot(0, lambda: self.files.open_dropped(paths[0]))
        if len(paths) > 1:
            self.banner.note(f"One universe at a time: of {len(paths)} files the first is opened.")

    # --- looks -----------------------------------------------------------------

    def dress(self, name: str) -> None:
        """Take a theme for all of the application."""
        old, self.theme = self.theme, name
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, name)
        if self.view.palette == old:
            self.set_view(replace(self.view, palette=name))
        self.canvas.dress(name)
        shades = theme.colours(name, self.view.palette)
        for action in self.registry:
            if action.icon:
                made: QAction = self.registry.made(action.id)
                made.setIcon(icon(action.icon, shades.icon, shades.faint))
                made.setIconVisibleInMenu(False)
        self.toolbar.dress(shades)
        self._dock_buttons.dress(shades)
        self.changed.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Give the canvas the focus; begin to remember the geometry once it has been laid out."""
        super().showEvent(event)
        self.canvas.setFocus()
        if not event.spontaneous():
            # Once it has been laid out, it is as it was remembered.
            QTimer.singleShot(0, self, lambda: self._memory.begin("window/"))
