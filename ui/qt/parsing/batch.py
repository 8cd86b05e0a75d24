"""The panel of the sentences: a line to type one, the list of all, and what is found of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from bulkbits.plurals import many
from ui.parsing.model import Language, Latest, Way
from ui.parsing.order import Arrangement, Key, Shown
from ui.parsing.sentences import Findings, SentenceLines, TextError
from ui.qt.parsing.sentences import SentenceLine, SentenceModel, SentenceTable

_SHOWING = 60  # milliseconds between two pictures of findings
_LONG = 20_000  # characters of a sentence that is not for a line
_COPIED = 100_000  # rows, at most
_WAYS: tuple[tuple[str, Way | None], ...] = (
    ("Tokens: as the grammar suggests", None), ("Tokens: words", "space"),
    ("Tokens: characters", "chars"),
)  # fmt: skip
_SHOWN: tuple[tuple[str, Shown], ...] = (
    ("Show all", "all"), ("Show accepted", "accepted"), ("Show ambiguous", "ambiguous"),
    ("Show rejected", "rejected"), ("Show those without an answer", "unanswered"),
)  # fmt: skip


class BatchPanel(QWidget):
    """Shows all sentences with their verdicts.

    lines: all sentences. arrangement: which of them are shown, and in which order. modified:
    whether any was typed, pasted or removed. looked: somebody wants to see this sentence. counted:
    there is another summary. changed: something that menus show may be otherwise. report: is told
    what went wrong.
    """

    looked = Signal(str)
    counted = Signal(str)
    changed = Signal()
    _landed = Signal(int, object)
    _ordered = Signal(int, object)

    def __init__(self, report: Callable[[Exception], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report = report
        self.lines = SentenceLines()
        self.modified = False
        self.language: Language | None = None
        self._range = 0, 0  # of rows in view: the worker counts them first
        self._findings: Findings | None = None
        self.arrangement = Arrangement()
        self._order_asked: int | None = None  # the number of the job whose order has not landed
        self._is_stale = False  # whether more is known than when the order was asked for
        self.ways, self.line, self.model = QComboBox(), SentenceLine(), SentenceModel(self)
        self.shown = QComboBox()
        self.table = SentenceTable(self.model)
        self.ways.setAccessibleName("What the tokens of a sentence are")
        for title, way in _WAYS:
            self.ways.addItem(title, way)
        self.shown.setAccessibleName("Which sentences are shown")
        for title, which in _SHOWN:
            self.shown.addItem(title, which)
        self.line.setPlaceholderText("Type a sentence; Return adds it to the list")
        self.line.setClearButtonEnabled(True)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(5)
        choices = QHBoxLayout()
        choices.addWidget(self.ways, 1)
        choices.addWidget(self.shown, 1)
        for chooser in (self.ways, self.shown):  # may be narrower than their longest item
            chooser.setMinimumContentsLength(8)
            chooser.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
        box.addLayout(choices)
        for widget in (self.line, self.table):
            box.addWidget(widget)
        self.showing = QTimer(self, singleShot=True, interval=_SHOWING)
        self.judge = Latest("sentences", self._landed.emit)
        self._landed.connect(self._land, Qt.ConnectionType.QueuedConnection)
        self.orderer = Latest("order of sentences", self._ordered.emit)
        self._ordered.connect(self._land_order, Qt.ConnectionType.QueuedConnection)
        self.shown.currentIndexChanged.connect(self._choose_shown)
        self.table.sorted_by.connect(self.sort_by)
        self.showing.timeout.connect(self._show)
        self.table.verticalScrollBar().valueChanged.connect(self._watch_rows)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table.pasted.connect(self._pasted)
        self.model.edited.connect(self._edited)
        self.line.textEdited.connect(self._typed)
        self.line.returnPressed.connect(self.add_line)
        self.line.pasted.connect(self._pasted)

    @property
    def is_busy(self) -> bool:
        """Tell whether sentences are being judged, or are to be."""
        return self.showing.isActive() or self.judge.is_busy or self.orderer.is_busy

    @property
    def way(self) -> Way:
        """Return what tokens are."""
        _, chosen = _WAYS[self.ways.currentIndex()]
        if chosen is not None:
            return chosen
        return self.language.likely_tokens if self.language else "space"

    def set_way(self, way: Way | None) -> None:
        """Choose what tokens are; None is what the grammar suggests."""
        self.ways.setCurrentIndex([known for _, known in _WAYS].index(way))

    # --- the list --------------------------------------------------------------

    def show_lines(self, lines: SentenceLines, select: bool = False) -> None:
        """Show lines in place of those that are there, unchanged. select: look at the first."""
        self.lines, self.modified = lines, False
        self.model.show_lines(lines)
        self.table.fit_columns()
        if select and len(lines):
            self.table.go_to(0)
        self.judge_all()
        self.changed.emit()

    def _change(self, lines: SentenceLines) -> None:
        self.show_lines(lines)
        self.modified = True

    def add_line(self) -> None:
        """Add the line that has been typed."""
        self._change(self.lines.plus(SentenceLines.of(self.line.text() + "\n")))
        self.table.go_to(len(self.lines) - 1)
        self.line.selectAll()

    def add_text(self, text: str) -> None:
        """Add lines, as of the clipboard. Raises TextError."""
        if not text:
            raise TextError("the clipboard has no text")
        first = len(self.lines)
        self._change(self.lines.plus(SentenceLines.of(text)))
        self.table.go_to(first)

    def paste(self) -> None:
        """Add the lines of the clipboard."""
        self.add_text(QGuiApplication.clipboard().text())

    def copy(self) -> int:
        """Copy the selected lines and return how many. Raises TextError for more than a clipboard
        should hold."""
        chosen, show = self.table.chosen(), self.model.text
        if chosen.size > _COPIED:
            raise TextError(
                f"{chosen.size:,} sentences are too many for the clipboard, which takes "
                f"{_COPIED:,}: see ckyparse accept"
            )
        rows = chosen.tolist()
        cells = ("\t".join((show(row, 1), show(row, 2), show(row, 0))) for row in rows)
        QGuiApplication.clipboard().setText("\n".join(cells))
        return len(rows)

    def remove(self) -> None:
        """Remove the lines that are selected."""
        rows = self.table.chosen()
        self._change(self.lines.without(rows))
        if len(self.lines):
            self.table.go_to(min(int(rows[0]), len(self.lines) - 1))

    def clear(self) -> None:
        """Remove all lines."""
        self._change(SentenceLines())

    @property
    def has_selection(self) -> bool:
        """Tell whether lines are selected."""
        return self.table.selectionModel().hasSelection()

    def _pasted(self, text: str) -> None:
        try:
            self.add_text(text)
        except TextError as error:
            self._report(error)

    def _edited(self, row: int, text: str) -> None:
        try:
            self._change(self.lines.replaced(row, text))
        except TextError as error:
            self._report(error)
        self.table.go_to(row)

    def _typed(self, text: str) -> None:
        self.table.selectionModel().clear()  # it is none of the list
        self.looked.emit(text)

    def _row_changed(self) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < self.model.rowCount():
            text = self.lines[self.model.line(row)]
            self.line.setText(text if len(text) <= _LONG else "")
            self.line.setCursorPosition(0)
            self.looked.emit(text)
        self.changed.emit()

    # --- what is found ---------------------------------------------------------

    def judge_all(self) -> None:
        """Judge all lines anew."""
        self._findings = None
        if self.language is None or not len(self.lines):
            self.judge.ask(None)
            self.model.show_findings(None)
            self._arrange()
            n = len(self.lines)
            self.counted.emit(f"{many(n, 'sentence')}, no grammar" if n else "no sentences")
            return
        findings = Findings(self.language, self.way, self.lines)
        self.counted.emit(findings.summary())
        self.judge.ask(lambda: findings.judge(lambda: self._range))

    def _land(self, serial: int, found: object) -> None:
        if serial != self.judge.serial:
            return
        if isinstance(found, Findings):
            self._findings = found
            if not self.showing.isActive():
                self.showing.start()
        elif isinstance(found, Exception):
            self._report(found)

    def _show(self) -> None:
        if self._findings is not None:
            self._watch_rows()
            self.model.show_findings(self._findings)
            self.table.fit_columns()
            if not self.arrangement.is_plain:
                self._arrange()
            self._summarise()

    def _summarise(self) -> None:
        if self._findings is not None:
            shown = self.model.rowCount()
            some = "" if shown == len(self.lines) else f"{shown:,} shown of "
            self.counted.emit(some + self._findings.summary())

    def _watch_rows(self) -> None:
        self._range = self.table.lines_in_view()

    # --- which are shown, in which order -----------------------------------------

    def sort_by(self, key: Key | None) -> None:
        """Sort by this, or, where it was sorted by this, the other way round; None: not at all.

        Verdicts begin with the accepted, numbers with the largest.
        """
        again = key is not None and key == self.arrangement.key
        descending = not self.arrangement.descending if again else key not in (None, "verdict")
        self.arrange(replace(self.arrangement, key=key, descending=descending))

    def _choose_shown(self, index: int) -> None:
        self.arrange(replace(self.arrangement, shown=_SHOWN[index][1]))

    def arrange(self, arrangement: Arrangement) -> None:
        """Show these lines in this order; the same again when more is known of them."""
        self.arrangement = arrangement
        self.shown.setCurrentIndex([which for _, which in _SHOWN].index(arrangement.shown))
        self.model.show_arrangement(arrangement)
        self._is_stale = False
        self.orderer.ask(None)
        self._arrange()
        self.changed.emit()

    def _arrange(self) -> None:
        """Ask for the order; where it is being looked for, once more when that is found."""
        arrangement, findings = self.arrangement, self._findings
        if findings is None or arrangement.is_plain:
            self.orderer.ask(None)
            self._show_order(None)
        elif self._order_asked == self.orderer.serial:  # which has not landed yet
            self._is_stale = True
        else:
            self._order_asked = self.orderer.ask(lambda: [(findings, arrangement.of(findings))])

    def _land_order(self, serial: int, found: object) -> None:
        if serial != self.orderer.serial:
            return
        self._order_asked = None
        if isinstance(found, Exception):
            self._report(found)
        elif isinstance(found, tuple) and found[0] is self._findings:
            self._show_order(found[1])
        if self._is_stale:
            self._is_stale = False
            self._arrange()

    def _show_order(self, order: npt.NDArray[np.int64] | None) -> None:
        """Show lines in this order, and keep the one that is looked at selected."""
        before = self.model.order
        if order is before or (
            order is not None and before is not None and np.array_equal(order, before)
        ):
            return
        row = self.table.currentIndex().row()
        line = self.model.line(row) if 0 <= row < self.model.rowCount() else None
        table = self.table.selectionModel()
        was_blocked = table.blockSignals(True)  # it is looked at already
        self.model.show_order(order)
        if line is not None:
            self.table.go_to(line)
        table.blockSignals(was_blocked)
        self.table.fit_columns()
        self.table.viewport().update()
        self._summarise()
        self.changed.emit()

    def close_down(self) -> None:
        """Stop the threads, and let go of what is large."""
        self.judge.close()
        self.orderer.close()
        self.language = self._findings = None
        self.model.show_lines(SentenceLines())
