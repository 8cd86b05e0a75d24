"""Files, unsaved changes, what goes wrong, and what a window remembers."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.grid import BitGrid, Box
from tests.windows import (
    LEFT,
    NEW,
    answer,
    clip,
    close,
    control,
    endless,
    generation,
    glider_session,
    live,
    make_window,
    press_key,
    selected,
    settle,
    shifted,
    to_clipboard,
    until,
    write_glider,
)
from ui.cells.edits import Mode, Stroke
from ui.cells.session import MemorySession
from ui.model import ToolName
from ui.qt import file_dialogs
from ui.qt.background import Opening
from ui.qt.dialogs import Dialogs, UnsavedAnswer
from ui.qt.menus.script import ScriptMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.window import LifeWindow
from ui.session import Event


def test_a_file_that_is_no_pattern(window: LifeWindow, tmp_path: Path) -> None:
    path = tmp_path / "letter.rle"
    path.write_text("Dear all,\nthis is no pattern.\n")
    session = window.session
    window.files.open_path(str(path))
    until(lambda: window.banner.is_error)
    assert "letter.rle" in window.banner.text
    assert window.session is session
    assert live(window) == shifted()
    assert not window.files.recent
    window.files.open_path(str(tmp_path / "nowhere.rle"))
    until(lambda: "nowhere.rle" in window.banner.text)
    window.banner.dismiss_button.click()
    assert window.banner.text == ""


def test_a_pattern_without_bounds(window: LifeWindow, tmp_path: Path) -> None:
    """The view stays at the cells when the plane grows; what can be drawn on has no end."""
    path = write_glider(window)
    window.files.open_path(path)
    until(lambda: window.session.path == path)
    settle(window)
    until(lambda: window._aim is None)
    session = window.session
    assert isinstance(session, MemorySession)
    assert window.toolbar.rule_button.text().endswith("plane")
    assert window.toolbar.size_button.text() == "without bounds"
    box, seen = session.box, window.view.viewport
    session.edit(Stroke(((box.x - 3, 5),)))
    settle(window)
    assert session.box != box
    assert window.canvas.universe == session.limits
    assert window.view.viewport == seen
    before = session.cells(session.box).population()
    canvas = window.canvas
    window.show_box(Box(session.box.x - 9, 2, 16, 16))
    window.edits.take(ToolName.DRAW)
    QTest.mouseClick(canvas, LEFT, pos=QPoint(3, canvas.height() // 2))
    settle(window)
    assert session.cells(session.box).population() == before + 1
    window.registry.made("edit.undo").trigger()
    settle(window)
    assert session.cells(session.box).population() == before


def test_cells_that_meet_an_edge_are_told_of(window: LifeWindow, tmp_path: Path) -> None:
    path = tmp_path / "bounded.rle"
    path.write_text("x = 3, y = 3, rule = B3/S23:P30,30\nbo$2bo$3o!\n")
    window.files.open_path(str(path))
    until(lambda: window.session.path == str(path))
    settle(window)
    window.session.step(20)
    settle(window)
    assert window.banner.text == ""
    window.session.step(60)
    until(lambda: "met the edge at generation" in window.banner.text)
    window.banner.dismiss()
    window.session.step(9)
    settle(window)
    assert window.banner.text == ""


def test_what_is_odd_about_a_file_is_said(window: LifeWindow, tmp_path: Path) -> None:
    path = tmp_path / "odd.rle"
    path.write_text("x = 3, y = 3\nbo$2bo$3o\n")
    window.files.open_path(str(path))
    until(lambda: window.session.path == str(path))
    until(lambda: "odd.rle: no '!' ends the pattern" in window.banner.text)
    assert not window.banner.is_error


def test_files_that_can_be_read_are_offered(
    app: Any, window: LifeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def offer(parent: object, title: str, folder: str, filters: str) -> tuple[str, str]:
        asked.append(filters)
        return "", ""

    monkeypatch.setattr(file_dialogs, "open_file", lambda *about: offer(*about)[0])
    monkeypatch.setattr(file_dialogs, "save_file", offer)
    dialogs = Dialogs(window)
    dialogs.open_file("")
    dialogs.save_file("x.rle")
    for end in ("*.rle", "*.rle.gz", "*.mcl", "*.mcl.gz", "*.zip", "*.mc"):
        assert end in asked[0].replace(")", " ").replace("(", " ").split(), end
    assert "*.mcl" not in asked[1]
    assert "*.zip" not in asked[1]


def test_prose_on_the_clipboard(window: LifeWindow) -> None:
    for text in ("It was the best of times.", "", "x = 3, y = 3\n3o"):
        to_clipboard(text)(window)
        press_key(window, "Ctrl+V")
        assert window.banner.is_error, text
        assert window.canvas.ghost is None
        window.banner.dismiss()
    assert live(window) == shifted()


def test_files_are_dropped_on_the_window(window: LifeWindow) -> None:
    path = write_glider(window)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path)])
    event = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    window.dropEvent(event)
    until(lambda: window.session.path == path)
    assert window.files.recent == [path]
    assert "a glider.rle" in window.windowTitle()
    window.adopt(glider_session())
    window.registry.menu("&File > Open &recent").actions()[0].trigger()
    until(lambda: window.session.path == path)


def test_what_is_dragged_here_is_never_moved_here(window: LifeWindow) -> None:
    """Dropped files are copied: who offers to move a file removes it when it is taken so."""
    path = write_glider(window)
    offered = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    files, text = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile(path)])
    text.setText("bo$2bo$3o!")
    for data in (files, text):
        given = QPoint(50, 50), offered, data, LEFT, Qt.KeyboardModifier.NoModifier
        for event, handler in (
            (QDragEnterEvent(*given), window.dragEnterEvent),
            (QDragMoveEvent(*given), window.dragMoveEvent),
            (QDropEvent(QPointF(given[0]), *given[1:]), window.dropEvent),
        ):
            event.setDropAction(Qt.DropAction.MoveAction)
            event.ignore()
            handler(event)
            assert event.isAccepted() == (data is files)
            if data is files:
                assert event.dropAction() == Qt.DropAction.CopyAction
    until(lambda: window.session.path == path)


def test_fields_leave_files_to_the_window(window: LifeWindow) -> None:
    """A field would take the name of a file, as a move if that is offered."""
    path = write_glider(window)
    window.registry.run("script.console")
    entry = window.menu_of(ScriptMenu).console.entry
    files, text = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile(path)])
    text.setText("life")
    offered = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    for data in (text, files):
        for kind in (QDragEnterEvent, QDragMoveEvent, QDropEvent):
            at = QPointF(5, 5) if kind is QDropEvent else QPoint(5, 5)
            event = kind(at, offered, data, LEFT, Qt.KeyboardModifier.NoModifier)
            event.setDropAction(Qt.DropAction.MoveAction)
            QApplication.sendEvent(entry.viewport(), event)
            assert event.isAccepted()
            if data is files:
                assert event.dropAction() == Qt.DropAction.CopyAction
    until(lambda: window.session.path == path)
    assert entry.toPlainText() == "life"
    assert not [line for line in window.findChildren(QLineEdit) if line.acceptDrops()]


def test_of_several_files_the_first_is_opened(window: LifeWindow) -> None:
    path = write_glider(window)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path), QUrl.fromLocalFile(path + ".other")])
    event = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    window.dropEvent(event)
    assert "of 2 files the first" in window.banner.text
    until(lambda: window.session.path == path)


def draw_a_cell(window: LifeWindow) -> None:
    window.session.edit(Stroke(((5, 5),)))
    until(lambda: window.session.status().modified)


@pytest.mark.parametrize("way", ["open", "new", "close"])
def test_unsaved_changes_are_asked_about(window: LifeWindow, way: str, tmp_path: Path) -> None:
    def leave() -> None:
        if way == "close":
            window.close()
        elif way == "new":
            answer(new=NEW)(window)
            window.registry.run("file.new")
        else:
            window.files.open_path(write_glider(window))

    def gone() -> bool:
        return not window.isVisible() if way == "close" else window.session is not session

    session = window.session
    dialogs: Any = window.dialogs
    draw_a_cell(window)
    answer(unsaved=UnsavedAnswer.CANCEL)(window)
    leave()
    settle(window)
    assert not gone()
    assert [name for name, _ in dialogs.asked if name != "new"] == ["unsaved"]
    # A name that nothing can be written to: nothing is lost.
    answer(unsaved=UnsavedAnswer.SAVE, save_file=str(tmp_path / "no" / "folder.rle"))(window)
    leave()
    until(lambda: window.banner.is_error)
    assert not gone()
    path = tmp_path / "kept.rle"
    answer(save_file=str(path))(window)
    leave()
    until(gone)
    assert patterns.read(path).grid.population() == 6


def test_changes_may_go(window: LifeWindow) -> None:
    draw_a_cell(window)
    answer(unsaved=UnsavedAnswer.DISCARD)(window)
    window.close()
    assert not window.isVisible()


def test_saving_keeps_the_cells_and_marks_them_saved(window: LifeWindow, tmp_path: Path) -> None:
    draw_a_cell(window)
    window.refresh()
    assert window.isWindowModified()
    path = tmp_path / "drawn.rle"
    answer(save_file=str(path))(window)
    press_key(window, "Ctrl+S")
    until(lambda: not window.isWindowModified())
    assert patterns.read(path).grid.population() == 6
    assert window.windowTitle().startswith("drawn.rle")


def test_leaving_waits_for_what_is_being_saved_but_not_for_what_is_opened(
    app: QApplication, tmp_path: Path
) -> None:
    for lasting in (True, False):
        made = make_window(tmp_path)
        release, ended = threading.Event(), threading.Event()

        def job(release: threading.Event = release, ended: threading.Event = ended) -> None:
            release.wait(10)
            ended.set()

        landed: list[object] = []
        made.background.do("Working…", job, landed.append, landed.append, lasting=lasting)
        assert made.status_line.busy.label.text() == "Working…"
        if lasting:
            threading.Timer(0.1, release.set).start()
        close(made)
        assert ended.is_set() is lasting
        release.set()
        assert not landed


@pytest.mark.parametrize("way", ["key", "button", "menu", "another"])
def test_opening_is_cancelled(window: LifeWindow, way: str) -> None:
    session = window.session
    noticed = endless(window)
    busy = window.status_line.busy
    assert busy.label.text() == "Opening…"
    assert busy.button.isVisible()
    if way == "key":
        press_key(window, "Escape")
    elif way == "button":
        busy.button.click()
    elif way == "menu":
        window.registry.made("file.cancel").trigger()
    else:
        window.files.open_path(write_glider(window))
        until(lambda: window.session is not session)
    until(noticed.is_set)
    assert not window.background.is_busy or way == "another"
    settle(window)
    assert busy.isHidden()
    assert not window.registry.is_enabled("file.cancel")
    if way != "another":
        assert window.session is session
        assert window.banner.text == "Opening was cancelled."
    assert not window.banner.is_error


def test_what_is_there_stands_still_while_something_is_opened(window: LifeWindow) -> None:
    session = window.session
    window.registry.run("control.run")
    until(lambda: generation(window) > 2)
    noticed = endless(window)
    until(lambda: not session.status().running)
    window.registry.run("control.run")  # whoever wants it all the same
    until(lambda: session.status().running)
    window.files.cancel()
    until(noticed.is_set)
    assert window.session is session


def test_it_says_how_much_has_been_read(window: LifeWindow) -> None:
    steps = [threading.Event() for _ in range(3)]
    line = window.status_line.busy.label

    def make(opening: Opening) -> MemorySession:
        for step, share in zip(steps, (0.0, 0.37, 1.0), strict=True):
            opening.tell(share)
            step.wait(60)
        return glider_session()

    try:
        window.open_with("Opening it…", make)
        for step, percent in zip(steps, (0, 37, 100), strict=True):
            said = f"Opening it… {percent} % read"
            until(lambda said=said: line.text() == said)  # type: ignore[misc]
            step.set()
    finally:
        for step in steps:
            step.set()
    until(lambda: not window.background.is_opening)
    assert window.status_line.busy.isHidden()


@pytest.mark.parametrize("when", ["while it is read", "before it lands", "when the window closes"])
def test_what_is_opened_in_vain_is_closed(window: LifeWindow, when: str) -> None:
    """A session opened in vain is closed, though its maker never looks whether it is cancelled."""
    session, made = window.session, glider_session()
    release = threading.Event()

    def make(is_cancelled: object) -> MemorySession:
        release.wait(10)
        return made

    before = set(threading.enumerate())
    window.open_with("Opening…", make)
    [thread] = set(threading.enumerate()) - before
    if when == "before it lands":
        release.set()
        thread.join()
    if when == "when the window closes":
        window.close()
    else:
        window.registry.run("file.cancel")
    assert not window.background.is_opening
    release.set()
    until(lambda: made._commands.is_closed)
    assert window.session is session


def test_saving_does_not_wait_for_what_is_opened(window: LifeWindow, tmp_path: Path) -> None:
    draw_a_cell(window)
    answer(unsaved=UnsavedAnswer.DISCARD)(window)
    noticed = endless(window)
    path = tmp_path / "meanwhile.rle"
    answer(save_file=str(path))(window)
    window.registry.run("file.save-as")
    assert window.status_line.busy.label.text() == "Saving meanwhile.rle…  Opening…"
    until(lambda: not window.background.is_lasting)
    assert patterns.read(path).grid.population() == 6
    assert window.background.is_opening
    assert window.status_line.busy.label.text() == "Opening…"
    window.files.cancel()
    until(noticed.is_set)


def test_what_is_being_saved_is_closed_later(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, path = window.session, tmp_path / "slow.rle"
    save, release = session.save, threading.Event()

    def slow(where: str) -> None:
        release.wait(10)
        save(where)

    monkeypatch.setattr(session, "save", slow)
    answer(save_file=str(path))(window)
    window.registry.run("file.save-as")
    window.files.open_path(write_glider(window))
    until(lambda: window.session is not session)
    release.set()
    until(lambda: not window.background.is_busy)
    assert isinstance(session, MemorySession)
    assert session._commands.is_closed
    assert patterns.read(path).grid.population() == 5
    assert not window.banner.is_error


def test_a_universe_whose_files_vanish(window: LifeWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def source(request: Any) -> Any:
        calls.append(1)
        raise OSError(2, "No such file or directory", "tiles/0-0.h5")

    monkeypatch.setattr(window.session, "source", source)
    window.canvas.pan(10, 10)
    until(lambda: window.banner.is_error)
    assert "tiles/0-0.h5" in window.banner.text
    window.banner.dismiss()
    window.canvas.pan(10, 10)
    until(lambda: len(calls) > 1)
    QApplication.processEvents()
    assert window.banner.text == ""  # it is said once
    monkeypatch.undo()
    settle(window)


def test_a_fault_while_drawing_is_said_and_survived(
    window: LifeWindow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window.session, "source", lambda request: 1 // 0)
    window.canvas.pan(10, 10)
    until(lambda: window.banner.text.startswith("unexpected ZeroDivisionError"))
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.undo()
    settle(window)


def test_large_selections_are_copied_in_the_background(
    window: LifeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.qt.menus.edit._AT_ONCE", 4)
    selected(window)
    to_clipboard("")(window)
    window.registry.run("edit.cut")
    until(lambda: live(window) == set())
    assert "3o" in clip()
    monkeypatch.setattr("ui.qt.menus.edit._MOST_COPIED", 4)
    window.registry.run("edit.copy")
    assert "too many for a clipboard" in window.banner.text


def test_what_is_seen_to_live(window: LifeWindow) -> None:
    canvas = window.canvas
    canvas.pan(3, 5)
    settle(window)
    shown = canvas.view.viewport.box
    seen = {
        (x, y)
        for x in range(shown.x - 2, shown.x + shown.width + 2)
        for y in range(shown.y - 2, shown.y + shown.height + 2)
        if canvas.state_at(x, y)
    }
    assert seen == shifted()
    assert canvas.state_at(shown.x - 1, shown.y) is None
    assert canvas.state_at(shown.x, shown.y + shown.height) is None
    assert canvas.state_at(shown.x, shown.y) == 0
    canvas.zoom_to(1)
    settle(window)
    assert canvas.state_at(31, 28) is None


def test_a_run_that_fails_says_why(window: LifeWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = replace(window.session.status(), problem="the disk is full")
    monkeypatch.setattr(window.session, "status", lambda: failed)
    window._told.emit(Event.FAILED)
    until(lambda: window.banner.text == "the disk is full")


def test_an_unforeseen_error_is_shown(
    window: LifeWindow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window.session, "reset", lambda: 1 // 0)
    window.registry.run("control.reset")
    assert window.banner.text.startswith("unexpected ZeroDivisionError")
    assert "Traceback" in capsys.readouterr().err


def test_going_back_before_the_start(window: LifeWindow) -> None:
    window.adopt(MemorySession(BitGrid(8, 8), generation=50, backend=pick("auto", threads=1)))
    answer(generation=3)(window)
    press_key(window, "Ctrl+G")
    assert window.banner.is_error
    assert "generation 3" in window.banner.text


# --- what is kept ----------------------------------------------------------------


def test_what_is_remembered(app: QApplication, tmp_path: Path) -> None:
    first = make_window(tmp_path)
    for id in ("view.theme-light", "view.palette-viridis", "view.grid", "view.any-cell",
               "view.ages", "edit.select", "edit.mode-xor", "control.base-10",
               "control.rate-all"):  # fmt: skip
        first.registry.run(id)
    first.files.remember("/some/where.rle")
    first.resize(1010, 710)
    close(first)
    second = make_window(tmp_path)
    assert second.theme == "light"
    view = second.view  # ages are asked for anew, as cells are no longer what they were
    assert (view.palette, view.grid, view.any_cell, view.ages) == ("viridis", False, True, False)
    assert view.tool is ToolName.SELECT
    assert second.edits.mode is Mode.XOR
    assert control(second).speed.base == 10
    assert control(second).rate is None
    assert second.files.recent == ["/some/where.rle"]
    close(second)


def test_two_windows_keep_what_each_has_changed(app: QApplication, tmp_path: Path) -> None:
    """Windows keep each other's changes, with no more in common than the file of the settings, as
    of two processes."""
    first, second = make_window(tmp_path), make_window(tmp_path)
    for id in ("view.grid", "control.base-10", "time.plots"):
        first.registry.run(id)
    for id in ("view.theme-light", "view.palette-viridis", "edit.mode-xor"):
        second.registry.run(id)
    QApplication.processEvents()
    for window in (first, second):
        window.hide()
    for window in (first, second):
        close(window)
    third = make_window(tmp_path)
    assert (third.view.grid, third.theme, third.view.palette) == (False, "light", "viridis")
    assert control(third).speed.base == 10
    assert third.edits.mode is Mode.XOR
    assert third.menu_of(TimeMenu).plots.isVisible()
    close(third)


def test_two_windows_have_one_list_of_recent_files(app: QApplication, tmp_path: Path) -> None:
    first, second = make_window(tmp_path), make_window(tmp_path)
    first.files.remember("/one.rle")
    second.files.remember("/two.rle")
    first.files.remember("/three.rle")
    both = ["/three.rle", "/two.rle", "/one.rle"]
    assert first.files.recent == both
    menu = second.registry.menu("&File > Open &recent")
    menu.aboutToShow.emit()
    assert [action.toolTip() for action in menu.actions()][:3] == both
    close(first)
    close(second)
    third = make_window(tmp_path)
    assert third.files.recent == both
    fourth = make_window(tmp_path)
    fourth.files.forget()
    third.files.remember("/four.rle")
    assert third.files.recent == ["/four.rle"]
    close(third)
    close(fourth)
    assert [path.name for path in tmp_path.iterdir()] == ["settings.ini"]


def test_settings_that_make_no_sense(app: QApplication, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    for key in ("view/theme", "view/palette", "view/tool", "edit/mode", "speed/base",
                "speed/rate", "window/geometry", "view/grid", "recent"):  # fmt: skip
        settings.setValue(key, "nonsense")
    settings.sync()
    made = make_window(tmp_path)
    assert made.view.palette in ("dark", "light")
    close(made)


def test_changes_during_the_last_save_are_asked_about(
    window: LifeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [UnsavedAnswer.SAVE, UnsavedAnswer.CANCEL, UnsavedAnswer.DISCARD]
    asked: list[str] = []

    def unsaved(name: str) -> UnsavedAnswer:
        asked.append(name)
        return answers[len(asked) - 1]

    monkeypatch.setattr(window.dialogs, "unsaved", unsaved)
    # Saved, but changed again: the session is as modified as it was.
    monkeypatch.setattr(window.files, "save", lambda then, otherwise: then())
    draw_a_cell(window)
    assert not window.close()
    assert len(asked) == 2
    assert window.close()
    assert len(asked) == 3
