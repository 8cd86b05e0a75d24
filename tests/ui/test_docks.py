"""The timeline, the plots and exports, offscreen."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PIL import Image
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFileDialog, QPushButton

from kernels.choose import pick
from lifesim import render
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import Box
from lifesim.rule import LIFE
from lifesim.soup import random_grid
from lifesim.topology import Topology
from ui.cells.edits import Stroke
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.film.export import CancelledError, Look, Progress
from ui.film.playback import Drawable, Playback
from ui.film.recording import Recording
from ui.model import View
from ui.picture.viewport import Viewport
from ui.qt import menus, theme
from ui.qt.film.export_dialogs import FilmDialog, FilmOf, Picture, PictureDialog, Shown
from ui.qt.film.exporting import Exporting
from ui.qt.film.plots_dock import PlotsDock
from ui.qt.film.timeline_dock import TimelineDock
from ui.qt.menus.share import ShareMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.window import Window

SIDE = 64
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def app() -> QApplication:
    made = QApplication.instance() or QApplication(["lifesim"])
    assert isinstance(made, QApplication)
    theme.apply(made, "dark")
    return made


@pytest.fixture(autouse=True)
def unforeseen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: found.append(error))
    yield
    assert not found


@pytest.fixture
def session() -> Iterator[MemorySession]:
    made = new_session()
    yield made
    made.close()


def new_session(seed: int = 3) -> MemorySession:
    return MemorySession(random_grid(SIDE, SIDE, 0.4, seed), backend=pick("auto", threads=1))


def until(condition: Callable[[], object], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to be so"
        QApplication.processEvents()
        time.sleep(0.001)


def settle(session: MemorySession) -> None:
    session.settle()
    QApplication.processEvents()


def generation_of(number: int, seed: int = 3) -> object:
    life = Life(random_grid(SIDE, SIDE, 0.4, seed), backend="reference")
    life.run(number)
    return life.grid()


# --- the timeline --------------------------------------------------------------


class Stage:
    """In the place of the window."""

    def __init__(self) -> None:
        self.played: list[Drawable | None] = []
        self.again = 0
        self.reported: list[Exception] = []

    def draw(self) -> None:
        self.again += 1


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def dock(app: QApplication, session: MemorySession, stage: Stage) -> Iterator[TimelineDock]:
    made = TimelineDock(stage.played.append, stage.draw, stage.reported.append)
    made.adopt(session)
    made.show()
    yield made
    made.close_recording()
    made.deleteLater()
    QApplication.processEvents()


def record_run(dock: TimelineDock, session: MemorySession, count: int = 10) -> Recording:
    assert dock.record_button.text() == "● &Record"
    QTest.mouseClick(dock.record_button, LEFT)
    assert dock.is_recording
    assert dock.record_button.text() == "■ Stop &recording"
    recording = dock.recording
    assert recording is not None
    for number in range(count):
        until(lambda number=number: len(recording) == number + 1)  # type: ignore[misc]
        session.step(1)
        settle(session)
    until(lambda: len(recording) == count + 1)
    until(lambda: dock.slider.maximum() == count)
    return recording


def test_record_and_scrub(dock: TimelineDock, session: MemorySession, stage: Stage) -> None:
    assert not dock.slider.isEnabled()
    assert dock.where.text() == "nothing recorded"
    recording = record_run(dock, session)
    assert dock.where.text() == "now"
    assert dock.slider.value() == 10
    assert "KiB" in dock.on_disk.text()
    assert "no time" not in dock.on_disk.text()
    assert dock._recorder is not None
    dock._recorder.left_out = 1234
    dock._show()
    assert dock.on_disk.text().endswith(", no time for 1,234 pictures")
    dock.slider.setFocus()
    QTest.keyClick(dock.slider, Qt.Key.Key_Home)
    assert dock.is_scrubbing
    [playback] = stage.played
    assert isinstance(playback, Playback)
    assert recording.source(playback.shot).grid == generation_of(0)
    assert dock.where.text() == "picture 1 of 11, gen 0"
    QTest.keyClick(dock.slider, Qt.Key.Key_Right)
    assert stage.again == 1
    assert playback.shot.generation == 1
    assert stage.played == [playback]
    dock.slider.setValue(7)
    assert playback.shot.generation == 7
    QTest.mouseClick(dock.now_button, LEFT)
    assert stage.played == [playback, None]
    assert not dock.is_scrubbing
    assert dock.slider.value() == 10
    assert session.status().generation == 10
    QTest.mouseClick(dock.record_button, LEFT)
    assert not dock.is_recording
    session.step(1)
    settle(session)
    assert len(recording) == 11
    assert not stage.reported


def test_looking_back_stops_the_run_and_going_on_ends_it(
    dock: TimelineDock, session: MemorySession, stage: Stage
) -> None:
    record_run(dock, session, 3)
    session.set_speed(1, 50.0)
    session.start()
    until(lambda: session.status().running and session.status().generation > 5)
    dock.slider.setValue(1)
    assert dock.is_scrubbing
    until(lambda: not session.status().running)
    QApplication.processEvents()
    assert dock.is_scrubbing
    session.step(1)
    until(lambda: not dock.is_scrubbing)
    assert stage.played[-1] is None


def test_going_on_from_a_picture(dock: TimelineDock, session: MemorySession, stage: Stage) -> None:
    record_run(dock, session)
    assert not dock.continue_button.isEnabled()
    dock.slider.setValue(4)
    QTest.mouseClick(dock.continue_button, LEFT)
    settle(session)
    assert session.status().generation == 4
    assert session.whole().cells == generation_of(4)
    assert not dock.is_scrubbing
    session.step(3)
    settle(session)
    assert session.whole().cells == generation_of(7)
    session.undo()
    session.undo()
    settle(session)
    assert session.status().generation == 10


def test_reset_and_going_to_a_generation(
    dock: TimelineDock, session: MemorySession, stage: Stage
) -> None:
    session.step(5)
    settle(session)
    QTest.keyClicks(dock.goal, "nowhere")
    assert not dock.go_button.isEnabled()
    assert dock.problem.text() == "a generation is a whole number"
    dock.goal.clear()
    assert dock.problem.text() == ""
    QTest.keyClicks(dock.goal, "1,2")
    QTest.mouseClick(dock.go_button, LEFT)
    settle(session)
    assert session.status().generation == 12
    dock.goal.setText("3")
    QTest.keyClick(dock.goal, Qt.Key.Key_Return)
    settle(session)
    assert session.status().generation == 3
    QTest.mouseClick(dock.reset_button, LEFT)
    settle(session)
    assert session.status().generation == 0
    assert not stage.reported


def test_an_unknown_generation_is_said_if_it_is_not_recorded(
    app: QApplication, stage: Stage, tmp_path: Path
) -> None:
    film = Recording(str(tmp_path))
    film.add(Whole(random_grid(9, 9, 0.5, 7), LIFE, Topology.TORUS, 3))
    film.close()
    late = MemorySession(random_grid(9, 9, 0.5, 1), generation=50)
    dock = TimelineDock(stage.played.append, stage.draw, stage.reported.append)
    dock.adopt(late)
    dock.goal.setText("3")
    dock._try(dock.go)
    assert "not known" in str(stage.reported[0])
    dock.use_folder(str(tmp_path))
    dock._try(dock.go)
    late.settle()
    assert late.status().generation == 3
    assert late.whole().cells == random_grid(9, 9, 0.5, 7)
    dock.goal.setText("4")
    dock._try(dock.go)
    late.settle()
    assert late.status().generation == 4
    assert len(stage.reported) == 1
    dock.goal.setText("2")
    dock._try(dock.go)
    assert len(stage.reported) == 2
    dock.close_recording()
    dock.deleteLater()
    late.close()


def test_every_so_many_generations(dock: TimelineDock, session: MemorySession) -> None:
    assert dock.every.text() == "every picture"
    dock.every.setValue(7)
    assert dock.every.text() == "every 7 generations"
    dock.record(True)
    recording = dock.recording
    assert recording is not None
    until(lambda: len(recording) == 1)
    session.set_speed(1, 1000.0)
    session.start()
    until(lambda: len(recording) > 5)
    session.stop()
    settle(session)
    dock.record(False)
    gaps = np.diff([shot.generation for shot in recording.shots])
    assert gaps[:-1].min() >= 7


def test_another_universe(dock: TimelineDock, session: MemorySession, stage: Stage) -> None:
    recording = record_run(dock, session, 3)
    dock.slider.setValue(0)
    other = new_session(4)
    dock.adopt(other)
    assert stage.played[-1] is None
    assert not dock.is_recording
    assert not recording.folder.exists()
    assert not dock.slider.isEnabled()
    session.step(1)
    settle(session)
    assert not stage.reported
    dock.close_recording()
    other.close()


def test_a_chosen_folder_stays_and_is_gone_on_with(
    dock: TimelineDock, session: MemorySession, tmp_path: Path, stage: Stage
) -> None:
    folder = str(tmp_path / "film")
    dock.use_folder(folder)
    first = record_run(dock, session, 4)
    assert str(first.folder) == folder
    dock.use_folder(folder)
    assert dock.recording is first
    dock.close_recording()
    dock.use_folder(folder)
    assert dock.slider.maximum() == 4
    dock.slider.setValue(2)
    assert dock.shown is not None
    assert dock.shown.generation == 2
    dock.leave()
    (tmp_path / "file").write_text("")
    with pytest.raises(LifesimError, match="cannot record"):
        dock.use_folder(str(tmp_path / "file"))
    assert len(dock.recording or ()) == 5


def test_a_recording_that_fails_is_told(
    dock: TimelineDock, session: MemorySession, tmp_path: Path, stage: Stage
) -> None:
    dock.use_folder(str(tmp_path))
    assert dock.recording is not None
    dock.recording.budget = 100
    dock.record(True)
    until(lambda: stage.reported)
    assert str(stage.reported[0]).startswith("the recording has stopped: a picture takes")
    assert not dock.is_recording
    assert not dock.record_button.isChecked()


def test_a_recording_whose_folder_is_gone_begins_anew(
    dock: TimelineDock, session: MemorySession, tmp_path: Path
) -> None:
    folder = tmp_path / "film"
    dock.use_folder(str(folder))
    dock.record(True)
    until(lambda: len(dock.recording or ()))
    dock.record(False)
    shutil.rmtree(folder)
    dock.record(True)
    assert dock.recording is not None
    assert dock.recording.is_temporary
    until(lambda: len(dock.recording or ()))
    assert dock.is_recording


def test_a_universe_on_disk_cannot_be_reset(
    dock: TimelineDock, session: MemorySession, tmp_path: Path
) -> None:
    assert dock.reset_button.isEnabled()
    path = str(tmp_path / "universe")
    session.save(path)
    with closing(DiskSession.open(path)) as other:
        dock.adopt(other)
        assert not dock.reset_button.isEnabled()


# --- the plots -----------------------------------------------------------------


def test_numbers_are_gathered_and_drawn_when_seen(
    app: QApplication, session: MemorySession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Exception] = []
    dock = PlotsDock(reported.append)
    dock.adopt(session)
    until(lambda: len(dock.series) == 1)
    for number in range(1, 6):
        session.step(1)
        settle(session)
        until(lambda number=number: len(dock.series) == number + 1)  # type: ignore[misc]
        until(lambda: session.status().population == session.whole().cells.population())
        QApplication.processEvents()
    assert not dock.plots
    pytest.importorskip("pyqtgraph")
    dock.show()
    assert set(dock.plots) == {"population", "density", "rate"}
    dock.draw()
    x, y = dock._curves["population"].getData()
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    populations = [generation_of(k).population() for k in range(6)]  # type: ignore[attr-defined]
    assert y.tolist() == populations
    assert dock._curves["density"].getData()[1].tolist() == [p / SIDE**2 for p in populations]
    assert dock.plots["density"].isVisible()
    assert not dock.plots["rate"].isVisible()
    dock.buttons["rate"].setChecked(True)
    assert dock.plots["rate"].isVisible()
    theme.apply(app, "light")
    dock.draw()
    assert dock.plots["rate"].backgroundBrush().color().name() == "#ffffff"
    theme.apply(app, "dark")
    path = tmp_path / "run.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    dock.save_button.click()
    assert path.read_text().startswith(f"generation,population,density,rate\n0,{populations[0]},")
    dock.save(str(tmp_path / "none" / "run.csv"))
    assert "cannot write" in str(reported[0])
    dock.adopt(session)
    assert len(dock.series) == 1
    dock.close()
    dock.deleteLater()
    QApplication.processEvents()


def test_without_pyqtgraph(
    app: QApplication, session: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyqtgraph", None)
    dock = PlotsDock(lambda error: None)
    dock.adopt(session)
    dock.show()
    assert dock.missing.isVisible()
    assert "pyqtgraph" in dock.missing.text()
    dock.draw()
    dock.close()
    dock.deleteLater()


# --- dialogs -------------------------------------------------------------------


def shown() -> Shown:
    view = View(Viewport(10, 5, 1, 20, 10), selection=Box(3, 4, 10, 7), palette="light")
    return Shown(200, 100, view)


def ok(dialog: PictureDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_what_a_picture_shows(app: QApplication, tmp_path: Path) -> None:
    dialog = PictureDialog(shown(), str(tmp_path / "a.png"))
    assert ok(dialog)
    assert dialog.value() == Picture(
        str(tmp_path / "a.png"), Look(Box(20, 10, 40, 20), 1, "light", False)
    )
    assert dialog.result_.text() == "20 × 10 pixels"
    dialog.region.setCurrentIndex(1)
    dialog.scale.setText("4:1")
    dialog.palette_.setCurrentIndex(2)
    dialog.any_cell.setCurrentIndex(1)
    assert dialog.result_.text() == "40 × 28 pixels"
    assert dialog.value().look == Look(Box(3, 4, 10, 7), -2, "viridis", True)
    dialog.region.setCurrentIndex(2)
    assert dialog.value().look.region == Box(0, 0, 200, 100)
    for text in ("", "3:5", "prose", "1000000:1"):
        dialog.scale.setText(text)
        assert not ok(dialog)
        assert dialog.problem.text()
        assert dialog.result_.text() == ""
    dialog.scale.setText("1:1")
    assert ok(dialog)
    for text in ("", str(tmp_path), "a.gif", str(tmp_path / "none" / "a.png")):
        dialog.path.setText(text)
        assert not ok(dialog)
    dialog.deleteLater()


def test_a_region_too_large_for_the_scale_gets_another(app: QApplication, tmp_path: Path) -> None:
    view = View(Viewport(0, 0, -4, 600, 400))
    dialog = PictureDialog(Shown(1 << 17, 1 << 17, view), str(tmp_path / "a.png"))
    dialog.region.setCurrentIndex(1)
    assert ok(dialog)
    assert dialog.scale.text() == "1:128"
    dialog.deleteLater()


def test_a_view_beside_the_universe_is_no_region(app: QApplication, tmp_path: Path) -> None:
    view = View(Viewport(-900, 0, 0, 100, 100))
    dialog = PictureDialog(Shown(200, 100, view), str(tmp_path / "a.png"))
    assert dialog.region.count() == 1
    dialog.deleteLater()


def test_a_file_is_replaced_only_if_one_agrees(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "a.png")
    Path(path).write_text("")
    dialog = PictureDialog(shown(), path)
    asked: list[str] = []
    answer = False

    def ask(which: str) -> bool:
        asked.append(which)
        return answer

    dialog.ask = ask
    dialog.accept()
    assert dialog.result() == 0
    answer = True
    dialog.accept()
    assert dialog.result() == 1
    assert asked == [path, path]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (path, ""))
    dialog.browse_button.click()
    dialog.accept()
    assert asked == [path, path]
    # The file dialog has asked about the name as typed, not about the one with an ending.
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (path[:-4], ""))
    dialog.browse_button.click()
    assert dialog.path.text() == path
    dialog.accept()
    assert asked == [path] * 3
    dialog.deleteLater()


def test_films(app: QApplication, tmp_path: Path) -> None:
    path = str(tmp_path / "a.gif")
    dialog = FilmDialog(shown(), path, 30)
    assert ok(dialog)
    assert dialog.result_.text() == "20 × 10 pixels, 201 pictures, 10.1 s"
    look = Look(Box(20, 10, 40, 20), 1, "light", False)
    assert dialog.value() == FilmOf(path, look, 20.0, 200, 1)
    for line, wrong, right in (
        (dialog.generations, "-1", "100"),
        (dialog.every, "0", "10"),
        (dialog.rate, "51", "12.5"),
        (dialog.rate, "fast", "12.5"),
        (dialog.rate, "nan", "12.5"),
    ):
        line.setText(wrong)
        assert not ok(dialog)
        line.setText(right)
        assert ok(dialog)
    assert dialog.value() == FilmOf(path, look, 12.5, 100, 10)
    dialog.generations.setText("100000000")
    assert "at most 1,000,000" in dialog.problem.text()
    dialog.recorded.setCurrentIndex(1)
    assert ok(dialog)
    assert not dialog.generations.isEnabled()
    dialog.first.setText("5")
    dialog.last.setText("4")
    assert dialog.problem.text() == "the last picture comes before the first"
    dialog.last.setText("31")
    assert not ok(dialog)
    dialog.last.setText("8")
    assert dialog.value() == FilmOf(path, look, 12.5, recorded=(4, 7))
    assert "4 pictures" in dialog.result_.text()
    dialog.scale.setText("8192:1")
    assert not ok(dialog)
    dialog.deleteLater()


def test_a_film_without_a_recording_or_without_ffmpeg(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    dialog = FilmDialog(shown(), str(tmp_path / "a.mp4"), 0)
    assert dialog.recorded.count() == 1
    assert not ok(dialog)
    assert "no ffmpeg program" in dialog.problem.text()
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    dialog.check()
    assert ok(dialog)
    dialog.rate.setText("60")
    assert ok(dialog)
    dialog.scale.setText("512:1")
    assert "at most 16,384" in dialog.problem.text()
    dialog.deleteLater()


# --- exports under way ---------------------------------------------------------


def test_an_export_ends_in_one_of_three_ways(app: QApplication) -> None:
    exporting = Exporting(None)
    ends: list[object] = []
    told = threading.Event()

    def good(progress: Progress) -> None:
        for step in range(100):
            progress(step / 100)

    def bad(progress: Progress) -> None:
        raise LifesimError("no")

    def endless(progress: Progress) -> None:
        while True:
            told.set()
            progress(0.5)
            time.sleep(0.001)

    for job in (good, bad):
        exporting.start("Making…", job, lambda: ends.append("done"), ends.append)
        assert exporting.is_busy
        until(lambda: not exporting.is_busy)
    assert ends[0] == "done"
    assert isinstance(ends[1], LifesimError)
    exporting.start("Making…", endless, lambda: ends.append("done"), ends.append)
    with pytest.raises(RuntimeError):
        exporting.start("Making…", good, lambda: None, lambda error: None)
    assert told.wait(10)
    assert exporting._dialog is not None
    QTest.mouseClick(exporting._dialog.findChildren(QPushButton)[0], LEFT)
    until(lambda: not exporting.is_busy)
    exporting.start("Making…", endless, lambda: ends.append("done"), ends.append)
    exporting.close()
    until(lambda: not exporting.is_busy)
    assert len(ends) == 2
    with pytest.raises(CancelledError):
        exporting._progress(0.1)


# --- in the window -------------------------------------------------------------


@pytest.fixture
def window(app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    known = [menu for menu in menus.MENUS if menu not in (ShareMenu, TimeMenu)]
    monkeypatch.setattr(menus, "MENUS", (*known[:-1], ShareMenu, TimeMenu, known[-1]))
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = Window(new_session(), pick("auto", threads=1), settings)
    made.resize(900, 640)
    made.show()
    until(lambda: made.canvas.frame is not None and made._aim is None)
    yield made
    made._leaving = True
    made.close()
    made.deleteLater()
    QApplication.processEvents()


def in_memory(window: Window) -> MemorySession:
    assert isinstance(window.session, MemorySession)
    return window.session


def test_the_window_looks_back(window: Window) -> None:
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
        settle(session)
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
    run("time.now")
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 6)
    run("time.back")
    run("time.back")
    run("time.continue")
    settle(session)
    assert session.status().generation == 5
    run("time.record")
    assert not timeline.is_recording
    run("time.timeline")
    assert timeline.isHidden()


def test_the_window_shows_plots(window: Window) -> None:
    pytest.importorskip("pyqtgraph")
    window.registry.run("time.plots")
    plots = window.menu_of(TimeMenu).plots
    assert plots.isVisible()
    assert window.registry.made("time.plots").isChecked()
    until(lambda: len(plots.series) > 0)
    window.registry.run("time.plots")
    assert plots.isHidden()


def test_the_window_uses_a_folder(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    settle(in_memory(window))
    assert (window.session.width, window.session.topology) == (20, Topology.PLANE)
    monkeypatch.setattr(menu, "ask_folder", lambda: "/proc/none")
    window.registry.run("time.folder")
    assert window.banner.is_error


def test_the_window_exports(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = window.menu_of(ShareMenu)
    look = Look(Box(0, 0, SIDE, SIDE), 0, "viridis")
    cells = in_memory(window).whole().cells
    pixels = render.palette_table("viridis")[render.density_levels(cells, None, 0)]
    png, gif = str(tmp_path / "a.png"), str(tmp_path / "a.gif")
    monkeypatch.setattr(share, "ask_picture", lambda shown, path: Picture(png, look))
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
    film = replace(film, path=str(tmp_path / "a.mp4"))
    window.registry.run("share.mp4")
    until(lambda: not share.exporting.is_busy)
    assert "no ffmpeg program" in window.banner.text
    monkeypatch.setattr(share, "ask_film", lambda shown, path, count: None)
    window.registry.run("share.gif")
    assert not share.exporting.is_busy


def test_the_window_exports_what_is_looked_at(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline, share = window.menu_of(TimeMenu).timeline, window.menu_of(ShareMenu)
    session = in_memory(window)
    recording = record_run(timeline, session, 5)
    timeline.scrub(2)
    png, gif = str(tmp_path / "a.png"), str(tmp_path / "a.gif")
    look = Look(Box(0, 0, SIDE, SIDE), 0, "dark")
    monkeypatch.setattr(share, "ask_picture", lambda shown, path: Picture(png, look))
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


def test_drawing_leaves_the_past(window: Window) -> None:
    timeline, session = window.menu_of(TimeMenu).timeline, in_memory(window)
    record_run(timeline, session, 3)
    timeline.scrub(0)
    alive = session.whole().cells[1, 1]
    session.edit(Stroke(((1, 1),), not alive))
    until(lambda: not timeline.is_scrubbing)
    until(lambda: window.canvas.frame and window.canvas.frame.generation == 3)
