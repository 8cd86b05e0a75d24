"""What is typed into dialogs is checked at once."""

from __future__ import annotations

from fractions import Fraction

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

import shiboken6
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFormLayout, QWidget

from lifesim.rule import Rule
from lifesim.topology import Topology
from lifesim.until import Population, Repeats, Stable
from ui.qt.dialogs import (
    Dialogs,
    FillDialog,
    Form,
    GenerationDialog,
    New,
    NewDialog,
    UnsavedAnswer,
)
from ui.qt.rows import Scrolled
from ui.qt.rule_dialog import RuleDialog, known_rules
from ui.qt.until_dialog import Until, UntilDialog


def ok(dialog: Form) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_rules_are_checked_as_they_are_typed(app: QApplication) -> None:
    dialog = RuleDialog(Rule.parse("B3/S23"), Topology.TORUS, None)
    assert ok(dialog)
    for text in ("B3/S2x", "", "B9/S", "B33/S", "nonsense"):
        dialog.rule.setText(text)
        assert not ok(dialog)
        assert dialog.problem.text()
    dialog.rule.setText("B3/S2x")
    assert "column 6" in dialog.problem.text()
    dialog.rule.setText("HighLife")
    dialog.topology.setCurrentIndex(1)
    assert ok(dialog)
    assert dialog.value() == (Rule.parse("B36/S23"), Topology.PLANE)


@pytest.mark.parametrize(
    ("typed", "rule"), [("life", "B3/S23"), ("high", None), ("2x2", "B36/S125"), ("b2/s", "B2/S")]
)
def test_what_is_typed_as_a_rule_is_what_is_taken(
    app: QApplication, typed: str, rule: str | None
) -> None:
    highlife = Rule.parse("B36/S23")
    chooser = RuleDialog(highlife, Topology.TORUS, None)
    new = NewDialog((64, 32), highlife, Topology.TORUS, None)
    for dialog, line in ((chooser, chooser.rule), (new, new.rule.lineEdit())):
        dialog.show()
        dialog.activateWindow()
        assert QTest.qWaitForWindowActive(dialog, 5000)
        line.setFocus()
        line.selectAll()
        QTest.keyClicks(line, typed)
        QTest.keyClick(line, Qt.Key.Key_Return)
        assert dialog.isVisible() is (rule is None), line.text()
        if rule:
            value = dialog.value()
            assert (value.rule if isinstance(value, New) else value[0]) == Rule.parse(rule)
        dialog.close()


def test_rules_that_are_walked_through_are_rules(app: QApplication) -> None:
    dialog = RuleDialog(Rule.parse("B3/S23"), Topology.TORUS, None)
    dialog.show()
    for name in ("B36/S23", "B3678/S34678"):
        QTest.keyClick(dialog.rule, Qt.Key.Key_Down)
        assert ok(dialog)
        assert dialog.value()[0] == Rule.parse(name)
    dialog.close()


@pytest.mark.parametrize(
    ("typed", "first"),
    [("ladders", "Life without Death"), ("von neumann", "JvN29"), ("B2/S", "Seeds"),
     ("dayn", "Day & Night"), ("electrons", "WireWorld")],
)  # fmt: skip
def test_rules_are_found_by_what_they_are_known_for(
    app: QApplication, typed: str, first: str
) -> None:
    dialog = RuleDialog(Rule.parse("B3/S23"), Topology.TORUS, None)
    dialog.show()
    total = dialog.list.count()
    QTest.keyClicks(dialog.search, typed)
    shown = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert first in shown[:3]
    assert len(shown) < total
    assert dialog.value()[0] == Rule.parse("B3/S23")  # to find is not to choose
    row = shown.index(first)
    for _ in range(row + 1):
        QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.value()[0] == Rule.parse(first)
    dialog.close()


def test_every_rule_that_is_offered_is_a_rule(app: QApplication) -> None:
    for known in known_rules():
        assert str(Rule.parse(known.rule))
        assert known.known_for


