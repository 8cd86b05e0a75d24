"""A window for tests, and hands and eyes for it. Needs Qt."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology
from ui import opening
from ui.cells.edited import EditedSession
from ui.cells.session import MemorySession
from ui.film.recording import Recording
from ui.qt.background import IsCancelled
from ui.qt.dialogs import New
from ui.qt.film.timeline_dock import TimelineDock
from ui.qt.menus.control import ControlMenu
from ui.qt.window import LifeWindow

LEFT, RIGHT, MIDDLE = (
    Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton,
)  # fmt: skip
GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]
AT = 30, 28  # of the glider in the universe of the tests
SIDE = 64
STATES = [(30, 30), (31, 30), (32, 30)]  # where states_session() has them
NEW = New((32, 16), Rule.parse("B36/S23"), Topology.PLANE, None, 1)


@dataclass
class FakeDialogs:
    """Answers, and remembers what it was asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def answer(*args: Any) -> Any:
            self.asked.append((name, args))
            return self.answers.get(name)

        return answer


def glider_session(path: str | None = None) -> MemorySession:
    grid = BitGrid.from_cells(SIDE, SIDE, [(x + AT[0], y + AT[1]) for x, y in GLIDER])
    return MemorySession(grid, backend=pick("auto", threads=1), path=path)


def states_session(rule: str = "345/2/4") -> MemorySession:
    """A universe with a cell in each of the states 1 to 3, as far as there are so many."""
    known = Rule.parse(rule)
    grid = BitGrid(SIDE, SIDE, planes=known.planes)
    for number, cell in enumerate(STATES, 1):
        grid[cell] = min(number, known.states - 1)
    return MemorySession(grid, rule=known, backend=pick("auto", threads=1))


def soup_session(seed: int = 3) -> MemorySession:
    return MemorySession(random_grid(SIDE, SIDE, 0.4, seed), backend=pick("auto", threads=1))


def soup_after(generations: int, seed: int = 3) -> BitGrid:
    """The cells of a soup_session()."""
    life = Life(random_grid(SIDE, SIDE, 0.4, seed), backend="reference")
    life.run(generations)
    return life.grid()


def make_window(folder: Path, session: EditedSession | None = None) -> LifeWindow:
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    made = LifeWindow(session or glider_session(), pick("auto", threads=1), settings)
    made.dialogs = FakeDialogs()  # type: ignore[assignment]
    made.resize(900, 640)
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made, 5000)
    made.canvas.setFocus()
    until(lambda: made.canvas.frame is not None and made._aim is None)
    return made


def close(window: LifeWindow) -> None:
    for other in QApplication.topLevelWidgets():
        if other is not window and other.isVisible():
            other.close()
    window._leaving = True
    window.close()
    window.deleteLater()
    QApplication.processEvents()


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to be so"
        QApplication.processEvents()
        time.sleep(0.001)


def settle(window: LifeWindow) -> None:
    """Wait until what has been asked for is done and shown."""
    assert isinstance(window.session, EditedSession)
    until(lambda: not window.background.is_busy)
    window.session.settle()
    window.look()
    serial = window._serial
    until(lambda: window.canvas.frame and window.canvas.frame.request.serial >= serial)


def rest(session: MemorySession) -> None:
    """Wait until what has been asked for is done, and who listens knows."""
    session.settle()
    QApplication.processEvents()


def record_run(dock: TimelineDock, session: MemorySession, count: int = 10) -> Recording:
    """Press the button, and record so many steps beside the first picture."""
    assert dock.record_button.text() == "● Record"
    QTest.mouseClick(dock.record_button, LEFT)
    assert dock.is_recording
    assert dock.record_button.text() == "■ Stop recording"
    recording = dock.recording
    assert recording is not None
    for number in range(count):
        until(lambda number=number: len(recording) == number + 1)  # type: ignore[misc]
        session.step(1)
        rest(session)
    until(lambda: len(recording) == count + 1)
    until(lambda: dock.slider.maximum() == count)
    return recording


