"""The table of sentences, with verdicts and numbers of parses."""

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
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLineEdit, QTableView, QWidget

from ckyparse.drawing.layout import EMPTY
from ui.parsing.model import exact_count, short_count
from ui.parsing.sentences import (
    ACCEPTED,
    REJECTED,
    TOO_LONG,
    VERDICTS,
    WAITING,
    Findings,
    SentenceLines,
)

_SENTENCE, _VERDICT, _PARSES, _NOTE = range(4)
_TITLES = "Sentence", "Verdict", "Parses", "Why not"
_SHOWN = 400  # characters of a sentence
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

    edited: a line was written over: its number and text.
    """

    edited = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines = SentenceLines()
        self.findings: Findings | None = None

    def show_lines(self, lines: SentenceLines) -> None:
        """Show other lines."""
        self.beginResetModel()
        self.lines, self.findings = lines, None
        self.endResetModel()

    def show_findings(self, findings: Findings | None) -> None:
        """Show findings on the same lines; again whenever there are more."""
        self.findings = findings
        if len(self.lines):
            last = len(self.lines) - 1
            self.dataChanged.emit(self.index(0, _VERDICT), self.index(last, _NOTE))

    def text(self, row: int, column: int) -> str:
        """Return a line as it is shown."""
        if column == _SENTENCE:
            return self.lines[row]
        found = self.findings
        if found is None:
            return VERDICTS[WAITING] if column == _VERDICT else ""
        if column == _VERDICT:
            return VERDICTS[found.verdicts[row]]
        if column == _NOTE:
            return found.note(row)
        if found.verdicts[row] != ACCEPTED:
            return "0" if found.verdicts[row] == REJECTED else ""
        count = found.count(row)
        if count == math.inf:
            return "infinite"
        return short_count(count) if found.is_counted(row) else "…"

    # --- QAbstractTableModel ---------------------------------------------------

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many lines there are."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:
        """Return the title of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == _Role.TextAlignmentRole and section == _PARSES:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return _TITLES[section] if role == _Role.DisplayRole else None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Return what can be done with a cell: sentences can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == _SENTENCE else flags

    def data(self, index: _Index, role: int = _Role.DisplayRole) -> Any:
        """Return what a cell of the table shows."""
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == _Role.EditRole:
            return self.text(row, column)
        if role == _Role.DisplayRole:
            text = self.text(row, column)
            if column == _SENTENCE and not text.strip():
                return EMPTY if not text else "␣" * min(len(text), _SHOWN)
            return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        if role == _Role.TextAlignmentRole and column == _PARSES:
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
        if value != self.lines[index.row()]:
            self.edited.emit(index.row(), str(value))
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
        if column == _PARSES and found.verdicts[row] == ACCEPTED and found.is_counted(row):
            count = found.count(row)
            return "Too much to count here" if count is None else exact_count(count)
        return found.note(row) or None if found.verdicts[row] >= TOO_LONG or column else None


class SentenceTable(QTableView):
    """The table of sentences.

    pasted: several lines; removed: the Delete key.
    """

    pasted = Signal(str)

    def __init__(self, model: SentenceModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._lines = model
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
        columns.setStretchLastSection(True)
        for column, width in enumerate((208, 74, 104, 120)):
            columns.resizeSection(column, width)

    def go_to(self, row: int) -> None:
        """Select it and no other, whatever keys are held down."""
        flags = QItemSelectionModel.SelectionFlag
        index = self._lines.index(row, _SENTENCE)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def in_view(self) -> tuple[int, int]:
        """Return the rows that are seen: first, and one more than the last."""
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        return max(0, first), last + 1 if last >= 0 else len(self._lines.lines)

    def chosen(self) -> npt.NDArray[np.int64]:
        """Return the selected rows, in order; a range of a million is not written down index by
        index."""
        selection = self.selectionModel().selection()
        parts = [selection.at(index) for index in range(selection.size())]
        ranges = [(part.top(), part.bottom()) for part in parts]
        rows = [np.arange(top, bottom + 1, dtype=np.int64) for top, bottom in ranges]
        return np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)

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