def test_a_new_universe_is_checked_as_it_is_typed(app: QApplication) -> None:
    dialog = NewDialog((64, 32), Rule.parse("B3/S23"), Topology.TORUS, None)
    assert dialog.value() == New((64, 32), Rule.parse("B3/S23"), Topology.TORUS, None, 1)
    for text in ("", "12", "0x5", "9G", "wide"):
        dialog.size_.setText(text)
        assert ok(dialog) is (text == "12"), text
    dialog.size_.setText("1K x 2K".replace(" ", ""))
    dialog.fill.setCurrentIndex(1)
    for text, right in (("37 %", True), ("3/8", True), ("1.5", False), ("%", False), ("", False)):
        dialog.density.setText(text)
        assert ok(dialog) is right, text
    dialog.density.setText("25%")
    for text, right in (("-1", False), ("x", False), (str(2**64), False), ("1,000", True)):
        dialog.seed.setText(text)
        assert ok(dialog) is right, text
    assert dialog.value().seed == 1000
    dialog.seed.setText("7")
    made = dialog.value()
    assert (made.size, made.density, made.seed) == ((1024, 2048), Fraction(1, 4), 7)
    dialog.density.setText("x")
    dialog.fill.setCurrentIndex(0)  # what is not asked for need not be right
    assert ok(dialog)


def test_return_accepts_what_is_right_only(app: QApplication) -> None:
    dialog = GenerationDialog(5, 1000, None)
    dialog.show()
    dialog.number.setText("x")
    QTest.keyClick(dialog.number, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog.number.setText("12")
    QTest.keyClick(dialog.number, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    assert dialog.result() == 1


def test_numbers_are_checked_as_they_are_typed(app: QApplication) -> None:
    dialog = GenerationDialog(5, 1000, None)
    for text, right in (
        ("1,000", True),
        ("1e2", True),
        ("2^9", True),
        ("2^10", False),
        ("1001", False),
        ("-3", False),
        ("1.5", False),
        ("", False),
    ):
        dialog.number.setText(text)
        assert ok(dialog) is right, text
    dialog.number.setText("1,000")
    assert dialog.value() == 1000
    fill = FillDialog("30 %", 4, None)
    assert fill.value() == (Fraction(3, 10), 4)
    fill.seed.setText("1,000")
    assert fill.value() == (Fraction(3, 10), 1000)


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-999999999 %", "0.5e1_000_000_000", "1" * 5000, "nan", "101 %"]
)
def test_densities_that_are_none_are_said_at_once(app: QApplication, text: str) -> None:
    dialog = FillDialog("1e-2", 1, None)
    assert dialog.value()[0] == Fraction(1, 100)
    dialog.density.setText(text)
    assert not ok(dialog)
    assert "Fraction" not in dialog.problem.text()


def test_typing_begins_in_the_first_line_and_ends_at_the_buttons(app: QApplication) -> None:
    dialog = NewDialog((64, 32), Rule.parse("B3/S23"), Topology.TORUS, None)
    dialog.show()
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog, 5000)
    assert app.focusWidget() is dialog.size_
    QTest.keyClicks(dialog.size_, "12x8")
    assert dialog.value().size == (12, 8)
    visited = []
    for _ in range(5):
        QTest.keyClick(app.focusWidget(), Qt.Key.Key_Tab)
        visited.append(app.focusWidget())
    cells = [dialog.rule, dialog.topology, dialog.fill]
    assert visited[:3] == cells
    assert visited[3:] == dialog.buttons.buttons()
    dialog.close()


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("S", UnsavedAnswer.SAVE),
        ("D", UnsavedAnswer.DISCARD),
        ("C", UnsavedAnswer.CANCEL),
        ("Return", UnsavedAnswer.SAVE),
        ("Esc", UnsavedAnswer.CANCEL),
    ],
)
def test_questions_are_answered_by_keys(app: QApplication, key: str, answer: UnsavedAnswer) -> None:
    timer = QTimer()

    def press() -> None:
        box = QApplication.activeModalWidget()
        if box is not None and box.isActiveWindow():
            timer.stop()
            letter = len(key) == 1
            combination = QKeySequence(f"Alt+{key}" if letter else key)[0]
            QTest.keyClick(box, combination.key(), combination.keyboardModifiers())

    timer.timeout.connect(press)
    timer.start(5)
    assert Dialogs(QWidget()).unsaved("a pattern") is answer


