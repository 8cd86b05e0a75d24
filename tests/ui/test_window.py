"""The window, offscreen: the mouse, what is seen, the worker that draws."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from kernels.targets.choose import pick
from lifesim.grid import BitGrid, Box
from tests.windows import (
    GLIDER,
    LEFT,
    MIDDLE,
    RIGHT,
    control,
    drag,
    erased,
    folder_of,
    generation,
    live,
    middle,
    pixel,
    press_key,
    selected,
    settle,
    shifted,
    to_clipboard,
    until,
    viewport,
)
from ui.cells.edits import Stroke
from ui.cells.session import MemorySession
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import Viewport
from ui.qt import theme
from ui.qt.window import LifeWindow
from ui.qt.worker import FrameWorker

# --- the mouse -------------------------------------------------------------------


def test_drawing_begins_live_on_dead_cells_and_is_undone_at_once(window: LifeWindow) -> None:
    window.registry.run("view.fit-universe")
    drag(window, LEFT, pixel(window, 10, 10), pixel(window, 14, 10), pixel(window, 14, 13))
    line = {(x, 10) for x in range(10, 15)} | {(14, y) for y in range(10, 14)}
    until(lambda: live(window) == shifted() | line)
    until(lambda: window.registry.made("edit.undo").isEnabled())
    press_key(window, "Ctrl+Z")
    until(lambda: live(window) == shifted())


def test_drawing_begun_on_a_live_cell_erases(window: LifeWindow) -> None:
    drag(window, LEFT, pixel(window, 30, 30), pixel(window, 32, 30))
    until(lambda: live(window) == {(31, 28), (32, 29)})


def test_the_right_button_erases(window: LifeWindow) -> None:
    drag(window, RIGHT, pixel(window, 29, 30), pixel(window, 31, 30))
    until(lambda: live(window) == {(31, 28), (32, 29), (32, 30)})


def test_there_is_no_drawing_from_afar_or_outside(window: LifeWindow) -> None:
    window.canvas.zoom_to(1)
    QTest.mouseClick(window.canvas, LEFT, pos=pixel(window, 10, 10))
    assert "zoom in" in window.banner.text
    window.canvas.zoom_to(0)
    QTest.mouseClick(window.canvas, LEFT, pos=pixel(window, -5, -5))
    settle(window)
    assert live(window) == shifted()


def test_drawing_while_it_runs(window: LifeWindow) -> None:
    window.registry.run("control.run")
    until(lambda: generation(window) > 2)
    QTest.mouseClick(window.canvas, LEFT, pos=pixel(window, 3, 3))
    until(lambda: window.session.status().modified)
    assert window.session.status().running
    window.registry.run("control.run")
    until(lambda: not window.session.status().running)


def test_a_rectangle_is_selected_and_cut_to_the_universe(window: LifeWindow) -> None:
    window.registry.run("view.fit-universe")
    window.registry.run("edit.select")
    drag(window, LEFT, pixel(window, 8, 9), pixel(window, 5, 6))
    assert window.view.selection == Box(5, 6, 4, 4)
    assert "4×4" in window.status_line.selection.text()
    drag(window, LEFT, pixel(window, 60, 60), pixel(window, 70, 70))
    assert window.view.selection == Box(60, 60, 4, 4)
    QTest.mouseClick(window.canvas, LEFT, pos=pixel(window, 1, 1))
    assert window.view.selection is None


def test_a_paste_follows_the_pointer_turns_and_is_put_down(window: LifeWindow) -> None:
    erased(window)
    to_clipboard("3o!")(window)
    press_key(window, "Ctrl+V")
    QTest.mouseMove(window.canvas, pixel(window, 20, 20))
    assert window.edits.ghost is not None
    assert window.edits.ghost.box == Box(19, 20, 3, 1)
    press_key(window, "R")
    assert window.edits.ghost.box == Box(20, 19, 1, 3)
    assert window.grab().toImage().width()
    QTest.mouseClick(window.canvas, LEFT, pos=pixel(window, 20, 20))
    until(lambda: live(window) == {(20, 19), (20, 20), (20, 21)})
    assert window.canvas.ghost is None
    press_key(window, "Ctrl+V")
    QTest.mouseClick(window.canvas, RIGHT, pos=pixel(window, 5, 5))
    assert window.canvas.ghost is None
    assert len(live(window)) == 3


@pytest.mark.parametrize("text", ["3o!" + " " * 70_000, "x = 40000, y = 40000\n30000$3o!"])
def test_large_patterns_of_the_clipboard_are_read_beside(
    window: LifeWindow, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    do, titles = window.background.do, []

    def noted(title: str, *job: Any, **options: Any) -> None:
        titles.append(title)
        do(title, *job, **options)

    monkeypatch.setattr(window.background, "do", noted)
    to_clipboard(text)(window)
    press_key(window, "Ctrl+V")
    assert titles == ["Reading the clipboard…"]
    until(lambda: window.edits.ghost is not None)
    assert window.edits.ghost.cells.population() == 3
    press_key(window, "Escape")
    assert window.canvas.ghost is None
    to_clipboard("no pattern at all\n" * 5_000)(window)
    press_key(window, "Ctrl+V")
    until(lambda: "clipboard" in window.banner.text)
    assert window.canvas.ghost is None


def test_copies_paste_elsewhere(window: LifeWindow) -> None:
    selected(window)
    press_key(window, "Ctrl+C")
    press_key(window, "Ctrl+V")
    QTest.mouseClick(window.canvas, LEFT, pos=pixel(window, 41, 31))
    until(lambda: live(window) == shifted() | shifted(40, 30))


def test_the_middle_button_and_the_pan_tool_move_the_view(window: LifeWindow) -> None:
    before = viewport(window)
    drag(window, MIDDLE, QPoint(200, 200), QPoint(230, 180))
    assert viewport(window) == before.moved(-30, 20)
    window.registry.run("edit.pan")
    drag(window, LEFT, QPoint(200, 200), QPoint(190, 200), QPoint(180, 260))
    assert viewport(window) == before.moved(-10, -40)


def test_the_wheel_zooms_at_the_pointer(window: LifeWindow) -> None:
    at = pixel(window, 31, 29)
    before = viewport(window).scale

    def turn(delta: int) -> None:
        position = QPointF(at)
        event = QWheelEvent(
            position, window.canvas.mapToGlobal(position), QPoint(), QPoint(0, delta),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(window.canvas, event)

    turn(-120)
    assert viewport(window).scale == before + 1
    turn(-60)
    assert viewport(window).scale == before + 1
    turn(-60)
    assert viewport(window).scale == before + 2
    assert viewport(window).cells_at(at.x(), at.y()) == Box(31, 29, 1, 1)
    for _ in range(60):
        turn(-120)
    assert viewport(window).scale == 40
    settle(window)
    assert window.grab().width()


# --- what is seen ----------------------------------------------------------------


def colour(window: LifeWindow, x: int, y: int) -> str:
    image = window.canvas.grab().toImage()
    at = pixel(window, x, y)
    return image.pixelColor(at).name()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("palette", "dead", "alive"),
    [("dark", "#0a0c12", "#f2f6ff"), ("light", "#ffffff", "#10131c"),
     ("viridis", "#440154", "#fde725")],
)  # fmt: skip
def test_cells_have_the_colours_of_the_palette(
    window: LifeWindow, palette: str, dead: str, alive: str
) -> None:
    window.registry.run(f"view.palette-{palette}")
    settle(window)
    assert [colour(window, 30, 30), colour(window, 30, 28)] == [alive, dead]
    window.registry.run("view.fit-universe")
    assert colour(window, -1, 5) == theme.colours("dark", palette).outside.name()
    assert colour(window, 30, 30) == alive  # of the picture before, in the right place
    settle(window)
    assert [colour(window, 30, 30), colour(window, 30, 28)] == [alive, dead]


class Recoloured(QObject):
    """Counts how often a widget has been dressed anew."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.PaletteChange
        return False


