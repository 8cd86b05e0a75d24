"""Every action by key and by menu; the command palette and the page of shortcuts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from lifesim.grid import BitGrid, Box
from lifesim.rule import LIFE, Rule
from lifesim.start import Start
from lifesim.topology import Topology
from lifesim.unbounded import ENGINES
from lifesim.until import Repeats
from tests.windows import (
    AT,
    GLIDER,
    NEW,
    SIDE,
    FakeDialogs,
    answer,
    both,
    carried,
    clip,
    control,
    endless,
    erased,
    folder_of,
    generation,
    glider_session,
    in_menu,
    live,
    middle,
    pixel,
    press_key,
    select,
    selected,
    settle,
    shifted,
    states_session,
    to_clipboard,
    until,
    viewport,
    write_glider,
    write_universe,
)
from ui import opening
from ui.cells.edits import Mode
from ui.film.export import ExportLook
from ui.model import CanvasView, ToolName
from ui.qt.film.export_dialogs import FilmOf, PictureChoice
from ui.qt.guide import GLOSSARY, MOUSE, GuidePage
from ui.qt.history import HistoryDock
from ui.qt.menus.history import HistoryMenu
from ui.qt.menus.script import ScriptMenu
from ui.qt.menus.second import SecondMenu
from ui.qt.menus.share import ShareMenu
from ui.qt.menus.start import StartMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.palette import CommandPalette
from ui.qt.second import SecondView
from ui.qt.shortcuts import ShortcutsPage
from ui.qt.until_dialog import Until
from ui.qt.window import LifeWindow
from ui.speed import RunSpeed


@dataclass
class Case:
    """before: prepares. done: whether it has happened, given what then() saw before."""

    done: Callable[[LifeWindow, Any], object]
    before: Callable[[LifeWindow], object] = lambda window: None
    seen: Callable[[LifeWindow], Any] = lambda window: None


def far(window: LifeWindow) -> None:
    window.canvas.zoom(-2)
    window.canvas.pan(300, 200)
    settle(window)


def faster(window: LifeWindow) -> None:
    window.registry.run("control.faster")
    window.registry.run("control.faster")


def moved(right: int, down: int) -> Case:
    def done(window: LifeWindow, seen: Any) -> bool:
        now = viewport(window)
        return (
            (now.left - seen.left) * right + (now.top - seen.top) * down > 0
            and now.scale == seen.scale
        )  # fmt: skip

    return Case(done, seen=viewport)


def other_windows(kind: type) -> int:
    return sum(isinstance(top, kind) and top.isVisible() for top in QApplication.topLevelWidgets())


def speed(window: LifeWindow) -> int:
    return control(window).speed.generations


def stepped(window: LifeWindow) -> None:
    window.registry.run("control.next")
    until(lambda: generation(window) == 1)


def time_of(window: LifeWindow) -> TimeMenu:
    return window.menu_of(TimeMenu)


def film(window: LifeWindow) -> None:
    """Two recorded pictures."""
    timeline = time_of(window).timeline
    timeline.record(True)
    until(lambda: len(timeline.recording) == 1)
    window.session.step(1)
    settle(window)
    until(lambda: len(timeline.recording) == 2)


def look_back(window: LifeWindow) -> None:
    film(window)
    time_of(window).timeline.scrub(0)


def share(window: LifeWindow) -> None:
    menu, look = window.menu_of(ShareMenu), ExportLook(Box(0, 0, SIDE, SIDE))
    saved = folder_of(window) + "/saved"
    menu.ask_picture = lambda shown, path: PictureChoice(saved + ".png", look)
    menu.ask_film = lambda shown, path, count: FilmOf(saved + ".gif", look, 10.0, 4)


def share_mp4(window: LifeWindow) -> None:
    menu = window.menu_of(ShareMenu)
    menu.asked = []
    menu.ask_film = lambda shown, path, count: menu.asked.append(path)


def parsing_begun(window: LifeWindow, _: Any) -> bool:
    """And closed again."""
    from ui.qt.parsing.window import ParseWindow

    tops = QApplication.topLevelWidgets()  # those of other tests too, which have been closed
    shown = [top for top in tops if isinstance(top, ParseWindow) and top.isVisible()]
    for top in shown:
        top.close()
    return len(shown) == 1


def of_states(window: LifeWindow) -> None:
    """A universe of four states, the last of which is in the middle and under the pointer."""
    window.adopt(states_session("345/2/4"))
    settle(window)
    window.show_box(Box(31, 29, 3, 3))
    QCursor.setPos(window.canvas.mapToGlobal(pixel(window, 32, 30)))
    settle(window)


def second_of(window: LifeWindow) -> SecondView:
    return window.menu_of(SecondMenu).view


def history_of(window: LifeWindow) -> HistoryDock:
    return window.menu_of(HistoryMenu).dock


def script_of(window: LifeWindow) -> ScriptMenu:
    return window.menu_of(ScriptMenu)


def a_script(window: LifeWindow) -> None:
    path = Path(folder_of(window), "script.py")
    path.write_text("life.run(1)\n")
    script_of(window).ask_script = lambda: str(path)


def busy(window: LifeWindow) -> Any:
    """A script that does not end by itself: its thread."""
    begun = threading.Event()
    script_of(window).console.names["begun"] = begun
    script_of(window).console.enter("begun.set()\nwhile True: pass")
    assert begun.wait(60)
    return script_of(window).runner._thread


def pattern_chosen(window: LifeWindow) -> None:
    """A glider of a folder is chosen in the dock."""
    menu, path = window.menu_of(StartMenu), write_glider(window)
    menu.dock.show()
    menu.browser.browse(folder_of(window))
    until(lambda: [card.path for card in menu.browser.list.cards.cards] == [path])
    menu.browser.list.focus_first()
    window.canvas.setFocus()


CASES: dict[str, Case] = {
    "file.new": Case(
        lambda w, _: (w.session.width, w.session.height) == (32, 16) and
        str(w.session.rule) == "B36/S23",
        answer(new=NEW),
    ),
    "file.open": Case(
        lambda w, seen: w.session.path == seen,
        lambda w: answer(open_file=write_glider(w))(w),
        lambda w: write_glider(w),
    ),
    "file.directory": Case(
        lambda w, seen: w.session.path == seen and w.session.width == 32 and
        w.registry.is_enabled("edit.paste") and not w.registry.is_enabled("control.rule"),
        lambda w: answer(open_directory=write_universe(w))(w),
        lambda w: folder_of(w) + "/universe",
    ),
    "file.soup": Case(
        lambda w, _: (w.session.width, w.session.height) == (32, 16) and
        w.dialogs.asked[-1][1][-1] is True,
        answer(new=NEW),
    ),
    "file.close": Case(lambda w, _: w.menu_of(StartMenu).is_shown),
    "file.forget-gone": Case(
        lambda w, _: "/some/where.rle" not in w.files.recent and write_glider(w) in w.files.recent,
        lambda w: (w.files.remember("/some/where.rle"), w.files.remember(write_glider(w))),
    ),
    "file.forget": Case(
        lambda w, _: not w.files.recent, lambda w: w.files.remember("/some/where.rle")
    ),
    "file.cancel": Case(
        lambda w, noticed: noticed.is_set() and not w.background.is_opening, seen=endless
    ),
    "file.save": Case(
        lambda w, seen: os.path.exists(seen),
        lambda w: answer(save_file=folder_of(w) + "/saved.rle")(w),
        lambda w: folder_of(w) + "/saved.rle",
    ),
    "file.save-as": Case(
        lambda w, seen: os.path.exists(seen),
        lambda w: answer(save_file=folder_of(w) + "/saved.cells")(w),
        lambda w: folder_of(w) + "/saved.cells",
    ),
    "file.quit": Case(lambda w, _: not w.isVisible()),
    "edit.undo": Case(lambda w, _: live(w) == shifted(), erased),
    "edit.redo": Case(
        lambda w, _: live(w) == set(),
        both(erased, lambda w: w.registry.run("edit.undo"), lambda w: settle(w)),
    ),
    "edit.cut": Case(lambda w, _: live(w) == set() and "3o" in clip(), selected),
    "edit.copy": Case(
        lambda w, _: "3o" in clip() and live(w) == shifted(), both(to_clipboard(""), selected)
    ),
    "edit.paste": Case(lambda w, _: w.canvas.ghost is not None, to_clipboard("bo$2bo$3o!")),
    "edit.place": Case(
        lambda w, _: len(live(w)) == 10 and w.canvas.ghost is None,
        both(carried, lambda w: w.edits.ghost.centre_on(10, 10)),
    ),
    "edit.give-up": Case(
        lambda w, _: w.view.selection is not None and w.canvas.ghost is None,
        both(selected, carried),
    ),
    "edit.mode-or": Case(lambda w, _: w.edits.mode is Mode.OR,
                         lambda w: setattr(w.edits, "mode", Mode.XOR)),
    "edit.mode-copy": Case(lambda w, _: w.edits.mode is Mode.COPY),
    "edit.mode-xor": Case(lambda w, _: w.edits.mode is Mode.XOR),
    "edit.all": Case(lambda w, _: w.view.selection == Box(0, 0, SIDE, SIDE)),
    "edit.clear": Case(lambda w, _: live(w) == set(), selected),
    "edit.invert": Case(lambda w, _: len(live(w)) == 4, selected),
    "edit.fill": Case(
        lambda w, _: len(live(w)) == 9, both(selected, answer(fill=(Fraction(1), 1)))
    ),
    "edit.turn-right": Case(
        lambda w, _: turned(w, [(2 - y, x) for x, y in GLIDER]), selected
    ),
    "edit.turn-left": Case(lambda w, _: turned(w, [(y, 2 - x) for x, y in GLIDER]), selected),
    "edit.flip-across": Case(
        lambda w, _: turned(w, [(2 - x, y) for x, y in GLIDER]), selected
    ),
    "edit.flip-down": Case(lambda w, _: turned(w, [(x, 2 - y) for x, y in GLIDER]), selected),
    "edit.draw": Case(
        lambda w, _: w.view.tool is ToolName.DRAW, lambda w: w.edits.take(ToolName.PAN)
    ),
    "edit.select": Case(lambda w, _: w.view.tool is ToolName.SELECT),
    "edit.pan": Case(lambda w, _: w.view.tool is ToolName.PAN),
    "state.next": Case(lambda w, _: w.edits.pen.state == 2, of_states),
    "state.before": Case(lambda w, _: w.edits.pen.state == 0, of_states),
    "state.pick": Case(lambda w, _: w.edits.pen.state == 3, of_states),
    "state.erase": Case(lambda w, _: w.edits.pen.state == 0, of_states),
    "view.fit": Case(lambda w, seen: sees(w, Box(*AT, 3, 3)), far),
    "view.fit-selection": Case(
        lambda w, seen: sees(w, Box(2, 2, 4, 4)), both(far, select(2, 2, 4, 4))
    ),
    "view.fit-universe": Case(lambda w, _: sees(w, Box(0, 0, SIDE, SIDE)), far),
    "view.zoom-in": Case(lambda w, seen: viewport(w).scale == seen.scale - 1, seen=viewport),
    "view.zoom-out": Case(lambda w, seen: viewport(w).scale == seen.scale + 1, seen=viewport),
    "view.scale-1": Case(lambda w, _: viewport(w).scale == 0),
    "view.middle": Case(
        lambda w, seen: middle(w) == Box(SIDE // 2, SIDE // 2, 1, 1) and
        viewport(w).scale == seen.scale,
        lambda w: w.canvas.pan(100, 200), viewport,
    ),
    "view.left": moved(-1, 0),
    "view.right": moved(1, 0),
    "view.up": moved(0, -1),
    "view.down": moved(0, 1),
    "view.far-left": moved(-1, 0),
    "view.far-right": moved(1, 0),
    "view.far-up": moved(0, -1),
    "view.far-down": moved(0, 1),
    "view.auto-fit": Case(lambda w, _: w.view.auto_fit and sees(w, Box(*AT, 3, 3)), far),
    "view.follow": Case(lambda w, _: w.view.follow and middle(w) == Box(31, 29, 1, 1), far),
    "view.grid": Case(lambda w, seen: w.view.grid is not seen, seen=lambda w: w.view.grid),
    "view.any-cell": Case(
        lambda w, seen: w.view.any_cell is not seen, seen=lambda w: w.view.any_cell
    ),
    "view.ages": Case(lambda w, seen: w.view.ages is not seen, seen=lambda w: w.view.ages),
    "view.theme-dark": Case(lambda w, _: w.theme == "dark", lambda w: w.dress("light")),
    "view.theme-light": Case(lambda w, _: w.theme == "light", lambda w: w.dress("dark")),
    "view.theme": Case(lambda w, seen: w.theme != seen, seen=lambda w: w.theme),
    "view.palette-dark": Case(
        lambda w, _: w.view.palette == "dark",
        lambda w: w.set_view(replace(w.view, palette="light")),
    ),
    "view.palette-light": Case(lambda w, _: w.view.palette == "light"),
    "view.palette-viridis": Case(lambda w, _: w.view.palette == "viridis"),
    "view.full": Case(lambda w, _: w.isFullScreen()),
    "view.toolbar": Case(lambda w, _: w.toolbar.isHidden()),
    "view.parsing": Case(parsing_begun),
    "view.pane": Case(lambda w, _: w.focusWidget() is not w.canvas),
    "library.dock": Case(
        lambda w, seen: w.menu_of(StartMenu).dock.isHidden() != seen,
        seen=lambda w: w.menu_of(StartMenu).dock.isHidden(),
    ),
    "library.folder": Case(
        lambda w, _: w.menu_of(StartMenu).browser.source == folder_of(w) and
        w.menu_of(StartMenu).dock.isVisible(),
        lambda w: answer(pattern_folder=folder_of(w))(w),
    ),
    "library.insert": Case(lambda w, _: w.edits.ghost is not None, pattern_chosen),
    "control.run": Case(lambda w, _: w.session.status().running and generation(w) > 2),
    "control.step": Case(lambda w, _: generation(w) == 4, faster),
    "control.next": Case(lambda w, _: generation(w) == 1, faster),
    "control.slower": Case(lambda w, _: speed(w) == 2, faster),
    "control.faster": Case(lambda w, _: speed(w) == 2),
    "control.one": Case(lambda w, _: speed(w) == 1, faster),
    **{
        f"control.base-{base}": Case(
            lambda w, _, base=base: control(w).speed.base == base,
            lambda w, base=base: w.registry.run(f"control.base-{12 - base if base == 8 else 8}"),
        )
        for base in (2, 4, 8, 10)
    },
    **{
        f"control.rate-{name}": Case(
            lambda w, _, rate=rate: control(w).rate == rate,
            lambda w, name=name: w.registry.run(f"control.rate-{'2' if name == '1' else '1'}"),
        )
        for name, rate in [("all", None)] + [(f"{n}", n) for n in (1, 2, 5, 10, 20, 30, 60)]
    },
    "control.go": Case(lambda w, _: generation(w) == 12, answer(generation=12)),
    "control.until": Case(
        lambda w, _: generation(w) == 0 and w.banner.text ==
        "Period:512: oscillator of period 256, from generation 0 on",
        answer(until=Until(Repeats(512), None)),
    ),
    "control.reset": Case(lambda w, _: generation(w) == 0 and live(w) == shifted(), stepped),
    "control.rule": Case(
        lambda w, _: str(w.session.rule) == "B2/S" and w.session.topology is Topology.PLANE,
        answer(rule=(Rule.parse("B2/S"), Topology.PLANE)),
    ),
    "control.size": Case(
        lambda w, _: (w.session.width, w.session.height) == (80, 90), answer(size=(80, 90))
    ),
    **{
        f"engine.{name}": Case(
            lambda w, _, name=name: w.session.engine == name and
            live(w) == shifted() and generation(w) == 0,
            lambda w, name=name: other_engine(w, name),
        )
        for name in ENGINES
    },
    "share.png": Case(lambda w, _: os.path.exists(folder_of(w) + "/saved.png"), share),
    "share.gif": Case(lambda w, _: os.path.exists(folder_of(w) + "/saved.gif"), share),
    "share.mp4": Case(
        lambda w, _: [os.path.basename(p) for p in w.menu_of(ShareMenu).asked] == ["life.mp4"],
        share_mp4,
    ),
    "time.timeline": Case(
        lambda w, seen: time_of(w).timeline.isHidden() != seen,
        seen=lambda w: time_of(w).timeline.isHidden(),
    ),
    "time.plots": Case(
        lambda w, seen: time_of(w).plots.isHidden() != seen,
        seen=lambda w: time_of(w).plots.isHidden(),
    ),
    "time.record": Case(lambda w, _: time_of(w).timeline.is_recording),
    "time.folder": Case(
        lambda w, _: str(time_of(w).timeline.recording.folder) == folder_of(w) + "/film",
        lambda w: setattr(time_of(w), "ask_folder", lambda: folder_of(w) + "/film"),
    ),
    "time.back": Case(lambda w, _: time_of(w).timeline.shown.generation == 1, film),
    "time.forth": Case(lambda w, _: time_of(w).timeline.shown.generation == 1, look_back),
    "time.now": Case(lambda w, _: not time_of(w).timeline.is_scrubbing, look_back),
    "time.continue": Case(
        lambda w, _: generation(w) == 0 and not time_of(w).timeline.is_scrubbing, look_back
    ),
    "second.view": Case(
        lambda w, seen: second_of(w).isHidden() != seen, seen=lambda w: second_of(w).isHidden()
    ),
    "second.link": Case(
        lambda w, seen: second_of(w).is_linked is not seen,
        lambda w: second_of(w).show(),
        lambda w: second_of(w).is_linked,
    ),
    "history.show": Case(
        lambda w, seen: history_of(w).isHidden() != seen, seen=lambda w: history_of(w).isHidden()
    ),
    "script.console": Case(
        lambda w, seen: script_of(w).console.isHidden() != seen,
        seen=lambda w: script_of(w).console.isHidden(),
    ),
    "script.run": Case(
        lambda w, _: generation(w) == 1 and not script_of(w).runner.is_running, a_script
    ),
    "script.stop": Case(
        lambda w, seen: not seen.is_alive() and not script_of(w).runner.is_running, seen=busy
    ),
    "help.palette": Case(lambda w, _: other_windows(CommandPalette) == 1),
    "help.guide": Case(lambda w, _: other_windows(GuidePage) == 1),
    "help.shortcuts": Case(lambda w, _: other_windows(ShortcutsPage) == 1),
    "help.about": Case(lambda w, _: other_windows(QMessageBox) == 1),
}  # fmt: skip


def other_engine(window: LifeWindow, name: str) -> None:
    """A plane without bounds, in another engine than the one that is asked for."""
    grid = BitGrid.from_cells(SIDE, SIDE, shifted())
    start = Start(grid, LIFE, Topology.PLANE, bounds=(0, 0))
    engine = "tiles" if name == "dense" else "dense"
    window.adopt(opening._session(start, window.backend, engine=engine))


def turned(window: LifeWindow, cells: list[tuple[int, int]]) -> bool:
    return live(window) == {(AT[0] + x, AT[1] + y) for x, y in cells}


def sees(window: LifeWindow, box: Box) -> bool:
    view = viewport(window)
    left, top, right, bottom = view.rectangle(box)
    inside = left >= 0 and top >= 0 and right <= view.width and bottom <= view.height
    return inside and view == view.fitting(box, view.width, view.height)


def test_every_action_has_a_case(window: LifeWindow) -> None:
    assert {action.id for action in window.registry} == set(CASES)


def test_actions_by_key(window: LifeWindow) -> None:
    keyed = [(action.id, key) for action in window.registry for key in action.keys]
    assert len(keyed) > 45
    for id, key in sorted(keyed, key=lambda pair: pair[0] == "file.quit"):
        check(window, id, lambda w, key=key: press_key(w, key))


def test_actions_by_menu(window: LifeWindow) -> None:
    for id in sorted(CASES, key=lambda id: id == "file.quit"):
        check(window, id, lambda w, id=id: in_menu(w, id).trigger())


def check(window: LifeWindow, id: str, act: Callable[[LifeWindow], object]) -> None:
    """Check one case in a window as if it were new: one for all, as making one takes its time."""
    fresh(window)
    case = CASES[id]
    case.before(window)
    settle(window)
    window.refresh()
    seen = case.seen(window)
    for path in Path(folder_of(window)).glob("saved*"):
        path.unlink()
    act(window)
    try:
        until(lambda: case.done(window, seen))
    except AssertionError:
        raise AssertionError(f"{id} {window.banner.text}") from None
    assert not window.banner.is_error, f"{id} {window.banner.text}"


def fresh(window: LifeWindow) -> None:
    for other in QApplication.topLevelWidgets():
        if other is not window and other.isVisible():
            other.close()
    window.showNormal()
    window.toolbar.show()
    window.menu_of(StartMenu).dock.hide()
    window.activateWindow()
    window.canvas.setFocus()
    window.dialogs = FakeDialogs()  # type: ignore[assignment]
    window.edits.mode = Mode.OR
    control(window).speed = RunSpeed()
    window.banner.dismiss()
    window.dress("dark")
    plain = CanvasView(viewport=window.view.viewport, tool=ToolName.DRAW)
    window.canvas.show_view(plain)
    window.adopt(glider_session())
    until(lambda: window.canvas.frame is not None and window._aim is None)


def test_the_command_palette(window: LifeWindow) -> None:
    press_key(window, "Ctrl+Shift+P")
    palette = next(top for top in QApplication.topLevelWidgets() if isinstance(top, CommandPalette))
    QTest.keyClicks(palette.line, "zoomout")
    assert palette.list.item(0).text() == "Zoom out"
    before = viewport(window).scale
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert viewport(window).scale == before + 1


def test_the_command_palette_does_nothing_that_cannot_be_done(window: LifeWindow) -> None:
    press_key(window, "Ctrl+Shift+P")
    palette = next(top for top in QApplication.topLevelWidgets() if isinstance(top, CommandPalette))
    QTest.keyClicks(palette.line, "redo")
    texts = [palette.list.item(row).text() for row in range(palette.list.count())]
    assert "Redo" in texts
    row = texts.index("Redo")
    assert not palette.list.item(row).flags()
    palette.line.setText("qqqq")
    assert palette.list.count() == 0
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    palette.close()


def test_the_page_of_shortcuts_has_every_action(window: LifeWindow) -> None:
    page = ShortcutsPage(window.registry, (("Zoom", "Wheel"),), window)
    rows = {row.text(0) for _, group in page._groups for row in group}
    assert {action.name.removesuffix("…") for action in window.registry} <= rows
    page.line.setText("flip")
    shown = [row.text(0) for _, group in page._groups for row in group if not row.isHidden()]
    assert shown[:2] == ["Flip left and right", "Flip top and bottom"]
    page.close()


def test_the_guide_has_the_mouse_the_tools_and_the_words(window: LifeWindow) -> None:
    page = GuidePage(window.registry, window)
    text = page.text.toPlainText()
    for left, right in (*MOUSE, *GLOSSARY):
        assert left in text
        assert right in text
    assert "Run until (Ctrl+U)" in text
    assert "Undo (Ctrl+Z)" in text
    page.close()
    page.deleteLater()


def test_controls_have_accessible_names(window: LifeWindow) -> None:
    from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit

    for kind in (QAbstractButton, QComboBox, QLineEdit):
        for widget in window.findChildren(kind):
            if not widget.objectName().endswith("_ext_button"):
                assert widget.accessibleName(), widget
    assert window.canvas.accessibleName()
    texts = [action.name for action in window.registry]
    assert len(set(texts)) == len(texts)


def test_a_registry_refuses_what_is_taken(window: LifeWindow) -> None:
    taken = window.registry["file.open"]
    with pytest.raises(ValueError, match="two actions"):
        window.registry.add(taken)
    with pytest.raises(ValueError, match=r"file\.open"):
        window.registry.add(replace(taken, id="other.open"))
