"""The parsing window, offscreen: actions, the chart, the trees, and what goes wrong."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent, QGuiApplication, QKeySequence, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from tests.windows import until
from ui.parsing.launch import ParseLaunch
from ui.parsing.sentences import Lines, examples
from ui.qt import theme
from ui.qt.dialogs import Answer
from ui.qt.palette import CommandPalette
from ui.qt.parsing import batch
from ui.qt.parsing import language as parse_language
from ui.qt.parsing import window as parse_window
from ui.qt.parsing.window import ParseWindow, open_parse_window
from ui.qt.shortcuts import ShortcutsPage

LEFT = Qt.MouseButton.LeftButton
DYCK = "S -> S S | '(' S ')' | '(' ')'"
ENGLISH = "I saw the man on the hill with a telescope"


@dataclass
class FakeDialogs:
    """Answers, and remembers what it was asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def answer(*args: Any) -> Any:
            self.asked.append(name)
            return self.answers.get(name)

        return answer


@pytest.fixture
def win(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ParseWindow]:
    unforeseen: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: unforeseen.append(error))
    monkeypatch.setattr(parse_language, "_TYPING", 1)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = ParseWindow(settings, backend="cpu" if has_cpu() else "reference")
    made.files.dialogs = FakeDialogs()  # type: ignore[assignment]
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made, 5000)
    yield made
    made.files.dialogs = FakeDialogs({"unsaved": Answer.DISCARD})  # type: ignore[assignment]
    made.close()
    made.deleteLater()
    QApplication.processEvents()
    assert not unforeseen
    names = {"grammar", "sentences", "sentence"}
    assert not names & {thread.name for thread in threading.enumerate()}


def has_cpu() -> bool:
    from kernels.backend import BackendUnavailableError
    from kernels.choose import pick

    try:
        pick("cpu", threads=1)
    except BackendUnavailableError:
        return False
    return True


def settle(win: ParseWindow) -> None:
    """Until all that was asked for has landed and is shown."""
    parts = win.grammar, win.batch, win._watcher, win.background

    def quiet() -> bool:
        return not any(part.is_busy for part in parts)

    for _ in range(3):  # what lands may ask for more
        until(quiet)
        QApplication.processEvents()
    until(quiet)


def write(win: ParseWindow, grammar: str, *sentences: str) -> None:
    win.editor.setPlainText(grammar)
    win.editor.document().setModified(True)  # as if it was typed
    if sentences:
        win.batch.show_lines(Lines.of("\n".join(sentences) + "\n"), select=True)
    settle(win)


def example(win: ParseWindow, name: str) -> None:
    win.registry.run(f"example.{name}")
    settle(win)


def table(win: ParseWindow) -> list[tuple[str, ...]]:
    model = win.batch.model
    return [
        tuple(str(model.data(model.index(row, column))) for column in range(4))
        for row in range(model.rowCount())
    ]


def in_menu(win: ParseWindow, id: str) -> QAction:
    def search(menu: QMenu) -> Iterator[QAction]:
        for action in menu.actions():
            inner = action.menu()
            if isinstance(inner, QMenu):
                yield from search(inner)
            elif action.objectName() == id:
                yield action

    tops = [action.menu() for action in win.menuBar().actions()]
    (found,) = [action for top in tops if isinstance(top, QMenu) for action in search(top)]
    return found


def by_menu(win: ParseWindow, id: str) -> None:
    action = in_menu(win, id)
    assert action.isEnabled()
    action.trigger()
    settle(win)


def by_key(win: ParseWindow, id: str, focus: QWidget | None = None) -> None:
    combination = QKeySequence(win.registry[id].keys[0])[0]
    target = focus or win.batch.line
    target.setFocus()
    QTest.keyClick(target, combination.key(), combination.keyboardModifiers())
    settle(win)


# --- a grammar --------------------------------------------------------------------


