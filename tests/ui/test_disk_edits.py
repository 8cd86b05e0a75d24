"""Universes on disk that are drawn on, pasted into and undone, as sessions and in the window."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.pasting import Mode
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from tests.disk_sessions import (
    Ears,
    Opening,
    break_off,
    make,
    sessions,
    sharp,
    shows_in_the_end,
    soup,
)
from tests.waiting import until
from ui.cells import edits
from ui.disk.editor import DiskEditor
from ui.disk.session import DiskSession
from ui.script.life import ShownLife
from ui.session import Event, SessionError

GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
BOX = Box(20, 10, 60, 30)


@pytest.fixture
def opening() -> Iterator[Opening]:
    with sessions() as function:
        yield function


def whole_of(session: DiskSession) -> BitGrid:
    session.settled().result(60)
    return session.cells(session.box)


@pytest.mark.parametrize(
    "edit",
    [
        edits.Stroke(((5, 5), (70, 40), (90, -7)), 1, 3),
        edits.Stroke(((5, 5),), 0),
        edits.Clear(BOX),
        edits.Cut(BOX),
        edits.Invert(BOX),
        edits.FlipAcross(BOX),
        edits.FlipDown(BOX),
        edits.RandomFill(BOX, Fraction(1, 2), 7),
        edits.rotation(Box(30, 10, 20, 31), True, 200, 96),
        *(edits.Paste(GLIDER, 198, 90, mode) for mode in Mode),
    ],
    ids=lambda edit: type(edit).__name__,
)
def test_every_edit_does_what_it_does_in_memory(
    opening: Opening, tmp_path: Path, edit: edits.Edit
) -> None:
    grid = soup(200, 96)
    session = opening(make(tmp_path / "u", grid))
    box = edit.box(200, 96)
    assert box is not None
    expected = grid.copy()
    edits.overwrite(expected, edit.apply(grid.crop(box), box), box.x, box.y)
    session.edit(edit)
    assert whole_of(session) == expected
    assert session.can_undo == (edit.title if expected != grid else None)
    assert shows_in_the_end(session, expected)
    session.undo()
    assert whole_of(session) == grid
    assert (session.can_undo, session.can_redo is not None) == (None, expected != grid)
    session.redo()
    assert whole_of(session) == expected
    assert session.status().population == expected.population()


def test_pictures_from_afar_follow(opening: Opening, tmp_path: Path) -> None:
    session = opening(make(tmp_path / "u", BitGrid(2048, 1024), (2, 2)))
    ears = Ears(session)
    assert not sharp(session, Box(0, 0, 2048, 1024), 5).any()
    session.edit_now(edits.RandomFill(Box(1000, 500, 64, 64), 1, 1))
    until(lambda: Event.CELLS in ears.heard)  # told by whichever thread has looked first
    until(lambda: sharp(session, Box(0, 0, 2048, 1024), 5).any())
    levels = sharp(session, Box(0, 0, 2048, 1024), 5)
    assert levels[500 // 32 + 1, 1000 // 32 + 1] == 255
    assert levels.astype(bool).sum() <= 9


def test_what_is_held_by_others_is_refused(opening: Opening, tmp_path: Path) -> None:
    path = make(tmp_path / "u", BitGrid(128, 64))
    session = opening(path)
    ears = Ears(session)
    with Universe.open(path, writing=True):
        session.edit(edits.Paste(GLIDER, 10, 10))
        session.settled().result(60)
        assert "in use by process" in session.status().problem
        assert Event.FAILED in ears.heard
        with pytest.raises(LifesimError, match="in use by process"):
            session.edit_now(edits.Paste(GLIDER, 10, 10))
        until(lambda: session.refusal.startswith("The universe is in use by process"))
    assert not whole_of(session).population()
    until(lambda: not session.refusal)
    session.edit_now(edits.Paste(GLIDER, 10, 10))
    assert session.status().problem == ""
    assert whole_of(session).population() == 5


def test_what_is_on_its_way_is_refused(
    opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "u", soup(128, 64))
    with Universe.open(path, writing=True) as universe:
        break_off(universe, monkeypatch)
    session = opening(path)
    assert session.refusal.startswith("The universe is between generations 0 and 6")
    assert session.can_undo is None
    with pytest.raises(LifesimError, match="on its way"):
        session.edit_now(edits.Paste(GLIDER, 10, 10))
    with pytest.raises(GridError):
        session.cells(Box(120, 0, 20, 1))


def test_a_plane_without_bounds_gets_room(opening: Opening, tmp_path: Path) -> None:
    grid = BitGrid(192, 128)
    grid.paste(GLIDER, 90, 60)
    path = str(tmp_path / "u")
    tiling = tile_universe(192, 128, False, (1, 2))
    make_universe(path, tiling, from_grid(grid), corner=(-90, -60)).close()
    session = opening(path)
    session.edit_now(edits.Paste(GLIDER, 1000, -700))
    assert session.bounding_box() is not None
    assert session.cells(Box(1000, -700, 3, 3)) == GLIDER
    assert session.cells(Box(0, 0, 3, 3)) == GLIDER
    session.edit_now(edits.Stroke(((session.limits.x - 5, 0),)))  # nobody gets there
    session.edit(edits.Stroke(((0, 0),)))
    session.undo()
    session.undo()
    session.settled().result(60)
    assert session.status().population == 5


def test_scripts_change_universes_on_disk(opening: Opening, tmp_path: Path) -> None:
    session = opening(make(tmp_path / "u", BitGrid(128, 64)))
    life = ShownLife(lambda: session)
    life.put(GLIDER, 5, 6)
    life[100, 50] = 1
    assert (life.population(), life[100, 50], life[0, 0]) == (6, 1, 0)
    life.undo()
    assert life.population() == 5
    session.edit(edits.Paste(GLIDER, 50, 20))  # which the run waits for
    life.run(4)
    assert (life.generation, session.can_undo, session.status().problem) == (4, None, "")
    assert life.grid((6, 7, 3, 3)) == life.grid((51, 21, 3, 3)) == GLIDER
    assert life.copy().grid() == life.grid()
    for change in (lambda: setattr(life, "rule", "B36/S23"), life.reset):
        with pytest.raises(SessionError, match="universe on disk"):
            change()
    with pytest.raises(SessionError, match="gone"):
        life.go_to(1)


def test_a_change_is_done_when_all_have_been_told(tmp_path: Path) -> None:
    path = make(tmp_path / "u", BitGrid(128, 64))
    told, go, order = threading.Event(), threading.Event(), list[object]()

    def changed(failed: bool) -> None:
        told.set()
        assert go.wait(60)
        order.append((failed, editor.problem))

    def refused(universe: Universe) -> None:
        raise SessionError("not this")

    editor = DiskEditor(path, lambda: None, changed)
    try:
        for change, heard in (
            (lambda universe: None, [(False, "")]),
            (refused, [(False, ""), (True, "not this")]),
        ):
            order.clear()
            editor.post(change)
            assert told.wait(60)
            editor.then(lambda: order.append("then"))
            assert not order
            go.set()
            until(lambda: not editor.is_busy)
            assert order == [*heard, "then"]
            told.clear()
            go.clear()
    finally:
        go.set()
        editor.close()
    editor.post(refused)
    assert not editor.is_busy, "nobody waits for what is never done"


def test_a_script_waits_for_a_run_that_waits_for_changes(opening: Opening, tmp_path: Path) -> None:
    session = opening(make(tmp_path / "u", soup(128, 64)))
    life, edits_of = ShownLife(lambda: session), session._edits
    begun, go, asked = threading.Event(), threading.Event(), threading.Event()
    settled, reached = session.settled, list[int]()

    def settled_once() -> Any:
        asked.set()
        return settled()

    session.settled = settled_once  # type: ignore[method-assign]

    def script() -> None:
        life.go_to(6)
        reached.append(life.generation)

    edits_of.post(lambda universe: (begun.set(), go.wait(60)))
    assert begun.wait(60)
    thread = threading.Thread(target=script)
    thread.start()
    until(lambda: asked.is_set() or not thread.is_alive())
    go.set()
    thread.join(60)
    assert reached == [6]


# --- in the window ---------------------------------------------------------------------


def test_drawing_in_the_window(window: Any, tmp_path: Path) -> None:
    pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)
    from tests.windows import LEFT, carried, drag, in_menu, pixel
    from tests.windows import until as seen

    window.adopt(DiskSession.open(make(tmp_path / "u", BitGrid(128, 64)), backend="reference"))
    session = window.session
    window.show_box(Box(0, 0, 64, 48))
    seen(lambda: window.canvas.frame is not None)
    window.registry.run("edit.draw")
    drag(window, LEFT, pixel(window, 5, 5), pixel(window, 5, 9), pixel(window, 8, 9))
    seen(lambda: session.status().population == 8)
    assert window.canvas.ghost is None
    seen(lambda: in_menu(window, "edit.undo").text() == "&Undo drawing")
    drag(window, LEFT, pixel(window, 5, 9), pixel(window, 5, 5))
    seen(lambda: session.status().population == 3)
    window.registry.run("edit.undo")
    seen(lambda: session.status().population == 8)
    window.edits.select(Box(0, 0, 64, 64))
    window.registry.run("edit.clear")
    seen(lambda: session.status().population == 0)
    carried(window)
    window.edits.ghost.centre_on(30, 30)
    window.registry.run("edit.place")
    seen(lambda: session.status().population == 5)
    window.registry.run("edit.undo")
    window.registry.run("edit.undo")
    seen(lambda: session.status().population == 8)
    with Universe.open(session.path, writing=True):
        seen(lambda: session.refusal)
        drag(window, LEFT, pixel(window, 20, 20), pixel(window, 25, 20))
        assert window.banner.text.startswith("The universe is in use by process")
        assert session.status().population == 8
    # A stroke that has been begun on one universe is none of another.
    seen(lambda: not session.refusal)
    window.edits._stroke(((1, 1),), 1, 99)
    window.adopt(DiskSession.open(make(tmp_path / "v", BitGrid(128, 64)), backend="reference"))
    window.edits._stroke_ended()
    window.session.settled().result(60)
    assert window.session.status().population == 0
