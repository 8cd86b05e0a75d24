"""Asks for a rule: one of those that have a name, with what it is known for, or any other."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QPainter, QPalette
from PySide6.QtWidgets import (
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from bulkbits.fuzzy import ranked
from lifesim.rule import Rule
from lifesim.rules import files, listing
from lifesim.rules.named import NAMED, NamedRule
from lifesim.topology import Topology
from ui.qt.dialogs import EDGES, Form, rule_of
from ui.qt.list_keys import ListKeys

_KNOWN = Qt.ItemDataRole.UserRole
_ROW, _WIDE, _LOW, _PAGE = 42, 560, 170, 4


class RuleDialog(Form):
    """Asks for a rule and for edges.

    rule: the line in which any rule may be typed, and where one that is chosen stands. search: a
    few letters of a name, or of what a rule is known for. list: the rules that fit.
    """

    def __init__(self, rule: Rule, topology: Topology, parent: QWidget | None) -> None:
        super().__init__("Rule and topology", parent)
        self._known = rule
        self._rules = known_rules()
        self.rule = self.line("&Rule", str(rule), partial(rule_of, known=rule))
        self.rule.setToolTip("B3/S23, B2-a/S12, 345/2/4, R5,…, W110, a name or a rule file's name")
        self.topology = self.choice("&Edges", list(EDGES), topology)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Letters of a name, or of what a rule is known for")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find a rule")
        self.list = QListWidget()
        self.list.setAccessibleName("Rules that have a name")
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMinimumSize(_WIDE, _LOW)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.fields.addRow("&Find", self.search)
        self.fields.addRow(self.list)
        self.setTabOrder(self.topology, self.search)
        self.setTabOrder(self.search, self.list)
        self.end_with(self.list)
        self.search.textChanged.connect(self._search)
        self.list.currentItemChanged.connect(self._choose)
        self.list.itemDoubleClicked.connect(lambda _: self.accept())
        ListKeys(self.list, _PAGE, self.rule, self.search)
        self._search("")
        self.rule.selectAll()
        self.check()

    def sizeHint(self) -> QSize:
        """Return a size in which several rules are seen."""
        hint = super().sizeHint()
        return QSize(hint.width(), max(hint.height(), _LOW + 7 * _ROW))

    def value(self) -> tuple[Rule, Topology]:
        """Return what has been entered."""
        return rule_of(self.rule.text(), self._known), self.topology.currentData()

    def _search(self, text: str) -> None:
        """Show the rules that fit: those that have the text first, then those with its letters."""
        low = text.strip().casefold()
        exact = [known for known in self._rules if low in _all_of(known).casefold()]
        others = [
            known
            for known in ranked(text, self._rules, lambda known: known.name)
            if known not in exact
        ]
        self.list.blockSignals(True)
        self.list.clear()
        for known in (*exact, *others):
            item = QListWidgetItem(known.name)
            item.setData(_KNOWN, known)
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole,
                f"{known.name}, {known.rule}: {known.known_for}",
            )
            self.list.addItem(item)
            if known.rule == self.rule.text():
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.rule.setText(item.data(_KNOWN).rule)


def known_rules() -> list[NamedRule]:
    """Return the rules that have a name, with what they are known for, then those of rule files."""
    known = [*NAMED, *listing.TABLES]
    names = {rule.name for rule in known}
    found = files.listed(listing.places(()))
    return known + [
        NamedRule(name, name, f"of the file {path}")
        for name, path in sorted(found.items())
        if name not in names
    ]


def _all_of(known: NamedRule) -> str:
    return "\n".join((known.name, *known.others, known.rule, known.known_for))


class _Delegate(QStyledItemDelegate):
    """Draws the name and the notation, and below what a rule is known for."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        # The stubs of PySide6 leave out what QStyleOption has.
        known: Any = option
        palette: QPalette = known.palette
        rule: NamedRule = index.data(_KNOWN)
        where = known.rect.adjusted(10, 4, -10, -4)
        above = where.adjusted(0, 0, 0, -where.height() // 2)
        below = where.adjusted(0, where.height() // 2, 0, 0)
        painter.save()
        ink, dim = palette.color(QPalette.ColorRole.Text), palette.placeholderText().color()
        if known.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(known.rect, palette.highlight())
            ink = dim = palette.color(QPalette.ColorRole.HighlightedText)
        font = QFont(known.font)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(dim)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        elide = Qt.TextElideMode.ElideRight
        painter.drawText(below, left, metrics.elidedText(rule.known_for, elide, below.width()))
        notation = metrics.elidedText(rule.rule, elide, where.width() // 2)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(above, right, notation)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(ink)
        names = "  ·  ".join((rule.name, *rule.others))
        room = above.width() - metrics.horizontalAdvance(notation) - 16
        painter.drawText(above, left, painter.fontMetrics().elidedText(names, elide, room))
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(200, _ROW)
