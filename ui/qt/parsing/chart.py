"""The chart of a sentence as a triangle: what spans what, over the tokens."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QKeyEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from ckyparse.drawing.layout import Triangle, fitted, shown
from ui.parsing.model import SentenceLook
from ui.qt.parsing.pane import Pane

_CELL = 84.0, 40.0
_TOKENS = 34.0  # the row of the tokens
_GAP = 2.5  # around a cell
_READABLE = 0.42  # scale below which cells have no text
_SEPARATE = 7  # pixels of a cell's width below which cells are pixels of a picture
_START = {True: "#2fd6a8", False: "#00825f"}  # the start symbol, dark and light

Span = tuple[int, int]
_Role = QPalette.ColorRole


class ChartPane(Pane):
    """Draws the chart of a sentence.

    pointed: the span under the pointer, or None. picked: the one that was clicked.
    """

    pointed = Signal(object)
    picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Chart", parent)
        self.look: SentenceLook | None = None
        self.triangle = Triangle(0, *_CELL)
        self.under: Span | None = None
        self.pick: Span | None = None
        self.marked: frozenset[Span] = frozenset()
        self._names: dict[Span, tuple[str, list[str]]] = {}

    def show_look(self, look: SentenceLook | None, message: str = "") -> None:
        """Show a chart; None shows the message instead."""
        before = self.look
        self.look, self.message = look, message
        tokens = len(look.tokens) if look is not None and look.chart is not None else 0
        if look is not None and not tokens and not message:
            self.message = look.problem or "The empty sentence has no chart"
        if before is None or look is None or before.chart is not look.chart:
            self._names.clear()
            self.marked = frozenset()
            # By another grammar the same tokens stay where they are, and so does what is picked.
            if not tokens or before is None or look is None or before.tokens != look.tokens:
                self.triangle = Triangle(tokens, *_CELL)
                self.under = self.pick = None
                self.renew()
            self.pointed.emit(self.under)
        self.viewport().update()

    def mark(self, spans: frozenset[Span]) -> None:
        """Outline these cells: those of a tree."""
        self.marked = spans
        self.viewport().update()

    def point(self, span: Span | None) -> None:
        """Light up a span, as if the pointer were there; None is none, as is one that is no span
        of this sentence, of which the tree may still be to come."""
        if span is not None and span[1] > self.triangle.tokens:
            span = None
        if span != self.under:
            self.under = span
            self.viewport().update()
            self.pointed.emit(span)

    def describe(self, span: Span) -> str:
        """Return what a cell has, in a line."""
        if self.look is None:
            return ""
        start, end = span
        tokens = self.look.tokens[start:end]
        if len(tokens) > 12:
            tokens = (*tokens[:6], "…", *tokens[-5:])
        words = " ".join(shown(token) for token in tokens)
        where = f"token {end}" if end == start + 1 else f"tokens {start + 1}–{end}"
        names = self.look.names(start, end)
        return f"{', '.join(names) if names else 'nothing'} spans {where}: {words}"

    # --- Pane ------------------------------------------------------------------

    def extent(self) -> QSizeF:
        """Return the size of the triangle."""
        triangle = self.triangle
        return QSizeF(triangle.width, triangle.height + _TOKENS if triangle.tokens else 0)

    def hover(self, at: QPointF | None) -> None:
        """Point to the cell under the pointer."""
        self.point(None if at is None else self._span_at(at))

    def click(self, at: QPointF) -> None:
        """Pick the cell under the pointer."""
        self.choose(self._span_at(at))

    def choose(self, span: Span | None) -> None:
        """Pick a span; the one that is picked already is let go."""
        self.pick = None if span == self.pick else span
        self.viewport().update()
        self.picked.emit(self.pick)

    def _span_at(self, at: QPointF) -> Span | None:
        if at.y() > self.triangle.height + _TOKENS:
            return None
        return self.triangle.at(at.x(), at.y())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move what is picked by arrows: along a row, to longer and to shorter spans."""
        n = self.triangle.tokens
        # Up grows to the right, or to the left where there is no more.
        moves = {
            Qt.Key.Key_Left: ((-1, -1),), Qt.Key.Key_Right: ((1, 1),),
            Qt.Key.Key_Up: ((0, 1), (-1, 0)), Qt.Key.Key_Down: ((0, -1),),
        }  # fmt: skip
        steps = moves.get(event.key())  # type: ignore[call-overload]
        if steps is None or not n:
            super().keyPressEvent(event)
            return
        start, end = self.pick or (0, n)
        to = [(start + left, end + right) for left, right in steps] if self.pick else [(0, n)]
        inside = [span for span in to if 0 <= span[0] < span[1] <= n]
        if inside:
            self.pick = inside[0]
            self.show_rect(self._rect(self.pick))
            self.viewport().update()
            self.picked.emit(self.pick)

    # --- drawing ---------------------------------------------------------------

    def _rect(self, span: Span) -> QRectF:
        left, top = self.triangle.corner(*span)
        return QRectF(left, top, *_CELL).adjusted(_GAP, _GAP, -_GAP, -_GAP)

    def paint(self, painter: QPainter, visible: QRectF) -> None:
        """Draw the cells that are visible."""
        if _CELL[0] * self.scale < _SEPARATE:
            self._paint_far(painter, visible)
        else:
            self._paint_near(painter, visible)
        self._paint_tokens(painter, visible)

    @property
    def _colours(self) -> tuple[QColor, QColor, QColor]:
        """Return the colours of cells without a nonterminal, with one, with the start symbol."""
        start = QColor(_START[self.is_dark])
        start.setAlpha(70)
        return self.shade(_Role.Text, 12), self.shade(_Role.Highlight, 70), start

    def _paint_near(self, painter: QPainter, visible: QRectF) -> None:
        assert self.look is not None
        colours, filled = self._colours, self.look.filled
        metrics = QFontMetricsF(painter.font())
        focus = self.under or self.pick
        text = self.shade(_Role.Text)
        round_ = 5 if self.scale > 0.25 else 0
        edge = (visible.left(), visible.top(), visible.right(), visible.bottom())
        for span in self.triangle.visible(*edge):
            start, end = span
            kind = int(filled[end * (end - 1) // 2 + start])
            rect = self._rect(span)
            fill = colours[kind]
            painter.setPen(Qt.PenStyle.NoPen)
            if span in self.marked:
                painter.setPen(QPen(QColor(_START[self.is_dark]), 1.6))
            if span in (self.pick, self.under):
                painter.setPen(QPen(text, 2 if span == self.pick else 1.2))
            painter.setBrush(fill)
            painter.drawRoundedRect(rect, round_, round_)
            if kind and self.scale >= _READABLE:
                dim = focus is not None and not (focus[0] <= start and end <= focus[1])
                painter.setPen(self.shade(_Role.Text, 130) if dim else text)
                label = self._label(span, metrics, rect.width() - 8)
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, label)

    def _paint_far(self, painter: QPainter, visible: QRectF) -> None:
        """Draw too many cells to do it one by one: a pixel shows the cell that it is in."""
        assert self.look is not None
        inside = visible.intersected(QRectF(0, 0, self.triangle.width, self.triangle.height))
        if inside.isEmpty():
            return
        width = max(1, round(inside.width() * self.scale))
        height = max(1, round(inside.height() * self.scale))
        place = self.look.filled, inside.left(), inside.top(), 1 / self.scale, width, height
        values = self.triangle.picture(*place)
        table = [colour.rgba() for colour in self._colours]
        pixels = np.array([*table, *[0] * 253], np.uint32)[values]
        image = QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_ARGB32)
        painter.drawImage(inside, image)
        for span in (self.pick, self.under):
            if span is not None:
                painter.setPen(QPen(self.shade(_Role.Text), 2 / self.scale))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                left, top = self.triangle.corner(*span)
                painter.drawRect(QRectF(left, top, *_CELL))

    def _paint_tokens(self, painter: QPainter, visible: QRectF) -> None:
        assert self.look is not None
        triangle, focus = self.triangle, self.under or self.pick
        top = triangle.height
        if focus is not None:
            left, right = focus[0] * _CELL[0], focus[1] * _CELL[0]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.shade(_Role.Highlight, 90))
            painter.drawRect(QRectF(left, top + 4, right - left, _TOKENS - 6))
            painter.setPen(QPen(self.shade(_Role.Text, 150), 1, Qt.PenStyle.DashLine))
            x, y = triangle.corner(*focus)
            middle = y + _CELL[1]
            if focus[1] - focus[0] > 1:
                painter.drawLine(QPointF(x + _GAP, middle), QPointF(left + _GAP, top + 3))
                across = QPointF(x + _CELL[0] - _GAP, middle)
                painter.drawLine(across, QPointF(right - _GAP, top + 3))
        if self.scale < _READABLE:
            return
        metrics = QFontMetricsF(painter.font())
        first = max(0, int(visible.left() // _CELL[0]))
        last = min(triangle.tokens, int(visible.right() // _CELL[0]) + 1)
        for index in range(first, last):
            token = self.look.tokens[index]
            wrong = not self.look.accepted and index >= self.look.prefix
            painter.setPen(QColor("#e5484d") if wrong else self.shade(_Role.Text))
            rect = QRectF(index * _CELL[0] + 3, top + 4, _CELL[0] - 6, _TOKENS - 6)
            text = metrics.elidedText(shown(token), Qt.TextElideMode.ElideRight, rect.width())
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _label(self, span: Span, metrics: QFontMetricsF, width: float) -> str:
        """Return the names of a cell, as many as there is room for."""
        assert self.look is not None
        known = self._names.get(span)
        if known is None:
            if len(self._names) > 20_000:
                self._names.clear()
            names = self.look.names(*span)
            known = self._names[span] = fitted(names, metrics.horizontalAdvance, width), names
        return known[0]
