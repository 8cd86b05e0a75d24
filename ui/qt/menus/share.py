"""File > Export: pictures and films."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMessageBox

from lifesim.grid import GridError, check_size
from ui.disk.session import DiskSession
from ui.disk.stills import next_whole
from ui.film import export
from ui.film.films import ExportError, Film, FilmClip, Progress, RunExport
from ui.film.recording import Recording
from ui.picture.coloured import in_colours, source_of
from ui.qt.actions import Action
from ui.qt.film.export_dialogs import FilmDialog, FilmOf, PictureChoice, PictureDialog, Shown
from ui.qt.film.exporting import Exporting
from ui.qt.menus.base import Menu
from ui.qt.menus.time import TimeMenu

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_UNDER = "&Export"
_COPIES = 3  # of all cells, that a film of a run takes


class ShareMenu(Menu):
    """Adds actions that make pictures and films."""

    prefix, place = "share", "&File"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self.exporting = Exporting(window)
        self._folder = ""

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        act = self.act
        return [
            act(
                "png", "&Picture (PNG)…", self.picture, "Ctrl+E", under=_UNDER, section=2,
                enabled=self._is_free, tip="Save the view, the selection or all as a picture",
            ),
            act(
                "gif", "&GIF of a run…", lambda: self.film(".gif"), under=_UNDER, section=2,
                enabled=self._is_free,
            ),
            act(
                "mp4", "&MP4 of a run…", lambda: self.film(".mp4"), "Ctrl+Shift+E", under=_UNDER,
                section=2, enabled=self._is_free, tip="Save a film, with the ffmpeg program",
            ),
        ]  # fmt: skip

    def may_leave(self) -> bool:
        """Tell whether no export is under way, or it may be given up."""
        return self._is_free() or self.ask_to_give_up()

    def close(self) -> None:
        """Give up an export."""
        self.exporting.close()

    def _is_free(self) -> bool:
        return not self.exporting.is_busy

    # --- asking, which a test may do in another way ----------------------------

    def ask_picture(self, shown: Shown, path: str) -> PictureChoice | None:
        """Ask for a picture; None is: not after all."""
        dialog = PictureDialog(shown, path, self.window)
        made = dialog.value() if dialog.is_agreed() else None
        return made if isinstance(made, PictureChoice) else None

    def ask_film(self, shown: Shown, path: str, count: int) -> FilmOf | None:
        """Ask for a film; None is: not after all."""
        dialog = FilmDialog(shown, path, count, self.window)
        return dialog.value() if dialog.is_agreed() else None

    def ask_to_give_up(self) -> bool:
        """Ask whether an export may be given up."""
        text = f"{self.exporting.title} Stop that, and close the window?"
        answer = QMessageBox.question(self.window, "Close the window?", text)
        return bool(answer == QMessageBox.StandardButton.Yes)

    def _shown(self, finest: int = 0) -> Shown:
        session = self.window.session
        x, y, width, height = session.box
        return Shown(width, height, self.window.view, finest, x, y, in_colours(session.rule))

    def _path(self, end: str) -> str:
        path = self.window.session.path
        name = os.path.basename(path).split(".")[0] if path else ""
        folder = self._folder or (os.path.dirname(path) if path else "") or os.getcwd()
        return os.path.join(folder, (name or "life") + end)

    # --- making ----------------------------------------------------------------

    def picture(self) -> None:
        """Ask for a picture, and make it."""
        session, timeline = self.window.session, self.window.menu_of(TimeMenu).timeline
        shot, recording = timeline.shown, timeline.recording
        asked = self.ask_picture(self._shown(shot.scale if shot else 0), self._path(".png"))
        if asked is None:
            return
        ages = self.window.worker.ages()

        def job(progress: Progress) -> None:
            if shot is not None and recording is not None:
                seen = recording.source(shot)
                export.save_png(asked.path, seen, asked.look, progress, ages)
            elif isinstance(session, DiskSession):
                # One of its own, as the window may go on to another universe.
                with closing(DiskSession.open(session.path)) as own:
                    export.save_png_of_source(asked.path, own.source, asked.look, progress, ages)
            elif session.is_endless:
                export.save_png_of_source(asked.path, session.source, asked.look, progress, ages)
            else:
                whole = session.whole()
                now = source_of(whole.cells, whole.rule, whole.generation, at=whole.at)
                export.save_png(asked.path, now, asked.look, progress, ages)

        self._start(asked.path, job, recording if shot else None)

    def film(self, end: str) -> None:
        """Ask for a film, and make it."""
        session = self.window.session
        recording = self.window.menu_of(TimeMenu).timeline.recording
        shots = [] if recording is None else recording.shots
        if not shots:
            try:
                check_size(session.width, session.height, _COPIES)
            except GridError as error:
                raise ExportError(f"record the run, and make a film of that: {error}") from None
        finest = max((shot.scale for shot in shots), default=0)
        asked = self.ask_film(self._shown(finest), self._path(end), len(shots))
        if asked is None:
            return
        backend = self.window.backend

        def film(progress: Progress) -> Film:
            if asked.recorded and recording is not None:
                return clip(recording, asked.recorded)
            if isinstance(session, DiskSession):
                whole = next_whole(session, lambda: progress(0.0))
            else:
                whole = session.whole()
            return RunExport(whole, asked.generations, asked.every, backend)

        def job(progress: Progress) -> None:
            save = export.save_gif if end == ".gif" else export.save_mp4
            save(asked.path, film(progress), asked.look, asked.rate, progress)

        self._start(asked.path, job, recording if asked.recorded else None)

    def _start(
        self, path: str, job: Callable[[Progress], None], recording: Recording | None
    ) -> None:
        """Begin an export. recording: what the job reads, if it reads one."""
        name, window = os.path.basename(path), self.window
        self._folder = os.path.dirname(path)

        def held(progress: Progress) -> None:
            try:
                job(progress)
            finally:
                if recording is not None:
                    recording.close()

        def done() -> None:
            window.banner.note(f"Saved {name}")
            window.registry.refresh()

        def failed(error: Exception) -> None:
            window.report(error)
            window.registry.refresh()

        if recording is not None:
            recording.hold()
        self.exporting.start(f"Making {name}…", held, done, failed)
        window.registry.refresh()


def clip(recording: Recording, ends: tuple[int, int]) -> FilmClip:
    """Return the film from one picture of a recording to another, of those that there are still."""
    return FilmClip(recording, recording.shots[ends[0] : ends[1] + 1])
