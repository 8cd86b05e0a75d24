"""The parsing window, offscreen: the chart and the trees."""

from __future__ import annotations

import math
import os

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.parse_windows import (
    DYCK,
    ENGLISH,
    LEFT,
    by_key,
    by_menu,
    example,
    in_menu,
    settle,
    table,
    write,
)
from tests.windows import until
from ui.qt.parsing.window import ParseWindow


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
    seen = [trees.tree]
    for how in (by_key, by_menu, by_key):
        how(win, "view.next")
        seen.append(trees.tree)
    trees.forth.click()
    settle(win)
    seen.append(trees.tree)
    assert len({str(tree) for tree in seen}) == 5
    assert trees.number.text() == "5"
    assert not trees.forth.isEnabled()
    assert not in_menu(win, "view.next").isEnabled()
    for how in (by_key, by_menu):
        how(win, "view.previous")
    assert trees.tree == seen[2]
    trees.number.setText("99")
    QTest.keyClick(trees.number, Qt.Key.Key_Return)
    settle(win)
    assert trees.tree == seen[4]
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