def test_the_theme_that_there_is_dresses_nothing_anew(window: LifeWindow) -> None:
    recoloured, other = Recoloured(window), "light" if window.theme == "dark" else "dark"
    window.dress(window.theme)
    assert not recoloured.count
    before = window.theme
    window.dress(other)
    assert recoloured.count
    assert window.palette().window().color() == QColor(theme._WINDOW[other][0])
    window.dress(before)


@pytest.mark.parametrize("id", ["about", "guide", "palette", "shortcuts"])
def test_pages_of_help_are_gone_once_closed(window: LifeWindow, id: str) -> None:
    """Pages that stay would be dressed with every change of theme, more of them each time."""
    before = len(window.findChildren(QWidget))
    window.registry.run(f"help.{id}")
    tops = QApplication.topLevelWidgets()
    (page,) = [top for top in tops if top.isVisible() and top.parent() is window]
    page.close()
    QApplication.sendPostedEvents(page, QEvent.Type.DeferredDelete)
    assert len(window.findChildren(QWidget)) == before


def test_any_cell_makes_single_cells_bright(window: LifeWindow) -> None:
    window.canvas.zoom_to(4)
    settle(window)
    dim = window.canvas.frame.pixels.max()
    window.registry.run("view.any-cell")
    settle(window)
    assert 0 < dim < window.canvas.frame.pixels.max() == 255


