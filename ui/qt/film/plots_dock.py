"""Live plots: population, density and rate against the generation.

pyqtgraph is needed when the dock is first seen; numbers are gathered before, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from bulkbits.plurals import many
from lifesim.errors import LifesimError
from ui.film.series import Numbers, Point, Series
from ui.qt import file_dialogs
from ui.qt.film.loading import Loading, shared
from ui.qt.film.plots import Plot, PlotKind
from ui.qt.rows import RowsLayout, Scrolled
from ui.session import Event, Session

_BETWEEN = 150  # milliseconds between two drawings
_LOADING, _EMPTY = "The plots are being loaded…", "Run to see curves."
_NO_DENSITY = "A plane without bounds has no density."
_PLOTS: tuple[tuple[PlotKind, Callable[[Series], Numbers]], ...] = (
    (PlotKind("population", "live cells", "#4c8dff", is_whole=True), Series.populations),
    (PlotKind("density", "live / all", "#e0a100"), Series.densities),
    (PlotKind("rate", "cells/s", "#2fae86"), Series.rates),
)


class PlotsDock(QDockWidget):
    """Shows plots of population, density and rate.

    series: what has been told since the universe was opened. plots: by name, once made. acted:
    something has been done, and keys may go to the canvas again.
    """

    acted = Signal()
    _heard = Signal(object)

    def __init__(
        self,
        report: Callable[[Exception], None],
        parent: QWidget | None = None,
        loading: Loading | None = None,
    ) -> None:
        """Draw nothing before it is shown.

        report: is told of what went wrong. loading: of pyqtgraph, that of the process unless told.
        """
        super().__init__("Plots", parent)
        self.setObjectName("plots")
        self._report = report
        self._session: Session | None = None
        self.series = Series()
        self.plots: dict[str, Plot] = {}
        self._made: dict[str, Plot] = {}  # some of them, until all are
        self._making = QTimer(self)
        self._making.timeout.connect(self._make_plot)
        self._loading = loading or shared()
        self._shades = ""
        self.buttons: dict[str, QToolButton] = {}
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(8, 6, 8, 6)
        row = RowsLayout()
        for kind, _ in _PLOTS:
            name, button = kind.name, QToolButton()
            button.setText(name.capitalize())
            button.setCheckable(True)
            button.setChecked(name != "rate")
            button.setAccessibleName(f"Show the {name}")
            button.toggled.connect(self.draw)
            button.clicked.connect(self.acted)
            self.buttons[name] = button
            row.addWidget(button)
        row.addStretch()
        self.save_button = QPushButton("Save as CSV…")
        self.save_button.setAccessibleName("Save the numbers as CSV")
        self.save_button.clicked.connect(self._ask_and_save)
        row.addWidget(self.save_button)
        column.addLayout(row)
        self.missing = QLabel()
        self.missing.setWordWrap(True)
        self.missing.hide()
        column.addWidget(self.missing)
        place = QWidget()
        self._layout = QVBoxLayout(place)
        self._layout.setContentsMargins(0, 0, 0, 0)
        column.addWidget(Scrolled(place), 1)  # in a low window not all are seen
        self.setWidget(body)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.draw)
        queued = Qt.ConnectionType.QueuedConnection
        self._heard.connect(self._hear, queued)
        self._loading.ended.connect(self._loaded, queued)
        self._show_count()

    def adopt(self, session: Session) -> None:
        """Begin another series for another universe."""
        self._session = session
        self.series.clear()

        def listener(event: Event) -> None:
            if session is self._session and event is Event.STATUS:  # from any thread
                self._heard.emit(session)

        session.listen(listener)
        self._hear(session)

    def _hear(self, session: Session) -> None:
        if session is not self._session:
            return
        self.buttons["density"].setEnabled(session.is_bounded)
        self.buttons["density"].setToolTip("" if session.is_bounded else _NO_DENSITY)
        status = session.status()
        if status.population is not None:
            cells = session.width * session.height if session.is_bounded else None
            rate = status.rate if status.running else 0.0
            self.series.add(Point(status.counted, status.population, cells, rate))
        self._show_count()
        if self.isVisible() and not self._timer.isActive():
            self._timer.start(_BETWEEN)

    def showEvent(self, event: QShowEvent) -> None:
        """Load what draws plots, when it is first needed."""
        super().showEvent(event)
        self._loading.begin()
        self._make_plots()
        self.draw()

    def _loaded(self) -> None:
        if self.isVisible():
            self._make_plots()
            self.draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow a change of colours."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._timer.start(_BETWEEN)  # all else changes just now

    def _make_plots(self) -> None:
        """Make them, once, as soon as there is what makes them: one in each turn of Qt's loop, as
        each takes its time."""
        pyqtgraph = self._loading.module
        if self.plots or self._making.isActive() or pyqtgraph is None:
            return
        self._making.start(0)

    def _make_plot(self) -> None:
        """Make the next plot; after the last one, show all."""
        kind = _PLOTS[len(self._made)][0]
        plot = self._made[kind.name] = Plot(self._loading.module, kind)
        plot.widget.hide()
        self._layout.addWidget(plot.widget, 1)
        if len(self._made) == len(_PLOTS):
            self._making.stop()
            self.plots = self._made
            self.draw()

    def _arrange(self) -> None:
        """Show the plots that are wanted, or why there are none."""
        problem, why = self._loading.problem, ""
        if problem:
            why = f"There are no plots without pyqtgraph ({problem})."
        elif not self.plots:
            why = _LOADING
        elif not len(self.series):
            why = _EMPTY
        said = why or (_EMPTY if len(self.series) == 1 else "")  # a point is no curve
        self.missing.setText(said)
        self.missing.setVisible(bool(said))
        shown = [name for name in self.buttons if self._is_wanted(name) and not why]
        for name, plot in self.plots.items():
            plot.widget.setVisible(name in shown)
            # Generations are said once, below the last.
            plot.show_generations(bool(shown) and name == shown[-1])

    def _is_wanted(self, name: str) -> bool:
        """Tell whether a plot is to be seen: it is chosen, and there is something to be said."""
        button = self.buttons[name]
        return button.isChecked() and button.isEnabled()

    def dress(self) -> None:
        """Take the colours of the window."""
        palette = self.palette()
        back, front = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
        shades = back.name() + front.name()
        if shades == self._shades or not self.plots:
            return
        self._shades = shades
        for plot in self.plots.values():
            plot.dress(back, front)

    def draw(self) -> None:
        """Draw the numbers that there are, where somebody sees it."""
        if not self.isVisible():
            return
        self._arrange()
        self.dress()
        if not len(self.series):
            return
        generations = self.series.generations()
        for kind, numbers in _PLOTS:
            if kind.name in self.plots and self._is_wanted(kind.name):
                values = numbers(self.series)
                known = np.isfinite(values)
                if known.any():
                    self.plots[kind.name].draw(generations[known], values[known])

    def _show_count(self) -> None:
        self.save_button.setEnabled(len(self.series) > 0)
        self.save_button.setToolTip(many(len(self.series), "point"))

    def _ask_and_save(self) -> None:
        path, _ = file_dialogs.save_file(self, "Save the numbers", "run.csv", "CSV (*.csv)")
        if path:
            self.save(path)
        self.acted.emit()

    def save(self, path: str) -> None:
        """Write a CSV file; what goes wrong is reported."""
        try:
            self.series.save(path)
        except LifesimError as error:
            self._report(error)
