"""File > Export: pictures and films."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ui.film import export
from ui.film.export import Clip, Film, Progress, Run
from ui.film.recorder import Recordable
from ui.film.recording import Recording
from ui.qt.actions import Action
from ui.qt.film.export_dialogs import FilmDialog, FilmOf, Picture, PictureDialog, Shown
from ui.qt.film.exporting import Exporting
from ui.qt.menus.base import Menu
from ui.qt.menus.time import TimeMenu

if TYPE_CHECKING:
    from ui.qt.window import Window

_UNDER = "&Export"


class ShareMenu(Menu):
    prefix, place = "share", "&File"

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.exporting = Exporting(window)
        self._folder = ""

    def actions(self) -> list[Action]:
        act = self.act
        return [
            act(
                "png", "&Picture (PNG)…", self.picture, "Ctrl+E", under=_UNDER, section=2,
                enabled=self._is_free, tip="Save the view, the selection or all as a picture",
            ),
            act(
                "gif", "&GIF of a run…", lambda: self.film(".gif"), under=_UNDER, section=2,
                enabled=self._can_film,
            ),
            act(
                "mp4", "&MP4 of a run…", lambda: self.film(".mp4"), "Ctrl+Shift+E", under=_UNDER,
                section=2, enabled=self._can_film, tip="Save a film, with the ffmpeg program",
            ),
        ]  # fmt: skip

    def keep(self) -> None:
        self.exporting.close()

    def _is_free(self) -> bool:
        return not self.exporting.is_busy

    def _can_film(self) -> bool:
        return self._is_free() and isinstance(self.window.session, Recordable)

    # --- asking, which a test may do in another way ----------------------------

    def ask_picture(self, shown: Shown, path: str) -> Picture | None:
        dialog = PictureDialog(shown, path, self.window)
        made = dialog.value() if dialog.exec() else None
        return made if isinstance(made, Picture) else None

    def ask_film(self, shown: Shown, path: str, count: int) -> FilmOf | None:
        dialog = FilmDialog(shown, path, count, self.window)
        return dialog.value() if dialog.exec() else None

    def _shown(self) -> Shown:
        session = self.window.session
        return Shown(session.width, session.height, self.window.view)

    def _path(self, end: str) -> str:
        path = self.window.session.path
        name = os.path.basename(path).split(".")[0] if path else ""
        folder = self._folder or (os.path.dirname(path) if path else "") or os.getcwd()
        return os.path.join(folder, (name or "life") + end)

    # --- making ----------------------------------------------------------------

    def picture(self) -> None:
        session, timeline = self.window.session, self.window.menu_of(TimeMenu).timeline
        asked = self.ask_picture(self._shown(), self._path(".png"))
        if asked is None:
            return
        shot, film = timeline.shown, timeline.recording

        def job(progress: Progress) -> None:
            if shot is not None and film is not None:
                export.save_png(asked.path, film.whole(shot).cells, asked.look, progress)
            elif isinstance(session, Recordable):
                export.save_png(asked.path, session.whole().cells, asked.look, progress)
            else:
                export.save_png_of_source(asked.path, session.source, asked.look, progress)

        self._start(asked.path, job)

    def film(self, end: str) -> None:
        session = self.window.session
        recording = self.window.menu_of(TimeMenu).timeline.recording
        count = 0 if recording is None else len(recording)
        asked = self.ask_film(self._shown(), self._path(end), count)
        if asked is None or not isinstance(session, Recordable):
            return
        backend = self.window.backend

        def film() -> Film:
            if asked.recorded and recording is not None:
                return clip(recording, asked.recorded)
            return Run(session.whole(), asked.generations, asked.every, backend)

        def job(progress: Progress) -> None:
            save = export.save_gif if end == ".gif" else export.save_mp4
            save(asked.path, film(), asked.look, asked.rate, progress)

        self._start(asked.path, job)

    def _start(self, path: str, job: Callable[[Progress], None]) -> None:
        name, window = os.path.basename(path), self.window
        self._folder = os.path.dirname(path)

        def done() -> None:
            window.banner.note(f"Saved {name}")
            window.registry.refresh()

        def failed(error: Exception) -> None:
            window.report(error)
            window.registry.refresh()

        self.exporting.start(f"Making {name}…", job, done, failed)
        window.registry.refresh()


def clip(recording: Recording, ends: tuple[int, int]) -> Clip:
    """From one picture of a recording to another, of those that there are still."""
    return Clip(recording, recording.shots[ends[0] : ends[1] + 1])