def test_lines_can_be_switched_off(window: LifeWindow) -> None:
    def shades() -> int:
        image = window.canvas.grab().toImage()
        return len({image.pixelColor(x, 300).name() for x in range(image.width())})

    with_lines = shades()
    window.registry.run("view.grid")
    assert shades() < with_lines


def test_what_is_under_the_pointer(window: LifeWindow) -> None:
    under = window.status_line.under
    QTest.mouseMove(window.canvas, pixel(window, 30, 30))
    until(lambda: under.text() == "30, 30  live")
    QTest.mouseMove(window.canvas, pixel(window, 30, 28))
    until(lambda: under.text() == "30, 28  dead")
    window.canvas.zoom_to(4)
    QTest.mouseMove(window.canvas, pixel(window, 20, 20))
    until(lambda: under.text() == "16, 16  16×16  3 of 256 live")
    QTest.mouseMove(window.canvas, pixel(window, -17, 20))
    until(lambda: "outside" in under.text())


def test_the_slider_of_the_speed(window: LifeWindow) -> None:
    slider, menu = window.toolbar.speed, control(window)
    assert slider.value() == 0
    assert slider.toolTip() == "Speed: 1 generation a picture, at most 30 pictures a second"
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Right)
    slider.setFocus()
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert menu.speed.generations == 4
    assert window.registry.is_enabled("control.slower")
    window.registry.run("control.base-10")
    window.registry.run("control.faster")
    assert (slider.value(), menu.speed.generations) == (1, 10)
    slider.setValue(slider.maximum())
    assert menu.speed.is_fastest
    assert not window.registry.is_enabled("control.faster")
    assert slider.toolTip().startswith("Speed: 1,048,576 generations a picture, at most 30")


def test_the_rule_and_the_size_are_buttons(window: LifeWindow) -> None:
    bar, asked = window.toolbar, window.dialogs.asked  # type: ignore[attr-defined]
    assert (bar.rule_button.text(), bar.size_button.text()) == ("B3/S23   torus", "64 × 64")
    QTest.mouseClick(bar.rule_button, LEFT)
    QTest.mouseClick(bar.size_button, LEFT)
    assert [name for name, _ in asked] == ["rule", "size"]


