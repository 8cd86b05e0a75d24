"""Keys: whose they are, and the way back to the canvas."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from tests.windows import LEFT, press_key, settle, until
from ui.qt.film.plots_dock import PlotsDock
from ui.qt.film.timeline_dock import TimelineDock
from ui.qt.menus.time import TimeMenu
from ui.qt.parsing.window import ParseWindow
from ui.qt.window import LifeWindow

pytestmark = pytest.mark.usefixtures("unforeseen")


def docks(window: LifeWindow) -> tuple[TimelineDock, PlotsDock]:
    menu = window.menu_of(TimeMenu)
    menu.timeline.show()
    menu.plots.show()
    QApplication.processEvents()
    return menu.timeline, menu.plots


def with_mnemonics(window: QWidget) -> list[str]:
    kinds = QAbstractButton, QLabel
    texts = [widget.text() for kind in kinds for widget in window.findChildren(kind)]
    return [text for text in texts if not QKeySequence.mnemonic(text).isEmpty()]


def test_only_menus_have_mnemonics(window: LifeWindow) -> None:
    timeline, _ = docks(window)
    timeline.record(True)
    assert with_mnemonics(window) == []
    timeline.record(False)
    parsing = ParseWindow(window.settings)
    assert with_mnemonics(parsing) == []
    parsing.close()
    parsing.deleteLater()


def test_a_mnemonic_opens_its_menu_while_docks_are_seen(window: LifeWindow) -> None:
    docks(window)
    window.registry.run("control.step")
    settle(window)
    until(lambda: window.session.status().generation == 1)
    for key, title in (("E", "&Edit"), ("T", "&Time"), ("C", "&Control")):
        press_key(window, f"Alt+{key}")
        menu = QApplication.activePopupWidget()
        assert menu is window.registry.menu(title)
        QTest.keyClick(menu, Qt.Key.Key_Escape)
        QTest.keyClick(window.menuBar(), Qt.Key.Key_Escape)
    assert window.session.status().generation == 1


@pytest.mark.parametrize("floating", [False, True])
def test_escape_leads_back_to_the_canvas(window: LifeWindow, floating: bool) -> None:
    timeline, plots = docks(window)
    timeline.setFloating(floating)
    until(lambda: plots.plots)
    places: list[QWidget] = [
        timeline.goal, timeline.every, timeline.slider, timeline.record_button,
        plots.save_button, plots.buttons["rate"], plots.plots["population"].widget,
    ]  # fmt: skip
    if not floating:
        places += [window.toolbar.widgetForAction(window.registry.made("file.open"))]
    until(plots.save_button.isEnabled)
    for place in places:
        place.window().activateWindow()
        until(lambda place=place: QApplication.activeWindow() is place.window())  # type: ignore[misc]
        timeline.slider.setEnabled(True)
        place.setFocus()
        assert QApplication.focusWidget() in (place, place.focusProxy())
        QTest.keyClick(place, Qt.Key.Key_Escape)
        until(lambda: QApplication.focusWidget() is window.canvas)
    timeline.setFloating(False)


def test_escape_in_the_spin_box_of_a_dock(window: LifeWindow) -> None:
    timeline, _ = docks(window)
    timeline.every.lineEdit().setFocus()
    QTest.keyClicks(timeline.every, "5")
    QTest.keyClick(timeline.every, Qt.Key.Key_Escape)
    assert window.canvas.hasFocus()


def test_what_a_dock_has_done_gives_the_focus_back(window: LifeWindow) -> None:
    timeline, plots = docks(window)
    canvas = window.canvas
    window.session.step(2)
    settle(window)
    for widget in (timeline.record_button, timeline.record_button, timeline.reset_button):
        assert widget.isEnabled()
        widget.setFocus()
        QTest.mouseClick(widget, LEFT)
        assert canvas.hasFocus(), widget.accessibleName()
    settle(window)
    assert window.session.status().generation == 0
    timeline.goal.setFocus()
    QTest.keyClicks(timeline.goal, "x")
    QTest.keyClick(timeline.goal, Qt.Key.Key_Return)
    assert timeline.goal.hasFocus()  # to be mended
    timeline.goal.clear()
    QTest.keyClicks(timeline.goal, "3")
    QTest.keyClick(timeline.goal, Qt.Key.Key_Return)
    assert canvas.hasFocus()
    settle(window)
    assert window.session.status().generation == 3
    timeline.every.setFocus()
    QTest.keyClicks(timeline.every, "5")
    QTest.keyClick(timeline.every, Qt.Key.Key_Return)
    assert canvas.hasFocus()
    timeline.slider.setFocus()
    QTest.mousePress(timeline.slider, LEFT, pos=timeline.slider.rect().center())
    QTest.mouseRelease(timeline.slider, LEFT, pos=timeline.slider.rect().center() + QPoint(3, 0))
    assert canvas.hasFocus()
    button = plots.buttons["rate"]
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert button.isChecked()
    assert canvas.hasFocus()
    for dock, widget in ((timeline, timeline.goal), (plots, plots.save_button)):
        widget.setFocus()
        dock.close()
        until(canvas.hasFocus)


def test_a_file_of_numbers_that_was_saved(
    window: LifeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plots = docks(window)
    until(plots.save_button.isEnabled)
    path = str(tmp_path / "run.csv")
    monkeypatch.setattr("ui.qt.file_dialogs.save_file", lambda *_: (path, ""))
    plots.save_button.setFocus()
    QTest.keyClick(plots.save_button, Qt.Key.Key_Space)
    assert Path(path).exists()
    assert window.canvas.hasFocus()
