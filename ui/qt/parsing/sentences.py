"""The table of sentences, with verdicts, numbers of parses and probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLineEdit, QTableView, QWidget

from ckyparse.drawing.layout import EMPTY
from ui.parsing.model import exact_count, probability_of, short_count
from ui.parsing.order import Arrangement, Key
from ui.parsing.sentences import (
    ACCEPTED,
    REJECTED,
    TOO_LONG,
    VERDICTS,
    WAITING,
    Findings,
    SentenceLines,
)

_SENTENCE, _VERDICT, _PARSES, _PROBABILITY, _NOTE = range(5)
_TITLES = "Sentence", "Verdict", "Parses", "Probability", "Why not"
_NUMBERS = _PARSES, _PROBABILITY
_KEYS: dict[int, Key] = {_VERDICT: "verdict", _PARSES: "parses", _PROBABILITY: "probability"}
_SHOWN = 400  # characters of a sentence
_FITTED = 300  # sentences that the column of sentences is made to fit, of any number
_NARROW = 120  # pixels of the column of sentences, at least
_PADDING = 26  # pixels of a cell beside its text
_REASON = 110  # pixels that are left for why not, at least
_GOOD, _BAD = ("#2fd6a8", "#00825f"), ("#ff7b7f", "#c1272d")  # dark, light

_SHEET = """
QTableView::item { padding: 0 6px; }
QTableView::item:selected { background: palette(highlight); color: palette(highlighted-text); }
QHeaderView::section { background: palette(window); color: palette(placeholder-text);
    border: 0; border-bottom: 1px solid palette(mid); padding: 4px 6px; }