def test_what_is_typed_is_read_and_its_errors_are_at_their_place(win: ParseWindow) -> None:
    win.editor.setFocus()
    QTest.keyClicks(win.editor, "S -> 'a' S |")
    settle(win)
    assert win.grammar.language is not None
    assert not win.grammar.note.isVisible()
    QTest.keyClicks(win.editor, "\r'b' )")
    settle(win)
    assert win.editor.error is not None
    assert "Line 2, column" in win.grammar.note.text()
    assert "last grammar" in win.grammar.note.text()
    marks = win.editor.extraSelections()
    assert marks[0].cursor.blockNumber() == 1  # type: ignore[attr-defined]
    win.batch.line.setFocus()
    by_key(win, "view.error")
    assert win.editor.hasFocus()
    assert win.editor.textCursor().blockNumber() == 1
    win.editor.setPlainText("S -> 'a' S | 'b'")
    settle(win)
    assert win.editor.error is None
    assert not win.editor.extraSelections()
    assert not win.grammar.note.isVisible()
    win.editor.clear()
    settle(win)
    assert win.grammar.language is None


def test_an_error_at_the_end_of_a_line_is_marked(win: ParseWindow) -> None:
    for text in ("S ->", "S -> 'a", "x", "%start", "S -> T", "S -> 'a' [0.5] | 'b' [0.1]", ")"):
        write(win, text + "\n")
        if win.editor.error is not None:
            assert win.grammar.note.text()
    write(win, "prose, and no grammar")
    assert win.grammar.language is None or "last grammar" in win.grammar.note.text()


def test_an_empty_language_is_said(win: ParseWindow) -> None:
    write(win, "S -> S 'a'", "a")
    assert "empty" in win.grammar.note.text()
    assert table(win)[0][1] == "rejected"


@pytest.mark.parametrize("how", [by_menu, by_key])
def test_grammars_are_opened_and_saved(
    win: ParseWindow, tmp_path: Path, how: Callable[[ParseWindow, str], None]
) -> None:
    path = tmp_path / "one.cfg"
    path.write_text(DYCK)
    dialogs = win.files.dialogs = FakeDialogs({"open_grammar": str(path)})  # type: ignore[assignment]
    how(win, "file.open")
    assert win.editor.toPlainText() == DYCK
    assert "one.cfg" in win.windowTitle()
    assert not win.isWindowModified()
    win.editor.appendPlainText("# more")
    settle(win)
    assert win.isWindowModified()
    how(win, "file.save")
    assert path.read_text() == DYCK + "\n# more"
    assert not win.isWindowModified()
    dialogs.answers["save_grammar"] = str(tmp_path / "two.cfg")  # type: ignore[attr-defined]
    how(win, "file.save-as")
    assert (tmp_path / "two.cfg").read_text() == DYCK + "\n# more"
    assert "two.cfg" in win.windowTitle()


def test_nothing_is_lost_unasked(win: ParseWindow, tmp_path: Path) -> None:
    write(win, DYCK)
    dialogs = win.files.dialogs = FakeDialogs({"unsaved": Answer.CANCEL})  # type: ignore[assignment]
    by_menu(win, "example.english.cfg")
    assert win.editor.toPlainText() == DYCK
    assert dialogs.asked == ["unsaved"]  # type: ignore[attr-defined]
    assert not win.close()
    kept = tmp_path / "kept.cfg"
    dialogs.answers |= {  # type: ignore[attr-defined]
        "unsaved": Answer.SAVE, "save_grammar": str(tmp_path / "no" / "where"),
    }  # fmt: skip
    by_menu(win, "example.english.cfg")
    assert "cannot be written" in win.banner.text
    assert win.editor.toPlainText() == DYCK
    dialogs.answers["save_grammar"] = str(kept)  # type: ignore[attr-defined]
    by_menu(win, "example.english.cfg")
    assert kept.read_text() == DYCK
    assert "NP VP" in win.editor.toPlainText()
    win.batch.add_text("John slept\n")
    dialogs.answers["unsaved"] = Answer.CANCEL  # type: ignore[attr-defined]
    assert not win.close()


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.name)
def test_examples(win: ParseWindow, path: Path) -> None:
    by_menu(win, f"example.{path.name}")
    assert win.editor.error is None
    assert len(win.lines) > 3
    assert "accepted" in win.summary.text()
    assert win.verdict.text()


# --- sentences --------------------------------------------------------------------


