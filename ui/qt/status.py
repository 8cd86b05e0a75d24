"""The line at the lower edge: the run, the view, and what is under the pointer."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QStatusBar, QToolButton, QWidget

from lifesim.grid import Box
from lifesim.render import format_scale
from ui.model import View
from ui.numbers import percent, short
from ui.qt.worker import Answer
from ui.session import Session, Status
from ui.speed import Speed


class BusyLine(QWidget):
    """What is being done, and a button where it can be cancelled; hidden where nothing is.

    cancelled: the button was pressed.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label, self.button = _label("What is being done"), QToolButton()
        self.button.setText("✕")
        self.button.setToolTip("Cancel opening (Esc)")
        self.button.setAccessibleName("Cancel opening")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.cancelled.emit)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.label)
        row.addWidget(self.button)
        self.hide()

    def show_busy(self, what: str, can_cancel: bool) -> None:
        self.label.setText(what)
        self.button.setVisible(can_cancel)
        self.setVisible(bool(what))


class StatusLine(QStatusBar):
    """Numbers are exact; those that are shortened have a tooltip with all digits."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF())
        self.under = _label("What is under the pointer", font)
        self.addWidget(self.under, 1)
        self.selection = _label("Selection", font)
        self.selection.hide()
        self.busy = BusyLine()
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress")
        self.progress.setMaximumWidth(140)
        self.progress.setMaximumHeight(14)
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(False)
        self.generation = _label("Generation", font)
        self.population = _label("Population", font)
        self.density = _label("Density", font)
        self.rate = _label("Rate", font)
        self.speed = _label("Speed")
        self.scale = _label("Scale, pixels:cells", font)
        self.where = _label("What computes")
        self.where.setProperty("dim", True)
        for widget in (
            self.selection, self.busy, self.progress, self.generation, self.population,
            self.density, self.rate, self.speed, self.scale, self.where,
        ):  # fmt: skip
            self.addPermanentWidget(widget)
        self.progress.hide()

    def show_selection(self, box: Box | None) -> None:
        self.selection.setVisible(box is not None)
        if box is not None:
            self.selection.setText(f"sel {box.width:,}×{box.height:,}")
            self.selection.setToolTip(
                f"Selection: {box.width:,} × {box.height:,} cells from {box.x:,}, {box.y:,}"
            )

    def show_status(self, session: Session, status: Status) -> None:
        self.generation.setText(f"gen {status.generation:,}")
        cells = session.width * session.height
        live = status.population
        self.population.setText("pop –" if live is None else f"pop {live:,}")
        self.density.setText("–" if live is None else percent(live, cells))
        self.density.setToolTip(
            "Density" if live is None else f"Density: {live:,} of {cells:,} cells"
        )
        self.rate.setText(f"{short(status.rate)} cells/s" if status.rate else "")
        for label in (self.generation, self.population, self.density, self.rate):
            # Numbers that run do not push each other about.
            label.setMinimumWidth(max(label.minimumWidth(), label.sizeHint().width()))
        self.rate.setToolTip(f"Rate: {status.rate:,.0f} cell updates a second")
        self.rate.setVisible(bool(status.rate))
        self.where.setText(_brief(session.where))
        self.where.setToolTip(f"Computed by {session.where}")
        self.progress.setVisible(status.progress is not None)
        if status.progress is not None:
            self.progress.setValue(round(1000 * status.progress))

    def show_speed(self, speed: Speed, rate: float | None) -> None:
        most = f" ≤ {rate:g}/s" if rate else ""
        plural = "s" if speed.generations > 1 else ""
        self.speed.setText(f"step {speed}{most}")
        self.speed.setToolTip(
            f"{speed.generations:,} generation{plural} a picture, "
            + (f"at most {rate:g} pictures a second" if rate else "as fast as it goes")
        )

    def show_scale(self, view: View) -> None:
        text = format_scale(view.viewport.scale)
        self.scale.setText(f"{text} no ages" if view.ages and not view.can_show_ages else text)

    def show_under(self, session: Session, cells: Box | None, answer: Answer | None) -> None:
        """cells: under the pointer; answer: how many of them live, if it is known."""
        if cells is None:
            self.under.setText("")
            return
        right, bottom = cells.x + cells.width, cells.y + cells.height
        if right <= 0 or bottom <= 0 or cells.x >= session.width or cells.y >= session.height:
            self.under.setText(f"{cells.x:,}, {cells.y:,}  outside")
            return
        text = f"{cells.x:,}, {cells.y:,}"
        if cells.width == 1:
            known = "" if answer is None else "live" if answer.live else "dead"
        else:
            text += f"  {short_side(cells.width)}×{short_side(cells.height)}"
            across = min(right, session.width) - max(cells.x, 0)
            down = min(bottom, session.height) - max(cells.y, 0)
            if answer is None:
                known = ""
            elif answer.live is None:
                known = "too many to count"
            else:
                known = f"{answer.live:,} of {across * down:,} live"
        self.under.setText(f"{text}  {known}".rstrip())


def _label(name: str, font: QFont | None = None) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleDescription(name)  # its text is what is read first
    label.setToolTip(name)
    if font is not None:
        label.setFont(font)
    return label


def short_side(cells: int) -> str:
    return f"{cells >> 10:,}K" if cells >= 1 << 14 and cells % 1024 == 0 else f"{cells:,}"


def _brief(where: str) -> str:
    return where if len(where) <= 34 else where[:33] + "…"
