"""Ctrl-C while a window is open."""

from __future__ import annotations

import os
import signal

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from tests.windows import answer, settle, until
from ui.cells.edits import Stroke
from ui.cells.session import MemorySession
from ui.qt.app import signals
from ui.qt.dialogs import Answer
from ui.qt.window import Window


def test_a_window_that_was_to_stay_is_asked_again(window: Window) -> None:
    assert isinstance(window.session, MemorySession)
    window.session.edit(Stroke(((1, 1),), True, 1))
    settle(window)
    answer(unsaved=Answer.CANCEL)(window)
    asked = window.dialogs.asked  # type: ignore[attr-defined]
    with signals(window) as arrived:
        for times in (1, 2):  # were the first one remembered, the second would end the process
            os.kill(os.getpid(), signal.SIGINT)
            until(lambda times=times: len(asked) == times)  # type: ignore[misc]
            until(lambda: not arrived)
            assert window.isVisible()
        answer(unsaved=Answer.DISCARD)(window)
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: not window.isVisible())
        assert arrived
