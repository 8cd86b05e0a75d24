"""The line at the lower edge: the run, the view, and what is under the pointer."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QSizePolicy,
    QStatusBar,
    QToolButton,
    QWidget,
)

from lifesim.grid import Box
from lifesim.render import format_scale
from ui.model import CanvasView
from ui.numbers import coordinate, percent, short, shortened, time_left
from ui.qt.speed_slider import in_few_words, in_words
from ui.qt.worker import Landed, PointAnswer
from ui.session import Session, Status
from ui.speed import RunSpeed

_POWERS = 24  # from here on scales are written as powers
_MANY = 1 << 30  # cells that are no longer said to be so many
_BUSY = 320  # pixels, of what is being done
_NARROWEST, _MARGIN, _BESIDE = 120, 12, 6


class BusyLine(QWidget):
    """Shows what is being done, and a button where it can be cancelled; hidden where nothing is."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label, self.button = _label("What is being done"), QToolButton()
        self.label.setMaximumWidth(_BUSY)
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
        """Show what is being done, '' for nothing, and whether it can be cancelled."""
        shown = self.label.fontMetrics().elidedText(
            what, Qt.TextElideMode.ElideMiddle, _BUSY - self.label.fontMetrics().height()
        )
        self.label.setText(shown)
        self.label.setToolTip(what)
        self.button.setVisible(can_cancel)
        self.setVisible(bool(what))