def test_sentences_are_typed(win: ParseWindow) -> None:
    write(win, DYCK)
    win.batch.line.setFocus()
    QTest.keyClicks(win.batch.line, "()()")
    settle(win)
    assert win.verdict.text() == "Accepted, 1 parse"
    assert win.chart.triangle.tokens == 4
    QTest.keyClick(win.batch.line, Qt.Key.Key_Return)
    settle(win)
    QTest.keyClicks(win.batch.line, "(()")
    assert win.batch.line.text() == "(()"
    settle(win)
    assert win.verdict.text() == "Rejected: it ends too soon"
    QTest.keyClick(win.batch.line, Qt.Key.Key_Return)
    settle(win)
    assert table(win) == [
        ("()()", "accepted", "1", ""), ("(()", "rejected", "0", "it ends too soon"),
    ]  # fmt: skip
    assert win.summary.text() == "2 sentences: 1 accepted, 1 rejected"


def test_sentences_are_pasted_copied_edited_and_removed(win: ParseWindow) -> None:
    write(win, DYCK)
    board = QGuiApplication.clipboard()
    board.setText("()\r\n)(\n()()()\n")
    by_key(win, "edit.paste")
    assert [row[:3] for row in table(win)] == [
        ("()", "accepted", "1"), (")(", "rejected", "0"), ("()()()", "accepted", "2"),
    ]  # fmt: skip
    board.setText("(\n(")
    QTest.keyClick(win.batch.line, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(win.batch.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    settle(win)
    assert len(win.lines) == 7
    win.batch.table.selectAll()
    by_menu(win, "edit.copy")
    assert board.text().splitlines()[2] == "accepted\t2\t()()()"
    model = win.batch.model
    assert model.setData(model.index(1, 0), "(())")
    settle(win)
    assert table(win)[1][:2] == ("(())", "accepted")
    win.batch.table.go_to(0)
    by_key(win, "edit.remove", win.batch.table)
    assert [row[0] for row in table(win)][:2] == ["(())", "()()()"]
    by_menu(win, "edit.clear")
    assert win.summary.text() == "no sentences"
    assert not in_menu(win, "edit.clear").isEnabled()
    board.clear()
    by_key(win, "edit.paste")
    assert win.banner.text == "the clipboard has no text"


def test_sentences_are_files(win: ParseWindow, tmp_path: Path) -> None:
    write(win, DYCK)
    path = tmp_path / "some.txt"
    path.write_text("()\n\n((")
    dialogs = win.files.dialogs = FakeDialogs(  # type: ignore[assignment]
        {"open_sentences": str(path), "save_sentences": str(tmp_path / "out.txt")}
    )
    by_key(win, "file.sentences")
    assert [row[0] for row in table(win)] == ["()", "ε", "(("]
    by_menu(win, "file.save-sentences")
    assert (tmp_path / "out.txt").read_text() == "()\n\n((\n"
    dialogs.answers["open_sentences"] = str(tmp_path / "none.txt")  # type: ignore[attr-defined]
    by_key(win, "file.sentences")
    assert "none.txt: cannot be read" in win.banner.text
    assert len(win.lines) == 3
    grammar = tmp_path / "g.cfg"
    grammar.write_text("S -> '(' '('")
    win.editor.document().setModified(False)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(grammar)), QUrl.fromLocalFile(str(path))])
    drop = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, mime, LEFT, Qt.KeyboardModifier.NoModifier
    )
    win.dropEvent(drop)
    until(lambda: win.files.path == str(grammar))
    settle(win)
    assert [row[1] for row in table(win)] == ["rejected", "rejected", "accepted"]


