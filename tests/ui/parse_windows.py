"""Parsing windows for tests, and hands to use them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from tests.windows import until
from ui.parsing.sentences import SentenceLines
from ui.qt.dialogs import UnsavedAnswer
from ui.qt.parsing.window import ParseWindow

LEFT = Qt.MouseButton.LeftButton
DYCK = "S -> S S | '(' S ')' | '(' ')'"
ENGLISH = "I saw the man on the hill with a telescope"


@dataclass
class FakeDialogs:
    """Answers, and remembers what it was asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def answer(*args: Any) -> Any:
            self.asked.append(name)
            return self.answers.get(name)

        return answer


def make_parse_window(folder: Path) -> ParseWindow:
    """Return a window that is shown, whose settings are in the folder."""
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    made = ParseWindow(settings, backend="cpu" if has_cpu() else "reference")
    made.files.dialogs = FakeDialogs()  # type: ignore[assignment]
    made.resize(1280, 840)  # more than the screen of tests has
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made, 5000)
    return made


def close_parse_window(made: ParseWindow) -> None:
    """Close it, and drop what was not saved."""
    made.files.dialogs = FakeDialogs({"unsaved": UnsavedAnswer.DISCARD})  # type: ignore[assignment]
    made.close()
    made.deleteLater()
    QApplication.processEvents()


def has_cpu() -> bool:
    from kernels.targets.choose import pick
    from kernels.targets.contract import BackendUnavailableError

    try:
        pick("cpu", threads=1)
    except BackendUnavailableError:
        return False
    return True


def settle(win: ParseWindow) -> None:
    """Wait until all that was asked for has landed and is shown."""
    parts = win.grammar, win.batch, win._watcher, win.background

    def quiet() -> bool:
        return not any(part.is_busy for part in parts)

    for _ in range(3):  # what lands may ask for more
        until(quiet)
        QApplication.processEvents()
    until(quiet)


def write(win: ParseWindow, grammar: str, *sentences: str) -> None:
    win.editor.setPlainText(grammar)
    win.editor.document().setModified(True)  # as if it was typed
    if sentences:
        win.batch.show_lines(SentenceLines.of("\n".join(sentences) + "\n"), select=True)
    settle(win)


def example(win: ParseWindow, name: str) -> None:
    win.registry.run(f"example.{name}")
    settle(win)


def table(win: ParseWindow) -> list[tuple[str, ...]]:
    model = win.batch.model
    return [
        tuple(str(model.data(model.index(row, column))) for column in range(5))
        for row in range(model.rowCount())
    ]


def in_menu(win: ParseWindow, id: str) -> QAction:
    def search(menu: QMenu) -> Iterator[QAction]:
        for action in menu.actions():
            inner = action.menu()
            if isinstance(inner, QMenu):
                yield from search(inner)
            elif action.objectName() == id:
                yield action

    tops = [action.menu() for action in win.menuBar().actions()]
    (found,) = [action for top in tops if isinstance(top, QMenu) for action in search(top)]
    return found


def by_menu(win: ParseWindow, id: str) -> None:
    action = in_menu(win, id)
    assert action.isEnabled()
    action.trigger()
    settle(win)


def by_key(win: ParseWindow, id: str, focus: QWidget | None = None) -> None:
    combination = QKeySequence(win.registry[id].keys[0])[0]
    target = focus or win.batch.line
    target.setFocus()
    QTest.keyClick(target, combination.key(), combination.keyboardModifiers())
    settle(win)
