"""What is seen of the timeline: its buttons and lines, which do nothing yet."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QWidget,
)

from ui.qt.rows import RowsWidget

# No mnemonics: docks share them with the menus, and would take their keys.
RECORD, STOP = "● Record", "■ Stop recording"
_MOST_EVERY = 1 << 20


class Scrubber(QSlider):
    """A slider through recorded pictures.

    let_go: the mouse has moved the handle, or paged beside it.
    """

    let_go = Signal()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell that the mouse has let go."""
        super().mouseReleaseEvent(event)
        self.let_go.emit()


class TimelineControls(QDockWidget):
    """Lays out the buttons and fields of a timeline.

    acted: something has been done, and keys may go to the canvas again.
    """

    acted = Signal()

    def __init__(self, parent: QWidget | None) -> None:
        """Lay out all of it: a list of widgets, however long."""
        super().__init__("Timeline", parent)
        self.setObjectName("timeline")
        area = Qt.DockWidgetArea
        self.setAllowedAreas(area.BottomDockWidgetArea | area.TopDockWidgetArea)
        self.record_button = QPushButton(RECORD)
        self.record_button.setCheckable(True)
        self.record_button.setToolTip("Record pictures of the run on disk")
        self.every = QSpinBox()
        self.every.setStyleSheet("QSpinBox::up-button, QSpinBox::down-button { width: 0 }")
        self.every.lineEdit().setTextMargins(4, 0, 0, 0)
        self.every.setRange(0, _MOST_EVERY)
        self.every.setSpecialValueText("every picture")
        self.every.setPrefix("every ")
        self.every.setSuffix(" generations")
        self.every.setToolTip("Generations between two recorded pictures at least")
        self.slider = Scrubber(Qt.Orientation.Horizontal)
        self.slider.setToolTip("Look back at what was recorded")
        self.slider.setMinimumWidth(120)
        self.where = QLabel()
        self.on_disk = QLabel()
        self.on_disk.setProperty("dim", True)
        self.now_button = QPushButton("Back to now")
        self.continue_button = QPushButton("Go on from here")
        self.continue_button.setToolTip("Let the universe be as it is shown; this can be undone")
        self.reset_button = QPushButton("Reset")
        self.reset_button.setToolTip("Back to the start")
        self.goal = QLineEdit()
        self.goal.setPlaceholderText("generation")
        self.goal.setMaximumWidth(140)
        self.go_button = QPushButton("Go to")
        self.problem = QLabel()
        self.problem.setProperty("error", True)
        for widget, name in (
            (self.record_button, "Record"),
            (self.every, "Generations between two recorded pictures"),
            (self.slider, "Recorded pictures"),
            (self.where, "Picture that is shown"),
            (self.on_disk, "Size of the recording"),
            (self.now_button, "Back to now"),
            (self.continue_button, "Go on from here"),
            (self.reset_button, "Reset to the start"),
            (self.goal, "Generation to go to"),
            (self.go_button, "Go to the generation"),
            (self.problem, "Problem"),
        ):
            widget.setAccessibleName(name)
        self.every.lineEdit().setAccessibleName(self.every.accessibleName())
        self.body = RowsWidget(2)
        above, below = self.body.rows
        for widget in (self.record_button, self.slider, self.where):
            above.addWidget(widget)
        below.addWidget(self.every)
        below.addWidget(self.on_disk)
        below.addStretch()
        below.addWidget(self.problem)
        for button in (self.now_button, self.continue_button, self.reset_button):
            below.addWidget(button)
        going = QWidget()
        going.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(going)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.goal)
        row.addWidget(self.go_button)
        below.addWidget(going)
        self.setWidget(self.body)

    def say(self, label: QLabel, text: str) -> None:
        """Show a text, which may need another row."""
        if text != label.text() or label.isHidden() != (not text):
            label.setText(text)
            label.setVisible(bool(text))
            self.body.fit()
