"""A drawing that can be moved and zoomed; only what is in view is drawn."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

MOUSE = (
    ("Zoom at the pointer", "Wheel"),
    ("Move the chart or the tree", "Drag"),
    ("Pick a span of the chart, which the tree shows too", "Click, or arrows"),
    ("Export or copy the chart or the tree", "Right button"),
    ("Zoom the chart or the tree", "[, ]"),
    ("Show all of it", "F"),
    ("Open a grammar or sentences", "Drop them on the window"),
)

_LEAST, _MOST = 1e-4, 4.0  # scales
_AT_FIRST = 1.35  # the most that a small drawing is enlarged by itself
_MARGIN = 18  # pixels
_STEP = 1.25
_CLICK = 4  # pixels that a mouse may move in a click


class Pane(QAbstractScrollArea):
    """A drawing that is moved and zoomed; subclasses say extent() and paint(), and may take hover()
    and click().

    zoomed: the scale is another one. menu_wanted: somebody asks for a menu, at this point of the
    screen.
    """

    zoomed = Signal()
    menu_wanted = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.scale = 1.0
        self.message = ""
        self._fitted = True
        self._pressed: QPointF | None = None
        self._dragged = False
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)
        self.verticalScrollBar().valueChanged.connect(self.viewport().update)

    # --- for subclasses --------------------------------------------------------

    def extent(self) -> QSizeF:
        """Return the size of the drawing, at scale 1."""
        return QSizeF()

    def paint(self, painter: QPainter, visible: QRectF) -> None:
        """Draw what is visible, in units of extent()."""

    def hover(self, at: QPointF | None) -> None:
        """Take note of the point under the pointer; None: it has gone."""

    def click(self, at: QPointF) -> None:
        """Take a click at a point of the drawing; here, nothing is done."""
        pass

    # --- the view --------------------------------------------------------------

    def shade(self, role: QPalette.ColorRole, alpha: int = 255) -> QColor:
        """Return a colour of the palette, more or less transparent."""
        colour = QColor(self.palette().color(role))
        colour.setAlpha(alpha)
        return colour

    @property
    def is_dark(self) -> bool:
        """Tell whether the background is dark."""
        return self.palette().color(QPalette.ColorRole.Base).lightness() < 128

    def drawing_font(self) -> QFont:
        """Return the font of the drawing."""
        font = QFont(self.font())
        font.setPixelSize(13)
        return font

    def renew(self) -> None:
        """Take note that the drawing is another one."""
        self._fitted = True
        self.fit()

    def fit(self) -> None:
        """Show all of it, if it can be made out then; else its middle or its top."""
        self._fitted = True
        size, room = self.extent(), self._room()
        if not size.isEmpty():
            best = min(room.width() / size.width(), room.height() / size.height())
            self.scale = min(max(best, _LEAST), _AT_FIRST)
        self._bars()
        self.viewport().update()
        self.zoomed.emit()

    def zoom(self, steps: float, at: QPoint | None = None) -> None:
        """Zoom. at: a point of the viewport; what is there stays there."""
        place = QPointF(at if at is not None else self.viewport().rect().center())
        fixed = self.to_drawing(place)
        self._fitted = False
        self.scale = min(max(self.scale * _STEP**steps, _LEAST), _MOST)
        self._bars()
        self._put(fixed, place)
        self.zoomed.emit()

    def show_rect(self, rect: QRectF) -> None:
        """Move, if need be, until it is in view."""
        view = self._visible()
        if not view.contains(rect):
            self._put(rect.center(), QPointF(self.viewport().rect().center()))

    def to_drawing(self, at: QPointF) -> QPointF:
        """Return the point of the drawing under one of the viewport."""
        origin = self._origin()
        return QPointF((at.x() - origin.x()) / self.scale, (at.y() - origin.y()) / self.scale)

    def to_screen(self, at: QPointF) -> QPointF:
        """Return the point of the viewport that shows one of the drawing."""
        return QPointF(at.x() * self.scale, at.y() * self.scale) + self._origin()

    def _room(self) -> QSizeF:
        size = self.maximumViewportSize()
        return QSizeF(max(1, size.width() - 2 * _MARGIN), max(1, size.height() - 2 * _MARGIN))

    def _origin(self) -> QPointF:
        """Return where the drawing's corner is on the viewport: in the middle, if there is room."""
        size, view = self.extent() * self.scale, self.viewport().size()
        free_x = (view.width() - size.width()) / 2
        free_y = (view.height() - size.height()) / 2
        x = free_x if free_x >= _MARGIN else _MARGIN - self.horizontalScrollBar().value()
        y = free_y if free_y >= _MARGIN else _MARGIN - self.verticalScrollBar().value()
        return QPointF(x, y)

    def _put(self, what: QPointF, at: QPointF) -> None:
        where = self.to_screen(what)
        for bar, by in (
            (self.horizontalScrollBar(), where.x() - at.x()),
            (self.verticalScrollBar(), where.y() - at.y()),
        ):
            bar.setValue(round(bar.value() + by))
        self.viewport().update()

    def _bars(self) -> None:
        size, view = self.extent() * self.scale, self.viewport().size()
        for bar, whole, part in (
            (self.horizontalScrollBar(), size.width(), view.width()),
            (self.verticalScrollBar(), size.height(), view.height()),
        ):
            over = round(whole + 2 * _MARGIN - part)
            bar.setRange(0, min(max(0, over), 1 << 30))
            bar.setPageStep(part)
            bar.setSingleStep(32)

    def _visible(self) -> QRectF:
        view = self.viewport().rect()
        first = self.to_drawing(QPointF(view.topLeft()))
        return QRectF(first, QSizeF(view.width() / self.scale, view.height() / self.scale))

    # --- events ----------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep what is shown in view."""
        super().resizeEvent(event)
        if self._fitted:
            self.fit()
        else:
            self._bars()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is visible, or the message."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.Base))
        painter.setFont(self.drawing_font())
        if self.extent().isEmpty():
            painter.setPen(self.shade(QPalette.ColorRole.PlaceholderText))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            inside = self.viewport().rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
            painter.drawText(inside, flags, self.message)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        visible = self._visible()
        painter.translate(self._origin())
        painter.scale(self.scale, self.scale)
        self.paint(painter, visible)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; with Shift, scroll."""
        turned = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or not turned.y():
            super().wheelEvent(event)
            return
        self.zoom(turned.y() / 120, event.position().toPoint())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to move the drawing, or a click."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed, self._dragged = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the drawing, or tell where the pointer is."""
        if self._pressed is None:
            self.hover(self.to_drawing(event.position()))
            return
        by = event.position() - self._pressed
        if not self._dragged and by.manhattanLength() < _CLICK:
            return
        if not self._dragged:
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        self._dragged, self._fitted, self._pressed = True, False, event.position()
        for bar, distance in (
            (self.horizontalScrollBar(), by.x()),
            (self.verticalScrollBar(), by.y()),
        ):
            bar.setValue(round(bar.value() - distance))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a move, or take a click."""
        pressed, self._pressed = self._pressed, None
        self.viewport().unsetCursor()
        if pressed is not None and not self._dragged:
            self.click(self.to_drawing(event.position()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for a menu, by the right button or the menu key."""
        self.menu_wanted.emit(event.globalPos())

    def leaveEvent(self, event: object) -> None:
        """Tell that the pointer has gone."""
        self.hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom, fit and scroll by keys."""
        if event.text() in ("]", "+", "="):
            self.zoom(1)
        elif event.text() in ("[", "-"):
            self.zoom(-1)
        elif event.text().lower() == "f":
            self.fit()
        else:
            super().keyPressEvent(event)
