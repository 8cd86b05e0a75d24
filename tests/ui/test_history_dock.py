"""The list of changes and runs, and going to any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lifesim.grid import BitGrid, Box
from tests.disk_sessions import make
from tests.windows import generation, live, settle, shifted, until
from ui.cells.edits import Clear, Invert
from ui.disk.session import DiskSession
from ui.qt.history import HistoryDock
from ui.qt.menus.history import HistoryMenu
from ui.qt.window import LifeWindow


@pytest.fixture
def dock(window: LifeWindow) -> HistoryDock:
    window.registry.run("history.show")
    return window.menu_of(HistoryMenu).dock


def rows(dock: HistoryDock) -> list[tuple[str, str]]:
    items = [dock.list.topLevelItem(k) for k in range(dock.list.topLevelItemCount())]
    return [(item.text(0), item.text(1)) for item in items]


def current(dock: HistoryDock) -> int:
    return dock.list.indexOfTopLevelItem(dock.list.currentItem())


def at(dock: HistoryDock, row: int) -> bool:
    """Tell whether the dock has heard that the universe is as after that row; a click selects the
    row before that."""
    return dock._shown is not None and len(dock._shown.done) == row == current(dock)


def click(dock: HistoryDock, row: int) -> None:
    middle = dock.list.visualItemRect(dock.list.topLevelItem(row)).center()
    QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, pos=middle)


def test_changes_and_runs_are_listed(window: LifeWindow, dock: HistoryDock) -> None:
    until(lambda: rows(dock) == [("The beginning", "0")])
    assert not dock.empty.isHidden()
    session = window.session
    session.step(4)
    session.settle()  # type: ignore[attr-defined]
    session.edit(Clear(Box(0, 0, 64, 64)))
    session.edit(Invert(Box(0, 0, 2, 2)))
    session.step(1)
    listed = [
        ("The beginning", "0"), ("4 steps", "4"), ("Clearing", "4"), ("Inverting", "4"),
        ("A step", "5"),
    ]  # fmt: skip
    until(lambda: rows(dock) == listed)
    assert at(dock, 4)
    assert dock.empty.isHidden()
    click(dock, 1)
    until(lambda: at(dock, 1))
    assert rows(dock) == listed
    settle(window)
    assert (generation(window), live(window)) == (4, shifted(31, 29))
    click(dock, 0)
    until(lambda: at(dock, 0))
    settle(window)
    assert (generation(window), live(window)) == (0, shifted())
    click(dock, 3)
    until(lambda: at(dock, 3))
    settle(window)
    assert live(window) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    session.edit(Clear(Box(0, 0, 1, 1)))
    until(lambda: rows(dock) == [*listed[:4], ("Clearing", "4")])


def test_the_keys_go_there_too(window: LifeWindow, dock: HistoryDock) -> None:
    window.session.step(2)
    until(lambda: len(rows(dock)) == 2)
    dock.list.setFocus()
    QTest.keyClick(dock.list, Qt.Key.Key_Up)
    QTest.keyClick(dock.list, Qt.Key.Key_Return)
    until(lambda: generation(window) == 0)
    until(lambda: at(dock, 0))


def test_a_run_is_told_while_it_goes_on(window: LifeWindow, dock: HistoryDock) -> None:
    window.session.start()
    until(lambda: len(rows(dock)) == 2 and int(rows(dock)[1][1].replace(",", "")) > 2)
    item = dock.list.topLevelItem(1)
    seen = generation(window)
    until(lambda: generation(window) > seen + 10)
    assert dock.list.topLevelItem(1) is item, "a row stays while one clicks on it"
    click(dock, 0)
    until(lambda: generation(window) == 0 and not window.session.status().running)


def test_of_a_universe_on_disk(window: LifeWindow, dock: HistoryDock, tmp_path: Path) -> None:
    window.adopt(DiskSession.open(make(tmp_path / "u", BitGrid(128, 64)), backend="reference"))
    until(lambda: rows(dock) == [("The beginning", "0")])
    session = window.session
    session.edit(Invert(Box(0, 0, 8, 8)))
    session.edit(Clear(Box(0, 0, 4, 4)))
    listed = [("The beginning", "0"), ("Inverting", "0"), ("Clearing", "0")]
    until(lambda: rows(dock) == listed)
    click(dock, 0)
    until(lambda: session.status().population == 0 and at(dock, 0))
    click(dock, 2)
    until(lambda: session.status().population == 48 and at(dock, 2))


def test_a_list_that_is_old_goes_nowhere(window: LifeWindow, dock: HistoryDock) -> None:
    window.session.step(1)
    until(lambda: len(rows(dock)) == 2)
    settle(window)
    window.session.edit(Clear(Box(0, 0, 64, 64)))
    window.session.settle()  # type: ignore[attr-defined]
    dock._go(dock.list.topLevelItem(0))  # before the window has heard of it
    settle(window)
    assert (generation(window), live(window)) == (1, set())