def shown(dialog: Form) -> list[str]:
    """The labels of the rows that are shown."""
    fields, role = dialog.fields, QFormLayout.ItemRole.LabelRole
    labels = [fields.itemAt(row, role).widget() for row in range(fields.rowCount())]
    return [label.text() for row, label in enumerate(labels) if fields.isRowVisible(row)]


def test_conditions_are_checked_as_they_are_typed(app: QApplication) -> None:
    dialog = UntilDialog(7, 10**18, None, None)
    assert dialog.value() == Until(Stable())
    assert shown(dialog) == ["&Until", "&At most"]
    dialog.limit.setText("-3")
    assert not ok(dialog)
    dialog.limit.setText("1e6")
    assert dialog.value() == Until(Stable(), 10**6)
    kinds = [dialog.kind.itemData(row) for row in range(dialog.kind.count())]
    for kind, label, good, condition, bad in (
        ("period", "&Period", "30", Repeats(30), ("0", "", "x", "1e13")),
        (
            "population", "&Live cells", ">= 1000", Population(">=", 1000),
            ("1000", "~3", ">-1", ""),
        ),
    ):  # fmt: skip
        dialog.kind.setCurrentIndex(kinds.index(kind))
        assert shown(dialog) == ["&Until", label, "&At most"]
        assert dialog.number.accessibleName() == label[1:]
        assert ok(dialog)
        for text in bad:
            dialog.number.setText(text)
            assert not ok(dialog), text
            assert dialog.problem.text()
            assert dialog.problem.property("error")
        dialog.number.setText(good)
        assert ok(dialog)
        assert dialog.value() == Until(condition, 10**6)
        assert not dialog.problem.property("error")
    dialog.kind.setCurrentIndex(kinds.index("generation"))
    assert shown(dialog) == ["&Until", "&Generation"]
    for text in ("7", "0", "soon"):
        dialog.number.setText(text)
        assert not ok(dialog)
    dialog.number.setText("64K")
    assert dialog.value() == Until(None, generation=65536)
    dialog.kind.setCurrentIndex(kinds.index("period"))
    assert dialog.number.text() == "30"  # what was written for it stands there again


@pytest.mark.parametrize("looks", [None, 60])
def test_all_lines_of_a_condition_are_seen(app: QApplication, looks: int | None) -> None:
    dialog = UntilDialog(7, 10**18, looks, None)
    dialog.show()
    place = dialog.findChild(Scrolled)
    assert place is not None
    for row in [*range(dialog.kind.count()), 0]:
        dialog.kind.setCurrentIndex(row)
        QApplication.processEvents()
        assert not place.verticalScrollBar().isVisible()
    dialog.close()


def test_a_form_that_was_answered_is_gone(app: QApplication) -> None:
    """Collected by a thread, it would end the process."""
    forms: list[Form] = []

    def answer() -> None:
        form = QApplication.activeModalWidget()
        if isinstance(form, Form):
            timer.stop()
            forms.append(form)
            form.accept()

    timer = QTimer()
    timer.timeout.connect(answer)
    timer.start(5)
    window = QWidget()
    assert Dialogs(window).generation(7, 100) == 7
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not shiboken6.isValid(forms[0])
    assert not window.children()


def test_a_universe_on_disk_is_looked_at_now_and_then(app: QApplication) -> None:
    dialog = UntilDialog(0, 10**18, 60, None)
    assert dialog.value() == Until(Stable(), looks=60)
    assert dialog.looks is not None
    assert shown(dialog) == ["&Until", "&At most", "Looked at &every"]
    for bad in ("", "0", "often"):
        dialog.looks.setText(bad)
        assert not ok(dialog)
    dialog.looks.setText("1K")
    assert dialog.value() == Until(Stable(), looks=1024)
    assert "at their places" in dialog.problem.text()
    assert UntilDialog(0, 10**18, None, None).looks is None
