"""The page of shortcuts: every action, its keys and what the mouse does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from bulkbits.fuzzy import score
from ui.qt.actions import Registry
from ui.qt.remembered import fit_screen

Rows = tuple[tuple[str, str], ...]  # what is done, and how


class ShortcutsPage(QDialog):
    """Shows all actions with their keys, and what the mouse does."""

    def __init__(self, registry: Registry, mouse: Rows, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Shortcuts")
        self.line = QLineEdit()
        self.line.setPlaceholderText("Find…")
        self.line.setClearButtonEnabled(True)
        self.line.setAccessibleName("Find a shortcut")
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Shortcuts")
        self.tree.setHeaderLabels(["Action", "Keys"])
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.header().setStretchLastSection(False)
        self.tree.setUniformRowHeights(True)
        self._groups: list[tuple[QTreeWidgetItem, list[QTreeWidgetItem]]] = []
        groups: dict[str, list[tuple[str, str]]] = {}
        for action in registry:
            keys = [
                QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
                for key in action.keys
            ]
            name = action.name.removesuffix("…")
            groups.setdefault(action.place, []).append((name, ", ".join(keys)))
        groups["Mouse"] = list(mouse)
        for place, rows in groups.items():
            top = QTreeWidgetItem(self.tree, [place])
            font = top.font(0)
            font.setBold(True)
            top.setFont(0, font)
            top.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self._groups.append((top, [QTreeWidgetItem(top, list(row)) for row in rows]))
        self.tree.expandAll()
        layout = QVBoxLayout(self)
        layout.addWidget(self.line)
        layout.addWidget(self.tree)
        self.line.textChanged.connect(self._search)
        fit_screen(self, 620, 640)

    def _search(self, text: str) -> None:
        for top, rows in self._groups:
            fitting = [score(text, f"{row.text(0)} {row.text(1)}") is not None for row in rows]
            for row, fits in zip(rows, fitting, strict=True):
                row.setHidden(not fits)
            top.setHidden(not any(fitting))