"""

_Index = QModelIndex | QPersistentModelIndex
_Role = Qt.ItemDataRole


class SentenceModel(QAbstractTableModel):
    """Lines and findings on them, as a table.

    edited: a line was written over: its number and text. order: the lines that are shown, by
    number, in rows from the first on; None is all of them as they are.
    """

    edited = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines = SentenceLines()
        self.findings: Findings | None = None
        self.order: npt.NDArray[np.int64] | None = None
        self.arrangement = Arrangement()

    def show_lines(self, lines: SentenceLines) -> None:
        """Show other lines, in the same order until another one is known."""
        self.beginResetModel()
        if self.order is not None:
            self.order = self.order[self.order < len(lines)]
        self.lines, self.findings = lines, None
        self.endResetModel()

    def show_order(self, order: npt.NDArray[np.int64] | None) -> None:
        """Show lines in another order, or others of them."""
        self.beginResetModel()
        self.order = order
        self.endResetModel()

    def show_arrangement(self, arrangement: Arrangement) -> None:
        """Mark the column that lines are sorted by."""
        self.arrangement = arrangement
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(_TITLES) - 1)

    def title(self, column: int) -> str:
        """Return the head of a column."""
        is_sorted = column in _KEYS and self.arrangement.key == _KEYS[column]
        return _TITLES[column] + (" ▲", " ▼")[self.arrangement.descending] * is_sorted

    def line(self, row: int) -> int:
        """Return the number of the line in a row."""
        return row if self.order is None else int(self.order[row])

    def row(self, line: int) -> int | None:
        """Return the row of a line; None where it is not shown."""
        if self.order is None:
            return line
        found = np.flatnonzero(self.order == line)
        return int(found[0]) if found.size else None

    def show_findings(self, findings: Findings | None) -> None:
        """Show findings on the same lines; again whenever there are more."""
        self.findings = findings
        if rows := self.rowCount():
            self.dataChanged.emit(self.index(0, _VERDICT), self.index(rows - 1, _NOTE))

    def text(self, line: int, column: int) -> str:
        """Return what is shown of a line, which has this number."""
        if column == _SENTENCE:
            return self.lines[line]
        found = self.findings
        if found is None:
            return VERDICTS[WAITING] if column == _VERDICT else ""
        if column == _VERDICT:
            return VERDICTS[found.verdicts[line]]
        if column == _NOTE:
            return found.note(line)
        if column == _PROBABILITY and not found.is_weighted:
            return ""
        if found.verdicts[line] != ACCEPTED:
            return "0" if found.verdicts[line] == REJECTED else ""
        if column == _PROBABILITY:
            log = found.log(line)
            unknown = "" if found.is_counted(line) else "…"
            return unknown if log is None else probability_of(log)
        count = found.count(line)
        if count == math.inf:
            return "infinite"
        return short_count(count) if found.is_counted(line) else "…"

    # --- QAbstractTableModel ---------------------------------------------------

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many lines there are."""
        if parent.isValid():
            return 0
        return len(self.lines) if self.order is None else self.order.size

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:
        """Return the title of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == _Role.TextAlignmentRole and section in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == _Role.ToolTipRole:
            return _tip_of(section)
        return self.title(section) if role == _Role.DisplayRole else None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Return what can be done with a cell: sentences can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == _SENTENCE else flags

    def data(self, index: _Index, role: int = _Role.DisplayRole) -> Any:
        """Return what a cell of the table shows."""
        if not index.isValid():
            return None
        row, column = self.line(index.row()), index.column()
        if role == _Role.EditRole:
            return self.text(row, column)
        if role == _Role.DisplayRole:
            text = self.text(row, column)
            if column == _SENTENCE and not text.strip():
                return EMPTY if not text else "␣" * min(len(text), _SHOWN)
            return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        if role == _Role.TextAlignmentRole and column in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == _Role.ForegroundRole and column in (_VERDICT, _NOTE):
            return self._colour(row, column)
        if role == _Role.ToolTipRole:
            return self._tip(row, column)
        return None

    def setData(self, index: _Index, value: Any, role: int = _Role.EditRole) -> bool:
        """Tell that a sentence has been edited; it is shown when it comes back."""
        if role != _Role.EditRole or index.column() != _SENTENCE:
            return False
        line = self.line(index.row())
        if value != self.lines[line]:
            self.edited.emit(line, str(value))
        return True

    def _colour(self, row: int, column: int) -> QColor | None:
        palette = QGuiApplication.palette()
        light = palette.color(QPalette.ColorRole.Base).lightness() >= 128
        verdict = WAITING if self.findings is None else int(self.findings.verdicts[row])
        if column == _NOTE or verdict == WAITING:
            return palette.color(QPalette.ColorRole.PlaceholderText)
        return QColor((_GOOD if verdict == ACCEPTED else _BAD)[light])

    def _tip(self, row: int, column: int) -> str | None:
        found = self.findings
        if column == _SENTENCE:
            text = self.lines[row]
            return text if len(text) <= 2000 else text[:1999] + "…"
        if found is None:
            return None
        if column == _PROBABILITY:
            return found.no_sum or "Of all its parses together"
        if column == _PARSES and found.verdicts[row] == ACCEPTED and found.is_counted(row):
            count = found.count(row)
            return "Too much to count here" if count is None else exact_count(count)
        return found.note(row) or None if found.verdicts[row] >= TOO_LONG or column else None


def _tip_of(column: int) -> str:
    if column == _SENTENCE:
        return "Click to show the sentences in their own order"
    key = _KEYS.get(column)
    return f"Click to sort by {key}; click again to turn it round" if key else ""


class SentenceTable(QTableView):
    """The table of sentences. Its first column fits what it shows, until somebody drags it.

    pasted: several lines; removed: the Delete key. sorted_by: a column's head was clicked: what
    to sort by, None for the order of the lines.
    """

    pasted = Signal(str)
    sorted_by = Signal(object)

    def __init__(self, model: SentenceModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._lines = model
        self._is_fitting = self._is_dragged = False
        self._needed_by_sentences: int | None = None  # pixels; None where there are other ones
        model.modelReset.connect(self._forget_sentences)
        self.setAccessibleName("Sentences")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setWordWrap(False)
        self.setStyleSheet(_SHEET)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self.fontMetrics().height() + 9)
        columns = self.horizontalHeader()
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.setHighlightSections(False)
        # Else it looks for each column whether all of its cells are selected.
        columns.setSelectionModel(QItemSelectionModel(model, columns))
        columns.setSectionsClickable(True)
        columns.sectionClicked.connect(self._clicked)
        columns.sectionResized.connect(self._resized)
        self.fit_columns()

    # --- columns ---------------------------------------------------------------

    def fit_columns(self) -> None:
        """Make columns as wide as what they show. Where sentences would be cut off otherwise, why
        not is left to tooltips."""
        found = self._lines.findings
        self._is_fitting = True
        self._hide(_PROBABILITY, found is None or not found.is_weighted)
        first, last = self.in_view()
        seen = range(first, min(last, first + _FITTED))
        room = self.viewport().width()
        for column in (_VERDICT, *_NUMBERS):
            self.setColumnWidth(column, self._needed(column, seen))
            room -= 0 if self.isColumnHidden(column) else self.columnWidth(column)
        if not self._is_dragged:
            needed = self._sentence_width()
            self._hide(_NOTE, _NARROW < room < needed + _REASON)
            width = room if self.isColumnHidden(_NOTE) else needed
            self.setColumnWidth(_SENTENCE, max(_NARROW, width))
        self.setColumnWidth(_NOTE, max(_REASON, room - self.columnWidth(_SENTENCE)))
        self._is_fitting = False

    def _sentence_width(self) -> int:
        """Return the pixels that sentences take; they are measured once, as they may be long."""
        if self._needed_by_sentences is None:
            rows = range(min(self._lines.rowCount(), _FITTED))
            self._needed_by_sentences = self._needed(_SENTENCE, rows)
        return self._needed_by_sentences

    def _forget_sentences(self) -> None:
        self._needed_by_sentences = None

    def _hide(self, column: int, hidden: bool) -> None:
        if self.isColumnHidden(column) != hidden:  # which takes a while with many rows
            self.setColumnHidden(column, hidden)

    def _needed(self, column: int, rows: range) -> int:
        """Return the pixels that the texts of a column and its title take."""
        metrics, model = self.fontMetrics(), self._lines
        title = f"{_TITLES[column]} ▲ " if column in _KEYS else _TITLES[column]
        texts = [model.text(model.line(row), column)[:_SHOWN] for row in rows]
        return max(map(metrics.horizontalAdvance, [title, *texts])) + _PADDING

    def _clicked(self, column: int) -> None:
        if column in (_SENTENCE, *_KEYS):
            self.sorted_by.emit(_KEYS.get(column))

    def _resized(self, column: int, before: int, now: int) -> None:
        if column == _SENTENCE and not self._is_fitting:
            self._is_dragged = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to another width."""
        super().resizeEvent(event)
        self.fit_columns()

    # --- rows ------------------------------------------------------------------

    def go_to(self, line: int) -> None:
        """Select a line and no other, whatever keys are held down; one that is not shown is
        not selected."""
        row = self._lines.row(line)
        if row is None:
            self.selectionModel().clear()
            return
        flags = QItemSelectionModel.SelectionFlag
        index = self._lines.index(row, _SENTENCE)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def in_view(self) -> tuple[int, int]:
        """Return the rows that are seen: first, and one more than the last."""
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        return max(0, first), last + 1 if last >= 0 else self._lines.rowCount()

    def lines_in_view(self) -> tuple[int, int]:
        """Return the lines that are seen: first, and one more than the last; none where rows are
        in another order."""
        return self.in_view() if self._lines.order is None else (0, 0)

    def chosen(self) -> npt.NDArray[np.int64]:
        """Return the selected lines, in order; a range of a million is not written down index by
        index."""
        selection = self.selectionModel().selection()
        parts = [selection.at(index) for index in range(selection.size())]
        ranges = [(part.top(), part.bottom()) for part in parts]
        rows = [np.arange(top, bottom + 1, dtype=np.int64) for top, bottom in ranges]
        found = np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)
        return found if self._lines.order is None else np.sort(self._lines.order[found])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell of pasting and of the Delete key."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.pasted.emit(QGuiApplication.clipboard().text())
        else:
            super().keyPressEvent(event)


class SentenceLine(QLineEdit):
    """A line to type a sentence.

    pasted: text of several lines, which is not for a line.
    """

    pasted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Sentence")
        self.setMaxLength(1 << 20)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell of pasted text that has several lines."""
        if event.matches(QKeySequence.StandardKey.Paste):
            text = QGuiApplication.clipboard().text()
            if "\n" in text.strip("\n") or len(text) >= self.maxLength():
                self.pasted.emit(text)
                return
        super().keyPressEvent(event)
