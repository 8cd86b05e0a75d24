"""Live plots: population, density and rate against the generation.

pyqtgraph is imported when the dock is first seen; numbers are gathered before, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lifesim.errors import LifesimError
from ui.film.series import Numbers, Point, Series
from ui.session import Event, Session

_BETWEEN = 150  # milliseconds between two drawings
_PLOTS: tuple[tuple[str, str, str, Callable[[Series], Numbers]], ...] = (
    ("population", "&Population", "#4c8dff", Series.populations),
    ("density", "&Density", "#e0a100", Series.densities),
    ("rate", "&Rate", "#2fae86", Series.rates),
)
_LABELS = {"population": "live cells", "density": "live / all", "rate": "rate"}


class PlotsDock(QDockWidget):
    """series: what has been told since the universe was opened. plots: by name, once made."""

    _heard = Signal(object)

    def __init__(self, report: Callable[[Exception], None], parent: QWidget | None = None) -> None:
        super().__init__("Plots", parent)
        self.setObjectName("plots")
        self._report = report
        self._session: Session | None = None
        self.series = Series()
        self.plots: dict[str, Any] = {}
        self._curves: dict[str, Any] = {}
        self._shades = ""
        self.buttons: dict[str, QToolButton] = {}
        body = QWidget()
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(8, 6, 8, 6)
        row = QHBoxLayout()
        for name, title, _, _ in _PLOTS:
            button = QToolButton()
            button.setText(title)
            button.setCheckable(True)
            button.setChecked(name != "rate")
            button.setAccessibleName(f"Show the {name}")
            button.toggled.connect(self._arrange)
            self.buttons[name] = button
            row.addWidget(button)
        row.addStretch(1)
        self.save_button = QPushButton("&Save as CSV…")
        self.save_button.setAccessibleName("Save the numbers as CSV")
        self.save_button.clicked.connect(self._ask_and_save)
        row.addWidget(self.save_button)
        self._layout.addLayout(row)
        self.missing = QLabel()
        self.missing.setWordWrap(True)
        self.missing.hide()
        self._layout.addWidget(self.missing)
        self.setWidget(body)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.draw)
        self._heard.connect(self._hear, Qt.ConnectionType.QueuedConnection)
        self._show_count()

    def adopt(self, session: Session) -> None:
        """Another universe, another series."""
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
        status = session.status()
        if status.population is not None:
            cells = session.width * session.height
            rate = status.rate if status.running else 0.0
            self.series.add(Point(status.counted, status.population, cells, rate))
        self._show_count()
        if self.isVisible() and not self._timer.isActive():
            self._timer.start(_BETWEEN)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.plots and self.missing.isHidden():
            self._make_plots()
        self.dress()
        self.draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.dress()

    def _make_plots(self) -> None:
        try:
            import pyqtgraph
        except ImportError as error:
            self.missing.setText(f"There are no plots without pyqtgraph ({error}).")
            self.missing.show()
            return
        for name, _, colour, _ in _PLOTS:
            plot = pyqtgraph.PlotWidget()
            plot.setAccessibleName(f"Plot of the {name}")
            plot.setMinimumHeight(90)
            plot.showGrid(x=True, y=True, alpha=0.15)
            plot.setLabel("left", _LABELS[name], units="cells/s" if name == "rate" else None)
            plot.getAxis("left").setWidth(64)
            plot.getAxis("left").enableAutoSIPrefix(name == "rate")
            plot.getAxis("bottom").enableAutoSIPrefix(False)
            plot.setMenuEnabled(False)
            self._curves[name] = plot.plot(pen=pyqtgraph.mkPen(colour, width=1.6))
            self.plots[name] = plot
            self._layout.addWidget(plot, 1)
        self._arrange()

    def _arrange(self) -> None:
        shown = [name for name, button in self.buttons.items() if button.isChecked()]
        for name, plot in self.plots.items():
            plot.setVisible(name in shown)
            # Generations are said once, below the last.
            plot.setLabel("bottom", "generation" if shown and name == shown[-1] else None)
            plot.showLabel("bottom", bool(shown) and name == shown[-1])

    def dress(self) -> None:
        """In the colours of the window."""
        palette = self.palette()
        back, front = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
        shades = back.name() + front.name()
        if shades == self._shades or not self.plots:
            return
        self._shades = shades
        for plot in self.plots.values():
            plot.setBackground(back)
            for side in ("left", "bottom"):
                axis = plot.getAxis(side)
                axis.setPen(QColor(front))
                axis.setTextPen(QColor(front))

    def draw(self) -> None:
        if not self.plots or not self.isVisible():
            return
        self.dress()
        generations = self.series.generations()
        for name, _, _, numbers in _PLOTS:
            if self.buttons[name].isChecked():
                self._curves[name].setData(generations, numbers(self.series))

    def _show_count(self) -> None:
        self.save_button.setEnabled(len(self.series) > 0)
        self.save_button.setToolTip(f"{len(self.series):,} points")

    def _ask_and_save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save the numbers", "run.csv", "CSV (*.csv)")
        if path:
            self.save(path)

    def save(self, path: str) -> None:
        """As CSV; what goes wrong is reported."""
        try:
            self.series.save(path)
        except LifesimError as error:
            self._report(error)
