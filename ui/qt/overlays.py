"""What lies over the picture of the cells: a legend of ages, and a word where it is of the past."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout

from ui.numbers import shortened
from ui.picture.age_colours import age_table, colour_of_age
from ui.picture.ages import OLDEST

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_TOLD = (0, 10, 100, OLDEST)  # ages that are written below the colours
_WIDE, _HIGH, _EDGE = 250, 12, 22  # pixels of the colours, and what is left beside them


class AgeLegend(QFrame):
    """Says which colour is which age, and since when ages are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("overlay")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("Legend of ages")
        self._palette = "dark"
        self.since = QLabel()
        self.since.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 5, 10, 5)
        column.addWidget(self.since)
        column.addSpacing(_HIGH + self.fontMetrics().height() + 4)
        self.hide()

    def sizeHint(self) -> QSize:
        """Return room for the colours, and for the words above."""
        hint = super().sizeHint()
        return QSize(max(hint.width(), _WIDE + 2 * _EDGE), hint.height())

    def show_ages(self, palette: str, since: int) -> None:
        """Show the colours on a palette's ground. since: the generation in which cells have been
        looked at first, of which all were taken to be young."""
        self._palette = palette
        self.since.setText(f"Age in generations, counted since {shortened(since)}")
        self.setAccessibleDescription(self.since.text() + ": from blue, young, to orange, old")
        self.show()
        self.update()

    @property
    def bar(self) -> QRect:
        """Return where the colours are."""
        top = self.since.geometry().bottom() + 4
        return QRect(_EDGE, top, self.width() - 2 * _EDGE, _HIGH)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the colours, and the ages that they stand for."""
        super().paintEvent(event)
        painter = QPainter(self)
        table, metrics = age_table(self._palette), self.fontMetrics()
        bar = self.bar
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        places = [self._place(age) for age in _TOLD]
        for step in range(17):
            age = round((OLDEST + 1) ** (step / 16)) - 1
            gradient.setColorAt(step / 16, QColor(*colour_of_age(table, age)))
        painter.fillRect(bar, gradient)
        painter.setPen(self.palette().windowText().color())
        for age, place in zip(_TOLD, places, strict=True):
            text = "new" if age == 0 else "4,095+" if age == OLDEST else f"{age:,}"
            x = bar.left() + round(place * bar.width())
            wide = metrics.horizontalAdvance(text)
            at = min(max(x - wide // 2, 2), self.width() - wide - 2)
            painter.drawText(QPoint(at, bar.bottom() + 2 + metrics.ascent()), text)
        painter.end()

    def _place(self, age: int) -> float:
        """Return where an age stands along the colours, 0 to 1: by its logarithm."""
        return math.log(age + 1) / math.log(OLDEST + 1)


class PastLabel(QLabel):
    """Says that the picture is of the past."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("past")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_past(self, generation: int | None) -> None:
        """Name the generation that is seen; None is the present."""
        self.setVisible(generation is not None)
        if generation is not None:
            self.setText(f"Past, generation {shortened(generation)}")
            self.setAccessibleName(self.text())


class Overlays(QObject):
    """Keeps what lies over the picture true of the picture that is seen."""

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self._window = window
        self.legend, self.past = AgeLegend(), PastLabel()
        layout = window.canvas.layout()
        assert isinstance(layout, QVBoxLayout)
        for widget in (self.past, self.legend):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)
        window.canvas.changed.connect(self._show)

    def _show(self) -> None:
        canvas = self._window.canvas
        frame, recorded = canvas.frame, self._window.shows_past
        self.past.show_past(frame.generation if frame and recorded else None)
        canvas.tint(recorded)
        if frame is None or frame.aged_since is None or not self._window.view.ages:
            self.legend.hide()
        else:
            self.legend.show_ages(self._window.view.palette, frame.aged_since)
