"""The window on universes of several states: colours, the state that is drawn in, the clipboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtGui import QColor, QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lifesim.colours import state_colours
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from tests.disk_sessions import make
from tests.windows import (
    LEFT,
    RIGHT,
    STATES,
    clip,
    close,
    drag,
    folder_of,
    glider_session,
    make_window,
    pixel,
    press_key,
    select,
    settle,
    states_session,
    to_clipboard,
    until,
)
from ui import opening
from ui.disk.session import DiskSession
from ui.picture.coloured import window_colours
from ui.qt.menus.state import StateMenu
from ui.qt.tools import PasteGhost
from ui.qt.window import LifeWindow

STARWARS = Rule.parse("345/2/4")


@pytest.fixture
def coloured(app: Any, tmp_path: Path, unforeseen: None) -> Iterator[LifeWindow]:
    made = make_window(tmp_path, states_session())
    yield made
    close(made)


def state(window: LifeWindow, x: int, y: int) -> int:
    settle(window)
    return window.session.cells(Box(x, y, 1, 1))[0, 0]


def colour(window: LifeWindow, x: int, y: int) -> tuple[int, int, int]:
    shown = window.canvas.grab().toImage().pixelColor(pixel(window, x, y))
    return shown.red(), shown.green(), shown.blue()


def table(rule: Rule = STARWARS) -> list[tuple[int, ...]]:
    return [tuple(colour) for colour in window_colours(rule).tolist()]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_cells_have_the_colours_of_their_states(coloured: LifeWindow, theme: str) -> None:
    """Dead cells are dark in a light window, too."""
    coloured.dress(theme)
    settle(coloured)
    seen = [colour(coloured, x, 30) for x in (29, 30, 31, 32)]
    assert seen == table()


def test_far_cells_have_the_mean_of_their_colours(coloured: LifeWindow) -> None:
    coloured.canvas.zoom_to(2)
    settle(coloured)
    dead, one, two, _ = table()  # the third lies in the next block
    sums = [one[k] + two[k] + 14 * dead[k] for k in range(3)]
    assert colour(coloured, 30, 30) == tuple((total + 8) // 16 for total in sums)


def test_what_is_under_the_pointer(coloured: LifeWindow) -> None:
    under = coloured.status_line.under
    for (x, y), said in zip(
        [*STATES, (28, 28)], ("state 1", "state 2", "state 3", "state 0"), strict=True
    ):
        QTest.mouseMove(coloured.canvas, pixel(coloured, x, y))
        until(lambda said=said, x=x, y=y: under.text() == f"{x}, {y}  {said}")  # type: ignore[misc]
    until(lambda: coloured.status_line.population.text() == "pop 3")


# --- drawing -------------------------------------------------------------------


def test_drawing_in_a_state(coloured: LifeWindow) -> None:
    chooser = coloured.toolbar.states
    assert chooser.isVisible()
    assert [button.isChecked() for button in chooser.buttons] == [False, True, False, False]
    QTest.mouseClick(chooser.buttons[3], LEFT)
    drag(coloured, LEFT, pixel(coloured, 28, 28), pixel(coloured, 30, 28))
    assert [state(coloured, x, 28) for x in (27, 28, 29, 30)] == [0, 3, 3, 3]
    # Begun on a cell of that state it erases; on one of another it draws over it.
    drag(coloured, LEFT, pixel(coloured, 32, 30), pixel(coloured, 33, 30))
    assert [state(coloured, x, 30) for x in (31, 32, 33)] == [2, 0, 0]
    drag(coloured, LEFT, pixel(coloured, 31, 30), pixel(coloured, 31, 30))
    assert state(coloured, 31, 30) == 3
    drag(coloured, RIGHT, pixel(coloured, 30, 30), pixel(coloured, 31, 30))
    assert [state(coloured, x, 30) for x in (30, 31)] == [0, 0]
    coloured.registry.run("edit.undo")
    assert [state(coloured, x, 30) for x in (30, 31)] == [1, 3]


def test_keys_choose_a_state(coloured: LifeWindow) -> None:
    pen, chooser = coloured.edits.pen, coloured.toolbar.states
    found = []
    for key in (".", ".", ".", ".", ",", "E"):
        press_key(coloured, key)
        found.append(pen.state)
        assert [b.isChecked() for b in chooser.buttons].index(True) == pen.state
    assert found == [2, 3, 0, 1, 0, 0]
    drag(coloured, LEFT, pixel(coloured, 30, 30), pixel(coloured, 32, 30))
    settle(coloured)
    assert not coloured.session.whole().cells.words.any()


def test_taking_the_state_under_the_pointer(coloured: LifeWindow) -> None:
    canvas = coloured.canvas
    QCursor.setPos(canvas.mapToGlobal(pixel(coloured, 31, 30)))
    press_key(coloured, "K")
    assert coloured.edits.pen.state == 2
    canvas.zoom_to(3)
    settle(coloured)
    press_key(coloured, "K")
    assert "zoom in" in coloured.banner.text
    assert coloured.edits.pen.state == 2


def test_two_states_need_no_choice(window: LifeWindow) -> None:
    chooser = window.toolbar.states
    assert not chooser.isVisible()
    window.adopt(states_session())
    QApplication.processEvents()
    assert chooser.isVisible()
    window.menu_of(StateMenu).choose(3)
    window.adopt(glider_session())
    QApplication.processEvents()
    assert not chooser.isVisible()
    assert window.edits.pen.state == 1
    for id in ("state.next", "state.before", "state.pick", "state.erase"):
        assert not window.registry.is_enabled(id)
    for id in ("view.ages", "view.any-cell", "view.palette-light"):
        assert window.registry.is_enabled(id)


def test_many_states_are_a_list(window: LifeWindow) -> None:
    window.adopt(states_session("/2/40"))
    QApplication.processEvents()
    chooser = window.toolbar.states
    assert not chooser.buttons
    assert chooser.list.isVisible()
    assert chooser.list.count() == 40
    chooser.list.setCurrentIndex(33)
    chooser.list.activated.emit(33)
    drag(window, LEFT, pixel(window, 5, 5), pixel(window, 5, 5))
    assert state(window, 5, 5) == 33
    for id in ("view.ages", "view.any-cell", "view.palette-light"):
        assert not window.registry.is_enabled(id)


def test_another_rule_has_other_states(coloured: LifeWindow) -> None:
    """The chooser follows; what does not fit is refused in one line, and nothing changes."""
    session = coloured.session
    coloured.menu_of(StateMenu).choose(3)
    coloured.dialogs.answers["rule"] = Rule.parse("B2/S/C3"), Topology.TORUS
    coloured.registry.run("control.rule")
    until(lambda: coloured.banner.is_error)
    assert coloured.banner.text == "a cell has state 3: rule /2/3 has states 0 to 2"
    assert session.rule == STARWARS
    coloured.banner.dismiss()
    drag(coloured, RIGHT, pixel(coloured, 32, 30), pixel(coloured, 32, 30))
    coloured.registry.run("control.rule")
    until(lambda: str(coloured.session.rule) == "/2/3")
    settle(coloured)
    until(lambda: len(coloured.toolbar.states.buttons) == 3)
    assert coloured.edits.pen.state == 1
    assert colour(coloured, 31, 30) == table(session.rule)[2]


# --- on disk -------------------------------------------------------------------


def test_a_universe_on_disk(window: LifeWindow, tmp_path: Path) -> None:
    """It has the colours and the states of one in memory, and is drawn on as that is."""
    grid = BitGrid(128, 96, planes=2)
    for number, cell in enumerate(STATES, 1):
        grid[cell] = number
    window.adopt(DiskSession.open(make(tmp_path / "u", grid, rule=STARWARS), backend="reference"))
    window.show_box(Box(0, 0, 64, 48))
    until(lambda: [colour(window, x, 30) for x in (29, 30, 31, 32)] == table())
    for id in ("view.ages", "view.any-cell", "view.palette-light"):
        assert not window.registry.is_enabled(id)
    chooser = window.toolbar.states
    assert chooser.isVisible()
    QTest.mouseMove(window.canvas, pixel(window, 31, 30))
    until(lambda: window.status_line.under.text() == "31, 30  state 2")
    QTest.mouseClick(chooser.buttons[3], LEFT)
    drag(window, LEFT, pixel(window, 20, 20), pixel(window, 22, 20))
    until(lambda: [colour(window, x, 20) for x in (19, 20, 22)] == [table()[i] for i in (0, 3, 3)])
    window.registry.run("edit.undo")
    until(lambda: colour(window, 22, 20) == table()[0])
    window.canvas.zoom_to(2)
    dead, one, two, _ = table()
    sums = [one[k] + two[k] + 14 * dead[k] for k in range(3)]
    until(lambda: colour(window, 30, 30) == tuple((total + 8) // 16 for total in sums))


# --- the clipboard and files ---------------------------------------------------


def test_what_is_pasted_has_one_colour_where_its_own_would_take_long(coloured: LifeWindow) -> None:
    """The window's thread draws it, which must not take long."""
    own = state_colours(coloured.session.rule)
    for side, is_own in ((724, True), (725, False)):
        cells = BitGrid(side, side, planes=2)
        cells[3, 4] = 1
        image = PasteGhost(cells, 0, 0, own).image(0, QColor("red"))
        assert image is not None
        shown = image.pixelColor(3, 4).getRgb()
        assert shown == (*table()[1], 255) if is_own else shown == (255, 0, 0, 255)
        assert image.pixelColor(4, 4).alpha() == 0


