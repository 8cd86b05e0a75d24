"""One plot against the generation, and its axes: no fractions of cells or generations, no numbers
below 0, and for a constant a range in which its ticks differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtGui import QColor

from ui.film.series import Numbers
from ui.numbers import ticks

_LEFT = 64  # pixels, so that plots below each other begin at one place
_LOWEST = 100  # pixels
_SHARE = 0.02  # of the largest value, that the range of a plot is at least


@dataclass(frozen=True, slots=True)
class PlotKind:
    """A number that a plot shows.

    label: of its axis. is_whole: whether there are no fractions of it.
    """

    name: str
    label: str
    colour: str
    is_whole: bool = False


class Plot:
    """A plot of a series.

    widget: to be laid out. curve: what is drawn.
    """

    def __init__(self, pyqtgraph: Any, kind: PlotKind) -> None:
        self.kind = kind
        self.widget = pyqtgraph.PlotWidget()
        self.widget.setAccessibleName(f"Plot of the {kind.name}")
        self.widget.setMinimumHeight(_LOWEST)
        self.widget.showGrid(x=True, y=True, alpha=0.15)
        self.widget.setLabel("left", kind.label)
        self.widget.setMenuEnabled(False)
        left, bottom = self.widget.getAxis("left"), self.widget.getAxis("bottom")
        left.setWidth(_LEFT)
        for axis in (left, bottom):
            axis.setStyle(hideOverlappingLabels=False)  # nor those at its ends
        _tell(left, kind.is_whole)
        _tell(bottom, True)
        self.widget.getViewBox().setLimits(xMin=0, yMin=0)
        # What is not seen widens what is shown, as long as nobody has zoomed.
        self._corners = self.widget.plot(pen=pyqtgraph.mkPen((0, 0, 0, 0)))
        pen = pyqtgraph.mkPen(kind.colour, width=1.6)
        brush = pyqtgraph.mkBrush(kind.colour)
        self.curve = self.widget.plot(
            pen=pen, symbol="o", symbolSize=5, symbolPen=pen, symbolBrush=brush
        )

    def dress(self, back: QColor, front: QColor) -> None:
        """Take the colours of a window."""
        self.widget.setBackground(back)
        for side in ("left", "bottom"):
            axis = self.widget.getAxis(side)
            axis.setPen(QColor(front))
            axis.setTextPen(QColor(front))

    def show_generations(self, shown: bool) -> None:
        """Say, or do not say, what the axis below is."""
        self.widget.setLabel("bottom", "generation" if shown else None)
        self.widget.showLabel("bottom", shown)

    def draw(self, generations: Numbers, values: Numbers) -> None:
        """Draw some points, of which there is at least one."""
        least, most = float(values.min()), float(values.max())
        if least == most:
            low, high = 0.0, 2 * most or 1.0
        else:
            low, high = max(0.0, min(least, most - _SHARE * most)), most
        last = max(generations[-1], generations[0] + 1)
        self._corners.setData([generations[0], last], [low, high])
        # A line of one point is none.
        self.curve.setSymbol("o" if len(values) == 1 else None)
        self.curve.setData(generations, values)


def _tell(axis: Any, is_whole: bool) -> None:
    """Have an axis put its ticks at whole numbers, if they are, and write them so that they
    differ."""
    axis.enableAutoSIPrefix(False)
    spacing = axis.tickSpacing

    def whole(low: float, high: float, size: float) -> list[tuple[float, float]]:
        levels = [level for level in spacing(low, high, size) if level[0] >= 1]
        return levels or [(1.0, 0.0)]

    if is_whole:
        axis.tickSpacing = whole
    axis.tickStrings = lambda values, scale, between: ticks(values, between)
