"""The timeline: what it records, and looking back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kernels.targets.choose import pick
from lifesim.errors import LifesimError
from lifesim.rule import LIFE
from lifesim.soup import random_grid
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from lifesim.topology import Topology
from tests.disk_sessions import make, sessions, soup
from tests.windows import LEFT, record_run, rest, soup_after, soup_session, until
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.disk import stills
from ui.disk.session import DiskSession
from ui.film.playback import Drawable, Playback
from ui.film.recording import Recording
from ui.film.stills import Afar
from ui.qt.film.timeline_dock import TimelineDock

pytestmark = pytest.mark.usefixtures("unforeseen")


class Stage:
    """Takes the place of the window."""

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
    assert recording.source(playback.shot).grid == soup_after(0)
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
    rest(session)
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
    rest(session)
    assert session.status().generation == 4
    assert session.whole().cells == soup_after(4)
    assert not dock.is_scrubbing
    session.step(3)
    rest(session)
    assert session.whole().cells == soup_after(7)
    session.undo()
    session.undo()
    rest(session)
    assert session.status().generation == 10


def test_reset_and_going_to_a_generation(
    dock: TimelineDock, session: MemorySession, stage: Stage
) -> None:
    session.step(5)
    rest(session)
    QTest.keyClicks(dock.goal, "nowhere")
    assert not dock.go_button.isEnabled()
    assert dock.problem.text() == "write it as 1000, 1e6 or 2^40"
    dock.goal.clear()
    assert dock.problem.text() == ""
    QTest.keyClicks(dock.goal, "1,2")
    QTest.mouseClick(dock.go_button, LEFT)
    rest(session)
    assert session.status().generation == 12
    dock.goal.setText("3")
    QTest.keyClick(dock.goal, Qt.Key.Key_Return)
    rest(session)
    assert session.status().generation == 3
    QTest.mouseClick(dock.reset_button, LEFT)
    rest(session)
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
    rest(session)
    dock.record(False)
    gaps = np.diff([shot.generation for shot in recording.shots])
    assert gaps[:-1].min() >= 7


def test_another_universe(dock: TimelineDock, session: MemorySession, stage: Stage) -> None:
    recording = record_run(dock, session, 3)
    dock.slider.setValue(0)
    other = soup_session(4)
    dock.adopt(other)
    assert stage.played[-1] is None
    assert not dock.is_recording
    assert not recording.folder.exists()
    assert not dock.slider.isEnabled()
    session.step(1)
    rest(session)
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


def test_a_run_on_disk_goes_on_while_one_looks_back(
    dock: TimelineDock, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stills, "_EXACT", 0)
    monkeypatch.setattr(stills, "_FAR", 16)
    with sessions() as opened:
        session = opened(make(tmp_path / "u", soup(256, 192)))
        dock.adopt(session)
        assert dock.can_record
        dock.record(True)
        session.start()
        assert dock.recording is not None
        until(lambda: len(dock.recording or ()) > 3)
        dock.slider.setValue(0)
        QApplication.processEvents()
        assert dock.where.text().endswith(", gen 0, recorded at 1:16")
        assert not dock.continue_button.isEnabled()
        then = session.status().generation
        until(lambda: session.status().generation > then + 3)
        assert dock.is_scrubbing
        assert session.status().running
        session.stop()
        until(lambda: not session.status().running)
        with Universe.open(session.path, writing=True) as universe:  # somebody else
            StreamedLife(universe, [pick("reference")]).run(1)
            until(lambda: session.status().generation == universe.generation)
        QApplication.processEvents()
        assert dock.is_scrubbing
        dock.leave()
        dock.goal.setText(str(dock.recording.shot(1).generation))
        dock.go()  # there is no other way
        assert dock.shown == dock.recording.shot(1)
        session.step(1)
        until(lambda: not dock.is_scrubbing)
        dock.close_recording()
    assert not stage.reported


def test_what_is_recorded_from_afar_is_not_gone_on_from(dock: TimelineDock, tmp_path: Path) -> None:
    film = Recording(str(tmp_path))
    film.add(Afar(np.ones((2, 3), np.uint8), 4, 40, 30, LIFE, Topology.TORUS, 77))
    film.close()
    dock.use_folder(str(tmp_path))
    dock.slider.setValue(0)
    dock.scrub(0)
    assert dock.is_scrubbing
    assert not dock.can_go_on
    dock.leave()
    late = MemorySession(random_grid(9, 9, 0.5, 1), generation=100)
    dock._session = late
    dock.goal.setText("77")
    dock.go()
    assert dock.where.text() == "picture 1 of 1, gen 77, recorded at 1:16"
    late.settle()
    assert late.status().generation == 100
    late.close()


def test_a_universe_on_disk_cannot_be_reset(
    dock: TimelineDock, session: MemorySession, tmp_path: Path
) -> None:
    assert dock.reset_button.isEnabled()
    path = str(tmp_path / "universe")
    session.save(path)
    with closing(DiskSession.open(path)) as other:
        dock.adopt(other)
        assert not dock.reset_button.isEnabled()
