"""A parse tree, drawn."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from ckyparse.drawing.layout import NodeBox, TreeLayout, lay_out
from ui.qt.parsing.pane import Pane

if TYPE_CHECKING:
    from nltk.tree import Tree

_PADDING = 20.0  # of a label in its box
_Role = QPalette.ColorRole


class TreePane(Pane):
    """Draws a tree.

    pointed: the span of the node under the pointer, or None.
    """

    pointed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Parse tree", parent)
        self.layout_: TreeLayout | None = None
        self.marked: tuple[int, int] | None = None
        self._under: NodeBox | None = None
        self._rows: list[tuple[float, list[NodeBox]]] = []

    def show_tree(self, tree: Tree | None, message: str = "") -> None:
        """Show a tree; None shows the message instead."""
        self.message, self._under = message, None
        metrics = QFontMetricsF(self.drawing_font())
        self.layout_ = None
        rows: dict[float, list[NodeBox]] = {}
        if tree is not None:
            known: dict[str, float] = {}

            def measure(text: str) -> float:
                if text not in known:
                    known[text] = metrics.horizontalAdvance(text) + _PADDING
                return known[text]

            self.layout_ = lay_out(tree, measure, height=26)
            for node in self.layout_.nodes:
                rows.setdefault(node.y, []).append(node)
        self._rows = [(y, sorted(row, key=lambda box: box.x)) for y, row in sorted(rows.items())]
        self.renew()

    def mark(self, span: tuple[int, int] | None) -> None:
        """Light up the nodes of this span."""
        if span != self.marked:
            self.marked = span
            self.viewport().update()

    # --- Pane ------------------------------------------------------------------

    def extent(self) -> QSizeF:
        """Return the size of the tree."""
        return QSizeF(self.layout_.width, self.layout_.height) if self.layout_ else QSizeF()

    def hover(self, at: QPointF | None) -> None:
        """Light up the node under the pointer."""
        found = None if at is None else self.node_at(at)
        if found is not self._under:
            self._under = found
            span = (found.start, found.end) if found and found.start < found.end else None
            self.setToolTip("" if found is None or found.label == found.text else found.label)
            self.pointed.emit(span)

    def node_at(self, at: QPointF) -> NodeBox | None:
        """Return the node at a point of the drawing; None where there is none."""
        for y, row in self._rows:
            if abs(at.y() - y) <= row[0].height / 2:
                place = bisect_left(row, at.x(), key=lambda box: box.x + box.width / 2)
                if place < len(row) and abs(at.x() - row[place].x) <= row[place].width / 2:
                    return row[place]
        return None

    def paint(self, painter: QPainter, visible: QRectF) -> None:
        """Draw the nodes and lines that are visible."""
        assert self.layout_ is not None
        nodes = self.layout_.nodes
        plain = self.scale < 0.12
        line = QPen(self.shade(_Role.Text, 40 if plain else 110), 1 if plain else 1.3)
        line.setCosmetic(plain)
        painter.setPen(line)
        top, bottom = visible.top(), visible.bottom()
        left, right = visible.left(), visible.right()
        for node in nodes:
            above = nodes[node.parent]
            if node.parent < 0 or above.y > bottom or node.y < top:
                continue
            if max(node.x, above.x) < left or min(node.x, above.x) > right:
                continue
            begin = QPointF(above.x, above.y + above.height / 2)
            painter.drawLine(begin, QPointF(node.x, node.y - node.height / 2))
        start = QColor("#2fd6a8" if self.is_dark else "#00825f")
        for y, row in self._rows:
            if not top - row[0].height <= y <= bottom + row[0].height:
                continue
            first = bisect_left(row, left, key=lambda box: box.x + box.width / 2)
            for node in row[first:]:
                if node.x - node.width / 2 > right:
                    break
                self._paint_node(painter, node, start, plain)

    def _paint_node(self, painter: QPainter, node: NodeBox, accent: QColor, plain: bool) -> None:
        rect = QRectF(node.x - node.width / 2, node.y - node.height / 2, node.width, node.height)
        lit = self.marked is not None and (
            (node.start, node.end) == self.marked
            if node.kind == "node"
            else self.marked[0] <= node.start < node.end <= self.marked[1]
        )
        painter.setPen(Qt.PenStyle.NoPen)
        if node.kind == "node":
            painter.setBrush(accent if plain else self.shade(_Role.AlternateBase))
            if not plain:
                painter.setPen(QPen(accent, 2 if lit else 1))
            painter.drawRoundedRect(rect, 6, 6)
        if lit:
            painter.setBrush(self.shade(_Role.Highlight, 90))
            painter.drawRoundedRect(rect, 6, 6)
        if plain:
            return
        role = _Role.PlaceholderText if node.kind == "empty" else _Role.Text
        painter.setPen(self.shade(role))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, node.text)