def test_the_toolbar_records(window: LifeWindow) -> None:
    action = window.registry.made("time.record")
    button = window.toolbar.widgetForAction(action)
    QTest.mouseClick(button, LEFT)
    assert (action.isChecked(), action.text()) == (True, "Stop &recording")
    QTest.mouseClick(button, LEFT)
    assert (action.isChecked(), action.text()) == (False, "&Record")


def test_the_status_line(window: LifeWindow) -> None:
    line = window.status_line
    until(lambda: line.population.text() == "pop 5")
    assert (line.generation.text(), line.density.text()) == ("gen 0", "0.122 %")
    assert line.where.toolTip() == f"Computed by {window.session.where}"
    window.canvas.zoom_to(0)
    assert line.scale.text() == "1:1"
    window.registry.run("control.faster")
    assert line.speed.text() == "2 gens/picture, ≤ 30/s"
    window.registry.run("control.rate-all")
    assert line.speed.toolTip() == "Speed: 2 generations a picture, as fast as it goes"
    window.registry.run("control.run")
    until(lambda: line.rate.text().endswith("cells/s"))  # a picture may bring it before...
    until(lambda: window.registry.made("control.run").text() == "&Stop")  # ...the news of the run
    window.registry.run("control.run")
    until(lambda: window.registry.made("control.run").text() == "&Start")


def test_following_a_glider(window: LifeWindow) -> None:
    """The selection says which cells; a block elsewhere is not followed."""
    window.session.edit(Stroke(((5, 5), (6, 5))))
    selected(window)
    window.registry.run("view.follow")
    window.registry.run("edit.give-up")
    for _ in range(16):
        window.registry.run("control.next")
        settle(window)
    until(lambda: middle(window) == Box(35, 33, 1, 1))
    window.canvas.pan(50, 0)
    assert not window.view.follow
    before = viewport(window)
    window.registry.run("control.step")
    settle(window)
    assert viewport(window) == before


def test_auto_fit_keeps_everything_in_view(window: LifeWindow) -> None:
    window.registry.run("view.auto-fit")
    settle(window)
    near = viewport(window).scale
    window.session.edit(Stroke(((0, 0), (0, 0))))
    window.session.edit(Stroke(((63, 63), (63, 63))))
    until(lambda: viewport(window).scale > near)
    left, top, right, bottom = viewport(window).rectangle(Box(0, 0, 64, 64))
    assert left >= 0
    assert right <= viewport(window).width
    assert top >= 0
    assert bottom <= viewport(window).height


def away(window: LifeWindow, x: int, y: int) -> int:
    at = middle(window)
    return max(abs(at.x - x), abs(at.y - y))


@pytest.fixture
def large(window: LifeWindow) -> LifeWindow:
    """A universe of which the window never gets all cells."""
    grid = BitGrid.from_cells(3000, 2000, [(x + 1500, y + 1000) for x, y in GLIDER])
    window.adopt(MemorySession(grid, backend=pick("auto", threads=1), small=0))
    until(lambda: window.canvas.frame is not None and window._aim is None)
    return window