class StatusLine(QStatusBar):
    """Shows the numbers of a universe.

    Numbers are exact; those that are shortened have a tooltip with all digits. In a narrow window
    there are fewer of them.
    """

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
        self.left = _label("Time left, by how long it took so far")
        self.generation = _label("Generation", font)
        self.population = _label("Population", font)
        self.density = _label("Density", font)
        self.rate = _label("Rate", font)
        self.speed = _label("Speed")
        self.scale = _label("Scale, pixels:cells", font)
        self.where = _label("What computes")
        self.where.setProperty("dim", True)
        for widget in (
            self.selection, self.busy, self.progress, self.left, self.generation, self.population,
            self.density, self.rate, self.speed, self.scale, self.where,
        ):  # fmt: skip
            self.addPermanentWidget(widget)
        self.progress.hide()
        self.left.hide()
        # What can be done without, the first one first; and what of it there is to be said now.
        self._spare = self.where, self.speed, self.rate, self.density, self.scale, self.selection
        self._said = dict.fromkeys(self._spare, True)
        self._is_bare = False
        self._said[self.selection] = self._said[self.rate] = False
        policy = self.under.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        self.under.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        """Return what never keeps a window from being narrow."""
        return QSize(_NARROWEST, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what there is no room for."""
        super().resizeEvent(event)
        self.fit()

    def show_bare(self, is_bare: bool) -> None:
        """Say nothing of a universe while none is open."""
        self._is_bare = is_bare
        self.fit()

    def fit(self) -> None:
        """Leave out what there is no room for."""
        self.generation.setVisible(not self._is_bare)
        self.population.setVisible(not self._is_bare)
        always = (
            self.generation,
            self.population,
            *(widget for widget in (self.busy, self.progress, self.left) if not widget.isHidden()),
        )
        shown = [widget for widget in self._spare if self._said[widget]]
        room = self.width() - sum(map(_wide, always)) - _MARGIN
        wanted = sum(map(_wide, shown))
        for widget in self._spare:
            fits = self._said[widget] and wanted <= room and not self._is_bare
            if self._said[widget] and not fits:
                wanted -= _wide(widget)
            widget.setVisible(fits)

    def show_selection(self, box: Box | None) -> None:
        """Show how large the selection is, if there is one."""
        self._said[self.selection] = box is not None
        if box is not None:
            self.selection.setText(f"sel {shortened(box.width)}×{shortened(box.height)}")
            self.selection.setToolTip(
                f"Selection: {box.width:,} × {box.height:,} cells from {box.x:,}, {box.y:,}"
            )
        self.fit()

    def show_status(self, session: Session, status: Status, landed: Landed | None) -> None:
        """Show the numbers of the picture that is seen, as soon as there is one; the universe may
        be at another generation by now. landed: that picture."""
        self._show_generation(status, landed)
        self._show_population(session, status, landed)
        self.rate.setText(f"{short(status.rate)} cells/s" if status.rate else "")
        for label in (self.generation, self.population, self.density, self.rate):
            # Numbers that run do not push each other about.
            label.setMinimumWidth(max(label.minimumWidth(), label.sizeHint().width()))
        self.rate.setToolTip(f"Rate: {status.rate:,.0f} cell updates a second")
        self._said[self.rate] = bool(status.rate)
        self.where.setText(_brief(session.where))
        self.where.setToolTip(f"Computed by {session.where}")
        self.progress.setVisible(status.progress is not None)
        if status.progress is not None:
            self.progress.setValue(round(1000 * status.progress))
        self.left.setVisible(status.left is not None)
        self.left.setText("" if status.left is None else time_left(status.left))
        self.fit()

    def _show_generation(self, status: Status, landed: Landed | None) -> None:
        if landed is None:
            self.generation.setText(f"gen {shortened(status.generation)}")
            self.generation.setToolTip("Generation")
            return
        caption = landed.caption
        text, tip = f"gen {shortened(caption.generation)}", "Generation of the picture"
        if text != f"gen {caption.generation:,}":
            tip += f": {caption.generation:,}"
        if caption.newest != caption.generation:
            text += f"–{caption.newest:,}"
            tip += ": a run is between these two, and some tiles are of the later one"
        if caption.is_old:
            text += "…"
            tip += "; parts of it that are still being read may be of an earlier one"
        if landed.is_recorded:
            tip += f", which was recorded; the universe is at {shortened(status.generation)}"
        self.generation.setText(text)
        self.generation.setToolTip(tip)

    def _show_population(self, session: Session, status: Status, landed: Landed | None) -> None:
        live, counted = status.population, status.counted
        cells = session.width * session.height
        caption = landed.caption if landed else None
        if caption and landed and (landed.is_recorded or caption.population is not None):
            live, counted, cells = caption.population, caption.generation, caption.cells
        known = live is not None
        self.population.setText("pop –" if live is None else f"pop {shortened(live)}")
        self.population.setToolTip(
            f"Population at generation {shortened(counted)}: {live:,}" if known else "Population"
        )
        self._said[self.density] = session.is_bounded  # else it would be of what happens to be held
        self.density.setText("–" if live is None else percent(live, cells))
        self.density.setToolTip(
            "Density" if live is None else f"Density: {live:,} of {shortened(cells)} cells"
        )

    def show_speed(self, speed: RunSpeed, rate: float | None) -> None:
        """Show how fast a run is to go."""
        self.speed.setText(in_few_words(speed, rate))
        self.speed.setToolTip(f"Speed: {in_words(speed, rate)}")
        self.fit()

    def show_scale(self, view: CanvasView) -> None:
        """Show the scale of a view."""
        scale = view.viewport.scale
        text = format_scale(scale) if scale < _POWERS else f"1:2^{scale}"
        self.scale.setText(f"{text} no ages" if view.ages and not view.can_show_ages else text)
        self.fit()

    def show_under(self, session: Session, cells: Box | None, answer: PointAnswer | None) -> None:
        """Show what is under the pointer.

        cells: under the pointer; answer: how many of them live, if it is known.
        """
        if cells is None:
            self.under.setText("")
            return
        box = session.space if session.is_endless else session.box
        inside = cells.common(box)
        scale = cells.width.bit_length() - 1
        text = f"{coordinate(cells.x, scale)}, {coordinate(cells.y, scale)}"
        self.under.setToolTip(f"Cell under the pointer: {cells.x:,}, {cells.y:,}")
        if inside is None:
            what = "outside" if session.is_bounded else "dead"
            self.under.setText(f"{text}  {what}")
            return
        if cells.width == 1:
            known = "" if answer is None else "live" if answer.live else "dead"
            if answer is not None and answer.state is not None:
                known = f"state {answer.state}"
        else:
            text += f"  {short_side(cells.width)}×{short_side(cells.height)}"
            if answer is None:
                known = ""
            elif answer.live is None:
                known = "too many to count"
            else:
                all_ = inside.width * inside.height
                known = (
                    f"{answer.live:,} live"
                    if all_ >= _MANY
                    else f"{answer.live:,} of {all_:,} live"
                )
        self.under.setText(f"{text}  {known}".rstrip())


def _label(name: str, font: QFont | None = None) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleDescription(name)  # its text is what is read first
    label.setToolTip(name)
    if font is not None:
        label.setFont(font)
    return label


def _wide(widget: QWidget) -> int:
    """Return the pixels that a widget takes, with what lies beside it."""
    return max(widget.minimumWidth(), widget.sizeHint().width()) + _BESIDE


def short_side(cells: int) -> str:
    """Return the length of a side in a few letters."""
    if cells >= 1 << 24 and cells & (cells - 1) == 0:
        return f"2^{cells.bit_length() - 1}"
    return f"{cells >> 10:,}K" if cells >= 1 << 14 and cells % 1024 == 0 else f"{cells:,}"


def _brief(where: str) -> str:
    return where if len(where) <= 34 else where[:33] + "…"
