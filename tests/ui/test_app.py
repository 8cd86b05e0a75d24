"""Ctrl-C and errors nobody foresaw while windows are open."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from tests.windows import answer, close, make_window, settle, until
from ui.cells.edits import Stroke
from ui.cells.session import MemorySession
from ui.qt import app as qt_app
from ui.qt.app import signals
from ui.qt.dialogs import UnsavedAnswer
from ui.qt.parsing.window import ParseWindow, open_parse_window
from ui.qt.window import LifeWindow


def test_a_window_that_was_to_stay_is_asked_again(window: LifeWindow) -> None:
    assert isinstance(window.session, MemorySession)
    window.session.edit(Stroke(((1, 1),), True, 1))
    settle(window)
    answer(unsaved=UnsavedAnswer.CANCEL)(window)
    asked = window.dialogs.asked  # type: ignore[attr-defined]
    with signals() as arrived:
        for times in (1, 2):  # were the first one remembered, the second would end the process
            os.kill(os.getpid(), signal.SIGINT)
            until(lambda times=times: len(asked) == times)  # type: ignore[misc]
            until(lambda: not arrived)
            assert window.isVisible()
        answer(unsaved=UnsavedAnswer.DISCARD)(window)
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: not window.isVisible())
        assert arrived


@pytest.fixture
def both(app: QApplication, tmp_path: Path) -> Iterator[tuple[LifeWindow, ParseWindow]]:
    window = make_window(tmp_path)
    parsing = open_parse_window(window)
    assert isinstance(parsing, ParseWindow)
    yield window, parsing
    close(window)
    until(lambda: not qt_app.windows())


def test_all_windows_are_closed(both: tuple[LifeWindow, ParseWindow]) -> None:
    assert set(qt_app.windows()) == set(both)
    with signals() as arrived:
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: not qt_app.windows())
        assert arrived


@pytest.mark.parametrize("other", [0, 1])
def test_one_of_two_windows_was_to_stay(both: tuple[LifeWindow, ParseWindow], other: int) -> None:
    window, parsing = both
    stays = (parsing, window)[other]
    if stays is window:
        assert isinstance(window.session, MemorySession)
        window.session.edit(Stroke(((1, 1),), True, 1))
        settle(window)
        answer(unsaved=UnsavedAnswer.CANCEL)(window)
    else:
        parsing.files.dialogs = window.dialogs  # type: ignore[assignment]
        parsing.editor.setPlainText("S -> 'a'")
        parsing.editor.document().setModified(True)
    with signals() as arrived:
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: qt_app.windows() == [stays])
        until(lambda: not arrived)
    if stays is parsing:
        parsing.editor.document().setModified(False)


def test_an_error_is_said_in_its_window(
    both: tuple[LifeWindow, ParseWindow],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    window, parsing = both
    monkeypatch.setattr(sys, "excepthook", qt_app.report)
    # Slots of either window, in which something of no window fails.
    monkeypatch.setattr(parsing.registry, "refresh", lambda: 1 // 0)
    QTimer.singleShot(0, lambda: parsing._land_look(parsing._watcher.serial, None))
    until(lambda: "ZeroDivisionError" in parsing.banner.text)
    assert window.banner.text == ""
    parsing.banner.dismiss()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "excepthook", qt_app.report)
    monkeypatch.setattr(window.worker, "ask", lambda *_: 1 // 0)
    QTimer.singleShot(0, window.look)
    until(lambda: "ZeroDivisionError" in window.banner.text)
    assert parsing.banner.text == ""
    assert "Traceback" in capsys.readouterr().err


def test_an_error_without_a_window_is_printed(
    app: QApplication, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        1 // 0  # noqa: B018
    except ZeroDivisionError as error:
        qt_app.report(type(error), error, error.__traceback__)
    assert capsys.readouterr().err.endswith(
        "ZeroDivisionError: integer division or modulo by zero\n"
    )
