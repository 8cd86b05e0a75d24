"""What is seen of the timeline: its buttons and lines, which do nothing yet."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDockWidget,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QWidget,
)

RECORD, STOP = "● &Record", "■ Stop &recording"
_MOST_EVERY = 1 << 20


class TimelineControls(QDockWidget):
    def __init__(self, parent: QWidget | None) -> None:
        super().__init__("Timeline", parent)
        self.setObjectName("timeline")
        area = Qt.DockWidgetArea
        self.setAllowedAreas(area.BottomDockWidgetArea | area.TopDockWidgetArea)
        self.record_button = QPushButton(RECORD)
        self.record_button.setCheckable(True)
        self.record_button.setToolTip("Record pictures of the run on disk")
        self.every = QSpinBox()
        self.every.setStyleSheet("QSpinBox::up-button, QSpinBox::down-button { width: 0 }")
        self.every.setRange(0, _MOST_EVERY)
        self.every.setSpecialValueText("every picture")
        self.every.setPrefix("every ")
        self.every.setSuffix(" generations")
        self.every.setToolTip("Generations between two recorded pictures at least")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setToolTip("Look back at what was recorded")
        self.slider.setMinimumWidth(120)
        self.where = QLabel()
        self.on_disk = QLabel()
        self.on_disk.setProperty("dim", True)
        self.now_button = QPushButton("Back to &now")
        self.continue_button = QPushButton("Go on from &here")
        self.continue_button.setToolTip("Let the universe be as it is shown; this can be undone")
        self.reset_button = QPushButton("R&eset")
        self.reset_button.setToolTip("Back to the start")
        self.goal = QLineEdit()
        self.goal.setPlaceholderText("generation")
        self.goal.setMaximumWidth(140)
        self.go_button = QPushButton("&Go to")
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
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(8, 6, 8, 6)
        above, below = QHBoxLayout(), QHBoxLayout()
        above.addWidget(self.record_button)
        above.addWidget(self.slider, 1)
        above.addWidget(self.where)
        below.addWidget(self.every)
        below.addWidget(self.on_disk)
        below.addStretch(1)
        below.addWidget(self.problem)
        for button in (self.now_button, self.continue_button, self.reset_button):
            below.addWidget(button)
        below.addWidget(self.goal)
        below.addWidget(self.go_button)
        grid.addLayout(above, 0, 0)
        grid.addLayout(below, 1, 0)
        self.setWidget(body)