def test_copy_and_paste(coloured: LifeWindow) -> None:
    select(29, 29, 5, 3)(coloured)
    coloured.registry.run("edit.copy")
    assert clip() == "x = 5, y = 3, rule = 345/2/4\n$.ABC!\n"
    coloured.registry.run("edit.paste")
    ghost = coloured.edits.ghost
    assert ghost is not None
    ghost.centre_on(12, 11)
    image = ghost.image(0, QColor("red"))
    assert image is not None
    assert image.pixelColor(0, 1).alpha() == 0
    shown = [image.pixelColor(x, 1).getRgb() for x in (1, 2, 3)]
    assert shown == [(*own, 255) for own in table()[1:]]
    coloured.edits.place_ghost()
    assert [state(coloured, x, 11) for x in range(10, 15)] == [0, 1, 2, 3, 0]
    coloured.registry.run("edit.undo")
    assert state(coloured, 12, 11) == 0
    coloured.registry.run("edit.cut")
    assert state(coloured, 31, 30) == 0


@pytest.mark.parametrize("text", ["x = 1, y = 1, rule = /2/9\nF!", "x = 1, y = 1\nE!"])
def test_what_does_not_fit_is_not_pasted(coloured: LifeWindow, text: str) -> None:
    to_clipboard(text)(coloured)
    coloured.registry.run("edit.paste")
    assert coloured.edits.ghost is None
    assert coloured.banner.is_error
    assert "rule 345/2/4 has states 0 to 3" in coloured.banner.text


