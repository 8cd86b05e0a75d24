"""The second view: linked with the window or not, drawn live."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt

from lifesim.grid import Box
from tests.windows import (
    SIDE,
    drag,
    generation,
    glider_session,
    live,
    pixel,
    record_run,
    settle,
    until,
    viewport,
)
from ui.picture.draw import draw
from ui.qt.menus.second import SecondMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.second import SecondView
from ui.qt.window import LifeWindow


@pytest.fixture
def second(window: LifeWindow) -> SecondView:
    window.registry.run("second.view")
    view = window.menu_of(SecondMenu).view
    until(lambda: view.canvas.frame is not None)
    return view


def middle(view: Any) -> tuple[int, int]:
    box = view.cells_at(view.width // 2, view.height // 2)
    return box.x + box.width // 2, box.y + box.height // 2


def is_right(second: SecondView, window: LifeWindow) -> bool:
    """Tell whether it shows the cells that there are now, of the place where it looks."""
    frame = second.canvas.frame
    request = second.canvas.view.request(0)
    if frame is None or frame.request.viewport != request.viewport:
        return False
    return bool(np.array_equal(frame.pixels, draw(request, window.session.source(request)).pixels))


def test_it_follows_what_the_window_shows(window: LifeWindow, second: SecondView) -> None:
    first = viewport(window)
    until(lambda: second.viewport.scale == first.scale + 3)
    assert middle(second.viewport) == pytest.approx(middle(first), abs=8)
    until(lambda: is_right(second, window))
    window.session.step(5)
    until(lambda: generation(window) == 5 and is_right(second, window))
    window.canvas.zoom(-1)
    until(lambda: second.viewport.scale == first.scale + 4)
    window.canvas.pan(100, -50)
    until(lambda: middle(second.viewport) == pytest.approx(middle(viewport(window)), abs=16))
    until(lambda: is_right(second, window))
    frame = second.canvas.view.selection
    assert frame is not None, "what the window sees is framed"
    assert window.view.selection is None


def test_it_takes_colours_with_another_theme_alone(
    window: LifeWindow, second: SecondView, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    monkeypatch.setattr(second.canvas, "dress", taken.append)
    window.changed.emit()
    assert not taken, "that would draw it anew with each piece of news"
    before, other = window.theme, "light" if window.theme == "dark" else "dark"
    window.dress(other)
    window.changed.emit()
    window.dress(before)
    assert taken == [other, before]


def test_the_window_follows_it(window: LifeWindow, second: SecondView) -> None:
    until(lambda: is_right(second, window))
    scale = viewport(window).scale
    second.canvas.pan(4, 3)
    until(lambda: middle(viewport(window)) == pytest.approx(middle(second.viewport), abs=1))
    assert viewport(window).scale == scale
    for button, steps in ((second.nearer_button, -1), (second.farther_button, 1)):
        before = second.viewport.scale
        button.click()
        until(lambda before=before, steps=steps: second.viewport.scale == before + steps)  # type: ignore[misc]
    second.nearer_button.click()
    second.nearer_button.click()
    window.canvas.zoom(1)
    until(lambda: second.viewport.scale == scale - 1 + 1)
    assert viewport(window).scale == scale - 1


def test_it_stays_where_it_is(window: LifeWindow, second: SecondView) -> None:
    second.fit_button.click()
    assert not second.is_linked
    assert not second.link_button.isChecked()
    place = second.viewport
    assert place.box.width >= SIDE
    window.canvas.zoom(2)
    window.canvas.pan(300, 300)
    settle(window)
    until(lambda: is_right(second, window))
    assert second.viewport == place
    window.session.step(3)
    until(lambda: generation(window) == 3 and is_right(second, window))
    own, other = middle(place), middle(viewport(window))
    second.swap_button.click()
    assert middle(viewport(window)) == pytest.approx(own, abs=2)
    assert middle(second.viewport) == pytest.approx(other, abs=2)
    window.registry.run("second.link")
    assert second.is_linked
    until(lambda: middle(second.viewport) == pytest.approx(middle(viewport(window)), abs=2))


def test_another_universe_a_recording_and_the_end(window: LifeWindow, second: SecondView) -> None:
    window.adopt(glider_session())
    until(lambda: is_right(second, window))
    timeline = window.menu_of(TimeMenu).timeline
    timeline.show()
    record_run(timeline, window.session, 3)  # type: ignore[arg-type]
    now = live(window)
    timeline.scrub(0)
    until(lambda: window._landed is not None and window._landed.is_recorded)
    until(lambda: second.canvas.frame is not None and second.canvas.frame.generation == 0)
    timeline.leave()
    until(lambda: second.canvas.frame is not None and second.canvas.frame.generation == 3)
    assert live(window) == now
    second.hide()
    window.session.step(1)
    settle(window)
    assert second.canvas.frame.generation == 3, "nobody sees it"
    window.dress("light")
    second.show()
    until(lambda: is_right(second, window))
    window.close()
    assert second.worker is None


def test_dragging_moves_it_and_draws_nothing(window: LifeWindow, second: SecondView) -> None:
    until(lambda: is_right(second, window))
    before, cells = second.viewport, live(window)
    at = second.canvas.rect().center()
    from PySide6.QtTest import QTest

    QTest.mousePress(second.canvas, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(second.canvas, at + at / 3)
    QTest.mouseRelease(second.canvas, Qt.MouseButton.LeftButton, pos=at + at / 3)
    until(lambda: second.viewport != before)
    settle(window)
    assert live(window) == cells
    window.show_box(Box(0, 0, SIDE, SIDE))
    drag(window, Qt.MouseButton.LeftButton, pixel(window, 3, 3))
    until(lambda: (3, 3) in live(window))
