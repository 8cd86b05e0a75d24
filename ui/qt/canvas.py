"""Shows the latest picture, and what lies over it: lines, the selection, what is pasted.

All is in pixels of the screen, of which a high resolution has several to a unit of Qt's. While
a picture is late, the one before is shown where it belongs, so that the view moves at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from lifesim.grid import Box
from ui.model import CanvasView
from ui.picture.request import Frame
from ui.picture.viewport import FAR, MOST_PIXELS, Viewport
from ui.qt.theme import age_colours, colour_list, colour_table, colours

_NOTCH = 120  # of a wheel
_BOLD_EVERY = 10  # cells
_FRAME = 3  # pixels of Qt's around what is of the past


class Tool(Protocol):
    """Something that the left and right mouse button do. Positions are pixels of the canvas."""

    cursor: Qt.CursorShape

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        """Begin where a button has been pressed."""

    def drag(self, x: int, y: int) -> None:
        """Go on to where the pointer has moved with the button down."""

    def hover(self, x: int, y: int) -> None:
        """Take note of where the pointer has moved without a button."""

    def release(self) -> None:
        """End, as the button has been let go."""


class Ghost(Protocol):
    """Cells that are not there yet. is_framed: a rectangle is drawn around them."""

    is_framed: bool

    @property
    def box(self) -> Box:
        """Return where the cells are to be."""

    def image(self, scale: int, colour: QColor) -> QImage | None:
        """Return them at a scale: cells are one pixel or less. None where it is only a
        rectangle."""


class Canvas(QWidget):
    """Shows pictures of a universe, and takes the mouse.

    universe: all cells that there may be. farthest: the scale up to which one can go away.
    viewed: the view was moved or resized, by a hand if True. pointed: a pixel under the pointer, or
    None. changed: another picture is seen, or none.
    """

    viewed = Signal(bool)
    pointed = Signal(object)
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 120)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Universe")
        self.setAccessibleDescription("The cells. Arrow keys move the view, [ and ] zoom.")
        self.view = CanvasView()
        self.frame: Frame | None = None
        self.universe = Box(0, 0, 1, 1)
        self.farthest = FAR
        self.ghost: Ghost | None = None
        self.tool: Tool | None = None
        self._theme = "dark"
        self._image: QImage | None = None
        self._colours = colours("dark", "dark", QColor(colour_table("dark")[0]))
        self._panning: QPoint | None = None
        self._pressed = False
        self._turned = 0.0
        self._tinted = False

    # --- what is shown ---------------------------------------------------------

    @property
    def ratio(self) -> float:
        """Return how many pixels of the screen one of Qt's has a side."""
        return self.devicePixelRatioF()

    def dress(self, theme: str) -> None:
        """Take the colours of the theme and of the view's palette."""
        self._theme = theme
        self._colours = colours(theme, self.view.palette, self._dead)
        if self._image is not None and self._image.format() is QImage.Format.Format_Indexed8:
            self._image.setColorTable(self._table)
        self.update()

    @property
    def _table(self) -> Sequence[int]:
        """Return the colours of the numbers that a picture has: levels, or states."""
        frame = self.frame
        if frame is not None and frame.colours is not None:
            return colour_list(frame.colours)
        if frame is not None and frame.aged_since is not None:
            return age_colours(self.view.palette)
        return colour_table(self.view.palette)

    @property
    def _dead(self) -> QColor:
        """Return the colour of dead cells: the first of the table, of which ages have the same."""
        frame = self.frame
        if frame is not None and frame.colours is not None:
            return QColor(*frame.colours[0].tolist())
        return QColor(colour_table(self.view.palette)[0])

    def show_view(self, view: CanvasView) -> None:
        """Show another view, with the picture that is there until another comes."""
        redress = view.palette != self.view.palette
        self.view = view
        if redress:
            self.dress(self._theme)
        self.update()

    def show_frame(self, frame: Frame | None) -> None:
        """Show a picture, or none."""
        self.frame = frame
        if frame is None:
            self._image = None
        else:
            height, width = frame.pixels.shape[:2]
            form = QImage.Format
            # The image has no memory of its own: self.frame keeps it.
            self._image = QImage(
                frame.pixels.data, width, height, frame.pixels.strides[0],
                form.Format_Indexed8 if frame.pixels.ndim == 2 else form.Format_RGB888,
            )  # fmt: skip
            if frame.pixels.ndim == 2:
                self._image.setColorTable(self._table)
        self._colours = colours(self._theme, self.view.palette, self._dead)
        self.update()
        self.changed.emit()

    def tint(self, on: bool) -> None:
        """Draw a frame around the picture, which says that it is of the past, or none."""
        if on != self._tinted:
            self._tinted = on
            self.update()

    def use(self, tool: Tool) -> None:
        """Let another tool have the mouse; what the old one has begun ends."""
        if self._pressed and self.tool is not None:
            self.tool.release()
            self._pressed = False
        self.tool = tool
        self.setCursor(tool.cursor)

    def state_at(self, x: int, y: int) -> int | None:
        """Return the state in which a cell is seen; None where the picture does not tell."""
        if self.frame is None or self.frame.request.viewport.scale > 0:
            return None
        if self.frame.pixels.ndim == 3:
            return None  # some of the states have not been read yet
        left, top, _, _ = self.frame.request.viewport.rectangle(Box(x, y, 1, 1))
        side = 1 << -self.frame.request.viewport.scale
        column, row = max(left, 0), max(top, 0)  # of the first column, a part may be seen
        height, width = self.frame.pixels.shape[:2]
        if left + side <= 0 or top + side <= 0 or column >= width or row >= height:
            return None
        seen = int(self.frame.pixels[row, column])
        return int(seen > 0) if self.frame.colours is None else seen

    # --- moving ----------------------------------------------------------------

    def pan(self, right: int, down: int) -> None:
        """Move the view by so many pixels."""
        self._move(self.view.viewport.moved(right, down))

    def zoom(self, steps: int, at: QPoint | None = None) -> None:
        """Go nearer by powers of two; what is `at` a pixel, or in the middle, stays there."""
        view = self.view.viewport
        where = QPoint(view.width // 2, view.height // 2) if at is None else at
        steps = max(steps, view.scale - self.farthest)
        self._move(view.zoomed(steps, where.x(), where.y()))

    def zoom_to(self, scale: int) -> None:
        """Show the middle at another scale."""
        self.zoom(self.view.viewport.scale - scale)

    def _move(self, viewport: Viewport) -> None:
        if viewport != self.view.viewport:
            self.show_view(self.view.at(viewport))
            self.viewed.emit(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the view to the new size."""
        self._measure()

    def _measure(self) -> None:
        size = [
            min(max(1, round(side * self.ratio)), MOST_PIXELS)
            for side in (self.width(), self.height())
        ]
        viewport = self.view.viewport.resized(*size)
        if viewport != self.view.viewport:
            self.view = replace(self.view, viewport=viewport)
            self.viewed.emit(False)

    # --- mouse -----------------------------------------------------------------

    def pixel(self, at: QPointF) -> QPoint:
        """Return the pixel of the screen at a position of Qt's."""
        return QPoint(int(at.x() * self.ratio), int(at.y() * self.ratio))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to move the view with the middle button, else begin with the tool."""
        at, button = self.pixel(event.position()), event.button()
        if button is Qt.MouseButton.MiddleButton:
            self._panning = at
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        elif self.tool is not None and not self._pressed:
            self._pressed = True
            self.tool.press(at.x(), at.y(), button)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell where the pointer is, and go on with what has been begun."""
        at = self.pixel(event.position())
        if self._panning is not None:
            step = self._panning - at
            self._panning = at
            self.pan(step.x(), step.y())
        elif self.tool is not None:
            (self.tool.drag if self._pressed else self.tool.hover)(at.x(), at.y())
        self.pointed.emit(at)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End what has been begun."""
        if event.button() is Qt.MouseButton.MiddleButton:
            self._panning = None
            self.setCursor(self.tool.cursor if self.tool else Qt.CursorShape.ArrowCursor)
        elif self._pressed and self.tool is not None:
            self._pressed = False
            self.tool.release()

    def leaveEvent(self, event: QEvent) -> None:
        """Tell that the pointer has gone."""
        self.pointed.emit(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        self._turned += event.angleDelta().y()
        steps = int(self._turned / _NOTCH)
        self._turned -= steps * _NOTCH
        if steps:
            self.zoom(steps, self.pixel(event.position()))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Zoom by two fingers on a touchpad, too."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
                self._turned += event.value() * 3 * _NOTCH
                steps = int(self._turned / _NOTCH)
                self._turned -= steps * _NOTCH
                if steps:
                    self.zoom(steps, self.pixel(event.position()))
                return True
        elif event.type() is QEvent.Type.DevicePixelRatioChange:
            self._measure()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave keys to the window."""
        event.ignore()  # keys belong to the actions

    # --- painting --------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, lines, the edges, the selection and the ghost."""
        painter = QPainter(self)
        painter.scale(1 / self.ratio, 1 / self.ratio)
        view = self.view.viewport
        everything = QRect(0, 0, view.width, view.height)
        painter.fillRect(everything, self._colours.outside)
        edges = view.rectangle(self.universe)
        left, top = max(edges[0], 0), max(edges[1], 0)
        right, bottom = min(edges[2], view.width), min(edges[3], view.height)
        if left < right and top < bottom:
            inside = QRect(left, top, right - left, bottom - top)
            painter.setClipRect(inside)
            painter.fillRect(inside, self._dead)
            self._paint_cells(painter)
            if self.view.shows_lines:
                self._paint_lines(painter, inside)
            painter.setClipping(False)
        self._paint_border(painter, edges)
        if self.view.selection is not None:
            self._paint_box(painter, self.view.selection, self._colours.selection, 40)
        if self.ghost is not None:
            self._paint_ghost(painter, self.ghost)
        if self._tinted:
            wide = round(_FRAME * self.ratio)
            painter.setPen(QPen(self._colours.past, 2 * wide))
            painter.drawRect(everything)
        painter.end()

    def _paint_cells(self, painter: QPainter) -> None:
        if self._image is None or self.frame is None:
            return
        left, top, right, bottom = self.frame.inside
        if left >= right or top >= bottom:
            return
        drawn, view = self.frame.request.viewport, self.view.viewport
        source = QRect(left, top, right - left, bottom - top)
        seen = drawn.shown_in(view, self.frame.inside)
        if seen is None:
            return
        if drawn.scale == view.scale:
            painter.drawImage(QPoint(int(seen[0]), int(seen[1])), self._image, source)
            return
        target = QRectF(seen[0], seen[1], seen[2] - seen[0], seen[3] - seen[1])
        painter.drawImage(target, self._image, QRectF(source))

    def _paint_lines(self, painter: QPainter, inside: QRect) -> None:
        view = self.view.viewport
        side = 1 << -view.scale
        for bold, colour in ((False, self._colours.line), (True, self._colours.bold_line)):
            painter.setPen(QPen(colour, 1))
            first = -(-(view.left + inside.left()) // side)
            for cell in range(first, (view.left + inside.right()) // side + 1):
                if (cell % _BOLD_EVERY == 0) is bold:
                    x = cell * side - view.left
                    painter.drawLine(x, inside.top(), x, inside.bottom())
            first = -(-(view.top + inside.top()) // side)
            for cell in range(first, (view.top + inside.bottom()) // side + 1):
                if (cell % _BOLD_EVERY == 0) is bold:
                    y = cell * side - view.top
                    painter.drawLine(inside.left(), y, inside.right(), y)

    def _paint_border(self, painter: QPainter, edges: tuple[int, int, int, int]) -> None:
        box = self._visible(edges)
        if box is not None:
            painter.setPen(QPen(self._colours.border, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(-1, -1, 0, 0))

    def _visible(self, edges: tuple[int, int, int, int]) -> QRect | None:
        """Return what of a rectangle is seen, and a little more: Qt's integers are small."""
        view = self.view.viewport
        left, right = (min(max(edge, -9), view.width + 9) for edge in (edges[0], edges[2]))
        top, bottom = (min(max(edge, -9), view.height + 9) for edge in (edges[1], edges[3]))
        if left >= right or top >= bottom:
            return None
        return QRect(left, top, right - left, bottom - top)

    def _paint_box(self, painter: QPainter, box: Box, colour: QColor, opacity: int) -> None:
        seen = self._visible(self.view.viewport.rectangle(box))
        if seen is not None:
            fill = QColor(colour)
            fill.setAlpha(opacity)
            painter.fillRect(seen, fill)
            painter.setPen(QPen(colour, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(seen.adjusted(-1, -1, 0, 0))

    def _paint_ghost(self, painter: QPainter, ghost: Ghost) -> None:
        view = self.view.viewport
        edges = view.rectangle(ghost.box)
        if self._visible(edges) is None:
            return  # Qt's integers are small
        image = ghost.image(max(view.scale, 0), self._colours.ghost)
        if image is not None:
            side = 1 << max(0, -view.scale)
            target = QRect(edges[0], edges[1], image.width() * side, image.height() * side)
            painter.setOpacity(0.75)
            painter.drawImage(target, image)
            painter.setOpacity(1)
        if ghost.is_framed:
            self._paint_box(painter, ghost.box, self._colours.ghost, 24)