def test_two_states_go_into_a_universe_of_more(coloured: LifeWindow) -> None:
    to_clipboard("bo$2bo$3o!")(coloured)
    coloured.registry.run("edit.paste")
    ghost = coloured.edits.ghost
    assert ghost is not None
    ghost.centre_on(9, 9)
    coloured.edits.place_ghost()
    assert state(coloured, 9, 8) == 1


def test_a_rule_beside_its_pattern(window: LifeWindow) -> None:
    """Its file is found by the pattern alone: copies, the dialog and edits do without."""
    folder = Path(folder_of(window)) / "patterns"
    folder.mkdir()
    (folder / "Rust.rule").write_text(
        "@RULE Rust\n@TABLE\nn_states:3\nneighborhood:vonNeumann\nsymmetries:none\n1,0,0,0,0,2\n"
        "@COLORS\n0 255 255 240\n1 90 90 110\n2 180 60 10\n"
    )
    path = folder / "rust.rle"
    path.write_text("x = 3, y = 1, rule = Rust\nAB!\n")
    window.adopt(opening.open(str(path), size=(64, 64), backend=window.backend))
    settle(window)
    box = window.session.bounding_box()
    assert box is not None
    assert colour(window, box.x, box.y) == (90, 90, 110)
    assert colour(window, box.x, box.y + 1) == (255, 255, 240)
    select(*box)(window)
    window.registry.run("edit.copy")
    assert clip() == "x = 2, y = 1, rule = Rust\nAB!\n"
    window.registry.run("edit.paste")
    assert window.edits.ghost is not None
    window.edits.give_up()
    from ui.qt.rule_dialog import RuleDialog

    dialog = RuleDialog(window.session.rule, window.session.topology, window)
    assert dialog.problem.text() == ""
    assert dialog.value()[0] is window.session.rule
    dialog.deleteLater()


def test_a_saved_universe_comes_back(coloured: LifeWindow) -> None:
    path = folder_of(coloured) + "/saved.rle"
    coloured.dialogs.answers["save_file"] = path
    coloured.registry.run("file.save-as")
    until(lambda: coloured.session.path == path)
    coloured.files.open_path(path)
    until(lambda: coloured.session.path == path and not coloured.background.is_busy)
    settle(coloured)
    assert coloured.session.rule == STARWARS
    assert [state(coloured, x, y) for x, y in STATES] == [1, 2, 3]


def test_pictures_are_exported_in_colours(coloured: LifeWindow) -> None:
    from ui.qt.film.export_dialogs import PictureDialog, Shown
    from ui.qt.menus.share import ShareMenu

    coloured.set_view(replace(coloured.view, palette="light", any_cell=True, ages=True))
    shown = coloured.menu_of(ShareMenu)._shown()
    assert isinstance(shown, Shown)
    dialog = PictureDialog(shown, folder_of(coloured) + "/a.png", coloured)
    look = dialog.look()
    assert (look.palette, look.any_cell, look.ages) == ("dark", False, False)
    dialog.deleteLater()
