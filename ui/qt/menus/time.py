"""Time: the timeline and what is recorded on it; the plots."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget

from ui.film.playback import Drawable
from ui.qt import file_dialogs, theme
from ui.qt.actions import Action
from ui.qt.film.plots_dock import PlotsDock
from ui.qt.film.timeline_dock import TimelineDock
from ui.qt.focus import focus_on
from ui.qt.icons import icon
from ui.qt.menus.base import Menu

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow


_WIDTH = 380  # pixels, of the plots when they are first shown


class TimeMenu(Menu):
    """Adds the timeline and the plots."""

    prefix, place = "time", "&Time"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.timeline = TimelineDock(self._play, window.look, window.report, window)
        self.plots = PlotsDock(window.report, window)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.timeline)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.plots)
        self.timeline.hide()
        self.plots.hide()
        self._shown: tuple[bool, str] | None = None  # of the button

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        window, timeline = self.window, self.timeline
        window.opened.connect(self._opened)
        timeline.changed.connect(self._changed)
        timeline.changed.connect(lambda: window.registry.refresh())
        window.changed.connect(self._changed)
        for dock in (timeline, self.plots):
            dock.visibilityChanged.connect(partial(self._seen, dock))
            dock.acted.connect(lambda: focus_on(window.canvas))
        act = self.act
        docks = [
            act(
                "timeline", "Time&line", lambda: self._toggle(timeline), "Ctrl+J", section=6,
                checked=lambda: not timeline.isHidden(), tip="Look back at what was recorded",
            ),
            act(
                "plots", "&Plots", lambda: self._toggle(self.plots), "Ctrl+Shift+J", section=6,
                checked=lambda: not self.plots.isHidden(),
                tip="Population and density against the generation",
            ),
        ]  # fmt: skip
        return [
            *(replace(action, menu="&View") for action in docks),
            act(
                "record", "&Record", self._record, "Ctrl+Shift+R", icon="record",
                enabled=lambda: timeline.can_record, checked=lambda: timeline.is_recording,
                tip="Record pictures of the run on disk",
            ),
            act(
                "folder", "Recording &folder…", self._choose_folder,
                tip="Record to a folder, or look at what was recorded there",
            ),
            act(
                "back", "Picture &before", lambda: self._by(-1), "Ctrl+,", section=1,
                enabled=self._has_pictures,
            ),
            act(
                "forth", "Picture &after", lambda: self._by(1), "Ctrl+.", section=1,
                enabled=lambda: timeline.is_scrubbing,
            ),
            act(
                "now", "Back to &now", timeline.leave, section=1,
                enabled=lambda: timeline.is_scrubbing,
            ),
            act(
                "continue", "&Go on from here", timeline.go_on, section=1,
                enabled=lambda: timeline.can_go_on,
                tip="Let the universe be as it is shown",
            ),
        ]  # fmt: skip

    def _changed(self) -> None:
        """Let the button say what it would do."""
        window, shown = self.window, (self.timeline.is_recording, self.window.theme)
        if shown != self._shown:
            self._shown = shown
            title, name = ("Stop &recording", "stop-record") if shown[0] else ("&Record", "record")
            shades = theme.colours(window.theme, window.view.palette)
            window.registry.retitle("time.record", title, icon(name, shades.icon, shades.faint))

    def close(self) -> None:
        """Close the recording."""
        self.timeline.close_recording()

    def _opened(self) -> None:
        self.timeline.adopt(self.window.session)
        self.plots.adopt(self.window.session)

    def _play(self, drawn: Drawable | None) -> None:
        self.window.worker.serve(drawn or self.window.session)
        self.window.look()

    def _seen(self, dock: QDockWidget, visible: bool) -> None:
        if dock.isHidden() and self.window.isVisible():
            self.window.canvas.setFocus()  # which may have been in the dock
        self.window.registry.refresh()

    def _toggle(self, dock: QDockWidget) -> None:
        if dock is self.plots and dock.isHidden():
            self.show_sized(dock, Qt.Orientation.Horizontal, _WIDTH)
            return
        dock.setVisible(dock.isHidden())
        if dock is self.timeline and dock.isHidden():
            self.timeline.leave()

    def _record(self) -> None:
        self.timeline.record(not self.timeline.is_recording)
        if self.timeline.is_recording:
            self.timeline.show()

    def _has_pictures(self) -> bool:
        recording = self.timeline.recording
        return recording is not None and len(recording) > 0

    def _by(self, steps: int) -> None:
        timeline = self.timeline
        timeline.show()
        if timeline.recording is None:
            return
        number = len(timeline.recording)
        if timeline.shown:
            number = timeline.recording.number_of(timeline.shown.serial)
        timeline.scrub(max(0, number + steps))

    def _choose_folder(self) -> None:
        folder = self.ask_folder()
        if folder:
            self.timeline.use_folder(folder)
            self.timeline.show()

    def ask_folder(self) -> str:
        """Ask for a folder; '' is: not after all."""
        return file_dialogs.open_folder(self.window, "A folder for the recording")
