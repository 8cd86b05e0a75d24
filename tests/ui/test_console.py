"""The Python console of the window, and scripts that work with the window."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lifesim.grid import Box
from tests.waiting import until as soon
from tests.windows import (
    SIDE,
    answer,
    close,
    generation,
    live,
    make_window,
    settle,
    shifted,
    until,
    write_glider,
)
from ui.qt.console import dock, runner
from ui.qt.console.carrier import Carrier
from ui.qt.console.dock import ConsoleDock
from ui.qt.console.facade import python_name
from ui.qt.dialogs import UnsavedAnswer
from ui.qt.menus.script import ScriptMenu
from ui.qt.window import LifeWindow
from ui.script.stopping import uninterrupted
from ui.session import SessionError


@pytest.fixture(scope="module")
def shared(app: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LifeWindow]:
    """One window for all tests of this module that leave it as it was."""
    made = make_window(tmp_path_factory.mktemp("console"))
    yield made
    close(made)


@pytest.fixture
def menu(shared: LifeWindow, unforeseen: None) -> Iterator[ScriptMenu]:
    made = shared.menu_of(ScriptMenu)
    made.show()
    made.console.view.clear()
    yield made
    until(lambda: not made.runner.is_running)
    shared.session.reset()  # type: ignore[attr-defined]
    shared.edits.select(None)


def text(console: ConsoleDock) -> str:
    return console.view.toPlainText()


def run(menu: ScriptMenu, source: str) -> str:
    """Run source as if it had been typed; return what is printed."""
    menu.console.view.clear()
    menu.console.enter(source)
    until(lambda: not menu.runner.is_running)
    menu.console.say("", "note")
    lines = text(menu.console).split("\n")
    return "\n".join(line for line in lines if line[:3] not in (">>>", "...")).strip()


def typed(menu: ScriptMenu, keys: str) -> None:
    QTest.keyClicks(menu.console.entry, keys)


def press(menu: ScriptMenu, key: Qt.Key, *pressed: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for one in pressed:
        held |= one
    QTest.keyClick(menu.console.entry, key, held)


def test_what_is_typed_is_run(menu: ScriptMenu, shared: LifeWindow) -> None:
    assert run(menu, "life.population()") == "5"
    assert run(menu, "_ + 1") == "6"
    assert run(menu, "life.run(4); life.generation") == "4"
    assert generation(shared) == 4
    assert run(menu, "grid.population(), selection") == "(5, None)"
    assert (
        run(menu, "window.select((30, 28, 2, 2)); selection")
        == "Box(x=30, y=28, width=2, height=2)"
    )
    assert "ZeroDivisionError" in run(menu, "1/0")
    assert "SyntaxError" in run(menu, "1 +* 2")
    said = run(menu, "window.note('hello'); window.fit(); window.seen")
    assert said.startswith("Box(")
    assert shared.banner.text == "hello"
    run(menu, "window.look_at(40, 41, -3)")
    assert shared.view.viewport.scale == -3
    view = shared.view.viewport
    assert view.cells_at(view.width // 2, view.height // 2) == Box(40, 41, 1, 1)
    run(menu, "window.show((0, 0, 4, 4))")
    assert run(menu, "window.scale") == str(shared.view.viewport.scale)


def test_every_action_can_be_called(menu: ScriptMenu, shared: LifeWindow) -> None:
    listed = run(menu, "actions").split("\n")
    ids = [action.id for action in shared.registry]
    assert len(listed) == len(ids) == len({tuple(map(python_name, id.split("."))) for id in ids})
    run(menu, "actions.control.next()")
    until(lambda: generation(shared) == 1)
    before = shared.view.viewport.scale
    assert run(menu, "actions.view.zoom_out()") == ""
    assert shared.view.viewport.scale == before + 1
    assert "LifesimError: Cut: not now" in run(menu, "actions.edit.cut()")
    assert "AttributeError" in run(menu, "actions.view.nothing()")
    assert "Let the universe be" in run(menu, "actions.time.continue_.__doc__")


def test_typing(menu: ScriptMenu) -> None:
    entry = menu.console.entry
    entry.clear()
    typed(menu, "for i in range(3):")
    press(menu, Qt.Key.Key_Return)
    assert entry.toPlainText() == "for i in range(3):\n    "
    typed(menu, "print('line', i)")
    press(menu, Qt.Key.Key_Return)
    press(menu, Qt.Key.Key_Return)
    assert entry.toPlainText() == "", "an empty line ends a block"
    until(lambda: "line 2" in text(menu.console))
    until(lambda: not menu.runner.is_running)
    typed(menu, "life.popu")
    press(menu, Qt.Key.Key_Tab)
    assert entry.toPlainText() == "life.population"
    typed(menu, "()")
    press(menu, Qt.Key.Key_Return)
    until(lambda: text(menu.console).endswith("\n5\n"))
    typed(menu, "half")
    press(menu, Qt.Key.Key_Up)
    assert entry.toPlainText() == "life.population()"
    press(menu, Qt.Key.Key_Up)
    assert entry.toPlainText() == "for i in range(3):\n    print('line', i)\n    "
    press(menu, Qt.Key.Key_Down)
    press(menu, Qt.Key.Key_Down)
    assert entry.toPlainText() == "half"
    entry.clear()
    typed(menu, "life.s")
    press(menu, Qt.Key.Key_Tab)
    assert "set  start  stop" in text(menu.console)
    entry.clear()
    press(menu, Qt.Key.Key_Return)
    typed(menu, "a")
    press(menu, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert entry.toPlainText() == "a\n"
    entry.clear()


@pytest.mark.parametrize("how", ["key", "button", "action", "output"])
def test_a_script_is_stopped(
    menu: ScriptMenu, shared: LifeWindow, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_PATIENCE", 60_000)  # this thread may get its turn late
    menu.console.enter("print('begun')\nwhile True: pass")
    assert menu.runner.is_running
    until(lambda: "begun" in text(menu.console))
    menu.console.enter("1")
    assert "stop it first" in text(menu.console)
    assert menu.console.stop_button.isEnabled()
    control = Qt.KeyboardModifier.ControlModifier
    if how == "key":
        press(menu, Qt.Key.Key_C, control)
    elif how == "button":
        menu.console.stop_button.click()
    elif how == "action":
        shared.registry.run("script.stop")
    else:
        QTest.keyClick(menu.console.view, Qt.Key.Key_C, control)
    until(lambda: not menu.runner.is_running)
    assert text(menu.console).endswith("Stopped.\n")
    assert not menu.console.stop_button.isEnabled()


def test_a_script_that_cannot_be_stopped_is_left_alone(
    menu: ScriptMenu, shared: LifeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_PATIENCE", 1)
    go, begun, ended = threading.Event(), threading.Event(), threading.Event()

    @uninterrupted
    def stick() -> None:
        begun.set()
        assert go.wait(60)

    menu.console.names.update(stick=stick, ended=ended)
    menu.console.enter(
        "try:\n  stick()\nfinally:\n  try: window.note('too late')\n  finally: ended.set()\n"
    )
    assert begun.wait(60)
    shared.banner.dismiss()
    menu.runner.stop()
    until(lambda: not menu.runner.is_running)
    assert "still waits" in text(menu.console)
    assert run(menu, "1 + 1") == "2"
    go.set()
    assert ended.wait(60)
    QApplication.processEvents()
    assert shared.banner.text == ""


def test_the_window_lives_while_a_script_runs(menu: ScriptMenu, shared: LifeWindow) -> None:
    menu.console.enter("while True: print('x' * 150)")
    before = shared.view.viewport.scale
    for _ in range(20):
        QApplication.processEvents()
    shared.registry.run("view.zoom-out")
    assert shared.view.viewport.scale == before + 1
    until(lambda: "xxx" in text(menu.console))
    menu.runner.stop()
    until(lambda: not menu.runner.is_running)


def colours_of(console: ConsoleDock) -> set[str]:
    """The colours of the first line and the last one that has text."""
    first, last = console.view.document().firstBlock(), console.view.document().lastBlock()
    blocks = [first, last.previous()]
    return {block.begin().fragment().charFormat().foreground().color().name() for block in blocks}


def test_what_was_printed_takes_other_colours_little_by_little(
    menu: ScriptMenu, shared: LifeWindow
) -> None:
    console, lines = menu.console, 4 * dock._DRESSED
    console.view.put("line\n" * lines, "error")
    before, old = shared.theme, colours_of(console)
    assert len(old) == 1
    turns: list[int] = []
    counting = console.view._dressing.timeout.connect(lambda: turns.append(1))
    shared.dress("light" if before == "dark" else "dark")
    assert colours_of(console) == old, "nothing has been done at once"
    console.view.put("new\n", "error")
    until(lambda: len(colours_of(console)) == 1 and colours_of(console) != old)
    assert len(turns) >= 4
    console.view._dressing.timeout.disconnect(counting)
    shared.dress(before)
    until(lambda: colours_of(console) == old)


def test_a_script_of_a_file(menu: ScriptMenu, shared: LifeWindow, tmp_path: Path) -> None:
    path = tmp_path / "pattern.py"
    path.write_text(
        "assert __name__ == '__main__'\n"
        "life.clear()\nlife.put(BitGrid.from_cells(3, 1, [(0, 0), (1, 0), (2, 0)]), 10, 10)\n"
        "life.run(1)\nprint(life.population(), __file__)\n"
    )
    menu.ask_script = lambda: str(path)  # type: ignore[method-assign]
    shared.registry.run("script.run")
    until(lambda: f"3 {path}" in text(menu.console))
    until(lambda: not menu.runner.is_running)
    assert live(shared) == {(11, 9), (11, 10), (11, 11)}
    shared.session.undo()  # type: ignore[attr-defined]
    run(menu, "for _ in range(2): life.undo()")
    assert live(shared) == shifted()
    assert "NameError" not in run(menu, "life")
    path.write_text("raise ValueError('so')\n")
    shared.registry.run("script.run")
    until(lambda: f'"{path}", line 1' in text(menu.console))
    menu.ask_script = lambda: str(tmp_path / "none.py")  # type: ignore[method-assign]
    shared.registry.run("script.run")
    assert "it is no file" in shared.banner.text
    shared.banner.dismiss()


def test_opening_from_a_script(window: LifeWindow) -> None:
    menu = window.menu_of(ScriptMenu)
    path = write_glider(window)
    assert run(menu, f"window.open({path!r}); life.population()") == "5"
    assert window.session.path == path
    assert "SessionError: cannot read" in run(menu, "window.open('/nowhere/none.rle')")
    window.dress("light")
    assert window.session.path == path


def test_opening_from_a_script_waits_until_changes_are_saved(
    window: LifeWindow, tmp_path: Path
) -> None:
    menu, path, saved = window.menu_of(ScriptMenu), write_glider(window), tmp_path / "saved.rle"
    run(menu, "life[1, 1] = 1")
    settle(window)
    before = window.session
    answer(unsaved=UnsavedAnswer.CANCEL)(window)
    said = run(menu, f"window.note('hello'); window.open({path!r})")
    assert said.endswith("a glider.rle was not opened")
    assert window.session is before
    answer(unsaved=UnsavedAnswer.SAVE, save_file=str(saved))(window)
    assert run(menu, f"window.open({path!r}); life.path") == repr(path)
    assert saved.exists()


def test_scripts_end_with_the_window(window: LifeWindow) -> None:
    menu = window.menu_of(ScriptMenu)
    menu.show()
    begun = threading.Event()
    menu.console.names["begun"] = begun
    menu.console.enter("begun.set()\nwhile True: window.note('again')")
    assert begun.wait(60)
    thread = menu.runner._thread
    window.close()
    assert thread is not None
    thread.join(60)
    assert not thread.is_alive()


def test_calls_that_wait_fail_with_the_window(app: Any) -> None:
    carrier, said, called = Carrier(), list[str](), list[int]()

    def call() -> None:
        try:
            carrier.call(lambda: called.append(1))
        except SessionError as error:
            said.append(str(error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    soon(lambda: carrier._pending)  # nobody lets Qt answer
    carrier.close()
    thread.join(60)
    assert said == ["the window has been closed"]
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(60)
    assert len(said) == 2
    QApplication.processEvents()
    assert not called


def test_what_was_typed_is_remembered(app: Any, tmp_path: Path, unforeseen: None) -> None:
    first = make_window(tmp_path)
    run(first.menu_of(ScriptMenu), "1 + 1")
    run(first.menu_of(ScriptMenu), "if 1:\n    2\n")
    close(first)
    second = make_window(tmp_path)
    assert second.menu_of(ScriptMenu).console.entry.history == ["1 + 1", "if 1:\n    2\n"]
    close(second)


def test_a_script_from_the_command_line_waits_for_its_universe(
    window: LifeWindow, tmp_path: Path
) -> None:
    path = tmp_path / "script.py"
    path.write_text("life.run(3)\n")
    menu = window.menu_of(ScriptMenu)
    menu.run_when_opened(str(path))
    assert not menu.runner.is_running
    window.files.open_path(write_glider(window))
    until(lambda: generation(window) == 3)
    until(lambda: not menu.runner.is_running)
    assert window.session.width != SIDE or not window.session.is_bounded
