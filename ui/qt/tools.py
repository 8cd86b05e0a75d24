"""What the mouse does on the canvas: pan, draw, select, and put down what is pasted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage

from lifesim.colours import Colours, pixels_of
from lifesim.grid import BitGrid, Box
from lifesim.render import density_levels
from ui.picture.viewport import FAR
from ui.qt.canvas import Canvas

_MOST_PIXELS = 1 << 22  # of a ghost; beyond, its outline must do
_MOST_COLOURED = 1 << 19  # cells of a ghost; of more, which would take long, all have one colour

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


class PanTool:
    """Moves the view with the mouse."""

    cursor = Qt.CursorShape.OpenHandCursor

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._last = 0, 0

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        """Begin to move."""
        self._last = x, y
        self._canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def drag(self, x: int, y: int) -> None:
        """Move the view as the pointer has moved."""
        last, self._last = self._last, (x, y)
        self._canvas.pan(last[0] - x, last[1] - y)

    def hover(self, x: int, y: int) -> None:
        """Do nothing."""
        pass

    def release(self) -> None:
        """End the move."""
        self._canvas.setCursor(self.cursor)


class DrawTool:
    """Draws in a state: a stroke that begins on a cell of that state erases; with the right button
    it erases too. `state_at` and `stroke` are told cells; a stroke is points, a state and its
    number.

    state: 1 or more; 0 erases only.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self,
        canvas: Canvas,
        state_at: Callable[[int, int], int | None],
        stroke: Callable[[tuple[tuple[int, int], ...], int, int], None],
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Draw nothing yet. state_at: returns None where nothing can be drawn. ended: is called at
        the end of a stroke."""
        self._canvas, self._state_at, self._stroke = canvas, state_at, stroke
        self._ended = ended
        self._last: tuple[int, int] | None = None
        self.state = self._drawn = 1
        self._number = 0

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        """Begin a stroke, where something can be drawn."""
        cell = self._cell(x, y)
        there = self._state_at(*cell)
        if there is None:
            return
        self._drawn = 0 if button is RIGHT or there == self.state else self.state
        self._number += 1
        self._last = cell
        self._stroke((cell,), self._drawn, self._number)

    def drag(self, x: int, y: int) -> None:
        """Draw on to the cell under the pointer."""
        cell = self._cell(x, y)
        if self._last is not None and cell != self._last:
            last, self._last = self._last, cell
            self._stroke((last, cell), self._drawn, self._number)

    def hover(self, x: int, y: int) -> None:
        """Do nothing."""
        pass

    def release(self) -> None:
        """End the stroke."""
        self._last = None
        self._ended()

    def _cell(self, x: int, y: int) -> tuple[int, int]:
        cells = self._canvas.view.viewport.cells_at(x, y)
        return cells.x, cells.y


class SelectTool:
    """Selects a rectangle; a click without a drag selects nothing."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, canvas: Canvas, select: Callable[[Box | None], None]) -> None:
        self._canvas, self._select = canvas, select
        self._first: Box | None = None
        self._at = 0, 0

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        """Begin a rectangle; nothing is selected yet."""
        self._first = self._canvas.view.viewport.cells_at(x, y)
        self._at = x, y
        self._select(None)

    def drag(self, x: int, y: int) -> None:
        """Select up to the cell under the pointer."""
        if self._first is None or (x, y) == self._at:
            return
        a, b = self._first, self._canvas.view.viewport.cells_at(x, y)
        self._select(a.joined(b).common(self._canvas.universe))

    def hover(self, x: int, y: int) -> None:
        """Do nothing."""
        pass

    def release(self) -> None:
        """End the rectangle."""
        self._first = None


class PasteGhost:
    """Cells that follow the pointer, held at their middle."""

    def __init__(
        self,
        cells: BitGrid,
        x: int,
        y: int,
        colours: Colours | None = None,
        *,
        is_framed: bool = True,
    ) -> None:
        """Hold cells. colours: of their states, where they have any. is_framed: see Ghost."""
        self.is_framed = is_framed
        self.cells, self._own = cells, colours
        self.x, self.y = x, y
        self._made: tuple[int, int, QImage] | None = None
        self._levels: object = None

    @property
    def box(self) -> Box:
        """Return where the cells would come to lie."""
        return Box(self.x, self.y, self.cells.width, self.cells.height)

    def centre_on(self, x: int, y: int) -> None:
        """Move the middle of the cells to one of the universe."""
        self.x, self.y = x - self.cells.width // 2, y - self.cells.height // 2

    def replace(self, cells: BitGrid) -> None:
        """Take other cells, with the same middle."""
        x, y = self.x + self.cells.width // 2, self.y + self.cells.height // 2
        self.cells, self._made = cells, None
        self.centre_on(x, y)

    def image(self, scale: int, colour: QColor) -> QImage | None:
        """Return the cells at a scale, in a colour, or if they are not too many in their own; None
        where there is only a rectangle."""
        if self._made is not None and self._made[:2] == (scale, colour.rgb()):
            return self._made[2]
        pixels = (-(-self.cells.width >> scale)) * (-(-self.cells.height >> scale))
        if pixels > _MOST_PIXELS or scale > FAR:
            return None
        levels = density_levels(self.cells, None, scale)
        height, width = levels.shape
        opaque = [0] + [90 + 165 * k // 255 for k in range(1, 256)]
        own = self._own if self.cells.width * self.cells.height <= _MOST_COLOURED else None
        if own is None:
            image = QImage(levels.data, width, height, width, QImage.Format.Format_Indexed8)
            image.setColorTable([colour.rgb() & 0xFFFFFF | share << 24 for share in opaque])
        else:
            shown = pixels_of(self.cells, None, scale, own)
            levels = np.dstack([shown, np.array(opaque, np.uint8)[levels]])
            image = QImage(levels.data, width, height, 4 * width, QImage.Format.Format_RGBA8888)
        self._levels = levels  # the image has no memory of its own
        self._made = scale, colour.rgb(), image
        return image


class PasteTool:
    """Puts the ghost where the left button is pressed; the right one gives up."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self,
        canvas: Canvas,
        ghost: PasteGhost,
        place: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        self._canvas, self.ghost = canvas, ghost
        self._place, self._give_up = place, give_up

    def press(self, x: int, y: int, button: Qt.MouseButton) -> None:
        """Put the cells down, or give up with the right button."""
        if button is RIGHT:
            self._give_up()
            return
        self.hover(x, y)
        self._place()

    def drag(self, x: int, y: int) -> None:
        """Do nothing."""
        pass

    def hover(self, x: int, y: int) -> None:
        """Let the cells follow the pointer."""
        cells = self._canvas.view.viewport.cells_at(x, y)
        self.ghost.centre_on(cells.x, cells.y)
        self._canvas.update()

    def release(self) -> None:
        """Do nothing."""
        pass