def test_a_large_universe_is_fitted_and_followed(large: LifeWindow) -> None:
    left, top, right, bottom = viewport(large).rectangle(Box(1500, 1000, 3, 3))
    assert left > 0
    assert top > 0
    assert right < viewport(large).width
    assert bottom < viewport(large).height
    large.edits.select(Box(1500, 1000, 3, 3))
    large.registry.run("view.follow")
    for steps in range(20, 220, 20):
        large.session.step(20)
        # It is known to blocks of 8 x 8 cells.
        until(lambda far=steps // 4: away(large, 1501 + far, 1001 + far) <= 8)
    assert large.canvas.frame is not None
    assert large.canvas.frame.pixels.any()
    assert not large.banner.text


def test_counting_in_a_large_universe(large: LifeWindow) -> None:
    under = large.status_line.under
    QTest.mouseMove(large.canvas, pixel(large, 1500, 1002))
    until(lambda: under.text() == "1,500, 1,002  live")
    large.canvas.zoom_to(11)
    settle(large)
    QTest.mouseMove(large.canvas, pixel(large, 0, 0))
    until(lambda: "2,048×2,048" in under.text() and "live" in under.text())
    assert "5 of 4,096,000 live" in under.text()


def test_a_universe_on_disk_is_fitted_counted_and_drawn_on(window: LifeWindow) -> None:
    grid = BitGrid.from_cells(3000, 2000, [(x + 1500, y + 1000) for x, y in GLIDER])
    session = MemorySession(grid, backend=pick("auto", threads=1))
    path = os.path.join(folder_of(window), "universe")
    session.save(path)
    session.close()
    window.files.open_path(path)
    until(lambda: window.session.path == path)
    until(lambda: window.canvas.frame is not None and window._aim is None)
    at = pixel(window, 1501, 1002)
    assert window.canvas.rect().contains(at)
    QTest.mouseMove(window.canvas, at)
    until(lambda: window.status_line.under.text() == "1,501, 1,002  live")
    QTest.mouseClick(window.canvas, LEFT, pos=at)
    until(lambda: window.session.status().population == 4)
    for id in ("control.rule", "control.size"):
        assert not window.registry.is_enabled(id)


# --- ages ---------------------------------------------------------------------


def test_cells_that_live_on_are_brighter(window: LifeWindow) -> None:
    def levels() -> dict[tuple[int, int], int]:
        pixels, view = window.canvas.frame.pixels, window.canvas.frame.request.viewport
        centres = {cell: view.rectangle(Box(*cell, 1, 1)) for cell in live(window)}
        return {cell: int(pixels[top, left]) for cell, (left, top, _, _) in centres.items()}

    before = live(window)
    press_key(window, "A")
    settle(window)
    until(lambda: set(levels().values()) == {min(levels().values())} != {255})
    young = min(levels().values())
    window.session.step(1)
    settle(window)
    until(lambda: window.canvas.frame.generation == 1)
    assert {cell for cell, level in levels().items() if level > young} == before & live(window)
    assert {level for cell, level in levels().items() if cell not in before} == {young}
    press_key(window, "A")
    until(lambda: set(levels().values()) == {255})


def test_ages_are_seen_near_by(window: LifeWindow) -> None:
    window.registry.run("view.ages")
    window.canvas.zoom_to(2)
    assert window.registry.made("view.ages").isEnabled()
    window.canvas.zoom_to(3)
    assert not window.registry.made("view.ages").isEnabled()
    assert window.status_line.scale.text() == "1:8 no ages"
    settle(window)
    # Where the view goes by itself, too.
    window.registry.run("view.fit")
    until(lambda: window.registry.made("view.ages").isEnabled())
    assert window.status_line.scale.text() == "16:1"


# --- the worker ---------------------------------------------------------------


class SlowSession:
    """Draws when it is let, and remembers what."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.drawn: list[int] = []

    def source(self, request: FrameRequest) -> MemorySource:
        self.go.acquire()
        self.drawn.append(request.serial)
        return MemorySource(BitGrid(8, 8))


def test_stale_requests_are_dropped(app: QApplication) -> None:
    worker, session = FrameWorker(), SlowSession()
    worker.serve(session)  # type: ignore[arg-type]
    view = Viewport(0, 0, 0, 8, 8)
    landed: list[int] = []

    def land() -> None:
        picture = worker.take()
        assert picture
        landed.append(picture.frame.request.serial)

    worker.landed.connect(land)
    worker.ask(FrameRequest(view, serial=1))
    until(lambda: not worker._due)
    for serial in range(2, 100):
        worker.ask(FrameRequest(view, serial=serial))
    for _ in range(2):
        session.go.release()
    until(lambda: landed and landed[-1] == 99)
    assert session.drawn == [1, 99]
    before = len(landed)
    worker.again()
    session.go.release()
    until(lambda: len(landed) > before)
    assert session.drawn == [1, 99, 99]
    worker.serve(None)
    worker.close()
