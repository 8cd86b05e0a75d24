"""The trees of a sentence, one at a time: the drawing, and buttons to go through them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from ui.parsing.model import Found, Look, exact_count, short_count
from ui.qt.parsing.tree import TreePane

if TYPE_CHECKING:
    from nltk.tree import Tree

_FARTHEST = 10_000_000  # trees that one may jump ahead


class TreePanel(QWidget):
    """wanted: the number of a tree, from 0 on. drawn: the spans of the tree that is shown."""

    wanted = Signal(int)
    drawn = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.look: Look | None = None
        self.index = 0  # of the tree that is shown
        self._tree: Tree | None = None
        self.pane = TreePane()
        self.back = _button("◀", "Previous tree", self.previous)
        self.forth = _button("▶", "Next tree", self.next)
        self.number = QLineEdit()
        self.number.setAccessibleName("Number of the tree")
        self.number.setValidator(QIntValidator(1, _FARTHEST, self))
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.number.setFixedWidth(84)
        self.number.returnPressed.connect(self._typed)
        self.said = QLabel()
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setAccessibleName("How many trees there are")
        row = QHBoxLayout()
        row.setContentsMargins(6, 2, 6, 2)
        for widget in (QLabel("Tree"), self.back, self.number, self.forth, self.said):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addLayout(row)
        column.addWidget(self.pane)
        self.show_look(None, "")

    @property
    def end(self) -> int | None:
        """How many trees there are, if that is known."""
        if self.look is None or self.look.trees is None:
            return 0
        if self.look.trees.end is not None:
            return self.look.trees.end
        count = self.look.count
        return None if count is None or count == math.inf else int(count)

    @property
    def has_next(self) -> bool:
        return self.end is None or self.index + 1 < self.end

    @property
    def has_previous(self) -> bool:
        return self.index > 0

    def next(self) -> None:
        if self.has_next:
            self._go(self.index + 1)

    def previous(self) -> None:
        if self.has_previous:
            self._go(self.index - 1)

    def _typed(self) -> None:
        index = int(self.number.text()) - 1
        self._go(index if self.end is None else min(index, self.end - 1))

    def _go(self, index: int) -> None:
        self.said.setText(self._of("looking for it…"))
        self.wanted.emit(index)

    def show_look(self, look: Look | None, message: str = "") -> None:
        """Another sentence; or the same one, of which more is known."""
        same = look is not None and self.look is not None and look.trees is self.look.trees
        self.look = look
        if same and look is not None and look.trees is not None:
            self._refresh()
            return
        self.index, self._tree = 0, None
        if look is not None and not message and look.trees is None:
            message = "There is no tree" if not look.problem else ""
        waiting = look is not None and look.trees is not None
        self.pane.show_tree(None, "…" if waiting else message)
        self.drawn.emit(frozenset())
        self._refresh()

    def show_tree(self, found: Found) -> None:
        """What has come of the one that was asked for."""
        if isinstance(found.tree, int):
            self.said.setText(self._of(f"{found.tree:,} passed…"))
            return
        if found.tree is not None:
            self.index, self._tree = found.number, found.tree
            self.pane.show_tree(found.tree)
            assert self.pane.layout_ is not None
            self.drawn.emit(self.pane.layout_.spans)
        self._refresh()

    def _refresh(self) -> None:
        end, tree = self.end, self._tree
        self.number.setText(str(self.index + 1) if end != 0 else "")
        self.number.setEnabled(end != 0)
        self.back.setEnabled(self.has_previous)
        self.forth.setEnabled(self.has_next)
        more = ""
        if tree is not None and hasattr(tree, "logprob"):
            more = f"probability {tree.prob():.6g}"
        self.said.setText(self._of(more))

    def _of(self, more: str) -> str:
        if self.look is None or self.look.trees is None:
            return ""
        count, end = self.look.count, self.look.trees.end
        if count == math.inf:
            some = "those" if end is None else f"{end:,}"
            text = f"of infinitely many; shown are {some} in which nothing repeats itself"
        elif count is None:
            text = "" if end is None else f"of {end:,}"
        else:
            text = f"of {short_count(count)}"
            self.said.setToolTip(exact_count(count))
        return f"{text}   {more}".rstrip()


def _button(text: str, name: str, act: object) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.clicked.connect(act)
    return button
