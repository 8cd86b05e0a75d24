"""The window on planes without bounds in the engines tiles and HashLife."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from kernels.targets.choose import pick
from lifesim.grid import BitGrid, Box
from tests.ui.test_plane_session import GUN
from tests.windows import (
    GLIDER,
    LEFT,
    answer,
    close,
    control,
    generation,
    glider_session,
    in_menu,
    make_window,
    middle,
    press_key,
    settle,
    until,
)
from ui import opening
from ui.cells.edited import EditedSession
from ui.picture.viewport import FARTHEST, NEAREST
from ui.qt.menus.time import TimeMenu
from ui.qt.window import LifeWindow


@pytest.fixture
def gun_window(app: QApplication, tmp_path: Path, unforeseen: None) -> Iterator[LifeWindow]:
    session = opening.open(GUN, engine="hashlife", backend=pick("cpu", threads=1))
    assert isinstance(session, EditedSession)
    made = make_window(tmp_path, session)
    yield made
    close(made)


def test_a_gun_after_two_to_the_forty_generations(gun_window: LifeWindow) -> None:
    window = gun_window
    assert "hashlife" in window.toolbar.size_button.text()
    assert window.status_line.density.isHidden()  # there is none without bounds
    answer(generation=1 << 40)(window)
    press_key(window, "Ctrl+G")
    until(lambda: generation(window) == 1 << 40)
    press_key(window, "F")
    settle(window)
    until(lambda: window._aim is None and window.view.viewport.scale > 20)
    assert window.status_line.scale.text() == f"1:2^{window.view.viewport.scale}"
    until(lambda: window.status_line.population.text() == "pop 183,251,938,004")
    assert window.status_line.generation.text() == "gen 1,099,511,627,776"
    answer(generation=5)(window)
    press_key(window, "Ctrl+G")  # back, as the way there is known
    until(lambda: generation(window) == 5)
    press_key(window, "Ctrl+Z")
    until(lambda: generation(window) == 1 << 40)
    # A window's menus and docks bear numbers of any size.
    window.menu_of(TimeMenu).plots.show()
    answer(generation=1 << 200)(window)
    press_key(window, "Ctrl+G")
    until(lambda: generation(window) == 1 << 200)
    settle(window)
    press_key(window, "F")
    until(lambda: window._aim is None and window.view.viewport.scale > 180)
    until(lambda: window.status_line.generation.text() == "gen 2^200")
    window.menu_of(TimeMenu).plots.draw()
    press_key(window, "Ctrl+A")
    assert window.view.selection == window.session.box
    press_key(window, "Ctrl+C")
    assert "too many for a clipboard" in window.banner.text
    press_key(window, "Delete")  # more than can be changed at once
    until(lambda: "memory" in window.banner.text)
    assert window.banner.is_error
    assert not window.registry.is_enabled("control.size")


def test_zooming_has_no_end_and_pictures_follow(gun_window: LifeWindow) -> None:
    window = gun_window
    for step in (-1, 1):
        for _ in range(FARTHEST - NEAREST + 2):
            window.canvas.zoom(step, QPoint(200, 100))
        window.canvas.repaint()
        assert window.view.viewport.scale == (NEAREST if step > 0 else FARTHEST)
    settle(window)
    window.canvas.pan(1 << 50, 1 << 50)  # a view of which nothing is drawn yet
    window.canvas.repaint()
    QTest.mouseMove(window.canvas, QPoint(50, 60))
    until(lambda: window.status_line.under.text().endswith("dead"))
    window.edits.carry(BitGrid.from_cells(3, 3, GLIDER))
    for _ in range(FARTHEST - NEAREST):
        window.canvas.zoom(-1)
    window.canvas.repaint()  # what is to be put down is a point, or far outside
    window.edits.give_up()
    press_key(window, "F")
    until(lambda: window._aim is None and window.view.viewport.scale <= 0)


def test_drawing_far_out(gun_window: LifeWindow) -> None:
    window = gun_window
    far = (1 << 62) - 100
    window.show_box(Box(far, -far, 20, 20))
    settle(window)
    x, y, *_ = window.view.viewport.rectangle(Box(far + 3, 4 - far, 1, 1))
    QTest.mouseClick(window.canvas, LEFT, pos=QPoint(x + 3, y + 3))
    settle(window)
    assert window.session.cells(Box(far, -far, 20, 20)).cells().tolist() == [[3, 4]]
    until(lambda: window.session.status().population == 37)
    press_key(window, "Ctrl+Z")
    settle(window)
    until(lambda: window.session.status().population == 36)
    window.show_box(Box(1 << 70, 0, 20, 20))
    settle(window)
    QTest.mouseClick(window.canvas, LEFT, pos=QPoint(300, 300))
    assert "2^62" in window.banner.text


def test_faster_has_no_end_with_hashlife(gun_window: LifeWindow) -> None:
    window = gun_window
    for _ in range(100):
        press_key(window, "+")
    assert window.status_line.speed.text().startswith("2^100 gens/picture")
    press_key(window, "Space")
    until(lambda: generation(window) == 1 << 100)
    in_menu(window, "control.reset").trigger()
    until(lambda: generation(window) == 0)
    settle(window)
    in_menu(window, "engine.tiles").trigger()
    until(lambda: window.session.engine == "tiles" and not window.background.is_busy)
    assert control(window).speed.generations == 1 << 20


def test_a_torus_is_refused_and_stays(window: LifeWindow) -> None:
    session = window.session
    in_menu(window, "engine.hashlife").trigger()
    until(lambda: window.banner.is_error)
    assert "planes without bounds" in window.banner.text
    assert window.session is session


def test_another_engine_keeps_what_is_seen(gun_window: LifeWindow) -> None:
    window = gun_window
    window.session.step(1000)
    settle(window)
    window.canvas.zoom(-1)
    window.canvas.pan(40, 30)
    settle(window)
    around, seen, scale = Box(0, 0, 300, 300), middle(window), window.view.viewport.scale
    cells = window.session.cells(around)
    for engine in ("tiles", "dense", "hashlife"):
        in_menu(window, f"engine.{engine}").trigger()
        until(lambda engine=engine: window.session.engine == engine)
        settle(window)
        assert (middle(window), window.view.viewport.scale) == (seen, scale)
        assert window.session.cells(around) == cells
        assert generation(window) == 1000
        assert in_menu(window, f"engine.{engine}").isChecked()
    window.adopt(glider_session())
    settle(window)


def test_a_plane_is_recorded_while_it_is_small(gun_window: LifeWindow) -> None:
    window = gun_window
    timeline = window.menu_of(TimeMenu).timeline
    timeline.record(True)
    until(lambda: len(timeline.recording) == 1)
    window.session.step(60)
    settle(window)
    until(lambda: len(timeline.recording) == 2)
    timeline.scrub(0)
    in_menu(window, "time.continue").trigger()
    until(lambda: generation(window) == 0)
    settle(window)
    window.session.go_to(1 << 40)
    until(lambda: "the recording has stopped" in window.banner.text)
    settle(window)
