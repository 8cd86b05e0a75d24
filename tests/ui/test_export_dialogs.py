"""What is asked before pictures and films are made, and how exports end."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton

from lifesim.errors import LifesimError
from lifesim.grid import Box
from tests.windows import LEFT, until
from ui.film.export import ExportCancelledError, ExportLook
from ui.film.films import Progress
from ui.model import CanvasView
from ui.picture.viewport import Viewport
from ui.qt import file_dialogs
from ui.qt.film.export_dialogs import FilmDialog, FilmOf, PictureChoice, PictureDialog, Shown
from ui.qt.film.exporting import Exporting

pytestmark = pytest.mark.usefixtures("unforeseen")


def shown() -> Shown:
    view = CanvasView(Viewport(10, 5, 1, 20, 10), selection=Box(3, 4, 10, 7), palette="light")
    return Shown(200, 100, view)


def ok(dialog: PictureDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_what_a_picture_shows(app: QApplication, tmp_path: Path) -> None:
    dialog = PictureDialog(shown(), str(tmp_path / "a.png"))
    assert ok(dialog)
    assert dialog.value() == PictureChoice(
        str(tmp_path / "a.png"), ExportLook(Box(20, 10, 40, 20), 1, "light", False)
    )
    assert dialog.result_.text() == "20 × 10 pixels"
    dialog.region.setCurrentIndex(1)
    dialog.scale.setText("4:1")
    dialog.palette_.setCurrentIndex(2)
    dialog.shade.setCurrentIndex(1)
    assert dialog.result_.text() == "40 × 28 pixels"
    assert dialog.value().look == ExportLook(Box(3, 4, 10, 7), -2, "viridis", True)
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


def test_the_return_key_means_ok(app: QApplication, tmp_path: Path) -> None:
    dialog = FilmDialog(shown(), str(tmp_path / "a.gif"), 5)
    dialog.show()
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog, 5000)
    assert app.focusWidget() is dialog.region
    assert [button for button in dialog.findChildren(QPushButton) if button.isDefault()] == [
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    ]
    dialog.path.setFocus()
    QTest.keyClick(dialog.path, Qt.Key.Key_Tab)
    assert dialog.browse_button.hasFocus()
    QTest.keyClick(dialog.browse_button, Qt.Key.Key_Tab)
    assert dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).hasFocus()
    dialog.rate.setFocus()
    QTest.keyClick(dialog.rate, Qt.Key.Key_Return)
    assert dialog.result() == FilmDialog.DialogCode.Accepted


def test_a_region_too_large_for_the_scale_gets_another(app: QApplication, tmp_path: Path) -> None:
    view = CanvasView(Viewport(0, 0, -4, 600, 400))
    dialog = PictureDialog(Shown(1 << 17, 1 << 17, view), str(tmp_path / "a.png"))
    dialog.region.setCurrentIndex(1)
    assert ok(dialog)
    assert dialog.scale.text() == "1:128"
    dialog.deleteLater()


def test_a_view_beside_the_universe_is_no_region(app: QApplication, tmp_path: Path) -> None:
    view = CanvasView(Viewport(-900, 0, 0, 100, 100))
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
    monkeypatch.setattr(file_dialogs, "save_file", lambda *_: (path, ""))
    dialog.browse_button.click()
    dialog.accept()
    assert asked == [path, path]
    # The file dialog has asked about the name as typed, not about the one with an ending.
    monkeypatch.setattr(file_dialogs, "save_file", lambda *_: (path[:-4], ""))
    dialog.browse_button.click()
    assert dialog.path.text() == path
    dialog.accept()
    assert asked == [path] * 3
    dialog.deleteLater()


def test_films(app: QApplication, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "a.gif")
    dialog = FilmDialog(shown(), path, 30)
    assert "setTabOrder" not in capfd.readouterr().err  # of a widget that is not in the dialog
    assert ok(dialog)
    assert dialog.result_.text() == "20 × 10 pixels, 201 pictures, 10.1 s"
    look = ExportLook(Box(20, 10, 40, 20), 1, "light", False)
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


def test_what_was_recorded_from_afar(app: QApplication, tmp_path: Path) -> None:
    view = CanvasView(Viewport(0, 0, 0, 600, 400))
    universe = Shown(1 << 17, 1 << 17, view, finest=5)
    picture = PictureDialog(universe, str(tmp_path / "a.png"))
    assert ok(picture)
    assert picture.scale.text() == "1:32"
    picture.scale.setText("1:16")
    assert picture.problem.text() == "recorded at 1:32: choose that scale or a coarser one"
    assert not ok(picture)
    picture.region.setCurrentIndex(1)  # which chooses a scale
    assert ok(picture)
    film = FilmDialog(universe, str(tmp_path / "a.gif"), 30)
    assert film.value().recorded == (0, 29)
    assert film.scale.text() == "1:32"
    film.recorded.setCurrentIndex(0)
    film.scale.setText("1:1")
    assert ok(film)
    film.recorded.setCurrentIndex(1)
    assert ok(film)
    assert film.scale.text() == "1:32"
    for dialog in (picture, film):
        dialog.deleteLater()


def test_a_film_without_a_recording_or_without_ffmpeg(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    dialog = FilmDialog(shown(), str(tmp_path / "a.mp4"), 0)
    assert dialog.recorded.count() == 1
    assert not ok(dialog)
    assert "an MP4 needs the ffmpeg program" in dialog.problem.text()
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
    with pytest.raises(ExportCancelledError):
        exporting._progress(0.1)
