"""The parsing window, offscreen: grammars and sentences, and what goes wrong."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.parse_windows import (
    DYCK,
    LEFT,
    FakeDialogs,
    by_key,
    by_menu,
    example,
    in_menu,
    settle,
    table,
    write,
)
from tests.windows import until
from ui.parsing.sentences import SentenceLines, examples
from ui.qt.dialogs import UnsavedAnswer
from ui.qt.parsing import batch
from ui.qt.parsing.window import ParseWindow
from ui.reading import Progress

# --- a grammar -----------------------------------------------------------------------


def test_what_is_typed_is_read_and_its_errors_are_at_their_place(win: ParseWindow) -> None:
    win.editor.setFocus()
    QTest.keyClicks(win.editor, "S -> 'a' S |")
    settle(win)
    assert win.grammar.language is not None
    assert win.grammar.note.text() == "No errors"
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
    assert win.grammar.note.text() == "No errors"
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
    dialogs = win.files.dialogs = FakeDialogs({"unsaved": UnsavedAnswer.CANCEL})  # type: ignore[assignment]
    by_menu(win, "example.english.cfg")
    assert win.editor.toPlainText() == DYCK
    assert dialogs.asked == ["unsaved"]  # type: ignore[attr-defined]
    assert not win.close()
    kept = tmp_path / "kept.cfg"
    dialogs.answers |= {  # type: ignore[attr-defined]
        "unsaved": UnsavedAnswer.SAVE, "save_grammar": str(tmp_path / "no" / "where"),
    }  # fmt: skip
    by_menu(win, "example.english.cfg")
    assert "cannot be written" in win.banner.text
    assert win.editor.toPlainText() == DYCK
    dialogs.answers["save_grammar"] = str(kept)  # type: ignore[attr-defined]
    by_menu(win, "example.english.cfg")
    assert kept.read_text() == DYCK
    assert "NP VP" in win.editor.toPlainText()
    win.batch.add_text("John slept\n")
    dialogs.answers["unsaved"] = UnsavedAnswer.CANCEL  # type: ignore[attr-defined]
    assert not win.close()


@pytest.mark.sample(4)
@pytest.mark.parametrize("path", examples(), ids=lambda path: path.name)
def test_examples(win: ParseWindow, path: Path) -> None:
    by_menu(win, f"example.{path.name}")
    assert win.editor.error is None
    assert len(win.lines) > 3
    assert "accepted" in win.summary.text()
    assert win.verdict.text()


# --- sentences -----------------------------------------------------------------------


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
        ("()()", "accepted", "1", "", ""), ("(()", "rejected", "0", "", "it ends too soon"),
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
    tell, release, read = threading.Event(), threading.Event(), SentenceLines.read

    def slow(path: str, progress: Progress) -> SentenceLines:
        tell.wait(10)
        progress(0.25)
        release.wait(10)
        return read(path)

    monkeypatch.setattr(SentenceLines, "read", slow)
    path = tmp_path / "some.txt"
    path.write_text("((\n")
    assert win.busy.isHidden()
    win.open_paths([str(path)])
    assert win.busy.label.text() == "Opening some.txt…"
    tell.set()
    until(lambda: win.busy.label.text() == "Opening some.txt… 25 % read")
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
    """Return the first of three times that is under a second, or the last, on a busy machine."""
    found = seconds()
    for _ in range(2):
        found = found if found < 1.0 else seconds()
    return found


def _longest_silence(win: ParseWindow) -> float:
    """Return the longest time between two events while what is pasted, instead of what there is,
    is judged."""
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
