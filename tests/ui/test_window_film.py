"""Looking back, plots and exports, in the window."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PIL import Image
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QMessageBox

from lifesim import render
from lifesim.engine import Life
from lifesim.grid import Box, GridError
from lifesim.rule import LIFE
from lifesim.soup import random_grid
from lifesim.topology import Topology
from tests.disk_sessions import make, soup
from tests.windows import SIDE, record_run, rest, soup_session, until
from ui.cells.edits import Stroke
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.disk import stills
from ui.disk.session import DiskSession
from ui.film.export import ExportLook
from ui.film.recording import RecordedShot, Recording, Seen
from ui.picture.age_colours import age_table
from ui.qt import theme
from ui.qt.dialogs import UnsavedAnswer
from ui.qt.film.export_dialogs import FilmOf, PictureChoice, Shown
from ui.qt.menus.share import ShareMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.window import LifeWindow


def in_memory(window: LifeWindow) -> MemorySession:
    assert isinstance(window.session, MemorySession)
    return window.session


def test_the_window_looks_back(window: LifeWindow) -> None:
    run, timeline = window.registry.run, window.menu_of(TimeMenu).timeline
    assert timeline.isHidden()
    run("time.record")
    assert timeline.isVisible()
    session = in_memory(window)
    recording = timeline.recording
    assert recording is not None
    for number in range(6):
        until(lambda number=number: len(recording) == number + 1)  # type: ignore[misc]
        session.step(1)
        rest(session)
    until(lambda: len(recording) == 7)
    assert not window.registry.is_enabled("time.now")
    run("time.back")
    run("time.back")
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 5)
    run("time.forth")
    run("time.back")
    run("time.back")
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 4)
    assert session.status().generation == 6
    past, amber = window.overlays.past, QColor(theme.PAST)
    assert (past.isVisible(), past.text()) == (True, "Past, generation 4")
    assert window.canvas.grab().toImage().pixelColor(1, 200) == amber
    run("time.now")
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 6)
    assert not past.isVisible()
    assert window.canvas.grab().toImage().pixelColor(1, 200) != amber
    run("time.back")
    run("time.back")
    run("time.continue")
    rest(session)
    assert session.status().generation == 5
    run("time.record")
    assert not timeline.is_recording
    run("time.timeline")
    assert timeline.isHidden()


def test_ages_have_a_legend(window: LifeWindow) -> None:
    legend, session = window.overlays.legend, in_memory(window)
    session.step(3)
    rest(session)
    window.registry.run("view.ages")
    until(lambda: legend.isVisible())
    assert legend.since.text() == "Age in generations, counted since 3"
    session.step(5)
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 8)
    assert legend.since.text() == "Age in generations, counted since 3"
    table = age_table(window.view.palette)
    seen = {tuple(colour) for colour in table[np.unique(window.canvas.frame.pixels)].tolist()}
    image = legend.grab().toImage()
    bar = legend.bar
    ends = (
        image.pixelColor(bar.left() + 1, bar.top() + 4),
        image.pixelColor(bar.right() - 1, bar.top() + 4),
    )
    assert ends[0].blue() > ends[0].red() + 100
    assert ends[1].red() > ends[1].blue() + 100
    assert len(seen) > 2  # the dead, the newborn, and others
    window.canvas.zoom(-8)
    until(lambda: not legend.isVisible())
    window.canvas.zoom(8)
    until(lambda: legend.isVisible())
    window.registry.run("view.ages")
    until(lambda: not legend.isVisible())


def test_the_window_shows_plots(window: LifeWindow) -> None:
    pytest.importorskip("pyqtgraph")
    window.registry.run("time.plots")
    plots = window.menu_of(TimeMenu).plots
    assert plots.isVisible()
    assert window.registry.made("time.plots").isChecked()
    until(lambda: len(plots.series) > 0)
    window.registry.run("time.plots")
    assert plots.isHidden()


def test_the_window_uses_a_folder(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = Recording(str(tmp_path / "film"))
    film.add(Whole(random_grid(20, 20, 0.5, 1), LIFE, Topology.PLANE, 77))
    film.close()
    menu = window.menu_of(TimeMenu)
    monkeypatch.setattr(menu, "ask_folder", lambda: str(tmp_path / "film"))
    window.registry.run("time.folder")
    window.registry.run("time.back")
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 77)
    window.registry.run("time.continue")
    rest(in_memory(window))
    assert (window.session.width, window.session.topology) == (20, Topology.PLANE)
    monkeypatch.setattr(menu, "ask_folder", lambda: "/proc/none")
    window.registry.run("time.folder")
    assert window.banner.is_error


def test_the_window_exports(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = window.menu_of(ShareMenu)
    look = ExportLook(Box(0, 0, SIDE, SIDE), 0, "viridis")
    cells = in_memory(window).whole().cells
    pixels = render.palette_table("viridis")[render.density_levels(cells, None, 0)]
    png, gif = str(tmp_path / "a.png"), str(tmp_path / "a.gif")
    monkeypatch.setattr(share, "ask_picture", lambda shown, path: PictureChoice(png, look))
    window.registry.run("share.png")
    until(lambda: not share.exporting.is_busy)
    assert window.banner.text == "Saved a.png"
    with Image.open(png) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), pixels)
    film = FilmOf(gif, look, 10.0, 6, 2)
    monkeypatch.setattr(share, "ask_film", lambda shown, path, count: film)
    window.registry.run("share.gif")
    assert not window.registry.is_enabled("share.png")
    until(lambda: not share.exporting.is_busy)
    with Image.open(gif) as image:
        assert image.n_frames == 4  # type: ignore[attr-defined]
    assert window.session.status().generation == 0
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    film = replace(film, path=str(tmp_path / "a.mp4"))
    window.registry.run("share.mp4")
    until(lambda: not share.exporting.is_busy)
    assert "an MP4 needs the ffmpeg program" in window.banner.text
    monkeypatch.setattr(share, "ask_film", lambda shown, path, count: None)
    window.registry.run("share.gif")
    assert not share.exporting.is_busy


def test_the_window_exports_what_is_looked_at(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline, share = window.menu_of(TimeMenu).timeline, window.menu_of(ShareMenu)
    session = in_memory(window)
    recording = record_run(timeline, session, 5)
    timeline.scrub(2)
    png, gif = str(tmp_path / "a.png"), str(tmp_path / "a.gif")
    look = ExportLook(Box(0, 0, SIDE, SIDE), 0, "dark")
    monkeypatch.setattr(share, "ask_picture", lambda shown, path: PictureChoice(png, look))
    window.registry.run("share.png")
    until(lambda: not share.exporting.is_busy)
    cells = recording.whole(recording.shot(2)).cells
    with Image.open(png) as image:
        assert np.array_equal(np.asarray(image), render.density_levels(cells, None, 0))
    asked: list[int] = []

    def ask(shown: Shown, path: str, count: int) -> FilmOf:
        asked.append(count)
        return FilmOf(gif, look, 10.0, recorded=(1, 3))

    monkeypatch.setattr(share, "ask_film", ask)
    window.registry.run("share.gif")
    until(lambda: not share.exporting.is_busy)
    assert asked == [6]
    with Image.open(gif) as image:
        assert image.n_frames == 3  # type: ignore[attr-defined]
    assert timeline.is_scrubbing


def test_drawing_leaves_the_past(window: LifeWindow) -> None:
    timeline, session = window.menu_of(TimeMenu).timeline, in_memory(window)
    record_run(timeline, session, 3)
    timeline.scrub(0)
    alive = session.whole().cells[1, 1]
    session.edit(Stroke(((1, 1),), not alive))
    until(lambda: not timeline.is_scrubbing)
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 3)


class SlowReading:
    """Exports whose pictures wait for a gate, but for the first one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate, self.begun = threading.Event(), threading.Event()
        real = Recording.source

        def source(recording: Recording, shot: RecordedShot) -> Seen:
            if shot.serial:
                self.begun.set()
                self.gate.wait(20)
            return real(recording, shot)

        monkeypatch.setattr(Recording, "source", source)