def live(window: LifeWindow) -> set[tuple[int, int]]:
    session = window.session
    side = (SIDE, SIDE) if session.is_endless else (session.width, session.height)
    cells = session.cells(Box(0, 0, *side)).cells()
    return {(int(x), int(y)) for x, y in cells}


def shifted(x: int = AT[0], y: int = AT[1]) -> set[tuple[int, int]]:
    return {(x + a, y + b) for a, b in GLIDER}


def generation(window: LifeWindow) -> int:
    return window.session.status().generation


def pixel(window: LifeWindow, x: int, y: int) -> QPoint:
    """The middle of a cell on the canvas."""
    left, top, right, bottom = window.view.viewport.rectangle(Box(x, y, 1, 1))
    ratio = window.canvas.ratio
    return QPoint(int((left + right) // 2 / ratio), int((top + bottom) // 2 / ratio))


def press_key(window: LifeWindow, key: str) -> None:
    sequence = QKeySequence(key)
    combination = sequence[0]
    modifiers = combination.keyboardModifiers()
    QTest.keyClick(window.canvas, combination.key(), modifiers)


def in_menu(window: LifeWindow, id: str) -> QAction:
    """The action as it stands in the menu bar; it must be there exactly once."""

    menus = window.registry._menus.values()
    found = [action for menu in menus for action in menu.actions() if action.objectName() == id]
    assert len(found) == 1
    return found[0]


def drag(window: LifeWindow, button: Qt.MouseButton, *points: QPoint) -> None:
    canvas = window.canvas
    QTest.mousePress(canvas, button, pos=points[0])
    for point in points[1:]:
        QTest.mouseMove(canvas, point)
    QTest.mouseRelease(canvas, button, pos=points[-1])


def select(x: int, y: int, width: int, height: int) -> Callable[[LifeWindow], None]:
    return lambda window: window.edits.select(Box(x, y, width, height))


def selected(window: LifeWindow) -> None:
    select(*AT, 3, 3)(window)


def answer(**answers: Any) -> Callable[[LifeWindow], None]:
    return lambda window: window.dialogs.answers.update(answers)  # type: ignore[attr-defined]


def both(*steps: Callable[[LifeWindow], object]) -> Callable[[LifeWindow], None]:
    def run(window: LifeWindow) -> None:
        for step in steps:
            step(window)

    return run


def to_clipboard(text: str) -> Callable[[LifeWindow], None]:
    return lambda window: QGuiApplication.clipboard().setText(text)


def erased(window: LifeWindow) -> None:
    selected(window)
    window.registry.run("edit.clear")
    until(lambda: live(window) == set())


def carried(window: LifeWindow) -> None:
    to_clipboard("bo$2bo$3o!")(window)
    window.registry.run("edit.paste")
    assert window.edits.ghost is not None


def viewport(window: LifeWindow) -> Any:
    return window.view.viewport


def control(window: LifeWindow) -> ControlMenu:
    return window.menu_of(ControlMenu)


def folder_of(window: LifeWindow) -> str:
    return os.path.dirname(window.settings.fileName())


def endless(window: LifeWindow) -> threading.Event:
    """Begins to open something that does not end but when it is cancelled, which is set then."""
    noticed = threading.Event()

    def make(is_cancelled: IsCancelled) -> MemorySession:
        while not is_cancelled():
            time.sleep(0.001)
        noticed.set()
        raise patterns.ReadCancelledError("cancelled")

    window.open_with("Opening…", make)
    return noticed


def write_glider(window: LifeWindow) -> str:
    path = os.path.join(folder_of(window), "a glider.rle")
    patterns.write(Pattern(BitGrid.from_cells(3, 3, GLIDER)), path)
    return path


def write_universe(window: LifeWindow) -> str:
    path = os.path.join(folder_of(window), "universe")
    if not os.path.exists(path):
        session = opening.random(32, 16, 0.5, 1, backend=window.backend)
        session.save(path)
        session.close()
    return path


def clip() -> str:
    return QGuiApplication.clipboard().text()


def middle(window: LifeWindow) -> Box:
    view = viewport(window)
    return view.cells_at(view.width // 2, view.height // 2)
