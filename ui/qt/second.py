"""A second view of the universe, in a dock: of the same place at another scale, or anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from lifesim.grid import Box
from lifesim.render import format_scale
from ui.film.playback import Drawable
from ui.picture.viewport import FAR, Viewport
from ui.qt.buttons import text_button
from ui.qt.canvas import Canvas
from ui.qt.tools import PanTool
from ui.qt.worker import FrameWorker

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_FARTHER = 3  # powers of two, than the first view, at the beginning


class SecondView(QDockWidget):
    """Shows what the window shows, the universe or a recording of it, at a place of its own.

    is_linked: it has the same middle as the window, and moves with it, both ways, at a scale that
    is farther by so many powers of two as it has been zoomed; else it stays where it is. A frame
    shows what the window sees. It draws while it is seen, on a thread of its own.
    """

    def __init__(self, window: LifeWindow) -> None:
        super().__init__("Second view", window)
        self.setObjectName("second-view")
        self._window = window
        self.is_linked = True
        self._farther = _FARTHER
        self._serial = 0
        self._theme = ""  # that the canvas has
        self._drawn: Drawable | None = None
        self.worker: FrameWorker | None = None
        self.canvas = Canvas()
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.canvas.setAccessibleName("Second view of the universe")
        self.canvas.setAccessibleDescription("The cells. Buttons below move and zoom it.")
        self.canvas.use(PanTool(self.canvas))
        self.canvas.viewed.connect(self._moved)
        self.link_button = text_button("Linked", "Link it with the window", self.toggle_link)
        self.link_button.setCheckable(True)
        self.link_button.setToolTip("Have the same middle as the window, and move with it")
        self.nearer_button = text_button("+", "Zoom the second view in", lambda: self._zoom(1))
        self.farther_button = text_button("−", "Zoom the second view out", lambda: self._zoom(-1))
        self.fit_button = text_button("Fit", "Show all of the universe in it", self.fit)
        self.swap_button = text_button("Swap", "Swap the places of both views", self.swap)
        self.scale_label = QLabel()
        self.scale_label.setProperty("dim", True)
        self._lay_out()
        queued = Qt.ConnectionType.QueuedConnection
        window.worker.served.connect(self._serve)
        window.worker.landed.connect(self.follow, queued)  # after the window has shown it
        window.changed.connect(self._dress)

    def _lay_out(self) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 4)
        column.addWidget(self.canvas, 1)
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 6, 0)
        for widget in (
            self.link_button, self.farther_button, self.nearer_button, self.scale_label,
        ):  # fmt: skip
            row.addWidget(widget)
        row.addStretch(1)
        for widget in (self.fit_button, self.swap_button):
            row.addWidget(widget)
        column.addLayout(row)
        self.setWidget(body)

    # --- what is drawn ---------------------------------------------------------

    def _serve(self, drawn: Drawable | None) -> None:
        """Draw what the window draws from now on."""
        other = drawn is not self._drawn and drawn is not None
        self._drawn = drawn
        if self.worker is None:
            return
        self.worker.serve(drawn if self.isVisible() else None)
        if drawn is None:
            self.canvas.show_frame(None)
        elif other:
            self.follow()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to draw."""
        super().showEvent(event)
        if self.worker is None:
            self.worker = FrameWorker()
            self.worker.landed.connect(self._land)
            self.worker.failed.connect(self._window.report, Qt.ConnectionType.QueuedConnection)
        self._dress()
        self._serve(self._drawn)
        self.follow()

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw nothing, as nobody sees it."""
        super().hideEvent(event)
        if self.worker is not None:
            self.worker.serve(None)

    def close_worker(self) -> None:
        """End the thread."""
        if self.worker is not None:
            self.worker.serve(None)
            self.worker.close()
            self.worker = None

    def _land(self) -> None:
        landed = self.worker.take() if self.worker else None
        if landed is not None:
            self.canvas.show_frame(landed.frame)

    def _dress(self) -> None:
        if self._theme != self._window.theme:
            self._theme = self._window.theme
            self.canvas.dress(self._theme)

    # --- where it looks --------------------------------------------------------

    @property
    def viewport(self) -> Viewport:
        """Return what it sees."""
        return self.canvas.view.viewport

    def follow(self) -> None:
        """Look where it is to look now, and draw that anew."""
        if not self.isVisible() or self.worker is None:
            return
        window = self._window
        self.canvas.universe = window.session.space
        self.canvas.farthest = window.canvas.farthest
        if self.is_linked:
            self._show(self._linked())
        else:
            self._show(self.viewport)

    def _linked(self) -> Viewport:
        first, own = self._window.view.viewport, self.viewport
        view = first.resized(own.width, own.height)
        steps = max(-self._farther, first.scale - self.canvas.farthest)
        return view.zoomed(steps, own.width // 2, own.height // 2)

    def _show(self, viewport: Viewport) -> None:
        """Show a place, as the window shows what it shows."""
        view, space = self._window.view, self._window.session.space
        frame = view.viewport.box.common(space)
        seen = viewport.box.common(space)
        if frame is not None and seen is not None and seen.common(frame) == seen:
            frame = None  # the window sees all of it
        self.canvas.show_view(replace(view, viewport=viewport, selection=frame))
        scale = viewport.scale
        self.scale_label.setText(f"1:2^{scale}" if scale > FAR else format_scale(scale))
        self.link_button.setChecked(self.is_linked)
        self._serial += 1
        if self.worker is not None:
            self.worker.ask(self.canvas.view.request(self._serial))

    def _moved(self, by_hand: bool) -> None:
        """Take note that a hand, or another size of the dock, has moved the view."""
        if not by_hand:
            self.follow()
            return
        if self.is_linked:
            self._farther = self.viewport.scale - self._window.view.viewport.scale
            x, y = self._middle(self.viewport)
            window = self._window
            window.aim(None)
            window.set_view(window.view.at(window.view.viewport.centred(x, y)))
        self._show(self.viewport)

    @staticmethod
    def _middle(viewport: Viewport) -> tuple[int, int]:
        box = viewport.cells_at(viewport.width // 2, viewport.height // 2)
        return box.x + box.width // 2, box.y + box.height // 2

    def _zoom(self, steps: int) -> None:
        middle = QPoint(self.viewport.width // 2, self.viewport.height // 2)
        self.canvas.zoom(steps, middle)

    def toggle_link(self) -> None:
        """Link it with the window, or leave it where it is."""
        self.is_linked = not self.is_linked
        if self.is_linked:
            self._farther = self.viewport.scale - self._window.view.viewport.scale
        self.follow()
        self._window.registry.refresh()

    def fit(self) -> None:
        """Show all of the universe, no longer linked."""
        self.is_linked = False
        box: Box = self._window.session.box
        self._show(Viewport.fitting(box, self.viewport.width, self.viewport.height))
        self._window.registry.refresh()

    def swap(self) -> None:
        """Have the window look where this looks, and this where the window did."""
        window, own = self._window, self.viewport
        first = window.view.viewport
        self._farther = first.scale - own.scale
        window.aim(None)
        window.set_view(window.view.at(own.resized(first.width, first.height)))
        self._show(first.resized(own.width, own.height))
