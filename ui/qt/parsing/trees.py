"""The trees of a sentence, one at a time: the drawing, and buttons to go through them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from ui.parsing.model import FoundTree, SentenceLook, exact_count, probability, short_count
from ui.qt.buttons import text_button
from ui.qt.parsing.tree import TreePane
from ui.qt.shy import ShyLabel

if TYPE_CHECKING:
    from nltk.tree import ProbabilisticTree, Tree

_SAID = 72  # pixels, at least, of how many trees there are
PATIENCE = 250  # milliseconds that what is known of the sentence before is shown
_FARTHEST = 10_000_000  # trees that one may jump ahead


class TreePanel(QWidget):
    """Shows the trees of a sentence, one at a time.

    wanted: the number of a tree, from 0 on. drawn: the spans of the tree that is shown. tree: the
    one that is shown, None if there is none.
    """

    wanted = Signal(int)
    drawn = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.look: SentenceLook | None = None
        self.index = 0  # of the tree that is shown
        self.tree: Tree | None = None
        self.pane = TreePane()
        self.back = text_button("◀", "Previous tree", self.previous)
        self.forth = text_button("▶", "Next tree", self.next)
        self.number = QLineEdit()
        self.number.setAccessibleName("Number of the tree")
        self.number.setValidator(QIntValidator(1, _FARTHEST, self))
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.number.setFixedWidth(84)
        self.number.returnPressed.connect(self._typed)
        self.patience = QTimer(self, singleShot=True, interval=PATIENCE)
        self.patience.timeout.connect(lambda: self._clear("…"))
        self.said = ShyLabel("How many trees there are")
        self.said.setMinimumWidth(_SAID)
        row = QHBoxLayout()
        row.setContentsMargins(6, 2, 6, 2)
        for widget in (QLabel("Tree"), self.back, self.number, self.forth):
            row.addWidget(widget)
        row.addWidget(self.said, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addLayout(row)
        column.addWidget(self.pane)
        self.show_look(None, "")

    @property
    def end(self) -> int | None:
        """Return how many trees there are, if that is known."""
        if self.look is None or self.look.trees is None:
            return 0
        if self.look.trees.end is not None:
            return self.look.trees.end
        count = self.look.count
        return None if count is None or count == math.inf else int(count)

    @property
    def has_next(self) -> bool:
        """Tell whether there is, or may be, another tree after this one."""
        return self.end is None or self.index + 1 < self.end

    @property
    def has_previous(self) -> bool:
        """Tell whether there is a tree before this one."""
        return self.index > 0

    def next(self) -> None:
        """Ask for the next tree."""
        if self.has_next:
            self._go(self.index + 1)

    def previous(self) -> None:
        """Ask for the tree before."""
        if self.has_previous:
            self._go(self.index - 1)

    def _typed(self) -> None:
        index = int(self.number.text()) - 1
        self._go(index if self.end is None else min(index, self.end - 1))

    def _go(self, index: int) -> None:
        self._say("looking for it…")
        self.wanted.emit(index)

    def show_look(self, look: SentenceLook | None, message: str = "") -> None:
        """Show another sentence; or the same one, of which more is known."""
        same = look is not None and self.look is not None and look.trees is self.look.trees
        self.look = look
        if same and look is not None and look.trees is not None:
            self._refresh()
            return
        self.index, self.tree = 0, None
        if look is not None and not message and look.trees is None:
            message = "There is no tree" if not look.problem else ""
        if look is not None and look.trees is not None:
            self.patience.start()  # the tree before stays until there is another one
        else:
            self._clear(message)
        self._refresh()

    def _clear(self, message: str) -> None:
        self.patience.stop()
        self.pane.show_tree(None, message)
        self.drawn.emit(frozenset())

    def show_tree(self, found: FoundTree) -> None:
        """Show what has come of the one that was asked for."""
        if isinstance(found.tree, int):
            self._say(f"{found.tree:,} passed…")
            return
        if found.tree is not None:
            self.patience.stop()
            self.index, self.tree = found.number, found.tree
            self.pane.show_tree(found.tree)
            assert self.pane.layout_ is not None
            self.drawn.emit(self.pane.layout_.spans)
        self._refresh()

    def _refresh(self) -> None:
        end, tree = self.end, self.tree
        self.number.setText(str(self.index + 1) if end != 0 else "")
        self.number.setEnabled(end != 0)
        self.back.setEnabled(self.has_previous)
        self.forth.setEnabled(self.has_next)
        more = ""
        if tree is not None and hasattr(tree, "logprob"):
            more = self._probability(cast("ProbabilisticTree", tree))
        self._say(more)

    def _probability(self, tree: ProbabilisticTree) -> str:
        """Say how probable a tree is, and, where that is known, its share of the sentence's."""
        said, log = f"probability {probability(tree)}", self.look.log if self.look else None
        if log is None or not math.isfinite(log):
            return said
        share = 100 * math.exp(min(0.0, tree.logprob() * math.log(2) - log))
        return f"{said}, {share:.3g} % of the sentence's"

    def _say(self, more: str) -> None:
        """Say how many trees there are, and what else there is to say."""
        self.said.setText(self._of(more))
        count = self.look.count if self.look is not None and self.look.trees is not None else None
        if count is not None and count != math.inf:
            self.said.setToolTip(exact_count(count))

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
        return f"{text}   {more}".rstrip()
