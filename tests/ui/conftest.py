"""Windows for tests: without a screen, and only where Qt is installed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(scope="module", autouse=True)
def _windows(windows_are_garbage: None) -> None:
    """Any test here may open some."""


@pytest.fixture(scope="session")
def app() -> Any:
    """The QApplication."""
    from PySide6.QtWidgets import QApplication

    from ui.qt import theme

    made = QApplication.instance() or QApplication(["lifesim"])
    assert isinstance(made, QApplication)
    theme.apply(made, "dark")
    return made


@pytest.fixture
def unforeseen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No error may get lost in a slot."""
    found: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: found.append(error))
    yield
    assert not found


@pytest.fixture
def session(app: Any) -> Iterator[Any]:
    """A ui.cells.session.MemorySession with a soup."""
    from tests.windows import soup_session

    made = soup_session()
    yield made
    made.close()


@pytest.fixture
def window(app: Any, tmp_path: Path, unforeseen: None) -> Iterator[Any]:
    """A ui.qt.window.Window with a glider; no error may get lost in it."""
    from tests.windows import close, make_window

    made = make_window(tmp_path)
    yield made
    close(made)


@pytest.fixture
def win(
    app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unforeseen: None
) -> Iterator[Any]:
    """A ui.qt.parsing.window.ParseWindow; no error may get lost in it, nor a thread be left."""
    from tests.ui.parse_windows import close_parse_window, make_parse_window
    from ui.qt.parsing import language

    monkeypatch.setattr(language, "_TYPING", 1)
    made = make_parse_window(tmp_path)
    yield made
    close_parse_window(made)
    names = {"grammar", "sentences", "order of sentences", "sentence"}
    assert not names & {thread.name for thread in threading.enumerate()}