def drop(win: ParseWindow, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    win.dropEvent(
        QDropEvent(
            QPointF(50, 50), Qt.DropAction.CopyAction, mime, LEFT, Qt.KeyboardModifier.NoModifier
        )
    )
    QApplication.processEvents()
    settle(win)


def test_several_files_at_once(win: ParseWindow, tmp_path: Path) -> None:
    write(win, DYCK, "before")
    win.editor.document().setModified(False)
    win.batch.modified = False
    texts = {"b.txt": "()\n", "a.txt": "(())", "c.examples": "%tokens chars\n+ ()()\n"}
    paths = [tmp_path / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    drop(win, *paths)
    assert [row[0] for row in table(win)] == ["()", "(())", "()()"]
    assert win.banner.text == "Opened the sentences of 3 files, one after the other"
    # All or none of them.
    drop(win, paths[0], tmp_path / "none.txt", paths[1])
    assert "none.txt: cannot be read" in win.banner.text
    assert len(win.lines) == 3
    first, second = tmp_path / "one.cfg", tmp_path / "two.cfg"
    first.write_text("S -> 'a'")
    second.write_text("S -> 'b'")
    drop(win, first, paths[1], second)
    assert win.files.path == str(first)
    assert win.banner.text == "One grammar at a time: of 2 the first is opened."
    assert [row[0] for row in table(win)] == ["(())"]


@pytest.mark.parametrize("way", ["key", "button"])
def test_opening_sentences_is_cancelled(
    win: ParseWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    write(win, DYCK, "()")
    win.batch.modified = False
    release, read = threading.Event(), Lines.read

    def slow(path: str) -> Lines:
        release.wait(10)
        return read(path)

    monkeypatch.setattr(Lines, "read", slow)
    path = tmp_path / "some.txt"
    path.write_text("((\n")
    assert win.busy.isHidden()
    win.open_paths([str(path)])
    assert win.busy.label.text() == "Opening some.txt…"
    if way == "key":
        by_key(win, "file.cancel")
    else:
        win.busy.button.click()
    assert win.banner.text == "Opening was cancelled."
    assert win.busy.isHidden()
    release.set()
    settle(win)
    assert [row[0] for row in table(win)] == ["()"]


def test_what_tokens_are(win: ParseWindow) -> None:
    write(win, "S -> 'a' 'b'", "a b", "ab")
    assert [row[1] for row in table(win)] == ["rejected", "accepted"]
    win.batch.ways.setCurrentIndex(1)
    settle(win)
    assert [row[1] for row in table(win)] == ["accepted", "rejected"]
    assert win.chart.look is not None
    assert win.chart.look.tokens == ("a", "b")


def test_unknown_tokens_are_said(win: ParseWindow) -> None:
    example(win, "english.cfg")
    win.batch.line.clear()
    QTest.keyClicks(win.batch.line, "John saw zebras")
    settle(win)
    assert win.verdict.text() == "Rejected: the grammar has no 'zebras' (token 3)"
    assert win.chart.triangle.tokens == 3
    assert win.trees.pane.layout_ is None


def test_a_hundred_thousand_sentences(win: ParseWindow) -> None:
    """The window answers while they are judged; a million is the same, longer."""
    write(win, DYCK)
    rows = 100_000
    QGuiApplication.clipboard().setText("()()()()()\n(()\n" * (rows // 2))
    assert _quick(partial(_longest_silence, win)) < 1.0
    assert win.summary.text().startswith("100,000 sentences: 50,000 accepted, 50,000 rejected")
    assert table_row(win, rows - 2)[:3] == ("()()()()()", "accepted", "14")
    assert _quick(partial(_seconds_to_select, win)) < 1.0
    assert win.batch.table.chosen().size == rows
    by_menu(win, "edit.remove")
    assert len(win.lines) == 0


def _quick(seconds: Callable[[], float]) -> float:
    """As it is where nothing else keeps the machine, of three times."""
    found = seconds()
    for _ in range(2):
        found = found if found < 1.0 else seconds()
    return found


def _longest_silence(win: ParseWindow) -> float:
    """Between two events while what is pasted, instead of what there is, is judged."""
    if len(win.lines):
        win.batch.table.selectAll()
        by_menu(win, "edit.remove")
        settle(win)
    win.batch.paste()
    longest, before = 0.0, time.monotonic()
    while win.batch.judge.is_busy:
        QApplication.processEvents()
        now = time.monotonic()
        longest, before = max(longest, now - before), now
    settle(win)
    return longest


def _seconds_to_select(win: ParseWindow) -> float:
    before = time.monotonic()
    win.batch.table.selectAll()
    QApplication.processEvents()
    return time.monotonic() - before


def table_row(win: ParseWindow, row: int) -> tuple[str, ...]:
    model = win.batch.model
    return tuple(str(model.data(model.index(row, column))) for column in range(4))


def test_what_is_too_much_for_the_clipboard_is_not_cut_off(
    win: ParseWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "_COPIED", 2)
    write(win, "S -> 'a'", "a", "b", "a")
    QGuiApplication.clipboard().setText("mine")
    win.batch.table.selectAll()
    by_menu(win, "edit.copy")
    assert "3 sentences are too many for the clipboard" in win.banner.text
    assert QGuiApplication.clipboard().text() == "mine"


def test_pipes_are_not_waited_for(win: ParseWindow, tmp_path: Path) -> None:
    for name in ("pipe.cfg", "pipe.txt"):
        os.mkfifo(tmp_path / name)
        win.open_paths([str(tmp_path / name)])
        assert f"{name}: cannot be read: it is a pipe" in win.banner.text
        assert not win.background.is_busy


def test_too_many_sentences_are_refused(win: ParseWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    write(win, DYCK, "()")
    monkeypatch.setattr("ui.parsing.sentences.MOST_LINES", 5)
    QGuiApplication.clipboard().setText("()\n" * 9)
    by_key(win, "edit.paste")
    assert "too many for a window" in win.banner.text
    assert len(win.lines) == 1
    assert table(win)[0][:2] == ("()", "accepted")


# --- chart and trees ----------------------------------------------------------------


def test_the_chart_under_the_pointer(win: ParseWindow) -> None:
    example(win, "english.cfg")
    win.batch.line.setText("")
    QTest.keyClicks(win.batch.line, ENGLISH)
    settle(win)
    chart = win.chart

    def cell(start: int, end: int) -> QPoint:
        x, y = chart.triangle.corner(start, end)
        width, height = chart.triangle.cell_width, chart.triangle.cell_height
        return chart.to_screen(QPointF(x + width / 2, y + height / 2)).toPoint()

    QTest.mouseMove(chart.viewport(), cell(2, 4))
    until(lambda: chart.under == (2, 4))
    assert win.cell_note.text() == "NP, Object, Phrase spans tokens 3–4: the man"
    assert win.trees.pane.marked == (2, 4)
    QTest.mouseMove(chart.viewport(), cell(0, 2))
    until(lambda: chart.under == (0, 2))
    assert win.cell_note.text() == "nothing spans tokens 1–2: I saw"
    QTest.mouseClick(chart.viewport(), LEFT, pos=cell(0, 10))
    assert chart.pick == (0, 10)
    for key, pick in (
        (Qt.Key.Key_Down, (0, 9)), (Qt.Key.Key_Right, (1, 10)), (Qt.Key.Key_Up, (0, 10)),
        (Qt.Key.Key_Up, (0, 10)), (Qt.Key.Key_Down, (0, 9)), (Qt.Key.Key_Left, (0, 9)),
    ):  # fmt: skip
        QTest.keyClick(chart, key)
        assert chart.pick == pick
    scale = chart.scale
    for focus, steps in ((chart, 1), (win.trees.pane, 1)):
        before = focus.scale
        QTest.keyClicks(focus, "]" * steps)
        assert focus.scale > before
        QTest.keyClicks(focus, "[[")
        assert focus.scale < before
        QTest.keyClicks(focus, "f")
    assert chart.scale == scale
    by_key(win, "view.zoom-in", chart)
    by_key(win, "view.zoom-out", chart)
    assert chart.scale == pytest.approx(scale)
    turn_wheel(win, cell(3, 4))
    assert chart.scale > scale
    assert chart.to_drawing(QPointF(cell(3, 4))) is not None
    by_menu(win, "view.fit")
    assert chart.scale == scale


def turn_wheel(win: ParseWindow, at: QPoint) -> None:
    view = win.chart.viewport()
    event = QWheelEvent(
        QPointF(at), QPointF(view.mapToGlobal(at)), QPoint(), QPoint(0, 120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase,
        False,
    )  # fmt: skip
    QApplication.sendEvent(view, event)


def test_trees_one_after_another(win: ParseWindow) -> None:
    example(win, "english.cfg")
    win.batch.line.setText("")
    QTest.keyClicks(win.batch.line, ENGLISH)
    settle(win)
    trees = win.trees
    assert win.verdict.text() == "Accepted, 5 parses"
    assert trees.said.text() == "of 5"
    assert not in_menu(win, "view.previous").isEnabled()
    seen = [trees._tree]
    for how in (by_key, by_menu, by_key):
        how(win, "view.next")
        seen.append(trees._tree)
    trees.forth.click()
    settle(win)
    seen.append(trees._tree)
    assert len({str(tree) for tree in seen}) == 5
    assert trees.number.text() == "5"
    assert not trees.forth.isEnabled()
    assert not in_menu(win, "view.next").isEnabled()
    for how in (by_key, by_menu):
        how(win, "view.previous")
    assert trees._tree == seen[2]
    trees.number.setText("99")
    QTest.keyClick(trees.number, Qt.Key.Key_Return)
    settle(win)
    assert trees._tree == seen[4]
    # The cells of the tree are marked in the chart, and pointing goes both ways.
    assert win.chart.marked == trees.pane.layout_.spans  # type: ignore[union-attr]
    root = trees.pane.layout_.nodes[0]  # type: ignore[union-attr]
    at = trees.pane.to_screen(QPointF(root.x, root.y)).toPoint()
    QTest.mouseMove(trees.pane.viewport(), at)
    until(lambda: win.chart.under == (0, 10))


def test_probabilities_are_said(win: ParseWindow) -> None:
    example(win, "english-weighted.pcfg")
    win.batch.table.go_to(2)
    settle(win)
    assert "probability" in win.trees.said.text()


def test_infinitely_many_parses(win: ParseWindow) -> None:
    write(win, "S -> S | 'a' | S S", "aa")
    assert win.verdict.text() == "Accepted, infinitely many parses"
    assert table(win)[0][2] == "infinite"
    assert "infinitely many" in win.trees.said.text()
    while win.trees.has_next:
        by_key(win, "view.next")
    assert win.trees.end == win.trees.index + 1
    assert win.trees.pane.layout_ is not None


def test_numbers_of_parses_beyond_words(win: ParseWindow) -> None:
    write(win, "S -> S S | 'a'", "a" * 100)
    catalan = math.comb(198, 99) // 100
    assert win.verdict.text() == "Accepted, 2.2751 × 10⁵⁶ parses"
    assert win.verdict.toolTip() == f"{catalan:,}"
    model = win.batch.model
    assert model.data(model.index(0, 2), Qt.ItemDataRole.ToolTipRole) == f"{catalan:,}"
    assert win.trees.said.text() == "of 2.2751 × 10⁵⁶"
    win.trees.number.setText("3000")
    QTest.keyClick(win.trees.number, Qt.Key.Key_Return)
    settle(win)
    assert win.trees.index == 2999


def test_long_sentences(win: ParseWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    write(win, DYCK, "()" * 150)
    chart = win.chart
    assert chart.triangle.tokens == 300
    far = chart.grab().toImage()
    middle = chart.to_screen(QPointF(*chart.triangle.corner(0, 300))).toPoint()
    assert far.pixelColor(middle + QPoint(1, 3)) != chart.shade(chart.backgroundRole())
    for _ in range(20):
        chart.zoom(1)
        chart.grab()
    monkeypatch.setattr("ui.parsing.model._STEPS", 1e6)
    write(win, DYCK + " ", "()" * 500, "()")
    assert [row[1] for row in table(win)] == ["too long", "accepted"]
    assert win.verdict.text().startswith("Too long: 1,000 tokens")
    assert chart.triangle.tokens == 0
    win.batch.table.go_to(1)
    settle(win)
    assert win.verdict.text() == "Accepted, 1 parse"


def test_a_sentence_too_long_for_a_line(win: ParseWindow) -> None:
    write(win, DYCK, "(" * 30_000, "()")
    assert win.batch.line.text() == ""
    assert win.verdict.text().startswith("Too long: 30,000 tokens")
    assert len(table(win)[0][0]) == 400


def test_the_latest_sentence_wins(win: ParseWindow) -> None:
    write(win, DYCK)
    for length in range(1, 60):
        win.look_at("()" * length)
    settle(win)
    assert win.chart.triangle.tokens == 118


# --- the window ------------------------------------------------------------------


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
