"""The parsing window, offscreen: sorting and filtering sentences, live errors, and exports."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from ckyparse import draw
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
from ui.parsing.export import CHART_FORMS, TREE_FORMS, form_of
from ui.parsing.order import Arrangement
from ui.parsing.sentences import SentenceLines
from ui.qt.parsing.files import ParseDialogs
from ui.qt.parsing.sentences import _NARROW, SentenceModel
from ui.qt.parsing.window import ParseWindow

LINES = ["()", "(", "()()()", ")", "()()", "(())"]


def sentences(win: ParseWindow) -> list[str]:
    return [row[0] for row in table(win)]


def click_head(win: ParseWindow, column: int) -> None:
    header = win.batch.table.horizontalHeader()
    x = header.sectionViewportPosition(column) + 12
    QTest.mouseClick(header.viewport(), LEFT, pos=header.rect().center().__class__(x, 8))
    settle(win)


def test_heads_sort_sentences(win: ParseWindow) -> None:
    write(win, DYCK, *LINES)
    model = win.batch.model
    click_head(win, 2)
    assert sentences(win) == ["()()()", "()", "()()", "(())", "(", ")"]
    assert model.headerData(2, Qt.Orientation.Horizontal) == "Parses ▼"
    click_head(win, 2)
    assert sentences(win) == ["(", ")", "()", "()()", "(())", "()()()"]
    assert model.headerData(2, Qt.Orientation.Horizontal) == "Parses ▲"
    click_head(win, 1)
    assert [row[1] for row in table(win)] == ["accepted"] * 4 + ["rejected"] * 2
    click_head(win, 0)
    assert sentences(win) == LINES
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Verdict"
    by_menu(win, "view.sort-parses")
    assert sentences(win)[0] == "()()()"
    assert in_menu(win, "view.sort-parses").isChecked()
    assert not in_menu(win, "view.sort-probability").isEnabled()
    by_menu(win, "view.sort-none")
    assert sentences(win) == LINES


def test_what_is_looked_at_stays_selected(win: ParseWindow) -> None:
    write(win, DYCK, *LINES)
    win.batch.table.go_to(4)
    settle(win)
    looked: list[str] = []
    win.batch.looked.connect(looked.append)
    win.batch.sort_by("parses")
    settle(win)
    rows = {index.row() for index in win.batch.table.selectionModel().selectedRows()}
    assert [sentences(win)[row] for row in rows] == ["()()"]
    win.batch.line.setFocus()
    QTest.keyClicks(win.batch.line, ")")
    settle(win)
    assert win.batch.line.text() == ")()()"  # typed at its beginning, and not written over
    assert looked == [")()()"]


def test_sentences_are_shown_by_verdict(win: ParseWindow) -> None:
    write(win, DYCK, *LINES)
    chooser = win.batch.shown
    shown = {
        "all": LINES, "accepted": ["()", "()()()", "()()", "(())"], "ambiguous": ["()()()"],
        "rejected": ["(", ")"], "unanswered": [],
    }  # fmt: skip
    for index in range(chooser.count()):
        chooser.setCurrentIndex(index)
        settle(win)
        assert sentences(win) == shown[chooser.itemData(index)]
        said = "" if index == 0 else f"{len(sentences(win))} shown of "
        assert win.summary.text() == f"{said}6 sentences: 4 accepted, 2 rejected, 1 ambiguous"


def test_what_is_done_with_rows_is_done_with_their_lines(win: ParseWindow) -> None:
    write(win, DYCK, *LINES)
    win.batch.arrange(Arrangement("rejected", "parses", True))
    settle(win)
    model = win.batch.model
    assert model.setData(model.index(1, 0), "((")
    settle(win)
    assert sentences(win) == ["(", "(("]
    assert win.lines.data.decode().split() == ["()", "(", "()()()", "((", "()()", "(())"]
    win.batch.table.selectAll()
    by_menu(win, "edit.copy")
    assert QGuiApplication.clipboard().text() == "rejected\t0\t(\nrejected\t0\t(("
    by_key(win, "edit.remove", win.batch.table)
    assert sentences(win) == []
    win.batch.line.setText("()(())")
    win.batch.add_line()
    settle(win)
    assert sentences(win) == []  # as it is accepted
    by_menu(win, "view.sort-none")
    win.batch.shown.setCurrentIndex(0)
    settle(win)
    assert sentences(win) == ["()", "()()()", "()()", "(())", "()(())"]
    win.batch.arrange(Arrangement("accepted"))
    write(win, "S -> '(' '('")  # another grammar, other verdicts
    assert sentences(win) == []
    win.editor.clear()
    settle(win)
    assert len(sentences(win)) == 5  # without a grammar nothing is known


def test_an_order_is_asked_for_while_the_last_one_s_thread_does_not_rest_yet(
    win: ParseWindow,
) -> None:
    write(win, DYCK, *LINES)
    win.batch.arrange(Arrangement("rejected"))
    settle(win)
    win.batch.orderer._busy = True  # as between telling of an order and waiting for the next job
    win.batch.model.show_order(np.array([0]))
    win.batch._show()
    until(lambda: sentences(win) == ["(", ")"])
    settle(win)


def test_probabilities_of_sentences(win: ParseWindow) -> None:
    example(win, "english.cfg")
    assert win.batch.table.isColumnHidden(3)
    write(win, "S -> S S [0.5] | 'a' [0.5]", "a", "aaa", "b", "aa")
    assert not win.batch.table.isColumnHidden(3)
    assert [row[3] for row in table(win)] == ["0.5", "0.0625", "0", "0.125"]
    win.batch.sort_by("probability")
    settle(win)
    assert [row[0] for row in table(win)] == ["a", "aa", "aaa", "b"]
    win.batch.table.go_to(1)
    settle(win)
    assert win.verdict.text() == "Accepted, 2 parses, probability 0.0625"
    assert win.trees.said.text() == "of 2   probability 0.03125, 50 % of the sentence's"


def test_the_column_of_sentences_fits(win: ParseWindow) -> None:
    long = "()" * 20
    write(win, DYCK, "()", long)
    shown = win.batch.table
    width = shown.columnWidth(0)
    assert width > shown.fontMetrics().horizontalAdvance(long)
    write(win, DYCK, "()")
    assert _NARROW <= shown.columnWidth(0) < width
    write(win, DYCK, "()" * 2000)
    total = sum(
        shown.columnWidth(column) for column in range(5) if not shown.isColumnHidden(column)
    )
    assert total <= shown.viewport().width()
    shown.horizontalHeader().resizeSection(0, 150)  # as by dragging
    write(win, DYCK, "()", long)
    assert shown.columnWidth(0) == 150


def test_sentences_are_measured_once(win: ParseWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    write(win, DYCK, "()" * 50)
    shown, text, measured = win.batch.table, SentenceModel.text, []

    def noted(self: SentenceModel, line: int, column: int) -> str:
        measured.append(column)
        return text(self, line, column)

    monkeypatch.setattr(SentenceModel, "text", noted)
    width = shown.columnWidth(0)
    shown.fit_columns()
    assert set(measured) == {1, 2, 3}
    assert shown.columnWidth(0) == width
    win.batch.model.show_lines(SentenceLines.of("()"))
    shown.fit_columns()
    assert 0 in measured
    assert shown.columnWidth(0) < width


# --- while a grammar is typed -------------------------------------------------------------


def test_an_unfinished_rule_is_no_error_yet(win: ParseWindow) -> None:
    grammar = win.grammar
    write(win, "S -> 'a'")
    assert grammar.note.text() == "No errors"
    height = grammar.editor.height()
    grammar.doubt.setInterval(1_000_000)
    win.editor.setPlainText("S -> 'a' | 'b")
    until(lambda: grammar.doubt.isActive())
    assert grammar.note.text() == "No errors"
    assert win.editor.error is None
    grammar.doubt.timeout.emit()  # as if nobody typed for a while
    assert grammar.note.text().startswith("Line 1, column 12: ")
    assert win.editor.error is not None
    assert grammar.editor.height() == height
    win.editor.setPlainText("S -> 'a' | 'b c")  # still wrong: said at once
    until(lambda: not grammar.typing.isActive() and not grammar.reader.is_busy)
    QApplication.processEvents()
    assert not grammar.doubt.isActive()
    assert grammar.note.text()
    win.editor.setPlainText("S -> 'a' | 'b'")
    settle(win)
    assert grammar.note.text() == "No errors"
    assert win.editor.error is None


def test_the_chart_stays_where_it_is_while_the_grammar_is_typed(win: ParseWindow) -> None:
    write(win, DYCK, "()()")
    win.chart.choose((0, 2))
    win.chart.zoom(3)
    scale = win.chart.scale
    write(win, DYCK + " | ')'")
    assert win.chart.pick == (0, 2)
    assert win.chart.scale == scale
    assert win.chart.describe((1, 2)) == "S spans token 2: )"
    win.look_at("()")
    settle(win)
    assert win.chart.pick is None


def test_the_next_tree_does_not_keep_another_sentence_from_being_shown(win: ParseWindow) -> None:
    write(win, "S -> S S | 'a'", "aaaa")
    assert win.trees.has_next
    win.look_at("aaaaa")
    win.trees.next()  # of the sentence that is still shown
    settle(win)
    assert win.verdict.text() == "Accepted, 14 parses"
    assert win.chart.triangle.tokens == 5
    assert win.trees.index == 0


# --- export -------------------------------------------------------------------------------


def test_charts_and_trees_are_exported(win: ParseWindow, tmp_path: Path) -> None:
    assert not in_menu(win, "file.export-tree").isEnabled()
    write(win, DYCK, "(())", "(")
    tree, look = win.trees.tree, win.chart.look
    assert tree is not None
    assert look is not None
    assert look.chart is not None
    dialogs = win.files.dialogs = FakeDialogs()  # type: ignore[assignment]
    expected = {
        "svg": draw(tree).svg(), "text": draw(tree).text(),
        "forest": "% \\usepackage{forest}\n" + draw(tree).latex(),
        "qtree": "% \\usepackage{qtree}\n" + draw(tree).latex("qtree"),
    }  # fmt: skip
    for form in TREE_FORMS:
        path = tmp_path / form.name
        dialogs.answers["export"] = (str(path), form)  # type: ignore[attr-defined]
        by_key(win, "file.export-tree")
        written = path.with_suffix(form.suffix).read_text(encoding="utf-8")
        assert written == expected[form.name] + "\n"
        assert win.banner.text == f"Exported the tree to {form.name}{form.suffix}"
        by_menu(win, f"edit.copy-tree-{form.name}")
        assert QGuiApplication.clipboard().text() == written
    drawing = draw(look.chart)
    for form, text in zip(
        CHART_FORMS, (drawing.svg(), drawing.latex(), drawing.text()), strict=True
    ):
        path = tmp_path / f"chart{form.suffix}"
        dialogs.answers["export"] = (str(path), CHART_FORMS[0])  # type: ignore[attr-defined]
        by_key(win, "file.export-chart")
        assert path.read_text(encoding="utf-8") == text + "\n"
        by_menu(win, f"edit.copy-chart-{form.name}")
        assert QGuiApplication.clipboard().text() == text + "\n"
    dialogs.answers["export"] = (str(tmp_path / "no" / "where.svg"), TREE_FORMS[0])  # type: ignore[attr-defined]
    by_menu(win, "file.export-tree")
    assert "cannot be written" in win.banner.text
    win.batch.table.go_to(1)
    settle(win)
    assert not in_menu(win, "file.export-tree").isEnabled()
    assert in_menu(win, "file.export-chart").isEnabled()


def test_the_dialog_names_the_file_after_the_form(
    win: ParseWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def answer(dialog: QFileDialog) -> int:
        names.extend(dialog.selectedFiles())
        for title in dialog.nameFilters():
            dialog.selectNameFilter(title)
            dialog.filterSelected.emit(title)
            names.extend(dialog.selectedFiles())
            if "qtree" in title:
                return 1
        return 0

    monkeypatch.setattr(QFileDialog, "exec", answer)
    dialogs = ParseDialogs(win)
    found = dialogs.export("Export", str(tmp_path / "tree.svg"), TREE_FORMS)
    assert found == (str(tmp_path / "tree.tex"), TREE_FORMS[2])
    assert [Path(name).name for name in names] == ["tree.svg", "tree.svg", "tree.tex", "tree.tex"]
    assert dialogs.export("Export", str(tmp_path / "chart.svg"), CHART_FORMS) is None


def test_the_right_button_offers_exports(win: ParseWindow) -> None:
    write(win, DYCK, "(())")
    for pane, what, forms in (
        (win.chart, "chart", CHART_FORMS), (win.trees.pane, "tree", TREE_FORMS),
    ):  # fmt: skip
        at = pane.rect().center()
        reason = QContextMenuEvent.Reason.Mouse
        event = QContextMenuEvent(reason, at, pane.mapToGlobal(at))
        QApplication.sendEvent(pane.viewport(), event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        export, copies, *_ = menu.actions()
        assert export is in_menu(win, f"file.export-{what}")
        inner = copies.menu()
        assert isinstance(inner, QMenu)
        assert [action.text() for action in inner.actions()] == [form.title for form in forms]
        inner.actions()[-1].trigger()
        menu.close()
        settle(win)
        assert QGuiApplication.clipboard().text().count("\n") == (5 if what == "chart" else 6)


def test_a_chart_that_is_too_large_is_refused(win: ParseWindow, tmp_path: Path) -> None:
    write(win, "S -> S S | 'a'", "a" * 201)
    path = tmp_path / "chart.svg"
    win.files.dialogs = FakeDialogs({"export": (str(path), CHART_FORMS[0])})  # type: ignore[assignment]
    by_menu(win, "file.export-chart")
    assert "201 tokens is too large to be drawn" in win.banner.text
    assert not path.exists()


def test_the_name_of_a_file_says_its_form() -> None:
    svg, forest, qtree, text = TREE_FORMS
    assert form_of("a.svg", text, TREE_FORMS) == ("a.svg", svg)
    assert form_of("a.TEX", qtree, TREE_FORMS) == ("a.TEX", qtree)
    assert form_of("a.tex", svg, TREE_FORMS) == ("a.tex", forest)
    assert form_of("a.b", text, TREE_FORMS) == ("a.b.txt", text)