def begin_film(window: LifeWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """Begin a film of a recording of 6 pictures, and return the recording."""
    recording = record_run(window.menu_of(TimeMenu).timeline, in_memory(window), 5)
    look = ExportLook(Box(0, 0, SIDE, SIDE), 0, "dark")
    film = FilmOf(str(path), look, 10.0, recorded=(0, 5))
    monkeypatch.setattr(window.menu_of(ShareMenu), "ask_film", lambda *_: film)
    window.registry.run("share.gif")
    return recording


def test_another_universe_lets_a_film_be_finished(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowReading(monkeypatch)
    recording = begin_film(window, tmp_path / "a.gif", monkeypatch)
    assert slow.begun.wait(20)
    other = soup_session()
    window.adopt(other)
    assert window.menu_of(TimeMenu).timeline.recording is None
    assert recording.folder.exists()
    slow.gate.set()
    until(lambda: not window.menu_of(ShareMenu).exporting.is_busy)
    assert window.banner.text == "Saved a.gif"
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 6  # type: ignore[attr-defined]
    assert not recording.folder.exists()


def test_closing_asks_about_a_film_and_leaves_no_part_of_it(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, share = SlowReading(monkeypatch), window.menu_of(ShareMenu)
    answers: list[QMessageBox.StandardButton] = []
    asked: list[str] = []

    def question(parent: object, title: str, text: str) -> QMessageBox.StandardButton:
        asked.append(text)
        return answers.pop()

    monkeypatch.setattr(QMessageBox, "question", question)
    folder = tmp_path / "films"
    folder.mkdir()
    recording = begin_film(window, folder / "a.gif", monkeypatch)
    assert slow.begun.wait(20)
    answers.append(QMessageBox.StandardButton.No)
    window.dialogs.answers["unsaved"] = UnsavedAnswer.DISCARD  # type: ignore[attr-defined]
    assert not window.close()
    assert window.isVisible()
    assert share.exporting.is_busy
    assert asked == ["Making a.gif… Stop that, and close the window?"]
    threading.Timer(0.2, slow.gate.set).start()
    answers.append(QMessageBox.StandardButton.Yes)
    assert window.close()
    assert not list(folder.iterdir())
    assert not recording.folder.exists()


def test_a_run_on_disk_is_recorded_and_filmed(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stills, "_EXACT", 0)
    monkeypatch.setattr(stills, "_FAR", 16)
    grid = soup(256, 192)
    session = DiskSession.open(make(tmp_path / "u", grid), backend="reference")
    window.adopt(session)
    timeline, share = window.menu_of(TimeMenu).timeline, window.menu_of(ShareMenu)
    window.registry.run("time.record")
    recording = timeline.recording
    assert recording is not None
    until(lambda: len(recording) == 1)
    session.step(4)
    until(lambda: len(recording) > 1 and recording.shots[-1].generation == 4)
    timeline.scrub(len(recording))
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 4)
    life = Life(grid, backend="reference")
    life.run(4)
    levels = render.density_levels(life.grid(), None, 4)
    png, gif = tmp_path / "a.png", tmp_path / "a.gif"
    look = ExportLook(Box(0, 0, 256, 192), 4, "dark")
    asked: list[Shown] = []

    def ask_picture(shown: Shown, path: str) -> PictureChoice:
        asked.append(shown)
        return PictureChoice(str(png), look)

    monkeypatch.setattr(share, "ask_picture", ask_picture)
    window.registry.run("share.png")
    until(lambda: not share.exporting.is_busy)
    assert asked[0].finest == 4
    with Image.open(png) as image:
        drawn = render.palette_table("dark")[levels]
        assert np.array_equal(np.asarray(image.convert("RGB")), drawn)
    film = FilmOf(str(gif), look, 10.0, recorded=(0, len(recording) - 1))
    monkeypatch.setattr(share, "ask_film", lambda *_: film)
    window.registry.run("share.gif")
    until(lambda: not share.exporting.is_busy)
    with Image.open(gif) as image:
        assert image.n_frames == len(recording)  # type: ignore[attr-defined]
        assert image.size == (16, 12)
    monkeypatch.setattr(share, "ask_film", lambda *_: replace(film, look=replace(look, scale=3)))
    window.registry.run("share.gif")
    until(lambda: not share.exporting.is_busy)
    assert "recorded at 1:16" in window.banner.text
    # What is there now, all of it, in a film of its own run.
    run = FilmOf(str(gif), replace(look, scale=0), 10.0, 2, 1)
    monkeypatch.setattr(share, "ask_film", lambda *_: run)
    until(lambda: not session.status().running)
    window.registry.run("share.gif")
    until(lambda: not share.exporting.is_busy)
    with Image.open(gif) as image:
        assert image.n_frames == 3  # type: ignore[attr-defined]
    timeline.leave()
    monkeypatch.setattr(
        share, "ask_picture", lambda *_: PictureChoice(str(png), replace(look, scale=0))
    )
    window.registry.run("share.png")
    until(lambda: not share.exporting.is_busy)
    with Image.open(png) as image:
        drawn = render.palette_table("dark")[render.density_levels(life.grid(), None, 0)]
        assert np.array_equal(np.asarray(image.convert("RGB")), drawn)


def test_what_memory_does_not_hold_is_filmed_from_a_recording(
    window: LifeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(width: int, height: int, copies: int) -> None:
        raise GridError("there is no memory")

    monkeypatch.setattr("ui.qt.menus.share.check_size", full)
    window.registry.run("share.gif")
    assert "record" in window.banner.text
