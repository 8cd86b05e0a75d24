"""The parsing window, offscreen: its actions, controls, themes and sizes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QEvent, QRect, QSettings, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QScreen
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from tests.ui.parse_windows import by_key, by_menu, example, in_menu, settle, table, write
from tests.windows import close, make_window, until
from ui.parsing.launch import ParseLaunch
from ui.qt import theme
from ui.qt.palette import CommandPalette
from ui.qt.parsing import window as parse_window
from ui.qt.parsing.window import ParseWindow, open_parse_window
from ui.qt.shortcuts import ShortcutsPage
from ui.qt.window_keys import WindowKeys


def test_every_action_is_in_a_menu_and_in_the_palette(win: ParseWindow) -> None:
    for action in win.registry:
        assert in_menu(win, action.id) is win.registry.made(action.id)
    by_key(win, "help.palette")
    (shown,) = win.findChildren(CommandPalette)
    shown.close()
    by_key(win, "help.shortcuts")
    (page,) = win.findChildren(ShortcutsPage)
    assert page.tree.findItems("Mouse", Qt.MatchFlag.MatchExactly)
    page.close()


def test_controls_have_names(win: ParseWindow) -> None:
    for widget in (
        win.editor, win.batch.line, win.batch.table, win.batch.ways, win.chart, win.trees.pane,
        win.trees.number,
        win.trees.back, win.trees.forth, win.verdict, win.summary, win.grammar.note,
    ):  # fmt: skip
        assert widget.accessibleName()


@pytest.mark.parametrize("name", theme.THEMES)
def test_both_themes(win: ParseWindow, app: QApplication, name: str) -> None:
    example(win, "english.cfg")
    theme.apply(app, name)
    QApplication.processEvents()
    image = win.grab().toImage()
    theme.apply(app, "dark")
    dark = image.pixelColor(image.width() - 20, image.height() // 2).lightness() < 128
    assert dark == (name == "dark")


def test_a_command_begins_with_what_it_was_given(win: ParseWindow, tmp_path: Path) -> None:
    grammar, sentences = tmp_path / "g.cfg", tmp_path / "s.txt"
    grammar.write_text("S -> 'a' 'b' |")
    sentences.write_text("a b\nab\n")
    launch = ParseLaunch(str(grammar), str(sentences), "space")
    win.begin(launch, launch.text(), launch.lines())
    settle(win)
    assert [row[1] for row in table(win)] == ["accepted", "rejected"]
    assert "g.cfg" in win.windowTitle()
    assert win.verdict.text() == "Accepted, 1 parse"


def test_it_is_remembered(app: QApplication, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    first = ParseWindow(settings)
    first.show()
    first.resize(720, 560)
    first.close()
    second = ParseWindow(settings)
    assert (second.width(), second.height()) == (720, 560)
    second.close()


def test_windows_keep_what_each_has_changed(app: QApplication, tmp_path: Path) -> None:
    def opened() -> ParseWindow:
        made = ParseWindow(
            QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), "reference"
        )
        made.show()
        QApplication.processEvents()
        return made

    opened().close()
    first, second = opened(), opened()
    first.panels.splits[2].setSizes([300, 900])
    kept = first.panels.splits[2].sizes()
    second.panels.splits[0].setSizes([100, 500])
    first.close()
    second.close()
    third = opened()
    assert third.panels.splits[2].sizes() == kept
    third.close()


@pytest.mark.parametrize("screen", [(640, 400), (1280, 800), (3000, 2000)])
def test_its_first_size_is_no_more_than_the_screen(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int]
) -> None:
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _: QRect(0, 0, *screen))
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = ParseWindow(settings, "reference")
    made.show()
    assert made.width() <= min(1280, screen[0])
    assert made.height() <= min(840, screen[1])
    made.close()


def test_long_texts_keep_no_window_from_being_narrow(win: ParseWindow) -> None:
    write(win, "S -> S S | 'a'", "a " * 30)
    long = " ".join(["very"] * 200)
    win.verdict.setText(long)
    win.cell_note.setText(long)
    win.summary.setText(long)
    win.trees.said.setText(long)
    QApplication.processEvents()
    assert win.minimumSizeHint().width() <= 640
    assert win.minimumSizeHint().height() <= 400
    assert win.cell_note.toolTip() == long
    win.resize(640, 400)
    QApplication.processEvents()
    assert (win.width(), win.height()) == (640, 400)
    assert win.trees.said.width() >= 72
    win.editor.document().setModified(False)


def test_it_opens_once_from_another_window(app: QApplication, tmp_path: Path) -> None:
    parent = QWidget()
    parent.settings = QSettings(  # type: ignore[attr-defined]
        str(tmp_path / "settings.ini"), QSettings.Format.IniFormat
    )
    one = open_parse_window(parent)
    assert open_parse_window(parent) is one
    assert one.isVisible()
    one.close()
    QApplication.processEvents()
    until(lambda: not parse_window._open)
    two = open_parse_window(parent)
    two.close()
    until(lambda: not parse_window._open)


def test_a_theme_is_chosen_for_both_windows(
    win: ParseWindow, app: QApplication, tmp_path: Path
) -> None:
    folder = tmp_path / "viewer"
    folder.mkdir()
    viewer = make_window(folder)
    viewer.dress("dark")
    try:
        by_menu(win, "view.theme-light")
        assert theme.current() == viewer.theme == win.settings.value("view/theme") == "light"
        assert in_menu(win, "view.theme-light").isChecked()
        viewer.dress("dark")
        until(lambda: in_menu(win, "view.theme-dark").isChecked())
        by_key(win, "view.theme")
        assert theme.current() == viewer.theme == "light"
    finally:
        close(viewer)
        theme.apply(app, "dark")


def test_keys_of_actions_are_not_taken_by_what_is_typed(win: ParseWindow) -> None:
    """Ctrl+E would be, which is the end of the line where Qt finds the keys of Emacs in use."""

    class Greedy(QLineEdit):
        def event(self, event: QEvent) -> bool:
            event.accept()
            return event.type() is QEvent.Type.ShortcutOverride or super().event(event)

    greedy = Greedy()
    WindowKeys(win.registry, greedy)
    for keys, is_taken in (("Ctrl+E", False), ("F8", False), ("Del", True), ("Ctrl+Z", True),
                           ("E", True)):  # fmt: skip
        combination = QKeySequence(keys)[0]
        event = QKeyEvent(
            QEvent.Type.ShortcutOverride, combination.key(), combination.keyboardModifiers()
        )
        QApplication.sendEvent(greedy, event)
        assert event.isAccepted() == is_taken, keys
    greedy.deleteLater()
