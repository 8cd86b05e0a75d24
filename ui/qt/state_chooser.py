"""The choice of the state that is drawn in: a swatch of each state's colour."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from lifesim.colours import Colours

_MOST = 8  # states that have a button each; of more there is a list
_SIDE = 14  # pixels of a swatch, which has a frame of one more
_ROWS = 16  # of the list that are seen at once


class StateChooser(QWidget):
    """Shows the states of a rule, and which of them is drawn in; hidden until it is told of some.

    chosen: somebody has chosen a state.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("State to draw in")
        self.buttons: list[QToolButton] = []
        self.list = QComboBox()
        self.list.setAccessibleName("State to draw in")
        self.list.setToolTip("The state to draw in")
        self.list.setMaxVisibleItems(_ROWS)
        self.list.setStyleSheet("combobox-popup: 0")  # a list that keeps to so many
        self.list.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.list.activated.connect(self.chosen.emit)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(6, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addWidget(self.list)

    def show_states(self, colours: Colours, frame: QColor) -> None:
        """Offer states. colours: of them, 0 first. frame: the colour around each."""
        for button in self.buttons:
            button.deleteLater()
        self.buttons.clear()
        self.list.clear()
        icons = [_swatch(QColor(*colour), frame) for colour in colours.tolist()]
        self.list.setVisible(len(icons) > _MOST)
        for state, made in enumerate(icons):
            if len(icons) > _MOST:
                self.list.addItem(made, str(state))
                continue
            button = QToolButton()
            button.setIcon(made)
            button.setCheckable(True)
            button.setToolTip(f"Draw in state {state}" if state else "Erase: draw in state 0")
            button.setAccessibleName(f"State {state}")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(self.chosen.emit, state))
            self.buttons.append(button)
            self._row.addWidget(button)

    def show_chosen(self, state: int) -> None:
        """Mark the state that is drawn in."""
        for number, button in enumerate(self.buttons):
            button.setChecked(number == state)
        if not self.buttons:
            self.list.setCurrentIndex(state)


def _swatch(colour: QColor, frame: QColor) -> QIcon:
    """Paint a square of a colour."""
    side = _SIDE + 2
    pixmap = QPixmap(side, side)
    pixmap.fill(frame)
    painter = QPainter(pixmap)
    painter.fillRect(QRect(1, 1, _SIDE, _SIDE), colour)
    painter.end()
    return QIcon(pixmap)
