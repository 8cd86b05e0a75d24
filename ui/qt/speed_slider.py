"""A slider for the speed of a run, from one generation a picture to the most."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QSlider, QToolTip

from bulkbits.plurals import many
from ui.numbers import shortened
from ui.speed import RunSpeed, top

_WIDE = 84  # pixels


class SpeedSlider(QSlider):
    """Shows how many generations lie between two pictures, and lets a person change that.

    chosen: somebody has moved it: the exponent of ui.speed.RunSpeed.
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setPageStep(1)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Speed")
        self.setFixedWidth(_WIDE)
        self._words = ""
        self.valueChanged.connect(self._moved)

    def sizeHint(self) -> QSize:
        """Return a width that a toolbar has room for."""
        return QSize(_WIDE, super().sizeHint().height())

    def show_speed(self, speed: RunSpeed, rate: float | None) -> None:
        """Stand where a speed is. rate: pictures a second at most; None is as many as there are."""
        self.blockSignals(True)
        self.setRange(0, top(speed.base, speed.most))
        self.setValue(speed.exponent)
        self.blockSignals(False)
        self._words = in_words(speed, rate)
        self.setToolTip(f"Speed: {self._words}")
        self.setAccessibleDescription(self._words)
        if self.isSliderDown():
            QToolTip.showText(QCursor.pos(), self._words, self)

    def _moved(self, exponent: int) -> None:
        self.chosen.emit(exponent)


def in_words(speed: RunSpeed, rate: float | None) -> str:
    """Say how fast a run is to go: 16 generations a picture, at most 30 pictures a second."""
    number = speed.generations
    some = many(number, "generation") if number < 1e6 else f"{shortened(number)} generations"
    most = f"at most {many(rate, 'picture')} a second" if rate else "as fast as it goes"
    return f"{some} a picture, {most}"


def in_few_words(speed: RunSpeed, rate: float | None) -> str:
    """Say the same in the least room: 16 gens/picture, 30/s."""
    number = f"{speed.generations:,}" if speed.generations < 10**5 else str(speed)
    some = "1 gen/picture" if speed.generations == 1 else f"{number} gens/picture"
    return f"{some}, ≤ {rate:g}/s" if rate else some
